#include "test.h"

#include "hythe/util/json_write.h"

static struct buf buf;
static struct json_writer w;

static void begin(size_t max)
{
	buf_free(&buf);
	buf_init(&buf, max);
	json_start(&w, &buf);
}

static void test_shape(void)
{
	begin(1000);
	json_object(&w, NULL);
	json_text(&w, "name", "anna");
	json_text(&w, "note", NULL);
	json_int(&w, "used", INT64_MAX);
	json_flag(&w, "on", true);
	json_array(&w, "list");
	json_int(&w, NULL, 0);
	json_int(&w, NULL, INT64_MIN);
	json_flag(&w, NULL, false);
	json_null(&w, NULL);
	json_array(&w, NULL);
	json_end(&w);
	json_object(&w, NULL);
	json_end(&w);
	json_end(&w);
	json_raw(&w, "raw", "[1,2]", 5);
	json_text_n(&w, "n", "abcdef", 3);
	json_end(&w);
	CHECK(json_finish(&w));
	CHECK_TEXT(
		buf.data,
		"{\"name\":\"anna\",\"note\":null,\"used\":9223372036854775807,\"on\":true,"
		"\"list\":[0,-9223372036854775808,false,null,[],{}],\"raw\":[1,2],\"n\":\"abc\"}");
}

static void test_strings(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *json;
	} rows[] = {
		{"",			 0, "\"\""				    },
		{"plain ~\x7f",              8, "\"plain ~\x7f\""                         },
		{"\"\\/",                    3, "\"\\\"\\\\/\""                           },
		{"\b\f\n\r\t",               5, "\"\\b\\f\\n\\r\\t\""                     },
		{"\0\x1f",                   2, "\"\\u0000\\u001f\""                      },
		{"</a>&",                    5, "\"\\u003c/a\\u003e\\u0026\""             },
		{"\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\""            },
		{"a\xff"
		 "b",       3,
		 "\"a\xef\xbf\xbd"
		 "b\""								    },
		{"\xed\xa0\x80",             3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xe2\x82\xac",             2, "\"\xef\xbf\xbd\xef\xbf\xbd\""            },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(100);
		json_text_n(&w, NULL, rows[i].text, rows[i].len);
		CHECK(json_finish(&w));
		CHECK_TEXT(buf.data, rows[i].json);
	}
	begin(100);
	json_object(&w, NULL);
	json_null(&w, "a\"<b");
	json_end(&w);
	CHECK(json_finish(&w));
	CHECK_TEXT(buf.data, "{\"a\\\"\\u003cb\":null}");
}

/* Mistakes of ours: a letter an act, in order; each row must fail. */
static void play(const char *acts)
{
	for (; *acts; acts++) {
		switch (*acts) {
		case '{':
			json_object(&w, NULL);
			break;
		case 'o':
			json_object(&w, "o");
			break;
		case '[':
			json_array(&w, NULL);
			break;
		case '.':
			json_end(&w);
			break;
		case '1':
			json_int(&w, NULL, 1);
			break;
		case 'n':
			json_int(&w, "n", 1);
			break;
		}
	}
}

static void test_nesting(void)
{
	static const struct {
		const char *acts;
		bool ok;
	} rows[] = {
		{"1",      true },
                {"[1.",    true },
                {"{n.",    true },
                {"{on..",  true },
		{"[{n.1.", true },
                {"",       false},
                {"[",      false},
                {"{",      false},
		{".",      false},
                {"[..",    false},
                {"11",     false},
                {"[.[.",   false},
		{"n",      false},
                {"{1.",    false},
                {"[n.",    false},
                {"{{..",   false},
		{"[o..",   false},
                {"{[..",   false},
                {"{n",     false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(100);
		play(rows[i].acts);
		if (json_finish(&w) != rows[i].ok)
			TEST_FAIL("row %zu (%s)", i, rows[i].acts);
	}
}

static void test_depth(void)
{
	for (int depth = 40; depth <= 41; depth++) {
		begin(1000);
		for (int i = 0; i < depth; i++)
			json_array(&w, NULL);
		for (int i = 0; i < depth; i++)
			json_end(&w);
		CHECK_INT(json_finish(&w), depth <= 40);
	}
}

static void test_full(void)
{
	begin(1000);
	play("{n.");
	CHECK_INT(buf.len, 7);
	for (size_t max = 0; max <= 7; max++) {
		begin(max);
		play("{n.");
		CHECK_INT(json_finish(&w), max == 7);
	}
}

/* Lines of a stream share a buffer. */
static void test_append(void)
{
	begin(100);
	play("1");
	CHECK(json_finish(&w));
	buf_char(&buf, '\n');
	json_start(&w, &buf);
	play("[.");
	CHECK(json_finish(&w));
	CHECK_TEXT(buf.data, "1\n[]");
	buf_free(&buf);
}

TEST_MAIN(TEST(test_shape), TEST(test_strings), TEST(test_nesting), TEST(test_depth),
	  TEST(test_full), TEST(test_append))
