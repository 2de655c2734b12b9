#include "hythe/store/admins.h"

#include "hythe/store/conn.h"
#include "rows.h"

enum {
	ADMIN_BY_ID,
	ADMIN_BY_PUBLIC_ID,
	ADMIN_BY_NAME,
	ADMIN_PAGE,
	ADMIN_COUNT,
	ADMIN_COUNT_OWNERS,
	ADMIN_INSERT,
	ADMIN_UPDATE,
	ADMIN_SIGNED_IN,
	ADMIN_DELETE
};

#define COLUMNS                                                                                    \
	"id, public_id, name, name_key, role, enabled, password_hash, language, created_unix,"     \
	" signed_in_unix, version"

static const char *const SQL[] = {
	[ADMIN_BY_ID] = "SELECT " COLUMNS " FROM admin WHERE id = ?1",
	[ADMIN_BY_PUBLIC_ID] = "SELECT " COLUMNS " FROM admin WHERE public_id = ?1",
	[ADMIN_BY_NAME] = "SELECT " COLUMNS " FROM admin WHERE name_key = ?1",
	[ADMIN_PAGE] = "SELECT " COLUMNS " FROM admin WHERE id > ?1 ORDER BY id LIMIT ?2",
	[ADMIN_COUNT] = "SELECT count(*) FROM admin",
	[ADMIN_COUNT_OWNERS] = "SELECT count(*) FROM admin WHERE role = 'owner' AND enabled = 1",
	[ADMIN_INSERT] =
		"INSERT INTO admin (public_id, name, name_key, role, enabled, password_hash,"
		" language, created_unix) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[ADMIN_UPDATE] = "UPDATE admin SET name = ?2, name_key = ?3, role = ?4, enabled = ?5,"
			 " password_hash = ?6, language = ?7, version = " NEXT_VERSION " WHERE id = ?1",
	[ADMIN_SIGNED_IN] = "UPDATE admin SET signed_in_unix = ?2 WHERE id = ?1",
	[ADMIN_DELETE] = "DELETE FROM admin WHERE id = ?1",
};

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct admin_account *out)
{
	*out = (struct admin_account){
		.id = column_i64(st, 0),
		.name = column_text(st, 2, arena),
		.name_key = column_text(st, 3, arena),
		.role = column_text(st, 4, arena),
		.enabled = column_i64(st, 5) != 0,
		.password_hash = column_text(st, 6, arena),
		.language = column_text(st, 7, arena),
		.created_unix = column_i64(st, 8),
		.signed_in_unix = column_i64(st, 9),
		.version = column_i64(st, 10),
	};
	if (!out->name || !out->name_key || !out->role || !out->password_hash ||
	    !out->language)
		return RES_NOMEM;
	column_public_id(st, 1, &out->public_id);
	return RES_OK;
}

static enum res read_one(struct conn *conn, sqlite3_stmt *st, struct arena *arena,
			 struct admin_account *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res admin_by_id(struct conn *conn, int64_t id, struct arena *arena, struct admin_account *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ADMIN_BY_ID]);

	bind_i64(st, 1, id);
	return read_one(conn, st, arena, out);
}

enum res admin_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			    struct admin_account *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ADMIN_BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return read_one(conn, st, arena, out);
}

enum res admin_by_name_key(struct conn *conn, const char *name_key, struct arena *arena,
			   struct admin_account *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ADMIN_BY_NAME]);

	bind_text(st, 1, name_key);
	return read_one(conn, st, arena, out);
}

enum res admins_page(struct conn *conn, int64_t after_id, int64_t limit, struct arena *arena,
		     struct admin_account **out, size_t *count)
{
	sqlite3_stmt *st;
	enum res res;

	*count = 0;
	*out = arena_alloc(arena, (size_t)limit * sizeof **out);
	if (!*out)
		return RES_NOMEM;
	st = conn_stmt(conn, SQL[ADMIN_PAGE]);
	bind_i64(st, 1, after_id);
	bind_i64(st, 2, limit);
	while ((res = stmt_row(conn, st)) == RES_OK && *count < (size_t)limit) {
		if ((res = read_row(st, arena, &(*out)[*count])) != RES_OK)
			break;
		++*count;
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res admins_count(struct conn *conn, int64_t *count)
{
	return rows_one(conn, conn_stmt(conn, SQL[ADMIN_COUNT]), count);
}

enum res admins_count_owners(struct conn *conn, int64_t *count)
{
	return rows_one(conn, conn_stmt(conn, SQL[ADMIN_COUNT_OWNERS]), count);
}

enum res admin_insert(struct conn *conn, struct admin_account *account)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ADMIN_INSERT]);
	enum res res;

	bind_text(st, 1, account->public_id.text);
	bind_text(st, 2, account->name);
	bind_text(st, 3, account->name_key);
	bind_text(st, 4, account->role);
	bind_i64(st, 5, account->enabled);
	bind_text(st, 6, account->password_hash);
	bind_text(st, 7, account->language);
	bind_i64(st, 8, account->created_unix);
	if ((res = stmt_run(conn, st)) == RES_OK)
		account->id = conn_insert_id(conn);
	return res;
}

enum res admin_update(struct conn *conn, const struct admin_account *account)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ADMIN_UPDATE]);

	bind_i64(st, 1, account->id);
	bind_text(st, 2, account->name);
	bind_text(st, 3, account->name_key);
	bind_text(st, 4, account->role);
	bind_i64(st, 5, account->enabled);
	bind_text(st, 6, account->password_hash);
	bind_text(st, 7, account->language);
	return stmt_run(conn, st);
}

enum res admin_signed_in(struct conn *conn, int64_t id, int64_t now_unix)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ADMIN_SIGNED_IN]);

	bind_i64(st, 1, id);
	bind_i64(st, 2, now_unix);
	return stmt_run(conn, st);
}

enum res admin_delete(struct conn *conn, int64_t id)
{
	return rows_run_id(conn, SQL[ADMIN_DELETE], id);
}
