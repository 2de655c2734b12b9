#include "ops/users_test.h"

static enum res act(op_fn fn, const struct public_id *id)
{
	struct user_target target = {.public_id = id->text};

	return run(fn, &target);
}

static enum res extend(const struct public_id *id, int64_t add_s, int64_t add_bytes,
		       bool reset_usage)
{
	struct user_extend extend = {{.public_id = id->text}, add_s, add_bytes, reset_usage};

	return run(op_user_extend, &extend);
}

static enum res rotate(const struct public_id *id, int64_t keep_s)
{
	struct user_rotate rotate = {{.public_id = id->text}, keep_s};

	return run(op_user_rotate_credential, &rotate);
}

static enum res tick(void)
{
	struct users_tick tick = {.limit = 100};

	return run(op_users_tick, &tick);
}

/* B074, B015: only rotation changes secrets. */
static void test_b074_secrets_stay(void)
{
	struct secrets before, after;
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\"}");
	before = get_secrets(id.text);
	for (int i = 0; i < 50; i++) {
		CHECK_INT(act(op_user_disable, &id), RES_OK);
		CHECK(!get_user(id.text).served);
		CHECK_INT(act(op_user_enable, &id), RES_OK);
		CHECK(get_user(id.text).served);
	}
	CHECK_INT(patch_user(id.text, "{\"name\":\"b\",\"quota_bytes\":5}"), RES_OK);
	after = get_secrets(id.text);
	CHECK(memcmp(&before, &after, sizeof before) == 0);
	CHECK_INT(get_user(id.text).version, 102);
	CHECK_INT(act(op_user_enable, &id), RES_OK); /* he is: nothing happens */
	CHECK_INT(get_user(id.text).version, 102);
}

static void make_off(const struct public_id *id, int why)
{
	switch (why) {
	case 0:
		CHECK_INT(act(op_user_disable, id), RES_OK);
		break;
	case 1:
		CHECK_INT(patch_user(id->text, "{\"expires_unix\":1}"), RES_OK);
		break;
	case 2: /* by the clock */
		CHECK_INT(patch_user(id->text, "{\"expires_in_s\":10}"), RES_OK);
		go_on(10);
		CHECK_INT(tick(), RES_OK);
		break;
	case 3:
		use_bytes(get_user(id->text).id, 2000);
		CHECK_INT(patch_user(id->text, "{\"quota_bytes\":1000}"), RES_OK);
		break;
	case 4: /* on hold, and the deadline has passed */
		CHECK_INT(patch_user(id->text, "{\"hold_s\":100}"), RES_OK);
		CHECK_INT(patch_user(id->text, "{\"hold_deadline_unix\":1}"), RES_OK);
		break;
	}
}

/* B045, B059, B075: each reason of being off, each way back: served again at once, same link. */
static void test_b045_b059_b075_ways_back(void)
{
	enum {
		PATCH_ON,
		ENABLE,
		PATCH_END,
		EXTEND,
		PATCH_QUOTA,
		NO_QUOTA,
		RESET,
		EXTEND_RESET,
		EXTEND_BYTES,
		NO_HOLD,
		WAYS
	};
	static const struct {
		int why;
		unsigned ways;
	} rows[] = {
		{0, 1u << PATCH_ON | 1u << ENABLE                      },
		{1, 1u << PATCH_END | 1u << EXTEND | 1u << EXTEND_RESET},
		{2, 1u << PATCH_END | 1u << EXTEND | 1u << EXTEND_RESET},
		{3, 1u << PATCH_QUOTA | 1u << NO_QUOTA | 1u << RESET | 1u << EXTEND_RESET |
			    1u << EXTEND_BYTES      },
		{4, 1u << EXTEND | 1u << PATCH_END | 1u << NO_HOLD     },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int way = 0; way < WAYS; way++) {
			struct secrets before, after;
			struct public_id id;
			struct user user;
			enum res res = RES_INTERNAL;

			if (!(rows[i].ways >> way & 1))
				continue;
			world_new();
			id = add_user("{\"name\":\"a\"}");
			before = get_secrets(id.text);
			make_off(&id, rows[i].why);
			CHECK(!get_user(id.text).served);
			switch (way) {
			case PATCH_ON:
				res = patch_user(id.text, "{\"enabled\":true}");
				break;
			case ENABLE:
				res = act(op_user_enable, &id);
				break;
			case PATCH_END:
				res = patch_user(id.text, "{\"expires_unix\":1900000000}");
				break;
			case EXTEND:
				res = extend(&id, DAY, 0, false);
				break;
			case PATCH_QUOTA:
				res = patch_user(id.text, "{\"quota_bytes\":2001}");
				break;
			case NO_QUOTA:
				res = patch_user(id.text, "{\"quota_bytes\":0}");
				break;
			case RESET:
				res = act(op_user_reset_usage, &id);
				break;
			case EXTEND_RESET:
				res = extend(&id, DAY, 0, true);
				break;
			case EXTEND_BYTES:
				res = extend(&id, 0, 5000, false);
				break;
			case NO_HOLD:
				res = patch_user(id.text, "{\"hold_s\":0}");
				break;
			}
			user = get_user(id.text);
			if (res != RES_OK || !user.served ||
			    !user_has_access(user_status_at(&user, now_unix())))
				TEST_FAIL("reason %d, way %d: %s", rows[i].why, way, res_text(res));
			CHECK_INT(user.state, user_status_at(&user, now_unix()));
			after = get_secrets(id.text);
			CHECK(memcmp(&before, &after, sizeof before) == 0);
		}
}

