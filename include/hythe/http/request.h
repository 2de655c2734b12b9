/* http/request.h – one request as it came, before anybody believes it.
 *
 * Path and query are the raw bytes of the request line (libmicrohttpd decodes %2f and cuts at %00
 * before its handler; we keep what was sent). Text returned lives as long as the request.
 * Threads: the event thread, or the worker that holds it. */
#ifndef HYTHE_HTTP_REQUEST_H
#define HYTHE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/addr.h"
#include "hythe/util/arena.h"

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OTHER };

struct request;

uint32_t request_id(const struct request *req); /* for the log */
enum http_method request_method(const struct request *req);
const char *request_method_text(const struct request *req);
/* Raw: begins with '/', nothing is decoded. */
const char *request_path(const struct request *req, size_t *len);
/* Raw, without the '?'; "" if none. */
const char *request_query(const struct request *req, size_t *len);
/* The only header of that name; NULL when absent or given more than once (`twice` says which; may
 * be NULL). */
const char *request_header(const struct request *req, const char *name, bool *twice);
/* All lines of one header joined by ", " in order of arrival, into out; false: it does not fit. */
bool request_header_joined(const struct request *req, const char *name, char *out, size_t size);
/* Is `etag` in If-None-Match: has the client got this already? */
bool request_knows(const struct request *req, const char *etag);
/* The same for a header's text, by the weak comparison (RFC 9110, 8.8.3.2). */
bool etag_listed(const char *list, const char *etag);
char *request_body(struct request *req, size_t *len); /* writable, NUL behind it; NULL if none */
/* By trusted proxies; family 0 on a unix socket. */
const struct addr *request_client(const struct request *req);
struct arena *request_arena(struct request *req); /* 32 MiB at most, gone with the request */
/* One parameter of the query, percent-decoded into the arena. NULL: absent. `bad` (may be NULL) is
 * set when it is given twice or badly escaped. */
const char *request_param(struct request *req, const char *name, bool *bad);

/* --- Client address (http/client.c) ---
 *
 * The peer, unless it is a trusted proxy; then the rightmost untrusted address in the header's lines
 * joined in order. Text that is no address ends the walk at the last good one. */
struct addr client_address(const struct addr *peer, const char *header_joined,
			   const struct addr_net_list *trusted);

#endif
