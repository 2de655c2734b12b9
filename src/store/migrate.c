#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files_internal.h"
#include "hythe/util/hash.h"
#include "hythe/util/log.h"
#include "hythe/util/num.h"

#define PREFIX         "migrations/"
#define MIGRATIONS_MAX 9999

/* One migration as the program carries it. */
struct migration {
	int64_t number;
	const char *name; /* "0001_panel.sql" */
	const char *sql;
	uint8_t sha256[SHA256_LEN];
};

struct migration_list {
	struct migration *items;
	size_t count;
};

/* --- What the program carries --- */

static bool is_migration(const struct embedded_file *file)
{
	return strncmp(file->path, PREFIX, sizeof PREFIX - 1) == 0;
}

/* Files come sorted by path; numbers must be 1, 2, 3, ... */
static enum res list_read(const struct embedded_file *files, struct migration_list *list,
			  struct problem *problem)
{
	size_t count = 0;

	for (const struct embedded_file *file = files; file->path; file++)
		count += is_migration(file);
	list->items = calloc(count + 1, sizeof *list->items);
	if (!list->items)
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	for (const struct embedded_file *file = files; file->path; file++) {
		struct migration *item = &list->items[list->count];

		if (!is_migration(file))
			continue;
		item->name = file->path + sizeof PREFIX - 1;
		item->sql = file->data;
		item->number = strtol(item->name, NULL, 10);
		hash_sha256(file->data, file->len, item->sha256);
		if (item->number != (int64_t)++list->count || item->number > MIGRATIONS_MAX)
			return problem_set(
				problem, RES_INTERNAL, "bad_migrations", NULL,
				"This program was built wrongly: its migration %.80s does not "
				"follow the one before.",
				item->name);
	}
	if (list->count == 0)
		return problem_set(problem, RES_INTERNAL, "bad_migrations", NULL,
				   "This program was built without its migrations.");
	return RES_OK;
}

/* --- What the file says --- */

static enum res damaged(struct problem *problem, const char *path, const char *what)
{
	return problem_set(problem, RES_CORRUPT, "database_damaged", NULL,
			   "The database %.100s is damaged: %.60s. Restore a backup.", path, what);
}

/* Says what became of an SQL call on the database that is being opened. */
static enum res failed(struct problem *problem, const char *path, struct conn *conn, enum res res)
{
	const char *text = sqlite3_errmsg(conn->db);

	if (res == RES_CORRUPT)
		return damaged(problem, path, text);
	return problem_set(problem, res, res == RES_FULL ? "disk_full" : "cannot_open_database",
			   NULL, "The database %.100s cannot be opened: %.100s.", path, text);
}

static uint32_t big_endian(const uint8_t bytes[4])
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

enum res migrate_check_header(const char *path, struct problem *problem)
{
	uint8_t header[100];
	struct stat st;
	ssize_t len = 0;
	int error = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) != 0 || (len = pread(fd, header, sizeof header, 0)) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (error)
		return problem_set(problem, res_of_errno(error), "cannot_open_database", NULL,
				   "The database %.120s cannot be read: %s.", path,
				   strerror(error));
	if (len == 0)
		return damaged(problem, path, "the file is empty");
	if (len < (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
		return problem_set(
			problem, RES_CORRUPT, "not_a_database", NULL,
			"%.120s is no database. Restore a backup, or name another data directory.",
			path);
	if (big_endian(header + 68) != STORE_APPLICATION_ID)
		return problem_set(
			problem, RES_CONFLICT, "foreign_database", NULL,
			"%.120s belongs to another program. Name another data directory.", path);
	return RES_OK;
}

static enum res read_int(struct conn *conn, const char *sql, int64_t *value)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		*value = column_i64(st, 0);
	stmt_end(conn, st);
	return res;
}

static enum res check_row(sqlite3_stmt *st, const struct migration *item, struct problem *problem)
{
	const char *name = (const char *)sqlite3_column_text(st, 1);
	uint8_t sha256[SHA256_LEN];

	if (column_i64(st, 0) == item->number && name && strcmp(name, item->name) == 0 &&
	    column_blob(st, 2, sha256, sizeof sha256) &&
	    memcmp(sha256, item->sha256, sizeof sha256) == 0)
		return RES_OK;
	return problem_set(
		problem, RES_CONFLICT, "migration_edited", NULL,
		"The database was made with another text of migration %.60s than this program "
		"carries. Use the program that made it.",
		item->name);
}

