#include "hythe/store/users.h"

#include <inttypes.h>
#include <string.h>

#include "hythe/store/conn.h"
#include "hythe/util/log.h"
#include "rows.h"

enum {
	BY_ID,
	BY_PUBLIC_ID,
	ANY_BY_ID,
	ID_BY_TOKEN,
	ID_BY_NAME,
	TOKENS,
	LINK,
	GROUPS,
	EXCLUDED,
	GROUP_IDS,
	NODE_IDS,
	NODE_BY_PUBLIC_ID,
	INSERT,
	INSERT_USAGE,
	INSERT_PERIOD,
	UPDATE,
	SET_LINK,
	SEARCH_PUT,
	SEARCH_DROP,
	SEARCH_EMPTY,
	SEARCH_FILL,
	BURY,
	BURY_GROUPS,
	BURY_NODES,
	BURY_PERIOD,
	JOIN,
	LEAVE,
	LEAVE_BURIED,
	TAKE_NODE,
	GIVE_NODE,
	STATEMENTS
};

/* In the order in which user_from_row() reads them. */
#define USER_COLUMNS                                                                               \
	"u.id, u.public_id, u.name, ifnull(u.name_key, ''), u.display_name, u.note, u.tag, "       \
	"u.email, u.language, u.meta, u.telegram_id, ifnull(u.owner_admin_id, 0), u.enabled, "     \
	"u.served, u.state, u.created_unix, u.expires_unix, u.hold_s, u.hold_no, "                 \
	"u.hold_deadline_unix, u.first_use_unix, u.quota_bytes, u.quota_period, "                  \
	"u.quota_period_days, u.period_anchor_unix, u.device_limit, u.hwid_limit, u.plan_id, "     \
	"u.next_plan_id, u.sub_revoked_unix, u.version, u.deleted_unix, g.period_no, "             \
	"g.period_start_unix, g.period_end_unix, g.used_up_bytes, g.used_down_bytes, "             \
	"g.total_up_bytes, g.total_down_bytes, g.last_seen_unix, g.last_node_id"
#define SELECT_USER                                                                                \
	"SELECT " USER_COLUMNS " FROM user AS u JOIN user_usage AS g ON g.user_id = u.id"
#define SETTINGS                                                                                   \
	"name, name_key, display_name, note, tag, email, language, meta, telegram_id, "            \
	"owner_admin_id, enabled, expires_unix, hold_s, hold_no, hold_deadline_unix, "             \
	"first_use_unix, quota_bytes, quota_period, quota_period_days, period_anchor_unix, "       \
	"device_limit, hwid_limit, plan_id, next_plan_id, version"

