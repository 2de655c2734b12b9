/* panel/public.c – who answers a request: the subscription endpoint, the admin, or the decoy.
 *
 * On the public listener the first path segment decides. Whoever does not know a prefix sees one
 * page, with one set of headers, whatever he asks for and however often. */
#include <stdatomic.h>

#include "hythe/admin/admin.h"
#include "hythe/sub/sub.h"
#include "panel.h"
#include "place.h"

/* --- The decoy --- */

static bool asks_front(const struct request *req)
{
	size_t len;

	request_path(req, &len);
	return len == 1;
}

struct reply *public_unknown(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;

	return decoy_unknown(panel->decoy, asks_front(req));
}

/* --- Where a path leads --- */

static enum place find_place(struct panel *panel, const struct request *req, const char **rest,
			     size_t *rest_len)
{
	struct settings_snapshot *snapshot = settings_take(panel->instance.settings);
	size_t len;
	const char *path = request_path(req, &len);
	enum place place =
		place_of(&snapshot->settings, clock_unix(panel->clock), path, len, rest, rest_len);

	settings_give(panel->instance.settings, snapshot);
	return place;
}

/* --- The admin, while it stands --- */

/* At the end the workers are joined while kept-alive connections can still bring requests; whoever
 * is inside when `stopping` is set is waited for (serve.c), whoever comes later is told. */
static bool admin_enter(struct panel *panel)
{
	atomic_fetch_add(&panel->inside, 1);
	if (!atomic_load(&panel->stopping))
		return true;
	atomic_fetch_sub(&panel->inside, 1);
	return false;
}

static struct reply *serve_admin(struct panel *panel, struct request *req, const char *path,
				 size_t len, bool control)
{
	struct problem problem = {0};
	struct reply *reply;

	if (!admin_enter(panel)) {
		problem_set(&problem, RES_BUSY, "stopping", NULL, "the panel is stopping");
		return reply_problem(&problem);
	}
	reply = admin_serve(panel->admin, req, path, len, control);
	atomic_fetch_sub(&panel->inside, 1);
	return reply;
}

static struct reply *reply_not_found(void)
{
	struct problem problem = {0};

	problem_set(&problem, RES_NOT_FOUND, "not_found", NULL,
		    "there is nothing at this path; the API is under /api/v1");
	return reply_problem(&problem);
}

/* --- The sites --- */

static bool admin_is_public(const struct panel *panel)
{
	return !panel->config->admin_listen;
}

static size_t public_body_max(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;
	const char *rest;
	size_t rest_len;

	if (!admin_is_public(panel) || find_place(panel, req, &rest, &rest_len) != PLACE_ADMIN)
		return 0;
	return admin_body_max(panel->admin, req, rest, rest_len);
}

/* Every request takes from its network's bucket but the admin's own, whose limits are the API's: an
 * operator's script is not a stranger. An empty bucket closes the admin's address too, or prefixes
 * could be guessed as fast as the line carries. */
static bool limited(struct panel *panel, const struct request *req, enum place place,
		    unsigned *retry_s)
{
	const struct addr *client = request_client(req);
	uint8_t key[16];

	if (client->family == 0)
		return false;
	limiter_key_of_network(client, key);
	if (place != PLACE_ADMIN)
		return !limiter_take(panel->networks, key, retry_s);
	*retry_s = 1;
	return !limiter_look(panel->networks, key);
}

static struct reply *public_serve(void *ctx, struct request *req)
{
	struct panel *panel = ctx;
	struct reply *reply = NULL;
	const char *rest = "";
	size_t rest_len = 0;
	unsigned retry_s = 1;
	enum place place = find_place(panel, req, &rest, &rest_len);

	if (place == PLACE_ADMIN && !admin_is_public(panel))
		place = PLACE_NOWHERE;
	if (limited(panel, req, place, &retry_s))
		return decoy_limited(panel->decoy, retry_s);
	if (place == PLACE_ADMIN) {
		reply = serve_admin(panel, req, rest, rest_len, false);
		/* What the admin does not know is as strange as any other path. */
		if (!reply && limited(panel, req, PLACE_NOWHERE, &retry_s))
			return decoy_limited(panel->decoy, retry_s);
	} else if (place == PLACE_SUB && rest_len > 1) {
		reply = sub_serve(panel->sub, req, rest + 1, rest_len - 1);
	} else {
		reply = sub_serve(panel->sub, req, NULL, 0);
	}
	return reply ? reply : public_unknown(panel, req);
}

static struct reply *reply_too_large(void)
{
	struct problem problem = {0};

	problem_set(&problem, RES_TOO_LARGE, "body_too_large", NULL,
		    "the body is longer than may come here");
	return reply_problem(&problem);
}

/* A body where none may come is answered like any other request there: only the API has its own
 * word for it. The listener adds a header, so the reply is made for this one request. */
static struct reply *public_refuse(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;
	unsigned retry_s = 1;
	const char *rest;
	size_t rest_len;

	if (admin_is_public(panel) && find_place(panel, req, &rest, &rest_len) == PLACE_ADMIN &&
	    admin_path_is_api(rest, rest_len))
		return reply_too_large();
	if (limited(panel, req, PLACE_NOWHERE, &retry_s))
		return decoy_limited(panel->decoy, retry_s);
	return decoy_unknown_fresh(panel->decoy, asks_front(req));
}

/* A listener of the admin's own takes its paths with the prefix, so that links go on, or without.
 */
static void admin_path(struct panel *panel, const struct request *req, const char **path,
		       size_t *len)
{
	const char *rest;
	size_t rest_len;

	*path = request_path(req, len);
	if (find_place(panel, req, &rest, &rest_len) == PLACE_ADMIN) {
		*path = rest;
		*len = rest_len;
	}
}

static size_t admin_listener_body_max(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;
	const char *path;
	size_t len;

	admin_path(panel, req, &path, &len);
	return admin_body_max(panel->admin, req, path, len);
}

static struct reply *admin_listener_serve(void *ctx, struct request *req)
{
	struct panel *panel = ctx;
	struct reply *reply;
	const char *path;
	size_t len;

	admin_path(panel, req, &path, &len);
	reply = serve_admin(panel, req, path, len, false);
	return reply ? reply : public_unknown(panel, req);
}

static struct reply *admin_listener_refuse(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;
	const char *path;
	size_t len;

	admin_path(panel, req, &path, &len);
	return admin_path_is_api(path, len) ? reply_too_large()
					    : decoy_unknown_fresh(panel->decoy, asks_front(req));
}

static size_t control_body_max(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;
	size_t len;
	const char *path = request_path(req, &len);

	return admin_body_max(panel->admin, req, path, len);
}

static struct reply *control_serve(void *ctx, struct request *req)
{
	size_t len;
	const char *path = request_path(req, &len);
	struct reply *reply = serve_admin(ctx, req, path, len, true);

	return reply ? reply : reply_not_found();
}

struct http_site public_site(struct panel *panel)
{
	return (struct http_site){panel, public_body_max, public_serve, public_refuse};
}

struct http_site admin_site(struct panel *panel)
{
	return (struct http_site){panel, admin_listener_body_max, admin_listener_serve,
				  admin_listener_refuse};
}

struct http_site control_site(struct panel *panel)
{
	return (struct http_site){panel, control_body_max, control_serve, NULL};
}
