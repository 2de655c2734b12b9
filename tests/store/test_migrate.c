/* Migrations: fresh, from older with a copy kept, and everything that is refused. */
#include "store/store_internal.h"
#include "store_test.h"

static const char BASE[] =
	"CREATE TABLE setting (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;"
	"CREATE TABLE change_log (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER,"
	" id INTEGER, group_id INTEGER, gained INTEGER, at_unix INTEGER);"
	"CREATE TABLE parent (id INTEGER PRIMARY KEY);"
	"CREATE TABLE child (id INTEGER REFERENCES parent (id));";
static const char SECOND[] = "ALTER TABLE parent ADD COLUMN note TEXT NOT NULL DEFAULT 'second';"
			     "INSERT INTO parent (id) VALUES (7);";
static const char THIRD[] = "CREATE TABLE third (a INTEGER);";

#define FILE_OF(name, text)                                                                        \
	{                                                                                          \
		"migrations/" name, text, sizeof text - 1                                          \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}
#define WEB                                                                                        \
	{                                                                                          \
		"web/page.html", "<p>", 3                                                          \
	}

static const struct embedded_file one[] = {FILE_OF("0001_base.sql", BASE), WEB, END};
static const struct embedded_file two[] = {FILE_OF("0001_base.sql", BASE),
					   FILE_OF("0002_second.sql", SECOND), WEB, END};
static const struct embedded_file three[] = {FILE_OF("0001_base.sql", BASE),
					     FILE_OF("0002_second.sql", SECOND),
					     FILE_OF("0003_third.sql", THIRD), END};

static struct problem problem;

static enum res try_open(const struct embedded_file *files, struct store **store)
{
	struct store_config config = config_of(&clock_system);

	memset(&problem, 0, sizeof problem);
	return store_open_with(&config, files, store, &problem);
}

static void migrate_to(const struct embedded_file *files)
{
	struct store *store;

	quiet(true);
	if (try_open(files, &store) != RES_OK)
		TEST_FAIL("%s: %s", problem.code, problem.detail);
	quiet(false);
	store_close(store);
}

static void refused(const struct embedded_file *files, enum res want, const char *code)
{
	struct store *store;

	quiet(true);
	CHECK_INT(try_open(files, &store), want);
	quiet(false);
	CHECK(store == NULL);
	CHECK_TEXT(problem.code, code);
	CHECK(strlen(problem.detail) > 20);
}

static const char *beside(const char *tail)
{
	static char name[128];

	snprintf(name, sizeof name, "%s%s", db_path, tail);
	return name;
}

static bool there(const char *tail)
{
	return access(beside(tail), F_OK) == 0;
}

static void outside_exec(const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

static void test_fresh(void)
{
	dir_new();
	migrate_to(two);
	CHECK_INT(outside_i64(db_path, "PRAGMA user_version"), 2);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM migration"), 2);
	CHECK_INT(outside_i64(db_path, "SELECT id FROM parent WHERE note = 'second'"), 7);
	CHECK_INT(outside_i64(db_path, "SELECT applied_unix > 1600000000 FROM migration"), 1);
	CHECK(!there(".before-0001") && !there(".before-0002") && !there(".new"));
	migrate_to(two);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM migration"), 2);
}

static void test_from_older(void)
{
	struct stat st;
	int64_t id_kept;

	dir_new();
	migrate_to(one);
	outside_exec("INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1)");
	id_kept = outside_i64(db_path, "SELECT count(*) FROM setting WHERE key = 'store_id'");
	migrate_to(three);
	CHECK_INT(id_kept, 1);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM setting WHERE key = 'store_id'"), 1);
	CHECK_INT(outside_i64(db_path, "PRAGMA user_version"), 3);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM parent WHERE note = 'second'"), 3);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM third"), 0);
	/* The copy is the file as it was, for its owner only, and a database of its own. */
	CHECK(there(".before-0002") && !there(".before-0003") && !there(".before-new"));
	CHECK_INT(stat(beside(".before-0002"), &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(outside_i64(beside(".before-0002"), "PRAGMA user_version"), 1);
	CHECK_INT(outside_i64(beside(".before-0002"), "SELECT count(*) FROM parent"), 2);
	CHECK_INT(outside_i64(beside(".before-0002"), "SELECT count(*) FROM pragma_integrity_check"
						      " WHERE integrity_check <> 'ok'"),
		  0);
	/* Put back under its name, the older program takes it. */
	CHECK_INT(rename(beside(".before-0002"), db_path), 0);
	unlink(beside("-wal"));
	unlink(beside("-shm"));
	migrate_to(one);
}

/* What is only in the log is in the copy too. */
static void test_copy_holds_the_log(void)
{
	sqlite3 *db;

	dir_new();
	migrate_to(one);
	CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "PRAGMA wal_autocheckpoint = 0; INSERT INTO parent VALUES (5)",
			       NULL, NULL, NULL),
		  SQLITE_OK);
	sqlite3_close(db);
	CHECK(there("-wal"));
	migrate_to(two);
	CHECK_INT(outside_i64(beside(".before-0002"), "SELECT id FROM parent"), 5);
}

