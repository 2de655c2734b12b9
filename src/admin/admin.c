/* admin/admin.c – from a request under the admin prefix to its handler, and back.
 *
 * On the event thread: which row, how much body, the network's rate. On a worker: who asks, his
 * right, same origin, headers, the body. What a row asks for is checked here and nowhere else, so a
 * handler sees only calls that it may answer. */
#include "hythe/admin/admin.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auth.h"
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
#define UNKNOWN_BODY_MAX ((size_t)64 << 10) /* read through, so that a 404 can say what is wrong   \
					     */
#define RATE_BURST     200
#define RATE_REFILL_MS 6667 /* all 200: 30 a second */
#define RATE_BUCKETS   4096
#define PATH_MAX_LEN   512
#define KEY_MAX        128

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
	admin->jobs = jobs_new();
	if (!admin->limiter || !admin->order || !admin->overview || !admin->jobs)
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
	if (setup_rest(path, path_len, &rest, &len))
		return SETUP_BODY_MAX;
	if (!api_rest(path, path_len, &rest, &len))
		return 0;
	route_find(request_method(req), rest, len, &match);
	return match.route && match.route->body_max ? match.route->body_max : UNKNOWN_BODY_MAX;
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
		{HTTP_DELETE, "DELETE"   }
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
	uint8_t key[16];
	unsigned retry_s;

	limiter_key_of_network(request_client(req), key);
	if (limiter_take(admin->limiter, key, &retry_s))
		return NULL;
	return refuse(RES_LIMITED, "too_many_requests", NULL,
		      "More requests from this network than 30 a second.");
}

/* --- Headers and body, as the row has them --- */

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

static bool read_key(struct call *call)
{
	bool twice = false, good = true;
	const char *key = request_header(call->req, "Idempotency-Key", &twice);

	if (!key && !twice)
		return true;
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

static bool route_reads(const struct route *route)
{
	return route->method == HTTP_GET;
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
	    ((route->flags & ROUTE_MATCH) && !read_if_match(call)) ||
	    ((route->flags & ROUTE_KEY) && !read_key(call)) || !read_body(call, route, &doc))
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
	struct reply *reply;

	if (!find_actor(&call, pending, &actor)) {
		/* A guessed token costs its network what any other request costs. */
		reply = pending->token ? take_rate(pending->admin, req) : NULL;
		if (!reply)
			reply = call_problem(&call);
	} else {
		reply = run_row(&call, pending);
	}
	log_call(&call, pending->match.route, reply);
	return reply;
}

/* --- From the event thread --- */

struct setup_post {
	struct admin *admin;
	const char *token;
	size_t token_len;
};

static struct reply *run_setup_post(void *ctx, struct request *req)
{
	struct setup_post *post = ctx;

	return setup_page_post(post->admin, req, post->token, post->token_len);
}

static struct reply *serve_setup(struct admin *admin, struct request *req, const char *token,
				 size_t token_len)
{
	enum http_method method = request_method(req);
	struct setup_post *post;

	if (!setup_page_live(admin, token, token_len))
		return NULL;
	if (method == HTTP_GET || method == HTTP_HEAD)
		return setup_page_get(admin, req);
	if (method != HTTP_POST)
		return NULL;
	post = arena_alloc(request_arena(req), sizeof *post);
	if (!post)
		return refuse(RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	post->admin = admin;
	post->token = arena_dup(request_arena(req), token, token_len);
	post->token_len = token_len;
	if (!post->token)
		return refuse(RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	return http_workers_hand(admin->config.workers, req, run_setup_post, post);
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
	const char *rest;
	struct reply *reply;
	size_t len;

	if (path_len > PATH_MAX_LEN)
		return NULL;
	if (!control && !token && (reply = take_rate(admin, req)))
		return reply;
	if (!control && setup_rest(path, path_len, &rest, &len))
		return serve_setup(admin, req, rest, len);
	if (!api_rest(path, path_len, &rest, &len))
		return NULL;
	return serve_api(admin, req, rest, len, control, token);
}
