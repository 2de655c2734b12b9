#include "hythe/http/reply.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edge.h"
#include "hythe/util/json_write.h"
#include "hythe/util/log.h"

#define PROBLEM_MAX 2048

struct reply {
	atomic_uint refs;
	bool fixed; /* a static mark: never counted, has no response of the library */
	int status;
	struct MHD_Response *mhd; /* owns the body */
	const char *body;
	size_t len;
};

/* Never written to: `fixed` keeps the counter out of it. */
static struct reply later = {.fixed = true};
static struct reply out_of_memory = {.fixed = true, .status = 503, .body = ""};

static struct reply *reply_wrap(int status, struct MHD_Response *mhd, const char *content_type,
				const void *body, size_t len)
{
	struct reply *reply = mhd ? malloc(sizeof *reply) : NULL;

	if (!reply) {
		if (mhd)
			MHD_destroy_response(mhd);
		return &out_of_memory;
	}
	*reply = (struct reply){.status = status, .mhd = mhd, .body = body, .len = len};
	atomic_init(&reply->refs, 1);
	if (content_type)
		reply_header(reply, "Content-Type", content_type);
	return reply;
}

struct reply *reply_body_take(int status, const char *content_type, struct buf *body)
{
	bool failed = body->failed;
	size_t len = 0;
	char *data = buf_take(body, &len);
	struct MHD_Response *mhd;

	if (failed || (!data && len > 0)) {
		free(data);
		return &out_of_memory;
	}
	if (!data)
		return reply_static(status, content_type, "", 0);
	mhd = MHD_create_response_from_buffer_with_free_callback_cls(len, data, free, data);
	if (!mhd)
		free(data);
	return reply_wrap(status, mhd, content_type, data, len);
}

static void keep(void *data)
{
	(void)data;
}

/* The library's parameter is not const, though it only reads: the one cast of this kind. */
static struct MHD_Response *response_of(const void *data, size_t len)
{
	return MHD_create_response_from_buffer_with_free_callback_cls(len, (void *)(uintptr_t)data,
								      keep, NULL);
}

struct reply *reply_static(int status, const char *content_type, const void *data, size_t len)
{
	return reply_wrap(status, response_of(data, len), content_type, data, len);
}

struct reply *reply_empty(int status)
{
	return reply_static(status, NULL, "", 0);
}

static void put_retry(struct reply *reply, unsigned retry_s)
{
	char text[16];

	snprintf(text, sizeof text, "%u", retry_s > 0 ? retry_s : 1);
	reply_header(reply, "Retry-After", text);
}

struct reply *reply_problem(const struct problem *problem)
{
	int status = res_status(problem->res);
	struct json_writer w;
	struct reply *reply;
	struct buf body;

	buf_init(&body, PROBLEM_MAX);
	json_start(&w, &body);
	json_object(&w, NULL);
	json_text(&w, "type", "about:blank");
	json_text(&w, "title", res_text(problem->res));
	json_int(&w, "status", status);
	if (problem->detail[0])
		json_text(&w, "detail", problem->detail);
	json_text(&w, "code", problem->code[0] ? problem->code : "error");
	if (problem->field[0])
		json_text(&w, "field", problem->field);
	json_end(&w);
	if (!json_finish(&w)) {
		buf_free(&body);
		return &out_of_memory;
	}
	reply = reply_body_take(status, "application/problem+json", &body);
	reply_header(reply, "Cache-Control", "no-store");
	if (status == 429 || status == 503)
		put_retry(reply, problem->retry_s);
	if (status == 401)
		reply_header(reply, "WWW-Authenticate", "Bearer");
	return reply;
}

void reply_headers_each(const struct reply *reply, MHD_KeyValueIterator each, void *ctx)
{
	if (reply->mhd)
		MHD_get_response_headers(reply->mhd, each, ctx);
}

static enum MHD_Result copy_header(void *ctx, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	(void)kind;
	reply_header(ctx, name, value);
	return MHD_YES;
}

struct reply *reply_not_modified(const struct reply *full)
{
	struct reply *reply = reply_empty(304);

	reply_headers_each(full, copy_header, reply);
	return reply;
}

static bool value_ok(const char *value)
{
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			return false;
	return true;
}

void reply_header(struct reply *reply, const char *name, const char *value)
{
	if (!reply->mhd)
		return;
	if (!value_ok(value) || MHD_add_response_header(reply->mhd, name, value) != MHD_YES)
		log_error("reply_header_dropped", "name=%s", log_quote(name));
}

struct reply *reply_later(void)
{
	return &later;
}

int reply_status(const struct reply *reply)
{
	return reply->status;
}

const char *reply_body(const struct reply *reply, size_t *len)
{
	*len = reply->len;
	return reply->body;
}

struct reply *reply_ref(struct reply *reply)
{
	if (!reply->fixed)
		atomic_fetch_add_explicit(&reply->refs, 1, memory_order_relaxed);
	return reply;
}

void reply_unref(struct reply *reply)
{
	if (!reply || reply->fixed ||
	    atomic_fetch_sub_explicit(&reply->refs, 1, memory_order_acq_rel) != 1)
		return;
	MHD_destroy_response(reply->mhd); /* the body goes when the last connection has sent it */
	free(reply);
}

/* Memory was out when the answer was made; it may be there again now. */
static enum MHD_Result queue_out_of_memory(struct MHD_Connection *connection)
{
	struct MHD_Response *mhd = response_of("", 0);
	enum MHD_Result ok = MHD_NO;

	if (mhd && MHD_add_response_header(mhd, "Retry-After", "1") == MHD_YES)
		ok = MHD_queue_response(connection, 503, mhd);
	if (mhd)
		MHD_destroy_response(mhd);
	return ok;
}

enum MHD_Result reply_queue(struct reply *reply, struct MHD_Connection *connection)
{
	if (!reply->mhd)
		return queue_out_of_memory(connection);
	return MHD_queue_response(connection, (unsigned)reply->status, reply->mhd);
}
