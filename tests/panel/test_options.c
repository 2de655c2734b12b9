#include "panel/options.h"

#include "test.h"

static const struct option first[] = {
	{.name = "data-dir", .value = "DIR", .help = "", .kind = OPTION_TEXT},
	{.name = "quota",        .value = "BYTES", .help = "", .kind = OPTION_BYTES, .required = true},
	{.name = "note", .value = "TEXT", .help = "", .kind = OPTION_TEXT, .member = "note"},
	{.name = NULL                 }
};
static const struct option second[] = {
	{.name = "json",         .help = "", .kind = OPTION_SWITCH},
	{.name = "proxy", .value = "NET", .help = "", .kind = OPTION_LIST, .repeated = true},
	{.name = NULL       }
};
static const struct option *const tables[] = {first, second, NULL};

static enum res read_line(struct options *options, const char *line, struct problem *problem)
{
	static char copy[256];
	char *argv[32];
	int argc = 0;

	snprintf(copy, sizeof copy, "%s", line);
	for (char *save = NULL, *word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	*problem = (struct problem){0};
	return options_read(options, tables, argc, argv, problem);
}

static void test_accepted(void)
{
	struct options options;
	struct problem problem;

	CHECK_INT(read_line(&options,
			    "anna --quota 5GB --json --proxy=::1 --proxy 10.0.0.0/8 -- --x",
			    &problem),
		  RES_OK);
	CHECK_INT(options.word_count, 2);
	CHECK_TEXT(options.words[0], "anna");
	CHECK_TEXT(options.words[1], "--x");
	CHECK_TEXT(option_text(&options, "quota"), "5GB");
	CHECK(option_text(&options, "note") == NULL); /* it would be a change */
	CHECK(option_on(&options, "json"));
	CHECK(option_text(&options, "data-dir") == NULL);
	CHECK_INT(options.given_count, 4);
}

static void test_refused(void)
{
	static const struct {
		const char *line, *names;
	} cases[] = {
		{"--quota 1 --nope",            "--nope" },
		{"--quota",                     "--quota"},
		{"anna",                        "--quota"},
		{"--quota 1 --quota=2",         "--quota"},
		{"--quota 1 -q",                "-q"     },
		{"--quota 1 a b c d e f g h i", "words"  },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct options options;
		struct problem problem;

		CHECK_INT(read_line(&options, cases[i].line, &problem), RES_INVALID);
		if (!strstr(problem.detail, cases[i].names))
			TEST_FAIL("\"%s\": \"%s\" does not name %s", cases[i].line, problem.detail,
				  cases[i].names);
	}
}

static void test_environment(void)
{
	struct options options;
	struct problem problem;

	setenv("HYTHE_QUOTA", "7GB", 1);
	setenv("HYTHE_NOTE", "left in the environment", 1);
	setenv("HYTHE_JSON", "yes", 1);
	setenv("HYTHE_DATA_DIR", "", 1);
	CHECK_INT(read_line(&options, "", &problem), RES_OK);
	CHECK_TEXT(option_text(&options, "quota"), "7GB");
	CHECK(option_text(&options, "note") == NULL); /* it would be a change */
	CHECK(option_on(&options, "json"));
	CHECK(option_text(&options, "data-dir") == NULL); /* empty is not given */
	/* The command line goes before the environment, a switch can be taken back. */
	CHECK_INT(read_line(&options, "--quota 8GB --json=no", &problem), RES_OK);
	CHECK_TEXT(option_text(&options, "quota"), "8GB");
	CHECK(!option_on(&options, "json"));
	unsetenv("HYTHE_QUOTA");
	unsetenv("HYTHE_NOTE");
	unsetenv("HYTHE_JSON");
	unsetenv("HYTHE_DATA_DIR");
}

static void test_help(void)
{
	struct options options;
	struct problem problem;

	/* Help is given even when something is missing. */
	CHECK_INT(read_line(&options, "anna --help", &problem), RES_OK);
	CHECK(options.help);
}

static void test_variable(void)
{
	char name[OPTION_VARIABLE_MAX];

	option_variable("client-address-header", name);
	CHECK_TEXT(name, "HYTHE_CLIENT_ADDRESS_HEADER");
}

TEST_MAIN(TEST(test_accepted), TEST(test_refused), TEST(test_environment), TEST(test_help),
	  TEST(test_variable))
