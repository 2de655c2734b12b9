#include "hythe/store/idempotency.h"

#include "hythe/store/conn.h"

enum { IDEMPOTENCY_FIND, IDEMPOTENCY_PUT };

static const char *const SQL[] = {
	[IDEMPOTENCY_FIND] =
		"SELECT request_hash, status, resource, revision, created_unix FROM idempotency"
		" WHERE actor = ?1 AND key = ?2 AND created_unix >= ?3",
	[IDEMPOTENCY_PUT] = "INSERT OR REPLACE INTO idempotency"
			    " (actor, key, request_hash, status, resource, revision, created_unix)"
			    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
};

enum res idempotency_find(struct conn *conn, const char *actor, const char *key, int64_t since_unix,
			  struct arena *arena, struct idempotency_row *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[IDEMPOTENCY_FIND]);
	enum res res;

	*out = (struct idempotency_row){.actor = actor, .key = key};
	bind_text(st, 1, actor);
	bind_text(st, 2, key);
	bind_i64(st, 3, since_unix);
	if ((res = stmt_row(conn, st)) != RES_OK)
		goto out;
	out->status = column_i64(st, 1);
	out->resources = column_text(st, 2, arena);
	out->revision = column_i64(st, 3);
	out->created_unix = column_i64(st, 4);
	if (!column_blob(st, 0, out->request_hash, sizeof out->request_hash))
		res = RES_CORRUPT;
	else if (!out->resources)
		res = RES_NOMEM;
out:
	stmt_end(conn, st);
	return res;
}

enum res idempotency_put(struct conn *conn, const struct idempotency_row *row)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[IDEMPOTENCY_PUT]);

	bind_text(st, 1, row->actor);
	bind_text(st, 2, row->key);
	bind_blob(st, 3, row->request_hash, sizeof row->request_hash);
	bind_i64(st, 4, row->status);
	bind_text(st, 5, row->resources);
	bind_i64(st, 6, row->revision);
	bind_i64(st, 7, row->created_unix);
	return stmt_run(conn, st);
}
