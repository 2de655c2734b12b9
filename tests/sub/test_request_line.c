/* Tokens in paths. */
#include "sub/request_line.h"
#include "test.h"

#define TOKEN "AbCdEfGhIjKlMnOpQrSt-_"

static void test_paths(void)
{
	static const struct {
		const char *rest, *format; /* format NULL: no link */
	} rows[] = {
		{TOKEN,                       ""       },
		{TOKEN "/",                   ""       },
		{TOKEN "/plain",              "plain"  },
		{TOKEN "/a/b",                "a/b"    },
		{TOKEN "/%70lain",            "%70lain"},
		{"",			  NULL     },
		{"AbCdEfGhIjKlMnOpQrSt-",     NULL     },
		{TOKEN "x",                   NULL     },
		{TOKEN ".",                   NULL     },
		{TOKEN "%2fplain",            NULL     },
		{"%41bCdEfGhIjKlMnOpQrSt-_",  NULL     },
		{"AbCdEfGhIjKlMnOpQrS%2D_",   NULL     },
		{"AbCdEfGhIjKlMnOpQrSt+/",    NULL     },
		{"AbCdEfGhIjKlMnOpQrSt==",    NULL     },
		{"/AbCdEfGhIjKlMnOpQrSt-",    NULL     },
		{"AbCdEfGhIjKlMnOpQrSt-\xc3", NULL     },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sub_path path;
		bool ok = sub_path_parse(rows[i].rest, strlen(rows[i].rest), &path);

		if (ok != (rows[i].format != NULL))
			TEST_FAIL("%s: %d", rows[i].rest, ok);
		if (!ok)
			continue;
		CHECK(memcmp(path.token, TOKEN, 22) == 0);
		CHECK_INT(path.format_len, strlen(rows[i].format));
		CHECK(memcmp(path.format, rows[i].format, path.format_len) == 0);
	}
}

TEST_MAIN(TEST(test_paths))
