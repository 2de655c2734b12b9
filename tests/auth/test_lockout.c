/* Who was wrong too often. */
#include "hythe/auth/lockout.h"
#include "test.h"

static struct clock_fake fake;
static struct clock fake_clock;
static struct lockout *lockout;

static void begin(void)
{
	lockout_free(lockout);
	fake = (struct clock_fake){.mono_ms = 1};
	fake_clock = clock_of_fake(&fake);
	lockout = lockout_new(&fake_clock);
	CHECK(lockout != NULL);
}

static bool enter(const char *text)
{
	unsigned retry_s = 0;
	bool free_try = lockout_enter(lockout, 'l', text, strlen(text), 5, &retry_s);

	CHECK(retry_s >= 1 && retry_s <= LOCKOUT_WINDOW_S);
	return free_try;
}

static void test_five_and_no_more(void)
{
	begin();
	for (int i = 0; i < 5; i++)
		CHECK(enter("ann"));
	CHECK(!enter("ann"));
	CHECK(enter("bob"));
	CHECK(lockout_enter(lockout, 'a', "ann", 3, 5, &(unsigned){0})); /* another kind */
	fake.mono_ms += LOCKOUT_WINDOW_S * 1000 - 1;
	CHECK(!enter("ann"));
	fake.mono_ms += 1;
	for (int i = 0; i < 5; i++)
		CHECK(enter("ann"));
	CHECK(!enter("ann"));
}

static void test_take_back_and_clear(void)
{
	begin();
	for (int i = 0; i < 20; i++) {
		CHECK(enter("ann"));
		lockout_take_back(lockout, 'l', "ann", 3);
	}
	for (int i = 0; i < 5; i++)
		CHECK(enter("ann"));
	CHECK(!enter("ann"));
	lockout_clear(lockout, 'l', "ann", 3);
	CHECK(enter("ann"));
	lockout_take_back(lockout, 'l', "nobody", 6); /* none there: nothing */
}

/* New names do not push out one that is locked. */
static void test_flood(void)
{
	char name[32];

	begin();
	for (int i = 0; i < 6; i++)
		enter("ann");
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof name, "flood%d", i);
		enter(name);
	}
	CHECK(!enter("ann"));
	lockout_free(lockout);
	lockout = NULL;
}

TEST_MAIN(TEST(test_five_and_no_more), TEST(test_take_back_and_clear), TEST(test_flood))
