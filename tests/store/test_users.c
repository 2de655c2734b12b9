#include "store_test.h"

#include "hythe/store/credentials.h"
#include "hythe/store/usage.h"
#include "hythe/store/users.h"

#define NOW 1800000000

static struct store *store;
static struct arena arena;

static void begin(void)
{
	store_close(store);
	arena_free(&arena);
	dir_new();
	store = open_store();
	arena_init(&arena, 1 << 20);
}

static struct user sample(const char *name)
{
	struct user user = {.name = name,
			    .name_key = name,
			    .display_name = "Dis",
			    .note = "a note",
			    .tag = "",
			    .email = "",
			    .language = "",
			    .meta = "{}",
			    .enabled = true,
			    .created_unix = NOW,
			    .hwid_limit = -1,
			    .state = USER_ACTIVE,
			    .version = 1,
			    .quota_period = PERIOD_WEEK};

	public_id_new(ID_USER, &user.public_id);
	user.usage.period_no = 1;
	user.usage.period_start_unix = NOW;
	user.usage.period_end_unix = NOW + 10;
	return user;
}

static enum res add(struct txn *txn, void *arg)
{
	struct user *user = arg;
	struct user_link link = {.sealed = "sealed", .sealed_len = 6};

	memcpy(link.hash, user->public_id.text, sizeof user->public_id.text); /* unique, no more */
	return user_insert(txn_conn(txn), user, &link);
}

static void write_job(store_job job, void *arg)
{
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, job, arg, 2000, NULL), RES_OK);
}

static struct conn *reader(void)
{
	struct conn *conn = NULL;

	CHECK_INT(store_read(store, STORE_ADMIN, 2000, &conn), RES_OK);
	return conn;
}

static void test_written_as_read(void)
{
	struct user user, by_id, by_public_id;
	struct conn *conn;

	begin();
	user = sample("ann");
	user.expires_unix = 5;
	user.telegram_id = 7;
	user.device_limit = 9;
	write_job(add, &user);
	conn = reader();
	CHECK_INT(user_by_id(conn, user.id, &arena, &by_id), RES_OK);
	CHECK_INT(user_by_public_id(conn, user.public_id.text, &arena, &by_public_id), RES_OK);
	CHECK_INT(user_by_public_id(conn, "usr_", &arena, &by_public_id), RES_NOT_FOUND);
	store_read_end(conn);
	CHECK_TEXT(by_id.name, "ann");
	CHECK_TEXT(by_id.note, "a note");
	CHECK_TEXT(by_id.public_id.text, user.public_id.text);
	CHECK_INT(by_id.expires_unix, 5);
	CHECK_INT(by_id.telegram_id, 7);
	CHECK_INT(by_id.device_limit, 9);
	CHECK_INT(by_id.hwid_limit, -1);
	CHECK_INT(by_id.quota_period, PERIOD_WEEK);
	CHECK_INT(by_id.usage.period_end_unix, NOW + 10);
	CHECK_INT(by_id.owner_admin_id, 0);
	CHECK(by_id.enabled && !by_id.served);
}

static enum res rename_job(struct txn *txn, void *arg)
{
	struct user *user = arg, now = *user;

	now.name = now.name_key = "zoe";
	return user_update(txn_conn(txn), user, &now);
}

static enum res bury_job(struct txn *txn, void *arg)
{
	struct user *user = arg;

	user->name = "zoe";
	return user_bury(txn_conn(txn), user, NOW);
}

/* The search index holds what is, and nothing that was: SQLite checks one against the other. */
static void test_search_follows(void)
{
	struct user user;

	begin();
	user = sample("annabel");
	write_job(add, &user);
	CHECK_INT(read_i64(store,
			   "SELECT rowid FROM user_search WHERE user_search MATCH '\"nabel\"'"),
		  user.id);
	write_job(rename_job, &user);
	CHECK_INT(read_i64(store,
			   "SELECT count(*) FROM user_search WHERE user_search MATCH '\"nabel\"'"),
		  0);
	CHECK_INT(
		read_i64(store, "SELECT rowid FROM user_search WHERE user_search MATCH '\"zoe\"'"),
		user.id);
	write_job(bury_job, &user);
	CHECK_INT(read_i64(store,
			   "SELECT count(*) FROM user_search WHERE user_search MATCH '\"zoe\"'"),
		  0);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM user WHERE deleted_unix > 0"), 1);
}

static bool stop_at_two(void *ctx, int64_t user_id, const uint8_t key[STORE_TOKEN_KEY])
{
	(void)user_id;
	(void)key;
	return ++*(int *)ctx < 2;
}

static void test_tokens_each(void)
{
	struct conn *conn;
	int seen = 0;

	begin();
	for (int i = 0; i < 5; i++) {
		char name[16];
		struct user user;

		snprintf(name, sizeof name, "u%d", i);
		user = sample(name);
		write_job(add, &user);
	}
	conn = reader();
	CHECK_INT(user_tokens_each(conn, stop_at_two, &seen), RES_OK);
	CHECK_INT(seen, 2);
	store_read_end(conn);
}

static void test_due(void)
{
	struct conn *conn;
	struct user user;
	int64_t ids[4];
	size_t count;

	begin();
	user = sample("a");
	write_job(add, &user);
	conn = reader();
	for (enum user_due due = 0; due < USER_DUES; due++) {
		CHECK_INT(users_due(conn, due, NOW + 9, ids, 4, &count), RES_OK);
		CHECK_INT(count, 0);
	}
	CHECK_INT(users_due(conn, USER_DUE_PERIOD, NOW + 10, ids, 4, &count), RES_OK);
	CHECK_INT(count, 1);
	CHECK_INT(ids[0], user.id);
	store_read_end(conn);
}

/* B082: words and values that no release has written never break a reader. */
static void test_b082_odd_row(void)
{
	struct conn *conn;
	struct user user;

	begin();
	user = sample("a");
	write_job(add, &user);
	{
		sqlite3 *db = NULL;

		CHECK_INT(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
		CHECK_INT(sqlite3_exec(db,
				       "PRAGMA ignore_check_constraints = ON; UPDATE user SET "
				       "state = 'odd', quota_period ="
				       " 'aeon', expires_unix = -9223372036854775808, meta = 'x'",
				       NULL, NULL, NULL),
			  SQLITE_OK);
		sqlite3_close(db);
	}
	conn = reader();
	CHECK_INT(user_by_id(conn, user.id, &arena, &user), RES_OK);
	store_read_end(conn);
	CHECK_INT(user.state, USER_DISABLED);
	CHECK_INT(user.quota_period, PERIOD_NONE);
	CHECK_INT(user_days_left(&user, NOW), -1);
}

static void test_memory_runs_out(void)
{
	struct user user, out;
	struct arena small;
	struct conn *conn;
	size_t max = 0;
	enum res res;

	begin();
	user = sample("a");
	write_job(add, &user);
	conn = reader();
	do { /* every single allocation fails once */
		arena_init(&small, max++);
		res = user_by_id(conn, user.id, &small, &out);
		arena_free(&small);
		CHECK(res == RES_OK || res == RES_NOMEM);
	} while (res != RES_OK && max < 4096);
	store_read_end(conn);
	CHECK_INT(res, RES_OK);
	CHECK(max > 8);
	store_close(store);
	store = NULL;
	arena_free(&arena);
}

TEST_MAIN(TEST(test_written_as_read), TEST(test_search_follows), TEST(test_tokens_each),
	  TEST(test_due), TEST(test_b082_odd_row), TEST(test_memory_runs_out))
