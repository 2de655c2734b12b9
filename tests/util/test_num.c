#include "test.h"

#include "hythe/util/num.h"

static void test_i64(void)
{
	static const struct {
		const char *text;
		int64_t min, max;
		enum res res;
		int64_t value;
	} rows[] = {
		{"0",					 0,         10,        RES_OK,        0                        },
		{"10",					0,         10,        RES_OK,        10                       },
		{"-1",					-1,        10,        RES_OK,        -1                       },
		{"7",					 7,         7,         RES_OK,        7                        },
		{"9007199254740993",                          0,         INT64_MAX, RES_OK,        INT64_C(9007199254740993)},
		{"9223372036854775807",                       INT64_MIN, INT64_MAX, RES_OK,        INT64_MAX                },
		{"-9223372036854775808",                      INT64_MIN, INT64_MAX, RES_OK,        INT64_MIN                },
		{"",					  0,         10,        RES_INVALID,   0                        },
		{"-",					 -1,        10,        RES_INVALID,   0                        },
		{"+1",					0,         10,        RES_INVALID,   0                        },
		{" 1",					0,         10,        RES_INVALID,   0                        },
		{"1 ",					0,         10,        RES_INVALID,   0                        },
		{"1\n",				       0,         10,        RES_INVALID,   0                        },
		{"01",					0,         10,        RES_INVALID,   0                        },
		{"00",					0,         10,        RES_INVALID,   0                        },
		{"-0",					-1,        10,        RES_INVALID,   0                        },
		{"-01",				       -5,        10,        RES_INVALID,   0                        },
		{"--1",				       -5,        10,        RES_INVALID,   0                        },
		{"-1",					0,         10,        RES_INVALID,   0                        },
		{"1.0",				       0,         10,        RES_INVALID,   0                        },
		{"1e3",				       0,         10000,     RES_INVALID,   0                        },
		{"0x10",				      0,         100,       RES_INVALID,   0                        },
		{"ten",				       0,         10,        RES_INVALID,   0                        },
		{"1,000",				     0,         10000,     RES_INVALID,   0                        },
		{"\xd9\xa1",				  0,         10,        RES_INVALID,   0                        }, /* an Arabic one */
		{"99999999999999999999999x",                  0,         10,        RES_INVALID,   0                        },
		{"11",					0,         10,        RES_TOO_LARGE, 0                        },
		{"0",					 1,         10,        RES_TOO_LARGE, 0                        },
		{"-2",					-1,        10,        RES_TOO_LARGE, 0                        },
		{"9223372036854775808",                       INT64_MIN, INT64_MAX, RES_TOO_LARGE, 0                        },
		{"-9223372036854775809",                      INT64_MIN, INT64_MAX, RES_TOO_LARGE, 0                        },
		{"18446744073709551616",                      INT64_MIN, INT64_MAX, RES_TOO_LARGE, 0                        },
		{"-18446744073709551617",                     INT64_MIN, INT64_MAX, RES_TOO_LARGE, 0                        },
		{"99999999999999999999999999999999999999999", 0,         10,        RES_TOO_LARGE, 0                        },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t value = 77;
		enum res res = num_i64(rows[i].text, strlen(rows[i].text), rows[i].min, rows[i].max,
				       &value);

		if (res != rows[i].res || value != (res == RES_OK ? rows[i].value : 77))
			TEST_FAIL("row %zu (%s): %s, %" PRId64, i, rows[i].text, res_text(res),
				  value);
	}
}

static void test_u64(void)
{
	static const struct {
		const char *text;
		uint64_t max;
		enum res res;
		uint64_t value;
	} rows[] = {
		{"0",                    0,          RES_OK,        0         },
		{"65535",                65535,      RES_OK,        65535     },
		{"18446744073709551615", UINT64_MAX, RES_OK,        UINT64_MAX},
		{"",		     9,          RES_INVALID,   0         },
		{"-0",                   9,          RES_INVALID,   0         },
		{"-1",                   9,          RES_INVALID,   0         },
		{"+1",                   9,          RES_INVALID,   0         },
		{"007",                  9,          RES_INVALID,   0         },
		{"1a",                   9,          RES_INVALID,   0         },
		{"10",                   9,          RES_TOO_LARGE, 0         },
		{"18446744073709551616", UINT64_MAX, RES_TOO_LARGE, 0         },
		{"28446744073709551615", UINT64_MAX, RES_TOO_LARGE, 0         },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t value = 77;
		enum res res = num_u64(rows[i].text, strlen(rows[i].text), rows[i].max, &value);

		if (res != rows[i].res || value != (res == RES_OK ? rows[i].value : 77))
			TEST_FAIL("row %zu (%s): %s, %" PRIu64, i, rows[i].text, res_text(res),
				  value);
	}
}

static void test_length_rules(void)
{
	int64_t value;

	CHECK_INT(num_i64("12345", 3, 0, 999, &value), RES_OK);
	CHECK_INT(value, 123);
	CHECK_INT(num_i64("1\0002", 3, 0, 999, &value), RES_INVALID);
}

struct unit_row {
	const char *text;
	enum res res;
	int64_t value;
};

