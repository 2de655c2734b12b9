#include "test.h"

#include <stddef.h>

#include "hythe/util/buf.h"
#include "hythe/util/json_read.h"

/* A copy of its own exact size, so that the sanitizer sees a read past the end. */
struct text {
	char *data;
	size_t len;
};

static struct text copy_of(const char *text, size_t len)
{
	struct text copy = {.data = malloc(len ? len : 1), .len = len};

	memcpy(copy.data, text, len);
	return copy;
}

#define BYTES(text) text, sizeof text - 1

static void test_accepted(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *printed;
	} rows[] = {
		{BYTES("null"),				      "null"                         },
		{BYTES(" \t\r\n true \n"),                           "true"                         },
		{BYTES("false"),				     "false"                        },
		{BYTES("0"),					 "0"                            },
		{BYTES("-0"),					"-0"                           },
		{BYTES("-12"),				       "-12"                          },
		{BYTES("9007199254740993"),                          "9007199254740993"             },
		{BYTES("99999999999999999999"),                      "99999999999999999999"         },
		{BYTES("1.0"),				       "1.0"                          },
		{BYTES("0.5e+10"),				   "0.5e+10"                      },
		{BYTES("1E-3"),				      "1E-3"                         },
		{BYTES("\"\""),				      "\"\""                         },
		{BYTES("\"a\\/b\""),                                 "\"a/b\""                      },
		{BYTES("\"\\b\\f\\n\\r\\t\\\"\\\\\""),               "\"\\b\\f\\n\\r\\t\\\"\\\\\""  },
		{BYTES("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\""),
		 "\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""                                        },
		{BYTES("\"\\u0001\\u007f\""),                        "\"\\u0001\x7f\""              },
		{BYTES("\"\xc3\xa9 \xf0\x9f\x98\x80\""),             "\"\xc3\xa9 \xf0\x9f\x98\x80\""},
		{BYTES("\"\xf4\x8f\xbf\xbf\""),                      "\"\xf4\x8f\xbf\xbf\""         },
		{BYTES("[]"),					"[]"                           },
		{BYTES("[ ]"),				       "[]"                           },
		{BYTES("{ }"),				       "{}"                           },
		{BYTES("[1,[2,[]],{}]"),                             "[1,[2,[]],{}]"                },
		{BYTES(" { \"a\" : 1 , \"b\" : [ true , null ] } "), "{\"a\":1,\"b\":[true,null]}"  },
		{BYTES("{\"\":1,\"A\":2,\"a\":3}"),                  "{\"\":1,\"A\":2,\"a\":3}"     },
		{BYTES("{\"a\":{\"a\":{\"a\":1}}}"),                 "{\"a\":{\"a\":{\"a\":1}}}"    },
		{BYTES("[{\"a\":1},{\"a\":1}]"),                     "[{\"a\":1},{\"a\":1}]"        },
	};
	struct buf buf;

	buf_init(&buf, 1000);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text copy = copy_of(rows[i].text, rows[i].len);
		struct problem problem = {0};
		struct json_doc *doc;

		if (json_parse(copy.data, copy.len, &doc, &problem) != RES_OK)
			TEST_FAIL("row %zu (%s): %s", i, rows[i].text, problem.detail);
		buf_reset(&buf);
		CHECK(json_print(json_root(doc), &buf));
		CHECK_TEXT(buf.data, rows[i].printed);
		json_free(doc);
		free(copy.data);
	}
	buf_free(&buf);
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *detail;
	} rows[] = {
		{BYTES(""),				"the text ends too early at byte 0"                     },
		{BYTES("  "),			      "the text ends too early at byte 2"                     },
		{BYTES("\0"),			      "a value is expected at byte 0"                         },
		{BYTES("\xef\xbb\xbf{}"),                  "a value is expected at byte 0"                         },
		{BYTES("nul"),                             "a value is expected at byte 0"                         },
		{BYTES("nulL"),                            "a value is expected at byte 0"                         },
		{BYTES("True"),                            "a value is expected at byte 0"                         },
		{BYTES("NaN"),                             "a value is expected at byte 0"                         },
		{BYTES("Infinity"),                        "a value is expected at byte 0"                         },
		{BYTES("-Infinity"),                       "a number without digits at byte 1"                     },
		{BYTES("'a'"),                             "a value is expected at byte 0"                         },
		{BYTES("/**/1"),                           "a value is expected at byte 0"                         },
		{BYTES("1 2"),                             "something behind the value at byte 2"                  },
		{BYTES("nullx"),                           "something behind the value at byte 4"                  },
		{BYTES("{}\0"),                            "something behind the value at byte 2"                  },
		{BYTES("[] ]"),                            "something behind the value at byte 3"                  },
		{BYTES("\v1"),                             "a value is expected at byte 0"                         },
 /* numbers */
		{BYTES("01"),			      "something behind the value at byte 1"                  },
		{BYTES("-01"),                             "something behind the value at byte 2"                  },
		{BYTES("+1"),			      "a value is expected at byte 0"                         },
		{BYTES(".5"),			      "a value is expected at byte 0"                         },
		{BYTES("-"),			       "the text ends too early at byte 1"                     },
		{BYTES("-a"),			      "a number without digits at byte 1"                     },
		{BYTES("1."),			      "the text ends too early at byte 2"                     },
		{BYTES("[1.]"),                            "a number without digits behind its point at byte 3"    },
		{BYTES("[1.e1]"),                          "a number without digits behind its point at byte 3"    },
		{BYTES("[1e]"),                            "a number without digits in its exponent at byte 3"     },
		{BYTES("[1e+-1]"),                         "a number without digits in its exponent at byte 4"     },
		{BYTES("0x10"),                            "something behind the value at byte 1"                  },
		{BYTES("1_000"),                           "something behind the value at byte 1"                  },
 /* strings */
		{BYTES("\""),			      "the text ends too early at byte 1"                     },
		{BYTES("\"abc"),                           "the text ends too early at byte 4"                     },
		{BYTES("\"\\"),                            "the text ends too early at byte 2"                     },
		{BYTES("\"\\\""),                          "the text ends too early at byte 3"                     },
		{BYTES("\"a\nb\""),                        "a control character in a string at byte 2"             },
		{BYTES("\"a\tb\""),                        "a control character in a string at byte 2"             },
		{BYTES("\"a\0b\""),                        "a control character in a string at byte 2"             },
		{BYTES("\"\x1f\""),                        "a control character in a string at byte 1"             },
		{BYTES("\"\\a\""),                         "an unknown escape at byte 1"                           },
		{BYTES("\"\\x41\""),                       "an unknown escape at byte 1"                           },
		{BYTES("\"\\'\""),                         "an unknown escape at byte 1"                           },
		{BYTES("\"\\U0041\""),                     "an unknown escape at byte 1"                           },
		{BYTES("\"\\u\""),                         "a \\u escape without four hexadecimal digits at byte 1"},
		{BYTES("\"\\u004"),                        "a \\u escape without four hexadecimal digits at byte 1"},
		{BYTES("\"\\u004g\""),                     "a \\u escape without four hexadecimal digits at byte 1"},
		{BYTES("\"\\u+041\""),                     "a \\u escape without four hexadecimal digits at byte 1"},
		{BYTES("\"a\\u0000b\""),                   "\\u0000 is not allowed at byte 2"                      },
		{BYTES("\"\\ud83d\""),                     "half a surrogate pair at byte 1"                       },
		{BYTES("\"\\ude00\""),                     "half a surrogate pair at byte 1"                       },
		{BYTES("\"\\ude00\\ud83d\""),              "half a surrogate pair at byte 1"                       },
		{BYTES("\"\\ud83d\\u0041\""),              "half a surrogate pair at byte 1"                       },
		{BYTES("\"\\ud83d\\ud83d\""),              "half a surrogate pair at byte 1"                       },
		{BYTES("\"\\ud83dx\""),                    "half a surrogate pair at byte 1"                       },
		{BYTES("\"\\ud83d\\n\""),                  "half a surrogate pair at byte 1"                       },
		{BYTES("\"\x80\""),                        "bytes that are not UTF-8 at byte 1"                    },
		{BYTES("\"\xc0\x80\""),                    "bytes that are not UTF-8 at byte 1"                    },
		{BYTES("\"\xed\xa0\x80\""),                "bytes that are not UTF-8 at byte 1"                    },
		{BYTES("\"\xf4\x90\x80\x80\""),            "bytes that are not UTF-8 at byte 1"                    },
		{BYTES("\"ok \xe2\x82\""),                 "bytes that are not UTF-8 at byte 4"                    },
		{BYTES("\"\xff\""),                        "bytes that are not UTF-8 at byte 1"                    },
		{BYTES("{\"\xff\":1}"),                    "bytes that are not UTF-8 at byte 2"                    },
		{BYTES("\xc3\xa9"),                        "a value is expected at byte 0"                         },
 /* arrays */
		{BYTES("["),			       "the text ends too early at byte 1"                     },
		{BYTES("[1"),			      "the text ends too early at byte 2"                     },
		{BYTES("[1,"),                             "the text ends too early at byte 3"                     },
		{BYTES("[1,]"),                            "a value is expected at byte 3"                         },
		{BYTES("[,1]"),                            "a value is expected at byte 1"                         },
		{BYTES("[1 2]"),                           "a comma or ] is expected at byte 3"                    },
		{BYTES("[1}"),                             "a comma or ] is expected at byte 2"                    },
		{BYTES("]"),			       "a value is expected at byte 0"                         },
		{BYTES("[\xc2\xa0]"),
		 "a value is expected at byte 1"								   }, /* a no-break space is no space */
  /* objects */
		{BYTES("{"),			       "the text ends too early at byte 1"                     },
		{BYTES("{\"a\""),                          "the text ends too early at byte 4"                     },
		{BYTES("{\"a\":"),                         "the text ends too early at byte 5"                     },
		{BYTES("{\"a\":1"),                        "the text ends too early at byte 6"                     },
		{BYTES("{\"a\"}"),                         "a colon is expected at byte 4"                         },
		{BYTES("{\"a\" 1}"),                       "a colon is expected at byte 5"                         },
		{BYTES("{\"a\":}"),                        "a value is expected at byte 5"                         },
		{BYTES("{\"a\":1,}"),                      "a string is expected at byte 7"                        },
		{BYTES("{a:1}"),                           "a string is expected at byte 1"                        },
		{BYTES("{1:1}"),                           "a string is expected at byte 1"                        },
		{BYTES("{\"a\":1]"),                       "a comma or } is expected at byte 6"                    },
		{BYTES("{\"a\":1 \"b\":2}"),               "a comma or } is expected at byte 7"                    },
 /* names twice */
		{BYTES("{\"a\":1,\"a\":1}"),               "a member name that the object has already at byte 8"   },
		{BYTES("{\"a\":1,\"b\":1,\"\\u0061\":2}"),
		 "a member name that the object has already at byte 14"                                            },
		{BYTES("[{\"x\":{\"\":1,\"\":1}}]"),
		 "a member name that the object has already at byte 13"                                            },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text copy = copy_of(rows[i].text, rows[i].len);
		struct problem problem = {0};
		struct json_doc *doc;
		enum res res = json_parse(copy.data, copy.len, &doc, &problem);

		if (res != RES_MALFORMED || doc || strcmp(problem.code, "bad_json") != 0 ||
		    strcmp(problem.detail, rows[i].detail) != 0)
			TEST_FAIL("row %zu (%s): %s \"%s\"", i, rows[i].text, res_text(res),
				  problem.detail);
		free(copy.data);
	}
}

