#include "test.h"

#include "hythe/util/result.h"
#include "hythe/util/text.h"

static void test_rows(void)
{
	static const struct {
		enum res res;
		const char *code, *text;
		int status;
	} rows[] = {
		{RES_OK,           "ok",               "ok",                  200},
		{RES_MALFORMED,    "malformed",        "malformed request",   400},
		{RES_UNAUTHORIZED, "not_signed_in",    "not signed in",       401},
		{RES_PRECONDITION, "version_mismatch", "changed meanwhile",   412},
		{RES_INVALID,      "invalid",          "invalid",             422},
		{RES_IO,           "io_error",         "input/output error",  500},
		{RES_CORRUPT,      "damaged",          "stored data damaged", 500},
		{RES_NOMEM,        "out_of_memory",    "out of memory",       503},
		{RES_BUSY,         "busy",             "busy",                503},
		{RES_FULL,         "disk_full",        "disk full",           507},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_TEXT(res_code(rows[i].res), rows[i].code);
		CHECK_TEXT(res_text(rows[i].res), rows[i].text);
		CHECK_INT(res_status(rows[i].res), rows[i].status);
	}
}

static void test_unknown_is_internal(void)
{
	CHECK_TEXT(res_code((enum res)999), "internal");
	CHECK_INT(res_status((enum res)999), 500);
	CHECK_TEXT(res_text((enum res)999), "internal error");
}

static void test_first_problem_stands(void)
{
	struct problem problem = {0};

	CHECK_INT(problem_set(&problem, RES_CONFLICT, "name_taken", "name", "%s is taken", "anna"),
		  RES_CONFLICT);
	CHECK_INT(problem_set(&problem, RES_INVALID, "other", NULL, "later"), RES_INVALID);
	CHECK_INT(problem.res, RES_CONFLICT);
	CHECK_TEXT(problem.code, "name_taken");
	CHECK_TEXT(problem.field, "name");
	CHECK_TEXT(problem.detail, "anna is taken");
}

static void test_without_problem(void)
{
	CHECK_INT(problem_set(NULL, RES_IO, "disk", NULL, "read failed"), RES_IO);
}

static void test_no_field(void)
{
	struct problem problem = {0};

	problem_set(&problem, RES_BUSY, "busy", NULL, "later");
	CHECK_TEXT(problem.field, "");
}

/* What an outsider sent may be quoted; it must neither break a line nor end in half a letter. */
static void test_plain(void)
{
	static const struct {
		const char *given, *kept;
	} rows[] = {
		{"plain",        "plain"       },
                {"a\nb\tc",      "a?b?c"       },
		{"\x1b[31m",     "?[31m"       },
                {"na\xc3\xafve", "na\xc3\xafve"},
		{"\xff\xfe",     "??"          },
                {"\xc2\x85|",    "??|"         }, /* C1 */
		{"\xc3(",        "?("          },
                {"cut\xe2\x82",  "cut"         },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};

		problem_set(&problem, RES_INVALID, "bad", rows[i].given, "%s", rows[i].given);
		CHECK_TEXT(problem.field, rows[i].kept);
		CHECK_TEXT(problem.detail, rows[i].kept);
	}
}

static void test_long_is_cut(void)
{
	char text[1000];
	struct problem problem = {0};

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	memcpy(text + 254, "\xe2\x82\xac", 3); /* two of its bytes do not fit the detail */
	memcpy(text + 94, "\xe2\x82\xac", 3);  /* nor the field */
	problem_set(&problem, RES_INVALID, text, text, "%s", text);
	CHECK_INT(strlen(problem.code), sizeof problem.code - 1);
	CHECK_INT(strlen(problem.field), 94);
	CHECK_INT(strlen(problem.detail), 254);
	CHECK(text_utf8_valid(problem.detail, 254));
}

TEST_MAIN(TEST(test_rows), TEST(test_unknown_is_internal), TEST(test_first_problem_stands),
	  TEST(test_without_problem), TEST(test_no_field), TEST(test_plain), TEST(test_long_is_cut))
