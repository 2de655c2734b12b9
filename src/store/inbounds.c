#include "hythe/store/inbounds.h"

#include "hythe/store/conn.h"
#include "rows.h"

#define SELECT                                                                                     \
	"SELECT i.id, i.public_id, i.node_id, i.profile_id, i.core, i.managed, i.enabled, "        \
	"i.port, i.sni, i.state, i.state_error, i.state_since_unix, i.first_run_unix, "            \
	"i.last_ok_unix, i.cert_pin, i.key_pin, i.cert_pem, i.cert_not_after_unix, "               \
	"i.created_unix, i.version, i.record_hash, "                                               \
	"n.public_id, p.public_id, n.name, p.name, p.port, p.hop_ports, p.sni, "    \
	"n.enabled AND n.retired_unix = 0, p.cert_mode = 'self_signed' "                           \
	"FROM inbound i JOIN node n ON n.id = i.node_id "                                          \
	"JOIN profile p ON p.id = i.profile_id WHERE "
#define MATCHES                                                                                    \
	"(?1 = 0 OR i.node_id = ?1) AND (?2 = 0 OR i.profile_id = ?2) AND "                        \
	"(?3 = '' OR instr(n.name_key, ?3) > 0 OR instr(p.name_key, ?3) > 0)"

enum statement {
	BY_PUBLIC_ID,
	BY_ID,
	LIST_UP,
	LIST_DOWN,
	TOTAL,
	OF_NODE,
	OF_PROFILE,
	EXISTS,
	INSERT,
	UPDATE,
	SET_RECORD,
	DELETE
};

static const char *const SQL[] = {
	[BY_PUBLIC_ID] = SELECT "i.public_id = ?1",
	[BY_ID] = SELECT "i.id = ?1",
	[LIST_UP] = SELECT MATCHES " AND i.id > ?4 ORDER BY i.id LIMIT ?5",
	[LIST_DOWN] = SELECT MATCHES " AND (?4 = 0 OR i.id < ?4) ORDER BY i.id DESC LIMIT ?5",
	[TOTAL] = "SELECT count(*) FROM inbound i JOIN node n ON n.id = i.node_id "
		  "JOIN profile p ON p.id = i.profile_id WHERE " MATCHES,
	[OF_NODE] = "SELECT id FROM inbound WHERE node_id = ?1 ORDER BY id",
	[OF_PROFILE] = "SELECT id FROM inbound WHERE profile_id = ?1 ORDER BY id",
	[EXISTS] = "SELECT 1 FROM inbound WHERE node_id = ?1 AND profile_id = ?2",
	[INSERT] =
		"INSERT INTO inbound (public_id, managed, enabled, port, sni, state, state_error, "
		"state_since_unix, first_run_unix, last_ok_unix, cert_pin, key_pin, cert_pem, "
		"cert_not_after_unix, node_id, profile_id, created_unix) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
		"?15, ?16, ?17)",
	[UPDATE] =
		"UPDATE inbound SET managed = ?2, enabled = ?3, port = ?4, sni = ?5, state = ?6, "
		"state_error = ?7, state_since_unix = ?8, first_run_unix = ?9, "
		"last_ok_unix = ?10, cert_pin = ?11, key_pin = ?12, cert_pem = ?13, "
		"cert_not_after_unix = ?14, version = ?15 WHERE public_id = ?1",
	[SET_RECORD] = "UPDATE inbound SET record_hash = ?2 WHERE id = ?1",
	[DELETE] = "DELETE FROM inbound WHERE id = ?1",
};

static struct pin column_pin(sqlite3_stmt *st, int column)
{
	struct pin pin;

	pin.known = column_blob(st, column, pin.bytes, sizeof pin.bytes);
	return pin;
}

static enum res read_row(sqlite3_stmt *st, struct arena *arena, struct inbound *out)
{
	const char *state = column_text(st, 9, arena);

	*out = (struct inbound){
		.id = column_i64(st, 0),
		.node_id = column_i64(st, 2),
		.profile_id = column_i64(st, 3),
		.core = column_text(st, 4, arena),
		.managed = column_i64(st, 5) != 0,
		.enabled = column_i64(st, 6) != 0,
		.port = column_i64(st, 7),
		.sni = column_text(st, 8, arena),
		.state_error = column_text(st, 10, arena),
		.state_since_unix = column_i64(st, 11),
		.first_run_unix = column_i64(st, 12),
		.last_ok_unix = column_i64(st, 13),
		.cert_pin = column_pin(st, 14),
		.key_pin = column_pin(st, 15),
		.cert_pem = column_text(st, 16, arena),
		.cert_not_after_unix = column_i64(st, 17),
		.created_unix = column_i64(st, 18),
		.version = column_i64(st, 19),
		.node_name = column_text(st, 23, arena),
		.profile_name = column_text(st, 24, arena),
		.profile_port = column_i64(st, 25),
		.profile_hop_ports = column_text(st, 26, arena),
		.profile_sni = column_text(st, 27, arena),
		.node_open = column_i64(st, 28) != 0,
		.self_signed = column_i64(st, 29) != 0,
	};
	out->recorded = column_blob(st, 20, out->record_hash, sizeof out->record_hash);
	column_public_id(st, 1, &out->public_id);
	column_public_id(st, 21, &out->node_public_id);
	column_public_id(st, 22, &out->profile_public_id);
	if (!state || !out->core || !out->sni || !out->state_error || !out->cert_pem ||
	    !out->node_name || !out->profile_name || !out->profile_hop_ports || !out->profile_sni)
		return RES_NOMEM;
	/* A CHECK of the table keeps other words out. */
	out->state = (enum inbound_state)word_index(inbound_state_words, state, INBOUND_PENDING);
	return RES_OK;
}

