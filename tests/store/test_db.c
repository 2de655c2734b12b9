/* Opening and statements: what a database file must be, and how conn.h keeps its promises. */
#include <fcntl.h>
#include <sys/wait.h>

#include "store/store_internal.h"
#include "store_test.h"

static int mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int)(st.st_mode & 0777) : -1;
}

static void test_created(void)
{
	mode_t mask = umask(0);
	struct store *store;
	char name[128];

	dir_new();
	store = open_store();
	CHECK_INT(mode_of(db_path), 0600);
	snprintf(name, sizeof name, "%s-wal", db_path);
	CHECK_INT(mode_of(name), 0600);
	snprintf(name, sizeof name, "%s-shm", db_path);
	CHECK_INT(mode_of(name), 0600);
	snprintf(name, sizeof name, "%s/lock", dir);
	CHECK_INT(mode_of(name), 0600);
	snprintf(name, sizeof name, "%s.new", db_path);
	CHECK_INT(mode_of(name), -1);
	CHECK_INT(read_i64(store, "PRAGMA application_id"), STORE_APPLICATION_ID);
	CHECK_INT(read_i64(store, "PRAGMA user_version"), 1);
	CHECK_INT(read_i64(store, "SELECT length(value) FROM setting WHERE key = 'store_id'"), 32);
	CHECK_INT(read_i64(store, "SELECT value FROM setting WHERE key = 'log_floor'"), 0);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM migration WHERE length(sha256) = 32"), 1);
	store_close(store);
	snprintf(name, sizeof name, "%s-wal", db_path);
	CHECK_INT(mode_of(name), -1);
	umask(mask);
}

/* A umask that takes even our own rights away. */
static void test_odd_umask(void)
{
	mode_t mask;

	dir_new();
	mask = umask(0777);
	struct store *store = open_store();
	umask(mask);
	CHECK_INT(mode_of(db_path), 0600);
	store_close(store);
}

static void test_pragmas(void)
{
	struct store *store;
	struct conn *conn;
	int value;

	dir_new();
	store = open_store();
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	static const struct {
		const char *sql;
		int64_t want;
	} rows[] = {
		{"PRAGMA cache_size",      -256     },
                {"PRAGMA query_only",      1        },
		{"PRAGMA mmap_size",       8388608},
                {"PRAGMA cell_size_check", 1        },
		{"PRAGMA trusted_schema",  0        },
                {"PRAGMA foreign_keys",    1        },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		sqlite3_stmt *st = conn_stmt(conn, rows[i].sql);

		CHECK_INT(stmt_row(conn, st), RES_OK);
		CHECK_INT(column_i64(st, 0), rows[i].want);
		stmt_end(conn, st);
	}
	CHECK_INT(sqlite3_db_config(conn_db(conn), SQLITE_DBCONFIG_DEFENSIVE, -1, &value),
		  SQLITE_OK);
	CHECK_INT(value, 1);
	store_read_end(conn);
	store_close(store);
}

static enum res pragma_job(struct txn *txn, void *arg)
{
	static const char *const sql[] = {"PRAGMA synchronous", "PRAGMA foreign_keys"};
	int64_t *values = arg;

	for (size_t i = 0; i < 2; i++) {
		sqlite3_stmt *st = conn_stmt(txn_conn(txn), sql[i]);
		enum res res = stmt_row(txn_conn(txn), st);

		if (res == RES_OK)
			values[i] = column_i64(st, 0);
		stmt_end(txn_conn(txn), st);
		if (res != RES_OK)
			return res;
	}
	return RES_OK;
}

static void test_writer_pragmas(void)
{
	int64_t values[2] = {-1, -1};
	struct store *store;

	dir_new();
	store = open_store();
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, pragma_job, values, 1000, NULL), RES_OK);
	CHECK_INT(values[0], 2);
	CHECK_INT(values[1], 1);
	store_close(store);
}

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(data, 1, len, out) != len || fclose(out) != 0)
		abort();
}

