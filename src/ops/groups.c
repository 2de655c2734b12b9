#include "hythe/ops/groups.h"

#include <stdio.h>
#include <string.h>

#include "hythe/model/name.h"
#include "hythe/model/node.h"
#include "hythe/ops/access.h"
#include "hythe/store/groups.h"
#include "op_parts.h"

#define ACCESS_MAX    256
#define LEAVE_AT_ONCE 100 /* members; the others leave with the timer, so that no job is long */

/* clang-format off */
const struct json_field group_fields[GROUP_FIELDS] = {
	[GROUP_F_NAME]   = {FIELD_TEXT(group_input, name, 1, NAME_MAX_BYTES)},
	[GROUP_F_NOTE]   = {FIELD_LINES(group_input, note, 4096)},
	[GROUP_F_ACCESS] = {FIELD_TREE(group_input, access)},
};
/* clang-format on */

static bool given(const struct group_input *input, enum group_field field)
{
	return input->present >> field & 1;
}

/* --- Access rules --- */

static enum res bad_rule(struct op *op, size_t index, const char *member, const char *code,
			 const char *what)
{
	char field[64];

	snprintf(field, sizeof field, member[0] ? "access[%zu].%s" : "access[%zu]%s", index,
		 member);
	return problem_set(op->problem, RES_INVALID, code, field, "%s", what);
}

/* Exactly one of the three says where: {"nodes": "all"}, {"node": "nod_..."}, {"tag": "..."}. */
static enum res check_members(struct op *op, const struct json *rule, size_t index)
{
	int where = 0;

	if (rule->type != JSON_OBJECT)
		return bad_rule(op, index, "", "wrong_type", "A rule is an object.");
	for (const struct json *m = json_first(rule); m; m = json_next(m)) {
		bool place = !strcmp(m->name, "nodes") || !strcmp(m->name, "node") ||
			     !strcmp(m->name, "tag");

		if (!place && strcmp(m->name, "profile") != 0)
			return bad_rule(op, index, m->name, "unknown_field",
					"A rule has profile, and one of nodes, node, tag.");
		if (m->type != JSON_STRING)
			return bad_rule(op, index, m->name, "wrong_type", "This is a text.");
		where += place;
	}
	if (!json_member(rule, "profile"))
		return bad_rule(op, index, "profile", "missing_field", "A rule names a profile.");
	if (where != 1)
		return bad_rule(op, index, "", "bad_value",
				"A rule has exactly one of nodes, node and tag.");
	return RES_OK;
}

static enum res read_place(struct op *op, const struct json *rule, size_t index,
			   struct group_access *out)
{
	const struct json *nodes = json_member(rule, "nodes"), *node = json_member(rule, "node");
	const struct json *tag = json_member(rule, "tag");
	enum res res;

	if (nodes) {
		out->scope = ACCESS_ALL;
		if (!json_is_text(nodes, "all"))
			return bad_rule(op, index, "nodes", "bad_value", "This is \"all\".");
		return RES_OK;
	}
	if (tag) {
		out->scope = ACCESS_TAG;
		out->tag = tag->text;
		if (!node_tag_valid(tag->text))
			return bad_rule(op, index, "tag", "bad_value",
					"A tag is 1 to 32 of a-z, 0-9 and the hyphen.");
		return RES_OK;
	}
	out->scope = ACCESS_NODE;
	res = public_id_valid(ID_NODE, node->text)
		      ? user_node_by_public_id(op->conn, node->text, &out->node_id)
		      : RES_NOT_FOUND;
	if (res == RES_NOT_FOUND)
		return bad_rule(op, index, "node", "unknown_id", "There is no such node.");
	return res;
}

static enum res read_rule(struct op *op, const struct json *rule, size_t index,
			  struct group_access *out)
{
	const struct json *profile;
	enum res res = check_members(op, rule, index);

	if (res != RES_OK)
		return res;
	*out = (struct group_access){.tag = ""};
	profile = json_member(rule, "profile");
	res = public_id_valid(ID_PROFILE, profile->text)
		      ? group_profile_by_public_id(op->conn, profile->text, &out->profile_id)
		      : RES_NOT_FOUND;
	if (res == RES_NOT_FOUND)
		return bad_rule(op, index, "profile", "unknown_id", "There is no such profile.");
	return res == RES_OK ? read_place(op, rule, index, out) : res;
}

static bool same_rule(const struct group_access *a, const struct group_access *b)
{
	return a->profile_id == b->profile_id && a->scope == b->scope && a->node_id == b->node_id &&
	       strcmp(a->tag, b->tag) == 0;
}

static bool holds(const struct group_access *list, size_t count, const struct group_access *rule)
{
	for (size_t i = 0; i < count; i++)
		if (same_rule(&list[i], rule))
			return true;
	return false;
}

static enum res read_rules(struct op *op, const struct json *tree, struct group_access **list,
			   size_t *count)
{
	enum res res = RES_OK;

	*count = 0;
	if (tree->type != JSON_ARRAY)
		return problem_set(op->problem, RES_INVALID, "wrong_type", "access",
				   "This is a list of rules.");
	if (tree->len > ACCESS_MAX)
		return problem_set(op->problem, RES_INVALID, "out_of_range", "access",
				   "At most %d rules can be given.", ACCESS_MAX);
	if (!(*list = arena_alloc(op->arena, (tree->len + 1u) * sizeof **list)))
		return RES_NOMEM;
	for (const struct json *rule = json_first(tree); res == RES_OK && rule;
	     rule = json_next(rule)) {
		if ((res = read_rule(op, rule, *count, &(*list)[*count])) != RES_OK)
			break;
		if (holds(*list, *count, &(*list)[*count]))
			res = bad_rule(op, *count, "profile", "duplicate",
				       "This rule is given twice.");
		++*count;
	}
	return res;
}

