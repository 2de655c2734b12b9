#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "panel.h"

/* clang-format off */
static const struct option common_flags[] = {
	{.name = "data-dir", .value = "DIR", .help = "where the panel keeps its data (" DATA_DIR_DEFAULT ")",
	 .kind = OPTION_TEXT},
	{.name = NULL}};
static const struct option api_flags[] = {
	{.name = "json", .help = "print the API's JSON", .kind = OPTION_SWITCH},
	{.name = NULL}};
static const struct option write_flags[] = {
	{.name = "dry-run", .help = "check everything, change nothing", .kind = OPTION_SWITCH},
	{.name = NULL}};

static const struct option setup_flags[] = {
	{.name = "public-url", .value = "URL", .help = "what people's links begin with: https://sub.example.net",
	 .kind = OPTION_TEXT},
	{.name = "time-zone", .value = "ZONE", .help = "Europe/Berlin; the system's if left out", .kind = OPTION_TEXT},
	{.name = "owner", .value = "NAME", .help = "make this owner instead of a one-time link", .kind = OPTION_TEXT},
	{.name = "password-file", .value = "FILE", .help = "the owner's password (- is standard input)",
	 .kind = OPTION_TEXT},
	{.name = "owner-link", .help = "print a new one-time link even if there is an owner", .kind = OPTION_SWITCH},
	{.name = "admin-listen", .value = "ADDR", .help = "the admin's address as serve gets it, for the one-time link",
	 .kind = OPTION_TEXT},
	{.name = "tls-cert", .value = "FILE", .help = "as serve gets it: that link begins with https", .kind = OPTION_TEXT},
	{.name = NULL}};

const struct option serve_flags[] = {
	{.name = "listen", .value = "ADDR", .help = "public listener (127.0.0.1:8080)", .kind = OPTION_TEXT},
	{.name = "tls-cert", .value = "FILE", .help = "certificate chain (PEM); with --tls-key", .kind = OPTION_TEXT},
	{.name = "tls-key", .value = "FILE", .help = "its private key (PEM)", .kind = OPTION_TEXT},
	{.name = "admin-listen", .value = "ADDR", .help = "the admin on an address of its own only",
	 .kind = OPTION_TEXT},
	{.name = "trusted-proxy", .value = "CIDR", .help = "a proxy in front that may say the client's address",
	 .kind = OPTION_LIST, .repeated = true},
	{.name = "client-address-header", .value = "NAME", .help = "in which header it says so (X-Forwarded-For)",
	 .kind = OPTION_TEXT},
	{.name = "decoy-dir", .value = "DIR", .help = "your own index.html, 404.html, 429.html", .kind = OPTION_TEXT},
	{.name = "log-level", .value = "WORD", .help = "error, warn, info or debug (info)", .kind = OPTION_TEXT},
	{.name = "dev", .help = "no set-up: demo data in ./.data on loopback", .kind = OPTION_SWITCH},
	{.name = NULL}};

const struct command commands[] = {
	{"setup", "", "make the data directory, its key, database and first owner", setup_flags, .run = setup_run},
	{"serve", "", "run the panel", serve_flags, .run = serve_run},
	{"version", "", "print the version", NULL, .run = version_run},
	{.name = NULL}};
/* clang-format on */

int version_run(const struct command *command, const struct options *options)
{
	(void)command;
	(void)options;
	printf("hythe %s\n", HYTHE_VERSION);
	return EXIT_DONE;
}

const char *cli_data_dir(const struct options *options)
{
	const char *dir = option_text(options, "data-dir");

	return dir && *dir ? dir : DATA_DIR_DEFAULT;
}

int cli_fail(const struct problem *problem)
{
	static const struct {
		const char *code;
		int exit;
	} exits[] = {
		{"not_set_up",   EXIT_NOT_SET_UP},
		{"bad_flag",     EXIT_USAGE     },
		{"missing_flag", EXIT_USAGE     }
        };

	fprintf(stderr, "hythe: %s\n",
		problem->detail[0] ? problem->detail : res_text(problem->res));
	for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
		if (strcmp(problem->code, exits[i].code) == 0)
			return exits[i].exit;
	return EXIT_ERROR;
}

/* --- Help --- */

static void print_row(const struct command *command)
{
	char usage[80];

	snprintf(usage, sizeof usage, "%s %s", command->name, command->words);
	printf("  %-30s %s\n", usage, command->help);
}

/* Rows whose name begins with `noun`, or all. */
static bool print_rows(const struct command *table, const char *noun)
{
	size_t len = noun ? strlen(noun) : 0;
	bool any = false;

	for (; table->name; table++) {
		if (noun && (strncmp(table->name, noun, len) != 0 ||
			     (table->name[len] && table->name[len] != ' ')))
			continue;
		print_row(table);
		any = true;
	}
	return any;
}

