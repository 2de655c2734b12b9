/* store/credentials.h – what users' clients present to a node: hash, sealed text, and until when.
 *
 * A hash is unique over all users. Threads: a connection is used by one at a time. */
#ifndef HYTHE_STORE_CREDENTIALS_H
#define HYTHE_STORE_CREDENTIALS_H

#include "hythe/store/store.h"
#include "hythe/util/arena.h"

struct credential {
	int64_t id, user_id;
	uint8_t hash[32];   /* SHA-256 of what the client presents */
	const void *sealed; /* opens with user_credential_text() of ops/users.h */
	size_t sealed_len;
	int64_t not_after_unix; /* 0: no end */
	int64_t created_unix;
};

/* The one to hand out at `now`: one without an end before one with, the newest of them. */
enum res user_credential(struct conn *conn, int64_t user_id, int64_t now_unix, struct arena *arena,
			 struct credential *out);
/* All of a user, as stored, sorted by hash. */
enum res user_credentials(struct conn *conn, int64_t user_id, struct arena *arena,
			  struct credential **list, size_t *count);
/* RES_NOT_FOUND: nobody has it. */
enum res credential_by_hash(struct conn *conn, const uint8_t hash[32], struct arena *arena,
			    struct credential *out);

/* --- Writing: the writer's connection only --- */
enum res credential_insert(struct conn *conn, const struct credential *credential);
enum res credential_set_end(struct conn *conn, int64_t id, int64_t not_after_unix);
enum res credential_delete(struct conn *conn, int64_t id);
enum res credentials_delete(struct conn *conn, int64_t user_id);
/* Those of a user whose end has passed. */
enum res credentials_delete_ended(struct conn *conn, int64_t user_id, int64_t now_unix);

#endif
