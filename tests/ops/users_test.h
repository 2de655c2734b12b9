/* users_test.h – a panel without doors: store, vault and a clock that moves when told, and the
 * operations called as the API calls them, with their input as JSON. */
#ifndef HYTHE_USERS_TEST_H
#define HYTHE_USERS_TEST_H

#include "store/store_test.h"

#include "hythe/ops/groups.h"
#include "hythe/ops/inbounds.h"
#include "hythe/ops/nodes.h"
#include "hythe/ops/profiles.h"
#include "hythe/ops/users.h"
#include "hythe/store/credentials.h"
#include "hythe/store/groups.h"
#include "hythe/store/users.h"
#include "hythe/util/hash.h"
#include "hythe/util/json_read.h"

#define NOW  1800000000LL
#define DAY  86400LL
#define DOCS 64

static struct world {
	struct clock_fake fake;
	struct clock clock;
	struct store *store;
	struct vault *vault;
	struct ops ops;
	struct actor actor;
	struct arena arena;
	struct problem problem;
	struct op_outcome out;
	struct json_doc *docs[DOCS]; /* of inputs; given back one after the other */
	char *texts[DOCS];
	size_t doc_count;
} w;

static void world_end(void)
{
	for (size_t i = 0; i < DOCS; i++) {
		json_free(w.docs[i]);
		free(w.texts[i]);
	}
	store_close(w.store);
	vault_free(w.vault);
	arena_free(&w.arena);
	memset(&w, 0, sizeof w);
}

__attribute__((unused)) static void world_new(void)
{
	struct store_config config;
	char key[128];
	static bool once;

	if (w.store)
		world_end();
	dir_new();
	if (!once) /* after dir_new()'s own, so that it runs before it */
		atexit(world_end);
	once = true;
	w.fake.wall_ms = NOW * 1000;
	w.clock = clock_of_fake(&w.fake);
	snprintf(key, sizeof key, "%s/master.key", dir);
	if (vault_open(key, true, &w.vault, &w.problem) != RES_OK)
		TEST_FAIL("vault: %s", w.problem.detail);
	config = config_of(&w.clock);
	if (store_open(&config, &w.store, &w.problem) != RES_OK)
		TEST_FAIL("store: %s", w.problem.detail);
	w.ops = (struct ops){.store = w.store, .vault = w.vault, .write_wait_ms = 60000};
	w.actor = (struct actor){.kind = ACTOR_CONTROL, .rights = RIGHTS_ALL};
	strcpy(w.actor.public_id.text, "control");
	arena_init(&w.arena, 64u << 20);
}

__attribute__((unused)) static void go_on(int64_t seconds)
{
	w.fake.wall_ms += seconds * 1000;
	w.fake.mono_ms += seconds * 1000;
}

static int64_t now_unix(void)
{
	return w.fake.wall_ms / 1000;
}

static enum res run_call(op_fn fn, void *arg, bool dry_run)
{
	struct op_call call = {
		.actor = &w.actor, .source = STORE_FROM_ADMIN, .status = 200, .dry_run = dry_run};

	memset(&w.problem, 0, sizeof w.problem);
	return op_run(&w.ops, &call, fn, arg, &w.arena, &w.out, &w.problem);
}

static enum res run(op_fn fn, void *arg)
{
	return run_call(fn, arg, false);
}

#define CHECK_RUN(fn, arg)                                                                         \
	do {                                                                                       \
		enum res run_ = run(fn, arg);                                                      \
		if (run_ != RES_OK)                                                                \
			TEST_FAIL("%s: %s, %s, %s: %s", #fn, res_text(run_), w.problem.code,       \
				  w.problem.field, w.problem.detail);                              \
	} while (0)
#define CHECK_REFUSED(fn, arg, res_, code_, field_)                                                \
	do {                                                                                       \
		CHECK_INT(run(fn, arg), res_);                                                     \
		CHECK_TEXT(w.problem.code, code_);                                                 \
		CHECK_TEXT(w.problem.field, field_);                                               \
	} while (0)

/* Reads JSON by a table, as a request's body is. */
static enum res read_input(const char *json, const struct json_field *fields, size_t count,
			   void *out, uint64_t *present)
{
	size_t at = w.doc_count++ % DOCS;
	enum res res;

	json_free(w.docs[at]);
	free(w.texts[at]);
	w.docs[at] = NULL;
	w.texts[at] = strdup(json);
	memset(&w.problem, 0, sizeof w.problem);
	res = json_parse(w.texts[at], strlen(json), &w.docs[at], &w.problem);
	return res == RES_OK
		       ? json_read(json_root(w.docs[at]), fields, count, out, present, &w.problem)
		       : res;
}

