/* admin/admin.c – from a request under the admin prefix to its handler, and back.
 *
 * On the event thread: which row, how much body, the network's rate. On a worker: who asks, his
 * right, same origin, headers, the body. What a row asks for is checked here and nowhere else, so a
 * handler sees only calls that it may answer. */
#include "hythe/admin/admin.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auth_internal.h"
#include "handlers.h"
#include "hythe/store/user_list.h"
#include "hythe/util/hash.h"
#include "hythe/util/log.h"
#include "hythe/util/num.h"
#include "jobs.h"
#include "module.h"
#include "overview.h"
#include "routes.h"

#define SETUP_PREFIX     "/setup/"
#define UNKNOWN_BODY_MAX ((size_t)64 << 10) /* read through, so that a 404 is heard */
#define RATE_BURST       200
#define RATE_REFILL_MS   6667 /* all 200: 30 a second */
#define RATE_BUCKETS     4096
#define PATH_MAX_LEN     512
#define KEY_MAX          128

/* What the event thread found, for the worker; lives in the request's arena. */
struct pending {
	struct admin *admin;
	struct route_match match;
	const char *path;
	bool control;
	bool token; /* came with Authorization: its rate is the token's own */
};

/* --- The module --- */

enum res admin_new(const struct admin_config *config, struct admin **out)
{
	struct admin *admin = calloc(1, sizeof *admin);
	enum res res = RES_NOMEM;

	*out = NULL;
	if (!admin)
		return res;
	admin->config = *config;
	admin->started_unix = clock_unix(config->clock);
	if ((res = admin_auth_new(config->ops, config->clock, NULL, &admin->auth)) != RES_OK)
		goto out;
	res = RES_NOMEM;
	admin->limiter = limiter_new(RATE_BUCKETS, config->clock);
	admin->order = user_order_new();
	admin->overview = overview_new();
	admin->jobs = admin->overview ? jobs_new(admin->overview) : NULL;
	if (!admin->limiter || !admin->order || !admin->jobs)
		goto out;
	limiter_set(admin->limiter, RATE_BURST, RATE_REFILL_MS);
	*out = admin;
	return RES_OK;
out:
	admin_free(admin);
	return res;
}

void admin_stop(struct admin *admin)
{
	jobs_stop(admin->jobs);
}

void admin_free(struct admin *admin)
{
	if (!admin)
		return;
	jobs_free(admin->jobs);
	overview_free(admin->overview);
	user_order_free(admin->order);
	limiter_free(admin->limiter);
	admin_auth_free(admin->auth);
	free(admin);
}

struct admin_auth *admin_auth_of(struct admin *admin)
{
	return admin->auth;
}

const struct ops *admin_ops_of(struct admin *admin)
{
	return admin->config.ops;
}

bool admin_base_write(struct admin *admin, const struct settings *settings, struct buf *out)
{
	const char *own = admin->config.admin_url;

	return buf_printf(out, "%s/%s", own ? own : settings->public_url, settings->admin_prefix);
}

/* --- Paths --- */

static bool begins(const char *path, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && memcmp(path, with, n) == 0;
}

/* What follows API_PREFIX; false: no path of the API. */
static bool api_rest(const char *path, size_t len, const char **rest, size_t *rest_len)
{
	size_t n = strlen(API_PREFIX);

	if (!begins(path, len, API_PREFIX) || (len > n && path[n] != '/'))
		return false;
	*rest = path + n;
	*rest_len = len - n;
	return true;
}

static bool setup_rest(const char *path, size_t len, const char **token, size_t *token_len)
{
	size_t n = strlen(SETUP_PREFIX);

	if (!begins(path, len, SETUP_PREFIX))
		return false;
	*token = path + n;
	*token_len = len - n;
	return true;
}

size_t admin_body_max(struct admin *admin, const struct request *req, const char *path,
		      size_t path_len)
{
	struct route_match match;
	const char *rest;
	size_t len;

	(void)admin;
	if (path_len > PATH_MAX_LEN)
		return 0;
	if (setup_rest(path, path_len, &rest, &len))
		return SETUP_BODY_MAX;
	if (!api_rest(path, path_len, &rest, &len))
		return 0;
	route_find(request_method(req), rest, len, &match);
	return match.route && match.route->body_max ? match.route->body_max : UNKNOWN_BODY_MAX;
}

