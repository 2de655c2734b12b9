#include "hythe/store/access.h"

#include <stdlib.h>
#include <string.h>

#include "hythe/store/conn.h"
#include "rows.h"

/* Driven from the user's few groups by primary keys alone: user_group, node_group_inbound, inbound,
 * host. What several groups open is taken from the first of them. Neither list nor order is left to
 * SQLite: a temporary table of its own costs more than all the rest for a handful of servers. */
#define ENDPOINTS                                                                                  \
	"SELECT h.id, i.id, h.name, iif(h.address <> '', h.address, n.address), "                  \
	"iif(h.port > 0, h.port, iif(i.port > 0, i.port, p.port)), p.hop_ports, "                  \
	"iif(h.sni <> '', h.sni, iif(i.sni <> '', i.sni, p.sni)), p.obfs, "                        \
	"p.obfs_password_sealed, p.public_id, p.hop_interval_s, p.obfs_min_packet_bytes, "         \
	"p.obfs_max_packet_bytes, p.cert_mode, i.cert_pin, i.key_pin, i.cert_pem, n.name, "        \
	"n.country, n.city, p.name, h.formats, h.sort_order, "                                     \
	"p.cert_mode = 'self_signed' OR i.managed = 0, n.name_key "                                \
	"FROM user_group g CROSS JOIN node_group_inbound a ON a.group_id = g.group_id "            \
	"CROSS JOIN inbound i ON i.id = a.inbound_id CROSS JOIN node n ON n.id = i.node_id "       \
	"CROSS JOIN profile p ON p.id = i.profile_id CROSS JOIN host h ON h.inbound_id = i.id "    \
	"WHERE g.user_id = ?1 AND i.enabled AND n.enabled AND n.retired_unix = 0 "                 \
	"AND NOT EXISTS (SELECT 1 FROM user_group g0 CROSS JOIN node_group_inbound a0 "            \
	"ON a0.group_id = g0.group_id AND a0.inbound_id = a.inbound_id "                           \
	"WHERE g0.user_id = ?1 AND g0.group_id < g.group_id) "                                     \
	"AND NOT EXISTS (SELECT 1 FROM user_node WHERE user_id = ?1 AND node_id = i.node_id) "     \
	"AND (i.managed = 0 OR i.first_run_unix > 0) "                                             \
	"AND (p.cert_mode <> 'self_signed' OR i.cert_pin IS NOT NULL) "                            \
	"AND NOT (?3 > 0 AND i.state IN ('failed', 'unreachable') AND i.last_ok_unix < ?2 - ?3) "  \
	"AND h.enabled AND NOT h.hidden "

/* As they come, one more than are wanted; and sorted, for the rare list that is longer. */
static const char SQL_ANY_ORDER[] = ENDPOINTS "LIMIT ?4";
static const char SQL_IN_ORDER[] = ENDPOINTS "ORDER BY h.sort_order, n.name_key, h.id LIMIT ?4";

static const char INBOUNDS_OF_USER[] =
	"SELECT DISTINCT a.inbound_id FROM user_group g CROSS JOIN node_group_inbound a "
	"ON a.group_id = g.group_id WHERE g.user_id = ?1 AND NOT EXISTS "
	"(SELECT 1 FROM user_node WHERE user_id = ?1 AND node_id = a.node_id) ORDER BY 1";

enum statement {
	NODES_OF_GROUP,
	GROUPS_OF_NODE,
	WANTED,
	PRESENT,
	STORED,
	PUT_RECORD,
	DROP_INBOUNDS,
	PUT_INBOUND,
	DROP_RECORD
};

