/* SQLite's memory runs out in the middle of an operation: at its first allocation, its second, ... until
 * one run meets none. Who was told NOMEM finds every row as it was; who was told OK, the whole change. */
#include <stdatomic.h>

#include "hythe/ops/bulk.h"
#include "users_test.h"

static sqlite3_mem_methods real_memory;
static atomic_int countdown = -1; /* strikes when it comes to 0; negative: off */
static atomic_bool struck;

static bool strikes(void)
{
	if (atomic_load(&countdown) < 0 || atomic_fetch_sub(&countdown, 1) != 0)
		return false;
	atomic_store(&struck, true);
	return true;
}

static void *memory_get(int size)
{
	return strikes() ? NULL : real_memory.xMalloc(size);
}

static void *memory_resize(void *block, int size)
{
	return strikes() ? NULL : real_memory.xRealloc(block, size);
}

/* Before main: SQLite takes its settings only while it sleeps. */
__attribute__((constructor)) static void hooks(void)
{
	static sqlite3_mem_methods own;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
	own = real_memory;
	own.xMalloc = memory_get;
	own.xRealloc = memory_resize;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &own);
}

/* --- Everything that stands in the file, as one hash --- */

static void hash_rows(sqlite3 *db, const char *table, struct hash_sha256_ctx *ctx)
{
	sqlite3_stmt *st = NULL;
	char sql[128];

	snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const char *text = (const char *)sqlite3_column_blob(st, i);
			size_t len = (size_t)sqlite3_column_bytes(st, i);

			hash_sha256_put_text(ctx, text ? text : "", len);
		}
	sqlite3_finalize(st);
}

static void file_hash(uint8_t hash[SHA256_LEN])
{
	struct hash_sha256_ctx *ctx = hash_sha256_new();
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	CHECK_INT(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db,
				     "SELECT name FROM sqlite_schema WHERE type = 'table' AND name "
				     "NOT LIKE 'user_search%' ORDER BY name",
				     -1, &st, NULL),
		  SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW)
		hash_rows(db, (const char *)sqlite3_column_text(st, 0), ctx);
	sqlite3_finalize(st);
	sqlite3_close(db);
	hash_sha256_end(ctx, hash);
}

static int64_t found(const char *text)
{
	char sql[128];

	snprintf(sql, sizeof sql, "SELECT count(*) FROM user_search WHERE user_search MATCH '\"%s\"'",
		 text);
	return read_i64(w.store, sql);
}

/* --- The loop --- */

/* With the n-th allocation from now failing. SQLite can do without some of them. */
static enum res run_short(const char *what, op_fn fn, void *arg, bool dry_run, int n)
{
	enum res res;

	atomic_store(&struck, false);
	atomic_store(&countdown, n);
	quiet(true);
	res = run_call(fn, arg, dry_run);
	quiet(false);
	atomic_store(&countdown, -1);
	if (res != RES_OK && !(res == RES_NOMEM && atomic_load(&struck)))
		TEST_FAIL("%s, allocation %d: %s, %s", what, n, res_text(res), w.problem.detail);
	return res;
}

static void check_same(const char *what, int n, const uint8_t before[SHA256_LEN])
{
	uint8_t after[SHA256_LEN];

	file_hash(after);
	if (memcmp(before, after, sizeof after) != 0)
		TEST_FAIL("%s, allocation %d: left something behind", what, n);
}

/* First as a rehearsal, which meets every allocation of the operation itself; then until it is done,
 * which meets those of the commit. */
static void try_all(const char *what, op_fn fn, void *arg)
{
	uint8_t before[SHA256_LEN], after[SHA256_LEN];
	int n = 0;

	file_hash(before);
	do {
		run_short(what, fn, arg, true, n);
		check_same(what, n, before);
		n += 1 + n / 16;
	} while (atomic_load(&struck));
	CHECK(n > 10);
	for (n = 0; run_short(what, fn, arg, false, n) != RES_OK; n += 1 + n / 16)
		check_same(what, n, before);
	file_hash(after);
	CHECK(memcmp(before, after, sizeof after) != 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM pragma_integrity_check"
				    " WHERE integrity_check <> 'ok'"),
		  0);
}

