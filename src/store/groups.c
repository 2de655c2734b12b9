#include "hythe/store/groups.h"

#include "hythe/store/conn.h"
#include "rows.h"

enum {
	BY_PUBLIC_ID,
	LIST,
	COUNT,
	ACCESS_LIST,
	MEMBER_COUNT,
	MEMBER_IDS,
	ID_BY_NAME,
	PROFILE_ID,
	INSERT,
	UPDATE,
	ACCESS_CLEAR,
	ACCESS_INSERT,
	BURY,
	REMOVE_EMPTY,
	STATEMENTS
};

#define COLUMNS "id, public_id, name, ifnull(name_key, ''), note, created_unix, version"
#define MATCHES "deleted_unix = 0 AND (?1 = '' OR instr(name_key, ?1) > 0)"

static const char *const SQL[STATEMENTS] = {
	[BY_PUBLIC_ID] = "SELECT " COLUMNS " FROM group_ WHERE public_id = ?1 AND deleted_unix = 0",
	[LIST] = "SELECT " COLUMNS " FROM group_ WHERE " MATCHES
		 " AND name_key > ?2 ORDER BY name_key LIMIT ?3",
	[COUNT] = "SELECT count(*) FROM group_ WHERE " MATCHES,
	[ACCESS_LIST] = "SELECT a.id, a.profile_id, ifnull(a.node_id, 0), p.public_id,"
			" ifnull(n.public_id, ''), p.name, ifnull(n.name, ''), a.scope, a.tag"
			" FROM group_access AS a JOIN profile AS p ON p.id = a.profile_id"
			" LEFT JOIN node AS n ON n.id = a.node_id"
			" WHERE a.group_id = ?1 ORDER BY a.id",
	[MEMBER_COUNT] = "SELECT count(*) FROM user_group WHERE group_id = ?1",
	[MEMBER_IDS] =
		"SELECT user_id FROM user_group WHERE group_id = ?1 ORDER BY user_id LIMIT ?2",
	[ID_BY_NAME] = "SELECT id FROM group_ WHERE name_key = ?1",
	[PROFILE_ID] = "SELECT id FROM profile WHERE public_id = ?1",
	[INSERT] = "INSERT INTO group_ (public_id, name, name_key, note, created_unix, version)"
		   " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[UPDATE] =
		"UPDATE group_ SET name = ?2, name_key = ?3, note = ?4, version = ?5 WHERE id = ?1",
	[ACCESS_CLEAR] = "DELETE FROM group_access WHERE group_id = ?1",
	[ACCESS_INSERT] = "INSERT INTO group_access (group_id, profile_id, scope, node_id, tag)"
			  " VALUES (?1, ?2, ?3, ?4, ?5)",
	[BURY] = "UPDATE group_ SET name_key = NULL, deleted_unix = ?2 WHERE id = ?1",
	[REMOVE_EMPTY] = "DELETE FROM group_ WHERE deleted_unix > 0 AND NOT EXISTS"
			 " (SELECT 1 FROM user_group AS m WHERE m.group_id = group_.id)",
};

const char *const access_scope_words[] = {
	[ACCESS_ALL] = "all", [ACCESS_NODE] = "node", [ACCESS_TAG] = "tag", [ACCESS_SCOPES] = NULL};

static enum res read_group(sqlite3_stmt *st, struct arena *arena, struct group *out)
{
	out->id = column_i64(st, 0);
	column_public_id(st, 1, &out->public_id);
	out->name = column_text(st, 2, arena);
	out->name_key = column_text(st, 3, arena);
	out->note = column_text(st, 4, arena);
	out->created_unix = column_i64(st, 5);
	out->version = column_i64(st, 6);
	return out->name && out->name_key && out->note ? RES_OK : RES_NOMEM;
}

static enum res one_group(struct conn *conn, sqlite3_stmt *st, struct arena *arena,
			  struct group *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = read_group(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res group_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			    struct group *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return one_group(conn, st, arena, out);
}

enum res group_list(struct conn *conn, const char *after_key, const char *q, size_t limit,
		    struct arena *arena, struct group **list, size_t *count)
{
	sqlite3_stmt *st;
	enum res res = RES_NOT_FOUND;

	*count = 0;
	if (!(*list = arena_alloc(arena, (limit + 1) * sizeof **list)))
		return RES_NOMEM;
	st = conn_stmt(conn, SQL[LIST]);
	bind_text(st, 1, q);
	bind_text(st, 2, after_key);
	bind_i64(st, 3, (int64_t)limit);
	while (*count < limit && (res = stmt_row(conn, st)) == RES_OK) {
		if ((res = read_group(st, arena, &(*list)[*count])) != RES_OK)
			break;
		++*count;
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

static enum res one_number(struct conn *conn, sqlite3_stmt *st, int64_t *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		*out = column_i64(st, 0);
	stmt_end(conn, st);
	return res;
}

enum res group_count(struct conn *conn, const char *q, int64_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[COUNT]);

	bind_text(st, 1, q);
	return one_number(conn, st, count);
}

enum res group_member_count(struct conn *conn, int64_t group_id, int64_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[MEMBER_COUNT]);

	bind_i64(st, 1, group_id);
	return one_number(conn, st, count);
}

enum res group_id_by_name_key(struct conn *conn, const char *name_key, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ID_BY_NAME]);

	bind_text(st, 1, name_key);
	return one_number(conn, st, id);
}