static void check_units(const struct unit_row *rows, size_t count,
			enum res (*read)(const char *, int64_t *))
{
	for (size_t i = 0; i < count; i++) {
		int64_t value = 77;
		enum res res = read(rows[i].text, &value);

		if (res != rows[i].res || value != (res == RES_OK ? rows[i].value : 77))
			TEST_FAIL("row %zu (%s): %s, %" PRId64, i, rows[i].text, res_text(res),
				  value);
	}
}

static void test_bytes(void)
{
	static const struct unit_row rows[] = {
		{"0",                     RES_OK,        0                           },
		{"10",                    RES_OK,        10                          },
		{"10b",                   RES_OK,        10                          },
		{"10k",                   RES_OK,        10000                       },
		{"5GB",                   RES_OK,        INT64_C(5000000000)         },
		{"5gb",                   RES_OK,        INT64_C(5000000000)         },
		{"1.5 TB",                RES_OK,        INT64_C(1500000000000)      },
		{"0.001k",                RES_OK,        1                           },
		{"1.50000 kB",            RES_OK,        1500                        },
		{"2 m",                   RES_OK,        2000000                     },
		{"9223372036854775807",   RES_OK,        INT64_MAX                   },
		{"9223.372036854775807p", RES_OK,        INT64_MAX                   },
		{"9223p",                 RES_OK,        INT64_C(9223000000000000000)},
		{"",		      RES_INVALID,   0                           },
		{"k",                     RES_INVALID,   0                           },
		{" 1",                    RES_INVALID,   0                           },
		{"1 ",                    RES_INVALID,   0                           },
		{"1  k",                  RES_INVALID,   0                           },
		{"1\tk",                  RES_INVALID,   0                           },
		{"-1k",                   RES_INVALID,   0                           },
		{"+1k",                   RES_INVALID,   0                           },
		{"01k",                   RES_INVALID,   0                           },
		{".5k",                   RES_INVALID,   0                           },
		{"1.k",                   RES_INVALID,   0                           },
		{"1.5",                   RES_INVALID,   0                           },
		{"1.5 b",                 RES_INVALID,   0                           },
		{"1.5.5k",                RES_INVALID,   0                           },
		{"0.0001k",               RES_INVALID,   0                           },
		{"1kk",                   RES_INVALID,   0                           },
		{"1bb",                   RES_INVALID,   0                           },
		{"1kib",                  RES_INVALID,   0                           },
		{"1 kB ",                 RES_INVALID,   0                           },
		{"1x",                    RES_INVALID,   0                           },
		{"1e3",                   RES_INVALID,   0                           },
		{"0x10",                  RES_INVALID,   0                           },
		{"9223372036854775808",   RES_TOO_LARGE, 0                           },
		{"9224p",                 RES_TOO_LARGE, 0                           },
		{"9223.9p",               RES_TOO_LARGE, 0                           },
		{"99999999999999999999g", RES_TOO_LARGE, 0                           },
	};

	check_units(rows, sizeof rows / sizeof *rows, num_bytes);
}

static void test_duration(void)
{
	static const struct unit_row rows[] = {
		{"0",                   RES_OK,        0      },
		{"45",                  RES_OK,        45     },
		{"45s",                 RES_OK,        45     },
		{"90m",                 RES_OK,        5400   },
		{"12h",                 RES_OK,        43200  },
		{"30d",                 RES_OK,        2592000},
		{"",                    RES_INVALID,   0      },
		{"d",                   RES_INVALID,   0      },
		{"-1d",                 RES_INVALID,   0      },
		{"+1d",                 RES_INVALID,   0      },
		{"1 d",                 RES_INVALID,   0      },
		{" 1d",                 RES_INVALID,   0      },
		{"1d ",                 RES_INVALID,   0      },
		{"1D",                  RES_INVALID,   0      },
		{"1w",                  RES_INVALID,   0      },
		{"1.5h",                RES_INVALID,   0      },
		{"01h",                 RES_INVALID,   0      },
		{"1h30m",               RES_INVALID,   0      },
		{"1dd",                 RES_INVALID,   0      },
		{"106751991167301d",    RES_TOO_LARGE, 0      },
		{"9223372036854775808", RES_TOO_LARGE, 0      },
	};

	check_units(rows, sizeof rows / sizeof *rows, num_duration);
}

static void test_add(void)
{
	static const struct {
		int64_t a, b, sum;
	} rows[] = {
		{1,         2,         3        },
		{-5,        3,         -2       },
		{INT64_MAX, 0,         INT64_MAX},
		{INT64_MAX, 1,         INT64_MAX},
		{INT64_MAX, INT64_MAX, INT64_MAX},
		{INT64_MIN, -1,        INT64_MIN},
		{INT64_MIN, INT64_MIN, INT64_MIN},
		{INT64_MIN, INT64_MAX, -1       },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_INT(num_add_sat(rows[i].a, rows[i].b), rows[i].sum);
}

TEST_MAIN(TEST(test_i64), TEST(test_u64), TEST(test_length_rules), TEST(test_bytes),
	  TEST(test_duration), TEST(test_add))