static const char *const SQL[] = {
	[NODES_OF_GROUP] = "SELECT node_id FROM node_group WHERE group_id = ?1 UNION "
			   "SELECT i.node_id FROM group_access a JOIN inbound i "
			   "ON i.profile_id = a.profile_id WHERE a.group_id = ?1 ORDER BY 1",
	[GROUPS_OF_NODE] = "SELECT group_id FROM node_group WHERE node_id = ?1 UNION "
			   "SELECT a.group_id FROM inbound i JOIN group_access a "
			   "ON a.profile_id = i.profile_id WHERE i.node_id = ?1 ORDER BY 1",
	[WANTED] = "SELECT DISTINCT i.id, i.managed FROM inbound i JOIN node n ON n.id = i.node_id "
		   "JOIN group_access a ON a.profile_id = i.profile_id "
		   "WHERE i.node_id = ?1 AND a.group_id = ?2 AND i.enabled AND n.enabled "
		   "AND n.retired_unix = 0 AND (a.scope = 'all' OR a.node_id = ?1 OR "
		   "(a.scope = 'tag' AND EXISTS "
		   "(SELECT 1 FROM node_tag WHERE node_id = ?1 AND tag = a.tag))) ORDER BY i.id",
	[PRESENT] = "SELECT a.inbound_id, i.managed FROM node_group_inbound a "
		    "JOIN inbound i ON i.id = a.inbound_id "
		    "WHERE a.node_id = ?1 AND a.group_id = ?2 ORDER BY a.inbound_id",
	[STORED] = "SELECT record_hash FROM node_group WHERE node_id = ?1 AND group_id = ?2",
	[PUT_RECORD] =
		"INSERT INTO node_group (node_id, group_id, record_hash) VALUES (?1, ?2, ?3) "
		"ON CONFLICT DO UPDATE SET record_hash = excluded.record_hash",
	[DROP_INBOUNDS] = "DELETE FROM node_group_inbound WHERE node_id = ?1 AND group_id = ?2",
	[PUT_INBOUND] = "INSERT INTO node_group_inbound (node_id, group_id, inbound_id) "
			"VALUES (?1, ?2, ?3)",
	[DROP_RECORD] = "DELETE FROM node_group WHERE node_id = ?1 AND group_id = ?2",
};

/* --- What a user gets --- */

/* An endpoint with what it is sorted by. */
struct sorted {
	struct endpoint endpoint;
	const char *node_key;
};

static enum res read_endpoint(sqlite3_stmt *st, struct arena *arena, struct endpoint *out)
{
	bool may_pin = column_i64(st, 23) != 0;

	*out = (struct endpoint){
		.host_id = column_i64(st, 0),
		.inbound_id = column_i64(st, 1),
		.host_name = column_text(st, 2, arena),
		.address = column_text(st, 3, arena),
		.port = column_i64(st, 4),
		.hop_ports = column_text(st, 5, arena),
		.sni = column_text(st, 6, arena),
		.obfs = column_text(st, 7, arena),
		.hop_interval_s = column_i64(st, 10),
		.obfs_min_packet_bytes = column_i64(st, 11),
		.obfs_max_packet_bytes = column_i64(st, 12),
		.cert_mode = column_text(st, 13, arena),
		.cert_pem = column_text(st, 16, arena),
		.node_name = column_text(st, 17, arena),
		.country = column_text(st, 18, arena),
		.city = column_text(st, 19, arena),
		.profile_name = column_text(st, 20, arena),
		.formats = column_text(st, 21, arena),
		.sort_order = column_i64(st, 22),
	};
	column_public_id(st, 9, &out->profile_public_id);
	/* A certificate of ACME or from files is renewed by others, so a pin of it would soon be
	 * wrong: only what somebody typed in for a server of his own counts there. */
	out->pinned = column_blob(st, 14, out->cert_pin, sizeof out->cert_pin) && may_pin;
	out->has_key_pin = column_blob(st, 15, out->key_pin, sizeof out->key_pin) && may_pin;
	if (!out->host_name || !out->address || !out->hop_ports || !out->sni || !out->obfs ||
	    !out->cert_mode || !out->cert_pem || !out->node_name || !out->country || !out->city ||
	    !out->profile_name || !out->formats ||
	    !column_bytes(st, 8, arena, &out->obfs_password_sealed, &out->obfs_password_sealed_len))
		return RES_NOMEM;
	return RES_OK;
}

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	const struct endpoint *e = &x->endpoint, *f = &y->endpoint;
	int names;

	if (e->sort_order != f->sort_order)
		return e->sort_order < f->sort_order ? -1 : 1;
	names = strcmp(x->node_key, y->node_key);
	if (names != 0)
		return names;
	return (e->host_id > f->host_id) - (e->host_id < f->host_id);
}

struct endpoint_query {
	struct conn *conn;
	int64_t user_id, now_unix, hide_after_s;
	struct arena *arena;
};

