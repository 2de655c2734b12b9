/* user_record.c – what nodes hold of a user, and the sums that his record is part of.
 *
 * The before image is what is stored, never what could be computed: a sum loses exactly what it
 * gained (reference: the rules of records and digests, A1). */
#include <string.h>

#include "hythe/link/digest.h"
#include "hythe/ops/access.h"
#include "hythe/store/credentials.h"
#include "hythe/store/usage.h"
#include "hythe/store/users.h"
#include "hythe/util/num.h"
#include "users_internal.h"

static enum res next_period(struct op *op, struct user *user, bool *moved)
{
	struct period period = user_period_at(op->zone, user, op->now_unix);
	struct user_usage *usage = &user->usage;

	if (usage->period_end_unix == 0 || usage->period_end_unix > op->now_unix)
		return RES_OK;
	usage->period_no = num_add_sat(usage->period_no, 1);
	usage->period_start_unix = period.start_unix;
	usage->period_end_unix = period.end_unix;
	usage->used_up_bytes = usage->used_down_bytes = 0;
	*moved = true;
	return usage_set_period(op->conn, user->id, usage);
}

/* What the clock has done: his period, and credentials that have ended. Status is for the end. */
static enum res settle(struct op *op, struct user_before *before)
{
	struct user user;
	enum res res = user_by_id(op->conn, before->id, op->arena, &user);

	if (res == RES_OK)
		res = next_period(op, &user, &before->shown);
	if (res == RES_OK)
		res = credentials_delete_ended(op->conn, before->id, op->now_unix);
	return res;
}

enum res user_record_begin(struct op *op, int64_t user_id, struct user_before *before)
{
	struct user_record record;
	enum res res;

	memset(before, 0, sizeof *before);
	before->id = user_id;
	if ((res = user_record_read(op->conn, user_id, &record)) != RES_OK)
		return res;
	if (record.deleted)
		return RES_NOT_FOUND;
	before->served = record.served;
	before->state = record.state;
	memcpy(before->hash, record.hash, sizeof before->hash);
	res = user_group_ids(op->conn, user_id, op->arena, &before->groups, &before->group_count);
	if (res == RES_OK)
		res = user_minus_read(op->conn, user_id, op->arena, &before->minus,
				      &before->minus_count);
	return res == RES_OK ? settle(op, before) : res;
}

/* --- The end --- */

static enum res digest_credentials(struct op *op, struct digest_user *record)
{
	struct digest_credential *list;
	struct credential *stored;
	enum res res = user_credentials(op->conn, record->id, op->arena, &stored,
					&record->credential_count);

	if (res != RES_OK)
		return res;
	if (!(list = arena_alloc(op->arena, (record->credential_count + 1) * sizeof *list)))
		return RES_NOMEM;
	for (size_t i = 0; i < record->credential_count; i++) {
		memcpy(list[i].hash, stored[i].hash, sizeof list[i].hash);
		list[i].not_after_unix = stored[i].not_after_unix;
	}
	record->credentials = list;
	return RES_OK;
}

static enum res hash_record(struct op *op, const struct user *user, const struct user_before *now,
			    uint8_t hash[32])
{
	struct digest_user record = {
		.id = user->id,
		.expires_unix = user->expires_unix,
		.hold_s = user->hold_s,
		.hold_no = user->hold_no,
		.device_limit = user->device_limit,
		.period_no = user->usage.period_no,
		.period_start_unix = user->usage.period_start_unix,
		.period_end_unix = user->usage.period_end_unix,
		.quota_counts = user->quota_bytes > 0,
		.groups = now->groups,
		.group_count = now->group_count,
	};
	enum res res = digest_credentials(op, &record);

	if (res == RES_OK)
		digest_of_user(&record, hash);
	return res;
}

static enum res add_to_sums(struct op *op, const struct user_before *image, int64_t sign)
{
	enum res res = RES_OK;

