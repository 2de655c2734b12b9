#include "test.h"

#include "hythe/util/text.h"

#define BYTES(text) text, sizeof text - 1

static void test_utf8(void)
{
	static const struct {
		const char *text;
		size_t len;
		bool valid;
	} rows[] = {
		{BYTES(""),						    true },
		{BYTES("plain"),					       true },
		{BYTES("\x7f"),						true },
		{BYTES("\xc2\x80 \xdf\xbf"),                                   true },
		{BYTES("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"), true },
		{BYTES("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"),                   true },
		{BYTES("a\0b"),						false},
		{BYTES("\x80"),						false},
		{BYTES("\xbf"),						false},
		{BYTES("\xc0\x80"),					    false}, /* overlong */
		{BYTES("\xc1\xbf"),					    false},
		{BYTES("\xe0\x9f\xbf"),					false},
		{BYTES("\xf0\x8f\xbf\xbf"),                                    false},
		{BYTES("\xed\xa0\x80"),					false}, /* surrogates */
		{BYTES("\xed\xbf\xbf"),					false},
		{BYTES("\xf4\x90\x80\x80"),                                    false}, /* past U+10FFFF */
		{BYTES("\xf5\x80\x80\x80"),                                    false},
		{BYTES("\xff"),						false},
		{BYTES("\xc3"),						false}, /* cut */
		{BYTES("\xe2\x82"),					    false},
		{BYTES("\xf0\x9f\x98"),					false},
		{BYTES("\xc3("),					       false},
		{BYTES("\xe2(\xac"),					   false},
		{BYTES("\xf0\x9f(\x80"),                                       false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (text_utf8_valid(rows[i].text, rows[i].len) != rows[i].valid)
			TEST_FAIL("row %zu", i);
}

static void test_utf8_next(void)
{
	static const struct {
		const char *text;
		size_t len, step;
		uint32_t code;
	} rows[] = {
		{"a",                1, 1, 'a'    },
		{"\xc3\xa9",         2, 2, 0xe9   },
		{"\xe2\x82\xac",     3, 3, 0x20ac },
		{"\xf0\x9f\x98\x80", 4, 4, 0x1f600},
		{"",                 1, 1, 0      }, /* the NUL itself */
		{"\xe2\x82\xac",     2, 0, 0      },
		{"\xf0\x9f\x98\x80", 3, 0, 0      },
		{"\xc0\x80",         2, 0, 0      },
		{"\xed\xa0\x80",     3, 0, 0      },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t code = 0;

		CHECK_INT(text_utf8_next(rows[i].text, rows[i].len, &code), rows[i].step);
		CHECK_INT(code, rows[i].code);
	}
}

static void test_control(void)
{
	static const struct {
		const char *text;
		size_t len;
		bool has;
	} rows[] = {
		{BYTES(""),                         false},
		{BYTES("plain ~"),                  false},
		{BYTES("\xc2\xa0\xc3\xa9"),         false},
		{BYTES("\xe2\x80\xa7\xe2\x80\xaa"), false}, /* both neighbours of the separators */
		{BYTES("a\tb"),                     true },
		{BYTES("a\nb"),                     true },
		{BYTES("a\0b"),                     true },
		{BYTES("\x1f"),                     true },
		{BYTES("\x7f"),                     true },
		{BYTES("\xc2\x80"),                 true },
		{BYTES("\xc2\x9f"),                 true },
		{BYTES("\xe2\x80\xa8"),             true },
		{BYTES("\xe2\x80\xa9"),             true },
		{BYTES("\x9b"),                     true }, /* not UTF-8 */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (text_has_control(rows[i].text, rows[i].len) != rows[i].has)
			TEST_FAIL("row %zu", i);
}

static void test_copy(void)
{
	char out[4] = "zzz";

	CHECK(text_copy(out, sizeof out, "abc"));
	CHECK_TEXT(out, "abc");
	CHECK(!text_copy(out, sizeof out, "abcd"));
	CHECK_TEXT(out, "");
	CHECK(text_copy(out, 1, ""));
	CHECK(!text_copy(out, 1, "a"));
	out[0] = 'q';
	CHECK(!text_copy(out, 0, ""));
	CHECK_INT(out[0], 'q');
}

static void test_percent(void)
{
	static const struct {
		const char *plain, *coded;
	} rows[] = {
		{"",                 ""						},
		{"AZaz09-._~",       "AZaz09-._~"                                      },
		{"a b+c",            "a%20b%2Bc"				       },
		{"%/?#&=:@!$'()*,;", "%25%2F%3F%23%26%3D%3A%40%21%24%27%28%29%2A%2C%3B"},
		{"\xc3\xa9\x7f",     "%C3%A9%7F"                                       },
	};
	struct buf buf;
	char back[64];
	size_t len;

	buf_init(&buf, 100);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_reset(&buf);
		CHECK(buf_str(&buf, ""));
		CHECK(text_percent(&buf, rows[i].plain, strlen(rows[i].plain)));
		CHECK_TEXT(buf.data, rows[i].coded);
		CHECK(text_percent_decode(buf.data, buf.len, false, back, sizeof back, &len));
		CHECK_TEXT(back, rows[i].plain);
		CHECK_INT(len, strlen(rows[i].plain));
	}
	buf_free(&buf);
	buf_init(&buf, 2);
	CHECK(!text_percent(&buf, "\n", 1));
	buf_free(&buf);
}

static void test_percent_decode(void)
{
	static const struct {
		const char *text;
		size_t len;
		bool plus;
		const char *out; /* NULL: refused */
	} rows[] = {
		{BYTES("a+b"),                   false, "a+b"     },
		{BYTES("a+b"),                   true,  "a b"     },
		{BYTES("%2b%2B"),                true,  "++"      },
		{BYTES("%c3%A9"),                false, "\xc3\xa9"},
		{BYTES("1234567"),               false, "1234567" },
		{BYTES("%31%32%33%34%35%36%37"), false, "1234567" },
		{BYTES("%"),                     false, NULL      },
		{BYTES("%4"),                    false, NULL      },
		{BYTES("a%"),                    false, NULL      },
		{BYTES("%4g"),                   false, NULL      },
		{BYTES("%g4"),                   false, NULL      },
		{BYTES("%%41"),                  false, NULL      },
		{BYTES("% 1"),                   false, NULL      },
		{BYTES("%+1"),                   false, NULL      },
		{BYTES("%00"),                   false, NULL      },
		{BYTES("a\0b"),                  false, NULL      },
		{BYTES("12345678"),              false, NULL      }, /* no room for the NUL */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[8];
		bool ok = text_percent_decode(rows[i].text, rows[i].len, rows[i].plus, out,
					      sizeof out, NULL);

		if (ok != (rows[i].out != NULL) || (ok && strcmp(out, rows[i].out) != 0))
			TEST_FAIL("row %zu (%s)", i, rows[i].text);
	}
	CHECK(!text_percent_decode("", 0, false, NULL, 0, NULL));
}

static void test_html(void)
{
	struct buf buf;

	buf_init(&buf, 200);
	CHECK(text_html(&buf, "a<b>&\"c'd"));
	CHECK_TEXT(buf.data, "a&lt;b&gt;&amp;&quot;c&#39;d");
	buf_reset(&buf);
	CHECK(text_html(&buf, "<script>"));
	CHECK_TEXT(buf.data, "&lt;script&gt;");
	buf_free(&buf);
	buf_init(&buf, 3);
	CHECK(!text_html(&buf, "<"));
	buf_free(&buf);
}

static void test_time(void)
{
	static const struct {
		int64_t unix_s;
		const char *text;
	} rows[] = {
		{0,		     "1970-01-01T00:00:00Z"},
		{1796119200,            "2026-12-01T10:00:00Z"},
		{951782400,             "2000-02-29T00:00:00Z"},
		{-1,                    "1969-12-31T23:59:59Z"},
		{INT64_C(253402300799), "9999-12-31T23:59:59Z"},
		{INT64_C(253402300800), "253402300800"        },
		{INT64_C(-62167219200), "0000-01-01T00:00:00Z"},
		{INT64_C(-62167219201), "-62167219201"        },
		{INT64_MAX,             "9223372036854775807" },
		{INT64_MIN,             "-9223372036854775808"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[TEXT_TIME_MAX];

		text_time(rows[i].unix_s, out);
		CHECK_TEXT(out, rows[i].text);
	}
}

static void test_bytes(void)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} rows[] = {
		{0,		     "0 B"      },
		{999,                   "999 B"    },
		{1000,                  "1.00 kB"  },
		{1004,                  "1.00 kB"  },
		{1005,                  "1.01 kB"  },
		{999994,                "999.99 kB"},
		{999995,                "1.00 MB"  },
		{INT64_C(1500000000),   "1.50 GB"  },
		{INT64_C(999994999999), "999.99 GB"},
		{INT64_C(999995000000), "1.00 TB"  },
		{-1500,                 "-1.50 kB" },
		{INT64_MAX,             "9.22 EB"  },
		{INT64_MIN,             "-9.22 EB" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[TEXT_TIME_MAX];

		text_bytes(rows[i].bytes, out);
		CHECK_TEXT(out, rows[i].text);
	}
}

TEST_MAIN(TEST(test_utf8), TEST(test_utf8_next), TEST(test_control), TEST(test_copy),
	  TEST(test_percent), TEST(test_percent_decode), TEST(test_html), TEST(test_time),
	  TEST(test_bytes))