bool admin_path_is_api(const char *path, size_t path_len)
{
	const char *rest;
	size_t len;

	return path_len <= PATH_MAX_LEN && api_rest(path, path_len, &rest, &len);
}

/* --- Refusals before a row's handler --- */

static struct reply *refuse(enum res res, const char *code, const char *field, const char *detail)
{
	struct problem problem = {0};

	problem_set(&problem, res, code, field, "%s", detail);
	return reply_problem(&problem);
}

static struct reply *refuse_method(const struct route_match *match)
{
	static const struct {
		enum http_method method;
		const char *words;
	} names[] = {
		{HTTP_GET,    "GET, HEAD"},
                {HTTP_POST,   "POST"     },
                {HTTP_PUT,    "PUT"      },
		{HTTP_PATCH,  "PATCH"    },
                {HTTP_DELETE, "DELETE"   },
	};
	struct reply *reply =
		refuse(RES_METHOD, "method_not_allowed", NULL,
		       "This path does not take that method; Allow names those it takes.");
	char allow[64] = "";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(match->methods & 1u << names[i].method))
			continue;
		if (*allow)
			strncat(allow, ", ", sizeof allow - strlen(allow) - 1);
		strncat(allow, names[i].words, sizeof allow - strlen(allow) - 1);
	}
	reply_header(reply, "Allow", allow);
	return reply;
}

static struct reply *take_rate(struct admin *admin, const struct request *req)
{
	struct problem problem = {0};
	uint8_t key[16];

	limiter_key_of_network(request_client(req), key);
	if (limiter_take(admin->limiter, key, &problem.retry_s))
		return NULL;
	problem_set(&problem, RES_LIMITED, "too_many_requests", NULL,
		    "More requests from this network than 30 a second.");
	return reply_problem(&problem);
}

/* --- Headers and body, as the row has them --- */

static bool route_reads(const struct route *route)
{
	return route->method == HTTP_GET;
}

static bool media_is_json(const char *type)
{
	size_t len = strlen("application/json");

	if (!type || strncasecmp(type, "application/json", len) != 0)
		return false;
	type += len;
	type += strspn(type, " \t");
	return *type == '\0' || *type == ';';
}

/* The version in an entity tag; -1 when no version of ours looks like that. */
static int64_t version_of(const char *text, size_t len)
{
	int64_t version;

	return num_i64(text, len, 1, INT64_MAX, &version) == RES_OK ? version : -1;
}

static bool read_if_match(struct call *call)
{
	bool twice = false;
	const char *text = request_header(call->req, "If-Match", &twice);
	size_t len = 0;

	if (!twice && (!text || strcmp(text, "*") == 0))
		return true;
	/* A proxy that compresses makes our tags weak; the version in them is the same. Shells eat
	 * quotes. */
	if (!twice && strncmp(text, "W/", 2) == 0)
		text += 2;
	len = twice ? 0 : strlen(text);
	if (len >= 2 && text[0] == '"' && strchr(text + 1, '"') == text + len - 1)
		call->if_match = version_of(text + 1, len - 2);
	else if (len && strspn(text, "0123456789") == len)
		call->if_match = version_of(text, len);
	else
		call_set(call, RES_MALFORMED, "bad_header", "If-Match",
			 "If-Match takes one entity tag, as ETag had it, or *.");
	return call->problem.res == RES_OK;
}

/* Whoever sends a key counts on it: a call that cannot keep one says so instead of being made
 * twice. */
static bool read_key(struct call *call, const struct route *route)
{
	bool twice = false, good = true;
	const char *key = request_header(call->req, "Idempotency-Key", &twice);

	if ((!key && !twice) || route_reads(route))
		return true;
	if (!(route->flags & ROUTE_KEY)) {
		call_set(call, RES_MALFORMED, "not_supported", "Idempotency-Key",
			 "This call does not keep an Idempotency-Key; send it without one.");
		return false;
	}
	for (const char *at = key; good && at && *at; at++)
		good = *at > ' ' && *at < 0x7f;
	if (!twice && good && *key && strlen(key) <= KEY_MAX) {
		call->idempotency_key = key;
		return true;
	}
	call_set(call, RES_MALFORMED, "bad_header", "Idempotency-Key",
		 "Idempotency-Key takes 1 to 128 printable ASCII characters without blanks, once.");
	return false;
}

