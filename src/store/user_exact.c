/* store/user_exact.c – a text that names one user: his id, his link, his credential, a slot. */
#include "user_exact.h"

#include <string.h>

#include "hythe/store/credentials.h"
#include "hythe/store/users.h"
#include "hythe/util/hash.h"
#include "user_text.h"

static enum res by_link(struct conn *conn, const char *q, struct arena *arena, int64_t *id)
{
	const char *token = search_link_token(arena, q);
	uint8_t hash[SHA256_LEN];

	if (!token)
		return RES_NOT_FOUND;
	hash_sha256(token, strlen(token), hash);
	return user_id_by_token(conn, hash, id);
}

static enum res by_credential(struct conn *conn, const char *q, struct arena *arena, int64_t *id)
{
	const char *text = search_credential(arena, q);
	struct credential credential;
	uint8_t hash[SHA256_LEN];
	enum res res;

	if (!text)
		return RES_NOT_FOUND;
	hash_sha256(text, strlen(text), hash);
	if ((res = credential_by_hash(conn, hash, arena, &credential)) == RES_OK)
		*id = credential.user_id;
	return res;
}

static enum res by_id(struct conn *conn, const char *q, struct arena *arena, int64_t *id)
{
	struct user user;
	enum res res = RES_NOT_FOUND;

	if (public_id_valid(ID_USER, q))
		res = user_by_public_id(conn, q, arena, &user);
	else if (search_slot(q, id))
		res = user_by_id(conn, *id, arena, &user);
	if (res == RES_OK)
		*id = user.id;
	return res;
}

enum res user_exact(struct conn *conn, const char *q, struct arena *arena, int64_t *id)
{
	static enum res (*const ways[])(struct conn *, const char *, struct arena *,
					int64_t *) = {by_id, by_link, by_credential};

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		enum res res = ways[i](conn, q, arena, id);

		if (res != RES_NOT_FOUND)
			return res;
	}
	return RES_NOT_FOUND;
}
