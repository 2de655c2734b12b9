/* admin/bulk_input.c – one operation of a bulk call: a table of members for each word of "op". */
#include "bulk.h"

#include <stddef.h>
#include <string.h>

#include "hythe/store/user_list.h"
#include "user_filter.h"

const char *const bulk_op_words[] = {
	[BULK_CREATE] = "create",
	[BULK_PATCH] = "patch",
	[BULK_DELETE] = "delete",
	[BULK_ENABLE] = "enable",
	[BULK_DISABLE] = "disable",
	[BULK_EXTEND] = "extend",
	[BULK_RESET_USAGE] = "reset_usage",
	[BULK_ROTATE_LINK] = "rotate_link",
	[BULK_ROTATE_CREDENTIAL] = "rotate_credential",
	[BULK_OPS] = NULL,
};

/* All that any operation may say; which members one takes is settled by its row in ops[]. */
struct said {
	struct user_input input;
	struct user_extend extend;
	struct user_rotate rotate;
	int op;
	const char *id;
	int64_t version;
	const struct json *filter;
	int64_t expected_total;
};

#define SAID(member) offsetof(struct said, member)

/* clang-format off */
static const struct {
	op_fn fn;
	const struct json_field *fields;
	size_t count, base; /* where in struct said they lie */
	bool target;        /* names a user that is there */
} ops[BULK_OPS] = {
	[BULK_CREATE]            = {op_user_create,            user_fields,        USER_FIELDS,        SAID(input),  false},
	[BULK_PATCH]             = {op_user_patch,             user_fields,        USER_FIELDS,        SAID(input),  true},
	[BULK_DELETE]            = {op_user_delete,            NULL,               0,                  0,            true},
	[BULK_ENABLE]            = {op_user_enable,            NULL,               0,                  0,            true},
	[BULK_DISABLE]           = {op_user_disable,           NULL,               0,                  0,            true},
	[BULK_EXTEND]            = {op_user_extend,            user_extend_fields, USER_EXTEND_FIELDS, SAID(extend), true},
	[BULK_RESET_USAGE]       = {op_user_reset_usage,       NULL,               0,                  0,            true},
	[BULK_ROTATE_LINK]       = {op_user_rotate_link,       NULL,               0,                  0,            true},
	[BULK_ROTATE_CREDENTIAL] = {op_user_rotate_credential, user_rotate_fields, USER_ROTATE_FIELDS, SAID(rotate), true},
};
/* clang-format on */

static const struct json_field said_op = {.name = "op",
					  .kind = JSON_IN_WORD,
					  .offset = SAID(op),
					  .words = bulk_op_words,
					  .required = true};
static const struct json_field said_id = {.name = "id",
					  .kind = JSON_IN_TEXT,
					  .offset = SAID(id),
					  .min = 1,
					  .max = PUBLIC_ID_LEN,
					  .required = true};
static const struct json_field said_version = {.name = "version",
					       .kind = JSON_IN_I64,
					       .offset = SAID(version),
					       .min = 1,
					       .max = INT64_MAX};
static const struct json_field said_filter = {
	.name = "filter", .kind = JSON_IN_TREE, .offset = SAID(filter), .required = true};
static const struct json_field said_total = {.name = "expected_total",
					     .kind = JSON_IN_I64,
					     .offset = SAID(expected_total),
					     .max = INT64_C(1) << 53};

/* The operation's own members first, so that their bits are those of their table. */
static size_t table_of(enum bulk_op op, bool one, struct json_field out[JSON_FIELDS_MAX])
{
	size_t n = 0;

	for (; n < ops[op].count; n++) {
		out[n] = ops[op].fields[n];
		out[n].offset += ops[op].base;
	}
	out[n++] = said_op;
	if (one && ops[op].target) {
		out[n++] = said_id;
		out[n++] = said_version;
	}
	if (!one) {
		out[n++] = said_filter;
		out[n++] = said_total;
	}
	return n;
}

