/* From a raw path to an answer: token, index, limit, format, cache, render. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "formats.h"
#include "hythe/http/limiter.h"
#include "hythe/store/users.h"
#include "hythe/sub/sub.h"
#include "hythe/util/hash.h"
#include "hythe/util/log.h"
#include "render.h"
#include "request_line.h"
#include "tokens.h"

/* A bucket pushed out was the fullest of its set: at 68 links fetched a second for a minute on end,
 * some lose the memory of one token. */
#define LINK_BUCKETS   4096
#define LINK_REFILL_MS 3600000u
#define LOAD_WAIT_MS   5000

/* Ready 429s: the wait is rounded up to the next of these. */
static const unsigned retry_steps_s[] = {1, 5, 15, 60, 300, 1800, 3600};
#define RETRY_STEPS (sizeof retry_steps_s / sizeof *retry_steps_s)

struct sub {
	struct sub_config config;
	struct tokens *tokens;
	struct cache *cache;
	struct server_lists *lists;
	struct limiter *links;
	pthread_mutex_t lock;                /* leaf */
	struct reply *too_many[RETRY_STEPS]; /* guarded by lock */
	_Atomic uint64_t refused, unknown;
};

/* --- Life --- */

static void take_settings(void *ctx, const struct settings *settings)
{
	struct sub *sub = ctx;

	limiter_set(sub->links, (uint32_t)settings->link_burst, LINK_REFILL_MS);
	cache_set_max(sub->cache, (size_t)settings->cache_max_bytes);
	/* Again, now that the new settings can be taken: a render may have begun between the commit
	 * and this with the old ones. */
	cache_all_changed(sub->cache);
}

static struct reply *too_many_new(const struct decoy *decoy, unsigned retry_s)
{
	const struct decoy_page *page = decoy ? decoy_429(decoy) : NULL;
	struct reply *reply;
	struct buf body;
	char text[16];

	if (page) { /* copied, so that a reloaded decoy may go while this is being sent */
		buf_init(&body, page->len + 1);
		buf_put(&body, page->body, page->len);
		reply = reply_body_take(429, "text/html; charset=utf-8", &body);
	} else {
		reply = reply_empty(429);
	}
	snprintf(text, sizeof text, "%u", retry_s);
	reply_header(reply, "Retry-After", text);
	return reply;
}

void sub_set_decoy(struct sub *sub, const struct decoy *decoy)
{
	for (size_t i = 0; i < RETRY_STEPS; i++) {
		struct reply *fresh = too_many_new(decoy, retry_steps_s[i]), *old;

		pthread_mutex_lock(&sub->lock);
		old = sub->too_many[i];
		sub->too_many[i] = fresh;
		pthread_mutex_unlock(&sub->lock);
		reply_unref(old);
	}
}

static enum res load_tokens(struct sub *sub, struct problem *problem)
{
	struct conn *conn;
	enum res res = store_read(sub->config.store, STORE_PUBLIC, LOAD_WAIT_MS, &conn);

	if (res == RES_OK) {
		res = tokens_load(sub->tokens, conn);
		store_read_end(conn);
	}
	if (res == RES_OK)
		return RES_OK;
	return problem_set(problem, res, "token_index", NULL,
			   "cannot read the subscription tokens: %s", res_text(res));
}

enum res sub_new(const struct sub_config *config, struct sub **out, struct problem *problem)
{
	struct sub *sub = calloc(1, sizeof *sub);
	struct settings_snapshot *snapshot;
	enum res res;

	*out = NULL;
	if (!sub || pthread_mutex_init(&sub->lock, NULL) != 0) {
		free(sub);
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	}
	sub->config = *config;
	sub->tokens = tokens_new();
	sub->cache = cache_new(0, config->clock);
	sub->lists = server_lists_new(config->clock);
	sub->links = limiter_new(LINK_BUCKETS, config->clock);
	if (!sub->tokens || !sub->cache || !sub->lists || !sub->links) {
		res = problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
		goto out;
	}
	snapshot = settings_take(config->settings);
	take_settings(sub, &snapshot->settings);
	settings_give(config->settings, snapshot);
	sub_set_decoy(sub, config->decoy);
	res = load_tokens(sub, problem);
out:
	if (res == RES_OK)
		*out = sub;
	else
		sub_free(sub);
	return res;
}

void sub_free(struct sub *sub)
{
	if (!sub)
		return;
	for (size_t i = 0; i < RETRY_STEPS; i++)
		reply_unref(sub->too_many[i]);
	tokens_free(sub->tokens);
	cache_free(sub->cache);
	server_lists_free(sub->lists);
	limiter_free(sub->links);
	pthread_mutex_destroy(&sub->lock);
	free(sub);
}

/* --- What a commit changed --- */

static void token_changed(struct sub *sub, const struct change *change)
{
	if (change->had_token)
		tokens_drop(sub->tokens, change->old_token);
	if (change->has_token && !tokens_put(sub->tokens, change->new_token, change->id))
		log_error("token_index_full", "user=%lld", (long long)change->id);
	cache_user_changed(sub->cache, change->id);
}

static void hear(void *ctx, const struct change *changes, size_t count)
{
	struct sub *sub = ctx;

	for (size_t i = 0; i < count; i++) {
		switch (changes[i].kind) {
		case CHANGE_USER:
			cache_user_changed(sub->cache, changes[i].id);
			break;
		case CHANGE_TOKEN:
			token_changed(sub, &changes[i]);
			break;
		case CHANGE_INBOUND:
		case CHANGE_ACCESS:
		case CHANGE_RENDER:
		case CHANGE_SETTING:
			cache_all_changed(sub->cache);
			break;
		}
	}
}