enum res group_profile_by_public_id(struct conn *conn, const char *public_id, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[PROFILE_ID]);

	bind_text(st, 1, public_id);
	return one_number(conn, st, id);
}

static enum res read_access(sqlite3_stmt *st, struct arena *arena, struct group_access *out)
{
	const char *scope = column_text(st, 7, arena);

	out->id = column_i64(st, 0);
	out->profile_id = column_i64(st, 1);
	out->node_id = column_i64(st, 2);
	column_public_id(st, 3, &out->profile_public_id);
	column_public_id(st, 4, &out->node_public_id);
	out->profile_name = column_text(st, 5, arena);
	out->node_name = column_text(st, 6, arena);
	out->tag = column_text(st, 8, arena);
	if (!scope || !out->profile_name || !out->node_name || !out->tag)
		return RES_NOMEM;
	/* A CHECK of the table keeps other words out; a tag that nobody has opens nothing. */
	out->scope = (enum access_scope)word_index(access_scope_words, scope, ACCESS_TAG);
	return RES_OK;
}

enum res group_access_list(struct conn *conn, int64_t group_id, struct arena *arena,
			   struct group_access **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ACCESS_LIST]);
	void *rows = NULL;
	size_t cap = 0;
	enum res res;

	*count = 0;
	bind_i64(st, 1, group_id);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct group_access *rule = rows_more(arena, &rows, *count, &cap, sizeof *rule);

		if ((res = rule ? read_access(st, arena, rule) : RES_NOMEM) != RES_OK)
			break;
		++*count;
	}
	stmt_end(conn, st);
	*list = rows;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res group_member_ids(struct conn *conn, int64_t group_id, int64_t *ids, size_t limit,
			  size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[MEMBER_IDS]);
	enum res res = RES_NOT_FOUND;

	*count = 0;
	bind_i64(st, 1, group_id);
	bind_i64(st, 2, (int64_t)limit);
	while (*count < limit && (res = stmt_row(conn, st)) == RES_OK)
		ids[(*count)++] = column_i64(st, 0);
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

/* --- Writing --- */

enum res group_insert(struct conn *conn, struct group *group)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);
	enum res res;

	bind_text(st, 1, group->public_id.text);
	bind_text(st, 2, group->name);
	bind_text(st, 3, group->name_key);
	bind_text(st, 4, group->note);
	bind_i64(st, 5, group->created_unix);
	bind_i64(st, 6, group->version);
	if ((res = stmt_run(conn, st)) == RES_OK)
		group->id = conn_insert_id(conn);
	return res;
}

enum res group_update(struct conn *conn, const struct group *group)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[UPDATE]);

	bind_i64(st, 1, group->id);
	bind_text(st, 2, group->name);
	bind_text(st, 3, group->name_key);
	bind_text(st, 4, group->note);
	bind_i64(st, 5, group->version);
	return stmt_run(conn, st);
}

enum res group_access_clear(struct conn *conn, int64_t group_id)
{
	return rows_run_id(conn, SQL[ACCESS_CLEAR], group_id);
}

enum res group_access_insert(struct conn *conn, int64_t group_id, const struct group_access *access)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ACCESS_INSERT]);

	bind_i64(st, 1, group_id);
	bind_i64(st, 2, access->profile_id);
	bind_text(st, 3, access_scope_words[access->scope]);
	if (access->scope == ACCESS_NODE)
		bind_i64(st, 4, access->node_id);
	else
		bind_null(st, 4);
	bind_text(st, 5, access->scope == ACCESS_TAG ? access->tag : "");
	return stmt_run(conn, st);
}

enum res group_bury(struct conn *conn, int64_t id, int64_t now_unix)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BURY]);

	bind_i64(st, 1, id);
	bind_i64(st, 2, now_unix);
	return stmt_run(conn, st);
}

enum res groups_remove_empty(struct conn *conn)
{
	return stmt_run(conn, conn_stmt(conn, SQL[REMOVE_EMPTY]));
}