static void fill(struct bulk_slot *out, const struct said *said, uint64_t present)
{
	struct user_target target = {.public_id = said->id, .if_match = said->version};

	switch (out->op) {
	case BULK_CREATE:
		out->arg.create = (struct user_create){.input = said->input};
		out->arg.create.input.present = present;
		return;
	case BULK_PATCH:
		out->arg.patch = (struct user_patch){.target = target, .input = said->input};
		out->arg.patch.input.present = present;
		return;
	case BULK_EXTEND:
		out->arg.extend = said->extend;
		out->arg.extend.target = target;
		return;
	case BULK_ROTATE_CREDENTIAL:
		out->arg.rotate = said->rotate;
		out->arg.rotate.target = target;
		return;
	case BULK_DELETE:
	case BULK_ENABLE:
	case BULK_DISABLE:
	case BULK_RESET_USAGE:
	case BULK_ROTATE_LINK:
	case BULK_OPS:
		out->arg.target = target;
		return;
	}
}

static bool op_of(const struct json *object, enum bulk_op *out)
{
	const struct json *word = json_member(object, "op");

	for (int i = 0; word && word->type == JSON_STRING && i < BULK_OPS; i++)
		if (json_is_text(word, bulk_op_words[i])) {
			*out = (enum bulk_op)i;
			return true;
		}
	return false;
}

enum res bulk_slot_read(const struct json *object, bool one, struct bulk_slot *out,
			struct problem *problem)
{
	struct json_field fields[JSON_FIELDS_MAX];
	struct said said = {0};
	uint64_t present = 0;
	size_t count;
	enum res res;

	if (object->type != JSON_OBJECT)
		return problem_set(problem, RES_INVALID, "wrong_type", NULL,
				   "An operation is an object.");
	if (!op_of(object, &out->op))
		return problem_set(
			problem, RES_INVALID,
			json_member(object, "op") ? "bad_value" : "missing_field", "op",
			"One of create, patch, delete, enable, disable, extend, reset_usage,"
			" rotate_link, rotate_credential.");
	if (!one && out->op == BULK_CREATE)
		return problem_set(problem, RES_INVALID, "bad_value", "op",
				   "A filter finds users; it makes none.");
	count = table_of(out->op, one, fields);
	if ((res = json_read(object, fields, count, &said, &present, problem)) != RES_OK)
		return res;
	fill(out, &said, present & (((uint64_t)1 << ops[out->op].count) - 1));
	if (out->op == BULK_EXTEND && !said.extend.add_s && !said.extend.add_bytes &&
	    !said.extend.reset_usage)
		return problem_set(
			problem, RES_INVALID, "missing_field", "add_s",
			"Say what to add: time (add_s) or data (add_bytes), more than 0, or "
			"reset_usage.");
	return RES_OK;
}

#define FILTER_TEXT(member, max_)                                                                  \
	{                                                                                          \
		.name = #member, .kind = JSON_IN_TEXT,                                             \
		.offset = offsetof(struct bulk_filter_input, member), .max = max_                  \
	}

enum res bulk_filter_read(const struct json *object, struct bulk_filter_input *out,
			  int64_t *expected_total, struct problem *problem)
{
	static const struct json_field fields[] = {
		FILTER_TEXT(status, 16), FILTER_TEXT(group, PUBLIC_ID_LEN), FILTER_TEXT(tag, 64),
		FILTER_TEXT(q, LIST_Q_MAX)};
	const char **const members[] = {&out->status, &out->group, &out->tag, &out->q};
	const struct json *filter = json_member(object, "filter");
	const struct json *total = json_member(object, "expected_total");
	uint64_t present;
	enum res res;

	memset(out, 0, sizeof *out);
	*expected_total = -1;
	if (total && (res = json_i64(total, 0, INT64_C(1) << 53, expected_total)) != RES_OK)
		return problem_set(problem, RES_INVALID, "out_of_range", "expected_total",
				   "A whole number.");
	if (!filter || filter->type != JSON_OBJECT)
		return problem_set(problem, RES_INVALID, "wrong_type", "filter",
				   "A filter is an object.");
	if ((res = json_read(filter, fields, sizeof fields / sizeof *fields, out, &present,
			     problem)) != RES_OK)
		return res;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (*members[i] && !**members[i])
			*members[i] = NULL;
	return RES_OK;
}

struct bulk_item bulk_slot_item(struct bulk_slot *slot)
{
	return (struct bulk_item){ops[slot->op].fn, &slot->arg};
}
