#include "hythe/store/profiles.h"

#include "hythe/store/conn.h"
#include "rows.h"

#define COLUMNS                                                                                    \
	"p.id, p.public_id, p.kind, p.name, p.name_key, p.note, p.port, p.hop_ports, "             \
	"p.hop_interval_s, p.obfs, p.obfs_password_sealed, p.obfs_min_packet_bytes, "              \
	"p.obfs_max_packet_bytes, p.cert_mode, p.sni, p.server_sealed, "                           \
	"p.created_unix, p.version, "                                                              \
	"(SELECT count(*) FROM inbound WHERE profile_id = p.id)"
#define MATCHES "(?1 = '' OR instr(p.name_key, ?1) > 0)"

enum statement {
	BY_PUBLIC_ID,
	BY_ID,
	LIST_UP,
	LIST_DOWN,
	TOTAL,
	TAKEN,
	INSERT,
	UPDATE,
	TOUCH_GROUPS,
	DELETE
};

static const char *const SQL[] = {
	[BY_PUBLIC_ID] = "SELECT " COLUMNS " FROM profile p WHERE p.public_id = ?1",
	[BY_ID] = "SELECT " COLUMNS " FROM profile p WHERE p.id = ?1",
	[LIST_UP] = "SELECT " COLUMNS " FROM profile p WHERE " MATCHES
		    " AND p.name_key > ?2 ORDER BY p.name_key LIMIT ?3",
	[LIST_DOWN] = "SELECT " COLUMNS " FROM profile p WHERE " MATCHES
		      " AND (?2 = '' OR p.name_key < ?2) ORDER BY p.name_key DESC LIMIT ?3",
	[TOTAL] = "SELECT count(*) FROM profile p WHERE " MATCHES,
	[TAKEN] = "SELECT 1 FROM profile WHERE name_key = ?1 AND id <> ?2",
	[INSERT] = "INSERT INTO profile (public_id, name, name_key, note, port, hop_ports, "
		   "hop_interval_s, obfs, obfs_password_sealed, obfs_min_packet_bytes, "
		   "obfs_max_packet_bytes, cert_mode, sni, server_sealed, created_unix) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
	[UPDATE] = "UPDATE profile SET name = ?2, name_key = ?3, note = ?4, port = ?5, "
		   "hop_ports = ?6, hop_interval_s = ?7, obfs = ?8, obfs_password_sealed = ?9, "
		   "obfs_min_packet_bytes = ?10, obfs_max_packet_bytes = ?11, cert_mode = ?12, "
		   "sni = ?13, server_sealed = ?14, version = ?15 WHERE public_id = ?1",
	[TOUCH_GROUPS] = "UPDATE group_ SET version = " NEXT_VERSION " WHERE id IN "
			 "(SELECT group_id FROM group_access WHERE profile_id = ?1)",
	[DELETE] = "DELETE FROM profile WHERE id = ?1",
};

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct profile *out)
{
	const char *obfs = column_text(st, 9, arena), *cert_mode = column_text(st, 13, arena);

	*out = (struct profile){
		.id = column_i64(st, 0),
		.kind = column_text(st, 2, arena),
		.name = column_text(st, 3, arena),
		.name_key = column_text(st, 4, arena),
		.note = column_text(st, 5, arena),
		.port = column_i64(st, 6),
		.hop_ports = column_text(st, 7, arena),
		.hop_interval_s = column_i64(st, 8),
		.obfs_password = "",
		.obfs_min_packet_bytes = column_i64(st, 11),
		.obfs_max_packet_bytes = column_i64(st, 12),
		.sni = column_text(st, 14, arena),
		.server = "",
		.created_unix = column_i64(st, 16),
		.version = column_i64(st, 17),
		.inbound_count = column_i64(st, 18),
	};
	column_public_id(st, 1, &out->public_id);
	if (!obfs || !cert_mode || !out->kind || !out->name || !out->name_key || !out->note ||
	    !out->hop_ports || !out->sni ||
	    !column_bytes(st, 10, arena, &out->obfs_password_sealed,
			  &out->obfs_password_sealed_len) ||
	    !column_bytes(st, 15, arena, &out->server_sealed, &out->server_sealed_len))
		return RES_NOMEM;
	/* A CHECK of the table keeps other words out. */
	out->obfs = (enum obfs)word_index(obfs_words, obfs, OBFS_NONE);
	out->cert_mode =
		(enum cert_mode)word_index(cert_mode_words, cert_mode, CERT_SELF_SIGNED);
	return RES_OK;
}

static enum res read_one(struct conn *conn, sqlite3_stmt *st, struct arena *arena,
			 struct profile *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res profile_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			      struct profile *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return read_one(conn, st, arena, out);
}

enum res profile_by_id(struct conn *conn, int64_t id, struct arena *arena, struct profile *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_ID]);

	bind_i64(st, 1, id);
	return read_one(conn, st, arena, out);
}

enum res profile_list(struct conn *conn, const struct page *page, struct arena *arena,
		      struct profile **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[page->down ? LIST_DOWN : LIST_UP]);
	void *rows = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	bind_text(st, 1, page->q);
	bind_text(st, 2, page->after);
	bind_i64(st, 3, page->limit);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct profile *row = rows_more(arena, &rows, n, &cap, sizeof *row);

		if ((res = row ? read_row(st, arena, row) : RES_NOMEM) != RES_OK)
			break;
		n++;
	}
	stmt_end(conn, st);
	*list = rows;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res profile_total(struct conn *conn, const struct page *page, int64_t *total)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOTAL]);

	bind_text(st, 1, page->q);
	return rows_one(conn, st, total);
}

enum res profile_name_taken(struct conn *conn, const char *name_key, int64_t except, bool *taken)
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

/* Parameters 1 to 14 are the same for a new row and a changed one. */
static void bind_row(sqlite3_stmt *st, const struct profile *p)
{
	bind_text(st, 1, p->public_id.text);
	bind_text(st, 2, p->name);
	bind_text(st, 3, p->name_key);
	bind_text(st, 4, p->note);
	bind_i64(st, 5, p->port);
	bind_text(st, 6, p->hop_ports);
	bind_i64(st, 7, p->hop_interval_s);
	bind_text(st, 8, obfs_words[p->obfs]);
	if (p->obfs_password_sealed_len > 0)
		bind_blob(st, 9, p->obfs_password_sealed, p->obfs_password_sealed_len);
	else
		bind_null(st, 9);
	bind_i64(st, 10, p->obfs_min_packet_bytes);
	bind_i64(st, 11, p->obfs_max_packet_bytes);
	bind_text(st, 12, cert_mode_words[p->cert_mode]);
	bind_text(st, 13, p->sni);
	bind_blob(st, 14, p->server_sealed, p->server_sealed_len);
}

enum res profile_insert(struct conn *conn, const struct profile *profile, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);
	enum res res;

	bind_row(st, profile);
	bind_i64(st, 15, profile->created_unix);
	if ((res = stmt_run(conn, st)) == RES_OK)
		*id = conn_insert_id(conn);
	return res;
}

enum res profile_update(struct conn *conn, const struct profile *profile)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[UPDATE]);

	bind_row(st, profile);
	bind_i64(st, 15, profile->version);
	return stmt_run(conn, st);
}

enum res profile_remove(struct conn *conn, int64_t id)
{
	enum res res = rows_run_id(conn, SQL[TOUCH_GROUPS], id);

	if (res != RES_OK)
		return res;
	return rows_run_id(conn, SQL[DELETE], id);
}