static void test_extend_counts_from_the_later(void)
{
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\",\"expires_in_s\":1000}");
	CHECK_INT(extend(&id, 500, 0, false), RES_OK);
	CHECK_INT(get_user(id.text).expires_unix, NOW + 1500);
	go_on(2000);
	CHECK_INT(extend(&id, 500, 0, false), RES_OK);
	CHECK_INT(get_user(id.text).expires_unix, NOW + 2500);
	CHECK_INT(patch_user(id.text, "{\"expires_unix\":0}"), RES_OK);
	CHECK_INT(extend(&id, 500, 7, false),
		  RES_OK); /* never stays never, unlimited stays unlimited */
	CHECK_INT(get_user(id.text).expires_unix, 0);
	CHECK_INT(get_user(id.text).quota_bytes, 0);
	CHECK_INT(patch_user(id.text, "{\"hold_s\":100}"), RES_OK);
	CHECK_INT(extend(&id, 500, 0, false), RES_OK);
	CHECK_INT(get_user(id.text).hold_s, 600);
}

static void test_extend_refused(void)
{
	static const struct {
		int64_t add_s, add_bytes;
		const char *code, *field;
	} rows[] = {
		{0,         0,                "missing_field", "add_s"    },
		{-1,        0,                "out_of_range",  "add_s"    },
		{INT64_MAX, 0,                "out_of_range",  "add_s"    },
		{0,         -1,               "out_of_range",  "add_bytes"},
		{0,         INT64_MAX,        "out_of_range",  "add_bytes"},
		{0,         INT64_C(1) << 62, "out_of_range",  "add_bytes"}, /* with what he has */
	};
	struct public_id id;
	int64_t before;

	world_new();
	id = add_user("{\"name\":\"a\",\"quota_bytes\":1,\"expires_unix\":1900000000}");
	before = changes();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_INT(extend(&id, rows[i].add_s, rows[i].add_bytes, false), RES_INVALID);
		CHECK_TEXT(w.problem.code, rows[i].code);
		CHECK_TEXT(w.problem.field, rows[i].field);
	}
	CHECK_INT(changes(), before);
	CHECK_INT(get_user(id.text).version, 1);
}

/* The end stays where the anchor puts it; starts rise, also twice in a second. */
static void test_reset_usage(void)
{
	struct public_id id;
	struct user user;

	world_new();
	id = add_user("{\"name\":\"a\",\"quota_bytes\":10,\"quota_period\":\"days\",\"quota_period_"
		      "days\":5}");
	use_bytes(get_user(id.text).id, 10);
	go_on(DAY);
	CHECK_INT(act(op_user_reset_usage, &id), RES_OK);
	CHECK_INT(act(op_user_reset_usage, &id), RES_OK);
	user = get_user(id.text);
	CHECK_INT(user.usage.period_no, 3);
	CHECK_INT(user.usage.period_start_unix, NOW + DAY + 1);
	CHECK_INT(user.usage.period_end_unix, NOW + 5 * DAY);
	CHECK_INT(user.usage.used_down_bytes, 0);
	CHECK_INT(user.version, 1); /* usage is no setting */
}

/* Whoever did it, and by which call: it stands in the audit. */
static void test_each_reset_is_audited(void)
{
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\"}");
	CHECK_INT(act(op_user_reset_usage, &id), RES_OK);
	CHECK_INT(extend(&id, 0, 0, true), RES_OK);
	CHECK_INT(get_user(id.text).version, 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM audit WHERE action = 'user.reset_usage'"),
		  1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM audit WHERE action = 'user.extend'"), 1);
}

static struct change heard[8];
static size_t heard_count;

