#include "auth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auth_internal.h"
#include "hythe/auth/session.h"
#include "hythe/auth/token.h"
#include "hythe/ops/settings.h"
#include "hythe/util/log.h"

#define SETS         32
#define WAYS         4
#define RATES        64
#define READ_WAIT_MS 250
#define SECOND_US    INT64_C(1000000)

/* One session or token as it was last read. */
struct resolved {
	uint8_t hash[SHA256_LEN];
	struct actor actor;     /* kind ACTOR_NOBODY: an empty place */
	int64_t last_seen_unix; /* sessions: of the last request */
	int64_t written_unix;   /* what the store has of that */
	int64_t expires_unix;   /* tokens: 0 never */
	int64_t rate_per_s;     /* tokens: 0 no limit */
};

/* When the next request of a token with a rate would be in time, if it came evenly. */
struct rate {
	int64_t token_id, due_us;
};

struct admin_auth {
	const struct ops *ops;
	const struct clock *clock;
	struct hasher *hasher;
	struct lockout *lockout;
	pthread_mutex_t lock;             /* leaf: nothing else is locked while it is held */
	uint64_t generation;              /* guarded by lock; rises when what was read may be old */
	struct resolved sets[SETS][WAYS]; /* guarded by lock */
	struct rate rates[RATES];         /* guarded by lock */
};

/* --- The module --- */

static void on_settings(void *ctx, const struct settings *settings)
{
	(void)settings;
	auth_forget(ctx);
}

enum res admin_auth_new(const struct ops *ops, const struct clock *clock,
			const struct hasher_cost *cost, struct admin_auth **out)
{
	struct admin_auth *auth = calloc(1, sizeof *auth);

	*out = NULL;
	if (!auth)
		return RES_NOMEM;
	pthread_mutex_init(&auth->lock, NULL);
	auth->ops = ops;
	auth->clock = clock;
	auth->lockout = lockout_new(clock);
	if (!auth->lockout || hasher_new(cost, &auth->hasher) != RES_OK) {
		admin_auth_free(auth);
		return RES_NOMEM;
	}
	settings_observe(ops->settings, on_settings, auth);
	*out = auth;
	return RES_OK;
}

void admin_auth_free(struct admin_auth *auth)
{
	if (!auth)
		return;
	hasher_free(auth->hasher);
	lockout_free(auth->lockout);
	pthread_mutex_destroy(&auth->lock);
	free(auth);
}

struct hasher *auth_hasher(struct admin_auth *auth)
{
	return auth->hasher;
}

struct lockout *auth_lockout(struct admin_auth *auth)
{
	return auth->lockout;
}

void auth_forget(struct admin_auth *auth)
{
	pthread_mutex_lock(&auth->lock);
	auth->generation++;
	memset(auth->sets, 0, sizeof auth->sets);
	pthread_mutex_unlock(&auth->lock);
}

/* --- The table; all called with the lock held --- */

static struct resolved *find(struct admin_auth *auth, const uint8_t hash[static SHA256_LEN])
{
	struct resolved *set = auth->sets[hash[0] % SETS];

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].actor.kind != ACTOR_NOBODY &&
		    secret_equal(set[i].hash, hash, SHA256_LEN))
			return &set[i];
	return NULL;
}

static void keep(struct admin_auth *auth, const struct resolved *resolved)
{
	struct resolved *set = auth->sets[resolved->hash[0] % SETS], *place = &set[0];

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].actor.kind == ACTOR_NOBODY) {
			place = &set[i];
			break;
		}
		if (set[i].last_seen_unix < place->last_seen_unix)
			place = &set[i];
	}
	*place = *resolved;
}

/* --- Last seen, last used: written behind the request, at most once a minute --- */

struct touch {
	enum actor_kind kind;
	int64_t id, now_unix;
};

static enum res touch_job(struct txn *txn, void *arg)
{
	const struct touch *touch = arg;

	if (touch->kind == ACTOR_TOKEN)
		return token_touch(txn_conn(txn), touch->id, touch->now_unix);
	return session_touch(txn_conn(txn), touch->id, touch->now_unix);
}

static void touch_done(void *arg, enum res res, int64_t revision)
{
	(void)revision;
	if (res != RES_OK)
		log_warn("last_seen_not_written", "result=%s", res_text(res));
	free(arg);
}

/* Losing one costs a minute of exactness. */
static void touch_later(struct admin_auth *auth, const struct actor *actor, int64_t now_unix)
{
	struct touch *touch = malloc(sizeof *touch);

	if (!touch)
		return;
	*touch = (struct touch){
		.kind = actor->kind,
		.id = actor->kind == ACTOR_TOKEN ? actor->token_id : actor->session_id,
		.now_unix = now_unix,
	};
	if (store_submit(auth->ops->store, STORE_FROM_ADMIN, touch_job, touch_done, touch) !=
	    RES_OK)
		free(touch);
}

/* --- Resolving --- */

static enum res read_session(struct conn *conn, struct resolved *out)
{
	struct session_found found;
	enum res res = session_by_token(conn, out->hash, &found);