static enum res read_endpoints(const struct endpoint_query *query, const char *sql, int64_t limit,
			       struct sorted **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(query->conn, sql);
	void *rows = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	bind_i64(st, 1, query->user_id);
	bind_i64(st, 2, query->now_unix);
	bind_i64(st, 3, query->hide_after_s);
	bind_i64(st, 4, limit);
	while ((res = stmt_row(query->conn, st)) == RES_OK) {
		struct sorted *row = rows_more(query->arena, &rows, n, &cap, sizeof *row);

		if ((res = row ? read_endpoint(st, query->arena, &row->endpoint) : RES_NOMEM) !=
		    RES_OK)
			break;
		if (!(row->node_key = column_text(st, 24, query->arena))) {
			res = RES_NOMEM;
			break;
		}
		n++;
	}
	stmt_end(query->conn, st);
	*list = rows;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res access_endpoints(struct conn *conn, int64_t user_id, int64_t now_unix,
			  int64_t hide_after_s, struct arena *arena, struct endpoint **list,
			  size_t *count)
{
	const struct endpoint_query query = {conn, user_id, now_unix, hide_after_s, arena};
	struct sorted *rows;
	enum res res;

	*list = NULL;
	*count = 0;
	res = read_endpoints(&query, SQL_ANY_ORDER, ACCESS_ENDPOINTS_MAX + 1, &rows, count);
	if (res == RES_OK && *count > ACCESS_ENDPOINTS_MAX)
		res = read_endpoints(&query, SQL_IN_ORDER, ACCESS_ENDPOINTS_MAX, &rows, count);
	if (res != RES_OK || *count == 0)
		return res;
	qsort(rows, *count, sizeof *rows, compare);
	*list = arena_alloc(arena, *count * sizeof **list);
	for (size_t i = 0; *list && i < *count; i++)
		(*list)[i] = rows[i].endpoint;
	return *list ? RES_OK : RES_NOMEM;
}

enum res access_inbounds_of_user(struct conn *conn, int64_t user_id, struct arena *arena,
				 int64_t **ids, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, INBOUNDS_OF_USER);

	bind_i64(st, 1, user_id);
	return rows_ids(conn, st, arena, ids, count);
}

/* --- Access records --- */

enum res access_nodes_of_group(struct conn *conn, int64_t group_id, struct arena *arena,
			       int64_t **ids, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[NODES_OF_GROUP]);

	bind_i64(st, 1, group_id);
	return rows_ids(conn, st, arena, ids, count);
}

enum res access_groups_of_node(struct conn *conn, int64_t node_id, struct arena *arena,
			       int64_t **ids, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[GROUPS_OF_NODE]);

	bind_i64(st, 1, node_id);
	return rows_ids(conn, st, arena, ids, count);
}

static sqlite3_stmt *pair_stmt(struct conn *conn, enum statement statement,
			       const struct access_pair *pair)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[statement]);

	bind_i64(st, 1, pair->node_id);
	bind_i64(st, 2, pair->group_id);
	return st;
}

static enum res read_inbounds(struct conn *conn, sqlite3_stmt *st, struct arena *arena,
			      struct access_inbound **list, size_t *count)
{
	void *rows = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct access_inbound *row = rows_more(arena, &rows, n, &cap, sizeof *row);

		if (!row) {
			res = RES_NOMEM;
			break;
		}
		*row = (struct access_inbound){column_i64(st, 0), column_i64(st, 1) != 0};
		n++;
	}
	stmt_end(conn, st);
	*list = rows;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res access_wanted(struct conn *conn, const struct access_pair *pair, struct arena *arena,
		       struct access_inbound **list, size_t *count)
{
	return read_inbounds(conn, pair_stmt(conn, WANTED, pair), arena, list, count);
}

enum res access_present(struct conn *conn, const struct access_pair *pair, struct arena *arena,
			struct access_inbound **list, size_t *count)
{
	return read_inbounds(conn, pair_stmt(conn, PRESENT, pair), arena, list, count);
}

enum res access_stored(struct conn *conn, const struct access_pair *pair, struct access_stored *out)
{
	sqlite3_stmt *st = pair_stmt(conn, STORED, pair);
	enum res res = stmt_row(conn, st);

	*out = (struct access_stored){.exists = res == RES_OK};
	if (out->exists)
		out->recorded = column_blob(st, 0, out->hash, sizeof out->hash);
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

static enum res put_record(struct conn *conn, const struct access_pair *pair, const uint8_t *hash)
{
	sqlite3_stmt *st = pair_stmt(conn, PUT_RECORD, pair);

	bind_blob(st, 3, hash, hash ? 32 : 0);
	return stmt_run(conn, st);
}

static enum res put_inbound(struct conn *conn, const struct access_pair *pair, int64_t inbound_id)
{
	sqlite3_stmt *st = pair_stmt(conn, PUT_INBOUND, pair);

	bind_i64(st, 3, inbound_id);
	return stmt_run(conn, st);
}

enum res access_store(struct conn *conn, const struct access_pair *pair,
		      const struct access_inbound *list, size_t count, const uint8_t *hash)
{
	enum res res = stmt_run(conn, pair_stmt(conn, DROP_INBOUNDS, pair));

	if (res != RES_OK)
		return res;
	if (count == 0)
		return stmt_run(conn, pair_stmt(conn, DROP_RECORD, pair));
	res = put_record(conn, pair, hash);
	for (size_t i = 0; i < count && res == RES_OK; i++)
		res = put_inbound(conn, pair, list[i].id);
	return res;
}
