/* users.c – a user is made, changed, deleted. */
#include "hythe/ops/users.h"

#include <stddef.h>
#include <string.h>

#include "hythe/store/usage.h"
#include "hythe/util/json_read.h"
#include "op_parts.h"
#include "users_internal.h"

#define OP_ARENA_MAX (1u << 20)

enum res user_op(struct op *op, op_fn fn, void *arg)
{
	struct op inner = *op;
	struct arena arena;
	enum res res;

	arena_init(&arena, OP_ARENA_MAX);
	inner.arena = &arena;
	res = fn(&inner, arg);
	arena_free(&arena);
	return res;
}

/* --- A change of one user --- */

static bool is_reseller(const struct actor *actor)
{
	return (actor->kind == ACTOR_ADMIN || actor->kind == ACTOR_TOKEN) &&
	       actor->role == ROLE_RESELLER;
}

enum res user_edit_open(struct op *op, struct user_target *target, struct user_edit *edit)
{
	enum res res = user_by_public_id(op->conn, target->public_id, op->arena, &edit->was);

	edit->settings = edit->sets = edit->acted = false;
	/* Somebody else's user is no different from none at all. */
	if (res == RES_OK && is_reseller(op->actor) &&
	    edit->was.owner_admin_id != op->actor->admin_id)
		res = RES_NOT_FOUND;
	if (res == RES_NOT_FOUND)
		return problem_set(op->problem, RES_NOT_FOUND, "not_found", NULL,
				   "There is no such user.");
	if (res == RES_OK)
		res = op_check_version(op, target->if_match, edit->was.version);
	if (res != RES_OK)
		return res;
	target->id = edit->was.id;
	if ((res = user_record_begin(op, target->id, &edit->before)) == RES_OK)
		res = user_by_id(op->conn, target->id, op->arena, &edit->was);
	edit->now = edit->was;
	return res;
}

static bool same_settings(const struct user *a, const struct user *b)
{
#define MEMBER(name) offsetof(struct user, name)
	static const size_t texts[] = {MEMBER(name), MEMBER(display_name), MEMBER(note),
				       MEMBER(tag),  MEMBER(email),        MEMBER(language),
				       MEMBER(meta)};
	static const size_t numbers[] = {MEMBER(telegram_id),       MEMBER(owner_admin_id),
					 MEMBER(expires_unix),      MEMBER(hold_s),
					 MEMBER(hold_no),           MEMBER(hold_deadline_unix),
					 MEMBER(first_use_unix),    MEMBER(quota_bytes),
					 MEMBER(quota_period_days), MEMBER(period_anchor_unix),
					 MEMBER(device_limit),      MEMBER(hwid_limit),
					 MEMBER(plan_id),           MEMBER(next_plan_id)};
#undef MEMBER
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(*(const char *const *)(const void *)((const char *)a + texts[i]),
			   *(const char *const *)(const void *)((const char *)b + texts[i])) != 0)
			return false;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (memcmp((const char *)a + numbers[i], (const char *)b + numbers[i],
			   sizeof(int64_t)) != 0)
			return false;
	return a->enabled == b->enabled && a->quota_period == b->quota_period;
}

/* Another kind of period: what was used stays, its start too; only the next reset is another. */
static enum res move_period_end(struct op *op, const struct user *was, struct user *now)
{
	if (was->quota_period == now->quota_period &&
	    was->quota_period_days == now->quota_period_days)
		return RES_OK;
	now->usage.period_end_unix = period_at(op->zone, now->quota_period, now->quota_period_days,
					       now->period_anchor_unix, op->now_unix)
					     .end_unix;
	return usage_set_period(op->conn, now->id, &now->usage);
}

enum res user_edit_close(struct op *op, struct user_edit *edit, const char *action,
			 const char *detail)
{
	enum res res = RES_OK;

	edit->settings = !same_settings(&edit->was, &edit->now);
	if (edit->settings || edit->sets) {
		edit->now.version = next_version(edit->now.version);
		edit->before.shown = true;
		if ((res = move_period_end(op, &edit->was, &edit->now)) == RES_OK)
			res = user_update(op->conn, &edit->was, &edit->now);
	}
	if (res == RES_OK)
		res = user_record_end_as(op, &edit->before, &edit->now);
	if (res == RES_OK && (edit->settings || edit->sets || edit->acted))
		res = op_audit(op, action, edit->was.public_id.text, detail);
	return res;
}

static enum res apply_sets(struct op *op, const struct user_input *input, int64_t user_id,
			   bool *changed)
{
	enum res res = RES_OK;

	if (user_input_has(input, USER_F_GROUPS))
		res = user_set_groups(op, user_id, input->groups, changed);
	if (res == RES_OK && user_input_has(input, USER_F_EXCLUDED_NODES))
		res = user_set_nodes(op, user_id, input->excluded_nodes, changed);
	return res;
}