	if (!image->served)
		return RES_OK;
	for (size_t i = 0; res == RES_OK && i < image->group_count; i++)
		res = txn_sum_add(op->txn, SUM_GROUP, image->groups[i], image->hash, sign);
	for (size_t i = 0; res == RES_OK && i < image->minus_count; i++)
		res = txn_sum_add(op->txn, SUM_NODE_MINUS, image->minus[i].node_id, image->hash,
				  sign * image->minus[i].times);
	return res;
}

static bool same_minus(const struct user_before *a, const struct user_before *b)
{
	if (a->minus_count != b->minus_count)
		return false;
	for (size_t i = 0; i < a->minus_count; i++)
		if (a->minus[i].node_id != b->minus[i].node_id ||
		    a->minus[i].times != b->minus[i].times)
			return false;
	return true;
}

static bool same_groups(const struct user_before *a, const struct user_before *b)
{
	return a->group_count == b->group_count &&
	       (a->group_count == 0 ||
		memcmp(a->groups, b->groups, a->group_count * sizeof *a->groups) == 0);
}

static enum res image_now(struct op *op, const struct user *user, struct user_before *now)
{
	enum res res;

	now->id = user->id;
	now->state = user_status_at(user, op->now_unix);
	now->served = user->deleted_unix == 0 && user_has_access(now->state);
	res = user_group_ids(op->conn, user->id, op->arena, &now->groups, &now->group_count);
	if (res == RES_OK)
		res = user_minus_read(op->conn, user->id, op->arena, &now->minus,
				      &now->minus_count);
	if (res == RES_OK && now->served)
		res = hash_record(op, user, now, now->hash);
	return res;
}

/* State and served stand in indexes: they are written only when they differ from what is stored. */
static enum res write_record(struct op *op, const struct user *user, const struct user_before *now)
{
	struct user_record record = {now->served, user->deleted_unix > 0, now->state, {0}};

	memcpy(record.hash, now->hash, sizeof record.hash);
	if (user->served == now->served && user->state == now->state && !record.deleted)
		return user_record_write_hash(op->conn, user->id, &record);
	return user_record_write(op->conn, user->id, &record);
}

enum res user_record_end_as(struct op *op, const struct user_before *before,
			    const struct user *user)
{
	struct user_before now = {0};
	bool record_moved, state_moved, nodes_moved;
	enum res res = image_now(op, user, &now);

	if (res != RES_OK)
		return res;
	record_moved = now.served != before->served ||
		       memcmp(now.hash, before->hash, sizeof now.hash) != 0;
	state_moved = now.state != before->state || user->deleted_unix > 0;
	nodes_moved = !same_groups(before, &now) || !same_minus(before, &now);
	if (record_moved || nodes_moved) {
		res = add_to_sums(op, before, -1);
		if (res == RES_OK)
			res = add_to_sums(op, &now, 1);
	}
	if (res == RES_OK && (record_moved || state_moved))
		res = write_record(op, user, &now);
	if (res == RES_OK && (record_moved || state_moved || nodes_moved || before->shown))
		res = txn_change(op->txn, CHANGE_USER, user->id, 0, false);
	return res;
}

enum res user_record_end(struct op *op, const struct user_before *before)
{
	struct user user;
	enum res res = user_any_by_id(op->conn, before->id, op->arena, &user);

	return res == RES_OK ? user_record_end_as(op, before, &user) : res;
}

/* --- A group's access moved --- */

struct minus_walk {
	struct op *op;
	int64_t node_id, sign;
};

static enum res count_one(void *ctx, const uint8_t hash[32])
{
	struct minus_walk *walk = ctx;

	return txn_sum_add(walk->op->txn, SUM_NODE_MINUS, walk->node_id, hash, walk->sign);
}

enum res user_record_minus(struct op *op, int64_t node_id, int64_t group_id, bool gained)
{
	struct minus_walk walk = {op, node_id, gained ? 1 : -1};

	return user_minus_each(op->conn, node_id, group_id, count_one, &walk);
}
