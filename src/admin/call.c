/* admin/call.c – how handlers read, write and answer: see call.h. */
#include "call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/store/store.h"
#include "hythe/util/hash.h"
#include "module.h"
#include "overview.h"
#include "routes.h"

#define READ_WAIT_MS 250
#define TAG_MAX      40

static struct store *call_store(struct call *call)
{
	return call->admin->config.ops->store;
}

const struct ops *call_ops(struct call *call)
{
	return call->admin->config.ops;
}

int64_t call_now(struct call *call)
{
	return clock_unix(call->admin->config.clock);
}

bool call_may(const struct call *call, enum right right)
{
	return actor_may(call->actor, right);
}

enum res call_set(struct call *call, enum res res, const char *code, const char *field,
		  const char *detail)
{
	return problem_set(&call->problem, res, code ? code : res_code(res), field, "%s", detail);
}

struct conn *call_read(struct call *call)
{
	struct conn *conn = NULL;
	enum res res = store_read(call_store(call), STORE_ADMIN, READ_WAIT_MS, &conn);

	if (res == RES_OK)
		return conn;
	call_set(call, res, NULL, NULL, "The database cannot be read now.");
	return NULL;
}

/* --- Answers --- */

struct reply *call_problem(struct call *call)
{
	if (call->problem.res == RES_OK)
		call_set(call, RES_INTERNAL, NULL, NULL,
			 "The call failed without a reason; the log may know more.");
	return reply_problem(&call->problem);
}

struct reply *call_fail(struct call *call, enum res res, const char *code, const char *field,
			const char *detail)
{
	call_set(call, res, code, field, detail);
	return call_problem(call);
}

void call_json(struct call *call, struct json_writer *w, struct buf *body)
{
	(void)call;
	buf_init(body, CALL_ANSWER_MAX);
	json_start(w, body);
	json_object(w, NULL);
}

struct reply *call_json_fail(struct call *call, struct buf *body)
{
	buf_free_secret(body);
	return call_problem(call);
}

static bool is_read(const struct call *call)
{
	enum http_method method = request_method(call->req);

	return method == HTTP_GET || method == HTTP_HEAD;
}

static void tag_of_body(const struct buf *body, char tag[TAG_MAX])
{
	uint8_t hash[SHA256_LEN];
	char hex[HEX_LEN(8) + 1];

	hash_sha256(body->data, body->len, hash);
	hex_encode(hash, 8, hex);
	snprintf(tag, TAG_MAX, "W/\"%s\"", hex);
}

static struct reply *body_reply(struct call *call, struct buf *body, int status, int64_t version)
{
	char tag[TAG_MAX] = "";
	struct reply *reply;

	if (version > 0)
		snprintf(tag, sizeof tag, "\"%" PRId64 "\"", version);
	else if (is_read(call))
		tag_of_body(body, tag);
	/* A version says that the settings are the same, and is for If-Match: usage, status and
	 * members change without it. */
	if (version == 0 && *tag && status == 200 && request_knows(call->req, tag)) {
		buf_free_secret(body);
		reply = reply_empty(304);
	} else {
		reply = reply_body_take(status, "application/json", body);
	}
	if (*tag)
		reply_header(reply, "ETag", tag);
	reply_header(reply, "Cache-Control", "private, no-cache");
	reply_header(reply, "X-Content-Type-Options", "nosniff");
	return reply;
}

struct reply *call_json_end(struct call *call, struct json_writer *w, struct buf *body, int status,
			    int64_t version)
{
	if (call->wrote) {
		json_int(w, "revision", call->revision);
		if (call->wait_ms >= 0) {
			/* Nobody to wait for: nodes that take part confirm by their own messages.
			 */
			json_array(w, "nodes");
			json_end(w);
		}
	}
	json_end(w);
	if (json_finish(w))
		return body_reply(call, body, status, version);
	buf_free_secret(body);
	return call_fail(call, RES_NOMEM, NULL, NULL, "The answer does not fit into memory.");
}

void call_located(struct call *call, struct reply *reply, const char *public_id)
{
	size_t len;
	const char *path = request_path(call->req, &len);
	char *location = arena_printf(call->arena, "%.*s/%s", (int)len, path, public_id);

	if (location)
		reply_header(reply, "Location", location);
}

bool call_preview_deleted(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	(void)conn;
	(void)arg;
	json_text(w, "id", call->id);
	json_flag(w, "deleted", true);
	return true;
}

struct reply *call_deleted(struct call *call)
{
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	call_preview_deleted(call, NULL, &w, NULL);
	return call_json_end(call, &w, &body, 200, 0);
}

/* --- Input --- */

bool call_input(struct call *call, const struct json_field *fields, size_t count, void *out,
		uint64_t *present)
{
	static const struct json empty = {.type = JSON_OBJECT, .text = "", .skip = 1, .last = true};
	const struct json *body = call->body ? call->body : &empty;

	return json_read(body, fields, count, out, present, &call->problem) == RES_OK;
}

/* --- Writing --- */

struct previewed {
	struct call *call;
	op_fn fn;
	void *arg;
	struct json_writer w;
	struct buf body;
};

static enum res run_previewed(struct op *op, void *arg)
{
	struct previewed *run = arg;
	struct call *call = run->call;
	enum res res = run->fn(op, run->arg);

	if (res != RES_OK || !op->dry_run)
		return res;
	call_json(call, &run->w, &run->body);
	json_flag(&run->w, "dry_run", true);
	if (!call->preview || call->preview(call, op->conn, &run->w, run->arg))
		return RES_OK;
	res = call->problem.res == RES_OK ? RES_INTERNAL : call->problem.res;
	return problem_set(op->problem, res, res_code(res), NULL, "%s", call->problem.detail);
}

/* Always 200 and without a revision: nothing was created. */
static struct reply *dry_answer(struct call *call, struct previewed *run)
{
	return call_json_end(call, &run->w, &run->body, 200, 0);
}

struct reply *call_write(struct call *call, op_fn fn, void *arg, int status, struct op_outcome *out)
{
	struct previewed run = {.call = call, .fn = fn, .arg = arg};
	struct op_call op = {
		.actor = call->actor,
		.idempotency_key = call->dry_run ? NULL : call->idempotency_key,
		.request_hash = call->request_hash,
		.dry_run = call->dry_run,
		.source = STORE_FROM_ADMIN,
		.status = status,
		.action = arena_printf(call->arena, "%s %s", request_method_text(call->req),
				       call->route->pattern),
		.target = call->id ? call->id : "",
	};
	struct op_outcome unused;
	enum res res;

	if (!out)
		out = &unused;
	memset(out, 0, sizeof *out);
	res = op_run(call_ops(call), &op, run_previewed, &run, call->arena, out, &call->problem);
	if (res != RES_OK) {
		buf_free_secret(&run.body);
		call_set(call, res, NULL, NULL, "The change could not be stored.");
		return call_problem(call);
	}
	if (call->dry_run)
		return dry_answer(call, &run);
	overview_forget(call->admin->overview);
	call->wrote = true;
	call->revision = out->revision;
	return NULL;
}

const char *call_made(struct call *call, const struct op_outcome *out, const char *public_id)
{
	size_t len;

	if (!out->repeated || !out->resources)
		return public_id;
	len = strcspn(out->resources, "\n");
	public_id = arena_dup(call->arena, out->resources, len);
	return public_id ? public_id : "";
}
