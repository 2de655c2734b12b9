/* admin/bulk.h – the typed input of POST /users/bulk, shared with what fuzzes it. Private to
 * admin/. */
#ifndef HYTHE_ADMIN_BULK_H
#define HYTHE_ADMIN_BULK_H

#include "hythe/ops/bulk.h"
#include "hythe/ops/users.h"
#include "hythe/util/json_read.h"

enum bulk_op {
	BULK_CREATE,
	BULK_PATCH,
	BULK_DELETE,
	BULK_ENABLE,
	BULK_DISABLE,
	BULK_EXTEND,
	BULK_RESET_USAGE,
	BULK_ROTATE_LINK,
	BULK_ROTATE_CREDENTIAL,
	BULK_OPS
};
extern const char *const bulk_op_words[]; /* NULL at the end */

/* One operation, read and ready. */
struct bulk_slot {
	enum bulk_op op;
	union {
		struct user_create create;
		struct user_patch patch;
		struct user_target target;
		struct user_extend extend;
		struct user_rotate rotate;
	} arg;
};

struct bulk_filter_input {
	const char *status, *group, *tag, *q;
};

/* {"op", "id", "version", and the operation's own members}. `one`: with an id (or a create).
 * Without: for all that a filter finds; then "filter" and "expected_total" are members as well. */
enum res bulk_slot_read(const struct json *object, bool one, struct bulk_slot *out,
			struct problem *problem);
enum res bulk_filter_read(const struct json *object, struct bulk_filter_input *out,
			  int64_t *expected_total, struct problem *problem);
struct bulk_item bulk_slot_item(struct bulk_slot *slot);

#endif
