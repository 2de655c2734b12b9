/* store/access.h – "which inbounds may this user use", and the access records behind it.
 *
 * The one place of this question: subscriptions, explanations and the fleet all ask here. Readers
 * work on a connection the caller has checked out; the writing half is for ops/access.c, inside a
 * job. Text and lists live in the arena passed in. Threads: none; a connection is used by one
 * thread at a time. */
#ifndef HYTHE_STORE_ACCESS_H
#define HYTHE_STORE_ACCESS_H

#include "hythe/model/host.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"

#define ACCESS_ENDPOINTS_MAX 1000

/* What the user's list holds at this moment, by sort_order, node name, host id: hosts that are
 * enabled and not hidden, of inbounds that his groups open, on enabled nodes that are not retired
 * nor taken from him; managed ones have run once, a pin is known where it is needed (self_signed),
 * and none has been failed or unreachable for longer than hide_after_s (0: never hidden). Does not
 * look at the user's status. At most ACCESS_ENDPOINTS_MAX. */
enum res access_endpoints(struct conn *conn, int64_t user_id, int64_t now_unix,
			  int64_t hide_after_s, struct arena *arena, struct endpoint **list,
			  size_t *count);

/* Ids of the inbounds his groups open on nodes not taken from him, sorted: where he is admitted. */
enum res access_inbounds_of_user(struct conn *conn, int64_t user_id, struct arena *arena,
				 int64_t **ids, size_t *count);

/* --- Access records: rows of node_group and node_group_inbound --- */
struct access_pair {
	int64_t node_id, group_id;
};

struct access_inbound {
	int64_t id;
	bool managed; /* others are offered to clients, but in no node's record */
};

struct access_stored {
	bool exists;
	bool recorded; /* it has managed inbounds, so the node holds a record with this hash */
	uint8_t hash[32];
};

/* The other half of the pairs that have a record or may get one: from what is stored and from the
 * rules as they are now. Ids of nodes, and of groups. */
enum res access_nodes_of_group(struct conn *conn, int64_t group_id, struct arena *arena,
			       int64_t **ids, size_t *count);
enum res access_groups_of_node(struct conn *conn, int64_t node_id, struct arena *arena,
			       int64_t **ids, size_t *count);
/* The pair's inbounds by the rules as they are now; and as stored. Sorted by id. */
enum res access_wanted(struct conn *conn, const struct access_pair *pair, struct arena *arena,
		       struct access_inbound **list, size_t *count);
enum res access_present(struct conn *conn, const struct access_pair *pair, struct arena *arena,
			struct access_inbound **list, size_t *count);
enum res access_stored(struct conn *conn, const struct access_pair *pair,
		       struct access_stored *out);
/* Replaces the pair's rows; `hash` NULL: no record on the node; count 0: the pair goes. */
enum res access_store(struct conn *conn, const struct access_pair *pair,
		      const struct access_inbound *list, size_t count, const uint8_t *hash);
#endif
