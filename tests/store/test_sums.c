/* Sums mod 2^256: the arithmetic against a slow one, and rows against a recount. */
#include "store/store_internal.h"
#include "store_test.h"

static uint64_t random_state = 0x9e3779b97f4a7c15u;

/* xorshift*: the same walk every time. */
static uint64_t random_next(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

static void random_hash(uint8_t hash[32])
{
	for (size_t i = 0; i < 32; i++)
		hash[i] = (uint8_t)random_next();
}

/* One addition, byte by byte from the end. */
static void slow_add(uint8_t total[32], const uint8_t hash[32])
{
	unsigned carry = 0;

	for (size_t i = 32; i-- > 0;) {
		carry += (unsigned)total[i] + hash[i];
		total[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

static void slow_negate(uint8_t value[32])
{
	static const uint8_t one[32] = {[31] = 1};

	for (size_t i = 0; i < 32; i++)
		value[i] = (uint8_t)~value[i];
	slow_add(value, one);
}

static void slow_add_times(uint8_t total[32], const uint8_t hash[32], int64_t times)
{
	uint8_t step[32];

	memcpy(step, hash, 32);
	if (times < 0)
		slow_negate(step);
	for (int64_t i = 0; i < (times < 0 ? -times : times); i++)
		slow_add(total, step);
}

static void test_arithmetic(void)
{
	uint8_t fast[32], slow[32], hash[32];

	for (int i = 0; i < 2000; i++) {
		int64_t times = (int64_t)(random_next() % 41) - 20;

		random_hash(fast);
		random_hash(hash);
		if (i % 7 == 0)
			memset(fast, 0xff, 32);
		if (i % 11 == 0)
			memset(hash, 0xff, 32);
		if (i % 13 == 0)
			memset(hash + 1, 0, 31);
		memcpy(slow, fast, 32);
		sum_add_bytes(fast, hash, times);
		slow_add_times(slow, hash, times);
		CHECK(memcmp(fast, slow, 32) == 0);
	}
}

static void test_big_factors(void)
{
	static const int64_t factors[] = {INT64_MAX, INT64_MIN, INT64_MIN + 1, 1000000007, -1, 0};
	uint8_t total[32], start[32], hash[32], one[32] = {[31] = 1}, want[32];

	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		int64_t half = factors[i] / 2;

		random_hash(start);
		random_hash(hash);
		/* In one step and in three. */
		memcpy(total, start, 32);
		sum_add_bytes(total, hash, factors[i]);
		memcpy(want, start, 32);
		sum_add_bytes(want, hash, half);
		sum_add_bytes(want, hash, half);
		sum_add_bytes(want, hash, factors[i] - 2 * half);
		CHECK(memcmp(total, want, 32) == 0);
	}
	/* -2^63 in two's complement over 256 bits. */
	memset(total, 0, 32);
	sum_add_bytes(total, one, INT64_MIN);
	memset(want, 0, 32);
	memset(want, 0xff, 24);
	want[24] = 0x80;
	CHECK(memcmp(total, want, 32) == 0);
}

static void test_undo(void)
{
	struct sums sums = {0};
	uint8_t hash[32];

	for (int64_t id = 0; id < 100; id++) {
		random_hash(hash);
		CHECK_INT(sums_add(&sums, SUM_GROUP, id, hash, id % 2 ? INT64_MIN : id, true),
			  RES_OK);
		CHECK_INT(sums_add(&sums, SUM_NODE_BASE, id, hash, -3, true), RES_OK);
	}
	CHECK_INT(sums.count, 200);
	sums_undo_to(&sums, 0);
	for (size_t i = 0; i < sums.size; i++)
		for (size_t k = 0; k < 4; k++)
			CHECK(sums.cells[i].limbs[k] == 0);
	sums_reset(&sums);
	sums_free(&sums);
}

/* --- In the store --- */

#define GROUPS 5
#define NODES  4

static enum res run_sql(struct txn *txn, const char *sql)
{
	return stmt_run(txn_conn(txn), conn_stmt(txn_conn(txn), sql));
}

static enum res make_rows(struct txn *txn, void *arg)
{
	enum res res;

	(void)arg;
	res = run_sql(txn, "INSERT INTO group_ (public_id, name, name_key, created_unix)"
			   " WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5)"
			   " SELECT 'g' || i, 'g' || i, 'g' || i, 0 FROM n");
	if (res != RES_OK)
		return res;
	return run_sql(txn, "INSERT INTO node (public_id, name, name_key, address, created_unix)"
			    " WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 4)"
			    " SELECT 'n' || i, 'n' || i, 'n' || i, 'a', 0 FROM n");
}

struct model {
	uint8_t group[GROUPS + 1][32], base[NODES + 1][32], minus[NODES + 1][32];
};

static uint8_t *model_cell(struct model *model, enum sum_kind kind, int64_t id)
{
	switch (kind) {
	case SUM_GROUP:
		return model->group[id];
	case SUM_NODE_BASE:
		return model->base[id];
	case SUM_NODE_MINUS:
		return model->minus[id];
	}
	return NULL;
}

struct walk {
	struct model *model;
	bool fail;
};

static enum res random_adds(struct txn *txn, struct model *model, int count)
{
	for (int i = 0; i < count; i++) {
		enum sum_kind kind = (enum sum_kind)(random_next() % 3);
		int64_t id = 1 + (int64_t)(random_next() % (kind == SUM_GROUP ? GROUPS : NODES));
		int64_t times = (int64_t)(random_next() % 9) - 4;
		uint8_t hash[32];
		enum res res;

		random_hash(hash);
		if ((res = txn_sum_add(txn, kind, id, hash, times)) != RES_OK)
			return res;
		sum_add_bytes(model_cell(model, kind, id), hash, times);
	}
	return RES_OK;
}

/* Adds at three depths; what is undone is undone in the model too. */
static enum res random_part(struct txn *txn, struct model *model, int depth)
{
	struct model before = *model;
	bool keep = random_next() % 2;
	enum res res;

	if ((res = txn_nest(txn)) != RES_OK || (res = random_adds(txn, model, 3)) != RES_OK)
		return res;
	if (depth > 0 && (res = random_part(txn, model, depth - 1)) != RES_OK)
		return res;
	if ((res = random_adds(txn, model, 2)) != RES_OK)
		return res;
	if (!keep)
		*model = before;
	return txn_nest_end(txn, keep);
}

static enum res walk_job(struct txn *txn, void *arg)
{
	struct walk *walk = arg;
	struct model before = *walk->model;
	enum res res = random_adds(txn, walk->model, 4);

	for (int i = 0; res == RES_OK && i < 2; i++)
		res = random_part(txn, walk->model, 2);
	if (res == RES_OK)
		res = random_adds(txn, walk->model, 2);
	if (res == RES_OK && walk->fail) {
		*walk->model = before;
		res = RES_INVALID;
	}
	return res;
}

static void check_sum(struct store *store, const char *sql, int64_t id, const uint8_t want[32])
{
	uint8_t got[32];
	struct conn *conn;
	sqlite3_stmt *st;

	CHECK_INT(store_read(store, STORE_ADMIN, 1000, &conn), RES_OK);
	st = conn_stmt(conn, sql);
	bind_i64(st, 1, id);
	CHECK_INT(stmt_row(conn, st), RES_OK);
	CHECK(column_blob(st, 0, got, 32));
	CHECK(memcmp(got, want, 32) == 0);
	stmt_end(conn, st);
	store_read_end(conn);
}

static void check_model(struct store *store, const struct model *model)
{
	for (int64_t id = 1; id <= GROUPS; id++)
		check_sum(store, "SELECT sum FROM group_ WHERE id = ?1", id, model->group[id]);
	for (int64_t id = 1; id <= NODES; id++) {
		check_sum(store, "SELECT base FROM node_state WHERE node_id = ?1", id,
			  model->base[id]);
		check_sum(store, "SELECT minus FROM node_state WHERE node_id = ?1", id,
			  model->minus[id]);
	}
}

static void test_random_walk(void)
{
	static struct model model;
	struct store *store;

	memset(&model, 0, sizeof model);
	dir_new();
	store = open_store();
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, make_rows, NULL, 1000, NULL), RES_OK);
	for (int i = 0; i < 300; i++) {
		struct walk walk = {.model = &model, .fail = i % 5 == 4};

		CHECK_INT(store_write(store, STORE_FROM_ADMIN, walk_job, &walk, 1000, NULL),
			  walk.fail ? RES_INVALID : RES_OK);
	}
	check_model(store, &model);
	store_close(store);
	store = open_store();
	check_model(store, &model);
	store_close(store);
}

static enum res absent_job(struct txn *txn, void *arg)
{
	static const uint8_t hash[32] = {1};
	const int64_t *id = arg;
	enum res res = txn_sum_add(txn, SUM_GROUP, *id, hash, 1);

	if (res == RES_OK)
		res = txn_sum_add(txn, SUM_NODE_BASE, *id, hash, 1);
	return res;
}

static enum res odd_length_job(struct txn *txn, void *arg)
{
	(void)arg;
	return run_sql(txn, "UPDATE group_ SET sum = x'00' WHERE id = 1");
}

static void test_absent_and_damaged(void)
{
	int64_t gone = 99, first = 1;
	struct store *store;

	dir_new();
	store = open_store();
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, make_rows, NULL, 1000, NULL), RES_OK);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, absent_job, &gone, 1000, NULL), RES_OK);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM node_state"), 0);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, absent_job, &first, 1000, NULL), RES_OK);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM node_state"), 1);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, odd_length_job, NULL, 1000, NULL), RES_OK);
	/* What is no sum is made from its parts; here it has none. */
	quiet(true);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, absent_job, &first, 1000, NULL), RES_OK);
	quiet(false);
	CHECK_INT(read_i64(store, "SELECT sum = zeroblob(32) FROM group_ WHERE id = 1"), 1);
	store_close(store);
}

static enum res many_job(struct txn *txn, void *arg)
{
	uint8_t hash[32];

	(void)arg;
	for (int64_t i = 0; i < 5000; i++) {
		enum res res;

		random_hash(hash);
		if ((res = txn_sum_add(txn, SUM_GROUP, 1 + i % GROUPS, hash, 1)) != RES_OK)
			return res;
	}
	return RES_OK;
}

/* However many additions, a sum is one UPDATE. */
static void test_one_update_a_sum(void)
{
	struct store *store;
	int64_t before;

	dir_new();
	store = open_store();
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, make_rows, NULL, 1000, NULL), RES_OK);
	before = sqlite3_total_changes64(store->writer.conn->db);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, many_job, NULL, 1000, NULL), RES_OK);
	CHECK_INT(sqlite3_total_changes64(store->writer.conn->db) - before, GROUPS);
	store_close(store);
}

TEST_MAIN(TEST(test_arithmetic), TEST(test_big_factors), TEST(test_undo), TEST(test_random_walk),
	  TEST(test_absent_and_damaged), TEST(test_one_update_a_sum))