	if (res != RES_OK)
		return res;
	out->last_seen_unix = found.last_seen_unix;
	out->written_unix = found.last_seen_unix;
	out->expires_unix = found.expires_unix;
	return session_actor(&found, &out->actor) ? RES_OK : RES_NOT_FOUND;
}

static enum res read_token(struct conn *conn, struct resolved *out)
{
	struct token_found found;
	enum res res = token_by_hash(conn, out->hash, &found);

	if (res != RES_OK)
		return res;
	out->last_seen_unix = found.last_used_unix;
	out->written_unix = found.last_used_unix;
	out->expires_unix = found.expires_unix;
	out->rate_per_s = found.rate_per_s;
	return token_actor(&found, &out->actor) ? RES_OK : RES_NOT_FOUND;
}

static bool alive(const struct resolved *resolved, int64_t now_unix)
{
	if (resolved->actor.kind == ACTOR_TOKEN)
		return token_alive(resolved->expires_unix, now_unix);
	return session_alive(resolved->last_seen_unix, resolved->expires_unix, now_unix);
}

/* Reads it from the store. `generation` was taken before: what changed since then is not kept. */
static enum res resolve_slowly(struct admin_auth *auth, enum actor_kind kind, uint64_t generation,
			       struct resolved *out)
{
	struct conn *conn;
	enum res res = store_read(auth->ops->store, STORE_ADMIN, READ_WAIT_MS, &conn);

	if (res != RES_OK)
		return res;
	res = kind == ACTOR_TOKEN ? read_token(conn, out) : read_session(conn, out);
	store_read_end(conn);
	if (res != RES_OK)
		return res;
	pthread_mutex_lock(&auth->lock);
	if (auth->generation == generation && !find(auth, out->hash))
		keep(auth, out);
	pthread_mutex_unlock(&auth->lock);
	return RES_OK;
}

/* Marks the request as the latest; true: the store is to hear of it. */
static bool mark_seen(struct admin_auth *auth, const struct resolved *resolved, int64_t now_unix)
{
	struct resolved *kept;
	bool tell = now_unix - resolved->written_unix >= SESSION_TOUCH_S;

	pthread_mutex_lock(&auth->lock);
	if ((kept = find(auth, resolved->hash)) != NULL) {
		tell = now_unix - kept->written_unix >= SESSION_TOUCH_S;
		if (kept->last_seen_unix < now_unix)
			kept->last_seen_unix = now_unix;
		if (tell)
			kept->written_unix = now_unix;
	}
	pthread_mutex_unlock(&auth->lock);
	return tell;
}

static enum res resolve(struct admin_auth *auth, enum actor_kind kind,
			const uint8_t hash[static SHA256_LEN], struct resolved *out)
{
	int64_t now_unix = clock_unix(auth->clock);
	struct resolved *kept;
	uint64_t generation;
	enum res res = RES_OK;

	*out = (struct resolved){0};
	memcpy(out->hash, hash, SHA256_LEN);
	pthread_mutex_lock(&auth->lock);
	generation = auth->generation;
	if ((kept = find(auth, hash)) != NULL)
		*out = *kept;
	pthread_mutex_unlock(&auth->lock);
	if (out->actor.kind != kind)
		res = resolve_slowly(auth, kind, generation, out);
	if (res != RES_OK)
		return res;
	if (!alive(out, now_unix))
		return RES_NOT_FOUND;
	if (mark_seen(auth, out, now_unix))
		touch_later(auth, &out->actor, now_unix);
	return RES_OK;
}

/* --- A token's own rate --- */

/* The token's row, else the one that has been idle longest. */
static struct rate *rate_of(struct admin_auth *auth, int64_t token_id)
{
	struct rate *idlest = &auth->rates[0];

	for (size_t i = 0; i < RATES; i++) {
		if (auth->rates[i].token_id == token_id)
			return &auth->rates[i];
		if (auth->rates[i].due_us < idlest->due_us)
			idlest = &auth->rates[i];
	}
	*idlest = (struct rate){.token_id = token_id};
	return idlest;
}

/* `rate_per_s` requests a second, and as many at once after a second's rest. */
static bool rate_take(struct admin_auth *auth, int64_t token_id, int64_t rate_per_s)
{
	int64_t now_us = clock_mono_ms(auth->clock) * 1000;
	struct rate *rate;
	bool taken;

	pthread_mutex_lock(&auth->lock);
	rate = rate_of(auth, token_id);
	if (rate->due_us < now_us)
		rate->due_us = now_us;
	taken = rate->due_us - now_us <= SECOND_US - SECOND_US / rate_per_s;
	if (taken)
		rate->due_us += SECOND_US / rate_per_s;
	pthread_mutex_unlock(&auth->lock);
	return taken;
}

/* --- Who is asking --- */

static enum res bearer_actor(struct admin_auth *auth, const char *header, struct actor *out,
			     struct problem *problem)
{
	struct token_secret secret;
	struct resolved resolved;
	enum res res = RES_NOT_FOUND;

