/* user_record.c – what the writer said last of each user, and whom the clock has passed since. */
#include <inttypes.h>

#include "hythe/store/conn.h"
#include "hythe/store/users.h"
#include "hythe/util/log.h"
#include "rows.h"

enum { RECORD_READ, RECORD_WRITE, HASH_WRITE, MINUS_READ, MINUS_EACH, STATEMENTS };

static const char *const SQL[STATEMENTS] = {
	[RECORD_READ] = "SELECT served, deleted_unix, state, record_hash FROM user WHERE id = ?1",
	[RECORD_WRITE] = "UPDATE user SET served = ?2, state = ?3, record_hash = ?4 WHERE id = ?1",
	[HASH_WRITE] = "UPDATE user SET record_hash = ?2 WHERE id = ?1",
	[MINUS_READ] = "SELECT e.node_id, count(*) FROM user_node AS e"
		       " JOIN user_group AS m ON m.user_id = e.user_id"
		       " JOIN node_group AS a ON a.node_id = e.node_id AND a.group_id = m.group_id"
		       " AND a.record_hash <> x'' WHERE e.user_id = ?1 GROUP BY e.node_id",
	[MINUS_EACH] = "SELECT u.record_hash FROM user_node AS e"
		       " JOIN user_group AS m ON m.user_id = e.user_id AND m.group_id = ?2"
		       " JOIN user AS u ON u.id = e.user_id WHERE e.node_id = ?1 AND u.served = 1",
};

/* The conditions are those of the indexes, to the letter: only then does SQLite use them. */
static const char *const SQL_DUE[USER_DUES] = {
	[USER_DUE_END] = "SELECT id FROM user INDEXED BY user_due_end"
			 " WHERE expires_unix > 0 AND (served = 1 OR state = 'limited')"
			 " AND expires_unix <= ?1 ORDER BY expires_unix LIMIT ?2",
	[USER_DUE_HOLD] = "SELECT id FROM user INDEXED BY user_due_hold"
			  " WHERE hold_deadline_unix > 0 AND first_use_unix = 0"
			  " AND (served = 1 OR state = 'limited') AND hold_deadline_unix <= ?1"
			  " ORDER BY hold_deadline_unix LIMIT ?2",
	[USER_DUE_PERIOD] = "SELECT user_id FROM user_period WHERE period_end_unix <= ?1"
			    " ORDER BY period_end_unix LIMIT ?2",
	[USER_DUE_CREDENTIAL] =
		"SELECT user_id FROM credential WHERE not_after_unix > 0 AND not_after_unix <= ?1"
		" ORDER BY not_after_unix LIMIT ?2",
	[USER_DUE_GROUP] =
		"SELECT m.user_id FROM group_ AS g JOIN user_group AS m ON m.group_id = g.id"
		" WHERE g.deleted_unix > 0 AND g.deleted_unix <= ?1 LIMIT ?2",
};

enum res user_record_read(struct conn *conn, int64_t id, struct user_record *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[RECORD_READ]);
	enum res res;

	bind_i64(st, 1, id);
	if ((res = stmt_row(conn, st)) == RES_OK) {
		const char *state = (const char *)sqlite3_column_text(st, 2);

		out->served = column_i64(st, 0) != 0;
		out->deleted = column_i64(st, 1) != 0;
		/* USER_STATUSES for "deleted", and for what no release has written. */
		out->state = (enum user_status)word_index(user_status_words, state ? state : "",
							  USER_STATUSES);
		/* A row that somebody changed by hand: what the sums hold of him is not known any
		 * more. He can still be changed and deleted; the sums are made anew when a node
		 * finds them wrong. */
		if (!column_blob(st, 3, out->hash, sizeof out->hash) && out->served) {
			log_error("user_record_damaged", "user=%" PRId64, id);
			out->served = false;
		}
	}
	stmt_end(conn, st);
	return res;
}

enum res user_record_write(struct conn *conn, int64_t id, const struct user_record *record)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[RECORD_WRITE]);

	bind_i64(st, 1, id);
	bind_i64(st, 2, record->served);
	bind_text(st, 3, record->deleted ? "deleted" : user_status_words[record->state]);
	bind_blob(st, 4, record->hash, record->served ? sizeof record->hash : 0);
	return stmt_run(conn, st);
}

enum res user_record_write_hash(struct conn *conn, int64_t id, const struct user_record *record)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[HASH_WRITE]);

	bind_i64(st, 1, id);
	bind_blob(st, 2, record->hash, record->served ? sizeof record->hash : 0);
	return stmt_run(conn, st);
}

enum res user_minus_read(struct conn *conn, int64_t user_id, struct arena *arena,
			 struct user_minus **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[MINUS_READ]);
	void *rows = NULL;
	size_t cap = 0;
	enum res res;

	*count = 0;
	bind_i64(st, 1, user_id);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct user_minus *minus = rows_more(arena, &rows, *count, &cap, sizeof *minus);

		if (!minus) {
			res = RES_NOMEM;
			break;
		}
		*minus = (struct user_minus){column_i64(st, 0), column_i64(st, 1)};
		++*count;
	}
	stmt_end(conn, st);
	*list = rows;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res user_minus_each(struct conn *conn, int64_t node_id, int64_t group_id,
			 enum res (*each)(void *ctx, const uint8_t hash[32]), void *ctx)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[MINUS_EACH]);
	enum res res;

	bind_i64(st, 1, node_id);
	bind_i64(st, 2, group_id);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		uint8_t hash[32];

		res = column_blob(st, 0, hash, sizeof hash) ? each(ctx, hash) : RES_CORRUPT;
		if (res != RES_OK)
			break;
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res users_due(struct conn *conn, enum user_due due, int64_t now_unix, int64_t *ids,
		   size_t limit, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL_DUE[due]);
	enum res res;

	*count = 0;
	bind_i64(st, 1, now_unix);
	bind_i64(st, 2, (int64_t)limit);
	while ((res = stmt_row(conn, st)) == RES_OK)
		ids[(*count)++] = column_i64(st, 0);
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}
