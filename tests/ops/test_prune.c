#include "ops/users_test.h"

#include "hythe/ops/prune.h"

/* A row just inside and one just past keeping, in every table that is pruned. */
static const struct {
	const char *table, *insert; /* with one number: the row's time */
	int64_t keep_s;
	bool local_day;
} rows[] = {
	{"idempotency",     "INSERT INTO idempotency VALUES ('a', %lld, x'00', 200, '', 1, %lld)",  DAY,
	 false												      },
	{"admin_session",
	 "INSERT INTO admin_session (public_id, admin_id, token_hash, created_unix, last_seen_unix,"
	 " expires_unix) VALUES (%lld, 1, randomblob(32), 1, 1, %lld)",			     0,         false},
	{"node_report",     "INSERT INTO node_report VALUES (1, x'00', %lld, x'00', 100, 1, %lld)",
	 2 * DAY,											      false},
	{"node_metric",     "INSERT INTO node_metric VALUES (%lld, %lld, '{}')",                    40 * DAY,  false},
	{"usage_hour",
	 "INSERT INTO usage_hour (inbound_id, start_unix, user_id, up_bytes, down_bytes) VALUES "
	 "(%lld, %lld, 1, 1, 1)",								   40 * DAY,  false},
	{"node_usage_hour",
	 "INSERT INTO node_usage_hour (node_id, start_unix, up_bytes, down_bytes) VALUES (%lld, "
	 "%lld, 1, 1)",									     40 * DAY,  false},
	{"audit",
	 "INSERT INTO audit (actor, at_unix, address, action, target, detail, result) VALUES "
	 "(%lld, %lld, '', '', '',"
	 " '{}', 'ok')",									    180 * DAY, false},
	{"event",
	 "INSERT INTO event (kind, at_unix, severity, subject, data) VALUES (%lld, %lld, 'info', "
	 "'', '{}')",									       180 * DAY, false},
	{"usage_day",
	 "INSERT INTO usage_day (user_id, day, inbound_id, up_bytes, down_bytes) VALUES (%lld, "
	 "%lld, 1, 1, 1)",									  400 * DAY, true },
};

static void put(size_t i, int64_t no, int64_t at)
{
	char sql[400];
	sqlite3 *db = NULL;
	struct zone *zone;
	struct local_time local;
	int code;

	CHECK_INT(zone_load("UTC", &zone), RES_OK);
	zone_local(zone, at, &local);
	zone_free(zone);
	if (rows[i].local_day)
		at = local.year * 10000LL + local.month * 100 + local.day;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(sql, sizeof sql, rows[i].insert, (long long)no, (long long)at);
#pragma GCC diagnostic pop
	CHECK_INT(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	code = sqlite3_exec(db, sql, NULL, NULL, NULL);
	if (code != SQLITE_OK)
		printf("%s: %s\n", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
	CHECK_INT(code, SQLITE_OK);
}

static int64_t count(const char *table)
{
	char sql[80];

	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
	return outside_i64(db_path, sql);
}

static void add_admin(void)
{
	CHECK_INT(
		outside_i64(
			db_path,
			"INSERT INTO admin (id, public_id, name, name_key, role, password_hash,"
			" created_unix) VALUES (1, 'adm_x', 'r', 'r', 'owner', '', 1) RETURNING 1"),
		1);
}

static void test_each_table(void)
{
	struct prune prune = {0};

	world_new();
	add_admin();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put(i, 1, NOW - rows[i].keep_s);
		put(i, 2, NOW - rows[i].keep_s - (rows[i].local_day ? DAY : 1));
	}
	CHECK_RUN(op_prune, &prune);
	CHECK_INT(prune.removed, (int64_t)(sizeof rows / sizeof *rows));
	CHECK(!prune.more);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (count(rows[i].table) != 1)
			TEST_FAIL("%s: %lld rows", rows[i].table, (long long)count(rows[i].table));
	CHECK_RUN(op_prune, NULL);
}

/* Many rows go in short jobs, not in one. */
static void test_in_pieces(void)
{
	struct prune prune = {0};

	world_new();
	for (int i = 0; i < 450; i++)
		put(6, i, 5);
	CHECK_RUN(op_prune, &prune);
	CHECK_INT(prune.removed, 400);
	CHECK(prune.more);
	CHECK_RUN(op_prune, &prune);
	CHECK_INT(prune.removed, 50);
	CHECK(!prune.more);
}

/* The row of a deleted user stays as long as his usage does. */
static void test_deleted_users(void)
{
	struct user_target target = {0};
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\"}");
	add_user("{\"name\":\"b\"}");
	target.public_id = id.text;
	CHECK_RUN(op_user_delete, &target);
	go_on(402 * DAY);
	CHECK_RUN(op_prune, NULL);
	CHECK_INT(count("user"), 2);
	go_on(1);
	CHECK_RUN(op_prune, NULL);
	CHECK_INT(count("user"), 1);
	CHECK_INT(count("user_usage"), 1);
}

TEST_MAIN(TEST(test_each_table), TEST(test_in_pieces), TEST(test_deleted_users))
