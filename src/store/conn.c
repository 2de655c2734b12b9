#include "store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "hythe/util/log.h"

/* The binding calls of conn.h know a statement and no connection, and SQLite forgets a failed bind
 * at the next good one. So the way back from a statement to its connection is this list; it is only
 * searched when a bind has failed. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER; /* leaf */
static struct conn *all;                                     /* guarded by all_lock */

void conn_enlist(struct conn *conn)
{
	pthread_mutex_lock(&all_lock);
	conn->next = all;
	all = conn;
	pthread_mutex_unlock(&all_lock);
}

void conn_delist(struct conn *conn)
{
	pthread_mutex_lock(&all_lock);
	for (struct conn **at = &all; *at; at = &(*at)->next) {
		if (*at == conn) {
			*at = conn->next;
			break;
		}
	}
	pthread_mutex_unlock(&all_lock);
}

static struct conn *all_find(const sqlite3 *db)
{
	struct conn *conn;

	pthread_mutex_lock(&all_lock);
	for (conn = all; conn && conn->db != db; conn = conn->next)
		;
	pthread_mutex_unlock(&all_lock);
	return conn;
}

/* --- Results --- */

enum res res_of_sqlite(int code)
{
	if (code == SQLITE_IOERR_NOMEM)
		return RES_NOMEM;
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return RES_OK;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_INTERRUPT: /* a reader's second is over */
		return RES_BUSY;
	case SQLITE_FULL:
		return RES_FULL;
	case SQLITE_NOMEM:
		return RES_NOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return RES_CORRUPT;
	case SQLITE_CONSTRAINT:
		return RES_CONFLICT;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return RES_IO;
	default:
		return RES_INTERNAL;
	}
}

/* A full-text index is beside the rows: what it lost or never held can be made anew from them, so
 * its damage is neither the group's nor the file's. Who can mends it (store/users.c). */
static bool is_of_index(struct conn *conn, int code)
{
	if (code != SQLITE_CORRUPT_VTAB || !conn->store)
		return false;
	atomic_store(&conn->store->index_damaged, true);
	return true;
}

bool conn_index_damaged(struct conn *conn)
{
	return conn->sick == RES_OK && conn->store && atomic_load(&conn->store->index_damaged);
}

void conn_index_mended(struct conn *conn)
{
	if (conn->store)
		atomic_store(&conn->store->index_damaged, false);
}

/* Only ENOSPC is SQLITE_FULL; a quota or a file size limit is the same to the operator. */
static bool no_space(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* SQLite says "disk I/O error" when there is no room for its shared memory file, and keeps no errno
 * of it. */
static bool disk_is_full(struct conn *conn)
{
	const char *path = sqlite3_db_filename(conn->db, "main");
	struct statvfs disk;

	return path && *path && statvfs(path, &disk) == 0 && disk.f_bavail == 0;
}

enum res conn_error(struct conn *conn, int code)
{
	enum res res = res_of_sqlite(code);
	int error = errno; /* a failed COMMIT is not in sqlite3_system_errno() */

	if (is_of_index(conn, code))
		return res;
	if (res == RES_IO && (no_space(error) || no_space(sqlite3_system_errno(conn->db)) ||
			      disk_is_full(conn)))
		res = RES_FULL;
	if (res == RES_IO || res == RES_FULL || res == RES_CORRUPT) {
		if (conn->sick == RES_OK)
			conn->sick = res;
	} else if (res != RES_INTERNAL) {
		return res;
	}
	log_error("store_error", "code=%d text=%s", code, log_quote(sqlite3_errmsg(conn->db)));
	return res;
}

/* --- Statements --- */

static struct conn_slot *slot_find(struct conn *conn, const char *sql)
{
	for (unsigned i = 0; i < conn->slots_used; i++)
		if (conn->slots[i].sql == sql)
			return &conn->slots[i];
	return NULL;
}

static void slot_drop(struct conn_slot *slot)
{
	sqlite3_finalize(slot->st);
	*slot = (struct conn_slot){0};
}

/* Room for one more: a fresh slot, or the one that nobody asked for the longest time. NULL when all
 * are in use. */
static struct conn_slot *slot_free(struct conn *conn)
{
	struct conn_slot *oldest = NULL;

	if (conn->slots_used < conn->slots_max)
		return &conn->slots[conn->slots_used++];
	for (unsigned i = 0; i < conn->slots_used; i++) {
		struct conn_slot *slot = &conn->slots[i];

		if (!slot->busy && (!oldest || slot->used_at < oldest->used_at))
			oldest = slot;
	}
	if (oldest)
		slot_drop(oldest);
	return oldest;
}

static sqlite3_stmt *prepare(struct conn *conn, const char *sql, unsigned flags)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v3(conn->db, sql, -1, flags, &st, NULL);

	if (code != SQLITE_OK) {
		conn->prepare_res = conn_error(conn, code);
		if (conn->prepare_res == RES_INTERNAL)
			log_error("store_bad_sql", "sql=%s", log_quote(sql));
		return NULL;
	}
	return st;
}

/* After SQLite itself has undone a transaction, a job's next statement would be committed alone. */
static bool may_run(struct conn *conn)
{
	if (conn->in_group && sqlite3_get_autocommit(conn->db)) {
		conn->prepare_res = conn->sick != RES_OK ? conn->sick : RES_NOMEM;
		return false;
	}
	if (conn->deadline_ms && clock_mono_ms(conn->store->clock) >= conn->deadline_ms) {
		conn->prepare_res = RES_BUSY;
		return false;
	}
	return true;
}

