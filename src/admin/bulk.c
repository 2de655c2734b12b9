/* admin/bulk.c – POST /users/bulk: a list of operations, all or none; or one operation on all users
 * that a filter finds, at once up to BULK_MAX, beyond that as a job. */
#include "bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "hythe/store/user_list.h"
#include "hythe/store/users.h"
#include "jobs.h"
#include "module.h"
#include "user_filter.h"

#define OPERATIONS_FIELD "operations"
#define PREVIEW_MAX      10

/* --- Refusing, with an error for each item --- */

static void put_error(struct json_writer *w, const struct bulk_error *error)
{
	json_object(w, NULL);
	json_int(w, "index", (int64_t)error->index);
	json_text(w, "code", error->problem.code);
	if (error->problem.field[0])
		json_text(w, "field", error->problem.field);
	json_text(w, "detail", error->problem.detail);
	json_end(w);
}

/* RFC 9457 with members of our own: the first item's problem, its index, and all that were found.
 */
static struct reply *refuse_items(struct call *call, const struct bulk_error *errors, size_t count)
{
	const struct problem *first = &errors[0].problem;
	struct json_writer w;
	struct buf body;

	call->problem = *first;
	buf_init(&body, CALL_ANSWER_MAX);
	json_start(&w, &body);
	json_object(&w, NULL);
	json_text(&w, "type", "about:blank");
	json_text(&w, "title", res_text(first->res));
	json_int(&w, "status", res_status(first->res));
	json_text(&w, "detail", first->detail);
	json_text(&w, "code", first->code);
	if (first->field[0])
		json_text(&w, "field", first->field);
	json_int(&w, "index", (int64_t)errors[0].index);
	json_array(&w, "errors");
	for (size_t i = 0; i < count; i++)
		put_error(&w, &errors[i]);
	json_end(&w);
	json_end(&w);
	if (json_finish(&w))
		return reply_body_take(res_status(first->res), "application/problem+json", &body);
	buf_free(&body);
	return call_problem(call);
}

/* --- A list of operations --- */

struct list_work {
	struct arena arena; /* bigger than a request's: a thousand slots, items and errors */
	struct bulk_slot *slots;
	struct bulk_item *items;
	struct bulk bulk;
};

#define LIST_ARENA_MAX ((size_t)4 << 20)

