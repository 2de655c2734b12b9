#include "panel/place.h"

#include "test.h"

static const struct settings settings = {
	.sub_prefix = "Sub",
	.admin_prefix = "Adm",
	.old_sub_prefix = "OldSub",
	.old_sub_prefix_until_unix = 100,
	.old_admin_prefix = "OldAdm",
	.old_admin_prefix_until_unix = 200,
};

static void test_place(void)
{
	static const struct {
		const char *path;
		int64_t now;
		enum place place;
		const char *rest;
	} cases[] = {
		{"/Sub/token",      0,   PLACE_SUB,     "/token" },
		{"/Sub",            0,   PLACE_SUB,     ""       },
		{"/Sub/",           0,   PLACE_SUB,     "/"      },
		{"/Adm/api/v1",     0,   PLACE_ADMIN,   "/api/v1"},
		{"/OldSub/t",       99,  PLACE_SUB,     "/t"     },
		{"/OldSub/t",       100, PLACE_NOWHERE, NULL     },
		{"/OldAdm/",        199, PLACE_ADMIN,   "/"      },
		{"/OldAdm/",        200, PLACE_NOWHERE, NULL     },
		{"/",               0,   PLACE_NOWHERE, NULL     },
		{"",                0,   PLACE_NOWHERE, NULL     },
		{"//Sub/token",     0,   PLACE_NOWHERE, NULL     },
		{"/sub/token",      0,   PLACE_NOWHERE, NULL     },
		{"/Su/token",       0,   PLACE_NOWHERE, NULL     },
		{"/Subb/token",     0,   PLACE_NOWHERE, NULL     },
		{"/%53ub/token",    0,   PLACE_NOWHERE, NULL     },
		{"/x/../Sub/token", 0,   PLACE_NOWHERE, NULL     },
		{"Sub/token",       0,   PLACE_NOWHERE, NULL     },
		{"*",               0,   PLACE_NOWHERE, NULL     },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *rest = NULL;
		size_t rest_len = 0;
		enum place place = place_of(&settings, cases[i].now, cases[i].path,
					    strlen(cases[i].path), &rest, &rest_len);

		if (place != cases[i].place)
			TEST_FAIL("%s: %d, want %d", cases[i].path, (int)place,
				  (int)cases[i].place);
		if (cases[i].rest) {
			CHECK_INT(rest_len, strlen(cases[i].rest));
			CHECK(memcmp(rest, cases[i].rest, rest_len) == 0);
		}
	}
}

/* No prefix is not "every path". */
static void test_no_prefix(void)
{
	static const struct settings none = {.sub_prefix = "", .admin_prefix = ""};
	const char *rest;
	size_t rest_len;

	CHECK_INT(place_of(&none, 0, "/", 1, &rest, &rest_len), PLACE_NOWHERE);
	CHECK_INT(place_of(&none, 0, "//", 2, &rest, &rest_len), PLACE_NOWHERE);
	CHECK_INT(place_of(&none, 0, "//api", 5, &rest, &rest_len), PLACE_NOWHERE);
}

TEST_MAIN(TEST(test_place), TEST(test_no_prefix))
