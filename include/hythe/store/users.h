/* store/users.h – the users: settings, counters, membership, and the secrets of their links.
 *
 * Owns every statement that writes a column of `user`, `user_group`, `user_node` or `user_period`,
 * and the rows of `user_search`. Works on a connection that the caller holds; text lives in the
 * arena. Deleted users are not found but by user_any_by_id(). Only ops/ calls what writes. Threads:
 * a connection is used by one at a time. */
#ifndef HYTHE_STORE_USERS_H
#define HYTHE_STORE_USERS_H

#include "hythe/model/user.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"

#define LINK_TOKEN_LEN 22 /* base64url characters of 128 random bits */

/* A group that he is in, or a node that is taken away from him. */
struct user_ref {
	int64_t id;
	struct public_id public_id;
	const char *name;
};

/* --- Reading --- */
enum res user_by_id(struct conn *conn, int64_t id, struct arena *arena, struct user *out);
enum res user_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			   struct user *out);
enum res user_any_by_id(struct conn *conn, int64_t id, struct arena *arena, struct user *out);
/* Sorted by name; a group that is being deleted is left out. */
enum res user_groups(struct conn *conn, int64_t user_id, struct arena *arena,
		     struct user_ref **list, size_t *count);
enum res user_excluded_nodes(struct conn *conn, int64_t user_id, struct arena *arena,
			     struct user_ref **list, size_t *count);
/* What is stored, sorted by id; a group that is being deleted is in it until he has left. */
enum res user_group_ids(struct conn *conn, int64_t user_id, struct arena *arena, int64_t **ids,
			size_t *count);
/* RES_NOT_FOUND, or the user whose link has this SHA-256. */
enum res user_id_by_token(struct conn *conn, const uint8_t hash[32], int64_t *id);
/* Every link there is, for the index at start. Stops when each() says false (RES_OK then too). */
enum res user_tokens_each(struct conn *conn,
			  bool (*each)(void *ctx, int64_t user_id,
				       const uint8_t key[STORE_TOKEN_KEY]),
			  void *ctx);
struct user_link {
	uint8_t hash[32];
	const void *sealed; /* opens with user_link_token() of ops/users.h */
	size_t sealed_len;
};
/* RES_CORRUPT: a row changed by hand; `hash` is then what is left of it, with zeros behind. */
enum res user_link_sealed(struct conn *conn, int64_t user_id, struct arena *arena,
			  struct user_link *out);

/* --- Writing: the writer's connection only --- */
/* What changes a user also mends the search index when it is out of step with the rows; damage that
 * others met (a search, a commit) is for the timer. */
bool user_search_damaged(struct conn *conn);
enum res user_search_rebuild(struct conn *conn); /* seconds at 100,000 users; logged */
/* Writes user, user_usage, user_period and user_search rows as `user` says; sets user->id. */
enum res user_insert(struct conn *conn, struct user *user, const struct user_link *link);
/* Writes the settings of `now`, and the search row if a searched text differs from `before`. */
enum res user_update(struct conn *conn, const struct user *before, const struct user *now);
enum res user_set_link(struct conn *conn, int64_t id, const struct user_link *link,
		       int64_t revoked_unix, int64_t version);
/* Frees name and link, takes him out of search, groups, nodes and periods. The row stays for the
 * ledger. */
enum res user_bury(struct conn *conn, const struct user *user, int64_t now_unix);
/* The id of whoever has this name key, or RES_NOT_FOUND. */
enum res user_id_by_name_key(struct conn *conn, const char *name_key, int64_t *id);

enum res user_join_group(struct conn *conn, int64_t user_id, int64_t group_id);
enum res user_leave_group(struct conn *conn, int64_t user_id, int64_t group_id);
/* Leaves every group that is being deleted. */
enum res user_leave_buried(struct conn *conn, int64_t user_id);
enum res user_node_ids(struct conn *conn, int64_t user_id, struct arena *arena, int64_t **ids,
		       size_t *count);
enum res user_take_node(struct conn *conn, int64_t user_id, int64_t node_id);
enum res user_give_node(struct conn *conn, int64_t user_id, int64_t node_id);
/* Id of a node that is there (not retired), for what a caller named. */
enum res user_node_by_public_id(struct conn *conn, const char *public_id, int64_t *id);

/* What the writer said last of a user: his part of the sums. */
struct user_record {
	bool served, deleted;
	enum user_status state;
	uint8_t hash[32]; /* zero when not served */
};
enum res user_record_read(struct conn *conn, int64_t id, struct user_record *out);
enum res user_record_write(struct conn *conn, int64_t id, const struct user_record *record);
/* The hash alone. */
enum res user_record_write_hash(struct conn *conn, int64_t id, const struct user_record *record);
/* Nodes taken away from a user, with the number of his groups that have an access record there. */
struct user_minus {
	int64_t node_id, times;
};
enum res user_minus_read(struct conn *conn, int64_t user_id, struct arena *arena,
			 struct user_minus **list, size_t *count);
/* Record hashes of the served users of a group that are taken away from a node. */
enum res user_minus_each(struct conn *conn, int64_t node_id, int64_t group_id,
			 enum res (*each)(void *ctx, const uint8_t hash[32]), void *ctx);

/* --- What the clock has passed, by index range: users whose stored rows are to be settled. --- */
enum user_due {
	USER_DUE_END,
	USER_DUE_HOLD,
	USER_DUE_PERIOD,
	USER_DUE_CREDENTIAL,
	USER_DUE_GROUP,
	USER_DUES
};
/* At most `limit` ids into `ids`. USER_DUE_GROUP: members of groups that are being deleted. */
enum res users_due(struct conn *conn, enum user_due due, int64_t now_unix, int64_t *ids,
		   size_t limit, size_t *count);

#endif