/* Names only: a note may hold anything. */
static const char *given_members(struct op *op, const struct user_input *input)
{
	return detail_fields(op, user_fields, USER_FIELDS, input->present);
}

/* --- Create --- */

static void first_values(struct op *op, struct user *user)
{
	*user = (struct user){
		.name = "",
		.name_key = "",
		.display_name = "",
		.note = "",
		.tag = "",
		.email = "",
		.language = "",
		.meta = "{}",
		.enabled = true,
		.created_unix = op->now_unix,
		.period_anchor_unix = op->now_unix,
		.hwid_limit = -1,
		.version = 1,
	};
	public_id_new(ID_USER, &user->public_id);
	if (is_reseller(op->actor))
		user->owner_admin_id = op->actor->admin_id;
}

static void first_period(struct op *op, struct user *user)
{
	struct period period = period_at(op->zone, user->quota_period, user->quota_period_days,
					 user->period_anchor_unix, op->now_unix);

	user->usage.period_no = 1;
	user->usage.period_start_unix = op->now_unix;
	user->usage.period_end_unix = period.end_unix;
}

static enum res write_new(struct op *op, const struct user_input *input, struct user *user)
{
	const char *imported = user_input_has(input, USER_F_CREDENTIAL) ? input->credential : NULL;
	struct user_before nothing = {.shown = true};
	struct credential credential;
	struct user_link link;
	bool changed = false;
	enum res res;

	if ((res = user_link_make(op, &user->public_id, &link)) != RES_OK ||
	    (res = user_credential_make(op, user, imported, &credential)) != RES_OK)
		return res;
	user->state = user_status_at(user, op->now_unix);
	user->served = user_has_access(user->state); /* his hash follows, when he has an id */
	nothing.state = user->state;
	if ((res = user_insert(op->conn, user, &link)) != RES_OK)
		return res;
	credential.user_id = nothing.id = user->id;
	if ((res = credential_insert(op->conn, &credential)) != RES_OK ||
	    (res = apply_sets(op, input, user->id, &changed)) != RES_OK ||
	    (res = user_record_end_as(op, &nothing, user)) != RES_OK)
		return res;
	return txn_change_token(op->txn, user->id, NULL, link.hash);
}

static enum res create(struct op *op, void *arg)
{
	struct user_create *create = arg;
	struct user user;
	enum res res;

	first_values(op, &user);
	if (!user_input_has(&create->input, USER_F_NAME))
		return problem_set(op->problem, RES_INVALID, "missing_field", "name",
				   "A user has a name.");
	if ((res = user_input_apply(op, &create->input, &user)) != RES_OK)
		return res;
	first_period(op, &user);
	if ((res = write_new(op, &create->input, &user)) != RES_OK)
		return res;
	create->id = user.id;
	create->public_id = user.public_id;
	if ((res = op_audit(op, "user.create", user.public_id.text,
			    given_members(op, &create->input))) != RES_OK)
		return res;
	return op_made(op, user.public_id.text);
}

/* --- Patch --- */

static enum res patch(struct op *op, void *arg)
{
	struct user_patch *patch = arg;
	struct user_edit edit;
	enum res res;

	if (user_input_has(&patch->input, USER_F_CREDENTIAL))
		return problem_set(
			op->problem, RES_INVALID, "bad_value", "credential",
			"A credential can be given to a new user only; rotate it instead.");
	if ((res = user_edit_open(op, &patch->target, &edit)) != RES_OK ||
	    (res = user_input_apply(op, &patch->input, &edit.now)) != RES_OK ||
	    (res = apply_sets(op, &patch->input, edit.now.id, &edit.sets)) != RES_OK)
		return res;
	return user_edit_close(op, &edit, "user.patch", given_members(op, &patch->input));
}

/* --- Delete --- */

static enum res remove_user(struct op *op, void *arg)
{
	struct user_target *target = arg;
	struct user_edit edit;
	struct user_link link;
	bool linked;
	enum res res;

	if ((res = user_edit_open(op, target, &edit)) != RES_OK)
		return res;
	if ((res = user_link_old(op, target->id, &link, &linked)) != RES_OK ||
	    (res = credentials_delete(op->conn, target->id)) != RES_OK ||
	    (res = user_bury(op->conn, &edit.was, op->now_unix)) != RES_OK ||
	    (res = user_record_end(op, &edit.before)) != RES_OK ||
	    (linked && (res = txn_change_token(op->txn, target->id, link.hash, NULL)) != RES_OK))
		return res;
	return op_audit(op, "user.delete", edit.was.public_id.text, NULL);
}

enum res op_user_create(struct op *op, void *user_create)
{
	return user_op(op, create, user_create);
}

enum res op_user_patch(struct op *op, void *user_patch)
{
	return user_op(op, patch, user_patch);
}

enum res op_user_delete(struct op *op, void *user_target)
{
	return user_op(op, remove_user, user_target);
}
