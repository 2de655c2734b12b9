#include "hythe/store/nodes.h"

#include <string.h>

#include "hythe/store/conn.h"
#include "rows.h"

#define COLUMNS                                                                                    \
	"n.id, n.public_id, n.name, n.name_key, n.address, n.country, n.city, n.note, "            \
	"n.cost_note, n.enabled, n.usage_factor_percent, n.traffic_allowance_bytes, "              \
	"n.traffic_reset_day, n.agent_version, n.core_version, n.last_seen_unix, "                 \
	"n.applied_revision, n.created_unix, n.retired_unix, n.version, "                          \
	"(SELECT count(*) FROM inbound WHERE node_id = n.id), "                                    \
	"(SELECT group_concat(tag, ',') FROM "                                                     \
	"(SELECT tag FROM node_tag WHERE node_id = n.id ORDER BY tag))"
#define MATCHES                                                                                    \
	"(?1 = '' OR instr(n.name_key, ?1) > 0) AND (?2 = '' OR EXISTS "                           \
	"(SELECT 1 FROM node_tag WHERE node_id = n.id AND tag = ?2))"

enum statement {
	BY_PUBLIC_ID,
	LIST_UP,
	LIST_DOWN,
	TOTAL,
	TAKEN,
	INSERT,
	INSERT_STATE,
	UPDATE,
	DROP_TAGS,
	ADD_TAG,
	TOUCH_GROUPS
};

static const char *const SQL[] = {
	[BY_PUBLIC_ID] = "SELECT " COLUMNS " FROM node n WHERE n.public_id = ?1",
	[LIST_UP] = "SELECT " COLUMNS " FROM node n WHERE " MATCHES
		    " AND n.name_key > ?3 ORDER BY n.name_key LIMIT ?4",
	[LIST_DOWN] = "SELECT " COLUMNS " FROM node n WHERE " MATCHES
		      " AND (?3 = '' OR n.name_key < ?3) ORDER BY n.name_key DESC LIMIT ?4",
	[TOTAL] = "SELECT count(*) FROM node n WHERE " MATCHES,
	[TAKEN] = "SELECT 1 FROM node WHERE name_key = ?1 AND id <> ?2",
	[INSERT] = "INSERT INTO node (public_id, name, name_key, address, country, city, note, "
		   "cost_note, enabled, usage_factor_percent, traffic_allowance_bytes, "
		   "traffic_reset_day, created_unix) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[INSERT_STATE] = "INSERT INTO node_state (node_id) VALUES (?1)",
	[UPDATE] =
		"UPDATE node SET name = ?2, name_key = ?3, address = ?4, country = ?5, city = ?6, "
		"note = ?7, cost_note = ?8, enabled = ?9, usage_factor_percent = ?10, "
		"traffic_allowance_bytes = ?11, traffic_reset_day = ?12, version = ?13 "
		"WHERE public_id = ?1",
	[DROP_TAGS] = "DELETE FROM node_tag WHERE node_id = ?1",
	[ADD_TAG] = "INSERT OR IGNORE INTO node_tag (node_id, tag) VALUES (?1, ?2)",
	[TOUCH_GROUPS] = ("UPDATE group_ SET version = " NEXT_VERSION " WHERE id IN "
			  "(SELECT group_id FROM group_access WHERE node_id = ?1)"),
};

/* What a node leaves in tables without a foreign key: the agent's journals live as long as the
 * node. Usage by the hour stays; it is the ledger's. */
static const char *const SQL_REMOVE[] = {
	"DELETE FROM lease WHERE node_id = ?1",
	"DELETE FROM node_journal WHERE node_id = ?1",
	"DELETE FROM node_epoch WHERE node_id = ?1",
	"DELETE FROM node_report WHERE node_id = ?1",
	"DELETE FROM node_metric WHERE node_id = ?1",
	"DELETE FROM node WHERE id = ?1",
};

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct node *out)
{
	*out = (struct node){
		.id = column_i64(st, 0),
		.name = column_text(st, 2, arena),
		.name_key = column_text(st, 3, arena),
		.address = column_text(st, 4, arena),
		.country = column_text(st, 5, arena),
		.city = column_text(st, 6, arena),
		.note = column_text(st, 7, arena),
		.cost_note = column_text(st, 8, arena),
		.enabled = column_i64(st, 9) != 0,
		.usage_factor_percent = column_i64(st, 10),
		.traffic_allowance_bytes = column_i64(st, 11),
		.traffic_reset_day = column_i64(st, 12),
		.agent_version = column_text(st, 13, arena),
		.core_version = column_text(st, 14, arena),
		.last_seen_unix = column_i64(st, 15),
		.applied_revision = column_i64(st, 16),
		.created_unix = column_i64(st, 17),
		.retired_unix = column_i64(st, 18),
		.version = column_i64(st, 19),
		.inbound_count = column_i64(st, 20),
		.tags = column_text(st, 21, arena),
	};
	column_public_id(st, 1, &out->public_id);
	if (!out->name || !out->name_key || !out->address || !out->country || !out->city ||
	    !out->note || !out->cost_note || !out->agent_version || !out->core_version ||
	    !out->tags)
		return RES_NOMEM;
	return RES_OK;
}

