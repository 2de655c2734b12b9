#include "resource.h"

#include <stdio.h>
#include <string.h>

#include "hythe/model/name.h"
#include "hythe/store/store.h"

bool resource_read(struct call *call, enum res res, const char *what)
{
	if (res == RES_OK)
		return true;
	if (res == RES_NOT_FOUND)
		problem_set(&call->problem, res, "not_found", NULL, "there is no such %s", what);
	else
		problem_set(&call->problem, res, "unreadable", NULL, "the %s cannot be read: %s",
			    what, res_text(res));
	return false;
}

struct reply *resource_answer(struct call *call, resource_write write, const char *public_id,
			      int status)
{
	struct conn *conn = call_read(call);
	int64_t version = 0;
	struct json_writer w;
	struct reply *reply;
	struct buf body;
	bool ok;

	if (!conn)
		return call_problem(call);
	call_json(call, &w, &body);
	ok = write(call, conn, &w, public_id, &version);
	store_read_end(conn);
	if (!ok)
		return call_json_fail(call, &body);
	reply = call_json_end(call, &w, &body, status, version);
	if (status == 201)
		call_located(call, reply, public_id);
	return reply;
}

/* The row as the operation has just left it; `subject` and `resource` were set for it. */
static bool preview_row(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	(void)arg;
	return call->resource->write(call, conn, w, call->subject, &(int64_t){0});
}

struct reply *resource_create(struct call *call, const struct resource *resource, void *arg,
			      void *input, uint64_t *present, const char *made)
{
	struct op_outcome out;
	struct reply *reply;

	if (!call_input(call, resource->fields, resource->field_count, input, present))
		return call_problem(call);
	call->preview = preview_row;
	call->resource = resource;
	call->subject = made;
	if ((reply = call_write(call, resource->create, arg, 201, &out)))
		return reply;
	return resource_answer(call, resource->write, call_made(call, &out, made), out.status);
}

struct reply *resource_change(struct call *call, const struct resource *resource, op_fn fn,
			      void *arg)
{
	struct reply *reply;

	call->preview = preview_row;
	call->resource = resource;
	call->subject = call->id;
	if ((reply = call_write(call, fn, arg, 200, NULL)))
		return reply;
	return resource_answer(call, resource->write, call->id, 200);
}

struct reply *resource_patch(struct call *call, const struct resource *resource, void *arg,
			     void *input, uint64_t *present)
{
	if (!call_input(call, resource->fields, resource->field_count, input, present))
		return call_problem(call);
	return resource_change(call, resource, resource->patch, arg);
}

struct reply *resource_delete(struct call *call, const struct resource *resource, void *arg)
{
	struct reply *reply;

	call->preview = resource->removed ? resource->removed : call_preview_deleted;
	reply = call_write(call, resource->remove, arg, 200, NULL);
	return reply ? reply : call_deleted(call);
}

bool resource_key(struct call *call, const struct list_query *query, const char **key)
{
	const char *q = query->q ? query->q : "", *name;
	size_t len;

	/* While somebody types, blanks at the ends are not yet part of what he looks for. */
	q += strspn(q, " ");
	len = strlen(q);
	while (len > 0 && q[len - 1] == ' ')
		len--;
	*key = "";
	if (len == 0)
		return true;
	q = arena_dup(call->arena, q, len);
	return q && name_check(call->arena, "q", q, &name, key, &call->problem) == RES_OK;
}

void resource_ref(struct json_writer *w, const char *name, const char *public_id, const char *title)
{
	json_object(w, name);
	json_text(w, "id", public_id);
	json_text(w, "name", title);
	json_end(w);
}

void resource_number(struct json_writer *w, const char *name, int64_t value)
{
	if (value)
		json_int(w, name, value);
	else
		json_null(w, name);
}

void resource_time(struct json_writer *w, const char *name, int64_t unix_s)
{
	resource_number(w, name, unix_s);
}

void resource_words(struct json_writer *w, const char *name, const char *words)
{
	json_array(w, name);
	while (*words) {
		size_t len = strcspn(words, ",");

		json_text_n(w, NULL, words, len);
		words += len + (words[len] == ',');
	}
	json_end(w);
}
