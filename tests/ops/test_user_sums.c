/* The property that state sync stands on: after any changes, in any order, with parts undone, every
 * stored hash and sum is what a recount from the rows gives (rules of records and digests, A1). */
#include "ops/users_test.h"

#include "hythe/link/digest.h"

#define BATCHES   120
#define PER_BATCH 40

/* --- Chance, the same in every run --- */
static uint64_t chance_state;

static unsigned chance(unsigned below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (unsigned)(chance_state >> 33) % below;
}

enum { USERS, GROUPS, PROFILES, NODES, INBOUNDS, KINDS };
static const size_t wanted[KINDS] = {30, 5, 3, 4, 10};

static struct pool {
	struct public_id ids[64];
	size_t count;
} pools[KINDS];

static struct { /* where the last new one is to be remembered, when its part is kept */
	int kind;
	struct public_id id;
	bool made, gone;
	size_t index;
} last;

static const char *any(int kind)
{
	return pools[kind].count ? pools[kind].ids[chance((unsigned)pools[kind].count)].text
				 : "none";
}

static void note_made(int kind, const struct public_id *id)
{
	last.kind = kind;
	last.made = true;
	last.id = *id;
}

static const char *pick_to_go(int kind)
{
	last.kind = kind;
	last.gone = true;
	last.index = pools[kind].count ? chance((unsigned)pools[kind].count) : 0;
	return pools[kind].count ? pools[kind].ids[last.index].text : "none";
}

static void remember(bool kept)
{
	struct pool *pool = &pools[last.kind];

	if (kept && last.made && pool->count < 64)
		pool->ids[pool->count++] = last.id;
	if (kept && last.gone && pool->count)
		pool->ids[last.index] = pool->ids[--pool->count];
	last.made = last.gone = false;
}

/* --- Steps --- */
static const char *id_list(int kind, unsigned most, char *out)
{
	size_t count = pools[kind].count, first = count ? chance((unsigned)count) : 0,
	       n = chance(most + 1);

	strcpy(out, "[");
	for (size_t i = 0; i < n && i < count; i++)
		sprintf(out + strlen(out), "%s\"%s\"", i ? "," : "",
			pools[kind].ids[(first + i) % count].text);
	return strcat(out, "]");
}

static enum res input_of(struct op *op, const char *json, const struct json_field *fields,
			 size_t count, void *out, uint64_t *present)
{
	enum res res = read_input(json, fields, count, out, present);

	(void)op;
	return res;
}

static enum res user_create_step(struct op *op)
{
	static unsigned no;
	static const char *const extras[] = {
		"",
		",\"hold_s\":300",
		",\"expires_in_s\":200",
		",\"quota_bytes\":50,\"quota_period\":\"days\",\"quota_period_days\":1",
		",\"enabled\":false",
		",\"device_limit\":2",
		",\"hold_s\":50,\"hold_deadline_unix\":1800000500"};
	struct user_create create = {0};
	char json[1024], groups[512], nodes[512];
	enum res res;

	snprintf(json, sizeof json, "{\"name\":\"u%u\",\"groups\":%s,\"excluded_nodes\":%s%s}",
		 no++, id_list(GROUPS, 3, groups), id_list(NODES, 2, nodes), extras[chance(7)]);
	res = input_of(op, json, user_fields, USER_FIELDS, &create.input, &create.input.present);
	if (res == RES_OK && (res = op_user_create(op, &create)) == RES_OK)
		note_made(USERS, &create.public_id);
	return res;
}

static enum res user_patch_step(struct op *op)
{
	struct user_patch patch = {.target = {.public_id = any(USERS)}};
	char json[1024], list[512];
	enum res res;

