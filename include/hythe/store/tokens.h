/* store/tokens.h – API tokens. Owns the table api_token. Only hashes are kept.
 * Threads: those of the connection. */
#ifndef HYTHE_STORE_TOKENS_H
#define HYTHE_STORE_TOKENS_H

#include "hythe/model/ids.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"
#include "hythe/util/hash.h"

struct api_token {
	int64_t id, admin_id; /* admin_id 0: made on the control socket */
	struct public_id public_id;
	const char *name;
	uint32_t rights; /* of auth/rights.h */
	int64_t rate_per_s, created_unix, expires_unix, last_used_unix;
	struct public_id admin; /* "" when admin_id is 0 */
	const char *admin_name;
};

struct token_found {
	int64_t id, admin_id, expires_unix, last_used_unix, rate_per_s;
	struct public_id public_id;
	uint32_t rights;
	char role[16]; /* of its maker; "" when admin_id is 0 */
	bool enabled;  /* its maker */
};

enum res token_insert(struct conn *conn, struct api_token *token,
		      const uint8_t token_hash[static SHA256_LEN]);
enum res token_by_hash(struct conn *conn, const uint8_t token_hash[static SHA256_LEN],
		       struct token_found *out);
enum res token_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			    struct api_token *out);
/* In order of id, those after `after_id`; of one admin, or of all (admin_id -1). */
enum res api_tokens_page(struct conn *conn, int64_t admin_id, int64_t after_id, int64_t limit,
			 struct arena *arena, struct api_token **out, size_t *count);
enum res api_tokens_count(struct conn *conn, int64_t admin_id, int64_t *count);
enum res token_touch(struct conn *conn, int64_t id, int64_t now_unix);
enum res token_delete(struct conn *conn, int64_t id);

#endif
