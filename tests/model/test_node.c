#include "hythe/model/node.h"

#include "test.h"

static struct arena arena = {.max = 1 << 20};

__attribute__((destructor)) static void drop_arena(void)
{
	arena_free(&arena);
}

static void test_country(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"DE",       "DE"},
                {"de",       "DE"},
                {"nL",       "NL"},
                {"",         ""  },
                {NULL,       ""  },
		{"D",        NULL},
                {"DEU",      NULL},
                {"D1",       NULL},
                {"d ",       NULL},
                {"\xc3\xa9", NULL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};
		const char *out = NULL;
		enum res res = country_check(&arena, "country", rows[i].text, &out, &problem);

		CHECK_INT(res, rows[i].want ? RES_OK : RES_INVALID);
		if (rows[i].want)
			CHECK_TEXT(out, rows[i].want);
		else
			CHECK_TEXT(problem.field, "country");
	}
}

static enum res tags(const char *json, const char **out, struct problem *problem)
{
	char text[1000];
	struct json_doc *doc;
	enum res res;

	*problem = (struct problem){0};
	snprintf(text, sizeof text, "%s", json);
	if (json_parse(text, strlen(text), &doc, NULL) != RES_OK)
		TEST_FAIL("bad test: %s", json);
	res = node_tags_check(&arena, "tags", json_root(doc), out, problem);
	json_free(doc);
	return res;
}

static void test_tags(void)
{
	static const struct {
		const char *json, *want, *field;
	} rows[] = {
		{"[]",				      "",				 NULL     },
		{"null",				    "",				 NULL     },
		{"[\"eu\",\"10g\",\"a-b\",\"eu\"]",         "10g,a-b,eu",                       NULL     },
		{"[\"abcdefghijklmnopqrstuvwxyz-01234\"]",  "abcdefghijklmnopqrstuvwxyz-01234",
		 NULL										    },
		{"[\"abcdefghijklmnopqrstuvwxyz-012345\"]", NULL,                               "tags[0]"},
		{"[\"EU\"]",				NULL,                               "tags[0]"},
		{"[\"eu\",\"a b\"]",                        NULL,                               "tags[1]"},
		{"[\"eu\",null]",                           NULL,                               "tags[1]"},
		{"{}",				      NULL,			       "tags"   },
		{"[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"a\",\"b\",\"c\",\"d\","
		 "\"e\",\"f\","
		 "\"g\",\"h\"]",					  NULL,								"tags"                           },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem;
		const char *out = NULL;
		enum res res = tags(rows[i].json, &out, &problem);

		CHECK_INT(res, rows[i].want ? RES_OK : RES_INVALID);
		if (rows[i].want)
			CHECK_TEXT(out, rows[i].want);
		else
			CHECK_TEXT(problem.field, rows[i].field);
	}
}

TEST_MAIN(TEST(test_country), TEST(test_tags))