static bool list_start(struct call *call, struct list_work *work, size_t count)
{
	memset(work, 0, sizeof *work);
	arena_init(&work->arena, LIST_ARENA_MAX);
	work->slots = arena_alloc(&work->arena, count * sizeof *work->slots);
	work->items = arena_alloc(&work->arena, count * sizeof *work->items);
	work->bulk = (struct bulk){.items = work->items,
				   .count = count,
				   .field = OPERATIONS_FIELD,
				   .clock = call->admin->config.clock};
	work->bulk.errors = arena_alloc(&work->arena, BULK_ERRORS_MAX * sizeof *work->bulk.errors);
	if (work->slots && work->items && work->bulk.errors)
		return true;
	arena_free(&work->arena);
	call_set(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	return false;
}

static void note_bad_item(struct bulk *bulk, size_t index, struct problem *problem)
{
	char field[sizeof problem->field];

	if (bulk->error_count == BULK_ERRORS_MAX)
		return;
	snprintf(field, sizeof field, OPERATIONS_FIELD "[%zu]%s%.60s", index,
		 problem->field[0] ? "." : "", problem->field);
	memcpy(problem->field, field, sizeof field);
	bulk->errors[bulk->error_count].index = index;
	bulk->errors[bulk->error_count++].problem = *problem;
}

static void list_read(const struct json *operations, struct list_work *work)
{
	size_t i = 0;

	for (const struct json *at = json_first(operations); at; at = json_next(at), i++) {
		struct problem problem = {0};

		if (bulk_slot_read(at, true, &work->slots[i], &problem) != RES_OK)
			note_bad_item(&work->bulk, i, &problem);
		work->items[i] = bulk_slot_item(&work->slots[i]);
	}
}

/* The user an item was about; of a create that was repeated, the next of those made the first time.
 */
static const char *slot_user(const struct bulk_slot *slot, char **made, struct public_id *out)
{
	size_t len;

	switch (slot->op) {
	case BULK_CREATE:
		if (!*made)
			return slot->arg.create.public_id.text;
		len = strcspn(*made, "\n");
		snprintf(out->text, sizeof out->text, "%.*s", (int)len, *made);
		*made += len + ((*made)[len] == '\n');
		return out->text;
	case BULK_PATCH:
		return slot->arg.patch.target.public_id;
	case BULK_EXTEND:
		return slot->arg.extend.target.public_id;
	case BULK_ROTATE_CREDENTIAL:
		return slot->arg.rotate.target.public_id;
	case BULK_DELETE:
	case BULK_ENABLE:
	case BULK_DISABLE:
	case BULK_RESET_USAGE:
	case BULK_ROTATE_LINK:
	case BULK_OPS:
		break;
	}
	return slot->arg.target.public_id;
}

static void put_results(struct json_writer *w, const struct list_work *work, char *made)
{
	json_array(w, "results");
	for (size_t i = 0; i < work->bulk.count; i++) {
		struct public_id id;

		json_object(w, NULL);
		json_text(w, "id", slot_user(&work->slots[i], &made, &id));
		json_text(w, "op", bulk_op_words[work->slots[i].op]);
		json_end(w);
	}
	json_end(w);
}

static bool preview_results(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	struct bulk *bulk = arg;

	(void)call;
	(void)conn;
	json_int(w, "total", (int64_t)bulk->count);
	return true;
}

static struct reply *list_run(struct call *call, struct list_work *work)
{
	struct op_outcome out;
	struct reply *reply;
	struct json_writer w;
	struct buf body;

	call->preview = preview_results;
	reply = call_write(call, op_bulk, &work->bulk, 200, &out);
	if (reply && work->bulk.error_count && reply_status(reply) < 500) {
		reply_unref(reply);
		return refuse_items(call, work->bulk.errors, work->bulk.error_count);
	}
	if (reply)
		return reply;
	call_json(call, &w, &body);
	put_results(&w, work, out.repeated ? out.resources : NULL);
	return call_json_end(call, &w, &body, 200, 0);
}

static const struct json *list_of(struct call *call)
{
	static const struct json_field fields[] = {
		{.name = OPERATIONS_FIELD, .kind = JSON_IN_TREE, .required = true}
        };
	const struct json *list = NULL;
	uint64_t present;

	if (!call_input(call, fields, 1, &list, &present))
		return NULL;
	if (list->type == JSON_ARRAY && list->len >= 1 && list->len <= BULK_MAX)
		return list;
	call_set(call, RES_INVALID, list->type == JSON_ARRAY ? "out_of_range" : "wrong_type",
		 OPERATIONS_FIELD, "A list of 1 to 1000 operations.");
	return NULL;
}

static struct reply *bulk_list(struct call *call)
{
	const struct json *list = list_of(call);
	struct list_work work;
	struct reply *reply;

	if (!list || !list_start(call, &work, list->len))
		return call_problem(call);
	list_read(list, &work);
	reply = work.bulk.error_count ? refuse_items(call, work.bulk.errors, work.bulk.error_count)
				      : list_run(call, &work);
	arena_free(&work.arena);
	return reply;
}

/* --- One operation on all that a filter finds --- */

/* Owns a copy of the body: a job outlives the request that its texts came with. */
struct filter_work {
	char *text;
	struct json_doc *doc;
	struct bulk_slot slot; /* without a user */
	struct filter_item *args;
	struct bulk_item *items;
};

struct filter_item {
	int64_t id;
	struct bulk_slot slot;
};

static void filter_free(void *arg)
{
	struct filter_work *work = arg;

	if (!work)
		return;
	json_free(work->doc);
	free(work->text);
	free(work->args);
	free(work->items);
	free(work);
}

static void slot_aim(struct bulk_slot *slot, const char *public_id)
{
	struct user_target target = {.public_id = public_id};

	switch (slot->op) {
	case BULK_PATCH:
		slot->arg.patch.target = target;
		return;
	case BULK_EXTEND:
		slot->arg.extend.target = target;
		return;
	case BULK_ROTATE_CREDENTIAL:
		slot->arg.rotate.target = target;
		return;
	case BULK_CREATE:
	case BULK_DELETE:
	case BULK_ENABLE:
	case BULK_DISABLE:
	case BULK_RESET_USAGE:
	case BULK_ROTATE_LINK:
	case BULK_OPS:
		slot->arg.target = target;
		return;
	}
}

/* Operations know users by public id; a filter has found row ids. */
static enum res op_by_row(struct op *op, void *arg)
{
	struct filter_item *item = arg;
	struct bulk_item inner;
	struct arena arena;
	struct user user;
	enum res res;

	arena_init(&arena, 64 << 10);
	res = user_by_id(op->conn, item->id, &arena, &user);
	if (res == RES_OK) {
		slot_aim(&item->slot, user.public_id.text);
		inner = bulk_slot_item(&item->slot);
		res = inner.fn(op, inner.arg);
		slot_aim(&item->slot, NULL);
	}
	arena_free(&arena);
	return res;
}

static const struct bulk_item *filter_piece(void *arg, const int64_t *ids, size_t count)
{
	struct filter_work *work = arg;

	free(work->args);
	free(work->items);
	work->args = calloc(count + 1, sizeof *work->args);
	work->items = calloc(count + 1, sizeof *work->items);
	for (size_t i = 0; work->args && work->items && i < count; i++) {
		work->args[i] = (struct filter_item){.id = ids[i], .slot = work->slot};
		work->items[i] = (struct bulk_item){op_by_row, &work->args[i]};
	}
	return work->args ? work->items : NULL;
}

static struct filter_work *filter_copy(struct call *call)
{
	struct filter_work *work = calloc(1, sizeof *work);
	struct buf text;
	size_t len = 0;

	buf_init(&text, (size_t)2 << 20); /* escapes may be longer than what came */
	if (work && json_print(call->body, &text))
		work->text = buf_take(&text, &len);
	buf_free(&text);
	if (!work || !work->text || json_parse(work->text, len, &work->doc, NULL) != RES_OK) {
		filter_free(work);
		call_set(call, RES_NOMEM, NULL, NULL, "Out of memory.");
		return NULL;
	}
	if (bulk_slot_read(json_root(work->doc), false, &work->slot, &call->problem) == RES_OK)
		return work;
	filter_free(work);
	return NULL;
}

static bool find_ids(struct call *call, const struct bulk_filter_input *input, int64_t **ids,
		     size_t *count)
{
	struct user_filter filter;
	struct conn *conn = call_read(call);
	enum res res = RES_OK;
	bool good;

	if (!conn)
		return false;
	good = user_filter_read(call, conn, input->status, input->group, input->tag, input->q,
				&filter);
	if (good)
		res = user_filter_ids(conn, &filter, call_now(call), ids, count);
	store_read_end(conn);
	if (res != RES_OK)
		call_set(call, res, NULL, NULL, "The users could not be found.");
	return good && res == RES_OK;
}

static void put_found(struct call *call, struct conn *conn, const int64_t *ids, size_t count,
		      struct json_writer *w)
{
	json_array(w, "items");
	for (size_t i = 0; i < count && i < PREVIEW_MAX; i++) {
		struct user user;

		if (user_by_id(conn, ids[i], call->arena, &user) != RES_OK)
			continue;
		json_object(w, NULL);
		json_text(w, "id", user.public_id.text);
		json_text(w, "name", user.name);
		json_end(w);
	}
	json_end(w);
}

/* A dry run on a filter is a look at what it finds: how many, and the first few by name. */
static struct reply *answer_found(struct call *call, const int64_t *ids, size_t count)
{
	struct conn *conn = call_read(call);
	struct json_writer w;
	struct buf body;

	if (!conn)
		return call_problem(call);
	call_json(call, &w, &body);
	json_flag(&w, "dry_run", true);
	json_int(&w, "total", (int64_t)count);
	put_found(call, conn, ids, count, &w);
	store_read_end(conn);
	return call_json_end(call, &w, &body, 200, 0);
}

static struct reply *answer_job(struct call *call, const char *id)
{
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	json_text(&w, "job", id);
	return call_json_end(call, &w, &body, 202, 0);
}

static struct reply *answer_done(struct call *call, size_t total, size_t skipped)
{
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	json_int(&w, "total", (int64_t)total);
	json_int(&w, "done", (int64_t)(total - skipped));
	json_int(&w, "skipped", (int64_t)skipped);
	return call_json_end(call, &w, &body, 200, 0);
}

/* An Idempotency-Key said that this was done: at once, or as a job. */
static struct reply *answer_again(struct call *call, const struct op_outcome *out, size_t total)
{
	return out->status == 202 ? answer_job(call, call_made(call, out, ""))
				  : answer_done(call, total, 0);
}

static struct reply *run_at_once(struct call *call, struct filter_work *work, const int64_t *ids,
				 size_t count)
{
	struct bulk bulk = {.count = count,
			    .field = "items",
			    .clock = call->admin->config.clock,
			    .skip_gone = true};
	struct op_outcome out;
	struct reply *reply;

	bulk.items = filter_piece(work, ids, count);
	bulk.errors = calloc(BULK_ERRORS_MAX, sizeof *bulk.errors);
	if (!bulk.items || !bulk.errors) {
		free(bulk.errors);
		return call_fail(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	}
	reply = call_write(call, op_bulk, &bulk, 200, &out);
	if (reply && bulk.error_count && reply_status(reply) < 500) {
		reply_unref(reply);
		reply = refuse_items(call, bulk.errors, bulk.error_count);
	}
	free(bulk.errors);
	if (reply)
		return reply;
	return out.repeated ? answer_again(call, &out, count)
			    : answer_done(call, count, bulk.skipped);
}

/* The job's beginning is an operation: an Idempotency-Key finds it again, and the audit has it. */
static enum res op_job_begin(struct op *op, void *arg)
{
	const struct public_id *id = arg;
	enum res res = op_audit(op, "users.bulk", id->text, NULL);

	return res == RES_OK ? op_made(op, id->text) : res;
}

/* As an operation: the repeat of the very call whose job is still running is answered with that. */
static enum res op_job_running(struct op *op, void *arg)
{
	(void)arg;
	return problem_set(op->problem, RES_CONFLICT, "job_running", NULL,
			   "Another job is running; try again when it is done.");
}

/* Takes work and ids over in every case. The job stands ready before its beginning is stored:
 * otherwise a key that was stored for a job that could not start would answer for it for ever. */
static struct reply *run_as_job(struct call *call, struct filter_work *work, int64_t *ids,
				size_t count)
{
	struct job_work job = {.op = bulk_op_words[work->slot.op],
			       .piece = filter_piece,
			       .free = filter_free,
			       .arg = work};
	struct jobs *jobs = call->admin->jobs;
	struct op_outcome out;
	struct public_id id;
	struct reply *reply;
	enum res res;

	public_id_new(ID_JOB, &id);
	res = jobs_prepare(jobs, call_ops(call), call->admin->config.clock, call->actor, &id, &job,
			   ids, count);
	if (res != RES_OK) {
		free(ids);
		filter_free(work);
	}
	if (res != RES_OK && res != RES_CONFLICT)
		return call_fail(call, res, NULL, NULL, "The job could not be started.");
	reply = call_write(call, res == RES_OK ? op_job_begin : op_job_running, &id, 202, &out);
	if (res == RES_OK)
		jobs_decide(jobs, !reply && !out.repeated);
	if (reply)
		return reply;
	return out.repeated ? answer_again(call, &out, count) : answer_job(call, id.text);
}

/* As an operation, because the repeat of a call that was done finds other users than the first
 * time. */
static enum res op_total_changed(struct op *op, void *arg)
{
	const size_t *count = arg;

	return problem_set(op->problem, RES_CONFLICT, "total_changed", "expected_total",
			   "The filter finds %zu users now; look again with ?dry_run=1.", *count);
}

static struct reply *total_changed(struct call *call, size_t count, int64_t expected)
{
	struct op_outcome out;
	struct reply *reply = call_write(call, op_total_changed, &count, 200, &out);

	return reply ? reply : answer_again(call, &out, (size_t)expected);
}

static struct reply *bulk_filter(struct call *call)
{
	struct bulk_filter_input input;
	struct filter_work *work;
	struct reply *reply;
	int64_t expected, *ids = NULL;
	size_t count = 0;

	if (!(work = filter_copy(call)))
		return call_problem(call);
	if (bulk_filter_read(call->body, &input, &expected, &call->problem) != RES_OK ||
	    !find_ids(call, &input, &ids, &count))
		reply = call_problem(call);
	else if (call->dry_run)
		reply = answer_found(call, ids, count);
	else if (expected < 0)
		reply = call_fail(
			call, RES_INVALID, "missing_field", "expected_total",
			"Say how many users you mean; ?dry_run=1 tells how many there are.");
	else if ((size_t)expected != count)
		reply = total_changed(call, count, expected);
	else if (count > BULK_MAX)
		return run_as_job(call, work, ids, count);
	else
		reply = run_at_once(call, work, ids, count);
	free(ids);
	filter_free(work);
	return reply;
}

struct reply *users_bulk(struct call *call)
{
	return json_member(call->body, "filter") ? bulk_filter(call) : bulk_list(call);
}
