#include "hythe/store/credentials.h"

#include "hythe/store/conn.h"
#include "rows.h"

enum {
	NEWEST,
	NEWEST_ENDING,
	ALL,
	BY_HASH,
	INSERT,
	SET_END,
	DELETE_ONE,
	DELETE_ALL,
	DELETE_ENDED,
	STATEMENTS
};

#define COLUMNS "id, user_id, hash, sealed, not_after_unix, created_unix"

static const char *const SQL[STATEMENTS] = {
	[NEWEST] = "SELECT " COLUMNS " FROM credential WHERE user_id = ?1 AND not_after_unix = 0"
		   " ORDER BY id DESC LIMIT 1",
	[NEWEST_ENDING] = "SELECT " COLUMNS " FROM credential WHERE user_id = ?1"
			  " AND not_after_unix > ?2 ORDER BY id DESC LIMIT 1",
	[ALL] = "SELECT " COLUMNS " FROM credential WHERE user_id = ?1 ORDER BY hash",
	[BY_HASH] = "SELECT " COLUMNS " FROM credential WHERE hash = ?1",
	[INSERT] = "INSERT INTO credential (user_id, hash, sealed, not_after_unix, created_unix)"
		   " VALUES (?1, ?2, ?3, ?4, ?5)",
	[SET_END] = "UPDATE credential SET not_after_unix = ?2 WHERE id = ?1",
	[DELETE_ONE] = "DELETE FROM credential WHERE id = ?1",
	[DELETE_ALL] = "DELETE FROM credential WHERE user_id = ?1",
	/* With those whose hash a hand has spoilt: no node can know them. */
	[DELETE_ENDED] = "DELETE FROM credential WHERE user_id = ?1"
			 " AND ((not_after_unix > 0 AND not_after_unix <= ?2) OR length(hash) <> 32)",
};

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct credential *out)
{
	out->id = column_i64(st, 0);
	out->user_id = column_i64(st, 1);
	if (!column_blob(st, 2, out->hash, sizeof out->hash))
		return RES_CORRUPT;
	if (!column_bytes(st, 3, arena, &out->sealed, &out->sealed_len))
		return RES_NOMEM;
	out->not_after_unix = column_i64(st, 4);
	out->created_unix = column_i64(st, 5);
	return RES_OK;
}

static enum res one(struct conn *conn, sqlite3_stmt *st, struct arena *arena,
		    struct credential *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res user_credential(struct conn *conn, int64_t user_id, int64_t now_unix, struct arena *arena,
			 struct credential *out)
{
	/* Two walks of one index, and the second hardly ever: an order over both would be sorted. */
	sqlite3_stmt *st = conn_stmt(conn, SQL[NEWEST]);
	enum res res;

	bind_i64(st, 1, user_id);
	if ((res = one(conn, st, arena, out)) != RES_NOT_FOUND)
		return res;
	st = conn_stmt(conn, SQL[NEWEST_ENDING]);
	bind_i64(st, 1, user_id);
	bind_i64(st, 2, now_unix);
	return one(conn, st, arena, out);
}

enum res credential_by_hash(struct conn *conn, const uint8_t hash[32], struct arena *arena,
			    struct credential *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_HASH]);

	bind_blob(st, 1, hash, 32);
	return one(conn, st, arena, out);
}

enum res user_credentials(struct conn *conn, int64_t user_id, struct arena *arena,
			  struct credential **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ALL]);
	void *rows = NULL;
	size_t cap = 0;
	enum res res;

	*count = 0;
	bind_i64(st, 1, user_id);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct credential *credential =
			rows_more(arena, &rows, *count, &cap, sizeof *credential);

		if ((res = credential ? read_row(st, arena, credential) : RES_NOMEM) != RES_OK)
			break;
		++*count;
	}
	stmt_end(conn, st);
	*list = rows;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res credential_insert(struct conn *conn, const struct credential *credential)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);

	bind_i64(st, 1, credential->user_id);
	bind_blob(st, 2, credential->hash, sizeof credential->hash);
	bind_blob(st, 3, credential->sealed, credential->sealed_len);
	bind_i64(st, 4, credential->not_after_unix);
	bind_i64(st, 5, credential->created_unix);
	return stmt_run(conn, st);
}

static enum res run(struct conn *conn, const char *sql, int64_t id, int64_t value)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);

	bind_i64(st, 1, id);
	bind_i64(st, 2, value);
	return stmt_run(conn, st);
}

enum res credential_set_end(struct conn *conn, int64_t id, int64_t not_after_unix)
{
	return run(conn, SQL[SET_END], id, not_after_unix);
}

enum res credential_delete(struct conn *conn, int64_t id)
{
	return rows_run_id(conn, SQL[DELETE_ONE], id);
}

enum res credentials_delete(struct conn *conn, int64_t user_id)
{
	return rows_run_id(conn, SQL[DELETE_ALL], user_id);
}

enum res credentials_delete_ended(struct conn *conn, int64_t user_id, int64_t now_unix)
{
	return run(conn, SQL[DELETE_ENDED], user_id, now_unix);
}