/* What was applied must be what we carry, byte for byte. */
static enum res check_applied(struct conn *conn, const char *path,
			      const struct migration_list *list, int64_t applied,
			      struct problem *problem)
{
	sqlite3_stmt *st =
		conn_stmt(conn, "SELECT number, name, sha256 FROM migration ORDER BY number");
	int64_t rows = 0;
	enum res res, fits = RES_OK;

	while ((res = stmt_row(conn, st)) == RES_OK && fits == RES_OK && rows < applied)
		fits = check_row(st, &list->items[rows++], problem);
	stmt_end(conn, st);
	if (fits != RES_OK)
		return fits;
	if (res == RES_NOT_FOUND && rows == applied)
		return RES_OK;
	if (res == RES_OK || res == RES_NOT_FOUND || res == RES_INTERNAL)
		return damaged(problem, path, "its list of migrations does not fit its version");
	return failed(problem, path, conn, res);
}

/* --- The copy before --- */

static int copy_pages(struct conn *conn, sqlite3 *to)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", conn->db, "main");
	int code = backup ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to);

	if (backup)
		sqlite3_backup_finish(backup);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static enum res copy_to(struct conn *conn, const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	sqlite3 *to = NULL;
	int code;

	if (fd < 0 || fchmod(fd, 0600) != 0) {
		int error = errno;

		if (fd >= 0)
			close(fd);
		return res_of_errno(error);
	}
	close(fd);
	code = sqlite3_open_v2(name, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code == SQLITE_OK)
		code = copy_pages(conn, to);
	sqlite3_close_v2(to);
	return code == SQLITE_OK ? file_sync(name) : res_of_sqlite(code);
}

/* hythe.db.before-0002, whole or not there. */
static enum res keep_copy(struct conn *conn, const char *path, int64_t number,
			  struct problem *problem)
{
	char tail[32];
	char *making = path_with(path, ".before-new"), *name;
	enum res res = RES_NOMEM;

	snprintf(tail, sizeof tail, ".before-%04" PRId64, number);
	name = path_with(path, tail);
	if (making && name && (res = copy_to(conn, making)) == RES_OK && rename(making, name) != 0)
		res = res_of_errno(errno);
	if (res == RES_OK)
		res = dir_sync(path);
	if (res == RES_OK) {
		log_info("store_copy_kept", "file=%s", log_quote(name));
	} else {
		if (making)
			unlink(making);
		problem_set(problem, res, "cannot_copy_database", NULL,
			    "Before the database %.100s is brought up to date a copy is made "
			    "beside it, and that failed: %s.",
			    path, res_text(res));
	}
	free(making);
	free(name);
	return res;
}

/* --- Applying --- */

static const char FIRST[] = "CREATE TABLE migration ("
			    " number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
			    " sha256 BLOB NOT NULL, applied_unix INTEGER NOT NULL) STRICT;"
			    "PRAGMA application_id = 1215919208;"; /* STORE_APPLICATION_ID */
_Static_assert(STORE_APPLICATION_ID == 1215919208, "the same number, as SQL wants it");

/* What the core itself keeps in `setting`. */
static enum res first_settings(struct conn *conn)
{
	uint8_t random[16];
	char id[HEX_LEN(sizeof random) + 1];
	sqlite3_stmt *st = conn_stmt(conn, "INSERT INTO setting (key, value)"
					   " VALUES ('store_id', ?1), ('log_floor', 0)");

	random_bytes(random, sizeof random);
	hex_encode(random, sizeof random, id);
	bind_text(st, 1, id);
	return stmt_run(conn, st);
}

static enum res note_applied(struct conn *conn, const struct migration *item, int64_t now_unix)
{
	sqlite3_stmt *st =
		conn_stmt(conn, "INSERT INTO migration (number, name, sha256, applied_unix)"
				" VALUES (?1, ?2, ?3, ?4)");
	char version[48];
	enum res res;

	bind_i64(st, 1, item->number);
	bind_text(st, 2, item->name);
	bind_blob(st, 3, item->sha256, sizeof item->sha256);
	bind_i64(st, 4, now_unix);
	if ((res = stmt_run(conn, st)) != RES_OK)
		return res;
	/* A pragma takes no parameter. */
	snprintf(version, sizeof version, "PRAGMA user_version = %" PRId64, item->number);
	return conn_exec_all(conn, version);
}

/* Foreign keys are off while a migration runs (it may rebuild tables): they are checked after. */
static enum res check_keys(struct conn *conn)
{
	int64_t unused;
	enum res res = read_int(conn, "SELECT 1 FROM pragma_foreign_key_check", &unused);