	if (header && token_of_authorization(header, &secret))
		res = resolve(auth, ACTOR_TOKEN, secret.hash, &resolved);
	explicit_bzero(&secret, sizeof secret);
	if (res == RES_NOT_FOUND)
		return problem_set(
			problem, RES_UNAUTHORIZED, "bad_token", "Authorization",
			"This token is unknown, ended or not given as \"Bearer hyt_...\".");
	if (res != RES_OK)
		return res;
	if (resolved.rate_per_s > 0 &&
	    !rate_take(auth, resolved.actor.token_id, resolved.rate_per_s))
		return problem_set(problem, RES_LIMITED, "rate_limited", NULL,
				   "This token may make %d requests a second.",
				   (int)resolved.rate_per_s);
	*out = resolved.actor;
	return RES_OK;
}

static enum res cookie_actor(struct admin_auth *auth, const char *header, struct actor *out,
			     struct problem *problem)
{
	struct settings_snapshot *snapshot = settings_take(auth->ops->settings);
	const char *name = session_cookie_name(snapshot->settings.public_url);
	struct session_secret secret;
	struct resolved resolved;
	enum res res = RES_NOT_FOUND;
	bool found = name && session_cookie_find(header, name, &secret);

	settings_give(auth->ops->settings, snapshot);
	if (!found)
		return problem_set(problem, RES_UNAUTHORIZED, "not_signed_in", NULL,
				   "Sign in, or send a token.");
	res = resolve(auth, ACTOR_ADMIN, secret.hash, &resolved);
	explicit_bzero(&secret, sizeof secret);
	if (res == RES_NOT_FOUND)
		return problem_set(problem, RES_UNAUTHORIZED, "session_ended", NULL,
				   "This session has ended; sign in again.");
	if (res == RES_OK)
		*out = resolved.actor;
	return res;
}

enum res auth_actor(struct admin_auth *auth, struct request *req, struct actor *out,
		    struct problem *problem)
{
	const struct addr *address = request_client(req);
	bool twice = false;
	const char *header = request_header(req, "Authorization", &twice);
	enum res res;

	*out = (struct actor){0};
	if (header || twice)
		res = bearer_actor(auth, header, out, problem);
	else if ((header = request_header(req, "Cookie", NULL)) != NULL)
		res = cookie_actor(auth, header, out, problem);
	else
		res = problem_set(problem, RES_UNAUTHORIZED, "not_signed_in", NULL,
				  "Sign in, or send a token.");
	if (address)
		out->address = *address;
	return res;
}

void auth_actor_control(struct actor *out)
{
	*out = (struct actor){.kind = ACTOR_CONTROL,
			      .public_id = {"control"},
			      .rights = RIGHTS_ALL,
			      .role = ROLE_OWNER};
}

/* --- Same origin --- */

static bool text_is(const char *text, size_t len, const char *other, size_t other_len)
{
	return len == other_len && strncasecmp(text, other, len) == 0;
}

/* The page's origin is that of the public URL, or the host that this very request went to (the
 * admin may have a listener of its own). A page of another site can make neither true. */
static bool origin_is_ours(struct admin_auth *auth, const struct request *req, const char *origin)
{
	struct settings_snapshot *snapshot = settings_take(auth->ops->settings);
	const char *url = snapshot->settings.public_url, *host = request_header(req, "Host", NULL);
	const char *at = strstr(origin, "://");
	bool ours = text_is(origin, strlen(origin), url, settings_origin_len(url));

	if (!ours && at && host)
		ours = text_is(at + 3, strlen(at + 3), host, strlen(host));
	settings_give(auth->ops->settings, snapshot);
	return ours;
}

static enum res cross_origin(struct problem *problem, const char *field)
{
	return problem_set(problem, RES_FORBIDDEN, "cross_origin", field,
			   "With a cookie only the panel's own pages may change something; scripts "
			   "use a token.");
}

enum res auth_same_origin(struct admin_auth *auth, const struct request *req,
			  struct problem *problem)
{
	bool twice_site = false, twice_origin = false;
	const char *site = request_header(req, "Sec-Fetch-Site", &twice_site);
	const char *origin = request_header(req, "Origin", &twice_origin);

	if (twice_site || (site && strcmp(site, "same-origin") != 0))
		return cross_origin(problem, "Sec-Fetch-Site");
	if (twice_origin || (origin && !origin_is_ours(auth, req, origin)))
		return cross_origin(problem, "Origin");
	return site || origin ? RES_OK : cross_origin(problem, "Origin");
}

enum res auth_not_cross_origin(struct admin_auth *auth, const struct request *req,
			       struct problem *problem)
{
	bool twice_site = false, twice_origin = false;

	if (!request_header(req, "Sec-Fetch-Site", &twice_site) && !twice_site &&
	    !request_header(req, "Origin", &twice_origin) && !twice_origin)
		return RES_OK;
	return auth_same_origin(auth, req, problem);
}