static void hear_tokens(void *ctx, const struct change *list, size_t count)
{
	(void)ctx;
	for (size_t i = 0; i < count; i++)
		if (list[i].kind == CHANGE_TOKEN && heard_count < 8)
			heard[heard_count++] = list[i];
}

/* B139: one link at a time; the former is dead after the commit, whoever holds an index hears of
 * it. */
static void test_b139_one_link(void)
{
	struct secrets first, second;
	struct user_target target = {0};
	struct public_id id;
	struct conn *conn;
	int64_t found;

	world_new();
	heard_count = 0;
	store_observe(w.store, hear_tokens, NULL);
	id = add_user("{\"name\":\"a\"}");
	first = get_secrets(id.text);
	CHECK_TEXT(get_secrets(id.text).token, first.token); /* looking does not change it */
	go_on(5);
	CHECK_INT(act(op_user_rotate_link, &id), RES_OK);
	second = get_secrets(id.text);
	CHECK(strcmp(first.token, second.token) != 0);
	CHECK_TEXT(first.credential, second.credential);
	CHECK_INT(get_user(id.text).sub_revoked_unix, NOW + 5);
	CHECK_INT(get_user(id.text).version, 2);
	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	CHECK_INT(user_id_by_token(conn, first.token_hash, &found), RES_NOT_FOUND);
	CHECK_INT(user_id_by_token(conn, second.token_hash, &found), RES_OK);
	store_read_end(conn);
	target.public_id = id.text;
	CHECK_RUN(op_user_delete, &target);
	CHECK_INT(heard_count, 3);
	CHECK(!heard[0].had_token && heard[0].has_token &&
	      !memcmp(heard[0].new_token, first.token_hash, 16));
	CHECK(heard[1].had_token && !memcmp(heard[1].old_token, first.token_hash, 16));
	CHECK(heard[1].has_token && !memcmp(heard[1].new_token, second.token_hash, 16));
	CHECK(heard[2].had_token && !heard[2].has_token &&
	      !memcmp(heard[2].old_token, second.token_hash, 16));
}

/* B047: the old one is refused at once, or goes on as long as was said. */
static void test_b047_rotate_credential(void)
{
	struct secrets first, second, third;
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\"}");
	first = get_secrets(id.text);
	CHECK_INT(rotate(&id, 0), RES_OK);
	second = get_secrets(id.text);
	CHECK(strcmp(first.credential, second.credential) != 0);
	CHECK_TEXT(first.token, second.token);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM credential"), 1);
	CHECK_INT(rotate(&id, 60), RES_OK);
	third = get_secrets(id.text);
	CHECK(strcmp(third.credential, second.credential) != 0);
	CHECK_INT(read_i64(w.store, "SELECT group_concat(not_after_unix) = '1800000060,0' FROM"
				    " (SELECT not_after_unix FROM credential ORDER BY id)"),
		  1);
	go_on(60);
	CHECK_INT(tick(), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM credential"), 1);
	CHECK_TEXT(get_secrets(id.text).credential, third.credential);
	for (int i = 0; i < 20; i++)
		CHECK_INT(rotate(&id, 1000), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM credential"), 8);
	CHECK_INT(rotate(&id, -1), RES_INVALID);
	CHECK_TEXT(w.problem.field, "keep_s");
}

/* An imported credential that has ended is free for another, though no timer has run yet. */
static void test_ended_credential_is_free(void)
{
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\",\"credential\":\"one\"}");
	CHECK_INT(rotate(&id, 60), RES_OK);
	go_on(60);
	add_user("{\"name\":\"b\",\"credential\":\"one\"}");
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM credential"), 2);
}

static void test_not_found(void)
{
	static const op_fn all[] = {op_user_enable, op_user_disable, op_user_reset_usage,
				    op_user_rotate_link, op_user_delete};
	static const char *const ids[] = {"usr_aaaaaaaaaaaaaaaaaaaaaaaaaa", "", "x' OR 1=1"};

	world_new();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (size_t k = 0; k < 3; k++) {
			struct user_target target = {.public_id = ids[k]};

			CHECK_REFUSED(all[i], &target, RES_NOT_FOUND, "not_found", "");
		}
}

TEST_MAIN(TEST(test_b074_secrets_stay), TEST(test_b045_b059_b075_ways_back),
	  TEST(test_extend_counts_from_the_later), TEST(test_extend_refused),
	  TEST(test_reset_usage), TEST(test_each_reset_is_audited),
	  TEST(test_b139_one_link), TEST(test_b047_rotate_credential),
	  TEST(test_ended_credential_is_free), TEST(test_not_found))
