#include "test.h"

#include "hythe/util/clock.h"

static void test_fake(void)
{
	struct clock_fake fake = {.wall_ms = 1500, .mono_ms = 7};
	struct clock clock = clock_of_fake(&fake);

	CHECK_INT(clock_wall_ms(&clock), 1500);
	CHECK_INT(clock_mono_ms(&clock), 7);
	CHECK_INT(clock_unix(&clock), 1);
	fake.wall_ms += 500;
	CHECK_INT(clock_unix(&clock), 2);
}

static void test_whole_seconds(void)
{
	static const struct {
		int64_t ms, s;
	} rows[] = {
		{0,     0 },
                {999,   0 },
                {1000,  1 },
                {-1,    -1},
                {-1000, -1},
                {-1001, -2}
        };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct clock_fake fake = {.wall_ms = rows[i].ms};
		struct clock clock = clock_of_fake(&fake);

		CHECK_INT(clock_unix(&clock), rows[i].s);
	}
}

static void test_system(void)
{
	int64_t mono = clock_mono_ms(&clock_system);

	CHECK(clock_unix(&clock_system) > 1700000000);
	CHECK(mono > 0);
	CHECK(clock_mono_ms(&clock_system) >= mono);
}

TEST_MAIN(TEST(test_fake), TEST(test_whole_seconds), TEST(test_system))