	switch (chance(7)) {
	case 0:
	case 1:
		snprintf(json, sizeof json, "{\"groups\":%s}", id_list(GROUPS, 4, list));
		break;
	case 2:
		snprintf(json, sizeof json, "{\"excluded_nodes\":%s}", id_list(NODES, 3, list));
		break;
	case 3:
		snprintf(json, sizeof json, "{\"expires_in_s\":%u}", 1 + chance(500));
		break;
	case 4:
		snprintf(json, sizeof json, "{\"quota_bytes\":%u,\"note\":\"%u\"}", chance(3) * 60,
			 chance(3));
		break;
	case 5:
		snprintf(json, sizeof json, "{\"hold_s\":%u}", chance(3) * 100);
		break;
	default:
		snprintf(json, sizeof json, "{\"device_limit\":%u,\"enabled\":%s}", chance(3),
			 chance(2) ? "true" : "false");
	}
	res = input_of(op, json, user_fields, USER_FIELDS, &patch.input, &patch.input.present);
	return res == RES_OK ? op_user_patch(op, &patch) : res;
}

static enum res user_action_step(struct op *op)
{
	static const op_fn plain[] = {op_user_enable, op_user_disable, op_user_reset_usage,
				      op_user_rotate_link};
	struct user_target target = {.public_id = any(USERS)};
	struct user_rotate rotate = {target, chance(2) * 60};
	struct user_extend extend = {target, chance(300), chance(100), chance(2)};
	unsigned which = chance(6);

	if (which == 4)
		return op_user_rotate_credential(op, &rotate);
	return which == 5 ? op_user_extend(op, &extend) : plain[which](op, &target);
}

static enum res user_delete_step(struct op *op)
{
	struct user_target target = {.public_id = pick_to_go(USERS)};

	return op_user_delete(op, &target);
}

static enum res usage_step(struct op *op)
{
	sqlite3_stmt *st = conn_stmt(
		op->conn, "UPDATE user_usage SET used_down_bytes = used_down_bytes + 30 WHERE"
			  " user_id = (SELECT id FROM user WHERE public_id = ?1)");

	bind_text(st, 1, any(USERS));
	return stmt_run(op->conn, st);
}

static const char *rules(char *out)
{
	unsigned n = chance(4);

	strcpy(out, "[");
	for (unsigned i = 0; i < n; i++) {
		static const char *const tags[] = {"eu", "us"};
		char *end = out + strlen(out);

		end += sprintf(end, "%s{\"profile\":\"%s\",", i ? "," : "", any(PROFILES));
		switch (chance(3)) {
		case 0:
			strcpy(end, "\"nodes\":\"all\"}");
			break;
		case 1:
			sprintf(end, "\"node\":\"%s\"}", any(NODES));
			break;
		default:
			sprintf(end, "\"tag\":\"%s\"}", tags[chance(2)]);
		}
	}
	return strcat(out, "]");
}

static enum res group_step(struct op *op)
{
	static unsigned no;
	struct group_create create = {0};
	struct group_patch patch = {.target = {.public_id = any(GROUPS)}};
	struct group_target target = {0};
	char json[1024], access[768];
	enum res res;

	if (pools[GROUPS].count >= wanted[GROUPS] && chance(4) == 0) {
		target.public_id = pick_to_go(GROUPS);
		return op_group_delete(op, &target);
	}
	if (pools[GROUPS].count >= wanted[GROUPS] || chance(2)) {
		snprintf(json, sizeof json, "{\"access\":%s}", rules(access));
		res = input_of(op, json, group_fields, GROUP_FIELDS, &patch.input,
			       &patch.input.present);
		return res == RES_OK ? op_group_patch(op, &patch) : res;
	}
	snprintf(json, sizeof json, "{\"name\":\"g%u\",\"access\":%s}", no++, rules(access));
	res = input_of(op, json, group_fields, GROUP_FIELDS, &create.input, &create.input.present);
	if (res == RES_OK && (res = op_group_create(op, &create)) == RES_OK)
		note_made(GROUPS, &create.public_id);
	return res;
}

