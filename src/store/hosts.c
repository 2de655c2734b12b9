#include "hythe/store/hosts.h"

#include "hythe/store/conn.h"
#include "rows.h"

#define SELECT                                                                                     \
	"SELECT h.id, h.public_id, h.inbound_id, h.name, h.address, h.port, h.sni, h.sort_order, " \
	"h.enabled, h.hidden, h.formats, h.created_unix, h.version, i.public_id, n.name, p.name "  \
	"FROM host h JOIN inbound i ON i.id = h.inbound_id JOIN node n ON n.id = i.node_id "       \
	"JOIN profile p ON p.id = i.profile_id WHERE "
#define MATCHES                                                                                    \
	"(?1 = 0 OR h.inbound_id = ?1) AND "                                                       \
	"(?2 = '' OR instr(lower(h.name), ?2) > 0 OR instr(h.address, ?2) > 0)"

enum statement { BY_PUBLIC_ID, LIST_UP, LIST_DOWN, TOTAL, INSERT, UPDATE, DELETE };

static const char *const SQL[] = {
	[BY_PUBLIC_ID] = SELECT "h.public_id = ?1",
	[LIST_UP] = SELECT MATCHES " AND (?4 = 0 OR (h.sort_order, h.id) > (?3, ?4)) "
				   "ORDER BY h.sort_order, h.id LIMIT ?5",
	[LIST_DOWN] = SELECT MATCHES " AND (?4 = 0 OR (h.sort_order, h.id) < (?3, ?4)) "
				     "ORDER BY h.sort_order DESC, h.id DESC LIMIT ?5",
	[TOTAL] = "SELECT count(*) FROM host h WHERE " MATCHES,
	[INSERT] = "INSERT INTO host (public_id, name, address, port, sni, sort_order, "
		   "enabled, hidden, formats, inbound_id, created_unix) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
	[UPDATE] = "UPDATE host SET name = ?2, address = ?3, port = ?4, sni = ?5, "
		   "sort_order = ?6, enabled = ?7, hidden = ?8, formats = ?9, version = ?10 "
		   "WHERE public_id = ?1",
	[DELETE] = "DELETE FROM host WHERE id = ?1",
};

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct host_row *out)
{
	struct host *host = &out->host;

	*out = (struct host_row){
		.host = {.id = column_i64(st, 0),
			 .inbound_id = column_i64(st, 2),
			 .name = column_text(st, 3, arena),
			 .address = column_text(st, 4, arena),
			 .port = column_i64(st, 5),
			 .sni = column_text(st, 6, arena),
			 .sort_order = column_i64(st, 7),
			 .enabled = column_i64(st, 8) != 0,
			 .hidden = column_i64(st, 9) != 0,
			 .formats = column_text(st, 10, arena),
			 .created_unix = column_i64(st, 11),
			 .version = column_i64(st, 12)},
		.node_name = column_text(st, 14, arena),
		.profile_name = column_text(st, 15, arena),
	};
	column_public_id(st, 1, &host->public_id);
	column_public_id(st, 13, &out->inbound_public_id);
	if (!host->name || !host->address || !host->sni || !host->formats || !out->node_name ||
	    !out->profile_name)
		return RES_NOMEM;
	return RES_OK;
}

enum res host_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			   struct host_row *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_PUBLIC_ID]);
	enum res res;

	bind_text(st, 1, public_id);
	if ((res = stmt_row(conn, st)) == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res host_list(struct conn *conn, const struct host_page *page, struct arena *arena,
		   struct host_row **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[page->down ? LIST_DOWN : LIST_UP]);
	void *rows = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	bind_i64(st, 1, page->inbound_id);
	bind_text(st, 2, page->q);
	bind_i64(st, 3, page->after_order);
	bind_i64(st, 4, page->after_id);
	bind_i64(st, 5, page->limit);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct host_row *row = rows_more(arena, &rows, n, &cap, sizeof *row);

		if ((res = row ? read_row(st, arena, row) : RES_NOMEM) != RES_OK)
			break;
		n++;
	}
	stmt_end(conn, st);
	*list = rows;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res host_total(struct conn *conn, const struct host_page *page, int64_t *total)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOTAL]);

	bind_i64(st, 1, page->inbound_id);
	bind_text(st, 2, page->q);
	return rows_one(conn, st, total);
}

/* Parameters 1 to 9 are the same for a new row and a changed one. */
static void bind_row(sqlite3_stmt *st, const struct host *host)
{
	bind_text(st, 1, host->public_id.text);
	bind_text(st, 2, host->name);
	bind_text(st, 3, host->address);
	bind_i64(st, 4, host->port);
	bind_text(st, 5, host->sni);
	bind_i64(st, 6, host->sort_order);
	bind_i64(st, 7, host->enabled);
	bind_i64(st, 8, host->hidden);
	bind_text(st, 9, host->formats);
}

enum res host_insert(struct conn *conn, const struct host *host, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);
	enum res res;

	bind_row(st, host);
	bind_i64(st, 10, host->inbound_id);
	bind_i64(st, 11, host->created_unix);
	if ((res = stmt_run(conn, st)) == RES_OK)
		*id = conn_insert_id(conn);
	return res;
}

enum res host_update(struct conn *conn, const struct host *host)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[UPDATE]);

	bind_row(st, host);
	bind_i64(st, 10, host->version);
	return stmt_run(conn, st);
}

enum res host_remove(struct conn *conn, int64_t id)
{
	return rows_run_id(conn, SQL[DELETE], id);
}
