/* store/idempotency.h – which Idempotency-Key was used for what, for 24 hours.
 * Written in the operation's own transaction. Threads: those of the connection. */
#ifndef HYTHE_STORE_IDEMPOTENCY_H
#define HYTHE_STORE_IDEMPOTENCY_H

#include "hythe/store/store.h"
#include "hythe/util/arena.h"
#include "hythe/util/hash.h"

#define IDEMPOTENCY_KEEP_S 86400

struct idempotency_row {
	const char *actor, *key;
	uint8_t request_hash[SHA256_LEN];
	int64_t status, revision, created_unix;
	const char *resources; /* public ids, one a line */
};

/* RES_NOT_FOUND: unused, or used before `since_unix`. */
enum res idempotency_find(struct conn *conn, const char *actor, const char *key, int64_t since_unix,
			  struct arena *arena, struct idempotency_row *out);
/* Takes the place of a row that idempotency_find() no longer sees. */
enum res idempotency_put(struct conn *conn, const struct idempotency_row *row);

#endif