/* Every prefix of a text that uses everything is refused, and read no further than it goes. */
static void test_prefixes(void)
{
	static const char text[] = "{\"a\\n\\u00e9\":[true,false,null,-1.5e+3,\"\\ud83d\\ude00\"],"
				   "\"\xf0\x9f\x98\x80\":{\"b\":{}}}";

	for (size_t len = 0; len < sizeof text; len++) {
		struct text copy = copy_of(text, len);
		struct json_doc *doc;
		enum res res = json_parse(copy.data, copy.len, &doc, NULL);

		CHECK_INT(res, len == sizeof text - 1 ? RES_OK : RES_MALFORMED);
		json_free(doc);
		free(copy.data);
	}
}

static void test_depth(void)
{
	for (size_t depth = JSON_DEPTH; depth <= JSON_DEPTH + 1; depth++) {
		char text[2 * (JSON_DEPTH + 1)];
		struct problem problem = {0};
		struct json_doc *doc;

		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		CHECK_INT(json_parse(text, 2 * depth, &doc, &problem),
			  depth <= JSON_DEPTH ? RES_OK : RES_TOO_LARGE);
		json_free(doc);
	}
}

static enum res parse_zeros(size_t count, struct json_doc **doc)
{
	char *text = malloc(2 * count + 2);
	enum res res;