static enum res replace_rules(struct op *op, int64_t group_id, const struct json *tree,
			      bool *changed)
{
	struct group_access *want = NULL, *have = NULL;
	size_t want_count = 0, have_count = 0, found = 0;
	enum res res;

	if ((res = read_rules(op, tree, &want, &want_count)) != RES_OK ||
	    (res = group_access_list(op->conn, group_id, op->arena, &have, &have_count)) != RES_OK)
		return res;
	for (size_t i = 0; i < want_count; i++)
		found += holds(have, have_count, &want[i]);
	if (found == want_count && want_count == have_count)
		return RES_OK;
	*changed = true;
	res = group_access_clear(op->conn, group_id);
	for (size_t i = 0; res == RES_OK && i < want_count; i++)
		res = group_access_insert(op->conn, group_id, &want[i]);
	return res == RES_OK ? access_refresh_group(op, group_id) : res;
}

/* --- Operations --- */

static enum res apply(struct op *op, const struct group_input *input, struct group *group)
{
	int64_t holder = 0;
	enum res res;

	if (given(input, GROUP_F_NOTE))
		group->note = input->note;
	if (!given(input, GROUP_F_NAME))
		return RES_OK;
	if ((res = name_check(op->arena, "name", input->name, &group->name, &group->name_key,
			      op->problem)) != RES_OK)
		return res;
	res = group_id_by_name_key(op->conn, group->name_key, &holder);
	if (res == RES_OK && holder != group->id)
		return problem_set(op->problem, RES_CONFLICT, "name_taken", "name",
				   "There is a group with this name, or one that looks the same.");
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res op_group_create(struct op *op, void *group_create)
{
	struct group_create *create = group_create;
	struct group group = {
		.name = "", .name_key = "", .note = "", .created_unix = op->now_unix, .version = 1};
	bool changed = false;
	enum res res;

	if (!given(&create->input, GROUP_F_NAME))
		return problem_set(op->problem, RES_INVALID, "missing_field", "name",
				   "A group has a name.");
	public_id_new(ID_GROUP, &group.public_id);
	if ((res = apply(op, &create->input, &group)) != RES_OK ||
	    (res = group_insert(op->conn, &group)) != RES_OK)
		return res;
	if (given(&create->input, GROUP_F_ACCESS))
		res = replace_rules(op, group.id, create->input.access, &changed);
	if (res != RES_OK ||
	    (res = op_audit(op, "group.create", group.public_id.text,
			    detail_name(op, group.name))) != RES_OK)
		return res;
	create->id = group.id;
	create->public_id = group.public_id;
	return op_made(op, group.public_id.text);
}

static enum res find_target(struct op *op, struct group_target *target, struct group *group)
{
	enum res res = group_by_public_id(op->conn, target->public_id, op->arena, group);

	if (res == RES_NOT_FOUND)
		return problem_set(op->problem, RES_NOT_FOUND, "not_found", NULL,
				   "There is no such group.");
	if (res == RES_OK)
		res = op_check_version(op, target->if_match, group->version);
	if (res == RES_OK)
		target->id = group->id;
	return res;
}

enum res op_group_patch(struct op *op, void *group_patch)
{
	struct group_patch *patch = group_patch;
	struct group was, now;
	bool changed = false;
	enum res res;

	if ((res = find_target(op, &patch->target, &was)) != RES_OK)
		return res;
	now = was;
	if ((res = apply(op, &patch->input, &now)) != RES_OK)
		return res;
	if (given(&patch->input, GROUP_F_ACCESS) &&
	    (res = replace_rules(op, now.id, patch->input.access, &changed)) != RES_OK)
		return res;
	if (!changed && strcmp(was.name, now.name) == 0 && strcmp(was.note, now.note) == 0)
		return RES_OK;
	now.version = next_version(now.version);
	if ((res = group_update(op->conn, &now)) != RES_OK)
		return res;
	return op_audit(op, "group.patch", now.public_id.text,
			detail_fields(op, group_fields, GROUP_FIELDS, patch->input.present));
}

static enum res member_leaves(struct op *op, int64_t user_id, int64_t group_id)
{
	struct user_before before;
	enum res res;

	if ((res = user_record_begin(op, user_id, &before)) != RES_OK ||
	    (res = user_leave_group(op->conn, user_id, group_id)) != RES_OK)
		return res;
	return user_record_end(op, &before);
}

/* Access goes first and at once, so nobody gets in by the group any more. The row goes with a later
 * tick of the users' timer, as do members beyond the first: each of them is a change of his own. */
enum res op_group_delete(struct op *op, void *group_target)
{
	struct group_target *target = group_target;
	int64_t members[LEAVE_AT_ONCE];
	struct group group;
	size_t count;
	enum res res;

	if ((res = find_target(op, target, &group)) != RES_OK ||
	    (res = access_drop_group(op, group.id)) != RES_OK ||
	    (res = group_access_clear(op->conn, group.id)) != RES_OK ||
	    (res = group_bury(op->conn, group.id, op->now_unix)) != RES_OK ||
	    (res = group_member_ids(op->conn, group.id, members, LEAVE_AT_ONCE, &count)) != RES_OK)
		return res;
	for (size_t i = 0; res == RES_OK && i < count; i++)
		res = member_leaves(op, members[i], group.id);
	if (res != RES_OK)
		return res;
	return op_audit(op, "group.delete", group.public_id.text, detail_name(op, group.name));
}