static void test_newer(void)
{
	dir_new();
	migrate_to(three);
	refused(two, RES_CONFLICT, "newer_database");
	CHECK(strstr(problem.detail, "version 3") && strstr(problem.detail, "up to 2"));
	CHECK_INT(outside_i64(db_path, "PRAGMA user_version"), 3);
	migrate_to(three);
}

static void test_edited(void)
{
	static const char edited[] = "CREATE TABLE third (a INTEGER); ";
	static const struct embedded_file other_text[] = {FILE_OF("0001_base.sql", BASE),
							  FILE_OF("0002_second.sql", SECOND),
							  FILE_OF("0003_third.sql", edited), END};
	static const struct embedded_file other_name[] = {FILE_OF("0001_base.sql", BASE),
							  FILE_OF("0002_other.sql", SECOND),
							  FILE_OF("0003_third.sql", THIRD), END};

	dir_new();
	migrate_to(three);
	refused(other_text, RES_CONFLICT, "migration_edited");
	CHECK(strstr(problem.detail, "0003_third.sql") != NULL);
	refused(other_name, RES_CONFLICT, "migration_edited");
	migrate_to(three);
}

static void test_list_does_not_fit(void)
{
	dir_new();
	migrate_to(two);
	outside_exec("DELETE FROM migration WHERE number = 2");
	refused(two, RES_CORRUPT, "database_damaged");
	outside_exec("INSERT INTO migration VALUES (9, 'x', x'00', 0)");
	refused(two, RES_CONFLICT, "migration_edited");
	outside_exec("DROP TABLE migration");
	refused(two, RES_CORRUPT, "database_damaged");
	outside_exec("PRAGMA user_version = 0");
	refused(two, RES_CORRUPT, "database_damaged");
	outside_exec("PRAGMA user_version = -1");
	refused(two, RES_CORRUPT, "database_damaged");
	dir_new();
	migrate_to(two);
	outside_exec("PRAGMA user_version = 1");
	refused(two, RES_CORRUPT, "database_damaged");
	dir_new();
	migrate_to(two);
	outside_exec("PRAGMA application_id = 0");
	refused(two, RES_CONFLICT, "foreign_database");
}