	text[0] = '[';
	for (size_t i = 0; i < count; i++)
		memcpy(text + 1 + 2 * i, "0,", 2);
	text[2 * count] = ']';
	res = json_parse(text, 2 * count + 1, doc, NULL);
	free(text);
	return res;
}

static void test_node_bound(void)
{
	struct json_doc *doc;

	CHECK_INT(parse_zeros(JSON_NODES_MAX - 1, &doc), RES_OK);
	CHECK_INT(json_root(doc)->len, JSON_NODES_MAX - 1);
	json_free(doc);
	CHECK_INT(parse_zeros(JSON_NODES_MAX, &doc), RES_TOO_LARGE);
	CHECK(doc == NULL);
}

/* An object of `count` members; member `twin`, if it is one, has the name of member 0. */
static enum res parse_members(size_t count, size_t twin, struct problem *problem)
{
	struct json_doc *doc;
	struct buf buf;
	enum res res;

	buf_init(&buf, 4 << 20);
	buf_char(&buf, '{');
	for (size_t i = 0; i < count; i++)
		buf_printf(&buf, "%s\"name_%zu\":%zu", i ? "," : "", i == twin ? 0 : i, i);
	buf_char(&buf, '}');
	CHECK(!buf.failed);
	res = json_parse(buf.data, buf.len, &doc, problem);
	json_free(doc);
	buf_free(&buf);
	return res;
}

