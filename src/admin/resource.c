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

bool resource_preview_deleted(struct call *call, struct conn *conn, struct json_writer *w,
			      void *arg)
{
	(void)conn, (void)arg;
	json_text(w, "id", call->id);
	json_flag(w, "deleted", true);
	return true;
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