static void refused(enum res want, const char *code)
{
	struct store_config config = config_of(&clock_system);
	struct problem problem = {0};
	struct store *store = (struct store *)&problem;

	quiet(true);
	CHECK_INT(store_open(&config, &store, &problem), want);
	CHECK_TEXT(problem.code, code);
	CHECK(store == NULL);
	CHECK(strlen(problem.detail) > 20);
	/* The lock is free again, and no problem asked for is no crash. */
	CHECK_INT(store_open(&config, &store, NULL), want);
	quiet(false);
}

static void test_not_ours(void)
{
	static const char magic[] = "SQLite format 3";
	char page[4096] = {0};
	sqlite3 *db;

	dir_new();
	write_file(db_path, "", 0);
	refused(RES_CORRUPT, "database_damaged");
	write_file(db_path, "hello", 5);
	refused(RES_CORRUPT, "not_a_database");
	memset(page, 'x', sizeof page);
	write_file(db_path, page, sizeof page);
	refused(RES_CORRUPT, "not_a_database");
	memcpy(page, magic, sizeof magic);
	write_file(db_path, page, 50); /* the magic, and less than a header */
	refused(RES_CORRUPT, "not_a_database");
	write_file(db_path, page, sizeof page);
	refused(RES_CONFLICT, "foreign_database");
	unlink(db_path);
	CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "CREATE TABLE t (a)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	refused(RES_CONFLICT, "foreign_database");
	unlink(db_path);
	CHECK_INT(mkdir(db_path, 0700), 0);
	refused(RES_IO, "cannot_open_database");
	rmdir(db_path);
}

/* Our header over garbage, our version over nothing. */
static void test_damaged(void)
{
	char page[4096];
	struct stat st;
	int fd;

	dir_new();
	store_close(open_store());
	fd = open(db_path, O_RDWR);
	CHECK_INT(fstat(fd, &st), 0);
	CHECK(pread(fd, page, sizeof page, 0) == sizeof page);
	CHECK_INT(ftruncate(fd, st.st_size / 2), 0);
	refused(RES_CORRUPT, "database_damaged");
	CHECK_INT(ftruncate(fd, 4096), 0);
	refused(RES_CORRUPT, "database_damaged");
	CHECK_INT(ftruncate(fd, 1000), 0);
	refused(RES_CORRUPT, "database_damaged");
	memset(page + 100, 0xff, sizeof page - 100);
	CHECK(pwrite(fd, page, sizeof page, 0) == sizeof page);
	CHECK_INT(ftruncate(fd, st.st_size), 0);
	refused(RES_CORRUPT, "database_damaged");
	memset(page + 60, 0, 4); /* user_version */
	CHECK(pwrite(fd, page, sizeof page, 0) == sizeof page);
	refused(RES_CORRUPT, "database_damaged");
	close(fd);
}

/* Every byte of the first page in turn: refused or opened, never a crash. */
static void test_header_flips(void)
{
	struct store_config config = config_of(&clock_system);
	struct store *store;
	unsigned char byte, was;
	int fd;

	dir_new();
	store_close(open_store());
	quiet(true);
	for (off_t at = 0; at < 200; at += at < 108 ? 1 : 7) {
		fd = open(db_path, O_RDWR);
		CHECK(pread(fd, &was, 1, at) == 1);
		byte = (unsigned char)(was ^ 0x5a);
		CHECK(pwrite(fd, &byte, 1, at) == 1);
		close(fd);
		if (store_open(&config, &store, NULL) == RES_OK)
			store_close(store);
		fd = open(db_path, O_RDWR);
		CHECK(pwrite(fd, &was, 1, at) == 1);
		close(fd);
	}
	quiet(false);
}

static enum res exec_job(struct txn *txn, void *arg)
{
	return stmt_run(txn_conn(txn), conn_stmt(txn_conn(txn), arg));
}