static void test_many_names(void)
{
	static const size_t counts[] = {2, 15, 16, 17, 18, 100, 50000};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct problem problem = {0};

		CHECK_INT(parse_members(counts[i], 0, NULL), RES_OK);
		CHECK_INT(parse_members(counts[i], counts[i] - 1, &problem), RES_MALFORMED);
		CHECK(strncmp(problem.detail, "a member name that", 18) == 0);
		CHECK_INT(parse_members(counts[i], counts[i] / 2, NULL), RES_MALFORMED);
	}
}

static void test_walk(void)
{
	char text[] = "{\"id\":7,\"tags\":[\"a\",[\"b\"],\"c\"],\"none\":[],\"deep\":{\"id\":8}}";
	const struct json *root, *tags, *at;
	struct json_doc *doc;

	CHECK_INT(json_parse(text, strlen(text), &doc, NULL), RES_OK);
	root = json_root(doc);
	CHECK_INT(root->type, JSON_OBJECT);
	CHECK_INT(root->len, 4);
	CHECK(root->name == NULL && json_next(root) == NULL);
	tags = json_member(root, "tags");
	CHECK_INT(tags->len, 3);
	at = json_first(tags);
	CHECK(json_is_text(at, "a") && !json_is_text(at, "A") && at->name == NULL);
	at = json_next(at);
	CHECK_INT(at->type, JSON_ARRAY);
	CHECK(json_is_text(json_first(at), "b") && json_next(json_first(at)) == NULL);
	at = json_next(at);
	CHECK(json_is_text(at, "c") && json_next(at) == NULL);
	CHECK_TEXT(json_next(tags)->name, "none");
	CHECK(json_first(json_member(root, "none")) == NULL);
	CHECK(json_member(json_member(root, "deep"), "id") != json_member(root, "id"));
	CHECK(json_member(root, "ID") == NULL && json_member(root, "i") == NULL);
	CHECK(json_member(tags, "a") == NULL && json_member(NULL, "a") == NULL);
	CHECK(json_first(json_member(root, "id")) == NULL);
	CHECK(!json_is_text(json_member(root, "id"), "7") && !json_is_text(NULL, ""));
	json_free(doc);
	json_free(NULL);
}