sqlite3_stmt *conn_stmt(struct conn *conn, const char *sql)
{
	struct conn_slot *slot = slot_find(conn, sql);
	sqlite3_stmt *st;

	if (!may_run(conn))
		return NULL;
	/* The same statement inside itself, or the 33rd at a time, gets a handle for once. */
	if (slot && slot->busy)
		return prepare(conn, sql, 0);
	/* Known by address; but text made on the fly may come again at the same one. */
	if (slot && strcmp(sqlite3_sql(slot->st), sql) == 0) {
		slot->busy = true;
		slot->used_at = ++conn->ticks;
		return slot->st;
	}
	if (!slot)
		slot = slot_free(conn);
	else
		slot_drop(slot);
	st = prepare(conn, sql, slot ? SQLITE_PREPARE_PERSISTENT : 0);
	if (slot && st)
		*slot = (struct conn_slot){sql, st, ++conn->ticks, true};
	return st;
}

void stmt_end(struct conn *conn, sqlite3_stmt *st)
{
	if (!st)
		return;
	for (unsigned i = 0; i < conn->slots_used; i++) {
		if (conn->slots[i].st == st) {
			sqlite3_reset(st);
			sqlite3_clear_bindings(st);
			conn->slots[i].busy = false;
			return;
		}
	}
	sqlite3_finalize(st);
}

void conn_settle(struct conn *conn)
{
	for (unsigned i = 0; i < conn->slots_used; i++)
		if (conn->slots[i].busy)
			stmt_end(conn, conn->slots[i].st);
	conn->bind_res = RES_OK;
}

void conn_forget_statements(struct conn *conn)
{
	/* Only ours: full-text tables keep statements of their own on the connection. */
	for (unsigned i = 0; i < conn->slots_used; i++)
		slot_drop(&conn->slots[i]);
}

enum res stmt_row(struct conn *conn, sqlite3_stmt *st)
{
	enum res bound = conn->bind_res;
	int code;

	if (!st)
		return conn->prepare_res;
	conn->bind_res = RES_OK;
	if (bound != RES_OK)
		return bound;
	if (conn->in_group && !may_run(conn))
		return conn->prepare_res;
	errno = 0;
	code = sqlite3_step(st);
	if (code == SQLITE_ROW)
		return RES_OK;
	if (code == SQLITE_DONE)
		return RES_NOT_FOUND;
	return conn_error(conn, code);
}

enum res stmt_run(struct conn *conn, sqlite3_stmt *st)
{
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK)
		;
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res conn_exec(struct conn *conn, const char *sql)
{
	return stmt_run(conn, conn_stmt(conn, sql));
}

enum res conn_exec_all(struct conn *conn, const char *sql)
{
	int code = sqlite3_exec(conn->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? RES_OK : conn_error(conn, code);
}

sqlite3 *conn_db(struct conn *conn)
{
	return conn->db;
}

int64_t conn_changes(struct conn *conn)
{
	return sqlite3_changes64(conn->db);
}

int64_t conn_insert_id(struct conn *conn)
{
	return sqlite3_last_insert_rowid(conn->db);
}

/* --- Parameters and columns --- */

static void bound(sqlite3_stmt *st, int code)
{
	struct conn *conn;

	if (code == SQLITE_OK || !st)
		return;
	conn = all_find(sqlite3_db_handle(st));
	if (conn && conn->bind_res == RES_OK)
		conn->bind_res = conn_error(conn, code);
}

void bind_i64(sqlite3_stmt *st, int index, int64_t value)
{
	if (st)
		bound(st, sqlite3_bind_int64(st, index, value));
}

void bind_text(sqlite3_stmt *st, int index, const char *text)
{
	bind_text_n(st, index, text ? text : "", text ? strlen(text) : 0);
}

void bind_text_n(sqlite3_stmt *st, int index, const char *text, size_t len)
{
	if (st)
		bound(st, sqlite3_bind_text64(st, index, text ? text : "", len, SQLITE_STATIC,
					      SQLITE_UTF8));
}

void bind_blob(sqlite3_stmt *st, int index, const void *data, size_t len)
{
	if (!st)
		return;
	if (len == 0) /* a NULL pointer would bind NULL */
		bound(st, sqlite3_bind_zeroblob(st, index, 0));
	else
		bound(st, sqlite3_bind_blob64(st, index, data, len, SQLITE_STATIC));
}

void bind_null(sqlite3_stmt *st, int index)
{
	if (st)
		bound(st, sqlite3_bind_null(st, index));
}

const char *column_text(sqlite3_stmt *st, int column, struct arena *arena)
{
	const unsigned char *text;

	if (sqlite3_column_type(st, column) == SQLITE_NULL)
		return "";
	text = sqlite3_column_text(st, column);
	if (!text)
		return NULL;
	return arena_dup(arena, (const char *)text, (size_t)sqlite3_column_bytes(st, column));
}

int64_t column_i64(sqlite3_stmt *st, int column)
{
	return sqlite3_column_int64(st, column);
}

bool column_blob(sqlite3_stmt *st, int column, void *out, size_t len)
{
	const void *data = sqlite3_column_blob(st, column);

	if (len > 0)
		memset(out, 0, len);
	if (sqlite3_column_type(st, column) != SQLITE_BLOB ||
	    (size_t)sqlite3_column_bytes(st, column) != len || (len > 0 && !data))
		return false;
	if (len > 0)
		memcpy(out, data, len);
	return true;
}