void sub_observe(struct sub *sub)
{
	store_observe(sub->config.store, hear, sub);
	settings_observe(sub->config.settings, take_settings, sub);
}

/* --- A request --- */

static struct reply *too_many(struct sub *sub, unsigned retry_s)
{
	struct reply *reply;
	size_t step = 0;

	while (step + 1 < RETRY_STEPS && retry_steps_s[step] < retry_s)
		step++;
	atomic_fetch_add_explicit(&sub->refused, 1, memory_order_relaxed);
	pthread_mutex_lock(&sub->lock);
	reply = reply_ref(sub->too_many[step]);
	pthread_mutex_unlock(&sub->lock);
	return reply;
}

static struct reply *busy(void)
{
	struct reply *reply = reply_empty(503);

	reply_header(reply, "Retry-After", "1");
	reply_header(reply, "Cache-Control", "private, no-store");
	return reply;
}

/* The answer belongs to us; what comes back is one reference for the caller. */
static struct reply *answer_for(struct request *req, struct cache_answer *answer)
{
	struct reply *reply = answer->reply;

	if (request_knows(req, answer->etag)) {
		reply = reply_not_modified(answer->reply);
		reply_unref(answer->reply);
	}
	return reply;
}

static struct reply *serve_user(struct sub *sub, struct request *req, int64_t user_id,
				struct sub_variant variant)
{
	struct cache_answer answer;
	struct cache_ticket ticket;
	struct sub_render render;
	enum res res;

	if (cache_find(sub->cache, user_id, variant, &answer, &ticket))
		return answer_for(req, &answer);
	res = sub_render(&sub->config, sub->lists, ticket.global_gen, user_id, variant, &render);
	cache_done(sub->cache, &ticket, res == RES_OK ? &render.answer : NULL, render.until_unix);
	if (res == RES_OK) {
		log_debug("sub_rendered", "req=%08x user=%lld format=%s", (unsigned)request_id(req),
			  (long long)user_id, sub_formats[variant.format].name);
		return answer_for(req, &render.answer);
	}
	if (res == RES_NOT_FOUND)
		return NULL;
	log_warn("sub_render_failed", "req=%08x user=%lld result=%s", (unsigned)request_id(req),
		 (long long)user_id, res_text(res));
	return busy();
}

/* The path's word, else ?format=, else the default. -1: a word that we do not know. */
static int choose_format(struct request *req, const struct sub_path *path)
{
	const char *word;
	bool bad;

	if (path->format_len > 0)
		return sub_format_find(path->format, path->format_len);
	word = request_param(req, "format", &bad);
	if (bad)
		return -1;
	return word ? sub_format_find(word, strlen(word)) : 0;
}

static bool is_fetch(const struct request *req)
{
	enum http_method method = request_method(req);

	return method == HTTP_GET || method == HTTP_HEAD;
}

/* The user whom the token names, or 0. Also what can be no link costs one hash and one search, of the
 * path's own last bytes: how long the decoy takes tells nobody that he has guessed the prefix. */
static int64_t find_user(struct sub *sub, const struct request *req, const char *rest,
			 size_t rest_len, struct sub_path *path, uint8_t hash[static SHA256_LEN])
{
	bool is_link = rest && is_fetch(req) && sub_path_parse(rest, rest_len, path);
	char token[LINK_TOKEN_LEN] = {0};
	size_t len, n;
	const char *text = is_link ? path->token : request_path(req, &len);
	int64_t user_id;

	if (is_link)
		len = LINK_TOKEN_LEN;
	n = len < LINK_TOKEN_LEN ? len : LINK_TOKEN_LEN;
	memcpy(token, text + len - n, n);
	hash_sha256(token, LINK_TOKEN_LEN, hash);
	user_id = tokens_find(sub->tokens, hash);
	return is_link ? user_id : 0;
}

struct reply *sub_serve(struct sub *sub, struct request *req, const char *rest, size_t rest_len)
{
	uint8_t hash[SHA256_LEN];
	struct sub_path path;
	unsigned retry_s;
	int format;
	int64_t user_id = find_user(sub, req, rest, rest_len, &path, hash);

	if (user_id == 0) {
		if (rest)
			atomic_fetch_add_explicit(&sub->unknown, 1, memory_order_relaxed);
		return NULL;
	}
	if (!limiter_take(sub->links, hash, &retry_s))
		return too_many(sub, retry_s);
	format = choose_format(req, &path);
	if (format < 0)
		return NULL;
	return serve_user(sub, req, user_id, (struct sub_variant){.format = (uint8_t)format});
}

/* --- For others --- */

void sub_count(struct sub *sub, struct sub_counters *out)
{
	struct cache_counters cache;

	cache_count(sub->cache, &cache);
	*out = (struct sub_counters){.hits = cache.hits,
				     .misses = cache.misses,
				     .refused = atomic_load(&sub->refused),
				     .unknown = atomic_load(&sub->unknown),
				     .cache_bytes = cache.bytes,
				     .cache_entries = cache.entries,
				     .tokens = tokens_count(sub->tokens)};
}

bool sub_link(const struct settings *settings, const char *token, struct buf *out)
{
	return buf_printf(out, "%s/%s/%s", settings->public_url, settings->sub_prefix, token);
}
