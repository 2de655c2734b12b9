#include "store_internal.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_S       (INT64_C(7) * 86400)
#define KEPT_ROWS    100000
#define YOUNG_S      600 /* a running full state of a node began at most so long ago */
#define PRUNE_CHUNK  250
#define PRUNE_JOB_MS 5

/* Room before the row is written, so that a row is never without its record. */
static struct change *change_reserve(struct change_list *changes)
{
	size_t cap = changes->cap ? changes->cap * 2 : 32;
	struct change *items;

	if (changes->count == changes->cap) {
		items = reallocarray(changes->items, cap, sizeof *items);
		if (!items)
			return NULL;
		changes->items = items;
		changes->cap = cap;
	}
	return &changes->items[changes->count];
}

enum res txn_change(struct txn *txn, enum change_kind kind, int64_t id, int64_t group_id,
		    bool gained)
{
	struct change *change = change_reserve(txn->changes);
	sqlite3_stmt *st;
	enum res res;

	if (!change)
		return RES_NOMEM;
	if (kind >= CHANGE_TOKEN) /* these have calls of their own, and no row */
		return RES_INTERNAL;
	st = conn_stmt(txn->conn, "INSERT INTO change_log (kind, id, group_id, gained, at_unix)"
				  " VALUES (?1, ?2, ?3, ?4, ?5)");
	bind_i64(st, 1, (int64_t)kind);
	bind_i64(st, 2, id);
	bind_i64(st, 3, group_id);
	bind_i64(st, 4, gained);
	bind_i64(st, 5, clock_unix(txn->store->clock));
	if ((res = stmt_run(txn->conn, st)) != RES_OK)
		return res;
	*change = (struct change){.seq = conn_insert_id(txn->conn),
				  .id = id,
				  .group_id = group_id,
				  .kind = kind,
				  .gained = gained};
	txn->changes->last_seq = change->seq;
	txn->changes->count++;
	return RES_OK;
}

enum res txn_change_token(struct txn *txn, int64_t user_id, const uint8_t *old_token,
			  const uint8_t *new_token)
{
	struct change *change = change_reserve(txn->changes);

	if (!change)
		return RES_NOMEM;
	*change = (struct change){.id = user_id,
				  .kind = CHANGE_TOKEN,
				  .had_token = old_token != NULL,
				  .has_token = new_token != NULL};
	if (old_token)
		memcpy(change->old_token, old_token, sizeof change->old_token);
	if (new_token)
		memcpy(change->new_token, new_token, sizeof change->new_token);
	txn->changes->count++;
	return RES_OK;
}

enum res txn_change_setting(struct txn *txn)
{
	struct change *change = change_reserve(txn->changes);

	if (!change)
		return RES_NOMEM;
	*change = (struct change){.kind = CHANGE_SETTING};
	txn->changes->count++;
	return RES_OK;
}

enum res txn_sum_add(struct txn *txn, enum sum_kind kind, int64_t id, const uint8_t hash[32],
		     int64_t times)
{
	return sums_add(txn->sums, kind, id, hash, times, txn->depth > 0);
}

/* --- Revisions --- */

enum res store_revision(struct conn *conn, int64_t *last, int64_t *floor)
{
	sqlite3_stmt *st = conn_stmt(
		conn, "SELECT coalesce((SELECT max(seq) FROM change_log), 0),"
		      " coalesce((SELECT value FROM setting WHERE key = 'log_floor'), 0)");
	enum res res = stmt_row(conn, st);

	if (res == RES_OK) {
		*last = column_i64(st, 0);
		*floor = column_i64(st, 1);
		/* A panel that was quiet for a week has a floor and no row. */
		if (*last < *floor)
			*last = *floor;
	}
	stmt_end(conn, st);
	return res;
}

enum res change_last_seq(struct conn *conn, int64_t *last)
{
	int64_t floor;

	return store_revision(conn, last, &floor);
}

/* --- Pruning --- */

struct prune {
	int64_t now_unix;
	bool more; /* this job's 5 ms were not enough */
};

static bool prunable(const struct prune *prune, int64_t last, int64_t seq, int64_t at_unix)
{
	bool young = at_unix >= prune->now_unix - YOUNG_S && at_unix <= prune->now_unix + YOUNG_S;

	/* A row from the future (the clock was wrong once) is not young for ever. */
	return at_unix < prune->now_unix - KEPT_S || (seq <= last - KEPT_ROWS && !young);
}

/* The end of the first chunk of rows that may go: 0 if not even the first may. */
static enum res prune_find(struct txn *txn, const struct prune *prune, int64_t *upto, bool *full)
{
	sqlite3_stmt *st =
		conn_stmt(txn->conn, "SELECT seq, at_unix FROM change_log ORDER BY seq LIMIT ?1");
	unsigned rows = 0;
	enum res res;

	*upto = 0;
	bind_i64(st, 1, PRUNE_CHUNK);
	while ((res = stmt_row(txn->conn, st)) == RES_OK) {
		int64_t seq = column_i64(st, 0);

		if (!prunable(prune, txn->changes->last_seq, seq, column_i64(st, 1)))
			break;
		*upto = seq;
		rows++;
	}
	stmt_end(txn->conn, st);
	*full = rows == PRUNE_CHUNK;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

static enum res prune_delete(struct conn *conn, int64_t upto)
{
	sqlite3_stmt *st = conn_stmt(conn, "DELETE FROM change_log WHERE seq <= ?1");

	bind_i64(st, 1, upto);
	return stmt_run(conn, st);
}

static enum res floor_write(struct conn *conn, int64_t floor)
{
	sqlite3_stmt *st =
		conn_stmt(conn, "INSERT INTO setting (key, value) VALUES ('log_floor', ?1)"
				" ON CONFLICT (key) DO UPDATE SET value = excluded.value");

	bind_i64(st, 1, floor);
	return stmt_run(conn, st);
}

static enum res prune_job(struct txn *txn, void *arg)
{
	struct prune *prune = arg;
	int64_t until = mono_ms() + PRUNE_JOB_MS, upto = 0, floor = 0;
	bool full = true;
	enum res res = RES_OK;

	while (full && mono_ms() < until) {
		if ((res = prune_find(txn, prune, &upto, &full)) != RES_OK)
			return res;
		if (upto == 0)
			break;
		if ((res = prune_delete(txn->conn, upto)) != RES_OK)
			return res;
		floor = upto;
	}
	prune->more = full && upto != 0;
	return floor ? floor_write(txn->conn, floor) : RES_OK;
}

enum res store_prune_changes(struct store *store)
{
	struct prune prune = {.now_unix = clock_unix(store->clock), .more = true};
	enum res res = RES_OK;

	while (res == RES_OK && prune.more)
		res = store_write(store, STORE_FROM_TIMER, prune_job, &prune, 1000, NULL);
	return res;
}