static const char *const SQL[STATEMENTS] = {
	[BY_ID] = SELECT_USER " WHERE u.id = ?1 AND u.deleted_unix = 0",
	[BY_PUBLIC_ID] = SELECT_USER " WHERE u.public_id = ?1 AND u.deleted_unix = 0",
	[ANY_BY_ID] = SELECT_USER " WHERE u.id = ?1",
	[ID_BY_TOKEN] = "SELECT id FROM user WHERE sub_token_hash = ?1",
	[ID_BY_NAME] = "SELECT id FROM user WHERE name_key = ?1",
	[TOKENS] = "SELECT id, substr(sub_token_hash, 1, 16) FROM user"
		   " WHERE sub_token_hash IS NOT NULL",
	[LINK] = "SELECT sub_token_hash, sub_token_sealed FROM user"
		 " WHERE id = ?1 AND sub_token_hash IS NOT NULL",
	[GROUPS] = "SELECT g.id, g.public_id, g.name"
		   " FROM user_group AS m JOIN group_ AS g ON g.id = m.group_id"
		   " WHERE m.user_id = ?1 AND g.deleted_unix = 0 ORDER BY g.name_key",
	[EXCLUDED] = "SELECT n.id, n.public_id, n.name"
		     " FROM user_node AS m JOIN node AS n ON n.id = m.node_id"
		     " WHERE m.user_id = ?1 ORDER BY n.name_key",
	[GROUP_IDS] = "SELECT group_id FROM user_group WHERE user_id = ?1 ORDER BY group_id",
	[NODE_IDS] = "SELECT node_id FROM user_node WHERE user_id = ?1 ORDER BY node_id",
	[NODE_BY_PUBLIC_ID] = "SELECT id FROM node WHERE public_id = ?1 AND retired_unix = 0",
	[INSERT] = "INSERT INTO user (" SETTINGS
		   ", public_id, created_unix, state, sub_token_hash, sub_token_sealed, served)"
		   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
		   " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25,"
		   " ?26, ?27, ?28, ?29, ?30, ?31)",
	[INSERT_USAGE] =
		"INSERT INTO user_usage (user_id, period_no, period_start_unix, period_end_unix)"
		" VALUES (?1, ?2, ?3, ?4)",
	[INSERT_PERIOD] = "INSERT INTO user_period (user_id, period_end_unix) VALUES (?1, ?2)",
	[UPDATE] = "UPDATE user SET (" SETTINGS
		   ") = (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
		   " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25) WHERE id = ?26",
	[SET_LINK] = "UPDATE user SET sub_token_hash = ?2, sub_token_sealed = ?3,"
		     " sub_revoked_unix = ?4, version = ?5 WHERE id = ?1",
	[SEARCH_PUT] = "INSERT INTO user_search (rowid, name, display_name, note, tag, email)"
		       " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	/* The index keeps no text of its own: what goes must be told as it was put. */
	[SEARCH_DROP] =
		"INSERT INTO user_search (user_search, rowid, name, display_name, note, tag, email)"
		" VALUES ('delete', ?1, ?2, ?3, ?4, ?5, ?6)",
	[SEARCH_EMPTY] = "INSERT INTO user_search (user_search) VALUES ('delete-all')",
	/* Not 'rebuild', which would put the deleted back. */
	[SEARCH_FILL] = "INSERT INTO user_search (rowid, name, display_name, note, tag, email)"
			" SELECT id, name, display_name, note, tag, email FROM user"
			" WHERE deleted_unix = 0",
	[BURY] = "UPDATE user SET name_key = NULL, sub_token_hash = NULL, sub_token_sealed = NULL,"
		 " deleted_unix = ?2, version = " NEXT_VERSION " WHERE id = ?1",
	[BURY_GROUPS] = "DELETE FROM user_group WHERE user_id = ?1",
	[BURY_NODES] = "DELETE FROM user_node WHERE user_id = ?1",
	[BURY_PERIOD] = "DELETE FROM user_period WHERE user_id = ?1",
	[JOIN] = "INSERT INTO user_group (user_id, group_id) VALUES (?1, ?2)",
	[LEAVE] = "DELETE FROM user_group WHERE user_id = ?1 AND group_id = ?2",
	[LEAVE_BURIED] = "DELETE FROM user_group WHERE user_id = ?1 AND group_id IN"
			 " (SELECT id FROM group_ WHERE deleted_unix > 0)",
	[TAKE_NODE] = "INSERT INTO user_node (user_id, node_id) VALUES (?1, ?2)",
	[GIVE_NODE] = "DELETE FROM user_node WHERE user_id = ?1 AND node_id = ?2",
};

/* --- Rows --- */

static bool read_texts(sqlite3_stmt *st, struct arena *arena, struct user *out)
{
	const char **const texts[] = {&out->name, &out->name_key, &out->display_name, &out->note,
				      &out->tag,  &out->email,    &out->language,     &out->meta};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!(*texts[i] = column_text(st, (int)i + 2, arena)))
			return false;
	return true;
}

static void read_usage(sqlite3_stmt *st, int column, struct user_usage *out)
{
	int64_t *const members[] = {
		&out->period_no,        &out->period_start_unix, &out->period_end_unix,
		&out->used_up_bytes,    &out->used_down_bytes,   &out->total_up_bytes,
		&out->total_down_bytes, &out->last_seen_unix,    &out->last_node_id};

	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		*members[i] = column_i64(st, column + (int)i);
	/* Counters never fall below nothing; a row changed by hand may say so. */
	for (size_t i = 3; i < 7; i++)
		if (*members[i] < 0)
			*members[i] = 0;
}

/* Words that no release has written are read as their first or most cautious value, so that a row
 * changed by hand never breaks a list. */
static enum res user_from_row(sqlite3_stmt *st, struct arena *arena, struct user *out)
{
	const char *state, *period;

