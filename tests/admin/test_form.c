/* Posted forms. */
#include "admin/form.h"
#include "test.h"

static void test_rows(void)
{
	static const struct {
		const char *body;
		enum res res;
		const char *a, *b, *field;
	} rows[] = {
		{"a=1&b=2",           RES_OK,        "1",   "2",   "" },
		{"b=2&a=1",           RES_OK,        "1",   "2",   "" },
		{"a=&b=",             RES_OK,        "",    "",    "" },
		{"a=x+y&b=%2B%20%41", RES_OK,        "x y", "+ A", "" },
		{"a=1&b=2&",          RES_OK,        "1",   "2",   "" },
		{"a=%C3%A4&b=1=2",    RES_OK,        "ä",  "1=2", "" },
		{"a=12345678&b=2",    RES_INVALID,   NULL,  NULL,  "a"},
		{"a=%ff&b=2",         RES_INVALID,   NULL,  NULL,  "a"},
		{"a=1&b=%00",         RES_INVALID,   NULL,  NULL,  "b"},
		{"a=1&b=%0a",         RES_INVALID,   NULL,  NULL,  "b"},
		{"a=1&b=%",           RES_INVALID,   NULL,  NULL,  "b"},
		{"a=1&b=%4g",         RES_INVALID,   NULL,  NULL,  "b"},
		{"",                  RES_MALFORMED, NULL,  NULL,  "" },
		{"a=1",               RES_MALFORMED, NULL,  NULL,  "" },
		{"a&b=2",             RES_MALFORMED, NULL,  NULL,  "" },
		{"a=1&a=2&b=3",       RES_MALFORMED, NULL,  NULL,  "" },
		{"a=1&b=2&c=3",       RES_MALFORMED, NULL,  NULL,  "" },
		{"A=1&b=2",           RES_MALFORMED, NULL,  NULL,  "" },
		{"&a=1&b=2",          RES_MALFORMED, NULL,  NULL,  "" },
		{"a=1;b=2",           RES_MALFORMED, NULL,  NULL,  "" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char a[8], b[8];
		const struct form_field fields[] = {
			{"a", a, sizeof a},
                        {"b", b, sizeof b}
                };
		struct problem problem = {0};
		enum res res = form_read(rows[i].body, strlen(rows[i].body), fields, 2, &problem);

		if (res != rows[i].res)
			TEST_FAIL("%s: %s", rows[i].body, res_text(res));
		CHECK_TEXT(problem.field, rows[i].field);
		/* What could not be read must not be shown again. */
		if (strcmp(problem.field, "a") == 0)
			CHECK_TEXT(a, "");
		if (res == RES_OK) {
			CHECK_TEXT(a, rows[i].a);
			CHECK_TEXT(b, rows[i].b);
		}
	}
}

TEST_MAIN(TEST(test_rows))
