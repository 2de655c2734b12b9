#include "hythe/store/audit.h"

#include "hythe/store/conn.h"

enum { AUDIT_INSERT, EVENT_INSERT };

static const char *const SQL[] = {
	[AUDIT_INSERT] =
		"INSERT INTO audit (at_unix, actor, address, action, target, detail, result)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[EVENT_INSERT] = "INSERT INTO event (at_unix, kind, severity, subject, data)"
			 " VALUES (?1, ?2, ?3, ?4, ?5)",
};

enum res audit_insert(struct conn *conn, const struct audit_row *row)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[AUDIT_INSERT]);

	bind_i64(st, 1, row->at_unix);
	bind_text(st, 2, row->actor);
	bind_text(st, 3, row->address);
	bind_text(st, 4, row->action);
	bind_text(st, 5, row->target);
	bind_text(st, 6, row->detail ? row->detail : "{}");
	bind_text(st, 7, row->result);
	return stmt_run(conn, st);
}

enum res event_insert(struct conn *conn, const struct event_row *row)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[EVENT_INSERT]);

	bind_i64(st, 1, row->at_unix);
	bind_text(st, 2, row->kind);
	bind_text(st, 3, row->severity);
	bind_text(st, 4, row->subject);
	bind_text(st, 5, row->data ? row->data : "{}");
	return stmt_run(conn, st);
}