static void test_i64(void)
{
	static const struct {
		const char *text;
		int64_t min, max;
		enum res res;
		int64_t value;
	} rows[] = {
		{"0",		       0,         1,         RES_OK,        0                        },
		{"-9223372036854775808",    INT64_MIN, INT64_MAX, RES_OK,        INT64_MIN                },
		{"9007199254740993",        0,         INT64_MAX, RES_OK,        INT64_C(9007199254740993)},
		{"2",		       0,         1,         RES_TOO_LARGE, 0                        },
		{"-1",                      0,         1,         RES_TOO_LARGE, 0                        },
		{"9223372036854775808",     INT64_MIN, INT64_MAX, RES_TOO_LARGE, 0                        },
		{"99999999999999999999999", INT64_MIN, INT64_MAX, RES_TOO_LARGE, 0                        },
		{"1.0",                     0,         1,         RES_INVALID,   0                        },
		{"1e0",                     0,         1,         RES_INVALID,   0                        },
		{"-0",                      0,         1,         RES_INVALID,   0                        },
		{"\"1\"",                   0,         1,         RES_INVALID,   0                        },
		{"true",                    0,         1,         RES_INVALID,   0                        },
		{"null",                    0,         1,         RES_INVALID,   0                        },
		{"[1]",                     0,         1,         RES_INVALID,   0                        },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text copy = copy_of(rows[i].text, strlen(rows[i].text));
		int64_t value = 77;
		struct json_doc *doc;

		CHECK_INT(json_parse(copy.data, copy.len, &doc, NULL), RES_OK);
		CHECK_INT(json_i64(json_root(doc), rows[i].min, rows[i].max, &value), rows[i].res);
		CHECK_INT(value, rows[i].res == RES_OK ? rows[i].value : 77);
		json_free(doc);
		free(copy.data);
	}
	CHECK_INT(json_i64(NULL, 0, 1, &(int64_t){0}), RES_INVALID);
}

/* --- json_read --- */

struct input {
	const char *name, *note;
	int64_t quota;
	bool enabled;
	int period;
	const struct json *meta;
};

static const char *const periods[] = {"none", "day", "month", NULL};
static const struct json_field fields[] = {
	{.name = "name",
	 .kind = JSON_IN_TEXT,
	 .offset = offsetof(struct input,                                     name),
	 .min = 1,
	 .max = 8,
	 .required = true},
	{.name = "note",
	 .kind = JSON_IN_LINES,
	 .offset = offsetof(struct input,						  note),
	 .max = 20,
	 .nullable = true},
	{.name = "quota",
	 .kind = JSON_IN_I64,
	 .offset = offsetof(struct input,							   quota),
	 .min = -1,
	 .max = 1000,
	 .nullable = true},
	{.name = "enabled",                  .kind = JSON_IN_BOOL,                        .offset = offsetof(struct input,                                     enabled)                       },
	{.name = "period",
	 .kind = JSON_IN_WORD,
	 .offset = offsetof(struct input,						  period),
	 .words = periods,
	 .nullable = true},
	{.name = "meta", .kind = JSON_IN_TREE,.offset = offsetof(struct input,meta)},
};
#define FIELDS (sizeof fields / sizeof *fields)

static struct json_doc *parse(struct text *copy, const char *text)
{
	struct json_doc *doc;

	*copy = copy_of(text, strlen(text));
	CHECK_INT(json_parse(copy->data, copy->len, &doc, NULL), RES_OK);
	return doc;
}