/* What somebody planted in the schema does not run; what foreign keys do still does. */
static void test_planted_schema(void)
{
	static char insert[] = "INSERT INTO setting VALUES ('test', 1)";
	static char admin[] =
		"INSERT INTO admin (id, public_id, name, name_key, role, password_hash,"
		" created_unix) VALUES (1, 'a', 'a', 'a', 'owner', 'x', 0)";
	static char session[] =
		"INSERT INTO admin_session (public_id, admin_id, token_hash, created_unix,"
		" last_seen_unix, expires_unix) VALUES ('s', 1, x'01', 0, 0, 0)";
	static char drop[] = "DELETE FROM admin";
	char *const jobs[] = {insert, admin, session, drop};
	struct store *store;
	struct conn *conn;
	sqlite3 *db;

	dir_new();
	store_close(open_store());
	CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db,
			       "CREATE TRIGGER planted AFTER INSERT ON setting BEGIN"
			       " INSERT INTO ua_rule_planted VALUES (1); END;"
			       "CREATE TABLE ua_rule_planted (a);"
			       "CREATE VIEW planted_view AS SELECT 1 AS a;",
			       NULL, NULL, NULL),
		  SQLITE_OK);
	sqlite3_close(db);
	store = open_store();
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
		CHECK_INT(store_write(store, STORE_FROM_ADMIN, exec_job, jobs[i], 1000, NULL),
			  RES_OK);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM ua_rule_planted"), 0);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM admin_session"), 0);
	quiet(true);
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	CHECK(conn_stmt(conn, "SELECT a FROM planted_view") == NULL);
	store_read_end(conn);
	quiet(false);
	store_close(store);
}

static void test_stray_log(void)
{
	char name[128];

	dir_new();
	snprintf(name, sizeof name, "%s-wal", db_path);
	write_file(name, "left behind", 11);
	refused(RES_CONFLICT, "stray_log");
	CHECK_INT(mode_of(db_path), -1);
}

static void test_no_directory(void)
{
	dir_new();
	snprintf(db_path, sizeof db_path, "%s/none/hythe.db", dir);
	refused(RES_IO, "cannot_open_lock");
}

static void test_in_use(void)
{
	struct store_config config;
	struct problem problem = {0};
	struct store *store, *second;
	char pid[32];

	dir_new();
	store = open_store();
	config = config_of(&clock_system);
	CHECK_INT(store_open(&config, &second, &problem), RES_CONFLICT);
	CHECK_TEXT(problem.code, "in_use");
	snprintf(pid, sizeof pid, "(pid %ld)", (long)getpid());
	CHECK(strstr(problem.detail, pid) != NULL);
	CHECK(second == NULL);
	/* The refused one left the first alone. */
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting"), 2);
	store_close(store);
	store_close(open_store());
	store_close(NULL);
}

/* --- Statements --- */

static int statements(struct conn *conn)
{
	int count = 0;

	for (sqlite3_stmt *st = NULL; (st = sqlite3_next_stmt(conn_db(conn), st)) != NULL;)
		count++;
	return count;
}

static void test_least_recent_goes(void)
{
	static char sql[200][32];
	struct store *store;
	struct conn *conn;
	sqlite3_stmt *held, *st;

	dir_new();
	store = open_store();
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	/* One that is being read is never thrown out, however long ago it was asked for. */
	held = conn_stmt(conn, "SELECT value FROM (SELECT 1 AS value UNION ALL SELECT 2)");
	CHECK_INT(stmt_row(conn, held), RES_OK);
	for (int i = 0; i < 200; i++) {
		snprintf(sql[i], sizeof sql[i], "SELECT %d", i);
		st = conn_stmt(conn, sql[i]);
		CHECK_INT(stmt_row(conn, st), RES_OK);
		CHECK_INT(column_i64(st, 0), i);
		stmt_end(conn, st);
		CHECK(statements(conn) <= READER_STATEMENTS + 3);
	}
	CHECK_INT(stmt_row(conn, held), RES_OK);
	CHECK_INT(column_i64(held, 0), 2);
	stmt_end(conn, held);
	CHECK_INT(statements(conn), READER_STATEMENTS + 3);
	/* Kept: the same handle comes back. */
	st = conn_stmt(conn, sql[199]);
	CHECK(st != NULL);
	stmt_end(conn, st);
	CHECK(conn_stmt(conn, sql[199]) == st);
	stmt_end(conn, st);
	store_read_end(conn);
	store_close(store);
}

