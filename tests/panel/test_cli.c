#include "panel/cli.h"

#include "hythe/util/json_write.h"
#include "test.h"

/* --- Flags become JSON --- */

static enum res write_one(enum option_kind kind, const char *text, struct buf *out,
			  struct problem *problem)
{
	const struct option option = {.name = "flag", .kind = kind, .member = "m"};
	struct json_writer w;
	enum res res;

	buf_init(out, 4096);
	*problem = (struct problem){0};
	json_start(&w, out);
	json_object(&w, NULL);
	res = cli_value_write(&w, &option, text, problem);
	json_end(&w);
	if (res == RES_OK)
		CHECK(json_finish(&w));
	return res;
}

static void test_values(void)
{
	static const struct {
		enum option_kind kind;
		const char *text, *json; /* NULL: refused */
	} cases[] = {
		{OPTION_TEXT,     "a\"b",                    "{\"m\":\"a\\\"b\"}"         },
		{OPTION_NUMBER,   "42",                      "{\"m\":42}"                 },
		{OPTION_NUMBER,   "-1",                      "{\"m\":-1}"                 },
		{OPTION_NUMBER,   "4x",                      NULL                         },
		{OPTION_BYTES,    "10GB",                    "{\"m\":10000000000}"        },
		{OPTION_BYTES,    "ten",                     NULL                         },
		{OPTION_DURATION, "30d",                     "{\"m\":2592000}"            },
		{OPTION_DURATION, "30y",                     NULL                         },
		{OPTION_TIME,     "never",                   "{\"m\":0}"                  },
		{OPTION_TIME,     "2026-12-31",              "{\"m\":1798675200}"         },
		{OPTION_TIME,     "2026-12-31T14:00:01Z",    "{\"m\":1798725601}"         },
		{OPTION_TIME,     "@5",                      "{\"m\":5}"                  },
		{OPTION_TIME,     "2026-02-30",              NULL                         },
		{OPTION_TIME,     "2026-12-31T24:00:00Z",    NULL                         },
		{OPTION_TIME,     "2026-12-31T14:00:01",     NULL                         },
		{OPTION_TIME,     "tomorrow",                NULL                         },
		{OPTION_YESNO,    "yes",                     "{\"m\":true}"               },
		{OPTION_YESNO,    "no",                      "{\"m\":false}"              },
		{OPTION_YESNO,    "maybe",                   NULL                         },
		{OPTION_LIST,     "a,b,,c",                  "{\"m\":[\"a\",\"b\",\"c\"]}"},
		{OPTION_LIST,     "",                        "{\"m\":[]}"                 },
		{OPTION_JSON,     "{\"a\": [1, 2]}",         "{\"m\":{\"a\":[1,2]}}"      },
		{OPTION_JSON,     "{\"a\":01}",              NULL                         },
		{OPTION_JSON,     "@/there/is/no/such/file", NULL                         },
		{OPTION_FILE,     "/there/is/no/such/file",  NULL                         },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct problem problem;
		struct buf out;
		enum res res = write_one(cases[i].kind, cases[i].text, &out, &problem);

		CHECK_INT(res == RES_OK, cases[i].json != NULL);
		if (cases[i].json)
			CHECK_TEXT(out.data, cases[i].json);
		else if (!strstr(problem.detail, "--flag"))
			TEST_FAIL("\"%s\": \"%s\" does not name the flag", cases[i].text,
				  problem.detail);
		buf_free(&out);
	}
}

/* --- JSON becomes lines --- */

static void test_cells(void)
{
	static const struct {
		const char *member, *json, *want;
	} cases[] = {
		{"name",          "\"Ann\"",						       "Ann"                 },
		{"name",          "\"\"",							  "-"                   },
		{"name",          "null",							  "-"                   },
		{"note",          "\"two\\nlines \\u001b[31m\"",                                   "two lines  [31m"     },
		{"enabled",       "true",							  "yes"                 },
		{"enabled",       "false",							 "no"                  },
		{"port",          "443",							   "443"                 },
		{"quota_bytes",   "1500000000",						    "1.50 GB"             },
		{"quota_bytes",   "0",							     "unlimited"           },
		{"used_bytes",    "0",							     "0 B"                 },
		{"expires_unix",  "1798725601",						    "2026-12-31T14:00:01Z"},
		{"expires_unix",  "0",							     "-"                   },
		{"hold_s",        "86400",							 "1d"                  },
		{"hold_s",        "5400",							  "90m"                 },
		{"network_per_s", "10",							    "10"                  },
		{"groups",        "[{\"id\":\"x\",\"name\":\"A\"},{\"id\":\"y\",\"name\":\"B\"}]", "A, B"                },
		{"groups",        "[]",							    "-"                   },
		{"tags",          "[\"a\",\"b\"]",						 "a, b"                },
		{"node",          "{\"id\":\"x\",\"name\":\"Frankfurt\"}",                         "Frankfurt"           },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];
		struct json_doc *doc;
		struct arena arena;

		snprintf(text, sizeof text, "%s", cases[i].json);
		arena_init(&arena, 65536);
		CHECK_INT(json_parse(text, strlen(text), &doc, NULL), RES_OK);
		CHECK_TEXT(cli_cell(&arena, cases[i].member, json_root(doc)), cases[i].want);
		json_free(doc);
		arena_free(&arena);
	}
}