	return res == RES_NOT_FOUND ? RES_OK : res == RES_OK ? RES_CONFLICT : res;
}

static enum res apply_inside(struct conn *conn, const struct migration *item, bool fresh,
			     int64_t now_unix)
{
	enum res res;

	if (item->number == 1 && (res = conn_exec_all(conn, FIRST)) != RES_OK)
		return res;
	if ((res = conn_exec_all(conn, item->sql)) != RES_OK)
		return res;
	/* A COMMIT of its own would make it two transactions. */
	if (sqlite3_get_autocommit(conn->db))
		return RES_INTERNAL;
	if (item->number == 1 && (res = first_settings(conn)) != RES_OK)
		return res;
	if (!fresh && (res = check_keys(conn)) != RES_OK)
		return res;
	return note_applied(conn, item, now_unix);
}

static enum res apply(struct conn *conn, const char *path, const struct migration *item, bool fresh,
		      int64_t now_unix, struct problem *problem)
{
	enum res res = conn_exec_all(conn, "BEGIN IMMEDIATE");

	if (res == RES_OK && (res = apply_inside(conn, item, fresh, now_unix)) == RES_OK)
		res = conn_exec_all(conn, "COMMIT");
	if (res != RES_OK)
		problem_set(problem, res, "migration_failed", NULL,
			    "Migration %.60s of %.80s failed, nothing of it was kept: %.60s.",
			    item->name, path,
			    res == RES_CORRUPT || res == RES_INTERNAL ? sqlite3_errmsg(conn->db)
								      : res_text(res));
	if (!sqlite3_get_autocommit(conn->db))
		sqlite3_exec(conn->db, "ROLLBACK", NULL, NULL, NULL);
	if (res == RES_OK && !fresh)
		log_info("store_migrated", "name=%s", log_quote(item->name));
	return res;
}

static enum res apply_from(struct conn *conn, const char *path, const struct migration_list *list,
			   int64_t applied, bool fresh, int64_t now_unix, struct problem *problem)
{
	enum res res = RES_OK;

	sqlite3_db_config(conn->db, SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
	for (size_t i = (size_t)applied; res == RES_OK && i < list->count; i++)
		res = apply(conn, path, &list->items[i], fresh, now_unix, problem);
	sqlite3_db_config(conn->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	return res;
}

/* The file must keep a log beside it that readers and writer share. */
static enum res use_log(struct conn *conn, const char *path, struct problem *problem)
{
	sqlite3_stmt *st = conn_stmt(conn, "PRAGMA journal_mode = WAL");
	enum res res = stmt_row(conn, st);
	bool wal = res == RES_OK && strcmp((const char *)sqlite3_column_text(st, 0), "wal") == 0;

	stmt_end(conn, st);
	if (res != RES_OK)
		return failed(problem, path, conn, res);
	if (!wal)
		return problem_set(problem, RES_IO, "no_shared_memory", NULL,
				   "The file system of %.120s cannot hold a write-ahead log. Use a "
				   "local disk.",
				   path);
	return RES_OK;
}

enum res migrate(struct conn *conn, const char *path, const struct embedded_file *files, bool fresh,
		 const struct clock *clock, struct problem *problem)
{
	struct migration_list list = {0};
	int64_t applied = 0, last;
	enum res res;

	if ((res = list_read(files, &list, problem)) != RES_OK)
		goto out;
	last = (int64_t)list.count;
	if ((res = read_int(conn, "PRAGMA user_version", &applied)) != RES_OK) {
		failed(problem, path, conn, res);
		goto out;
	}
	if (applied > last) {
		res = problem_set(problem, RES_CONFLICT, "newer_database", NULL,
				  "The database %.100s has version %" PRId64
				  ", this program knows versions up to %" PRId64
				  ". Use the newer program that wrote it.",
				  path, applied, last);
		goto out;
	}
	if (!fresh && applied < 1) {
		res = damaged(problem, path, "it names no version");
		goto out;
	}
	if (applied > 0 && (res = check_applied(conn, path, &list, applied, problem)) != RES_OK)
		goto out;
	if (!fresh && (res = use_log(conn, path, problem)) != RES_OK)
		goto out;
	if (!fresh && applied < last &&
	    (res = keep_copy(conn, path, applied + 1, problem)) != RES_OK)
		goto out;
	if (applied < last)
		res = apply_from(conn, path, &list, applied, fresh, clock_unix(clock), problem);
out:
	free(list.items);
	return res;
}
