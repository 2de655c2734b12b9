#include "hythe/store/usage.h"

#include "hythe/store/conn.h"

enum { SET_USAGE, SET_PERIOD, NO_PERIOD, STATEMENTS };

static const char *const SQL[STATEMENTS] = {
	[SET_USAGE] = "UPDATE user_usage SET period_no = ?2, period_start_unix = ?3,"
		      " period_end_unix = ?4, used_up_bytes = ?5, used_down_bytes = ?6"
		      " WHERE user_id = ?1",
	[SET_PERIOD] = "INSERT INTO user_period (user_id, period_end_unix) VALUES (?1, ?2)"
		       " ON CONFLICT (user_id)"
		       " DO UPDATE SET period_end_unix = excluded.period_end_unix",
	[NO_PERIOD] = "DELETE FROM user_period WHERE user_id = ?1",
};

static enum res set_timer_row(struct conn *conn, int64_t user_id, int64_t end_unix)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[end_unix > 0 ? SET_PERIOD : NO_PERIOD]);

	bind_i64(st, 1, user_id);
	if (end_unix > 0)
		bind_i64(st, 2, end_unix);
	return stmt_run(conn, st);
}

enum res usage_set_period(struct conn *conn, int64_t user_id, const struct user_usage *usage)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SET_USAGE]);
	enum res res;

	bind_i64(st, 1, user_id);
	bind_i64(st, 2, usage->period_no);
	bind_i64(st, 3, usage->period_start_unix);
	bind_i64(st, 4, usage->period_end_unix);
	bind_i64(st, 5, usage->used_up_bytes);
	bind_i64(st, 6, usage->used_down_bytes);
	if ((res = stmt_run(conn, st)) != RES_OK)
		return res;
	return set_timer_row(conn, user_id, usage->period_end_unix);
}
