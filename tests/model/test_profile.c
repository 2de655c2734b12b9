#include "hythe/model/profile.h"

#include "test.h"

static struct arena arena = {.max = 1 << 20};

__attribute__((destructor)) static void drop_arena(void)
{
	arena_free(&arena);
}

/* --- Ports --- */

static void test_hop_ports(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"",									       ""                 },
		{NULL,									     ""                 },
		{"20000-29999",								    "20000-29999"      },
		{"31000,20000-29999",							      "20000-29999,31000"},
		{"5,4,3",									  "3-5"              },
		{"20000-20100,20101-20200",							"20000-20200"      },
		{"1-65535",									"1-65535"          },
		{"20000-20000",								    "20000"            },
		{"0-100",									  NULL               },
		{"65536",									  NULL               },
		{"20100-20000",								    NULL               },
		{"20000-",									 NULL               },
		{"-20000",									 NULL               },
		{"20000,",									 NULL               },
		{",20000",									 NULL               },
		{"20000, 20001",								   NULL               },
		{"20000:20100",								    NULL               },
		{"020000",									 NULL               },
		{"20000-20100,20100",							      NULL               },
		{"20000-20100,20050-20060",							NULL               },
		{"20000,20000",								    NULL               },
		{"a",									      NULL               },
		{"1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,49,51,53,55",
		 "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,49,51,53,55"                     },
		{"1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,49,51,53,55,"
		 "57",										 NULL												 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};
		const char *out = NULL;
		enum res res = hop_ports_check(&arena, "hop_ports", rows[i].text, &out, &problem);

		if ((res == RES_OK) != (rows[i].want != NULL))
			TEST_FAIL("\"%s\" gives %d", rows[i].text, res);
		if (rows[i].want)
			CHECK_TEXT(out, rows[i].want);
		else
			CHECK_TEXT(problem.field, "hop_ports");
	}
}

static void test_common_port(void)
{
	static const struct {
		int64_t port_a;
		const char *hop_a;
		int64_t port_b;
		const char *hop_b;
		uint16_t want;
	} rows[] = {
		{443,   "",                  443,   "",                  443  },
		{443,   "",                  8443,  "",                  0    },
		{443,   "20000-29999",       20500, "",                  20500},
		{20500, "",                  443,   "20000-29999",       20500},
		{443,   "20000-20100",       8443,  "20100-20200",       20100},
		{443,   "20000-20100",       8443,  "20101-20200",       0    },
		{443,   "20000-20100,30000", 8443,  "10000-19999,30000", 30000},
		{443,   "400-500",           8443,  "",                  0    },
		{1,     "",                  65535, "1-2",               1    },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct port_set a, b;

		port_set_of(rows[i].port_a, rows[i].hop_a, &a);
		port_set_of(rows[i].port_b, rows[i].hop_b, &b);
		CHECK_INT(port_set_common(&a, &b), rows[i].want);
		CHECK_INT(port_set_common(&b, &a), rows[i].want);
	}
}

/* --- Obfuscation --- */

static void test_random_password(void)
{
	char a[OBFS_PASSWORD_RANDOM + 1], b[OBFS_PASSWORD_RANDOM + 1];

	obfs_password_random(a);
	obfs_password_random(b);
	CHECK_INT(strlen(a), OBFS_PASSWORD_RANDOM);
	CHECK(strcmp(a, b) != 0);
	CHECK_INT(strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
		  OBFS_PASSWORD_RANDOM);
}

static void test_between_members(void)
{
	static const struct {
		struct profile profile;
		const char *field; /* NULL: fine */
	} rows[] = {
		{{.obfs_password = "", .server = "{}"},                                    NULL           },
		{{.obfs_password = "abcd", .server = "{}"},                                "obfs_password"},
		{{.obfs = OBFS_SALAMANDER, .obfs_password = "abcd", .server = "{}"},       NULL           },
		{{.obfs = OBFS_SALAMANDER,
		  .obfs_password = "abcd",
		  .obfs_min_packet_bytes = 1,
		  .server = "{}"},
		 "obfs_min_packet_bytes"								  },
		{{.obfs_password = "", .obfs_max_packet_bytes = 1, .server = "{}"},
		 "obfs_max_packet_bytes"								  },
		{{.obfs = OBFS_GECKO,
		  .obfs_password = "abcd",
		  .obfs_min_packet_bytes = 512,
		  .obfs_max_packet_bytes = 1200,
		  .server = "{}"},
		 NULL										     },
		{{.obfs = OBFS_GECKO,
		  .obfs_password = "abcd",
		  .obfs_min_packet_bytes = 1201,
		  .obfs_max_packet_bytes = 1200,
		  .server = "{}"},
		 "obfs_min_packet_bytes"								  },
		{{.obfs = OBFS_GECKO,
		  .obfs_password = "abcd",
		  .obfs_min_packet_bytes = 1,
		  .obfs_max_packet_bytes = 2049,
		  .server = "{}"},
		 "obfs_max_packet_bytes"								  },
		{{.obfs_password = "", .cert_mode = CERT_ACME, .server = "{}"},            "server.acme"  },
		{{.obfs_password = "", .cert_mode = CERT_ACME, .server = "{\"acme\":{}}"}, NULL           },
		{{.obfs_password = "", .cert_mode = CERT_FILE, .server = "{\"acme\":{}}"},
		 "server.tls"									     },
		{{.obfs_password = "", .cert_mode = CERT_FILE, .server = "{\"tls\":{}}"},  NULL           },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};
		enum res res = profile_check(&rows[i].profile, &problem);

		CHECK_INT(res, rows[i].field ? RES_INVALID : RES_OK);
		CHECK_TEXT(problem.field, rows[i].field ? rows[i].field : "");
	}
}

TEST_MAIN(TEST(test_hop_ports), TEST(test_common_port), TEST(test_random_password),
	  TEST(test_between_members))