	memset(out, 0, sizeof *out);
	out->id = column_i64(st, 0);
	column_public_id(st, 1, &out->public_id);
	if (!read_texts(st, arena, out))
		return RES_NOMEM;
	out->telegram_id = column_i64(st, 10);
	out->owner_admin_id = column_i64(st, 11);
	out->enabled = column_i64(st, 12) != 0;
	out->served = column_i64(st, 13) != 0;
	if (!(state = column_text(st, 14, arena)) || !(period = column_text(st, 22, arena)))
		return RES_NOMEM;
	out->state = (enum user_status)word_index(user_status_words, state, USER_DISABLED);
	out->quota_period = (enum quota_period)word_index(quota_period_words, period, PERIOD_NONE);
	out->created_unix = column_i64(st, 15);
	out->expires_unix = column_i64(st, 16);
	out->hold_s = column_i64(st, 17);
	out->hold_no = column_i64(st, 18);
	out->hold_deadline_unix = column_i64(st, 19);
	out->first_use_unix = column_i64(st, 20);
	out->quota_bytes = column_i64(st, 21);
	out->quota_period_days = column_i64(st, 23);
	out->period_anchor_unix = column_i64(st, 24);
	out->device_limit = column_i64(st, 25);
	out->hwid_limit = column_i64(st, 26);
	out->plan_id = column_i64(st, 27);
	out->next_plan_id = column_i64(st, 28);
	out->sub_revoked_unix = column_i64(st, 29);
	out->version = column_i64(st, 30);
	out->deleted_unix = column_i64(st, 31);
	read_usage(st, 32, &out->usage);
	return RES_OK;
}

static enum res one_user(struct conn *conn, sqlite3_stmt *st, struct arena *arena, struct user *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = user_from_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res user_by_id(struct conn *conn, int64_t id, struct arena *arena, struct user *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_ID]);

	bind_i64(st, 1, id);
	return one_user(conn, st, arena, out);
}

enum res user_any_by_id(struct conn *conn, int64_t id, struct arena *arena, struct user *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ANY_BY_ID]);

	bind_i64(st, 1, id);
	return one_user(conn, st, arena, out);
}

enum res user_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			   struct user *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return one_user(conn, st, arena, out);
}

static enum res one_id(struct conn *conn, sqlite3_stmt *st, int64_t *id)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		*id = column_i64(st, 0);
	stmt_end(conn, st);
	return res;
}

enum res user_id_by_token(struct conn *conn, const uint8_t hash[32], int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ID_BY_TOKEN]);

	bind_blob(st, 1, hash, 32);
	return one_id(conn, st, id);
}

enum res user_id_by_name_key(struct conn *conn, const char *name_key, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[ID_BY_NAME]);

	bind_text(st, 1, name_key);
	return one_id(conn, st, id);
}

enum res user_node_by_public_id(struct conn *conn, const char *public_id, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[NODE_BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return one_id(conn, st, id);
}

/* --- Lists of one user --- */

static enum res ids_of_user(struct conn *conn, const char *sql, int64_t user_id,
			    struct arena *arena, int64_t **ids, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);

	bind_i64(st, 1, user_id);
	return rows_ids(conn, st, arena, ids, count);
}

enum res user_group_ids(struct conn *conn, int64_t user_id, struct arena *arena, int64_t **ids,
			size_t *count)
{
	return ids_of_user(conn, SQL[GROUP_IDS], user_id, arena, ids, count);
}

enum res user_node_ids(struct conn *conn, int64_t user_id, struct arena *arena, int64_t **ids,
		       size_t *count)
{
	return ids_of_user(conn, SQL[NODE_IDS], user_id, arena, ids, count);
}

static enum res refs_of_user(struct conn *conn, const char *sql, int64_t user_id,
			     struct arena *arena, struct user_ref **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);
	void *rows = NULL;
	size_t cap = 0;
	enum res res;

	*count = 0;
	bind_i64(st, 1, user_id);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct user_ref *ref = rows_more(arena, &rows, *count, &cap, sizeof *ref);

		if (!ref || !(ref->name = column_text(st, 2, arena))) {
			res = RES_NOMEM;
			break;
		}
		ref->id = column_i64(st, 0);
		column_public_id(st, 1, &ref->public_id);
		++*count;
	}
	stmt_end(conn, st);
	*list = rows;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res user_groups(struct conn *conn, int64_t user_id, struct arena *arena,
		     struct user_ref **list, size_t *count)
{
	return refs_of_user(conn, SQL[GROUPS], user_id, arena, list, count);
}

enum res user_excluded_nodes(struct conn *conn, int64_t user_id, struct arena *arena,
			     struct user_ref **list, size_t *count)
{
	return refs_of_user(conn, SQL[EXCLUDED], user_id, arena, list, count);
}

/* --- Links --- */

