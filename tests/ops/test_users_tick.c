#include "ops/users_test.h"

#include "hythe/ops/access.h"

static struct users_tick tick_with(int64_t limit)
{
	struct users_tick tick = {.limit = limit};

	CHECK_RUN(op_users_tick, &tick);
	return tick;
}

/* Derived at once, stored by the timer, and told to nodes once. */
static void test_expiry(void)
{
	struct public_id id;
	struct user user;
	int64_t before;

	world_new();
	id = add_user("{\"name\":\"a\",\"expires_in_s\":100}");
	go_on(99);
	CHECK_INT(tick_with(10).changed, 0);
	go_on(1);
	user = get_user(id.text);
	CHECK_INT(user_status_at(&user, now_unix()), USER_EXPIRED);
	CHECK_INT(user.state, USER_ACTIVE);
	before = changes();
	CHECK_INT(tick_with(10).changed, 1);
	user = get_user(id.text);
	CHECK_INT(user.state, USER_EXPIRED);
	CHECK(!user.served);
	CHECK_INT(changes(), before + 1);
	CHECK_INT(tick_with(10).changed, 0); /* he has left the index */
	CHECK_INT(changes(), before + 1);
}

static void test_hold_deadline(void)
{
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\",\"hold_s\":50,\"hold_deadline_unix\":1800000100}");
	go_on(100);
	CHECK_INT(tick_with(10).changed, 1);
	CHECK_INT(get_user(id.text).state, USER_EXPIRED);
	CHECK_INT(tick_with(10).changed, 0);
}

/* B059: a period's end is one more way of resetting. */
static void test_b059_period_end(void)
{
	struct public_id id;
	struct user user;

	world_new();
	id = add_user("{\"name\":\"a\",\"quota_bytes\":10,\"quota_period\":\"days\",\"quota_period_"
		      "days\":1}");
	use_bytes(get_user(id.text).id, 50);
	CHECK_INT(patch_user(id.text, "{\"note\":\"seen\"}"), RES_OK);
	CHECK_INT(get_user(id.text).state, USER_LIMITED);
	go_on(3 * DAY + 5); /* the timer was away */
	user = get_user(id.text);
	CHECK_INT(user_status_at(&user, now_unix()), USER_ACTIVE);
	CHECK_INT(tick_with(10).changed, 1);
	user = get_user(id.text);
	CHECK_INT(user.state, USER_ACTIVE);
	CHECK(user.served);
	CHECK_INT(user.usage.period_no, 2);
	CHECK_INT(user.usage.period_start_unix, NOW + 3 * DAY);
	CHECK_INT(user.usage.period_end_unix, NOW + 4 * DAY);
	CHECK_INT(user.usage.used_down_bytes, 0);
	CHECK_INT(user.version, 2);
	CHECK_INT(tick_with(10).changed, 0);
}

/* An operation stores first what the clock has done. */
static void test_operation_settles(void)
{
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\",\"quota_bytes\":10,\"quota_period\":\"day\"}");
	use_bytes(get_user(id.text).id, 50);
	go_on(2 * DAY);
	CHECK_INT(patch_user(id.text, "{\"tag\":\"x\"}"), RES_OK);
	CHECK_INT(get_user(id.text).usage.used_down_bytes, 0);
	CHECK_INT(get_user(id.text).usage.period_no, 2);
	CHECK_INT(tick_with(10).changed, 0);
}

static void test_limit(void)
{
	struct users_tick tick;
	char json[80];

	world_new();
	for (int i = 0; i < 25; i++) {
		snprintf(json, sizeof json, "{\"name\":\"u%d\",\"expires_in_s\":%d}", i, 10 + i);
		add_user(json);
	}
	go_on(100);
	tick = tick_with(10);
	CHECK(tick.more);
	CHECK_INT(tick.changed, 10);
	CHECK_INT(read_i64(w.store, "SELECT max(expires_unix) FROM user WHERE state = 'expired'"),
		  NOW + 19);
	CHECK(tick_with(10).more);
	tick = tick_with(10);
	CHECK(!tick.more);
	CHECK_INT(tick.changed, 5);
}

/* B082: a row changed by hand keeps nobody from anything, and can be deleted. */
static void test_b082_odd_row(void)
{
	struct public_id odd, good;
	struct user_target target = {0};

	world_new();
	odd = add_user("{\"name\":\"odd\",\"expires_in_s\":5}");
	good = add_user("{\"name\":\"good\",\"expires_in_s\":6}");
	CHECK_INT(outside_i64(db_path,
			      "UPDATE user SET record_hash = x'00' WHERE name = 'odd' RETURNING 1"),
		  1);
	go_on(10);
	quiet(true);
	CHECK_INT(tick_with(10).changed, 2);
	quiet(false);
	CHECK_INT(get_user(good.text).state, USER_EXPIRED);
	CHECK_INT(get_user(odd.text).state, USER_EXPIRED);
	target.public_id = odd.text;
	CHECK_RUN(op_user_delete, &target);
	odd = add_user("{\"name\":\"odd2\"}");
	CHECK_INT(outside_i64(db_path,
			      "UPDATE user SET meta = '\x01', telegram_id = -9223372036854775808, "
			      "expires_unix ="
			      " 9223372036854775807, hold_s = -1 WHERE name = 'odd2' RETURNING 1"),
		  1);
	target.public_id = odd.text;
	CHECK_RUN(op_user_delete, &target);
}

/* The index ranges are what is read, whatever the number of users. */
static void test_by_index(void)
{
	static const char *const plans[] = {
		"EXPLAIN QUERY PLAN SELECT id FROM user WHERE expires_unix > 0 AND (served = 1 OR "
		"state = 'limited')"
		" AND expires_unix <= 5 ORDER BY expires_unix LIMIT 5",
		"EXPLAIN QUERY PLAN SELECT user_id FROM user_period WHERE period_end_unix <= 5 "
		"ORDER BY period_end_unix LIMIT 5",
		"EXPLAIN QUERY PLAN SELECT user_id FROM credential WHERE not_after_unix > 0 AND "
		"not_after_unix <= 5"
		" ORDER BY not_after_unix LIMIT 5",
	};

	world_new();
	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
		sqlite3 *db = NULL;
		sqlite3_stmt *st = NULL;
		const char *detail = "";
		bool by_index;

		CHECK_INT(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
		if (sqlite3_prepare_v2(db, plans[i], -1, &st, NULL) == SQLITE_OK &&
		    sqlite3_step(st) == SQLITE_ROW)
			detail = (const char *)sqlite3_column_text(st, 3);
		by_index = strncmp(detail, "SEARCH", 6) == 0;
		sqlite3_finalize(st);
		sqlite3_close(db);
		CHECK(by_index);
	}
}

TEST_MAIN(TEST(test_expiry), TEST(test_hold_deadline), TEST(test_b059_period_end),
	  TEST(test_operation_settles), TEST(test_limit), TEST(test_b082_odd_row),
	  TEST(test_by_index))
