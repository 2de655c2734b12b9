#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "hythe/util/addr.h"

static void test_parse(void)
{
	static const struct {
		const char *text;
		int family; /* 0: refused */
		const char *printed;
	} rows[] = {
		{"0.0.0.0",						4, "0.0.0.0"        },
		{"192.0.2.255",					    4, "192.0.2.255"    },
		{"::",						     6, "::"             },
		{"::1",						    6, "::1"            },
		{"2001:DB8:0:0:0:0:0:1",                                   6, "2001:db8::1"    },
		{"::ffff:192.0.2.1",				       4, "192.0.2.1"      },
		{"::ffff:c000:201",					4, "192.0.2.1"      },
		{"::fffe:192.0.2.1",				       6, "::fffe:c000:201"},
		{"",						       0, NULL             },
		{"1",						      0, NULL             },
		{"1.2.3",						  0, NULL             },
		{"1.2.3.4.5",					      0, NULL             },
		{"1.2.3.256",					      0, NULL             },
		{"01.2.3.4",					       0, NULL             },
		{"0x1.2.3.4",					      0, NULL             },
		{"1.2.3.4 ",					       0, NULL             },
		{" 1.2.3.4",					       0, NULL             },
		{"1.2.3.4:80",					     0, NULL             },
		{"1.2.3.4/32",					     0, NULL             },
		{"[::1]",						  0, NULL             },
		{":::",						    0, NULL             },
		{"1::2::3",						0, NULL             },
		{"fe80::1%eth0",					   0, NULL             },
		{"12345::",						0, NULL             },
		{"1:2:3:4:5:6:7:8:9",				      0, NULL             },
		{"localhost",					      0, NULL             },
		{"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb", 0, NULL             },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct addr addr;
		char out[ADDR_TEXT_MAX];
		bool ok = addr_parse(rows[i].text, strlen(rows[i].text), &addr);

		if (ok != (rows[i].family != 0))
			TEST_FAIL("row %zu (%s): %d", i, rows[i].text, ok);
		if (!ok)
			continue;
		CHECK_INT(addr.family, rows[i].family);
		addr_print(&addr, out);
		CHECK_TEXT(out, rows[i].printed);
	}
}

static void test_parse_length(void)
{
	struct addr addr;
	char out[ADDR_TEXT_MAX];

	CHECK(addr_parse("10.0.0.1, 10.0.0.2", 8, &addr));
	addr_print(&addr, out);
	CHECK_TEXT(out, "10.0.0.1");
	CHECK(!addr_parse("10.0.0.1\0.2", 11, &addr));
	addr_print(&(struct addr){0}, out);
	CHECK_TEXT(out, "");
}

static void test_sockaddr(void)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	struct sockaddr local = {.sa_family = AF_UNIX};
	struct addr addr;

	CHECK(addr_of_sockaddr((const struct sockaddr *)&v4, &addr));
	CHECK(addr.family == 4 && addr_is_loopback(&addr));
	inet_pton(AF_INET6, "::ffff:127.0.0.9", &v6.sin6_addr);
	CHECK(addr_of_sockaddr((const struct sockaddr *)&v6, &addr));
	CHECK(addr.family == 4 && addr_is_loopback(&addr));
	inet_pton(AF_INET6, "::1", &v6.sin6_addr);
	CHECK(addr_of_sockaddr((const struct sockaddr *)&v6, &addr));
	CHECK(addr.family == 6 && addr_is_loopback(&addr));
	CHECK(!addr_of_sockaddr(&local, &addr));
	CHECK_INT(addr.family, 0);
	CHECK(!addr_is_loopback(&addr));
}