/* Rows without parameters of their own take these two, where marked, and nothing else. */
static bool read_params(struct call *call, unsigned flags)
{
	const char *names[3] = {NULL};
	size_t n = 0;

	call->wait_ms = -1;
	if (flags & ROUTE_DRY)
		names[n++] = "dry_run";
	if (flags & ROUTE_WAIT)
		names[n++] = "wait_ms";
	if (!(flags & ROUTE_QUERY) && !call_params_only(call, names))
		return false;
	if ((flags & ROUTE_DRY) && !call_param_flag(call, "dry_run", &call->dry_run))
		return false;
	return !(flags & ROUTE_WAIT) ||
	       call_param_i64(call, "wait_ms", 0, CALL_WAIT_MS_MAX, -1, &call->wait_ms);
}

static void hash_request(struct call *call, const char *body, size_t len)
{
	struct hash_sha256_ctx *ctx = hash_sha256_new();
	const char *method = request_method_text(call->req), *query;
	size_t query_len;

	query = request_query(call->req, &query_len);
	hash_sha256_put_text(ctx, method, strlen(method));
	hash_sha256_put_text(ctx, call->path, strlen(call->path));
	hash_sha256_put_text(ctx, query, query_len);
	hash_sha256_put_text(ctx, body ? body : "", len);
	hash_sha256_end(ctx, call->request_hash);
}

/* `*doc` is the caller's to free, also after a refusal. */
static bool read_body(struct call *call, const struct route *route, struct json_doc **doc)
{
	size_t len = 0;
	char *body = request_body(call->req, &len);

	if (call->idempotency_key)
		hash_request(call, body, len);
	if (!body || len == 0) {
		if (route->flags & ROUTE_BODY)
			call_set(call, RES_MALFORMED, "body_missing", NULL,
				 "This call needs a JSON object as its body.");
		return !(route->flags & ROUTE_BODY);
	}
	if (route->body_max == 0) {
		call_set(call, RES_MALFORMED, "body_unexpected", NULL, "This call takes no body.");
		return false;
	}
	if (!media_is_json(request_header(call->req, "Content-Type", NULL))) {
		call_set(call, RES_MEDIA_TYPE, "media_type", "Content-Type",
			 "The body must be sent as application/json.");
		return false;
	}
	if (json_parse(body, len, doc, &call->problem) != RES_OK)
		return false;
	call->body = json_root(*doc);
	if (call->body->type == JSON_OBJECT)
		return true;
	call_set(call, RES_INVALID, "wrong_type", "body", "The body must be a JSON object.");
	return false;
}

/* --- Running a row --- */

static const char *id_copy(struct call *call, const struct route_match *match, size_t i)
{
	return match->ids[i] ? arena_dup(call->arena, match->ids[i], match->id_lens[i]) : NULL;
}

static bool find_actor(struct call *call, const struct pending *pending, struct actor *actor)
{
	const struct route *route = pending->match.route;
	enum res res = RES_OK;

	if (pending->control)
		auth_actor_control(actor);
	else
		res = auth_actor(pending->admin->auth, call->req, actor, &call->problem);
	if (res == RES_UNAUTHORIZED && (route->flags & ROUTE_OPEN)) {
		call->problem = (struct problem){0};
		return true;
	}
	if (res != RES_OK) {
		call_set(call, res, NULL, NULL, "Who is asking could not be found out.");
		return false;
	}
	if (route->right != RIGHT_NONE && !actor_may(actor, route->right)) {
		problem_set(&call->problem, RES_FORBIDDEN, "forbidden", NULL,
			    "This needs the right %s.", right_word(route->right));
		return false;
	}
	return route->method == HTTP_GET || !actor->cookie ||
	       auth_same_origin(pending->admin->auth, call->req, &call->problem) == RES_OK;
}

static struct reply *run_row(struct call *call, const struct pending *pending)
{
	const struct route *route = pending->match.route;
	struct json_doc *doc = NULL;
	struct reply *reply;

