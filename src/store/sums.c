#include "store_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/log.h"

/* Numbers mod 2^256 as four words, least significant first. A sum's change within a job is such a
 * number too: taking away is adding the complement. */

__extension__ typedef unsigned __int128 wide;

static void limbs_load(uint64_t limbs[4], const uint8_t bytes[32])
{
	for (size_t i = 0; i < 4; i++) {
		uint64_t word = 0;

		for (size_t k = 0; k < 8; k++)
			word = word << 8 | bytes[(3 - i) * 8 + k];
		limbs[i] = word;
	}
}

static void limbs_store(const uint64_t limbs[4], uint8_t bytes[32])
{
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 8; k++)
			bytes[(3 - i) * 8 + k] = (uint8_t)(limbs[i] >> (56 - 8 * k));
}

static void limbs_add(uint64_t total[4], const uint64_t more[4])
{
	wide carry = 0;

	for (size_t i = 0; i < 4; i++) {
		carry += (wide)total[i] + more[i];
		total[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

static void limbs_add_times(uint64_t total[4], const uint8_t hash[32], int64_t times)
{
	/* -INT64_MIN has no place in an int64_t, but its magnitude has one here. */
	uint64_t factor = times < 0 ? ~(uint64_t)times + 1 : (uint64_t)times;
	uint64_t product[4];
	wide carry = 0;

	limbs_load(product, hash);
	for (size_t i = 0; i < 4; i++) {
		carry += (wide)product[i] * factor;
		product[i] = (uint64_t)carry;
		carry >>= 64;
	}
	if (times < 0) {
		const uint64_t one[4] = {1, 0, 0, 0};

		for (size_t i = 0; i < 4; i++)
			product[i] = ~product[i];
		limbs_add(product, one);
	}
	limbs_add(total, product);
}

void sum_add_bytes(uint8_t total[32], const uint8_t hash[32], int64_t times)
{
	uint64_t limbs[4];

	limbs_load(limbs, total);
	limbs_add_times(limbs, hash, times);
	limbs_store(limbs, total);
}

/* --- The table --- */

#define CELLS_FIRST 16
#define CELLS_KEPT  256 /* a bulk job's larger table is given back after it */

static struct sum_cell *cell_find(const struct sums *sums, enum sum_kind kind, int64_t id)
{
	/* Fibonacci hashing: ids are small and close together. */
	uint64_t hash = ((uint64_t)id * 4 + (uint64_t)kind) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 32) & (sums->size - 1);

	while (sums->cells[at].used && (sums->cells[at].id != id || sums->cells[at].kind != kind))
		at = (at + 1) & (sums->size - 1);
	return &sums->cells[at];
}

static enum res cells_grow(struct sums *sums)
{
	struct sums larger = {.size = sums->size ? sums->size * 2 : CELLS_FIRST};

	larger.cells = calloc(larger.size, sizeof *larger.cells);
	if (!larger.cells)
		return RES_NOMEM;
	for (size_t i = 0; i < sums->size; i++)
		if (sums->cells[i].used)
			*cell_find(&larger, sums->cells[i].kind, sums->cells[i].id) =
				sums->cells[i];
	free(sums->cells);
	sums->cells = larger.cells;
	sums->size = larger.size;
	return RES_OK;
}

static enum res undo_reserve(struct sums *sums)
{
	size_t cap = sums->undo_cap ? sums->undo_cap * 2 : 16;
	struct sum_undo *undo;

	if (sums->undo_count < sums->undo_cap)
		return RES_OK;
	undo = reallocarray(sums->undo, cap, sizeof *undo);
	if (!undo)
		return RES_NOMEM;
	sums->undo = undo;
	sums->undo_cap = cap;
	return RES_OK;
}

enum res sums_add(struct sums *sums, enum sum_kind kind, int64_t id, const uint8_t hash[32],
		  int64_t times, bool undoable)
{
	struct sum_cell *cell;
	enum res res;

	if (undoable && (res = undo_reserve(sums)) != RES_OK)
		return res;
	if (sums->count * 2 >= sums->size && (res = cells_grow(sums)) != RES_OK)
		return res;
	cell = cell_find(sums, kind, id);
	if (!cell->used) {
		*cell = (struct sum_cell){.id = id, .kind = kind, .used = true};
		sums->count++;
	}
	limbs_add_times(cell->limbs, hash, times);
	if (undoable) {
		struct sum_undo *undo = &sums->undo[sums->undo_count++];

		*undo = (struct sum_undo){.id = id, .times = times, .kind = kind};
		memcpy(undo->hash, hash, sizeof undo->hash);
	}
	return RES_OK;
}

void sums_undo_to(struct sums *sums, size_t mark)
{
	while (sums->undo_count > mark) {
		const struct sum_undo *undo = &sums->undo[--sums->undo_count];
		struct sum_cell *cell = cell_find(sums, undo->kind, undo->id);

		/* Twice, as INT64_MIN has no opposite: -t = (-1 - t) + 1. */
		limbs_add_times(cell->limbs, undo->hash, -1 - undo->times);
		limbs_add_times(cell->limbs, undo->hash, 1);
	}
}

void sums_reset(struct sums *sums)
{
	sums->undo_count = 0;
	if (sums->size > CELLS_KEPT || sums->undo_cap > CELLS_KEPT)
		sums_free(sums);
	else if (sums->count > 0)
		memset(sums->cells, 0, sums->size * sizeof *sums->cells);
	sums->count = 0;
}

void sums_free(struct sums *sums)
{
	free(sums->cells);
	free(sums->undo);
	*sums = (struct sums){0};
}

/* --- Into the rows --- */

/* `parts`: the hashes that the sum is made of, as they stand when a job has written its rows. */
static const struct {
	const char *read, *write, *parts;
} SQL[] = {
	[SUM_GROUP] = {.read = "SELECT sum FROM group_ WHERE id = ?1",
		       .write = "UPDATE group_ SET sum = ?2 WHERE id = ?1",
		       .parts = "SELECT u.record_hash FROM user_group AS m"
				" JOIN user AS u ON u.id = m.user_id"
				" WHERE m.group_id = ?1 AND u.served = 1"},
	[SUM_NODE_BASE] = {.read = "SELECT base FROM node_state WHERE node_id = ?1",
			   .write = "UPDATE node_state SET base = ?2 WHERE node_id = ?1",
			   .parts = "SELECT record_hash FROM inbound WHERE node_id = ?1 UNION ALL"
				    " SELECT record_hash FROM node_group WHERE node_id = ?1"},
	[SUM_NODE_MINUS] = {.read = "SELECT minus FROM node_state WHERE node_id = ?1",
			    .write = "UPDATE node_state SET minus = ?2 WHERE node_id = ?1",
			    .parts = "SELECT u.record_hash FROM user_node AS e"
				     " JOIN user AS u ON u.id = e.user_id AND u.served = 1"
				     " JOIN user_group AS m ON m.user_id = u.id"
				     " JOIN node_group AS a ON a.node_id = e.node_id"
				     " AND a.group_id = m.group_id AND a.record_hash <> x''"
				     " WHERE e.node_id = ?1"},
};

static const char *const kind_words[] = {
	[SUM_GROUP] = "group", [SUM_NODE_BASE] = "node_base", [SUM_NODE_MINUS] = "node_minus"};

/* A row that somebody changed by hand: its sum is what its parts make. */
static enum res sum_recount(struct conn *conn, const struct sum_cell *cell, uint8_t sum[32])
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[cell->kind].parts);
	uint8_t hash[32];
	enum res res;

	memset(sum, 0, 32);
	bind_i64(st, 1, cell->id);
	while ((res = stmt_row(conn, st)) == RES_OK)
		if (column_blob(st, 0, hash, sizeof hash))
			sum_add_bytes(sum, hash, 1);
	stmt_end(conn, st);
	if (res != RES_NOT_FOUND)
		return res;
	log_error("sum_recounted", "of=%s id=%" PRId64 " text=%s", kind_words[cell->kind], cell->id,
		  log_quote("what was stored is no sum"));
	return RES_OK;
}

