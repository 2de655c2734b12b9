/* admin/groups.c – groups: one, a list, create, change, delete. */
#include "hythe/ops/groups.h"

#include <string.h>

#include "handlers.h"
#include "hythe/store/groups.h"
#include "render.h"
#include "resource.h"

static bool put_group(struct call *call, struct conn *conn, struct json_writer *w, const char *id,
		      int64_t *version)
{
	struct group group;
	enum res res = group_by_public_id(conn, id, call->arena, &group);

	if (res != RES_OK) {
		call_set(call, res, NULL, NULL,
			 res == RES_NOT_FOUND ? "There is no such group."
					      : "The group cannot be read.");
		return false;
	}
	*version = group.version;
	return render_group(call, conn, &group, w);
}

static const struct resource resource = {
	.write = put_group,
	.fields = group_fields,
	.field_count = GROUP_FIELDS,
	.create = op_group_create,
	.patch = op_group_patch,
	.remove = op_group_delete,
};

struct reply *groups_create(struct call *call)
{
	struct group_create create = {0};

	return resource_create(call, &resource, &create, &create.input, &create.input.present,
			       create.public_id.text);
}

struct reply *groups_get(struct call *call)
{
	return resource_answer(call, resource.write, call->id, 200);
}

struct reply *groups_patch(struct call *call)
{
	struct group_patch patch = {.target = {.public_id = call->id, .if_match = call->if_match}};

	return resource_patch(call, &resource, &patch, &patch.input, &patch.input.present);
}

struct reply *groups_delete(struct call *call)
{
	struct group_target target = {.public_id = call->id, .if_match = call->if_match};

	return resource_delete(call, &resource, &target);
}

/* --- The list --- */

static enum res put_groups(struct call *call, struct conn *conn, const struct list_query *list,
			   const char *after, struct json_writer *w)
{
	struct group *groups;
	size_t count = 0, limit = (size_t)list->limit;
	bool more;
	enum res res = group_list(conn, after, list->q, limit + 1, call->arena, &groups, &count);

	if (res != RES_OK)
		return call_set(call, res, NULL, NULL, "The list cannot be read.");
	more = count > limit;
	json_array(w, "items");
	for (size_t i = 0; i < (more ? limit : count); i++) {
		json_object(w, NULL);
		if (!render_group(call, conn, &groups[i], w))
			return call->problem.res;
		json_end(w);
	}
	json_end(w);
	call_next_cursor(call, w, list,
			 more ? &(struct cursor){.text = groups[limit - 1].name_key} : NULL);
	return RES_OK;
}

static enum res put_total(struct call *call, struct conn *conn, const char *q,
			  struct json_writer *w)
{
	int64_t total;
	enum res res = group_count(conn, q, &total);

	if (res != RES_OK)
		return call_set(call, res, NULL, NULL, "The groups cannot be counted.");
	json_int(w, "total", total);
	return RES_OK;
}

struct reply *groups_list(struct call *call)
{
	static const char *const sorts[] = {"name", NULL};
	struct list_query list;
	struct cursor cursor;
	struct conn *conn;
	struct json_writer w;
	struct buf body;
	enum res res;

	if (!call_list_query(call, sorts, NULL, &list))
		return call_problem(call);
	if (*list.sort == '-')
		return call_fail(call, RES_INVALID, "bad_value", "sort",
				 "Groups are sorted by name.");
	if (!call_cursor_read(call, &list, &cursor) || !(conn = call_read(call)))
		return call_problem(call);
	call_json(call, &w, &body);
	res = put_groups(call, conn, &list, list.cursor ? cursor.text : NULL, &w);
	if (res == RES_OK && list.total)
		res = put_total(call, conn, list.q, &w);
	store_read_end(conn);
	return res == RES_OK ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}