enum res user_tokens_each(struct conn *conn,
			  bool (*each)(void *ctx, int64_t user_id,
				       const uint8_t key[STORE_TOKEN_KEY]),
			  void *ctx)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOKENS]);
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK) {
		uint8_t key[STORE_TOKEN_KEY];

		if (column_blob(st, 1, key, sizeof key) && !each(ctx, column_i64(st, 0), key))
			break;
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

/* The index of tokens may know a hash by its beginning: it is told, so that it can be dropped. */
static enum res damaged_link(sqlite3_stmt *st, struct user_link *out)
{
	const void *data = sqlite3_column_blob(st, 0);
	size_t len = (size_t)sqlite3_column_bytes(st, 0);

	out->sealed = NULL;
	out->sealed_len = 0;
	if (data)
		memcpy(out->hash, data, len < sizeof out->hash ? len : sizeof out->hash);
	return RES_CORRUPT;
}

enum res user_link_sealed(struct conn *conn, int64_t user_id, struct arena *arena,
			  struct user_link *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[LINK]);
	enum res res;

	bind_i64(st, 1, user_id);
	if ((res = stmt_row(conn, st)) == RES_OK) {
		if (!column_blob(st, 0, out->hash, sizeof out->hash))
			res = damaged_link(st, out);
		else if (!column_bytes(st, 1, arena, &out->sealed, &out->sealed_len))
			res = RES_NOMEM;
	}
	stmt_end(conn, st);
	return res;
}

enum res user_set_link(struct conn *conn, int64_t id, const struct user_link *link,
		       int64_t revoked_unix, int64_t version)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SET_LINK]);

	bind_i64(st, 1, id);
	bind_blob(st, 2, link->hash, sizeof link->hash);
	bind_blob(st, 3, link->sealed, link->sealed_len);
	bind_i64(st, 4, revoked_unix);
	bind_i64(st, 5, version);
	return stmt_run(conn, st);
}

/* --- Writing --- */

static enum res search_row(struct conn *conn, const char *sql, const struct user *user)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);

	bind_i64(st, 1, user->id);
	bind_text(st, 2, user->name);
	bind_text(st, 3, user->display_name);
	bind_text(st, 4, user->note);
	bind_text(st, 5, user->tag);
	bind_text(st, 6, user->email);
	return stmt_run(conn, st);
}

/* A row that somebody changed by hand tells the index to forget what it never held, and it says
 * that it is damaged. The row is what counts: its change goes on, and the index is made anew after
 * it. */
static enum res search_step(struct conn *conn, const char *sql, const struct user *user,
			    bool *damaged)
{
	enum res res = *damaged ? RES_OK : search_row(conn, sql, user);

	if (res != RES_CORRUPT || !conn_index_damaged(conn))
		return res;
	*damaged = true;
	return RES_OK;
}

static enum res search_end(struct conn *conn, bool damaged)
{
	return damaged ? user_search_rebuild(conn) : RES_OK;
}

bool user_search_damaged(struct conn *conn)
{
	return conn_index_damaged(conn);
}

enum res user_search_rebuild(struct conn *conn)
{
	enum res res = stmt_run(conn, conn_stmt(conn, SQL[SEARCH_EMPTY]));

	if (res == RES_OK)
		res = stmt_run(conn, conn_stmt(conn, SQL[SEARCH_FILL]));
	if (res != RES_OK)
		return res;
	conn_index_mended(conn);
	log_warn("user_search_rebuilt", "users=%" PRId64 " text=%s", conn_changes(conn),
		 log_quote("the search index did not match the rows; it was made anew"));
	return RES_OK;
}

static void bind_settings(sqlite3_stmt *st, const struct user *user)
{
	const char *const texts[] = {user->name, user->name_key, user->display_name, user->note,
				     user->tag,  user->email,    user->language,     user->meta};
	const int64_t limits[] = {user->expires_unix,   user->hold_s,
				  user->hold_no,        user->hold_deadline_unix,
				  user->first_use_unix, user->quota_bytes};
	const int64_t rest[] = {user->quota_period_days,
				user->period_anchor_unix,
				user->device_limit,
				user->hwid_limit,
				user->plan_id,
				user->next_plan_id,
				user->version};

	for (int i = 0; i < 8; i++)
		bind_text(st, i + 1, texts[i]);
	bind_i64(st, 9, user->telegram_id);
	if (user->owner_admin_id)
		bind_i64(st, 10, user->owner_admin_id);
	else
		bind_null(st, 10);
	bind_i64(st, 11, user->enabled);
	for (int i = 0; i < 6; i++)
		bind_i64(st, i + 12, limits[i]);
	bind_text(st, 18, quota_period_words[user->quota_period]);
	for (int i = 0; i < 7; i++)
		bind_i64(st, i + 19, rest[i]);
}

