#include "hythe/store/tokens.h"

#include "hythe/store/conn.h"
#include "rows.h"

enum {
	TOKEN_INSERT,
	TOKEN_BY_HASH,
	TOKEN_BY_PUBLIC_ID,
	TOKEN_PAGE,
	TOKEN_PAGE_OWN,
	TOKEN_COUNT,
	TOKEN_TOUCH,
	TOKEN_DELETE
};

#define COLUMNS                                                                                    \
	"t.id, ifnull(t.admin_id, 0), t.public_id, t.name, t.rights, t.rate_per_s,"                \
	" t.created_unix, t.expires_unix, t.last_used_unix, ifnull(a.public_id, ''),"              \
	" ifnull(a.name, '')"
#define TABLES "api_token AS t LEFT JOIN admin AS a ON a.id = t.admin_id"

static const char *const SQL[] = {
	[TOKEN_INSERT] =
		"INSERT INTO api_token (public_id, name, admin_id, token_hash, rights, rate_per_s,"
		" created_unix, expires_unix) VALUES (?1, ?2, nullif(?3, 0), ?4, ?5, ?6, ?7, ?8)",
	[TOKEN_BY_HASH] =
		"SELECT t.id, ifnull(t.admin_id, 0), t.public_id, t.rights, t.rate_per_s,"
		" t.expires_unix, t.last_used_unix, ifnull(a.role, ''), ifnull(a.enabled, 1)"
		" FROM " TABLES " WHERE t.token_hash = ?1",
	[TOKEN_BY_PUBLIC_ID] = "SELECT " COLUMNS " FROM " TABLES " WHERE t.public_id = ?1",
	[TOKEN_PAGE] = "SELECT " COLUMNS " FROM " TABLES " WHERE t.id > ?1 ORDER BY t.id LIMIT ?2",
	[TOKEN_PAGE_OWN] = "SELECT " COLUMNS " FROM " TABLES
			   " WHERE t.id > ?1 AND t.admin_id = ?3 ORDER BY t.id LIMIT ?2",
	[TOKEN_COUNT] = "SELECT count(*) FROM api_token WHERE ?1 = -1 OR admin_id = ?1",
	[TOKEN_TOUCH] =
		"UPDATE api_token SET last_used_unix = ?2 WHERE id = ?1 AND last_used_unix < ?2",
	[TOKEN_DELETE] = "DELETE FROM api_token WHERE id = ?1",
};

enum res token_insert(struct conn *conn, struct api_token *token,
		      const uint8_t token_hash[static SHA256_LEN])
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOKEN_INSERT]);
	enum res res;

	bind_text(st, 1, token->public_id.text);
	bind_text(st, 2, token->name);
	bind_i64(st, 3, token->admin_id);
	bind_blob(st, 4, token_hash, SHA256_LEN);
	bind_i64(st, 5, token->rights);
	bind_i64(st, 6, token->rate_per_s);
	bind_i64(st, 7, token->created_unix);
	bind_i64(st, 8, token->expires_unix);
	if ((res = stmt_run(conn, st)) == RES_OK)
		token->id = conn_insert_id(conn);
	return res;
}

enum res token_by_hash(struct conn *conn, const uint8_t token_hash[static SHA256_LEN],
		       struct token_found *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOKEN_BY_HASH]);
	enum res res;

	*out = (struct token_found){0};
	bind_blob(st, 1, token_hash, SHA256_LEN);
	if ((res = stmt_row(conn, st)) != RES_OK)
		goto out;
	out->id = column_i64(st, 0);
	out->admin_id = column_i64(st, 1);
	out->rights = (uint32_t)column_i64(st, 3);
	out->rate_per_s = column_i64(st, 4);
	out->expires_unix = column_i64(st, 5);
	out->last_used_unix = column_i64(st, 6);
	out->enabled = column_i64(st, 8) != 0;
	column_public_id(st, 2, &out->public_id);
	if (!column_copy(st, 7, out->role, sizeof out->role))
		res = RES_CORRUPT;
out:
	stmt_end(conn, st);
	return res;
}

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct api_token *out)
{
	*out = (struct api_token){
		.id = column_i64(st, 0),
		.admin_id = column_i64(st, 1),
		.name = column_text(st, 3, arena),
		.rights = (uint32_t)column_i64(st, 4),
		.rate_per_s = column_i64(st, 5),
		.created_unix = column_i64(st, 6),
		.expires_unix = column_i64(st, 7),
		.last_used_unix = column_i64(st, 8),
		.admin_name = column_text(st, 10, arena),
	};
	if (!out->name || !out->admin_name)
		return RES_NOMEM;
	column_public_id(st, 2, &out->public_id);
	column_public_id(st, 9, &out->admin);
	return RES_OK;
}

enum res token_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			    struct api_token *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOKEN_BY_PUBLIC_ID]);
	enum res res;

	bind_text(st, 1, public_id);
	if ((res = stmt_row(conn, st)) == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res api_tokens_page(struct conn *conn, int64_t admin_id, int64_t after_id, int64_t limit,
			 struct arena *arena, struct api_token **out, size_t *count)
{
	sqlite3_stmt *st;
	enum res res;

	*count = 0;
	*out = arena_alloc(arena, (size_t)limit * sizeof **out);
	if (!*out)
		return RES_NOMEM;
	st = conn_stmt(conn, SQL[admin_id < 0 ? TOKEN_PAGE : TOKEN_PAGE_OWN]);
	bind_i64(st, 1, after_id);
	bind_i64(st, 2, limit);
	if (admin_id >= 0)
		bind_i64(st, 3, admin_id);
	while ((res = stmt_row(conn, st)) == RES_OK && *count < (size_t)limit) {
		if ((res = read_row(st, arena, &(*out)[*count])) != RES_OK)
			break;
		++*count;
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res api_tokens_count(struct conn *conn, int64_t admin_id, int64_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOKEN_COUNT]);

	bind_i64(st, 1, admin_id);
	return rows_one(conn, st, count);
}

enum res token_touch(struct conn *conn, int64_t id, int64_t now_unix)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOKEN_TOUCH]);

	bind_i64(st, 1, id);
	bind_i64(st, 2, now_unix);
	return stmt_run(conn, st);
}

enum res token_delete(struct conn *conn, int64_t id)
{
	return rows_run_id(conn, SQL[TOKEN_DELETE], id);
}