static void print_overview(void)
{
	printf("Usage: hythe COMMAND [FLAGS]\n\nA panel for fleets of Hysteria2 servers.\n\n");
	print_rows(commands, NULL);
	printf("\nWhile the panel runs:\n");
	print_rows(api_commands, NULL);
	printf("\n`hythe COMMAND --help` says what a command takes. Flags that say how it runs\n"
	       "have an environment variable (--data-dir is HYTHE_DATA_DIR); what shall be\n"
	       "changed is said on the command line only.\n");
}

static bool print_noun(const char *noun)
{
	bool any = print_rows(commands, noun);

	any = print_rows(api_commands, noun) || any;
	if (any)
		printf("\n`hythe %s ... --help` says what a command takes.\n", noun);
	return any;
}

static void print_command(const struct command *command, const struct option *const *tables)
{
	printf("Usage: hythe %s%s%s [FLAGS]\n\n%s\n\n", command->name, *command->words ? " " : "",
	       command->words, command->help);
	options_print_help(tables);
}

/* --- Finding and running --- */

/* How many arguments the name of the row takes, 0 when it is another. */
static int name_fits(const char *name, int argc, char **argv)
{
	int words = 0;

	while (*name) {
		size_t len = strcspn(name, " ");

		if (words == argc || strlen(argv[words]) != len ||
		    memcmp(argv[words], name, len) != 0)
			return 0;
		words++;
		name += len + (name[len] == ' ');
	}
	return words;
}

static const struct command *find_command(int argc, char **argv, int *taken)
{
	const struct command *const tables[] = {commands, api_commands};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct command *command = tables[i]; command->name; command++)
			if ((*taken = name_fits(command->name, argc, argv)) > 0)
				return command;
	return NULL;
}

static enum res check_words(const struct command *command, const struct options *options,
			    struct problem *problem)
{
	bool many = strstr(command->words, "...") != NULL;
	size_t want = *command->words && command->words[0] != '[' ? 1 : 0;

	if (options->word_count < want)
		return problem_set(problem, RES_INVALID, "missing_word", NULL,
				   "%s is missing: hythe %s %s", command->words, command->name,
				   command->words);
	if (!many && options->word_count > (*command->words ? 1 : 0))
		return problem_set(problem, RES_INVALID, "too_many_words", NULL,
				   "what is \"%.60s\"? `hythe %s --help`",
				   options->words[options->word_count - 1], command->name);
	return RES_OK;
}

/* What could not be written was not said: a token is shown only once. */
static int said(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "hythe: the output could not be written: %s\n", strerror(errno));
	return code == EXIT_DONE ? EXIT_ERROR : code;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	static const struct option none[] = {{.name = NULL}};
	bool api = command->method != NULL;
	bool tries = api && strcmp(command->method, "GET") != 0 && !command->no_dry_run;
	const struct option *const tables[] = {
		command->options ? command->options : none,
		common_flags,
		api ? api_flags : none,
		tries ? write_flags : none,
		NULL,
	};
	struct problem problem = {0};
	struct options options;
	int code;

	if (options_read(&options, tables, argc, argv, &problem) == RES_OK && options.help) {
		print_command(command, tables);
		return EXIT_DONE;
	}
	if (problem.res != RES_OK || check_words(command, &options, &problem) != RES_OK) {
		fprintf(stderr, "hythe: %s\n", problem.detail);
		return EXIT_USAGE;
	}
	code = command->run ? command->run(command, &options) : cli_call_run(command, &options);
	return said(code);
}

static bool asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

int cli_main(int argc, char **argv)
{
	const struct command *command;
	int taken = 0;

	if (argc < 2) {
		print_overview();
		return EXIT_USAGE;
	}
	if (asks_help(argv[1])) {
		if (argc < 3 || !print_noun(argv[2]))
			print_overview();
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return version_run(NULL, NULL);
	command = find_command(argc - 1, argv + 1, &taken);
	if (command)
		return run_command(command, argc - 1 - taken, argv + 1 + taken);
	if ((argc == 2 || asks_help(argv[2])) && print_noun(argv[1]))
		return argc == 2 ? EXIT_USAGE : EXIT_DONE;
	fprintf(stderr, "hythe: there is no command \"%.60s%s%.60s\"; `hythe --help` lists them\n",
		argv[1], argc > 2 ? " " : "", argc > 2 ? argv[2] : "");
	return EXIT_USAGE;
}