static enum res read_one(struct conn *conn, sqlite3_stmt *st, struct arena *arena, struct node *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res node_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			   struct node *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return read_one(conn, st, arena, out);
}

enum res node_list(struct conn *conn, const struct page *page, struct arena *arena,
		   struct node **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[page->down ? LIST_DOWN : LIST_UP]);
	void *rows = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	bind_text(st, 1, page->q);
	bind_text(st, 2, page->tag);
	bind_text(st, 3, page->after);
	bind_i64(st, 4, page->limit);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct node *row = rows_more(arena, &rows, n, &cap, sizeof *row);

		if ((res = row ? read_row(st, arena, row) : RES_NOMEM) != RES_OK)
			break;
		n++;
	}
	stmt_end(conn, st);
	*list = rows;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res node_total(struct conn *conn, const struct page *page, int64_t *total)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOTAL]);

	bind_text(st, 1, page->q);
	bind_text(st, 2, page->tag);
	return rows_one(conn, st, total);
}

enum res node_name_taken(struct conn *conn, const char *name_key, int64_t except, bool *taken)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TAKEN]);
	int64_t found;
	enum res res;

	bind_text(st, 1, name_key);
	bind_i64(st, 2, except);
	res = rows_one(conn, st, &found);
	*taken = found != 0;
	return res;
}

static enum res tags_set(struct conn *conn, int64_t id, const char *tags)
{
	enum res res = rows_run_id(conn, SQL[DROP_TAGS], id);

	while (res == RES_OK && *tags) {
		size_t len = strcspn(tags, ",");
		sqlite3_stmt *st = conn_stmt(conn, SQL[ADD_TAG]);

		bind_i64(st, 1, id);
		bind_text_n(st, 2, tags, len);
		res = stmt_run(conn, st);
		tags += len + (tags[len] == ',');
	}
	return res;
}

/* Parameters 1 to 12 are the same for a new row and a changed one. */
static void bind_row(sqlite3_stmt *st, const struct node *node)
{
	bind_text(st, 1, node->public_id.text);
	bind_text(st, 2, node->name);
	bind_text(st, 3, node->name_key);
	bind_text(st, 4, node->address);
	bind_text(st, 5, node->country);
	bind_text(st, 6, node->city);
	bind_text(st, 7, node->note);
	bind_text(st, 8, node->cost_note);
	bind_i64(st, 9, node->enabled);
	bind_i64(st, 10, node->usage_factor_percent);
	bind_i64(st, 11, node->traffic_allowance_bytes);
	bind_i64(st, 12, node->traffic_reset_day);
}

enum res node_insert(struct conn *conn, const struct node *node, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);
	enum res res;

	bind_row(st, node);
	bind_i64(st, 13, node->created_unix);
	if ((res = stmt_run(conn, st)) != RES_OK)
		return res;
	*id = conn_insert_id(conn);
	if ((res = rows_run_id(conn, SQL[INSERT_STATE], *id)) != RES_OK)
		return res;
	return tags_set(conn, *id, node->tags);
}

enum res node_update(struct conn *conn, const struct node *node)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[UPDATE]);
	enum res res;

	bind_row(st, node);
	bind_i64(st, 13, node->version);
	if ((res = stmt_run(conn, st)) != RES_OK)
		return res;
	return tags_set(conn, node->id, node->tags);
}

enum res node_remove(struct conn *conn, int64_t id)
{
	enum res res = rows_run_id(conn, SQL[TOUCH_GROUPS], id);

	for (size_t i = 0; i < sizeof SQL_REMOVE / sizeof *SQL_REMOVE && res == RES_OK; i++)
		res = rows_run_id(conn, SQL_REMOVE[i], id);
	return res;
}
