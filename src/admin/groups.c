/* admin/groups.c – groups: one, a list, create, change, delete. */
#include "hythe/ops/groups.h"

#include <string.h>

#include "handlers.h"
#include "hythe/store/groups.h"
#include "render.h"

static bool put_group(struct call *call, struct conn *conn, const char *id, struct json_writer *w,
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

static struct reply *answer_group(struct call *call, const char *id, int status)
{
	struct conn *conn = call_read(call);
	struct json_writer w;
	struct buf body;
	struct reply *reply;
	int64_t version = 0;
	bool good;

	if (!conn)
		return call_problem(call);
	call_json(call, &w, &body);
	good = put_group(call, conn, id, &w, &version);
	store_read_end(conn);
	if (!good)
		return call_json_fail(call, &body);
	reply = call_json_end(call, &w, &body, status, version);
	if (status == 201)
		call_located(call, reply, id);
	return reply;
}

static bool preview_created(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	struct group_create *create = arg;

	return put_group(call, conn, create->public_id.text, w, &(int64_t){0});
}

static bool preview_patched(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	(void)arg;
	return put_group(call, conn, call->id, w, &(int64_t){0});
}

struct reply *groups_get(struct call *call)
{
	return answer_group(call, call->id, 200);
}

struct reply *groups_create(struct call *call)
{
	struct group_create create = {0};
	struct op_outcome out;
	struct reply *reply;

	if (!call_input(call, group_fields, GROUP_FIELDS, &create.input, &create.input.present))
		return call_problem(call);
	call->preview = preview_created;
	if ((reply = call_write(call, op_group_create, &create, 201, &out)))
		return reply;
	return answer_group(call, call_made(call, &out, create.public_id.text), out.status);
}

struct reply *groups_patch(struct call *call)
{
	struct group_patch patch = {
		.target = {.public_id = call->id, .if_match = call->if_match}
        };
	struct reply *reply;

	if (!call_input(call, group_fields, GROUP_FIELDS, &patch.input, &patch.input.present))
		return call_problem(call);
	call->preview = preview_patched;
	if ((reply = call_write(call, op_group_patch, &patch, 200, NULL)))
		return reply;
	return answer_group(call, call->id, 200);
}

struct reply *groups_delete(struct call *call)
{
	struct group_target target = {.public_id = call->id, .if_match = call->if_match};
	struct reply *reply;

	call->preview = call_preview_deleted;
	reply = call_write(call, op_group_delete, &target, 200, NULL);
	return reply ? reply : call_deleted(call);
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