#define INPUT(input, json, fields, count)                                                          \
	do {                                                                                       \
		if (read_input(json, fields, count, &(input), &(input).present) != RES_OK)         \
			TEST_FAIL("input %s: %s", json, w.problem.detail);                         \
	} while (0)
#define USER_INPUT(input, json) INPUT(input, json, user_fields, USER_FIELDS)

__attribute__((unused)) static struct public_id add_user(const char *json)
{
	struct user_create create = {0};

	USER_INPUT(create.input, json);
	CHECK_RUN(op_user_create, &create);
	return create.public_id;
}

__attribute__((unused)) static struct public_id add_group(const char *json)
{
	struct group_create create = {0};

	INPUT(create.input, json, group_fields, GROUP_FIELDS);
	CHECK_RUN(op_group_create, &create);
	return create.public_id;
}

__attribute__((unused)) static struct public_id add_profile(const char *json)
{
	struct profile_create create = {0};

	INPUT(create.input, json, profile_fields, PROFILE_FIELDS);
	CHECK_RUN(op_profile_create, &create);
	return create.public_id;
}

__attribute__((unused)) static struct public_id add_node(const char *json)
{
	struct node_create create = {0};

	INPUT(create.input, json, node_fields, NODE_FIELDS);
	CHECK_RUN(op_node_create, &create);
	return create.public_id;
}

__attribute__((unused)) static struct public_id add_inbound(const char *node, const char *profile)
{
	struct inbound_create create = {0};
	char json[256];

	snprintf(json, sizeof json, "{\"node\":\"%s\",\"profile\":\"%s\"}", node, profile);
	INPUT(create.input, json, inbound_fields, INBOUND_FIELDS);
	CHECK_RUN(op_inbound_create, &create);
	return create.public_id;
}

__attribute__((unused)) static enum res patch_user(const char *public_id, const char *json)
{
	struct user_patch patch = {.target = {.public_id = public_id}};
	enum res res =
		read_input(json, user_fields, USER_FIELDS, &patch.input, &patch.input.present);

	return res == RES_OK ? run(op_user_patch, &patch) : res;
}

__attribute__((unused)) static struct user get_user(const char *public_id)
{
	struct user user = {0};
	struct conn *conn;
	enum res res;

	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	res = user_by_public_id(conn, public_id, &w.arena, &user);
	store_read_end(conn);
	if (res != RES_OK)
		TEST_FAIL("user %s: %s", public_id, res_text(res));
	return user;
}

struct secrets {
	char token[64], credential[256];
	uint8_t token_hash[32], credential_hash[32];
};

__attribute__((unused)) static struct secrets get_secrets(const char *public_id)
{
	struct user user = get_user(public_id);
	struct credential credential;
	struct secrets out = {0};
	struct user_link link;
	struct conn *conn;
	struct buf text;

	buf_init(&text, 256);
	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	CHECK_INT(user_link_sealed(conn, user.id, &w.arena, &link), RES_OK);
	CHECK_INT(user_credential(conn, user.id, now_unix(), &w.arena, &credential), RES_OK);
	store_read_end(conn);
	CHECK_INT(user_link_token(w.vault, &user.public_id, link.sealed, link.sealed_len, &text),
		  RES_OK);
	snprintf(out.token, sizeof out.token, "%s", text.data);
	buf_reset(&text);
	CHECK_INT(user_credential_text(w.vault, &user.public_id, &credential, &text), RES_OK);
	snprintf(out.credential, sizeof out.credential, "%s", text.data);
	buf_free_secret(&text);
	memcpy(out.token_hash, link.hash, 32);
	memcpy(out.credential_hash, credential.hash, 32);
	return out;
}

__attribute__((unused)) static int64_t changes(void)
{
	return read_i64(w.store, "SELECT count(*) FROM change_log");
}

/* Usage comes from nodes; here it is put where a report would put it. */
__attribute__((unused)) static void use_bytes(int64_t user_id, int64_t bytes)
{
	char sql[160];

	snprintf(sql, sizeof sql,
		 "UPDATE user_usage SET used_down_bytes = used_down_bytes + %lld WHERE user_id = "
		 "%lld"
		 " RETURNING 1",
		 (long long)bytes, (long long)user_id);
	CHECK_INT(outside_i64(db_path, sql), 1);
}

#endif