static enum res insert_user_row(struct conn *conn, struct user *user, const struct user_link *link)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);
	enum res res;

	bind_settings(st, user);
	bind_text(st, 26, user->public_id.text);
	bind_i64(st, 27, user->created_unix);
	bind_text(st, 28, user_status_words[user->state]);
	bind_blob(st, 29, link->hash, sizeof link->hash);
	bind_blob(st, 30, link->sealed, link->sealed_len);
	bind_i64(st, 31, user->served);
	if ((res = stmt_run(conn, st)) == RES_OK)
		user->id = conn_insert_id(conn);
	return res;
}

enum res user_insert(struct conn *conn, struct user *user, const struct user_link *link)
{
	bool damaged = false;
	sqlite3_stmt *st;
	enum res res = insert_user_row(conn, user, link);

	if (res != RES_OK)
		return res;
	st = conn_stmt(conn, SQL[INSERT_USAGE]);
	bind_i64(st, 1, user->id);
	bind_i64(st, 2, user->usage.period_no);
	bind_i64(st, 3, user->usage.period_start_unix);
	bind_i64(st, 4, user->usage.period_end_unix);
	if ((res = stmt_run(conn, st)) != RES_OK)
		return res;
	if (user->usage.period_end_unix > 0) {
		st = conn_stmt(conn, SQL[INSERT_PERIOD]);
		bind_i64(st, 1, user->id);
		bind_i64(st, 2, user->usage.period_end_unix);
		if ((res = stmt_run(conn, st)) != RES_OK)
			return res;
	}
	if ((res = search_step(conn, SQL[SEARCH_PUT], user, &damaged)) != RES_OK)
		return res;
	return search_end(conn, damaged);
}

static bool same_search(const struct user *a, const struct user *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->display_name, b->display_name) == 0 &&
	       strcmp(a->note, b->note) == 0 && strcmp(a->tag, b->tag) == 0 &&
	       strcmp(a->email, b->email) == 0;
}

enum res user_update(struct conn *conn, const struct user *before, const struct user *now)
{
	bool found_alike = same_search(before, now), damaged = false;
	sqlite3_stmt *st;
	enum res res = RES_OK;

	if (!found_alike)
		res = search_step(conn, SQL[SEARCH_DROP], before, &damaged);
	if (res != RES_OK)
		return res;
	st = conn_stmt(conn, SQL[UPDATE]);
	bind_settings(st, now);
	bind_i64(st, 26, now->id);
	if ((res = stmt_run(conn, st)) == RES_OK && !found_alike)
		res = search_step(conn, SQL[SEARCH_PUT], now, &damaged);
	return res == RES_OK ? search_end(conn, damaged) : res;
}

enum res user_bury(struct conn *conn, const struct user *user, int64_t now_unix)
{
	static const int rows[] = {BURY_GROUPS, BURY_NODES, BURY_PERIOD};
	bool damaged = false;
	sqlite3_stmt *st;
	enum res res = search_step(conn, SQL[SEARCH_DROP], user, &damaged);

	for (size_t i = 0; res == RES_OK && i < sizeof rows / sizeof *rows; i++)
		res = rows_run_id(conn, SQL[rows[i]], user->id);
	if (res != RES_OK)
		return res;
	st = conn_stmt(conn, SQL[BURY]);
	bind_i64(st, 1, user->id);
	bind_i64(st, 2, now_unix);
	res = stmt_run(conn, st);
	return res == RES_OK ? search_end(conn, damaged) : res;
}

static enum res run_pair(struct conn *conn, const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);

	bind_i64(st, 1, a);
	bind_i64(st, 2, b);
	return stmt_run(conn, st);
}

enum res user_join_group(struct conn *conn, int64_t user_id, int64_t group_id)
{
	return run_pair(conn, SQL[JOIN], user_id, group_id);
}

enum res user_leave_group(struct conn *conn, int64_t user_id, int64_t group_id)
{
	return run_pair(conn, SQL[LEAVE], user_id, group_id);
}

enum res user_leave_buried(struct conn *conn, int64_t user_id)
{
	return rows_run_id(conn, SQL[LEAVE_BURIED], user_id);
}

enum res user_take_node(struct conn *conn, int64_t user_id, int64_t node_id)
{
	return run_pair(conn, SQL[TAKE_NODE], user_id, node_id);
}

enum res user_give_node(struct conn *conn, int64_t user_id, int64_t node_id)
{
	return run_pair(conn, SQL[GIVE_NODE], user_id, node_id);
}
