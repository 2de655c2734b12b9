/* admin/call.h – one API call: who asks, what they gave, and the few ways to answer.
 *
 * admin/routes.c holds the table; admin/admin.c finds the row, the actor and his right, checks
 * method, media type, same origin and rate, parses the body, and calls the handler on a worker (or
 * on the event thread for rows marked quick). Handlers read input, call an operation or a reader,
 * and reply; groups.c is a short one to begin with: call_input(), call_write(), resource_answer().
 *
 * Every answer is one JSON object. A list is {"items": [...], "next_cursor": "..." or null} and, if
 * asked for, "total". The answer to a write is the resource with `revision` beside its members.
 * Threads: a call belongs to the thread that runs it. */
#ifndef HYTHE_ADMIN_CALL_H
#define HYTHE_ADMIN_CALL_H

#include "hythe/auth/rights.h"
#include "hythe/http/reply.h"
#include "hythe/http/request.h"
#include "hythe/ops/ops.h"
#include "hythe/util/json_read.h"
#include "hythe/util/json_write.h"

struct admin; /* admin/module.h: ops, store, limiter, caches of the module */
struct route; /* admin/routes.h */
struct call;

#define CALL_ANSWER_MAX  ((size_t)12 << 20) /* 500 profiles with all that their servers may be told */
#define CALL_WAIT_MS_MAX 30000

/* Writes the members of what a write would leave behind, read from the job's own connection before
 * it is undone; false sets call->problem. Runs on the writer thread: quick, no answer of its own.
 */
typedef bool (*call_preview)(struct call *call, struct conn *conn, struct json_writer *w,
			     void *arg);

struct call {
	struct admin *admin;
	struct request *req;
	struct arena *arena;
	const struct actor *actor;
	const struct route *route;
	const char *path; /* what was asked for, after the admin prefix */
	const char *id;   /* the path's :id, already checked to be text of id shape; or NULL */
	const char *id2;  /* a second one */
	const struct json *body; /* root object; NULL when the route takes none or it was empty */
	struct problem problem;
	bool dry_run;
	int64_t if_match; /* version; 0 none; -1 a tag that no version has */
	const char *idempotency_key;
	uint8_t request_hash[32];
	int64_t wait_ms;      /* ?wait_ms=; -1 not given */
	call_preview preview; /* set before call_write: what a dry run shows, by the op's arg */
	const struct resource *resource; /* for resource.c's preview: the row of whom */
	const char *subject;
	/* Set by call_write: call_json_end adds it to the answer. */
	bool wrote;
	int64_t revision;
};

typedef struct reply *(*call_fn)(struct call *call);

/* --- Writing --- */
/* Runs the operation with the call's key, dry run and actor; `status` is of the answer. NULL: go on
 * and answer with the resource (as it is now); else the reply: a problem, or that of a dry run
 * ({"dry_run": true} and the preview's members; no revision). */
struct reply *call_write(struct call *call, op_fn fn, void *arg, int status,
			 struct op_outcome *out);
/* The public id to answer with after a create: of the first answer when this one was a repeat. */
const char *call_made(struct call *call, const struct op_outcome *out, const char *public_id);
/* The preview of a delete: {"id", "deleted"}. */
bool call_preview_deleted(struct call *call, struct conn *conn, struct json_writer *w, void *arg);
/* After a delete: {"id": ..., "deleted": true, "revision": N}. */
struct reply *call_deleted(struct call *call);

/* --- Reading --- */
/* An admin reader with a read transaction, 250 ms at most; NULL sets the problem. Give it back with
 * store_read_end(). */
struct conn *call_read(struct call *call);
const struct ops *call_ops(struct call *call);
int64_t call_now(struct call *call); /* unix seconds */

/* --- Answers --- */
struct reply *call_problem(struct call *call); /* from call->problem */
/* `code` NULL: the result's own word. `field` may be NULL. */
struct reply *call_fail(struct call *call, enum res res, const char *code, const char *field,
			const char *detail);
/* Only sets the problem, and returns `res`. */
enum res call_set(struct call *call, enum res res, const char *code, const char *field,
		  const char *detail);
/* A JSON answer built in `body`: call_json() opens the root object, the handler writes its members,
 * call_json_end() adds `revision` (and `nodes` under ?wait_ms=) after a write, closes it and
 * answers. `version` > 0 sets ETag "version", for If-Match; 0: a GET gets a weak tag over the body,
 * and one whose If-None-Match has it is answered 304. Status 201 sets Location from call_located(). `body` is freed
 * by the end. */
void call_json(struct call *call, struct json_writer *w, struct buf *body);
struct reply *call_json_end(struct call *call, struct json_writer *w, struct buf *body, int status,
			    int64_t version);
/* The same when something failed on the way: frees `body`, answers call->problem. */
struct reply *call_json_fail(struct call *call, struct buf *body);
/* For a 201: Location is the request's own path, '/' and the id. */
void call_located(struct call *call, struct reply *reply, const char *public_id);

/* --- Input --- */
/* Reads the body by a table; false: the problem is set. No body counts as an empty object. */
bool call_input(struct call *call, const struct json_field *fields, size_t count, void *out,
		uint64_t *present);
bool call_may(const struct call *call, enum right right);

/* Query parameters of lists, typed and bounded. */
struct list_query {
	int64_t limit;        /* 1 to 500; 50 */
	const char *cursor;   /* opaque; NULL: the first page */
	const char *q, *sort; /* sort: a word of the resource's list, "-created" for descending;
			       * never NULL: the first word of the list when none was given */
	const char *status, *group, *tag; /* NULL: not asked for */
	bool total;
};
#define LIST_LIMIT_MAX 500
#define LIST_Q_MAX     512
/* `sorts` ends with NULL; each may be given with a leading '-'. Refuses any parameter of another
 * name, and status, group and tag unless `extra` (ends with NULL; may be NULL) names them. */
bool call_list_query(struct call *call, const char *const *sorts, const char *const *extra,
		     struct list_query *out);
/* Any parameter that the route does not know is refused by name: call with the names it takes (ends
 * with NULL). Rows that are not marked ROUTE_QUERY are checked by dispatch. */
bool call_params_only(struct call *call, const char *const *names);
/* One parameter; false: given twice, badly escaped, not UTF-8, with control characters or too long.
 */
bool call_param_text(struct call *call, const char *name, size_t max, const char **out);
bool call_param_i64(struct call *call, const char *name, int64_t min, int64_t max, int64_t absent,
		    int64_t *out);
bool call_param_flag(struct call *call, const char *name, bool *out); /* 0, 1, false, true */

/* Opaque cursors: base64url of a few values, bound to sort and filter so that a foreign one is
 * refused. */
struct cursor {
	int64_t number;   /* the sort key when it is one */
	const char *text; /* the sort key when it is text; else "" */
	int64_t id;
};
/* With query->cursor NULL: zeros and true. */
bool call_cursor_read(struct call *call, const struct list_query *query, struct cursor *out);
const char *call_cursor_print(struct call *call, const struct list_query *query,
			      const struct cursor *cursor); /* NULL: out of memory */
/* "next_cursor" of a list: cursor NULL writes null. */
void call_next_cursor(struct call *call, struct json_writer *w, const struct list_query *query,
		      const struct cursor *cursor);

#endif