static void test_users(void)
{
	struct public_id profile, node, group;
	struct user_create create = {0};
	struct user_patch patch = {0};
	struct user_target target = {0};
	struct user_extend extend = {.add_bytes = 5, .reset_usage = true};
	struct user_rotate rotate = {.keep_s = 60};
	char json[256];

	world_new();
	profile = add_profile("{\"name\":\"p\"}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
	add_inbound(node.text, profile.text);
	snprintf(json, sizeof json,
		 "{\"name\":\"g\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}", profile.text);
	group = add_group(json);
	snprintf(json, sizeof json,
		 "{\"name\":\"anna\",\"quota_bytes\":9,\"quota_period\":\"month\",\"groups\":[\"%s\"],"
		 "\"excluded_nodes\":[\"%s\"]}",
		 group.text, node.text);
	USER_INPUT(create.input, json);
	try_all("create", op_user_create, &create);
	target.public_id = patch.target.public_id = extend.target.public_id =
		rotate.target.public_id = create.public_id.text;
	CHECK_INT(found("anna"), 1);
	USER_INPUT(patch.input, "{\"name\":\"berta\",\"groups\":[],\"excluded_nodes\":[]}");
	try_all("patch", op_user_patch, &patch);
	CHECK_INT(found("anna"), 0);
	CHECK_INT(found("berta"), 1);
	try_all("extend", op_user_extend, &extend);
	try_all("rotate_link", op_user_rotate_link, &target);
	try_all("rotate_credential", op_user_rotate_credential, &rotate);
	try_all("disable", op_user_disable, &target);
	try_all("delete", op_user_delete, &target);
	CHECK_INT(found("berta"), 0);
}

static void test_others(void)
{
	struct public_id profile, node, group;
	struct group_target group_target = {0};
	struct node_target node_target = {0};
	struct inbound_create inbound = {0};
	struct profile_patch patch = {0};
	char json[256];

	world_new();
	profile = add_profile("{\"name\":\"p\"}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
	snprintf(json, sizeof json,
		 "{\"name\":\"g\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}", profile.text);
	group = add_group(json);
	snprintf(json, sizeof json, "{\"name\":\"a\",\"groups\":[\"%s\"]}", group.text);
	add_user(json);
	snprintf(json, sizeof json, "{\"node\":\"%s\",\"profile\":\"%s\"}", node.text, profile.text);
	INPUT(inbound.input, json, inbound_fields, INBOUND_FIELDS);
	try_all("inbound create", op_inbound_create, &inbound);
	patch.target.public_id = profile.text;
	INPUT(patch.input, "{\"obfs\":\"salamander\",\"server\":{\"disable_udp\":true}}",
	      profile_fields, PROFILE_FIELDS);
	try_all("profile patch", op_profile_patch, &patch);
	group_target.public_id = group.text;
	try_all("group delete", op_group_delete, &group_target);
	node_target.public_id = node.text;
	try_all("node delete", op_node_delete, &node_target);
}

static void test_bulk(void)
{
	struct user_create creates[2] = {0};
	struct bulk_item items[2] = {{op_user_create, &creates[0]}, {op_user_create, &creates[1]}};
	struct bulk_error errors[BULK_ERRORS_MAX];
	struct bulk bulk = {.items = items,
			    .count = 2,
			    .field = "operations",
			    .clock = &w.clock,
			    .errors = errors};

	world_new();
	USER_INPUT(creates[0].input, "{\"name\":\"one\"}");
	USER_INPUT(creates[1].input, "{\"name\":\"two\"}");
	try_all("bulk", op_bulk, &bulk);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user"), 2);
	CHECK_INT(found("one"), 1);
}

TEST_MAIN(TEST(test_users), TEST(test_others), TEST(test_bulk))
