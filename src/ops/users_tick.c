/* users_tick.c – the writer follows the clock: what readers already see is stored, and nodes hear
 * of it. */
#include <inttypes.h>

#include "hythe/store/groups.h"
#include "hythe/util/log.h"
#include "users_internal.h"

#define TICK_MAX 500

static enum res settle_one(struct op *op, void *user_id)
{
	int64_t id = *(int64_t *)user_id;
	struct user_before before;
	enum res res;

	if ((res = user_record_begin(op, id, &before)) != RES_OK ||
	    (res = user_leave_buried(op->conn, id)) != RES_OK)
		return res;
	return user_record_end(op, &before);
}

static bool is_his_own_fault(enum res res)
{
	return res == RES_CORRUPT || res == RES_INTERNAL || res == RES_NOT_FOUND ||
	       res == RES_CONFLICT;
}

/* One odd row must not keep the others from their end: its part is undone, and said. */
static enum res settle_apart(struct op *op, int64_t id, int64_t *settled)
{
	enum res res = txn_nest(op->txn), ended;

	if (res != RES_OK)
		return res;
	res = user_op(op, settle_one, &id);
	ended = txn_nest_end(op->txn, res == RES_OK);
	if (ended != RES_OK)
		return ended;
	if (!is_his_own_fault(res)) {
		*settled += res == RES_OK;
		return res;
	}
	log_error("user_not_settled", "user=%" PRId64 " reason=%s", id, log_quote(res_text(res)));
	return RES_OK;
}

enum res op_users_tick(struct op *op, void *arg)
{
	struct users_tick *tick = arg;
	int64_t ids[TICK_MAX], left = tick->limit < TICK_MAX ? tick->limit : TICK_MAX;
	enum res res = groups_remove_empty(op->conn);

	if (res == RES_OK && user_search_damaged(op->conn))
		res = user_search_rebuild(op->conn);

	tick->changed = 0;
	tick->more = false;
	for (enum user_due due = 0; res == RES_OK && due < USER_DUES && left > 0; due++) {
		size_t count = 0;

		res = users_due(op->conn, due, op->now_unix, ids, (size_t)left, &count);
		for (size_t i = 0; res == RES_OK && i < count; i++)
			res = settle_apart(op, ids[i], &tick->changed);
		left -= (int64_t)count;
	}
	/* Without one that went well, calling again would only meet the same odd rows. */
	tick->more = left <= 0 && tick->changed > 0;
	return res;
}