static void test_read(void)
{
	struct text copy;
	struct json_doc *doc =
		parse(&copy, "{\"enabled\":true,\"name\":\"\xc3\xa9na\","
			     "\"note\":\"a\\n\\tb\",\"quota\":-1,\"period\":\"month\","
			     "\"meta\":{\"k\":[1]}}");
	struct input in = {0};
	uint64_t present;

	CHECK_INT(json_read(json_root(doc), fields, FIELDS, &in, &present, NULL), RES_OK);
	CHECK_INT(present, 0x3f);
	CHECK_TEXT(in.name, "\xc3\xa9na");
	CHECK_TEXT(in.note, "a\n\tb");
	CHECK_INT(in.quota, -1);
	CHECK(in.enabled);
	CHECK_INT(in.period, 2);
	CHECK_INT(in.meta->type, JSON_OBJECT);
	json_free(doc);
	free(copy.data);
}

static void test_read_some(void)
{
	struct text copy;
	struct json_doc *doc = parse(
		&copy, "{\"name\":\"12345678\",\"quota\":null,\"note\":null,\"period\":null}");
	struct input in = {.quota = 5, .note = "old", .period = 2, .enabled = true};
	uint64_t present;

	CHECK_INT(json_read(json_root(doc), fields, FIELDS, &in, &present, NULL), RES_OK);
	CHECK_INT(present, 1 | 2 | 4 | 16);
	CHECK_TEXT(in.name, "12345678");
	CHECK(in.quota == 0 && in.note == NULL && in.period == 0);
	CHECK(in.enabled); /* absent: as it was */
	CHECK_INT(json_read(json_root(doc), fields, FIELDS, &in, NULL, NULL), RES_OK);
	json_free(doc);
	free(copy.data);
}

/* null is the zero value of every kind, whatever stood there before. */
static void test_read_null(void)
{
	struct json_field nullable[FIELDS];
	struct input in = {"n", "n", 1, true, 1, NULL};
	struct text copy;
	struct json_doc *doc = parse(&copy, "{\"name\":null,\"note\":null,\"quota\":null,"
					    "\"enabled\":null,\"period\":null,\"meta\":null}");
	uint64_t present;

	in.meta = json_root(doc);
	memcpy(nullable, fields, sizeof fields);
	for (size_t i = 0; i < FIELDS; i++)
		nullable[i].nullable = true;
	CHECK_INT(json_read(json_root(doc), nullable, FIELDS, &in, &present, NULL), RES_OK);
	CHECK_INT(present, 0x3f);
	CHECK(!in.name && !in.note && !in.quota && !in.enabled && !in.period && !in.meta);
	CHECK_INT(json_read(json_root(doc), nullable, JSON_FIELDS_MAX + 1, &in, NULL, NULL),
		  RES_INTERNAL);
	json_free(doc);
	free(copy.data);
}

