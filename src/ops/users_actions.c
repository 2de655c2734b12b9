/* users_actions.c – what is done to a user by name: on, off, more time, new period, new secrets. */
#include <string.h>

#include "hythe/store/usage.h"
#include "hythe/util/num.h"
#include "op_parts.h"
#include "users_internal.h"

static enum res set_enabled(struct op *op, struct user_target *target, bool enabled)
{
	struct user_edit edit;
	enum res res = user_edit_open(op, target, &edit);

	if (res != RES_OK)
		return res;
	edit.now.enabled = enabled;
	return user_edit_close(op, &edit, enabled ? "user.enable" : "user.disable", NULL);
}

static enum res enable(struct op *op, void *user_target)
{
	return set_enabled(op, user_target, true);
}

static enum res disable(struct op *op, void *user_target)
{
	return set_enabled(op, user_target, false);
}

/* --- Time and bytes --- */

/* Starts of one user's periods strictly rise, also when two resets fall into one second: a start is
 * the name by which nodes report what was used in it. */
static enum res begin_period(struct op *op, struct user_edit *edit)
{
	struct user_usage *usage = &edit->now.usage;

	usage->period_no = num_add_sat(usage->period_no, 1);
	usage->period_start_unix = op->now_unix > usage->period_start_unix
					   ? op->now_unix
					   : num_add_sat(usage->period_start_unix, 1);
	usage->used_up_bytes = usage->used_down_bytes = 0;
	edit->before.shown = edit->acted = true;
	return usage_set_period(op->conn, edit->now.id, usage);
}

static enum res add_time(struct op *op, struct user *user, int64_t add_s)
{
	int64_t from = user->expires_unix > op->now_unix ? user->expires_unix : op->now_unix;

	if (user_waits_for_use(user)) {
		if (add_s > HOLD_MAX_S - user->hold_s)
			return problem_set(op->problem, RES_INVALID, "out_of_range", "add_s",
					   "A hold lasts %lld seconds at most.",
					   (long long)HOLD_MAX_S);
		user->hold_s += add_s;
		if (user->hold_deadline_unix <= op->now_unix)
			user->hold_deadline_unix = 0;
		return RES_OK;
	}
	if (user->expires_unix == 0)
		return RES_OK;
	if (add_s > UNIX_MAX - from)
		return problem_set(op->problem, RES_INVALID, "out_of_range", "add_s",
				   "The end would be beyond the year 9999.");
	user->expires_unix = from + add_s;
	return RES_OK;
}

static enum res add_bytes(struct op *op, struct user *user, int64_t bytes)
{
	if (user->quota_bytes <= 0)
		return RES_OK;
	if (bytes > QUOTA_MAX - user->quota_bytes)
		return problem_set(op->problem, RES_INVALID, "out_of_range", "add_bytes",
				   "A quota has 2^62 bytes at most.");
	user->quota_bytes += bytes;
	return RES_OK;
}

static enum res check_extension(const struct user_extend *extend, struct problem *problem)
{
	if (extend->add_s < 0 || extend->add_s > EXTEND_MAX_S)
		return problem_set(problem, RES_INVALID, "out_of_range", "add_s",
				   "This is between 0 and %lld.", (long long)EXTEND_MAX_S);
	if (extend->add_bytes < 0 || extend->add_bytes > QUOTA_MAX)
		return problem_set(problem, RES_INVALID, "out_of_range", "add_bytes",
				   "This is between 0 and 2^62.");
	if (extend->add_s == 0 && extend->add_bytes == 0 && !extend->reset_usage)
		return problem_set(problem, RES_INVALID, "missing_field", "add_s",
				   "Say what to add: add_s, add_bytes or reset_usage.");
	return RES_OK;
}

static enum res extend(struct op *op, void *user_extend)
{
	struct user_extend *extend = user_extend;
	struct user_edit edit;
	const char *detail;
	enum res res;

	if ((res = check_extension(extend, op->problem)) != RES_OK ||
	    (res = user_edit_open(op, &extend->target, &edit)) != RES_OK)
		return res;
	if (extend->add_s > 0)
		res = add_time(op, &edit.now, extend->add_s);
	if (res == RES_OK && extend->add_bytes > 0)
		res = add_bytes(op, &edit.now, extend->add_bytes);
	if (res == RES_OK && extend->reset_usage)
		res = begin_period(op, &edit);
	if (res != RES_OK)
		return res;
	detail = arena_printf(op->arena, "{\"add_s\":%lld,\"add_bytes\":%lld,\"reset_usage\":%s}",
			      (long long)extend->add_s, (long long)extend->add_bytes,
			      extend->reset_usage ? "true" : "false");
	return user_edit_close(op, &edit, "user.extend", detail);
}

