/* nodes_test.h – more words for tests of profiles, nodes, inbounds and hosts, on the world of
 * users_test.h. */
#ifndef HYTHE_NODES_TEST_H
#define HYTHE_NODES_TEST_H

#include <openssl/crypto.h>

#include "users_test.h"

#include "hythe/ops/hosts.h"
#include "hythe/store/access.h"
#include "hythe/store/hosts.h"
#include "hythe/store/inbounds.h"
#include "hythe/store/nodes.h"
#include "hythe/store/profiles.h"

/* What OpenSSL keeps for the writer's thread goes when that thread ends, unless OpenSSL has been
 * cleaned up before: so its end is registered first, and comes after that of the world. */
__attribute__((constructor)) static void openssl_ends_last(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, NULL); /* 0 would do nothing */
}

#define DEFINE_PATCH(noun, fields, count)                                                          \
	__attribute__((unused)) static enum res patch_##noun(const char *id, const char *json)     \
	{                                                                                          \
		struct noun##_patch patch = {.target = {.public_id = id}};                         \
		enum res res_ =                                                                    \
			read_input(json, fields, count, &patch.input, &patch.input.present);       \
		return res_ == RES_OK ? run(op_##noun##_patch, &patch) : res_;                     \
	}                                                                                          \
	__attribute__((unused)) static enum res create_##noun(const char *json,                    \
							      struct public_id *id)                \
	{                                                                                          \
		struct noun##_create create = {0};                                                 \
		enum res res_ =                                                                    \
			read_input(json, fields, count, &create.input, &create.input.present);     \
		if (res_ == RES_OK)                                                                \
			res_ = run(op_##noun##_create, &create);                                   \
		if (id)                                                                            \
			*id = create.public_id;                                                    \
		return res_;                                                                       \
	}                                                                                          \
	__attribute__((unused)) static enum res delete_##noun(const char *id)                      \
	{                                                                                          \
		struct noun##_target target = {.public_id = id};                                   \
		return run(op_##noun##_delete, &target);                                           \
	}

DEFINE_PATCH(profile, profile_fields, PROFILE_FIELDS)
DEFINE_PATCH(node, node_fields, NODE_FIELDS)
DEFINE_PATCH(inbound, inbound_fields, INBOUND_FIELDS)
DEFINE_PATCH(host, host_fields, HOST_FIELDS)
DEFINE_PATCH(group, group_fields, GROUP_FIELDS)

#define CHECK_OK(call)                                                                             \
	do {                                                                                       \
		enum res ok_ = (call);                                                             \
		if (ok_ != RES_OK)                                                                 \
			TEST_FAIL("%s: %s, %s, %s: %s", #call, res_text(ok_), w.problem.code,      \
				  w.problem.field, w.problem.detail);                              \
	} while (0)
#define CHECK_NOT(call, res_, code_, field_)                                                       \
	do {                                                                                       \
		CHECK_INT(call, res_);                                                             \
		CHECK_TEXT(w.problem.code, code_);                                                 \
		CHECK_TEXT(w.problem.field, field_);                                               \
	} while (0)

/* A reader for the length of one call. */
#define DEFINE_GET(noun, type)                                                                     \
	__attribute__((unused)) static type get_##noun(const char *id)                             \
	{                                                                                          \
		type row;                                                                          \
		struct conn *conn;                                                                 \
		enum res res_;                                                                     \
		memset(&row, 0, sizeof row);                                                       \
		CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);                  \
		res_ = noun##_by_public_id(conn, id, &w.arena, &row);                              \
		store_read_end(conn);                                                              \
		if (res_ != RES_OK)                                                                \
			TEST_FAIL("%s %s: %s", #noun, id, res_text(res_));                         \
		return row;                                                                        \
	}

DEFINE_GET(profile, struct profile)
DEFINE_GET(node, struct node)
DEFINE_GET(inbound, struct inbound)
DEFINE_GET(host, struct host_row)

__attribute__((unused)) static struct profile get_open_profile(const char *id)
{
	struct profile profile = get_profile(id);

	CHECK_OK(profile_unseal(w.vault, &profile, &w.arena));
	return profile;
}

__attribute__((unused)) static const char *textf(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static const char *textf(const char *format, ...)
{
	static char texts[8][2048];
	static unsigned at;
	char *text = texts[at++ % 8];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof texts[0], format, args);
	va_end(args);
	return text;
}

/* The servers that this user's list holds now. */
__attribute__((unused)) static struct endpoint *endpoints_of(const char *user, size_t *count)
{
	struct endpoint *list = NULL;
	struct conn *conn;
	enum res res;

	*count = 0;
	CHECK_INT(store_read(w.store, STORE_PUBLIC, 2000, &conn), RES_OK);
	res = access_endpoints(conn, get_user(user).id, now_unix(), 600, &w.arena, &list, count);
	store_read_end(conn);
	CHECK_INT(res, RES_OK);
	return list;
}

__attribute__((unused)) static size_t count_of(const char *user)
{
	size_t count;

	endpoints_of(user, &count);
	return count;
}

__attribute__((unused)) static enum res report(const char *inbound, enum inbound_state state,
					       const char *pem)
{
	struct inbound_report report = {.id = get_inbound(inbound).id,
					.state = state,
					.error = "no reason",
					.cert_pem = pem};

	return run(op_inbound_state, &report);
}

#endif
