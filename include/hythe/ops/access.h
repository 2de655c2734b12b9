/* ops/access.h – keeps what nodes shall hold in step with what an operation has just changed.
 *
 * Access records (a group with its inbounds on a node) are stored in node_group and
 * node_group_inbound; these functions compute them anew from group_access, tags, profiles and
 * inbounds for the part that may have changed, compare with what is stored, and write rows, sums
 * and change records for the pairs that differ (reference/sync-protocol.md A1, A2). An inbound
 * counts when it and its node are enabled, the node is not retired and the inbound is managed;
 * unmanaged ones are in the access rows (they are offered to clients) but in no node's record. */
#ifndef HYTHE_OPS_ACCESS_H
#define HYTHE_OPS_ACCESS_H

#include "hythe/model/user.h"
#include "hythe/ops/ops.h"
#include "hythe/store/users.h"

enum res access_refresh_group(struct op *op, int64_t group_id); /* its access rules changed */
/* Its tags, inbounds or state changed. */
enum res access_refresh_node(struct op *op, int64_t node_id);
/* The inbound's own record, after anything in it or its profile changed and before
 * access_refresh_node(). */
enum res inbound_refresh(struct op *op, int64_t inbound_id);
/* Removes every access record of a group (before it is deleted). */
enum res access_drop_group(struct op *op, int64_t group_id);

/* A user's record, state and sums after anything in his rows changed (ops/user_record.c). `before`
 * is taken by user_record_begin() before the first row is touched; begin also stores what the clock
 * has done to him meanwhile (a new period, credentials past their end), so that an operation works
 * on what is true now; end compares, moves the sums and writes the change record if anything is
 * different. RES_NOT_FOUND: there is no such user, or he is deleted. */
struct user_before {
	int64_t id;
	uint8_t hash[32];
	bool served;
	enum user_status state;
	int64_t *groups; /* sorted, in the arena */
	size_t group_count;
	struct user_minus *minus; /* by node, in the arena */
	size_t minus_count;
	/* Set by whoever changes something that the record does not hold but a link shows. */
	bool shown;
};
enum res user_record_begin(struct op *op, int64_t user_id, struct user_before *before);
enum res user_record_end(struct op *op, const struct user_before *before);
/* A group gained or lost access on a node: users taken away from there count differently. */
enum res user_record_minus(struct op *op, int64_t node_id, int64_t group_id, bool gained);

#endif