static void test_net_parse(void)
{
	static const struct {
		const char *text;
		int family, bits;
	} rows[] = {
		{"10.0.0.0/8",          4, 8  },
		{"0.0.0.0/0",           4, 0  },
		{"192.0.2.1",           4, 32 },
		{"192.0.2.1/32",        4, 32 },
		{"::1",                 6, 128},
		{"::/0",                6, 0  },
		{"2001:db8::/32",       6, 32 },
		{"fe80::/10",           6, 10 },
		{"::ffff:10.0.0.0/104", 4, 8  },
		{"::ffff:0:0/96",       4, 0  },
		{"::ffff:192.0.2.1",    4, 32 },
		{"",                    0, 0  },
		{"/8",                  0, 0  },
		{"10.0.0.0/",           0, 0  },
		{"10.0.0.0/33",         0, 0  },
		{"10.0.0.0/-1",         0, 0  },
		{"10.0.0.0/08",         0, 0  },
		{"10.0.0.0/8/8",        0, 0  },
		{"10.0.0.0/8 ",         0, 0  },
		{"10.0.0.0/255.0.0.0",  0, 0  },
		{"10.0.0.1/8",          0, 0  },
		{"10.128.0.0/8",        0, 0  },
		{"192.0.2.128/24",      0, 0  },
		{"::1/127",             0, 0  },
		{"::/129",              0, 0  },
		{"::ffff:10.0.0.0/90",  0, 0  }, /* host bits within the mapping prefix */
		{"::ffff:10.0.0.0/8",   0, 0  },
		{"example.org/8",       0, 0  },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct addr_net net;
		bool ok = addr_net_parse(rows[i].text, &net);

		if (ok != (rows[i].family != 0))
			TEST_FAIL("row %zu (%s): %d", i, rows[i].text, ok);
		if (ok) {
			CHECK_INT(net.base.family, rows[i].family);
			CHECK_INT(net.bits, rows[i].bits);
		}
	}
}

static void test_in(void)
{
	static const struct {
		const char *addr;
		bool in;
	} rows[] = {
		{"10.255.255.255",   true },
                {"::ffff:10.0.0.1",  true },
                {"192.0.2.8",        true },
		{"192.0.2.15",       true },
                {"2001:db8:ffff::1", true },
                {"::1",              true },
		{"11.0.0.0",         false},
                {"9.255.255.255",    false},
                {"192.0.2.7",        false},
		{"192.0.2.16",       false},
                {"2001:db9::",       false},
                {"::2",              false},
		{"a00::",            false}, /* the bytes of 10.0.0.0, in the other family */
	};
	static const char *const texts[] = {"10.0.0.0/8", "192.0.2.8/29", "2001:db8::/32", "::1"};
	struct addr_net nets[4];
	struct addr_net_list list = {.nets = nets, .count = 4};
	struct addr addr;

	for (size_t i = 0; i < 4; i++)
		CHECK(addr_net_parse(texts[i], &nets[i]));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK(addr_parse(rows[i].addr, strlen(rows[i].addr), &addr));
		if (addr_in(&addr, &list) != rows[i].in)
			TEST_FAIL("row %zu (%s)", i, rows[i].addr);
	}
	CHECK(!addr_in(&addr, &(struct addr_net_list){0}));
	CHECK(!addr_in(&(struct addr){0}, &list));
}

static void test_loopback(void)
{
	static const struct {
		const char *addr;
		bool yes;
	} rows[] = {
		{"127.0.0.1",        true },
                {"127.255.0.9",      true },
		{"::1",              true },
                {"::ffff:127.0.0.1", true },
		{"126.0.0.1",        false},
                {"0.0.0.0",          false},
		{"::",               false},
                {"::2",              false},
		{"7f00::",           false},
                {"::7f00:1",         false},
	};
	struct addr addr;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK(addr_parse(rows[i].addr, strlen(rows[i].addr), &addr));
		if (addr_is_loopback(&addr) != rows[i].yes)
			TEST_FAIL("row %zu (%s)", i, rows[i].addr);
	}
}

