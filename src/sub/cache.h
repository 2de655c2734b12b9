/* sub/cache.h – finished answers, kept for seconds and never a moment too long.
 *
 * Key: user and variant. An entry holds under the generations that stood when its render began: the
 * writer raises them after a commit and before it answers, so what an answered change made wrong is
 * not found any more. The first of equal misses renders, the others wait for it (for a bounded
 * time, then they render for themselves and keep nothing). Threads: any. */
#ifndef HYTHE_SUB_CACHE_H
#define HYTHE_SUB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/http/reply.h"
#include "hythe/util/clock.h"

/* All of a request that a renderer sees. */
struct sub_variant {
	uint8_t format, core_version, app_family, language, encoding;
};

#define CACHE_ETAG_SIZE 24

struct cache_answer {
	struct reply *reply;        /* a reference of the caller's own */
	char etag[CACHE_ETAG_SIZE]; /* "W/..." with its quotes */
};

/* What a renderer holds while it works. */
struct cache_ticket {
	int64_t user_id;
	struct sub_variant variant;
	uint64_t user_gen, global_gen;
	bool owner; /* others may be waiting for this one */
};

struct cache;
struct cache *cache_new(size_t max_bytes, const struct clock *clock); /* NULL: out of memory */
void cache_free(struct cache *cache);
void cache_set_max(struct cache *cache, size_t max_bytes);

/* True: `answer` is filled. False: render, and hand in the ticket with cache_done(). */
bool cache_find(struct cache *cache, int64_t user_id, struct sub_variant variant,
		struct cache_answer *answer, struct cache_ticket *ticket);
/* `answer` NULL: the render failed. The cache takes a reference of its own. `until_unix` is when a
 * shown figure changes by itself; 0: never. */
void cache_done(struct cache *cache, const struct cache_ticket *ticket,
		const struct cache_answer *answer, int64_t until_unix);

void cache_user_changed(struct cache *cache, int64_t user_id);
void cache_all_changed(struct cache *cache);

struct cache_counters {
	uint64_t hits, misses;
	size_t bytes, entries;
};
void cache_count(struct cache *cache, struct cache_counters *out);

#endif
