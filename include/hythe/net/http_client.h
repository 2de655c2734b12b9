/* net/http_client.h – one HTTP/1.1 request to a neighbour: the panel's control socket, or a program
 * on loopback.
 *
 * Blocking, one connection a call, everything bounded: the head by HTTP_HEAD_MAX, the body by the
 * caller, the whole call by one deadline that arriving bytes do not move. Bodies come by
 * Content-Length, chunked or up to the end of the connection. Redirects are not followed.
 * Threads: any; nothing is shared between calls. */
#ifndef HYTHE_NET_HTTP_CLIENT_H
#define HYTHE_NET_HTTP_CLIENT_H

#include <stddef.h>

#include "hythe/util/buf.h"
#include "hythe/util/result.h"

#define HTTP_HEAD_MAX 16384

struct http_call {
	const char *unix_path; /* a socket; or NULL with port */
	unsigned port;         /* of 127.0.0.1 */
	const char *method;    /* "GET" */
	const char *target;    /* path and query, already percent-encoded */
	const char *headers;   /* ready lines, each with its CRLF; NULL: none */
	const char *body;      /* sent as application/json; NULL: none */
	size_t body_len;
	size_t answer_max;   /* a longer body is RES_TOO_LARGE */
	unsigned timeout_ms; /* of the whole call */
};

struct http_answer {
	int status;
	char content_type[80]; /* "" if none */
	char etag[80];
	struct buf body; /* http_answer_free() */
};

/* RES_OK: there is a whole answer, whatever its status. RES_NOT_FOUND (code not_there): no such
 * socket or nobody listens; RES_BUSY (code timed_out): the deadline passed; RES_MALFORMED: not
 * HTTP; RES_TOO_LARGE; RES_IO. The answer is empty unless RES_OK. */
enum res http_call(const struct http_call *call, struct http_answer *out, struct problem *problem);
void http_answer_free(struct http_answer *answer);

/* The parser behind it, for what already stands in memory: reads one whole answer. RES_BUSY: more
 * bytes are needed; with `closed` the end of the text is the end of the connection. `head_only`:
 * the answer to a HEAD. */
enum res http_answer_parse(const char *text, size_t len, bool closed, bool head_only,
			   size_t answer_max, struct http_answer *out);

#endif