static enum res read_one(struct conn *conn, sqlite3_stmt *st, struct arena *arena,
			 struct inbound *out)
{
	enum res res = stmt_row(conn, st);

	if (res == RES_OK)
		res = read_row(st, arena, out);
	stmt_end(conn, st);
	return res;
}

enum res inbound_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			      struct inbound *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_PUBLIC_ID]);

	bind_text(st, 1, public_id);
	return read_one(conn, st, arena, out);
}

enum res inbound_by_id(struct conn *conn, int64_t id, struct arena *arena, struct inbound *out)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[BY_ID]);

	bind_i64(st, 1, id);
	return read_one(conn, st, arena, out);
}

static void bind_matches(sqlite3_stmt *st, const struct inbound_page *page)
{
	bind_i64(st, 1, page->node_id);
	bind_i64(st, 2, page->profile_id);
	bind_text(st, 3, page->q);
}

enum res inbound_list(struct conn *conn, const struct inbound_page *page, struct arena *arena,
		      struct inbound **list, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[page->down ? LIST_DOWN : LIST_UP]);
	void *rows = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	bind_matches(st, page);
	bind_i64(st, 4, page->after);
	bind_i64(st, 5, page->limit);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		struct inbound *row = rows_more(arena, &rows, n, &cap, sizeof *row);

		if ((res = row ? read_row(st, arena, row) : RES_NOMEM) != RES_OK)
			break;
		n++;
	}
	stmt_end(conn, st);
	*list = rows;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res inbound_total(struct conn *conn, const struct inbound_page *page, int64_t *total)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[TOTAL]);

	bind_matches(st, page);
	return rows_one(conn, st, total);
}

enum res inbounds_of_node(struct conn *conn, int64_t node_id, struct arena *arena, int64_t **ids,
			  size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[OF_NODE]);

	bind_i64(st, 1, node_id);
	return rows_ids(conn, st, arena, ids, count);
}

enum res inbounds_of_profile(struct conn *conn, int64_t profile_id, struct arena *arena,
			     int64_t **ids, size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[OF_PROFILE]);

	bind_i64(st, 1, profile_id);
	return rows_ids(conn, st, arena, ids, count);
}

enum res inbound_exists(struct conn *conn, int64_t node_id, int64_t profile_id, bool *exists)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[EXISTS]);
	int64_t found;
	enum res res;

	bind_i64(st, 1, node_id);
	bind_i64(st, 2, profile_id);
	res = rows_one(conn, st, &found);
	*exists = found != 0;
	return res;
}

static void bind_pin(sqlite3_stmt *st, int index, const struct pin *pin)
{
	if (pin->known)
		bind_blob(st, index, pin->bytes, sizeof pin->bytes);
	else
		bind_null(st, index);
}

/* Parameters 1 to 14 are the same for a new row and a changed one. */
static void bind_row(sqlite3_stmt *st, const struct inbound *inbound)
{
	bind_text(st, 1, inbound->public_id.text);
	bind_i64(st, 2, inbound->managed);
	bind_i64(st, 3, inbound->enabled);
	bind_i64(st, 4, inbound->port);
	bind_text(st, 5, inbound->sni);
	bind_text(st, 6, inbound_state_words[inbound->state]);
	bind_text(st, 7, inbound->state_error);
	bind_i64(st, 8, inbound->state_since_unix);
	bind_i64(st, 9, inbound->first_run_unix);
	bind_i64(st, 10, inbound->last_ok_unix);
	bind_pin(st, 11, &inbound->cert_pin);
	bind_pin(st, 12, &inbound->key_pin);
	bind_text(st, 13, inbound->cert_pem);
	bind_i64(st, 14, inbound->cert_not_after_unix);
}

enum res inbound_insert(struct conn *conn, const struct inbound *inbound, int64_t *id)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[INSERT]);
	enum res res;

	bind_row(st, inbound);
	bind_i64(st, 15, inbound->node_id);
	bind_i64(st, 16, inbound->profile_id);
	bind_i64(st, 17, inbound->created_unix);
	if ((res = stmt_run(conn, st)) == RES_OK)
		*id = conn_insert_id(conn);
	return res;
}

enum res inbound_update(struct conn *conn, const struct inbound *inbound)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[UPDATE]);

	bind_row(st, inbound);
	bind_i64(st, 15, inbound->version);
	return stmt_run(conn, st);
}

enum res inbound_record_set(struct conn *conn, int64_t id, const uint8_t *hash)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SET_RECORD]);

	bind_i64(st, 1, id);
	bind_blob(st, 2, hash, hash ? 32 : 0);
	return stmt_run(conn, st);
}

enum res inbound_remove(struct conn *conn, int64_t id)
{
	return rows_run_id(conn, SQL[DELETE], id);
}
