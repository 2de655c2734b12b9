/* Rows that somebody changed by hand, with the sqlite3 tool or by a disk that forgot: a user is listed,
 * changed and deleted all the same, and nobody beside him notices. */
#include "hythe/ops/bulk.h"
#include "hythe/store/user_list.h"
#include "users_test.h"

/* Answers with one number, as what writes must for outside_i64(). */
static void by_hand(const char *sql)
{
	CHECK_INT(outside_i64(db_path, sql), 1);
}

static enum res delete_user(const char *public_id)
{
	struct user_target target = {.public_id = public_id};

	return run(op_user_delete, &target);
}

/* How many a search lists; -1: it failed. */
static int64_t listed(const char *q)
{
	struct user_list_query query = {
		.filter = {.status = -1, .q = q, .tag = NULL}, .limit = 50, .total = true};
	struct user_page page;
	struct conn *conn;
	enum res res;

	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	res = user_list(conn, NULL, &query, now_unix(), &w.arena, &page);
	store_read_end(conn);
	return res == RES_OK ? (int64_t)page.count : -1;
}

static void begin(void)
{
	world_new();
	quiet(true); /* what is mended is said */
}

/* The index is told to forget what it never held. */
static void test_edited_texts(void)
{
	struct public_id anna, berta, carl;

	begin();
	anna = add_user("{\"name\":\"anna\",\"note\":\"first\"}");
	berta = add_user("{\"name\":\"berta\"}");
	carl = add_user("{\"name\":\"carl\"}");
	by_hand("UPDATE user SET note = 'edited by hand, and longer than all that is indexed of "
		"everybody, so that the sum of lengths would fall below nothing' WHERE name = 'anna' "
		"RETURNING 1");
	CHECK_INT(patch_user(anna.text, "{\"note\":\"by the panel\"}"), RES_OK);
	CHECK_INT(listed("by the panel"), 1);
	CHECK_INT(listed("edited by hand"), 0);
	CHECK_INT(listed("first"), 0);
	CHECK_INT(listed("berta"), 1);
	by_hand("UPDATE user SET display_name = 'once more so long that nothing of the index could "
		"hold it, however much there is of all the others together' WHERE name = 'berta' "
		"RETURNING 1");
	CHECK_INT(delete_user(berta.text), RES_OK);
	/* The deleted do not come back with the index. */
	CHECK_INT(listed("berta"), 0);
	CHECK_INT(listed("once more"), 0);
	CHECK_INT(listed("carl"), 1);
	CHECK_INT(patch_user(carl.text, "{\"name\":\"charles\"}"), RES_OK);
	CHECK_INT(listed("carl"), 0);
	CHECK_INT(listed("charles"), 1);
	CHECK_INT(delete_user(carl.text), RES_OK);
	CHECK_INT(delete_user(anna.text), RES_OK);
	quiet(false);
}

/* One bulk call over sound and spoilt rows does all of it. */
static void test_edited_in_bulk(void)
{
	struct user_target targets[20] = {0};
	struct bulk_item items[20];
	struct bulk_error errors[BULK_ERRORS_MAX];
	struct bulk bulk = {.items = items, .count = 20, .field = "items", .errors = errors};
	struct public_id ids[20];

	begin();
	for (int i = 0; i < 20; i++) {
		char json[64];

		snprintf(json, sizeof json, "{\"name\":\"user number %d\"}", i);
		ids[i] = add_user(json);
		targets[i].public_id = ids[i].text;
		items[i] = (struct bulk_item){op_user_delete, &targets[i]};
	}
	by_hand("UPDATE user SET note = printf('%.*c', 4000, 'x') WHERE id = 3 RETURNING 1");
	by_hand("UPDATE user SET note = printf('%.*c', 4000, 'y') WHERE id = 17 RETURNING 1");
	CHECK_RUN(op_bulk, &bulk);
	CHECK_INT(bulk.failed, 0);
	CHECK_INT(listed("user number"), 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user WHERE deleted_unix = 0"), 0);
	quiet(false);
}

static void reopen(void)
{
	struct store_config config = config_of(&w.clock);

	store_close(w.store);
	CHECK_INT(store_open(&config, &w.store, &w.problem), RES_OK);
	w.ops.store = w.store;
}

/* The index itself is spoilt: who meets it first may be told to come again, and a timer's turn later
 * all is well. */
static void test_spoilt_index(void)
{
	static const char *const spoils[] = {
		"UPDATE user_search_data SET block = x'00' WHERE id > 10 RETURNING 1",
		"UPDATE user_search_data SET block = x'ffff' WHERE id = 1 RETURNING 1",
	};
	struct users_tick tick = {.limit = 100};

	for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
		struct public_id anna;

		begin();
		anna = add_user("{\"name\":\"anna\"}");
		add_user("{\"name\":\"hannah\"}");
		by_hand(spoils[i]);
		reopen();
		if (patch_user(anna.text, "{\"note\":\"changed\"}") != RES_OK || listed("anna") != 1)
			run(op_users_tick, &tick);
		CHECK_INT(patch_user(anna.text, "{\"note\":\"changed\"}"), RES_OK);
		if (listed("changed") != 1) {
			CHECK_RUN(op_users_tick, &tick);
			CHECK_INT(listed("changed"), 1);
		}
		CHECK_INT(delete_user(anna.text), RES_OK);
		CHECK_INT(listed("hannah"), 1);
		CHECK_INT(listed("changed"), 0);
		quiet(false);
	}
}