static void test_network(void)
{
	static const struct {
		const char *addr;
		uint8_t bits4, bits6;
		const char *network;
	} rows[] = {
		{"192.0.2.77",         24, 56,  "192.0.2.0"         },
		{"192.0.2.77",         32, 56,  "192.0.2.77"        },
		{"192.0.2.77",         31, 56,  "192.0.2.76"        },
		{"192.0.2.77",         0,  56,  "0.0.0.0"           },
		{"2001:db8:1:23ff::9", 24, 56,  "2001:db8:1:2300::" },
		{"2001:db8:1:23ff::9", 24, 128, "2001:db8:1:23ff::9"},
		{"2001:db8:1:23ff::9", 24, 0,   "::"                },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct addr addr, network;
		char out[ADDR_TEXT_MAX];

		CHECK(addr_parse(rows[i].addr, strlen(rows[i].addr), &addr));
		network = addr_network(&addr, rows[i].bits4, rows[i].bits6);
		addr_print(&network, out);
		CHECK_TEXT(out, rows[i].network);
	}
}

static void test_listen(void)
{
	static const struct {
		const char *text;
		int family;
		const char *host;
		int port;
	} rows[] = {
		{"127.0.0.1:8080",      AF_INET,  "127.0.0.1",   8080 },
		{"0.0.0.0:1",           AF_INET,  "0.0.0.0",     1    },
		{"127.0.0.1:0",         AF_INET,  "127.0.0.1",   0    },
		{"[::]:8443",           AF_INET6, "::",          8443 },
		{"[2001:db8::1]:65535", AF_INET6, "2001:db8::1", 65535},
		{":8080",               AF_INET6, "::",          8080 },
		{"",                    0,        NULL,          0    },
		{":",                   0,        NULL,          0    },
		{"8080",                0,        NULL,          0    },
		{"127.0.0.1",           0,        NULL,          0    },
		{"127.0.0.1:",          0,        NULL,          0    },
		{"127.0.0.1:65536",     0,        NULL,          0    },
		{"127.0.0.1:-1",        0,        NULL,          0    },
		{"127.0.0.1:080",       0,        NULL,          0    },
		{"127.0.0.1: 80",       0,        NULL,          0    },
		{"127.0.0.1:80 ",       0,        NULL,          0    },
		{"127.0.0.1:http",      0,        NULL,          0    },
		{"::1:80",              0,        NULL,          0    },
		{"[::1]",               0,        NULL,          0    },
		{"[::1:80",             0,        NULL,          0    },
		{"::1]:80",             0,        NULL,          0    },
		{"[]:80",               0,        NULL,          0    },
		{"[127.0.0.1]:80",      0,        NULL,          0    },
		{"[::1%lo]:80",         0,        NULL,          0    },
		{"localhost:80",        0,        NULL,          0    },
		{"*:80",                0,        NULL,          0    },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sockaddr_storage sa;
		char host[ADDR_TEXT_MAX];
		socklen_t len = 0;
		bool ok = addr_listen_parse(rows[i].text, &sa, &len);

		if (ok != (rows[i].family != 0))
			TEST_FAIL("row %zu (%s): %d", i, rows[i].text, ok);
		if (!ok)
			continue;
		CHECK_INT(sa.ss_family, rows[i].family);
		if (sa.ss_family == AF_INET) {
			const struct sockaddr_in *v4 = (const struct sockaddr_in *)&sa;

			CHECK_INT(len, sizeof *v4);
			CHECK_INT(ntohs(v4->sin_port), rows[i].port);
			inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
		} else {
			const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&sa;

			CHECK_INT(len, sizeof *v6);
			CHECK_INT(ntohs(v6->sin6_port), rows[i].port);
			inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
		}
		CHECK_TEXT(host, rows[i].host);
	}
}

TEST_MAIN(TEST(test_parse), TEST(test_parse_length), TEST(test_sockaddr), TEST(test_net_parse),
	  TEST(test_in), TEST(test_loopback), TEST(test_network), TEST(test_listen))
