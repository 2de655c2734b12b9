#include "test.h"

#include <uninorm.h>
#include <unistr.h>

#include "hythe/model/name.h"

struct checked {
	char name[1024], key[4096];
	struct problem problem;
	enum res res;
};

static struct checked check(const char *text)
{
	struct checked out = {0};
	const char *name, *key;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	out.res = name_check(&arena, "name", text, &name, &key, &out.problem);
	if (out.res == RES_OK) {
		snprintf(out.name, sizeof out.name, "%s", name);
		snprintf(out.key, sizeof out.key, "%s", key);
	}
	arena_free(&arena);
	return out;
}

static void test_accepted(void)
{
	static const struct {
		const char *text, *name, *key;
	} rows[] = {
		{"Ann",				  "Ann",				  "ann"             },
		{"a",				    "a",				    "a"               },
		{"anna maria",                           "anna maria",                           "anna maria"      },
		{"\xef\xbc\xa1\xef\xbd\x8e\xef\xbd\x8e", "\xef\xbc\xa1\xef\xbd\x8e\xef\xbd\x8e",
		 "ann"											     }, /* full width */
		{"Rene\xcc\x81",                         "Ren\xc3\xa9",                          "ren\xc3\xa9"     }, /* e and a combining acute */
		{"Stra\xc3\x9f"
		 "e",		   "Stra\xc3\x9f"
		 "e",				      "strasse"         }, /* sharp s */
		{"\xe2\x84\x8c"
		 "ans",		 "\xe2\x84\x8c"
		 "ans",				  "hans"            }, /* black-letter H: folded after NFKC */
		{"\xef\xac\x81n",                        "\xef\xac\x81n",                        "fin"             }, /* the ligature fi */
		{"\xd0\xa2\xd0\x95\xd0\xa1\xd0\xa2",     "\xd0\xa2\xd0\x95\xd0\xa1\xd0\xa2",
		 "\xd1\x82\xd0\xb5\xd1\x81\xd1\x82"								}, /* Cyrillic */
		{"\xe4\xb8\xad\xe6\x96\x87",             "\xe4\xb8\xad\xe6\x96\x87",
		 "\xe4\xb8\xad\xe6\x96\x87"									},
		{"\xf0\x9f\x9a\x80",                     "\xf0\x9f\x9a\x80",                     "\xf0\x9f\x9a\x80"}, /* a rocket */
		{"\xe2\x9d\xa4\xef\xb8\x8f",             "\xe2\x9d\xa4\xef\xb8\x8f",
		 "\xe2\x9d\xa4"										    }, /* heart, emoji selector */
		{"\xce\xa3\xce\x9f\xcf\x82",             "\xce\xa3\xce\x9f\xcf\x82",
		 "\xcf\x83\xce\xbf\xcf\x83"									}, /* final sigma */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct checked got = check(rows[i].text);

		if (got.res != RES_OK)
			TEST_FAIL("row %zu refused: %s", i, got.problem.detail);
		CHECK_TEXT(got.name, rows[i].name);
		CHECK_TEXT(got.key, rows[i].key);
	}
}

static void test_refused(void)
{
	static const char *const texts[] = {
		"",
		" ",
		" ann",
		"ann ",
		"ann\xc2\xa0", /* no-break space at the end */
		("\xe3\x80\x80"
		 "ann"), /* ideographic space */
		"an\tn",
		"an\nn",
		"ann\x7f",
		"an\xc2\x85n",                                  /* C1: next line */
		"an\xe2\x80\x8bn",                              /* zero width space */
		"an\xe2\x80\x8cn",                              /* zero width non-joiner */
		"an\xe2\x80\x8dn",                              /* zero width joiner */
		"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", /* woman, joiner, rocket */
		"an\xe2\x80\x8en",                              /* left-to-right mark */
		"an\xe2\x80\xa8n",                              /* line separator */
		"an\xe2\x80\xaen",                              /* right-to-left override */
		"an\xe2\x81\xa0n",                              /* word joiner */
		"an\xe2\x81\xa6n",                              /* isolate */
		"an\xef\xbb\xbfn",                              /* byte order mark */
		"an\xc2\xadn",                                  /* soft hyphen */
		"an\xcd\x8fn",                                  /* combining grapheme joiner */
		"an\xe3\x85\xa4n",                              /* Hangul filler */
		"an\xef\xb8\x8fn",                              /* emoji selector behind a letter */
		"\xef\xb8\x8f",                                 /* and alone */
		"an\xef\xb8\x80n",                              /* another variation selector */
		"an\xf3\xa0\x84\x80n",                          /* variation selector 17 */
		"an\xf3\xa0\x81\xa1n",                          /* tag letter */
		"an\xee\x80\x80n",                              /* private use */
		"an\xf4\x80\x80\x80n",                          /* private use, plane 16 */
		"an\xcd\xb8n",                                  /* unassigned U+0378 */
		"an\xef\xbf\xbfn",                              /* not a character */
		"\xe2\xa0\x80",                                 /* braille blank */
		"an\xedn",                                      /* not UTF-8 */
		"an\xc0\xaen",                                  /* overlong */
		"an\xed\xa0\x80n",                              /* surrogate */
		"\xf4\x90\x80\x80",                             /* beyond Unicode */
		"12345678901234567890123456789012345678901234567890123456789012345", /* 65 */
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct checked got = check(texts[i]);

		if (got.res != RES_INVALID)
			TEST_FAIL("row %zu not refused", i);
		CHECK_TEXT(got.problem.code, "bad_name");
		CHECK_TEXT(got.problem.field, "name");
	}
}