static void test_read_refused(void)
{
	static const struct {
		const char *text, *code, *field, *detail;
	} rows[] = {
		{"[]",				   "wrong_type",    "",        "must be an object"               },
		{"null",				 "wrong_type",    "",        "must be an object"               },
		{"\"name\"",			     "wrong_type",    "",        "must be an object"               },
		{"{}",				   "missing_field", "name",    "is required"                     },
		{"{\"quota\":1}",                        "missing_field", "name",    "is required"                     },
		{"{\"name\":1}",                         "wrong_type",    "name",    "must be a string"                },
		{"{\"name\":null}",                      "wrong_type",    "name",    "must not be null"                },
		{"{\"name\":[\"a\"]}",                   "wrong_type",    "name",    "must be a string"                },
		{"{\"name\":\"\"}",                      "out_of_range",  "name",    "must be 1 to 8 bytes"            },
		{"{\"name\":\"123456789\"}",             "out_of_range",  "name",    "must be 1 to 8 bytes"            },
		{"{\"name\":\"a\\nb\"}",                 "bad_value",     "name",    "must hold no control characters" },
		{"{\"name\":\"a\\tb\"}",                 "bad_value",     "name",    "must hold no control characters" },
		{"{\"name\":\"\\u0085\"}",               "bad_value",     "name",    "must hold no control characters" },
		{"{\"name\":\"\\u2028\"}",               "bad_value",     "name",    "must hold no control characters" },
		{"{\"note\":\"a\\rb\"}",                 "bad_value",     "note",
		 "must hold no control characters but newline and tab"                                                 },
		{"{\"note\":\"a\\n\\u007f\"}",           "bad_value",     "note",
		 "must hold no control characters but newline and tab"                                                 },
		{"{\"note\":\"123456789012345678901\"}", "out_of_range",  "note",
		 "must be 0 to 20 bytes"									       },
		{"{\"quota\":\"1\"}",                    "wrong_type",    "quota",   "must be an integer"              },
		{"{\"quota\":1.0}",                      "wrong_type",    "quota",   "must be an integer"              },
		{"{\"quota\":1e2}",                      "wrong_type",    "quota",   "must be an integer"              },
		{"{\"quota\":true}",                     "wrong_type",    "quota",   "must be an integer"              },
		{"{\"quota\":-2}",                       "out_of_range",  "quota",   "must be -1 to 1000"              },
		{"{\"quota\":1001}",                     "out_of_range",  "quota",   "must be -1 to 1000"              },
		{"{\"quota\":99999999999999999999}",     "out_of_range",  "quota",   "must be -1 to 1000"              },
		{"{\"enabled\":1}",                      "wrong_type",    "enabled", "must be true or false"           },
		{"{\"enabled\":\"true\"}",               "wrong_type",    "enabled", "must be true or false"           },
		{"{\"enabled\":null}",                   "wrong_type",    "enabled", "must not be null"                },
		{"{\"period\":1}",                       "wrong_type",    "period",  "must be a string"                },
		{"{\"period\":\"Day\"}",                 "bad_value",     "period",  "must be one of: none, day, month"},
		{"{\"period\":\"\"}",                    "bad_value",     "period",  "must be one of: none, day, month"},
		{"{\"meta\":null}",                      "wrong_type",    "meta",    "must not be null"                },
		{"{\"Name\":\"a\"}",                     "unknown_field", "Name",    "is not known here"               },
		{"{\"\":1}",			     "unknown_field", "",        "is not known here"               },
		{"{\"a\\nb\":1}",                        "unknown_field", "a?b",     "is not known here"               },
		{"{\"name\":\"a\",\"extra\":1}",         "unknown_field", "extra",   "is not known here"               },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text copy;
		struct json_doc *doc = parse(&copy, rows[i].text);
		struct problem problem = {0};
		struct input in = {.quota = 5};
		uint64_t present = 77;
		enum res res = json_read(json_root(doc), fields, FIELDS, &in, &present, &problem);

		if (res != RES_INVALID || strcmp(problem.code, rows[i].code) != 0 ||
		    strcmp(problem.field, rows[i].field) != 0 ||
		    strcmp(problem.detail, rows[i].detail) != 0 || present != 0 || in.quota == 77)
			TEST_FAIL("row %zu (%s): %s %s \"%s\"", i, rows[i].text, problem.code,
				  problem.field, problem.detail);
		json_free(doc);
		free(copy.data);
	}
	CHECK_INT(json_read(NULL, fields, FIELDS, NULL, NULL, NULL), RES_INVALID);
}

static void test_long_unknown_name(void)
{
	struct problem problem = {0};
	struct text copy;
	struct json_doc *doc;
	char text[600] = "{\"";

	memset(text + 2, 'n', 500);
	memcpy(text + 502, "\":1}", 5);
	doc = parse(&copy, text);
	CHECK_INT(json_read(json_root(doc), fields, FIELDS, &(struct input){0}, NULL, &problem),
		  RES_INVALID);
	CHECK_INT(strlen(problem.field), sizeof problem.field - 1);
	json_free(doc);
	free(copy.data);
}

TEST_MAIN(TEST(test_accepted), TEST(test_refused), TEST(test_prefixes), TEST(test_depth),
	  TEST(test_node_bound), TEST(test_many_names), TEST(test_walk), TEST(test_i64),
	  TEST(test_read), TEST(test_read_some), TEST(test_read_null), TEST(test_read_refused),
	  TEST(test_long_unknown_name))