static enum res sum_read(struct conn *conn, const struct sum_cell *cell, uint8_t sum[32])
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[cell->kind].read);
	enum res res;

	bind_i64(st, 1, cell->id);
	res = stmt_row(conn, st);
	if (res == RES_OK && !column_blob(st, 0, sum, 32))
		res = RES_CORRUPT;
	stmt_end(conn, st);
	return res;
}

/* RES_NOT_FOUND: neither state nor node. */
static enum res sum_read_or_create(struct conn *conn, const struct sum_cell *cell, uint8_t sum[32])
{
	enum res res = sum_read(conn, cell, sum);
	sqlite3_stmt *st;

	if (res != RES_NOT_FOUND || cell->kind == SUM_GROUP)
		return res;
	st = conn_stmt(
		conn,
		"INSERT OR IGNORE INTO node_state (node_id) SELECT id FROM node WHERE id = ?1");
	bind_i64(st, 1, cell->id);
	if ((res = stmt_run(conn, st)) != RES_OK)
		return res;
	return sum_read(conn, cell, sum);
}

static enum res sum_flush(struct conn *conn, const struct sum_cell *cell)
{
	uint8_t sum[32];
	uint64_t limbs[4];
	sqlite3_stmt *st;
	enum res res = sum_read_or_create(conn, cell, sum);
	bool damaged = res == RES_CORRUPT && conn->sick == RES_OK;

	/* A group or node that the job deleted takes its sum with it. */
	if (res == RES_NOT_FOUND)
		return RES_OK;
	if (damaged)
		res = sum_recount(conn, cell, sum);
	if (res != RES_OK)
		return res;
	limbs_load(limbs, sum);
	if (!damaged) /* the recount has seen this job's rows */
		limbs_add(limbs, cell->limbs);
	limbs_store(limbs, sum);
	st = conn_stmt(conn, SQL[cell->kind].write);
	bind_i64(st, 1, cell->id);
	bind_blob(st, 2, sum, sizeof sum);
	return stmt_run(conn, st);
}

enum res sums_flush(struct sums *sums, struct conn *conn)
{
	static const uint64_t zero[4];

	for (size_t i = 0; sums->count > 0 && i < sums->size; i++) {
		const struct sum_cell *cell = &sums->cells[i];
		enum res res;

		if (!cell->used || memcmp(cell->limbs, zero, sizeof zero) == 0)
			continue;
		if ((res = sum_flush(conn, cell)) != RES_OK)
			return res;
	}
	return RES_OK;
}
