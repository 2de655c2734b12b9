/* admin/routes.h – the table of what the API has: method, path, right, body, handler. Threads: any.
 */
#ifndef HYTHE_ADMIN_ROUTES_H
#define HYTHE_ADMIN_ROUTES_H

#include "call.h"

#define API_PREFIX "/api/v1"

enum route_flag {
	ROUTE_QUICK = 1, /* never waits: may run on the event thread when nobody signs in with it */
	ROUTE_QUERY = 2, /* has parameters of its own and checks them itself */
	ROUTE_KEY = 4,   /* takes Idempotency-Key; other writes refuse it */
	ROUTE_DRY = 8,   /* takes ?dry_run= */
	ROUTE_MATCH = 16,   /* takes If-Match */
	ROUTE_BODY = 32,    /* must have a body */
	ROUTE_CONTROL = 64, /* control socket only */
	ROUTE_WAIT = 128,   /* takes ?wait_ms= */
	ROUTE_OPEN = 256,   /* RIGHT_NONE, and an unknown credential is no error */
	ROUTE_CREATE = ROUTE_KEY | ROUTE_DRY | ROUTE_WAIT | ROUTE_BODY,
	ROUTE_PATCH = ROUTE_MATCH | ROUTE_DRY | ROUTE_WAIT | ROUTE_BODY,
	ROUTE_DELETE = ROUTE_MATCH | ROUTE_DRY | ROUTE_WAIT,
	ROUTE_ACT = ROUTE_KEY | ROUTE_MATCH | ROUTE_DRY | ROUTE_WAIT
};

struct route {
	enum http_method method;
	const char *pattern; /* after API_PREFIX; ":id" stands for a public id */
	enum right right;
	size_t body_max;
	unsigned flags;
	call_fn handler;
};

extern const struct route routes[]; /* ends with pattern NULL */

#define ROUTE_IDS 2
struct route_match {
	const struct route *route; /* NULL: no such path (not known), or no such method (known) */
	bool known;
	unsigned methods; /* bits of enum http_method that the path has */
	const char *ids[ROUTE_IDS];
	size_t id_lens[ROUTE_IDS];
};

/* `path` after API_PREFIX, raw. HEAD finds the row of GET. */
void route_find(enum http_method method, const char *path, size_t len, struct route_match *out);
bool route_id_shaped(const char *text, size_t len); /* three letters, '_', 26 of base32 */

#endif
