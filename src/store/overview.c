#include "hythe/store/overview.h"

#include <string.h>

#include "hythe/store/conn.h"
#include "hythe/util/num.h"
#include "rows.h"
#include "user_find.h"

enum { BY_STATE, TRAFFIC, REST, STATEMENTS };

static const char *const SQL[STATEMENTS] = {
	/* The index's first column alone: no row is read. */
	[BY_STATE] = "SELECT state, count(*) FROM user WHERE state <> 'deleted' GROUP BY state",
	/* In GiB and what is over: sum() fails where 64 bits do not hold it. */
	[TRAFFIC] = "SELECT ifnull(sum(max(total_up_bytes, 0) >> 30), 0),"
		    " ifnull(sum(max(total_up_bytes, 0) & 1073741823), 0),"
		    " ifnull(sum(max(total_down_bytes, 0) >> 30), 0),"
		    " ifnull(sum(max(total_down_bytes, 0) & 1073741823), 0) FROM user_usage",
	[REST] = "SELECT (SELECT count(*) FROM group_ WHERE deleted_unix = 0),"
		 " (SELECT count(*) FROM profile), (SELECT count(*) FROM host),"
		 " (SELECT count(*) FROM node WHERE retired_unix = 0),"
		 " (SELECT count(*) FROM node WHERE retired_unix = 0 AND enabled = 1),"
		 " (SELECT count(*) FROM inbound),"
		 " (SELECT count(*) FROM inbound WHERE state IN ('running', 'external')),"
		 " (SELECT count(*) FROM inbound WHERE state IN ('failed', 'unreachable'))",
};

static enum res read_states(struct conn *conn, struct overview *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_STATE]);
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK) {
		const char *word = (const char *)sqlite3_column_text(st, 0);
		int status = word_index(user_status_words, word ? word : "", USER_STATUSES);

		if (status != USER_STATUSES)
			out->users_by_status[status] += column_i64(st, 1);
		out->users += column_i64(st, 1);
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

static bool move_late(void *ctx, const struct user *user, enum user_status now)
{
	struct overview *out = ctx;

	out->users_by_status[user->state]--;
	out->users_by_status[now]++;
	return true;
}

static enum res read_numbers(struct conn *conn, int statement, int64_t *const *places, int count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[statement]);
	enum res res = stmt_row(conn, st);

	for (int i = 0; res == RES_OK && i < count; i++)
		*places[i] = column_i64(st, i);
	stmt_end(conn, st);
	return res;
}

static int64_t bytes_of(int64_t gib, int64_t rest)
{
	return num_add_sat(gib > INT64_MAX >> 30 ? INT64_MAX : gib * (1 << 30), rest);
}

enum res overview_read(struct conn *conn, int64_t now_unix, struct overview *out)
{
	int64_t up_gib, up_rest, down_gib, down_rest;
	int64_t *const traffic[] = {&up_gib, &up_rest, &down_gib, &down_rest};
	int64_t *const rest[] = {
		&out->groups,        &out->profiles, &out->hosts,            &out->nodes,
		&out->nodes_enabled, &out->inbounds, &out->inbounds_running, &out->inbounds_failed};
	int64_t floor;
	enum res res;

	memset(out, 0, sizeof *out);
	if ((res = read_states(conn, out)) != RES_OK ||
	    (res = user_late_each(conn, now_unix, move_late, out)) != RES_OK ||
	    (res = read_numbers(conn, TRAFFIC, traffic, 4)) != RES_OK ||
	    (res = read_numbers(conn, REST, rest, 8)) != RES_OK)
		return res;
	out->up_bytes = bytes_of(up_gib, up_rest);
	out->down_bytes = bytes_of(down_gib, down_rest);
	return store_revision(conn, &out->revision, &floor);
}