static void test_spoilt_secrets(void)
{
	struct public_id anna, berta;
	struct user_target target;
	struct user_rotate rotate = {0};
	struct secrets secrets;

	begin();
	anna = add_user("{\"name\":\"anna\"}");
	berta = add_user("{\"name\":\"berta\"}");
	by_hand("UPDATE user SET sub_token_hash = x'0102' WHERE name = 'anna' RETURNING 1");
	by_hand("UPDATE user SET sub_token_hash = x'01020304050607080910111213141516171819' WHERE "
		"name = 'berta' RETURNING 1");
	by_hand("UPDATE credential SET hash = x'0102' WHERE user_id = 1 RETURNING 1");
	by_hand("UPDATE credential SET sealed = x'0102' WHERE user_id = 2 RETURNING 1");
	CHECK_INT(patch_user(anna.text, "{\"quota_bytes\":5}"), RES_OK);
	target = (struct user_target){.public_id = anna.text};
	CHECK_RUN(op_user_rotate_link, &target);
	rotate.target.public_id = anna.text;
	rotate.keep_s = 60;
	CHECK_RUN(op_user_rotate_credential, &rotate);
	secrets = get_secrets(anna.text); /* both open again */
	CHECK(secrets.token[0] && secrets.credential[0]);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM credential WHERE user_id = 1"), 1);
	CHECK_INT(delete_user(anna.text), RES_OK);
	CHECK_INT(delete_user(berta.text), RES_OK);
	quiet(false);
}

/* A sum that is none is made from its parts, and agrees with a recount by the changes after it. */
static void test_spoilt_sums(void)
{
	struct public_id group, anna, berta;
	char json[128];

	begin();
	group = add_group("{\"name\":\"all\"}");
	snprintf(json, sizeof json, "{\"name\":\"anna\",\"groups\":[\"%s\"]}", group.text);
	anna = add_user(json);
	snprintf(json, sizeof json, "{\"name\":\"berta\",\"groups\":[\"%s\"]}", group.text);
	berta = add_user(json);
	by_hand("UPDATE group_ SET sum = x'00' RETURNING 1");
	CHECK_INT(delete_user(anna.text), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT sum = (SELECT record_hash FROM user WHERE name = 'berta')"
				    " FROM group_"),
		  1);
	by_hand("UPDATE group_ SET sum = x'' RETURNING 1");
	CHECK_INT(patch_user(berta.text, "{\"device_limit\":3}"), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT sum = (SELECT record_hash FROM user WHERE name = 'berta')"
				    " FROM group_"),
		  1);
	CHECK_INT(delete_user(berta.text), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT sum = zeroblob(32) FROM group_"), 1);
	quiet(false);
}

static void test_last_numbers(void)
{
	struct public_id anna;
	struct user_target target;
	struct user user;

	begin();
	anna = add_user("{\"name\":\"anna\",\"quota_bytes\":1000}");
	target = (struct user_target){.public_id = anna.text};
	by_hand("UPDATE user SET version = 9223372036854775807, hold_no = 9223372036854775807 RETURNING 1");
	by_hand("UPDATE user_usage SET period_no = 9223372036854775807 RETURNING 1");
	CHECK_INT(patch_user(anna.text, "{\"note\":\"x\"}"), RES_OK);
	user = get_user(anna.text);
	CHECK_INT(user.version, 1); /* it begins anew: the next change is another version again */
	by_hand("UPDATE user SET version = 9223372036854775807 RETURNING 1");
	CHECK_RUN(op_user_rotate_link, &target);
	CHECK_RUN(op_user_reset_usage, &target);
	CHECK_INT(patch_user(anna.text, "{\"hold_s\":60}"), RES_OK);
	by_hand("UPDATE user_usage SET used_up_bytes = -9223372036854775807 - 1, used_down_bytes = -5, "
		"total_up_bytes = -1 RETURNING 1");
	user = get_user(anna.text);
	CHECK_INT(user_used_bytes(&user, now_unix()), 0);
	CHECK_INT(user_left_bytes(&user, now_unix()), 1000);
	CHECK_INT(user.usage.total_up_bytes, 0);
	by_hand("UPDATE user_usage SET used_up_bytes = 9223372036854775807, used_down_bytes = "
		"9223372036854775807 RETURNING 1");
	user = get_user(anna.text);
	CHECK_INT(user_used_bytes(&user, now_unix()), INT64_MAX);
	by_hand("UPDATE user SET version = 9223372036854775807 RETURNING 1");
	CHECK_INT(delete_user(anna.text), RES_OK);
	quiet(false);
}

TEST_MAIN(TEST(test_edited_texts), TEST(test_edited_in_bulk), TEST(test_spoilt_index),
	  TEST(test_spoilt_secrets), TEST(test_spoilt_sums), TEST(test_last_numbers))
