#include "hythe/store/prune.h"

#include "hythe/store/conn.h"

/* Each finds its rows by an index (or by the key, where that begins with the time). */
static const char *const SQL[PRUNE_TABLES] = {
	[PRUNE_USAGE_HOUR] =
		"DELETE FROM usage_hour WHERE (start_unix, inbound_id, user_id) IN"
		" (SELECT start_unix, inbound_id, user_id FROM usage_hour WHERE start_unix < ?1"
		" ORDER BY start_unix LIMIT ?2)",
	[PRUNE_USAGE_DAY] = "DELETE FROM usage_day WHERE (user_id, day, inbound_id) IN"
			    " (SELECT user_id, day, inbound_id FROM usage_day WHERE day < ?1"
			    " ORDER BY day LIMIT ?2)",
	[PRUNE_NODE_USAGE_HOUR] =
		"DELETE FROM node_usage_hour WHERE (node_id, start_unix) IN"
		" (SELECT node_id, start_unix FROM node_usage_hour WHERE start_unix < ?1"
		" ORDER BY start_unix LIMIT ?2)",
	[PRUNE_NODE_REPORT] =
		"DELETE FROM node_report WHERE (node_id, journal, seq) IN"
		" (SELECT node_id, journal, seq FROM node_report WHERE stored_unix < ?1"
		" ORDER BY stored_unix LIMIT ?2)",
	[PRUNE_NODE_METRIC] = "DELETE FROM node_metric WHERE (node_id, at_unix) IN"
			      " (SELECT node_id, at_unix FROM node_metric WHERE at_unix < ?1"
			      " ORDER BY at_unix LIMIT ?2)",
	[PRUNE_IDEMPOTENCY] = "DELETE FROM idempotency WHERE (actor, key) IN"
			      " (SELECT actor, key FROM idempotency WHERE created_unix < ?1"
			      " ORDER BY created_unix LIMIT ?2)",
	[PRUNE_AUDIT] = "DELETE FROM audit WHERE id IN"
			" (SELECT id FROM audit WHERE at_unix < ?1 ORDER BY at_unix LIMIT ?2)",
	[PRUNE_EVENT] = "DELETE FROM event WHERE id IN"
			" (SELECT id FROM event WHERE at_unix < ?1 ORDER BY at_unix LIMIT ?2)",
	[PRUNE_SESSION] = "DELETE FROM admin_session WHERE id IN"
			  " (SELECT id FROM admin_session WHERE expires_unix < ?1"
			  " ORDER BY expires_unix LIMIT ?2)",
	[PRUNE_ENROLLMENT] =
		"DELETE FROM enrollment WHERE token_hash IN"
		" (SELECT token_hash FROM enrollment WHERE expires_unix < ?1 LIMIT ?2)",
	[PRUNE_USER] = "DELETE FROM user WHERE id IN"
		       " (SELECT id FROM user WHERE deleted_unix > 0 AND deleted_unix < ?1"
		       " ORDER BY deleted_unix LIMIT ?2)",
};

enum res prune_rows(struct conn *conn, enum prune_table table, int64_t before, int64_t limit,
		     int64_t *removed)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[table]);
	enum res res;

	bind_i64(st, 1, before);
	bind_i64(st, 2, limit);
	if ((res = stmt_run(conn, st)) == RES_OK)
		*removed = conn_changes(conn);
	return res;
}