static enum res profile_step(struct op *op)
{
	static unsigned no;
	struct profile_create create = {0};
	struct profile_patch patch = {.target = {.public_id = any(PROFILES)}};
	char json[256];
	enum res res;

	if (pools[PROFILES].count < wanted[PROFILES]) {
		snprintf(json, sizeof json, "{\"name\":\"p%u\",\"port\":%u}", no, 1000 + no);
		no++;
		res = input_of(op, json, profile_fields, PROFILE_FIELDS, &create.input,
			       &create.input.present);
		if (res == RES_OK && (res = op_profile_create(op, &create)) == RES_OK)
			note_made(PROFILES, &create.public_id);
		return res;
	}
	snprintf(json, sizeof json, "{\"sni\":\"s%u.example.net\"}", chance(4));
	res = input_of(op, json, profile_fields, PROFILE_FIELDS, &patch.input,
		       &patch.input.present);
	return res == RES_OK ? op_profile_patch(op, &patch) : res;
}

static enum res node_step(struct op *op)
{
	static const char *const tags[] = {"[]", "[\"eu\"]", "[\"us\"]", "[\"eu\",\"us\"]"};
	static unsigned no;
	struct node_create create = {0};
	struct node_patch patch = {.target = {.public_id = any(NODES)}};
	struct node_target target = {0};
	char json[256];
	enum res res;

	if (pools[NODES].count >= wanted[NODES] && chance(8) == 0) {
		target.public_id = pick_to_go(NODES);
		return op_node_delete(op, &target);
	}
	if (pools[NODES].count < wanted[NODES]) {
		snprintf(json, sizeof json,
			 "{\"name\":\"n%u\",\"address\":\"n%u.example.net\",\"tags\":%s}", no, no,
			 tags[chance(4)]);
		no++;
		res = input_of(op, json, node_fields, NODE_FIELDS, &create.input,
			       &create.input.present);
		if (res == RES_OK && (res = op_node_create(op, &create)) == RES_OK)
			note_made(NODES, &create.public_id);
		return res;
	}
	snprintf(json, sizeof json, "{\"tags\":%s,\"enabled\":%s}", tags[chance(4)],
		 chance(4) ? "true" : "false");
	res = input_of(op, json, node_fields, NODE_FIELDS, &patch.input, &patch.input.present);
	return res == RES_OK ? op_node_patch(op, &patch) : res;
}

static enum res inbound_step(struct op *op)
{
	struct inbound_create create = {0};
	struct inbound_patch patch = {.target = {.public_id = any(INBOUNDS)}};
	struct inbound_target target = {0};
	char json[256];
	enum res res;

	if (pools[INBOUNDS].count >= wanted[INBOUNDS] && chance(3) == 0) {
		target.public_id = pick_to_go(INBOUNDS);
		return op_inbound_delete(op, &target);
	}
	if (pools[INBOUNDS].count < wanted[INBOUNDS] && chance(2)) {
		snprintf(json, sizeof json, "{\"node\":\"%s\",\"profile\":\"%s\",\"managed\":%s}",
			 any(NODES), any(PROFILES), chance(4) ? "true" : "false");
		res = input_of(op, json, inbound_fields, INBOUND_FIELDS, &create.input,
			       &create.input.present);
		if (res == RES_OK && (res = op_inbound_create(op, &create)) == RES_OK)
			note_made(INBOUNDS, &create.public_id);
		return res;
	}
	snprintf(json, sizeof json, "{\"enabled\":%s,\"port\":%u}", chance(3) ? "true" : "false",
		 chance(2) * (2000 + chance(9)));
	res = input_of(op, json, inbound_fields, INBOUND_FIELDS, &patch.input,
		       &patch.input.present);
	return res == RES_OK ? op_inbound_patch(op, &patch) : res;
}

static enum res tick_step(struct op *op)
{
	struct users_tick tick = {.limit = 1 + chance(20)};

	return op_users_tick(op, &tick);
}

