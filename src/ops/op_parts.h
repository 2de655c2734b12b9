/* ops/op_parts.h – rows of input tables, and small steps that operations share. Private to ops/. */
#ifndef HYTHE_OPS_OP_PARTS_H
#define HYTHE_OPS_OP_PARTS_H

#include <stddef.h>

#include "hythe/ops/ops.h"
#include "hythe/util/json_read.h"

/* Rows of a table of inputs: the member's name in JSON is its name in the struct. */
#define FIELD(type, member, k) .name = #member, .kind = k, .offset = offsetof(struct type, member)
#define FIELD_TEXT(type, member, low, high)                                                        \
	FIELD(type, member, JSON_IN_TEXT), .min = low, .max = high
#define FIELD_LINES(type, member, high)    FIELD(type, member, JSON_IN_LINES), .max = high
#define FIELD_I64(type, member, low, high) FIELD(type, member, JSON_IN_I64), .min = low, .max = high
#define FIELD_BOOL(type, member)           FIELD(type, member, JSON_IN_BOOL)
#define FIELD_WORD(type, member, list)     FIELD(type, member, JSON_IN_WORD), .words = list
#define FIELD_TREE(type, member)           FIELD(type, member, JSON_IN_TREE)
#define NULLABLE                           .nullable = true
#define REQUIRED                           .required = true

/* What the audit log says about a change, never a value that may be secret.
 * {"name": ...}; NULL: out of memory (op_audit then writes no detail). */
const char *detail_name(struct op *op, const char *name);
/* {"fields": [...]}: the rows of the table whose bits are set. */
const char *detail_fields(struct op *op, const struct json_field *fields, size_t count,
			  uint64_t present);

/* RES_NOT_FOUND of a read becomes "there is no such <what>"; other results pass. */
enum res target_found(struct op *op, enum res res, const char *what);
/* A public id in the body that names nothing: RES_INVALID, code not_found, at `field`. */
enum res reference_found(struct op *op, enum res res, const char *field, const char *what);

/* The version after this one; a row changed by hand may stand at the last number there is. */
int64_t next_version(int64_t version);

/* Checks a new name, and that no other row than `id` (0: a new one) has its key. */
typedef enum res (*name_taken_fn)(struct conn *conn, const char *name_key, int64_t except,
				  bool *taken);
enum res name_set(struct op *op, const char *text, name_taken_fn taken_by, int64_t id,
		  const char **name, const char **key);

#endif
