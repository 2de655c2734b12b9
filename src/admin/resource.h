/* admin/resource.h – what users, groups, profiles, nodes, inbounds and hosts answer alike. Private to
 * these files. */
#ifndef HYTHE_ADMIN_RESOURCE_H
#define HYTHE_ADMIN_RESOURCE_H

#include "call.h"

/* Writes the members of one row as it stands on this connection; false sets call->problem. */
typedef bool (*resource_write)(struct call *call, struct conn *conn, struct json_writer *w,
			       const char *public_id, int64_t *version);

/* What is made, changed and removed in the same way: one row of this a resource. */
struct resource {
	resource_write write;
	const struct json_field *fields; /* of a create and of a patch */
	size_t field_count;
	op_fn create, patch, remove;
	call_preview removed; /* what a dry run of a delete shows; NULL: call_preview_deleted */
};

/* `arg` is the operation's; `input` and `present` are the part of it that the body fills, `made` where
 * the operation writes the new public id. */
struct reply *resource_create(struct call *call, const struct resource *resource, void *arg,
			      void *input, uint64_t *present, const char *made);
struct reply *resource_patch(struct call *call, const struct resource *resource, void *arg,
			     void *input, uint64_t *present);
/* Any other operation on one row that answers with the row. */
struct reply *resource_change(struct call *call, const struct resource *resource, op_fn fn,
			      void *arg);
struct reply *resource_delete(struct call *call, const struct resource *resource, void *arg);

/* Answers with the row as it is now; status 201 adds Location. */
struct reply *resource_answer(struct call *call, resource_write write, const char *public_id,
			      int status);
/* The end of a reader that failed: sets the problem, false. `what`: "profile", for a missing row.
 */
bool resource_read(struct call *call, enum res res, const char *what);
/* `q` as a key to look for in name keys; "" when not asked for. */
bool resource_key(struct call *call, const struct list_query *query, const char **key);
/* A member that is a reference: {"id", "name"}. */
void resource_ref(struct json_writer *w, const char *name, const char *public_id,
		  const char *title);
void resource_time(struct json_writer *w, const char *name, int64_t unix_s);  /* 0: null */
void resource_number(struct json_writer *w, const char *name, int64_t value); /* 0: null */
/* "a,b" as ["a", "b"]. */
void resource_words(struct json_writer *w, const char *name, const char *words);

#endif
