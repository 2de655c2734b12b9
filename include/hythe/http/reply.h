/* http/reply.h – the one way to answer.
 *
 * Only reply_*() makes a `struct reply`, and a handler must return one: a path that forgets to
 * answer does not compile. A reply is counted: who keeps one (the render cache) takes a reference,
 * and the same reply may be queued on many connections at once, by many threads. HEAD is answered
 * by the server with the GET's header and no body. Threads: a reply is built by one thread; once
 * returned or kept it is read only. */
#ifndef HYTHE_HTTP_REPLY_H
#define HYTHE_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "hythe/util/buf.h"
#include "hythe/util/result.h"

struct reply;
struct request;

/* The body is taken from `body`, which is empty afterwards. Out of memory: a static 503. Never
 * NULL. */
struct reply *reply_body_take(int status, const char *content_type, struct buf *body);
/* The bytes are borrowed and must outlive the reply (embedded files, decoy pages). */
struct reply *reply_static(int status, const char *content_type, const void *data, size_t len);
struct reply *reply_empty(int status);
/* RFC 9457: application/problem+json with type, title, status, detail, code, and field if any.
 * 503 and 429 get Retry-After: the problem's retry_s, 1 at least. */
struct reply *reply_problem(const struct problem *problem);
/* Values are checked: printable ASCII only, no CR or LF; a bad one is dropped and logged as our
 * bug. */
void reply_header(struct reply *reply, const char *name, const char *value);
/* 304 with every header of `full`, which is a 200 of the same resource. */
struct reply *reply_not_modified(const struct reply *full);
struct reply *reply_later(void); /* a mark, not a reply: the request was handed to workers */
int reply_status(const struct reply *reply);
const char *reply_body(const struct reply *reply, size_t *len);
struct reply *reply_ref(struct reply *reply);
void reply_unref(struct reply *reply); /* NULL is fine */

#endif
