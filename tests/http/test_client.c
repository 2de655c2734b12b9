/* Who is asking: proxies, spoofed headers, every form of an address that proxies write. */
#include "hythe/http/request.h"
#include "test.h"

#define PROXIES "10.0.0.0/8", "127.0.0.1", "2001:db8:ffff::/48", "::1"

struct row {
	const char *peer, *header, *want;
};

/* `want` is the address that counts. */
static const struct row rows[] = {
  /* a peer that nobody trusts is the client, whatever it says */
	{"192.0.2.1",   NULL,					    "192.0.2.1"   },
	{"192.0.2.1",   "198.51.100.7",                                  "192.0.2.1"   },
	{"192.0.2.1",   "127.0.0.1",				     "192.0.2.1"   },
	{"2001:db8::5", "198.51.100.7",                                  "2001:db8::5" },
 /* a trusted one without a word */
	{"127.0.0.1",   NULL,					    "127.0.0.1"   },
	{"127.0.0.1",   "",					      "127.0.0.1"   },
	{"127.0.0.1",   "   ",					   "127.0.0.1"   },
 /* one hop, in the forms that are met */
	{"127.0.0.1",   "198.51.100.7",                                  "198.51.100.7"},
	{"127.0.0.1",   "  198.51.100.7\t",                              "198.51.100.7"},
	{"127.0.0.1",   "198.51.100.7:51234",                            "198.51.100.7"},
	{"127.0.0.1",   "2001:db8::5",                                   "2001:db8::5" },
	{"127.0.0.1",   "[2001:db8::5]",                                 "2001:db8::5" },
	{"127.0.0.1",   "[2001:db8::5]:51234",                           "2001:db8::5" },
	{"127.0.0.1",   "[::1]:5",				       "::1"         },
	{"::1",         "198.51.100.7",				  "198.51.100.7"},
	{"127.0.0.1",   "::ffff:198.51.100.7",                           "198.51.100.7"},
	{"127.0.0.1",   "[::ffff:198.51.100.7]:80",                      "198.51.100.7"},
 /* the rightmost untrusted one: what stands before it was written by the client */
	{"127.0.0.1",   "203.0.113.9, 198.51.100.7",                     "198.51.100.7"},
	{"127.0.0.1",   "127.0.0.1, 198.51.100.7",                       "198.51.100.7"},
	{"127.0.0.1",   "203.0.113.9,198.51.100.7,10.1.2.3",             "198.51.100.7"},
	{"127.0.0.1",   "203.0.113.9, 198.51.100.7, 10.1.2.3, 10.9.9.9", "198.51.100.7"},
	{"127.0.0.1",   "198.51.100.7, 2001:db8:ffff::1",                "198.51.100.7"},
 /* trusted all the way: the first of them */
	{"127.0.0.1",   "10.0.0.1, 10.0.0.2",                            "10.0.0.1"    },
	{"127.0.0.1",   "10.0.0.1",				      "10.0.0.1"    },
 /* text that is no address ends the walk at the last good one */
	{"127.0.0.1",   "unknown",				       "127.0.0.1"   },
	{"127.0.0.1",   "_hidden",				       "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7, unknown",                         "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7, unknown, 10.1.2.3",               "10.1.2.3"    },
	{"127.0.0.1",   "198.51.100.7, , 10.1.2.3",                      "10.1.2.3"    },
	{"127.0.0.1",   "198.51.100.7,",                                 "127.0.0.1"   },
	{"127.0.0.1",   ",198.51.100.7",                                 "198.51.100.7"},
	{"127.0.0.1",   ",,,",					   "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7 203.0.113.9",                      "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7:",                                 "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7:65536",                            "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7:x",                                "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.7:-1",                               "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100.007",                                "127.0.0.1"   },
	{"127.0.0.1",   "198.51.100",				    "127.0.0.1"   },
	{"127.0.0.1",   "0x7f.1.1.1",				    "127.0.0.1"   },
	{"127.0.0.1",   "[198.51.100.7]",                                "127.0.0.1"   },
	{"127.0.0.1",   "[2001:db8::5",                                  "127.0.0.1"   },
	{"127.0.0.1",   "2001:db8::5]",                                  "127.0.0.1"   },
	{"127.0.0.1",   "[2001:db8::5]x",                                "127.0.0.1"   },
	{"127.0.0.1",   "[2001:db8::5]:",                                "127.0.0.1"   },
	{"127.0.0.1",   "[]",					    "127.0.0.1"   },
	{"127.0.0.1",   "fe80::1%eth0",                                  "127.0.0.1"   },
	{"127.0.0.1",   "\"198.51.100.7\"",                              "127.0.0.1"   },
	{"127.0.0.1",   "for=198.51.100.7",                              "127.0.0.1"   },
	{"127.0.0.1",   "evil\r\nX: 1",                                  "127.0.0.1"   },
};

static struct addr address(const char *text)
{
	struct addr addr;

	if (!addr_parse(text, strlen(text), &addr))
		TEST_FAIL("bad address in the table: %s", text);
	return addr;
}

static void test_walk(void)
{
	static const char *const texts[] = {PROXIES};
	struct addr_net nets[4];
	struct addr_net_list trusted = {nets, 4};

	for (size_t i = 0; i < 4; i++)
		CHECK(addr_net_parse(texts[i], &nets[i]));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct addr peer = address(rows[i].peer);
		struct addr got = client_address(&peer, rows[i].header, &trusted);
		char text[ADDR_TEXT_MAX];

		addr_print(&got, text);
		if (strcmp(text, rows[i].want) != 0)
			TEST_FAIL("peer %s, \"%s\": %s, want %s", rows[i].peer,
				  rows[i].header ? rows[i].header : "(none)", text, rows[i].want);
	}
}

static void test_nobody_trusted(void)
{
	struct addr_net_list none = {NULL, 0};
	struct addr peer = address("127.0.0.1");
	struct addr got = client_address(&peer, "198.51.100.7", &none);

	CHECK(addr_is_loopback(&got));
	got = client_address(&peer, "198.51.100.7", NULL);
	CHECK(addr_is_loopback(&got));
}

TEST_MAIN(TEST(test_walk), TEST(test_nobody_trusted))