static enum res reset_usage(struct op *op, void *user_target)
{
	struct user_target *target = user_target;
	struct user_edit edit;
	enum res res;

	if ((res = user_edit_open(op, target, &edit)) != RES_OK ||
	    (res = begin_period(op, &edit)) != RES_OK)
		return res;
	return user_edit_close(op, &edit, "user.reset_usage", NULL);
}

/* --- Secrets --- */

static enum res rotate_link(struct op *op, void *user_target)
{
	struct user_target *target = user_target;
	struct user_edit edit;
	struct user_link old, new;
	bool linked;
	enum res res;

	if ((res = user_edit_open(op, target, &edit)) != RES_OK)
		return res;
	edit.before.shown = true;
	if ((res = user_link_old(op, target->id, &old, &linked)) != RES_OK ||
	    (res = user_link_make(op, &edit.was.public_id, &new)) != RES_OK ||
	    (res = user_set_link(op->conn, target->id, &new, op->now_unix,
				 next_version(edit.was.version))) != RES_OK ||
	    (res = user_record_end(op, &edit.before)) != RES_OK ||
	    (res = txn_change_token(op->txn, target->id, linked ? old.hash : NULL, new.hash)) !=
		    RES_OK)
		return res;
	return op_audit(op, "user.rotate_link", edit.was.public_id.text, NULL);
}

/* The old ones end now, or when they shall; of many that are kept, the oldest go first. */
static enum res end_old_credentials(struct op *op, int64_t user_id, int64_t keep_s)
{
	struct credential *list;
	int64_t end = op->now_unix + keep_s;
	size_t count;
	enum res res = user_credentials(op->conn, user_id, op->arena, &list, &count);

	if (res != RES_OK || keep_s == 0)
		return res == RES_OK ? credentials_delete(op->conn, user_id) : res;
	for (size_t i = 0; res == RES_OK && i < count; i++) {
		size_t newer = 0;

		for (size_t k = 0; k < count; k++)
			newer += list[k].id > list[i].id;
		if (newer >= CREDENTIALS_KEPT - 1)
			res = credential_delete(op->conn, list[i].id);
		else if (list[i].not_after_unix == 0 || list[i].not_after_unix > end)
			res = credential_set_end(op->conn, list[i].id, end);
	}
	return res;
}

static enum res rotate_credential(struct op *op, void *user_rotate)
{
	struct user_rotate *rotate = user_rotate;
	struct credential credential;
	struct user_edit edit;
	const char *detail;
	enum res res;

	if (rotate->keep_s < 0 || rotate->keep_s > KEEP_MAX_S)
		return problem_set(op->problem, RES_INVALID, "out_of_range", "keep_s",
				   "This is between 0 and %lld.", (long long)KEEP_MAX_S);
	if ((res = user_edit_open(op, &rotate->target, &edit)) != RES_OK)
		return res;
	edit.sets = true; /* a new version, though no column of his own row differs */
	if ((res = end_old_credentials(op, edit.was.id, rotate->keep_s)) != RES_OK ||
	    (res = user_credential_make(op, &edit.was, NULL, &credential)) != RES_OK ||
	    (res = credential_insert(op->conn, &credential)) != RES_OK)
		return res;
	detail = arena_printf(op->arena, "{\"keep_s\":%lld}", (long long)rotate->keep_s);
	return user_edit_close(op, &edit, "user.rotate_credential", detail);
}

/* --- As operations --- */

enum res op_user_enable(struct op *op, void *user_target)
{
	return user_op(op, enable, user_target);
}

enum res op_user_disable(struct op *op, void *user_target)
{
	return user_op(op, disable, user_target);
}

enum res op_user_extend(struct op *op, void *user_extend)
{
	return user_op(op, extend, user_extend);
}

enum res op_user_reset_usage(struct op *op, void *user_target)
{
	return user_op(op, reset_usage, user_target);
}

enum res op_user_rotate_link(struct op *op, void *user_target)
{
	return user_op(op, rotate_link, user_target);
}

enum res op_user_rotate_credential(struct op *op, void *user_rotate)
{
	return user_op(op, rotate_credential, user_rotate);
}