static const struct {
	enum res (*run)(struct op *op);
	unsigned weight;
} steps[] = {
	{user_create_step, 12},
        {user_patch_step,  30},
        {user_action_step, 16},
	{user_delete_step, 5 },
        {usage_step,       6 },
        {group_step,       10},
	{profile_step,     4 },
        {node_step,        7 },
        {inbound_step,     10},
	{tick_step,        3 }
};

static int64_t kept, refused, undone;
static bool has_failed;

static enum res one_step(struct op *op)
{
	unsigned at = chance(103), i = 0;

	while (at >= steps[i].weight)
		at -= steps[i++].weight;
	return steps[i].run(op);
}

/* Each step in a savepoint: what was refused is undone, and now and then what went well too. */
static enum res batch(struct op *op, void *arg)
{
	(void)arg;
	for (int i = 0; i < PER_BATCH; i++) {
		struct problem problem = {0};
		enum res res;
		bool keep;

		if (txn_nest(op->txn) != RES_OK)
			return RES_INTERNAL;
		op->problem = &problem;
		res = one_step(op);
		keep = res == RES_OK && chance(10) != 0;
		if (txn_nest_end(op->txn, keep) != RES_OK)
			return RES_INTERNAL;
		remember(keep);
		kept += keep;
		refused += res != RES_OK;
		undone += res == RES_OK && !keep;
		if (res_status(res) >= 500) {
			printf("step: %s %s %s\n", res_text(res), problem.code, problem.detail);
			has_failed = true;
			return res;
		}
	}
	return RES_OK;
}

/* --- The recount, on a connection of its own --- */
static sqlite3 *outside;

static sqlite3_stmt *ask(const char *sql, int64_t id)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(outside, sql, -1, &st, NULL) != SQLITE_OK)
		TEST_FAIL("%s: %s", sql, sqlite3_errmsg(outside));
	sqlite3_bind_int64(st, 1, id);
	return st;
}

static int64_t number(const char *sql)
{
	sqlite3_stmt *st = ask(sql, 0);
	int64_t out = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : -1;

	sqlite3_finalize(st);
	return out;
}

/* Adds up 32-byte blobs with their counts; shorter ones are nothing. */
static void add_up(const char *sql, int64_t id, uint8_t sum[32])
{
	sqlite3_stmt *st = ask(sql, id);

	while (sqlite3_step(st) == SQLITE_ROW)
		if (sqlite3_column_bytes(st, 0) == 32)
			digest_add(sum, sqlite3_column_blob(st, 0), sqlite3_column_int64(st, 1));
	sqlite3_finalize(st);
}

static void check_each(const char *list, const char *rows, const char *more, const char *what)
{
	sqlite3_stmt *st = ask(list, 0);
	uint8_t sum[32], stored[32];
	int64_t id;

	while (sqlite3_step(st) == SQLITE_ROW) {
		memset(sum, 0, sizeof sum);
		memset(stored, 0, sizeof stored);
		id = sqlite3_column_int64(st, 0);
		if (sqlite3_column_bytes(st, 1) == 32)
			memcpy(stored, sqlite3_column_blob(st, 1), 32);
		add_up(rows, id, sum);
		if (more)
			add_up(more, id, sum);
		if (memcmp(sum, stored, 32) != 0) {
			sqlite3_finalize(st);
			TEST_FAIL("%s of %lld differs from the recount", what, (long long)id);
		}
	}
	sqlite3_finalize(st);
}

static size_t read_ids(const char *sql, int64_t id, int64_t *out)
{
	sqlite3_stmt *st = ask(sql, id);
	size_t count = 0;

	while (sqlite3_step(st) == SQLITE_ROW)
		out[count++] = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return count;
}

