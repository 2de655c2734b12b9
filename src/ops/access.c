#include "hythe/ops/access.h"

#include <string.h>

#include "hythe/link/digest.h"
#include "hythe/ops/inbounds.h"
#include "hythe/ops/profiles.h"
#include "hythe/store/access.h"
#include "hythe/store/inbounds.h"
#include "hythe/store/profiles.h"

/* --- The inbound's own record --- */

static enum res hash_inbound(struct op *op, const struct inbound *inbound,
			     uint8_t hash[static DIGEST_LEN])
{
	struct profile profile;
	enum res res = profile_by_id(op->conn, inbound->profile_id, op->arena, &profile);

	if (res == RES_OK)
		res = profile_unseal(op->vault, &profile, op->arena);
	if (res != RES_OK)
		return res == RES_NOT_FOUND ? RES_CORRUPT : res;
	digest_of_inbound(
		&(struct digest_inbound){.id = inbound->id,
					 .core = inbound->core,
					 .kind = profile.kind,
					 .port = inbound_port(inbound),
					 .hop_ports = profile.hop_ports,
					 .sni = inbound_sni(inbound),
					 .obfs = obfs_words[profile.obfs],
					 .obfs_password = profile.obfs_password,
					 .obfs_min_packet_bytes = profile.obfs_min_packet_bytes,
					 .obfs_max_packet_bytes = profile.obfs_max_packet_bytes,
					 .cert_mode = cert_mode_words[profile.cert_mode],
					 .server = profile.server},
		hash);
	return RES_OK;
}

/* The node's sum loses what was stored, the before image, and gains what is now. */
static enum res sum_move(struct op *op, int64_t node_id, const uint8_t *before,
			 const uint8_t *after)
{
	enum res res = RES_OK;

	if (before)
		res = txn_sum_add(op->txn, SUM_NODE_BASE, node_id, before, -1);
	if (res == RES_OK && after)
		res = txn_sum_add(op->txn, SUM_NODE_BASE, node_id, after, 1);
	return res;
}

enum res inbound_refresh_told(struct op *op, int64_t inbound_id, bool *changed)
{
	struct inbound inbound;
	uint8_t hash[DIGEST_LEN];
	bool counts;
	enum res res = inbound_by_id(op->conn, inbound_id, op->arena, &inbound);

	*changed = false;
	if (res != RES_OK)
		return res;
	counts = inbound_counts(&inbound);
	if (counts && (res = hash_inbound(op, &inbound, hash)) != RES_OK)
		return res;
	if (counts == inbound.recorded &&
	    (!counts || memcmp(hash, inbound.record_hash, sizeof hash) == 0))
		return RES_OK;
	*changed = true;
	res = sum_move(op, inbound.node_id, inbound.recorded ? inbound.record_hash : NULL,
		       counts ? hash : NULL);
	if (res == RES_OK)
		res = inbound_record_set(op->conn, inbound_id, counts ? hash : NULL);
	if (res == RES_OK)
		res = txn_change(op->txn, CHANGE_INBOUND, inbound_id, 0, false);
	return res;
}

enum res inbound_refresh(struct op *op, int64_t inbound_id)
{
	bool changed;

	return inbound_refresh_told(op, inbound_id, &changed);
}

/* --- Access records --- */

struct pair_state {
	struct access_inbound *list;
	size_t count;
	bool recorded;
	uint8_t hash[DIGEST_LEN];
};

static enum res read_stored(struct op *op, const struct access_pair *pair, struct pair_state *out)
{
	struct access_stored stored;
	enum res res = access_present(op->conn, pair, op->arena, &out->list, &out->count);

	if (res == RES_OK)
		res = access_stored(op->conn, pair, &stored);
	if (res != RES_OK)
		return res;
	out->recorded = stored.recorded;
	memcpy(out->hash, stored.hash, sizeof out->hash);
	return RES_OK;
}

/* The record names managed inbounds only; a pair without any has none. */
static enum res hash_pair(struct op *op, const struct access_pair *pair, struct pair_state *state)
{
	size_t count = 0;
	int64_t *ids = arena_alloc(op->arena, (state->count + 1) * sizeof *ids);

	if (!ids)
		return RES_NOMEM;
	for (size_t i = 0; i < state->count; i++)
		if (state->list[i].managed)
			ids[count++] = state->list[i].id;
	state->recorded = count > 0;
	if (state->recorded)
		digest_of_access(pair->group_id, ids, count, state->hash);
	return RES_OK;
}

static bool same_list(const struct pair_state *a, const struct pair_state *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->list[i].id != b->list[i].id)
			return false;
	return true;
}

static bool same_record(const struct pair_state *a, const struct pair_state *b)
{
	return a->recorded == b->recorded &&
	       (!a->recorded || memcmp(a->hash, b->hash, sizeof a->hash) == 0);
}

static enum res pair_move(struct op *op, const struct access_pair *pair,
			  const struct pair_state *before, const struct pair_state *after)
{
	bool gained = after->recorded && !before->recorded;
	enum res res = access_store(op->conn, pair, after->list, after->count,
				    after->recorded ? after->hash : NULL);

	if (res != RES_OK)
		return res;
	/* Servers that no agent runs came or went: subscriptions hear of it, nodes need not. */
	if (same_record(before, after))
		return txn_change(op->txn, CHANGE_RENDER, 0, 0, false);
	res = sum_move(op, pair->node_id, before->recorded ? before->hash : NULL,
		       after->recorded ? after->hash : NULL);
	if (res == RES_OK)
		res = txn_change(op->txn, CHANGE_ACCESS, pair->node_id, pair->group_id, gained);
	if (res == RES_OK && before->recorded != after->recorded)
		res = user_record_minus(op, pair->node_id, pair->group_id, gained);
	return res;
}

/* `drop`: as if nothing were wanted. */
static enum res refresh_pair(struct op *op, const struct access_pair *pair, bool drop)
{
	struct pair_state before = {0}, after = {0};
	enum res res = read_stored(op, pair, &before);

	if (res == RES_OK && !drop)
		res = access_wanted(op->conn, pair, op->arena, &after.list, &after.count);
	if (res == RES_OK)
		res = hash_pair(op, pair, &after);
	if (res != RES_OK || (same_list(&before, &after) && same_record(&before, &after)))
		return res;
	return pair_move(op, pair, &before, &after);
}

static enum res refresh_group(struct op *op, int64_t group_id, bool drop)
{
	int64_t *nodes;
	size_t count;
	enum res res = access_nodes_of_group(op->conn, group_id, op->arena, &nodes, &count);

	for (size_t i = 0; i < count && res == RES_OK; i++)
		res = refresh_pair(op, &(struct access_pair){nodes[i], group_id}, drop);
	return res;
}

enum res access_refresh_group(struct op *op, int64_t group_id)
{
	return refresh_group(op, group_id, false);
}

enum res access_drop_group(struct op *op, int64_t group_id)
{
	return refresh_group(op, group_id, true);
}

enum res access_refresh_node(struct op *op, int64_t node_id)
{
	int64_t *groups;
	size_t count;
	enum res res = access_groups_of_node(op->conn, node_id, op->arena, &groups, &count);

	for (size_t i = 0; i < count && res == RES_OK; i++)
		res = refresh_pair(op, &(struct access_pair){node_id, groups[i]}, false);
	return res;
}