/* One that fails half-way leaves nothing, and the copy stays. */
static void test_failing(void)
{
	static const char bad[] =
		"CREATE TABLE half (a); INSERT INTO half VALUES (1); SELECT nonsense;";
	static const char orphan[] = "INSERT INTO child VALUES (999);";
	static const char commits[] = "CREATE TABLE half (a); COMMIT;";
	static const struct embedded_file with_bad[] = {FILE_OF("0001_base.sql", BASE),
							FILE_OF("0002_bad.sql", bad), END};
	static const struct embedded_file with_orphan[] = {FILE_OF("0001_base.sql", BASE),
							   FILE_OF("0002_orphan.sql", orphan), END};
	static const struct embedded_file with_commit[] = {
		FILE_OF("0001_base.sql", BASE), FILE_OF("0002_commit.sql", commits), END};

	dir_new();
	migrate_to(one);
	refused(with_bad, RES_INTERNAL, "migration_failed");
	CHECK(strstr(problem.detail, "0002_bad.sql") != NULL);
	CHECK(there(".before-0002"));
	CHECK_INT(outside_i64(db_path, "PRAGMA user_version"), 1);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"),
		  0);
	refused(with_orphan, RES_CONFLICT, "migration_failed");
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM child"), 0);
	migrate_to(two);
	/* Caught; what it committed by itself is there, so such a file never passes its first test.
	 */
	dir_new();
	migrate_to(one);
	refused(with_commit, RES_INTERNAL, "migration_failed");
}

static void test_failing_at_creation(void)
{
	static const char bad[] = "SELECT nonsense;";
	static const struct embedded_file with_bad[] = {FILE_OF("0001_base.sql", BASE),
							FILE_OF("0002_bad.sql", bad), END};

	dir_new();
	refused(with_bad, RES_INTERNAL, "migration_failed");
	CHECK(!there("") && !there(".new") && !there(".new-wal") && !there(".new-shm"));
	migrate_to(one);
}

static void test_wrong_numbers(void)
{
	static const struct embedded_file gap[] = {FILE_OF("0001_base.sql", BASE),
						   FILE_OF("0003_third.sql", THIRD), END};
	static const struct embedded_file twice[] = {FILE_OF("0001_base.sql", BASE),
						     FILE_OF("0001_third.sql", THIRD), END};
	static const struct embedded_file none[] = {WEB, END};

	dir_new();
	refused(gap, RES_INTERNAL, "bad_migrations");
	refused(twice, RES_INTERNAL, "bad_migrations");
	refused(none, RES_INTERNAL, "bad_migrations");
	CHECK(!there(""));
}

/* A creation that was cut off is begun anew. */
static void test_leftovers(void)
{
	FILE *out;

	dir_new();
	out = fopen(beside(".new"), "w");
	CHECK(out && fputs("half a database", out) >= 0 && fclose(out) == 0);
	out = fopen(beside(".new-wal"), "w");
	CHECK(out && fputs("and its log", out) >= 0 && fclose(out) == 0);
	migrate_to(two);
	CHECK(!there(".new") && !there(".new-wal"));
}

/* The copy cannot be made: nothing is changed. */
static void test_no_copy(void)
{
	dir_new();
	migrate_to(one);
	CHECK_INT(mkdir(beside(".before-new"), 0700), 0);
	refused(two, RES_IO, "cannot_copy_database");
	CHECK_INT(outside_i64(db_path, "PRAGMA user_version"), 1);
	rmdir(beside(".before-new"));
	CHECK_INT(symlink("/dev/null", beside(".before-new")), 0);
	refused(two, RES_IO, "cannot_copy_database");
	migrate_to(two);
}

/* The program's own. */
static void test_own(void)
{
	struct store *store;

	dir_new();
	store = open_store();
	CHECK_INT(read_i64(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	CHECK_INT(
		read_i64(store,
			 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE"
			 " '%STRICT%' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE "
			 "'user_search%'"),
		0);
	store_close(store);
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM pragma_integrity_check"
				       " WHERE integrity_check <> 'ok'"),
		  0);
}

TEST_MAIN(TEST(test_fresh), TEST(test_from_older), TEST(test_copy_holds_the_log), TEST(test_newer),
	  TEST(test_edited), TEST(test_list_does_not_fit), TEST(test_failing),
	  TEST(test_failing_at_creation), TEST(test_wrong_numbers), TEST(test_leftovers),
	  TEST(test_no_copy), TEST(test_own))