static void test_more_than_fit(void)
{
	static char sql[60][32];
	struct store *store;
	struct conn *conn;
	sqlite3_stmt *st[60];

	dir_new();
	store = open_store();
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	for (int i = 0; i < 60; i++) {
		snprintf(sql[i], sizeof sql[i], "SELECT %d", i);
		st[i] = conn_stmt(conn, sql[i]);
		CHECK_INT(stmt_row(conn, st[i]), RES_OK);
	}
	for (int i = 0; i < 60; i++) {
		CHECK_INT(column_i64(st[i], 0), i);
		stmt_end(conn, st[i]);
	}
	CHECK_INT(statements(conn), READER_STATEMENTS + 3);
	store_read_end(conn);
	store_close(store);
}

static void test_same_text_within_itself(void)
{
	static const char sql[] = "SELECT ?1";
	char made[32];
	struct store *store;
	struct conn *conn;
	sqlite3_stmt *outer, *inner;

	dir_new();
	store = open_store();
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	outer = conn_stmt(conn, sql);
	bind_i64(outer, 1, 7);
	CHECK_INT(stmt_row(conn, outer), RES_OK);
	inner = conn_stmt(conn, sql);
	CHECK(inner != NULL && inner != outer);
	bind_i64(inner, 1, 8);
	CHECK_INT(stmt_row(conn, inner), RES_OK);
	CHECK_INT(column_i64(inner, 0), 8);
	stmt_end(conn, inner);
	CHECK_INT(column_i64(outer, 0), 7);
	stmt_end(conn, outer);
	/* Other text at a known address is another statement. */
	for (int i = 0; i < 5; i++) {
		snprintf(made, sizeof made, "SELECT %d", i);
		outer = conn_stmt(conn, made);
		CHECK_INT(stmt_row(conn, outer), RES_OK);
		CHECK_INT(column_i64(outer, 0), i);
		stmt_end(conn, outer);
	}
	store_read_end(conn);
	store_close(store);
}

static void test_results(void)
{
	struct store *store;
	struct conn *conn;
	sqlite3_stmt *st;

	dir_new();
	store = open_store();
	quiet(true);
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	st = conn_stmt(conn, "SELECT nonsense FROM nowhere");
	CHECK(st == NULL);
	bind_i64(st, 1, 1);
	CHECK_INT(stmt_row(conn, st), RES_INTERNAL);
	CHECK_INT(stmt_run(conn, st), RES_INTERNAL);
	stmt_end(conn, st);
	/* A failed bind is not forgotten by a good one after it, and is told once. */
	st = conn_stmt(conn, "SELECT ?1");
	bind_i64(st, 2, 1);
	bind_i64(st, 1, 1);
	CHECK_INT(stmt_row(conn, st), RES_INTERNAL);
	stmt_end(conn, st);
	st = conn_stmt(conn, "SELECT ?1");
	bind_i64(st, 1, 1);
	CHECK_INT(stmt_row(conn, st), RES_OK);
	CHECK_INT(stmt_row(conn, st), RES_NOT_FOUND);
	stmt_end(conn, st);
	/* Double quotes are no text. */
	CHECK(conn_stmt(conn, "SELECT \"no such column\"") == NULL);
	/* Readers cannot write. */
	CHECK(stmt_run(conn, conn_stmt(conn, "DELETE FROM setting")) != RES_OK);
	store_read_end(conn);
	quiet(false);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting"), 2);
	store_close(store);
}

