#include "test.h"

#include "hythe/model/user.h"

#define NOW 1800000000
#define DAY 86400

/* B090: one derived status, in one order of precedence, for every combination. */
static void test_b090_precedence(void)
{
	for (unsigned bits = 0; bits < 16; bits++) {
		bool off = bits & 1, over = bits & 2, full = bits & 4, hold = bits & 8;
		struct user user = {.enabled = !off, .quota_bytes = 100};
		enum user_status want = off    ? USER_DISABLED
					: over ? USER_EXPIRED
					: full ? USER_LIMITED
					: hold ? USER_ON_HOLD
					       : USER_ACTIVE;

		user.expires_unix = over ? NOW : NOW + 1;
		user.usage.used_down_bytes = full ? 100 : 99;
		user.hold_s = hold ? DAY : 0;
		CHECK_INT(user_status_at(&user, NOW), want);
		CHECK_INT(user_has_access(want), want == USER_ACTIVE || want == USER_ON_HOLD);
	}
}

/* B094: the second that was set. */
static void test_b094_to_the_second(void)
{
	struct user user = {.enabled = true, .expires_unix = NOW};

	CHECK_INT(user_status_at(&user, NOW - 1), USER_ACTIVE);
	CHECK_INT(user_status_at(&user, NOW), USER_EXPIRED);
}

static void test_hold(void)
{
	struct user user = {.enabled = true, .hold_s = DAY, .hold_deadline_unix = NOW};

	CHECK_INT(user_status_at(&user, NOW - 1), USER_ON_HOLD);
	CHECK_INT(user_next_change(&user, NOW - 5), NOW);
	CHECK_INT(user_status_at(&user, NOW), USER_EXPIRED);
	user.first_use_unix = NOW - 10; /* then the deadline means nothing any more */
	user.expires_unix = NOW - 10 + DAY;
	CHECK_INT(user_status_at(&user, NOW), USER_ACTIVE);
}

static void test_period_over(void)
{
	struct user user = {.enabled = true, .quota_bytes = 10};

	user.usage.used_up_bytes = 20;
	user.usage.period_end_unix = NOW;
	CHECK_INT(user_status_at(&user, NOW - 1), USER_LIMITED);
	CHECK_INT(user_used_bytes(&user, NOW - 1), 20);
	CHECK_INT(user_status_at(&user, NOW), USER_ACTIVE);
	CHECK_INT(user_used_bytes(&user, NOW), 0);
}

/* B032: never below zero; what was used stays true. */
static void test_b032_left(void)
{
	static const struct {
		int64_t quota, used, left;
	} rows[] = {
		{1000000, 1500000, 0 },
		{1000000, 1000000, 0 },
		{1000000, 999999,  1 },
		{0,       5,       -1},
		{10,      0,       10}
        };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct user user = {.quota_bytes = rows[i].quota};

		user.usage.used_down_bytes = rows[i].used;
		CHECK_INT(user_left_bytes(&user, NOW), rows[i].left);
		CHECK_INT(user_used_bytes(&user, NOW), rows[i].used);
	}
}

static void test_counters_saturate(void)
{
	struct user user = {.enabled = true, .quota_bytes = 1};

	user.usage.used_up_bytes = user.usage.used_down_bytes = INT64_MAX;
	CHECK_INT(user_used_bytes(&user, NOW), INT64_MAX);
	CHECK_INT(user_status_at(&user, NOW), USER_LIMITED);
}

/* B092: thirty days are thirty until a full day has gone. */
static void test_b092_days_left(void)
{
	static const struct {
		int64_t left_s, days;
	} rows[] = {
		{30LL * DAY,     30},
                {29LL * DAY + 1, 30},
		{29LL * DAY,     29},
                {DAY + 1,        2 },
		{DAY,            1 },
                {1,              1 },
		{0,              0 },
                {-5,             0 }
        };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct user user = {.expires_unix = NOW + rows[i].left_s};

		CHECK_INT(user_days_left(&user, NOW), rows[i].days);
	}
	CHECK_INT(user_days_left(&(struct user){0}, NOW), -1);
}

/* A property: nothing that is shown differs before the moment that was said. */
static void test_next_change(void)
{
	struct user user = {
		.enabled = true, .expires_unix = NOW + 3 * DAY + 100, .quota_bytes = 10};
	int64_t at = NOW, steps = 0;

	user.usage.used_up_bytes = 10;
	user.usage.period_end_unix = NOW + DAY;
	while (at != 0) {
		int64_t next = user_next_change(&user, at);
		int64_t last = next ? next - 1 : at + 10 * DAY;

		CHECK_INT(user_status_at(&user, last), user_status_at(&user, at));
		CHECK_INT(user_days_left(&user, last), user_days_left(&user, at));
		CHECK_INT(user_left_bytes(&user, last), user_left_bytes(&user, at));
		CHECK(next == 0 || next > at);
		at = next;
		steps++;
	}
	CHECK_INT(steps, 6); /* 100 s, the period, two days, the end */
}

TEST_MAIN(TEST(test_b090_precedence), TEST(test_b094_to_the_second), TEST(test_hold),
	  TEST(test_period_over), TEST(test_b032_left), TEST(test_counters_saturate),
	  TEST(test_b092_days_left), TEST(test_next_change))