static void test_width(void)
{
	CHECK_INT(cli_width("Ann"), 3);
	CHECK_INT(cli_width("Größe"), 5);
	CHECK_INT(cli_width("東京"), 4);
}

static void test_member(void)
{
	char text[] = "{\"usage\":{\"used_bytes\":7},\"name\":\"x\"}";
	struct json_doc *doc;

	CHECK_INT(json_parse(text, strlen(text), &doc, NULL), RES_OK);
	CHECK(cli_member(json_root(doc), "usage.used_bytes") != NULL);
	CHECK(cli_member(json_root(doc), "usage.none") == NULL);
	CHECK(cli_member(json_root(doc), "name.x") == NULL);
	CHECK(cli_member(NULL, "name") == NULL);
	json_free(doc);
}

/* --- The table of commands --- */

static void check_rows(const struct command *table)
{
	for (; table->name; table++) {
		CHECK(table->help && table->help[0] && table->words);
		CHECK(table->run || (table->method && table->path));
		if (table->show == SHOW_TABLE || table->show == SHOW_TEXT)
			CHECK(table->columns != NULL);
		for (const struct option *option = table->options; option && option->name;
		     option++) {
			CHECK(option->help && option->help[0]);
			CHECK((option->kind == OPTION_SWITCH) == (option->value == NULL));
			if (option->kind == OPTION_REF || option->kind == OPTION_REFS)
				CHECK(option->resource != NULL);
		}
	}
}

static void test_rows(void)
{
	check_rows(commands);
	check_rows(api_commands);
}

static int run_line(const char *line)
{
	char copy[256], *argv[16];
	int argc = 0;

	snprintf(copy, sizeof copy, "%s", line);
	for (char *save = NULL, *word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	return cli_main(argc, argv);
}

static void test_usage(void)
{
	static const struct {
		const char *line;
		int code;
	} cases[] = {
		{"hythe --help",					    EXIT_DONE      },
		{"hythe help user",					 EXIT_DONE      },
		{"hythe user --help",				       EXIT_DONE      },
		{"hythe user add --help",                                   EXIT_DONE      },
		{"hythe version",					   EXIT_DONE      },
		{"hythe",						   EXIT_USAGE     },
		{"hythe nothing",					   EXIT_USAGE     },
		{"hythe user",					      EXIT_USAGE     },
		{"hythe user fly",					  EXIT_USAGE     },
		{"hythe user add",					  EXIT_USAGE     },
		{"hythe user show a b",                                     EXIT_USAGE     },
		{"hythe user add x --nope",                                 EXIT_USAGE     },
		{"hythe user add x --quota much --data-dir /there/is/none", EXIT_USAGE     },
		{"hythe settings set nothing=1 --data-dir /there/is/none",  EXIT_ERROR     },
		{"hythe settings set link_burst=5m --data-dir /there/none", EXIT_USAGE     },
		{"hythe settings set hide_after_s=1x --data-dir /there/is", EXIT_USAGE     },
		{"hythe settings set hide_after_s=5m --data-dir /there/is", EXIT_NOT_SET_UP},
		{"hythe admin owner-link --dry-run --data-dir /there/is",   EXIT_USAGE     },
		{"hythe status --data-dir /there/is/none",                  EXIT_NOT_SET_UP},
		{"hythe serve --data-dir /there/is/none",                   EXIT_NOT_SET_UP},
		{"hythe serve --listen nowhere",                            EXIT_USAGE     },
		{"hythe setup --data-dir /there/is/none",                   EXIT_USAGE     },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int code = run_line(cases[i].line);

		if (code != cases[i].code)
			TEST_FAIL("%s: %d, want %d", cases[i].line, code, cases[i].code);
	}
}

TEST_MAIN(TEST(test_values), TEST(test_cells), TEST(test_width), TEST(test_member), TEST(test_rows),
	  TEST(test_usage))