static void test_longest(void)
{
	char text[4 * 64 + 8] = "";

	for (int i = 0; i < 64; i++)
		strcat(text, "\xf0\x9f\x9a\x80");
	CHECK_INT(check(text).res, RES_OK);
	strcat(text, "a");
	CHECK_INT(check(text).res, RES_INVALID);
}

/* Over every character of the first two planes: a key is its own key, and the composed and the
 * decomposed form of a name have the same. */
static void test_key_of_key(void)
{
	const uninorm_t forms[] = {UNINORM_NFD, UNINORM_NFKD, UNINORM_NFKC};
	struct arena arena;

	for (ucs4_t c = 1; c < 0x20000; c++) {
		char text[16] = "";
		const char *name, *key, *again;
		int len = u8_uctomb((uint8_t *)text, c, sizeof text - 1);

		if (len <= 0)
			continue;
		arena_init(&arena, 1 << 16);
		if (name_check(&arena, "name", text, &name, &key, NULL) == RES_OK) {
			if (name_check(&arena, "name", key, &name, &again, NULL) == RES_OK &&
			    strcmp(key, again) != 0)
				TEST_FAIL("U+%04X: the key has another key", (unsigned)c);
			for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
				char form[256] = "";
				size_t form_len = sizeof form - 1;

				if (u8_normalize(forms[i], (uint8_t *)text, (size_t)len,
						 (uint8_t *)form, &form_len) != (uint8_t *)form)
					continue;
				if (name_check(&arena, "name", form, &name, &again, NULL) ==
					    RES_OK &&
				    strcmp(key, again) != 0)
					TEST_FAIL("U+%04X: form %zu has another key", (unsigned)c,
						  i);
			}
		}
		arena_free(&arena);
	}
}

static void test_memory_runs_out(void)
{
	const char *name, *key;
	struct arena arena;

	arena_init(&arena, 4);
	CHECK_INT(name_check(&arena, "name", "a longer name", &name, &key, NULL), RES_NOMEM);
	arena_free(&arena);
}

static void test_shown(void)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{"",                                                                             true },
		{"Main Stadt",                                                                   true },
		{"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa {node}",                                      true },
		{"\xe2\x9d\xa4\xef\xb8\x8f",                                                     true },
		{"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",                                true }, /* ZWJ */
		{"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xb1\xd9\x88\xd8\xaf",                        true }, /* ZWNJ */
		{"\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xbf",           true }, /* flag with tags */
		{"a\xf3\xa0\x81\xa7",                                                            false}, /* a tag alone */
		{"\xe2\x80\x8d" "a",                                                            false}, /* a joiner of nothing */
		{"a\xe2\x80\xae" "b",                                                           false}, /* U+202E */
		{"a\xe2\x80\x8b" "b",                                                           false}, /* U+200B */
		{"\xef\xbb\xbf" "b",                                                            false}, /* U+FEFF */
		{"a\xe2\x81\xa6" "b",                                                           false}, /* U+2066 */
		{"a\xe2\x80\x8f",                                                               false}, /* U+200F */
		{"a\xc2\xad" "b",                                                                false}, /* U+00AD */
		{"\xe3\x85\xa4",                                                                false}, /* U+3164 */
		{"a\nb",                                                                         false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};

		if ((shown_check("city", rows[i].text, &problem) == RES_OK) != rows[i].good)
			TEST_FAIL("row %zu is %s", i, rows[i].good ? "refused" : "accepted");
		if (!rows[i].good)
			CHECK_TEXT(problem.field, "city");
	}
}

TEST_MAIN(TEST(test_accepted), TEST(test_refused), TEST(test_longest), TEST(test_key_of_key),
	  TEST(test_memory_runs_out), TEST(test_shown))
