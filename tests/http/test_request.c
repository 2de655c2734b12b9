/* If-None-Match, as clients and proxies write it. */
#include "hythe/http/request.h"
#include "test.h"

static void test_etags(void)
{
	static const struct {
		const char *header;
		bool want;
	} rows[] = {
		{"W/\"12ab\"",             true },
		{"\"12ab\"",               true }, /* weak comparison */
		{"*",		      true },
		{"\"x\", W/\"12ab\"",      true },
		{"\"x\",\"y\" , \"12ab\"", true },
		{"\"a,b\", \"12ab\"",      true },
		{"W/\"12a\"",              false},
		{"W/\"12abc\"",            false},
		{"w/\"12ab\"",             false},
		{"12ab",                   false},
		{"\"12ab",                 false},
		{"\"x\" junk \"12ab\"",    false},
		{"\"unfinished",           false},
		{"",		       false},
		{" , ,",                   false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (etag_listed(rows[i].header, "W/\"12ab\"") != rows[i].want)
			TEST_FAIL("%s", rows[i].header);
}

TEST_MAIN(TEST(test_etags))
