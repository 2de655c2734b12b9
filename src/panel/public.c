/* panel/public.c – who answers a request: the subscription endpoint, the admin, or the decoy.
 *
 * On the public listener the first path segment decides. Whoever does not know a prefix sees one
 * page, with one set of headers, whatever he asks for and however often. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/admin/admin.h"
#include "hythe/sub/sub.h"
#include "panel.h"
#include "place.h"

#define HTML "text/html; charset=utf-8"

/* --- The decoy --- */

struct decoy_set {
	struct decoy *decoy;
	struct reply *not_found;
	struct reply *index; /* NULL: "/" is as unknown as any other path */
	struct decoy_set *older;
};

/* A set that was replaced stays until the end: replies of it may still be on their way, and reloads
 * are an operator's act, not a stranger's. */
struct decoy_box {
	_Atomic(struct decoy_set *) now;
};

static void decoy_set_free(struct decoy_set *set)
{
	while (set) {
		struct decoy_set *older = set->older;

		reply_unref(set->not_found);
		reply_unref(set->index);
		decoy_free(set->decoy);
		free(set);
		set = older;
	}
}

static enum res decoy_set_new(const char *dir, struct decoy_set **out, struct problem *problem)
{
	struct decoy_set *set = calloc(1, sizeof *set);
	const struct decoy_page *page;
	enum res res;

	if (!set)
		return RES_NOMEM;
	if ((res = decoy_load(dir, &set->decoy, problem)) != RES_OK) {
		free(set);
		return res;
	}
	page = decoy_404(set->decoy);
	set->not_found = reply_static(404, HTML, page->body, page->len);
	/* The built-in page has no front: a fresh panel shows the same at "/" as anywhere (B134).
	 */
	if (dir && (page = decoy_index(set->decoy)) != NULL)
		set->index = reply_static(200, HTML, page->body, page->len);
	*out = set;
	return RES_OK;
}

enum res decoy_box_new(const char *dir, struct decoy_box **out, struct problem *problem)
{
	struct decoy_box *box = calloc(1, sizeof *box);
	struct decoy_set *set;
	enum res res;

	if (!box)
		return RES_NOMEM;
	if ((res = decoy_set_new(dir, &set, problem)) != RES_OK) {
		free(box);
		return res;
	}
	atomic_init(&box->now, set);
	*out = box;
	return RES_OK;
}

enum res decoy_box_reload(struct decoy_box *box, const char *dir, struct problem *problem)
{
	struct decoy_set *set;
	enum res res = decoy_set_new(dir, &set, problem);

	if (res != RES_OK)
		return res;
	set->older = atomic_load(&box->now);
	atomic_store(&box->now, set);
	return RES_OK;
}

const struct decoy *decoy_box_lend(struct decoy_box *box)
{
	return atomic_load(&box->now)->decoy;
}

void decoy_box_free(struct decoy_box *box)
{
	if (!box)
		return;
	decoy_set_free(atomic_load(&box->now));
	free(box);
}

static struct reply *reply_decoy(struct panel *panel, const struct request *req)
{
	struct decoy_set *set = atomic_load_explicit(&panel->decoy->now, memory_order_acquire);
	size_t len;

	request_path(req, &len);
	return reply_ref(len == 1 && set->index ? set->index : set->not_found);
}

static struct reply *reply_limited(struct panel *panel, unsigned retry_s)
{
	const struct decoy_page *page = decoy_429(decoy_box_lend(panel->decoy));
	struct reply *reply = reply_static(429, HTML, page->body, page->len);
	char text[16];

	snprintf(text, sizeof text, "%u", retry_s);
	reply_header(reply, "Retry-After", text);
	return reply;
}

/* --- Where a path leads * --- */

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

/* --- The admin, while it stands * --- */

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

/* --- The sites * --- */

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
		return reply_limited(panel, retry_s);
	if (place == PLACE_SUB && rest_len > 1)
		reply = sub_serve(panel->sub, req, rest + 1, rest_len - 1);
	else if (place == PLACE_ADMIN)
		reply = serve_admin(panel, req, rest, rest_len, false);
	return reply ? reply : reply_decoy(panel, req);
}

/* A body where none may come is answered like any other request there. The listener adds a header,
 * so the reply is made for this one request. */
static struct reply *public_refuse(void *ctx, const struct request *req)
{
	struct panel *panel = ctx;
	const struct decoy_page *page = decoy_404(decoy_box_lend(panel->decoy));
	struct problem problem = {0};
	unsigned retry_s = 1;
	const char *rest;
	size_t rest_len;
	enum place place = find_place(panel, req, &rest, &rest_len);

	if (place == PLACE_ADMIN && admin_is_public(panel)) {
		problem_set(&problem, RES_TOO_LARGE, "body_too_large", NULL,
			    "the body is longer than may come here");
		return reply_problem(&problem);
	}
	if (limited(panel, req, PLACE_NOWHERE, &retry_s))
		return reply_limited(panel, retry_s);
	return reply_static(404, HTML, page->body, page->len);
}

/* A listener of the admin's own takes its paths with the prefix, so that links go on, and without.
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
	return reply ? reply : reply_decoy(panel, req);
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
	return (struct http_site){panel, admin_listener_body_max, admin_listener_serve, NULL};
}

struct http_site control_site(struct panel *panel)
{
	return (struct http_site){panel, control_body_max, control_serve, NULL};
}
