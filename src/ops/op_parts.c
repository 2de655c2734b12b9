#include "op_parts.h"

#include "hythe/model/name.h"
#include "hythe/util/json_write.h"

#define DETAIL_MAX 4096

static const char *finish(struct op *op, struct json_writer *w, struct buf *text)
{
	const char *detail = json_finish(w) ? arena_dup(op->arena, text->data, text->len) : NULL;

	buf_free(text);
	return detail;
}

const char *detail_name(struct op *op, const char *name)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, DETAIL_MAX);
	json_start(&w, &text);
	json_object(&w, NULL);
	json_text(&w, "name", name);
	json_end(&w);
	return finish(op, &w, &text);
}

const char *detail_fields(struct op *op, const struct json_field *fields, size_t count,
			  uint64_t present)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, DETAIL_MAX);
	json_start(&w, &text);
	json_object(&w, NULL);
	json_array(&w, "fields");
	for (size_t i = 0; i < count; i++)
		if (present >> i & 1)
			json_text(&w, NULL, fields[i].name);
	json_end(&w);
	json_end(&w);
	return finish(op, &w, &text);
}

enum res target_found(struct op *op, enum res res, const char *what)
{
	if (res != RES_NOT_FOUND)
		return res;
	return problem_set(op->problem, RES_NOT_FOUND, "not_found", NULL, "there is no such %s",
			   what);
}

enum res reference_found(struct op *op, enum res res, const char *field, const char *what)
{
	if (res != RES_NOT_FOUND)
		return res;
	return problem_set(op->problem, RES_INVALID, "not_found", field,
			   "names no %s that there is", what);
}

int64_t next_version(int64_t version)
{
	return version < INT64_MAX ? version + 1 : 1;
}

enum res name_set(struct op *op, const char *text, name_taken_fn taken_by, int64_t id,
		  const char **name, const char **key)
{
	bool taken;
	enum res res = name_check(op->arena, "name", text, name, key, op->problem);

	if (res == RES_OK)
		res = taken_by(op->conn, *key, id, &taken);
	if (res == RES_OK && taken)
		res = problem_set(op->problem, RES_CONFLICT, "name_taken", "name",
				  "is the name of another one");
	return res;
}
