#include "hythe/model/host.h"

#include "test.h"

static struct arena arena = {.max = 1 << 20};

__attribute__((destructor)) static void drop_arena(void)
{
	arena_free(&arena);
}

static const char *check(enum res (*fn)(struct arena *, const char *, const char *, const char **,
					struct problem *),
			 const char *text, struct problem *problem)
{
	const char *out = NULL;

	*problem = (struct problem){0};
	return fn(&arena, "here", text, &out, problem) == RES_OK ? out : NULL;
}

static void test_addresses(void)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
	} rows[] = {
		{"de1.example.net",        "de1.example.net"  },
		{"DE1.Example.NET.",       "de1.example.net"  },
		{"xn--mnchen-3ya.de",      "xn--mnchen-3ya.de"},
		{"localhost",              "localhost"        },
		{"1a.2b",                  "1a.2b"            },
		{"203.0.113.9",            "203.0.113.9"      },
		{"2001:db8::10",           "2001:db8::10"     },
		{"2001:0DB8:0:0:0:0:0:10", "2001:db8::10"     },
		{"",		       NULL               },
		{".",		      NULL               },
		{"a..b",                   NULL               },
		{".a",                     NULL               },
		{"-a.net",                 NULL               },
		{"a-.net",                 NULL               },
		{"a_b.net",                NULL               },
		{"a b.net",                NULL               },
		{"[2001:db8::10]",         NULL               },
		{"fe80::1%eth0",           NULL               },
		{"203.0.113",              NULL               },
		{"203.0.113.256",          NULL               },
		{"1.2.3.4.5",              NULL               },
		{"0x7f.1.2.3",             NULL               },
		{"example.net:443",        NULL               },
		{"https://example.net",    NULL               },
		{"example.net/",           NULL               },
		{"*.example.net",          NULL               },
		{"0x10",                   NULL               },
		{"a.0X7F",                 NULL               },
		{"0x",                     NULL               },
		{"1.2.3",                  NULL               },
		{"10",                     NULL               },
		{"0.0.0.0",                NULL               },
		{"0.1.2.3",                NULL               },
		{"255.255.255.255",        NULL               },
		{"224.0.0.1",              NULL               },
		{"239.255.255.250",        NULL               },
		{"::",                     NULL               },
		{"::ffff:0.0.0.0",         NULL               },
		{"ff02::1",                NULL               },
		{"127.0.0.1",              "127.0.0.1"        },
		{"10.0.0.1",               "10.0.0.1"         },
		{"::1",                    "::1"              },
		{"fd00::1",                "fd00::1"          },
		{"0xg.net",                "0xg.net"          },
		{"0xyz",                   "0xyz"             },
		{"m\xc3\xbcnchen.de",      NULL               },
		{"a\n.net",                NULL               },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem;
		const char *got = check(address_check, rows[i].text, &problem);

		if (rows[i].want) {
			CHECK_TEXT(got, rows[i].want);
			continue;
		}
		if (got)
			TEST_FAIL("accepted \"%s\" as \"%s\"", rows[i].text, got);
		CHECK_TEXT(problem.code, "bad_address");
		CHECK_TEXT(problem.field, "here");
		CHECK_INT(problem.res, RES_INVALID);
	}
}

static void test_long_names(void)
{
	char name[300];
	struct problem problem;

	memset(name, 'a', sizeof name);
	name[64] = '\0';
	CHECK(!check(address_check, name, &problem)); /* a label of 64 */
	name[63] = '\0';
	CHECK(check(address_check, name, &problem));
	memset(name, 'a', sizeof name);
	for (size_t i = 50; i < sizeof name; i += 51)
		name[i] = '.';
	name[254] = '\0';
	CHECK(!check(address_check, name, &problem));
	name[253] = '\0';
	CHECK(check(address_check, name, &problem));
}

static void test_non_ascii_says_how(void)
{
	struct problem problem;

	CHECK(!check(address_check, "m\xc3\xbcnchen.de", &problem));
	CHECK(strstr(problem.detail, "xn--"));
}

/* Brackets belong to links and are put there by who writes one; the address itself never has them.
 */
static void test_b006_ipv6_without_brackets(void)
{
	struct problem problem;

	CHECK_TEXT(check(address_check, "2001:db8::10", &problem), "2001:db8::10");
	CHECK(!check(address_check, "[2001:db8::10]", &problem));
	CHECK(strstr(problem.detail, "without brackets"));
}

static void test_sni(void)
{
	struct problem problem;

	CHECK_TEXT(check(sni_check, "", &problem), "");
	CHECK_TEXT(check(sni_check, "WWW.Example.net", &problem), "www.example.net");
	CHECK(!check(sni_check, "203.0.113.9", &problem));
	CHECK_TEXT(problem.code, "bad_sni");
	CHECK(!check(sni_check, "2001:db8::10", &problem));
	CHECK(!check(sni_check, "a_b", &problem));
}

static enum res formats(const char *json, const char **out, struct problem *problem)
{
	char text[400];
	struct json_doc *doc;
	enum res res;

	*problem = (struct problem){0};
	snprintf(text, sizeof text, "%s", json);
	if (json_parse(text, strlen(text), &doc, NULL) != RES_OK)
		TEST_FAIL("bad test: %s", json);
	res = host_formats_check(&arena, "formats", json_root(doc), out, problem);
	json_free(doc);
	return res;
}

static void test_formats(void)
{
	static const struct {
		const char *json, *want, *field;
	} rows[] = {
		{"null",                   "",             NULL        },
		{"[]",                     "",             NULL        },
		{"[\"plain\",\"links\"]",  "links,plain",  NULL        },
		{"[\"nosuch\"]",           NULL,           "formats[0]"},
		{"[\"links\",\"mihomo\"]", NULL,           "formats[1]"},
		{"[\"links\",\"links\"]",  "links",        NULL        },
		{"\"links\"",              NULL,           "formats"   },
		{"[1]",                    NULL,           "formats[0]"},
		{"[\"links\",\"A\"]",      NULL,           "formats[1]"},
		{"[\"a,b\"]",              NULL,           "formats[0]"},
		{"[\"\"]",                 NULL,           "formats[0]"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *out = NULL;
		struct problem problem;
		enum res res = formats(rows[i].json, &out, &problem);

		CHECK_INT(res, rows[i].want ? RES_OK : RES_INVALID);
		if (rows[i].want)
			CHECK_TEXT(out, rows[i].want);
		else
			CHECK_TEXT(problem.field, rows[i].field);
	}
	CHECK(host_has_format("", "links"));
	CHECK(host_has_format("links,mihomo", "mihomo"));
	CHECK(!host_has_format("links,mihomo", "link"));
	CHECK(!host_has_format("links,mihomo", "singbox"));
}

TEST_MAIN(TEST(test_addresses), TEST(test_long_names), TEST(test_non_ascii_says_how),
	  TEST(test_b006_ipv6_without_brackets), TEST(test_sni), TEST(test_formats))
