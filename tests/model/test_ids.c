#include "test.h"

#include "hythe/model/ids.h"

static void test_new_is_valid(void)
{
	for (int kind = ID_USER; kind <= ID_JOB; kind++) {
		struct public_id a, b;

		public_id_new((enum id_kind)kind, &a);
		public_id_new((enum id_kind)kind, &b);
		CHECK_INT(strlen(a.text), PUBLIC_ID_LEN);
		CHECK(public_id_valid((enum id_kind)kind, a.text));
		CHECK(strcmp(a.text, b.text) != 0);
	}
}

static void test_refused(void)
{
	static const char *const texts[] = {
		"",
		"usr_",
		"usr_aaaaaaaaaaaaaaaaaaaaaaaaa",   /* 25 */
		"usr_aaaaaaaaaaaaaaaaaaaaaaaaaaa", /* 27 */
		"grp_aaaaaaaaaaaaaaaaaaaaaaaaaa",  /* another kind */
		"usr_Aaaaaaaaaaaaaaaaaaaaaaaaaa",  /* upper case */
		"usr_1aaaaaaaaaaaaaaaaaaaaaaaaa",  /* not of base32 */
		"usr_aaaaaaaaaaaaaaaaaaaaaaaaa'",
	};

	CHECK(public_id_valid(ID_USER, "usr_aaaaaaaaaaaaaaaaaaaaaaaaaa"));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (public_id_valid(ID_USER, texts[i]))
			TEST_FAIL("accepted: %s", texts[i]);
}

TEST_MAIN(TEST(test_new_is_valid), TEST(test_refused))
