/* Names of servers: pieces, blanks, cutting, and never the same one twice. */
#include "sub/names.h"
#include "test.h"

#define NOW 1796083200

static struct endpoint endpoint_of(const char *node, const char *country)
{
	return (struct endpoint){.node_name = node,
				 .country = country,
				 .city = "Frankfurt",
				 .profile_name = "fast",
				 .host_name = "relay"};
}

static struct user user_of(void)
{
	return (struct user){
		.name = "ann",
		.display_name = "",
		.enabled = true,
		.expires_unix = NOW + 10 * 86400,
		.quota_bytes = 5000000000,
		.usage = {.used_up_bytes = 500000000, .used_down_bytes = 1000000000}
        };
}

static void test_pieces(void)
{
	static const struct {
		const char *template, *node, *country, *want;
	} rows[] = {
		{"{flag} {node}",                            "Berlin",           "DE", "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa Berlin"},
		{"{flag} {node}",                            "Berlin",           "de", "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa Berlin"},
		{"{flag} {node}",                            "Berlin",           "",   "Berlin"                                 },
		{"{flag} {node}",                            "Berlin",           "D1", "Berlin"                                 },
		{"{country}-{node}-{profile}-{host}-{city}", "n",                "FI",
		 "FI-n-fast-relay-Frankfurt"										    },
		{"{user} {days_left}d {data_left}",          "n",                "",   "ann 10d 3.50 GB"                        },
		{"  {node}   x\t y ",                        "n",                "",   "n x y"                                  },
		{"{node}{node}",                             "n",                "",   "nn"                                     },
		{"{unknown} {node",                          "n",                "",   "{unknown} {node"                        },
		{"{",					"n",                "",   "{"				      },
		{"{}",				       "n",                "",   "{}"				     },
		{"{{node}}",				 "n",                "",   "{n}"                                    },
		{"",					 "Berlin",           "",   "Berlin"                                 },
		{"{country}",				"Berlin",           "",   "Berlin"                                 },
		{"   ",				      "Berlin",           "",   "Berlin"                                 },
		{"",					 "",                 "",   "Server"                                 },
		{"{node}",
		 "a\nb\x7f\xc2\x85\xe2\x80\xae"
		 "c",							    "",   "abc"				    },
		{"{node}",				   "bad\xff\xc3(utf8", "",   "bad(utf8"                               },
		{"{node}?x=1",			       "n",                "",   "n?x=1"                                  },
		{"{node}",
		 "a\xc2\xa0\xc2\xa0"
		 "b",							    "",   "a b"				    },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint endpoint = endpoint_of(rows[i].node, rows[i].country);
		struct user user = user_of();
		struct names *names;
		struct arena arena;

		arena_init(&arena, 1 << 20);
		names = names_new(&arena, rows[i].template, &user, NOW, 1);
		CHECK_TEXT(names_next(names, &endpoint), rows[i].want);
		arena_free(&arena);
	}
}

static void test_unlimited(void)
{
	struct user user = {.name = "ann", .display_name = "Ann B.", .enabled = true};
	struct endpoint endpoint = endpoint_of("n", "");
	struct names *names;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	names = names_new(&arena, "{user}|{days_left}|{data_left}", &user, NOW, 1);
	CHECK_TEXT(names_next(names, &endpoint), "Ann B.|\xe2\x88\x9e|\xe2\x88\x9e");
	arena_free(&arena);
}

/* One repeated name and an app refuses the whole profile. */
static void test_b019_unique(void)
{
	static const char *const nodes[] = {"A", "A", "A 2", "A", "A 2", "B", "a"};
	static const char *const want[] = {"A", "A 2", "A 2 2", "A 3", "A 2 3", "B", "a"};
	struct user user = user_of();
	struct names *names;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	names = names_new(&arena, "{node}", &user, NOW, 7);
	for (size_t i = 0; i < 7; i++) {
		struct endpoint endpoint = endpoint_of(nodes[i], "");

		CHECK_TEXT(names_next(names, &endpoint), want[i]);
	}
	arena_free(&arena);
}

static void test_long_names(void)
{
	char node[257] = "";
	struct user user = user_of();
	struct names *names;
	struct arena arena;
	const char *seen[1000];

	for (size_t i = 0; i + 2 < sizeof node; i += 2)
		memcpy(node + i, "\xc3\xa9", 3); /* two bytes a character */
	arena_init(&arena, 8 << 20);
	names = names_new(&arena, "x{node}{city}", &user, NOW, 1000);
	for (size_t i = 0; i < 1000; i++) {
		struct endpoint endpoint = endpoint_of(node, "");
		size_t len;

		seen[i] = names_next(names, &endpoint);
		len = strlen(seen[i]);
		CHECK(len <= SUB_NAME_MAX && len > SUB_NAME_MAX - 4);
		CHECK(i == 0 || strcmp(seen[i], seen[i - 1]) != 0);
		for (const char *c = seen[i] + 1; (*c & 0x80) && *c; c += 2)
			CHECK(memcmp(c, "\xc3\xa9", 2) == 0); /* cut between characters */
	}
	for (size_t i = 0; i < 1000; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(seen[i], seen[j]) != 0);
	arena_free(&arena);
}

TEST_MAIN(TEST(test_pieces), TEST(test_unlimited), TEST(test_b019_unique), TEST(test_long_names))