	call->id = id_copy(call, &pending->match, 0);
	call->id2 = id_copy(call, &pending->match, 1);
	if (pending->match.ids[0] && !call->id)
		return call_fail(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	if (!read_params(call, route->flags) ||
	    ((route->flags & ROUTE_MATCH) && !read_if_match(call)) || !read_key(call, route) ||
	    !read_body(call, route, &doc))
		reply = call_problem(call);
	else
		reply = route->handler(call);
	json_free(doc);
	return reply;
}

static void log_call(const struct call *call, const struct route *route, const struct reply *reply)
{
	int status = reply_status(reply);

	if (status >= 500)
		log_warn("admin_call_failed", "req=%08x method=%s route=%s status=%d code=%s",
			 request_id(call->req), request_method_text(call->req), route->pattern,
			 status, call->problem.code);
	else if (!route_reads(route))
		log_info("admin_call", "req=%08x method=%s route=%s status=%d actor=%s",
			 request_id(call->req), request_method_text(call->req), route->pattern,
			 status, call->actor->public_id.text);
}

static struct reply *run_call(void *ctx, struct request *req)
{
	struct pending *pending = ctx;
	struct actor actor = {0};
	struct call call = {.admin = pending->admin,
			    .req = req,
			    .arena = request_arena(req),
			    .actor = &actor,
			    .route = pending->match.route,
			    .path = pending->path};
	bool known = find_actor(&call, pending, &actor);
	struct reply *reply;

	/* A guessed token costs its network what any other request costs, and is no way around that
	 * cost where nobody need sign in. */
	reply = pending->token && actor.kind == ACTOR_NOBODY ? take_rate(pending->admin, req)
							     : NULL;
	if (!reply)
		reply = known ? run_row(&call, pending) : call_problem(&call);
	log_call(&call, pending->match.route, reply);
	return reply;
}

/* --- From the event thread --- */

struct setup_visit {
	struct admin *admin;
	const char *token;
	size_t token_len;
};

static struct reply *run_setup(void *ctx, struct request *req)
{
	struct setup_visit *visit = ctx;
	const struct admin_config *config = &visit->admin->config;
	enum res res = setup_page_live(visit->admin, visit->token, visit->token_len);

	if (res == RES_NOT_FOUND)
		return config->unknown ? config->unknown(config->ctx, req) : reply_empty(404);
	if (res != RES_OK)
		return refuse(res, "busy", NULL, "The link cannot be looked up now; try again.");
	if (request_method(req) != HTTP_POST)
		return setup_page_get();
	return setup_page_post(visit->admin, req, visit->token, visit->token_len);
}

/* On a worker, because the link is looked up in the store. */
static struct reply *serve_setup(struct admin *admin, struct request *req, const char *token,
				 size_t token_len)
{
	enum http_method method = request_method(req);
	struct setup_visit *visit;

	if (method != HTTP_GET && method != HTTP_HEAD && method != HTTP_POST)
		return NULL;
	visit = arena_alloc(request_arena(req), sizeof *visit);
	if (!visit)
		return refuse(RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	visit->admin = admin;
	visit->token = arena_dup(request_arena(req), token, token_len);
	visit->token_len = token_len;
	if (!visit->token)
		return refuse(RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	return http_workers_hand(admin->config.workers, req, run_setup, visit);
}

static struct reply *serve_api(struct admin *admin, struct request *req, const char *rest,
			       size_t len, bool control, bool token)
{
	struct pending *pending = arena_alloc(request_arena(req), sizeof *pending);
	char *path = arena_dup(request_arena(req), rest, len);

	if (!pending || !path)
		return refuse(RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	route_find(request_method(req), path, len, &pending->match);
	if (!pending->match.known ||
	    (pending->match.route && (pending->match.route->flags & ROUTE_CONTROL) && !control))
		return refuse(RES_NOT_FOUND, "not_found", NULL, "There is nothing at this path.");
	if (!pending->match.route)
		return refuse_method(&pending->match);
	pending->admin = admin;
	pending->path = path;
	pending->control = control;
	pending->token = token;
	/* Looking up a session may wait for a reader: not here. */
	if ((pending->match.route->flags & ROUTE_QUICK) && !control && !token &&
	    !request_header(req, "Cookie", NULL))
		return run_call(pending, req);
	return http_workers_hand(admin->config.workers, req, run_call, pending);
}

struct reply *admin_serve(struct admin *admin, struct request *req, const char *path,
			  size_t path_len, bool control)
{
	bool token = request_header(req, "Authorization", NULL) != NULL;
	bool api = admin_path_is_api(path, path_len), setup = false;
	const char *rest;
	struct reply *reply;
	size_t len;

	if (path_len <= PATH_MAX_LEN && !control)
		setup = setup_rest(path, path_len, &rest, &len);
	if (!api && !setup)
		return NULL;
	if (!control && !token && (reply = take_rate(admin, req)))
		return reply;
	if (setup)
		return serve_setup(admin, req, rest, len);
	api_rest(path, path_len, &rest, &len);
	return serve_api(admin, req, rest, len, control, token);
}