static void check_record(sqlite3_stmt *st)
{
	struct digest_credential credentials[32];
	int64_t groups[64];
	struct digest_user record = {.id = sqlite3_column_int64(st, 0),
				     .expires_unix = sqlite3_column_int64(st, 2),
				     .hold_s = sqlite3_column_int64(st, 3),
				     .hold_no = sqlite3_column_int64(st, 4),
				     .device_limit = sqlite3_column_int64(st, 5),
				     .quota_counts = sqlite3_column_int64(st, 6) > 0,
				     .period_no = sqlite3_column_int64(st, 7),
				     .period_start_unix = sqlite3_column_int64(st, 8),
				     .period_end_unix = sqlite3_column_int64(st, 9),
				     .groups = groups,
				     .credentials = credentials};
	uint8_t hash[32];
	sqlite3_stmt *rows =
		ask("SELECT hash, not_after_unix FROM credential WHERE user_id = ?1 ORDER BY hash",
		    record.id);

	record.group_count = read_ids(
		"SELECT group_id FROM user_group WHERE user_id = ?1 ORDER BY 1", record.id, groups);
	while (sqlite3_step(rows) == SQLITE_ROW) {
		memcpy(credentials[record.credential_count].hash, sqlite3_column_blob(rows, 0), 32);
		credentials[record.credential_count++].not_after_unix =
			sqlite3_column_int64(rows, 1);
	}
	sqlite3_finalize(rows);
	digest_of_user(&record, hash);
	if (sqlite3_column_bytes(st, 1) != 32 || memcmp(hash, sqlite3_column_blob(st, 1), 32) != 0)
		TEST_FAIL("record of user %lld differs", (long long)record.id);
}

static void check_records(void)
{
	sqlite3_stmt *st = ask("SELECT u.id, record_hash, expires_unix, hold_s, hold_no, "
			       "device_limit, quota_bytes,"
			       " period_no, period_start_unix, period_end_unix FROM user AS u JOIN "
			       "user_usage ON user_id = u.id"
			       " WHERE served = 1 AND deleted_unix = 0",
			       0);

	while (sqlite3_step(st) == SQLITE_ROW)
		check_record(st);
	sqlite3_finalize(st);
	CHECK_INT(number("SELECT count(*) FROM user WHERE served = 0 AND record_hash <> x''"), 0);
	CHECK_INT(number("SELECT count(*) FROM user WHERE served = 1 AND (deleted_unix > 0 OR "
			 "state NOT IN"
			 " ('active', 'on_hold'))"),
		  0);
}

static void check_access(void)
{
	sqlite3_stmt *st = ask("SELECT group_id, node_id, record_hash FROM node_group", 0);

	while (sqlite3_step(st) == SQLITE_ROW) {
		int64_t inbounds[64], group = sqlite3_column_int64(st, 0);
		char sql[256];
		uint8_t hash[32];
		size_t count;

		snprintf(sql, sizeof sql,
			 "SELECT i.id FROM node_group_inbound AS a JOIN inbound AS i ON i.id = "
			 "a.inbound_id"
			 " WHERE a.group_id = ?1 AND a.node_id = %lld AND i.managed = 1 ORDER BY 1",
			 (long long)sqlite3_column_int64(st, 1));
		count = read_ids(sql, group, inbounds);
		digest_of_access(group, inbounds, count, hash);
		CHECK_INT(sqlite3_column_bytes(st, 2), count ? 32 : 0);
		CHECK(count == 0 || memcmp(hash, sqlite3_column_blob(st, 2), 32) == 0);
	}
	sqlite3_finalize(st);
#define WANTED                                                                                     \
	"SELECT a.group_id, i.id, i.node_id FROM group_access AS a JOIN inbound AS i ON"           \
	" i.profile_id = a.profile_id JOIN node AS n ON n.id = i.node_id WHERE i.enabled AND"      \
	" n.enabled AND n.retired_unix = 0 AND (a.scope = 'all' OR (a.scope = 'node' AND"          \
	" a.node_id = n.id) OR (a.scope = 'tag' AND EXISTS (SELECT 1 FROM node_tag AS t"           \
	" WHERE t.node_id = n.id AND t.tag = a.tag)))"
#define STORED "SELECT group_id, inbound_id, node_id FROM node_group_inbound"
	CHECK_INT(number("SELECT count(*) FROM (" WANTED " EXCEPT " STORED ")"), 0);
	CHECK_INT(number("SELECT count(*) FROM (" STORED " EXCEPT " WANTED ")"), 0);
	CHECK_INT(number("SELECT count(*) FROM inbound AS i JOIN node AS n ON n.id = i.node_id "
			 "WHERE (record_hash <> x'')"
			 " <> (i.enabled AND i.managed AND n.enabled AND n.retired_unix = 0)"),
		  0);
}

