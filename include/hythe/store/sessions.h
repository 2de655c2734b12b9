/* store/sessions.h – who is signed in. Owns the table admin_session.
 * Threads: those of the connection. */
#ifndef HYTHE_STORE_SESSIONS_H
#define HYTHE_STORE_SESSIONS_H

#include "hythe/model/ids.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"
#include "hythe/util/hash.h"

struct session {
	int64_t id, admin_id;
	struct public_id public_id;
	int64_t created_unix, last_seen_unix, expires_unix;
	const char *address, *user_agent;
};

/* What a presented cookie leads to. */
struct session_found {
	int64_t id, admin_id, last_seen_unix, expires_unix;
	struct public_id admin;
	char role[16];
	bool enabled; /* the admin */
};

enum res session_insert(struct conn *conn, struct session *session,
			const uint8_t token_hash[static SHA256_LEN]);
/* RES_NOT_FOUND. Says nothing about time: see session_alive(). */
enum res session_by_token(struct conn *conn, const uint8_t token_hash[static SHA256_LEN],
			  struct session_found *out);
enum res sessions_of_admin(struct conn *conn, int64_t admin_id, int64_t limit, struct arena *arena,
			   struct session **out, size_t *count); /* newest first */
/* Never moves it back. */
enum res session_touch(struct conn *conn, int64_t id, int64_t now_unix);
enum res session_delete(struct conn *conn, int64_t id); /* RES_NOT_FOUND */
/* RES_NOT_FOUND unless it is that admin's. */
enum res session_delete_own(struct conn *conn, int64_t admin_id, const char *public_id);
/* All of an admin's but `keep_id` (0: all). */
enum res sessions_drop(struct conn *conn, int64_t admin_id, int64_t keep_id);

#endif