static void test_parameters_and_columns(void)
{
	struct arena arena;
	struct store *store;
	struct conn *conn;
	sqlite3_stmt *st;
	uint8_t blob[4];

	dir_new();
	arena_init(&arena, 65536);
	store = open_store();
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	st = conn_stmt(conn,
		       "SELECT ?1, ?2, ?3, ?4, typeof(?1), typeof(?2), typeof(?3), typeof(?4), ?5,"
		       " typeof(?5), ?6");
	bind_text(st, 1, NULL);
	bind_text_n(st, 2, "abcdef", 3);
	bind_blob(st, 3, NULL, 0);
	bind_null(st, 4);
	bind_blob(st, 5, "\1\2\3\4", 4);
	bind_i64(st, 6, INT64_MIN);
	CHECK_INT(stmt_row(conn, st), RES_OK);
	CHECK_TEXT(column_text(st, 0, &arena), "");
	CHECK_TEXT(column_text(st, 1, &arena), "abc");
	CHECK_TEXT(column_text(st, 3, &arena), "");
	CHECK_TEXT(column_text(st, 4, &arena), "text");
	CHECK_TEXT(column_text(st, 5, &arena), "text");
	CHECK_TEXT(column_text(st, 6, &arena), "blob");
	CHECK_TEXT(column_text(st, 7, &arena), "null");
	CHECK(column_blob(st, 8, blob, 4) && memcmp(blob, "\1\2\3\4", 4) == 0);
	CHECK(!column_blob(st, 8, blob, 3) && blob[0] == 0);
	CHECK(!column_blob(st, 1, blob, 3)); /* text is no blob */
	CHECK(!column_blob(st, 3, blob, 4));
	CHECK(column_blob(st, 2, NULL, 0));
	CHECK(column_i64(st, 10) == INT64_MIN);
	stmt_end(conn, st);
	/* Nothing stays bound. */
	st = conn_stmt(conn, "SELECT ?1 IS NULL");
	bind_i64(st, 1, 5);
	stmt_end(conn, st);
	st = conn_stmt(conn, "SELECT ?1 IS NULL");
	CHECK_INT(stmt_row(conn, st), RES_OK);
	CHECK_INT(column_i64(st, 0), 1);
	stmt_end(conn, st);
	store_read_end(conn);
	store_close(store);
	arena_free(&arena);
}

static void test_res_of_sqlite(void)
{
	static const struct {
		int code;
		enum res want;
	} rows[] = {
		{SQLITE_OK,                    RES_OK      },
		{SQLITE_ROW,                   RES_OK      },
		{SQLITE_DONE,                  RES_OK      },
		{SQLITE_BUSY,                  RES_BUSY    },
		{SQLITE_BUSY_SNAPSHOT,         RES_BUSY    },
		{SQLITE_INTERRUPT,             RES_BUSY    },
		{SQLITE_LOCKED,                RES_BUSY    },
		{SQLITE_FULL,                  RES_FULL    },
		{SQLITE_IOERR_FSYNC,           RES_IO      },
		{SQLITE_IOERR_NOMEM,           RES_NOMEM   },
		{SQLITE_CANTOPEN,              RES_IO      },
		{SQLITE_READONLY_DBMOVED,      RES_IO      },
		{SQLITE_NOMEM,                 RES_NOMEM   },
		{SQLITE_CORRUPT_INDEX,         RES_CORRUPT },
		{SQLITE_NOTADB,                RES_CORRUPT },
		{SQLITE_CONSTRAINT_UNIQUE,     RES_CONFLICT},
		{SQLITE_CONSTRAINT_FOREIGNKEY, RES_CONFLICT},
		{SQLITE_ERROR,                 RES_INTERNAL},
		{SQLITE_MISUSE,                RES_INTERNAL},
		{SQLITE_TOOBIG,                RES_INTERNAL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_INT(res_of_sqlite(rows[i].code), rows[i].want);
}

TEST_MAIN(TEST(test_created), TEST(test_odd_umask), TEST(test_pragmas), TEST(test_writer_pragmas),
	  TEST(test_not_ours), TEST(test_damaged), TEST(test_header_flips),
	  TEST(test_planted_schema), TEST(test_stray_log), TEST(test_no_directory),
	  TEST(test_in_use), TEST(test_least_recent_goes), TEST(test_more_than_fit),
	  TEST(test_same_text_within_itself), TEST(test_results), TEST(test_parameters_and_columns),
	  TEST(test_res_of_sqlite))
