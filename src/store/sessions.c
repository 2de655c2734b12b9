#include "hythe/store/sessions.h"

#include "hythe/store/conn.h"
#include "rows.h"

enum {
	SESSION_INSERT,
	SESSION_BY_TOKEN,
	SESSION_PAGE,
	SESSION_TOUCH,
	SESSION_DELETE,
	SESSION_DELETE_OWN,
	SESSION_DROP
};

static const char *const SQL[] = {
	[SESSION_INSERT] =
		"INSERT INTO admin_session (public_id, admin_id, token_hash, created_unix,"
		" last_seen_unix, expires_unix, address, user_agent)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[SESSION_BY_TOKEN] =
		"SELECT s.id, s.admin_id, s.last_seen_unix, s.expires_unix, a.public_id, a.role,"
		" a.enabled FROM admin_session AS s JOIN admin AS a ON a.id = s.admin_id"
		" WHERE s.token_hash = ?1",
	[SESSION_PAGE] =
		"SELECT id, public_id, admin_id, created_unix, last_seen_unix, expires_unix,"
		" address, user_agent FROM admin_session"
		" WHERE admin_id = ?1 ORDER BY id DESC LIMIT ?2",
	[SESSION_TOUCH] = ("UPDATE admin_session SET last_seen_unix = ?2"
			   " WHERE id = ?1 AND last_seen_unix < ?2"),
	[SESSION_DELETE] = "DELETE FROM admin_session WHERE id = ?1",
	[SESSION_DELETE_OWN] = "DELETE FROM admin_session WHERE admin_id = ?1 AND public_id = ?2",
	[SESSION_DROP] = "DELETE FROM admin_session WHERE admin_id = ?1 AND id <> ?2",
};

enum res session_insert(struct conn *conn, struct session *session,
			const uint8_t token_hash[static SHA256_LEN])
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SESSION_INSERT]);
	enum res res;

	bind_text(st, 1, session->public_id.text);
	bind_i64(st, 2, session->admin_id);
	bind_blob(st, 3, token_hash, SHA256_LEN);
	bind_i64(st, 4, session->created_unix);
	bind_i64(st, 5, session->last_seen_unix);
	bind_i64(st, 6, session->expires_unix);
	bind_text(st, 7, session->address);
	bind_text(st, 8, session->user_agent);
	if ((res = stmt_run(conn, st)) == RES_OK)
		session->id = conn_insert_id(conn);
	return res;
}

enum res session_by_token(struct conn *conn, const uint8_t token_hash[static SHA256_LEN],
			  struct session_found *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SESSION_BY_TOKEN]);
	enum res res;

	*out = (struct session_found){0};
	bind_blob(st, 1, token_hash, SHA256_LEN);
	if ((res = stmt_row(conn, st)) != RES_OK)
		goto out;
	out->id = column_i64(st, 0);
	out->admin_id = column_i64(st, 1);
	out->last_seen_unix = column_i64(st, 2);
	out->expires_unix = column_i64(st, 3);
	out->enabled = column_i64(st, 6) != 0;
	column_public_id(st, 4, &out->admin);
	if (!column_copy(st, 5, out->role, sizeof out->role))
		res = RES_CORRUPT;
out:
	stmt_end(conn, st);
	return res;
}

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct session *out)
{
	*out = (struct session){
		.id = column_i64(st, 0),
		.admin_id = column_i64(st, 2),
		.created_unix = column_i64(st, 3),
		.last_seen_unix = column_i64(st, 4),
		.expires_unix = column_i64(st, 5),
		.address = column_text(st, 6, arena),
		.user_agent = column_text(st, 7, arena),
	};
	if (!out->address || !out->user_agent)
		return RES_NOMEM;
	column_public_id(st, 1, &out->public_id);
	return RES_OK;
}

enum res sessions_of_admin(struct conn *conn, int64_t admin_id, int64_t limit, struct arena *arena,
			   struct session **out, size_t *count)
{
	sqlite3_stmt *st;
	enum res res;

	*count = 0;
	*out = arena_alloc(arena, (size_t)limit * sizeof **out);
	if (!*out)
		return RES_NOMEM;
	st = conn_stmt(conn, SQL[SESSION_PAGE]);
	bind_i64(st, 1, admin_id);
	bind_i64(st, 2, limit);
	while ((res = stmt_row(conn, st)) == RES_OK && *count < (size_t)limit) {
		if ((res = read_row(st, arena, &(*out)[*count])) != RES_OK)
			break;
		++*count;
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res session_touch(struct conn *conn, int64_t id, int64_t now_unix)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SESSION_TOUCH]);

	bind_i64(st, 1, id);
	bind_i64(st, 2, now_unix);
	return stmt_run(conn, st);
}

static enum res found_one(struct conn *conn, enum res res)
{
	return res == RES_OK && conn_changes(conn) == 0 ? RES_NOT_FOUND : res;
}

enum res session_delete(struct conn *conn, int64_t id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SESSION_DELETE]);

	bind_i64(st, 1, id);
	return found_one(conn, stmt_run(conn, st));
}

enum res session_delete_own(struct conn *conn, int64_t admin_id, const char *public_id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SESSION_DELETE_OWN]);

	bind_i64(st, 1, admin_id);
	bind_text(st, 2, public_id);
	return found_one(conn, stmt_run(conn, st));
}

enum res sessions_drop(struct conn *conn, int64_t admin_id, int64_t keep_id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SESSION_DROP]);

	bind_i64(st, 1, admin_id);
	bind_i64(st, 2, keep_id);
	return stmt_run(conn, st);
}