static void recount(void)
{
	check_records();
	check_access();
	check_each("SELECT id, sum FROM group_",
		   "SELECT u.record_hash, 1 FROM user_group AS m JOIN user AS u ON u.id = m.user_id"
		   " WHERE m.group_id = ?1 AND u.served = 1",
		   NULL, "sum of group");
	check_each(
		"SELECT n.id, s.base FROM node AS n LEFT JOIN node_state AS s ON s.node_id = n.id",
		"SELECT record_hash, 1 FROM inbound WHERE node_id = ?1",
		"SELECT record_hash, 1 FROM node_group WHERE node_id = ?1", "base of node");
	check_each(
		"SELECT n.id, s.minus FROM node AS n LEFT JOIN node_state AS s ON s.node_id = n.id",
		"SELECT u.record_hash, count(*) FROM user_node AS e JOIN user AS u ON u.id = "
		"e.user_id AND u.served = 1"
		" JOIN user_group AS m ON m.user_id = u.id JOIN node_group AS a ON a.node_id = "
		"e.node_id AND"
		" a.group_id = m.group_id AND a.record_hash <> x'' WHERE e.node_id = ?1 GROUP BY "
		"u.id",
		NULL, "minus of node");
}

/* After the timer has caught up, what is stored is what every reader derives. */
static void check_states(void)
{
	struct users_tick tick = {.limit = 500};
	struct user user;
	struct conn *conn;

	do {
		CHECK_RUN(op_users_tick, &tick);
	} while (tick.more);
	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	for (size_t i = 0; i < pools[USERS].count; i++) {
		CHECK_INT(user_by_public_id(conn, pools[USERS].ids[i].text, &w.arena, &user),
			  RES_OK);
		/* Usage put by hand is settled with the next operation on him. */
		if (user.quota_bytes == 0 && user.state != user_status_at(&user, now_unix()))
			TEST_FAIL("user %lld is stored as %s", (long long)user.id,
				  user_status_words[user.state]);
	}
	store_read_end(conn);
}

static void walk(uint64_t seed)
{
	world_new();
	chance_state = seed;
	memset(pools, 0, sizeof pools);
	has_failed = false;
	kept = refused = undone = 0;
	CHECK_INT(sqlite3_open_v2(db_path, &outside, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	for (int i = 0; i < BATCHES; i++) {
		CHECK_RUN(batch, NULL);
		CHECK(!has_failed);
		recount();
		go_on(chance(120));
		if (i % 10 == 9)
			check_states();
		arena_free(&w.arena);
		arena_init(&w.arena, 64u << 20);
	}
	recount();
	/* The walk went somewhere. */
	CHECK(kept > BATCHES * PER_BATCH / 2 && refused > 20 && undone > 100);
	CHECK(number("SELECT count(*) FROM node_group_inbound") +
		      number("SELECT count(*) FROM user_node") >
	      0);
	sqlite3_close(outside);
}

static void test_sums_first_walk(void)
{
	walk(0x9e3779b97f4a7c15);
}

static void test_sums_second_walk(void)
{
	walk(0x2545f4914f6cdd1d);
}

static void test_sums_third_walk(void)
{
	walk(88172645463325252);
}

TEST_MAIN(TEST(test_sums_first_walk), TEST(test_sums_second_walk), TEST(test_sums_third_walk))
