#include "cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP_MS     10000
#define WAIT_MS     250
#define BUCKETS     1024
#define GENERATIONS 4096 /* users share counters: a wrong guess costs one render */
/* What an entry weighs beside its body: itself, the library's response and its dozen headers. */
#define ENTRY_OVERHEAD 2048

struct entry {
	int64_t user_id;
	struct sub_variant variant;
	bool rendering;
	uint64_t user_gen, global_gen;
	int64_t until_ms;   /* monotonic */
	int64_t until_unix; /* 0: none */
	size_t bytes;
	struct cache_answer answer;
	struct entry *same_bucket;
	struct entry *older, *newer;
};

struct cache {
	const struct clock *clock;
	_Atomic uint64_t global_gen;
	_Atomic uint64_t user_gens[GENERATIONS];
	_Atomic uint64_t hits, misses;
	pthread_mutex_t lock; /* leaf; guards what follows */
	pthread_cond_t done;  /* a render has ended */
	size_t bytes, max_bytes, entries;
	struct entry *oldest, *newest;
	struct entry *buckets[BUCKETS];
};

struct cache *cache_new(size_t max_bytes, const struct clock *clock)
{
	struct cache *cache = calloc(1, sizeof *cache);
	pthread_condattr_t monotonic;

	if (!cache)
		return NULL;
	cache->clock = clock;
	cache->max_bytes = max_bytes;
	pthread_mutex_init(&cache->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&cache->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return cache;
}

static struct entry **bucket_of(struct cache *cache, int64_t user_id)
{
	return &cache->buckets[((uint64_t)user_id * 0x9e3779b97f4a7c15u) >> 54];
}

_Static_assert(BUCKETS == 1 << 10, "bucket_of() keeps the upper ten bits");

static _Atomic uint64_t *user_gen_of(struct cache *cache, int64_t user_id)
{
	return &cache->user_gens[(uint64_t)user_id % GENERATIONS];
}

/* --- Entries: all under the lock --- */

static bool variant_equal(struct sub_variant a, struct sub_variant b)
{
	return a.format == b.format && a.core_version == b.core_version &&
	       a.app_family == b.app_family && a.language == b.language && a.encoding == b.encoding;
}

static struct entry *entry_find(struct cache *cache, int64_t user_id, struct sub_variant variant)
{
	struct entry *entry = *bucket_of(cache, user_id);

	while (entry && (entry->user_id != user_id || !variant_equal(entry->variant, variant)))
		entry = entry->same_bucket;
	return entry;
}

static struct entry *entry_add(struct cache *cache, int64_t user_id, struct sub_variant variant)
{
	struct entry **bucket = bucket_of(cache, user_id);
	struct entry *entry = calloc(1, sizeof *entry);

	if (!entry)
		return NULL;
	entry->user_id = user_id;
	entry->variant = variant;
	entry->same_bucket = *bucket;
	*bucket = entry;
	entry->older = cache->newest;
	*(entry->older ? &entry->older->newer : &cache->oldest) = entry;
	cache->newest = entry;
	entry->bytes = sizeof *entry;
	cache->bytes += entry->bytes;
	cache->entries++;
	return entry;
}

static void entry_drop(struct cache *cache, struct entry *entry)
{
	struct entry **at = bucket_of(cache, entry->user_id);

	while (*at != entry)
		at = &(*at)->same_bucket;
	*at = entry->same_bucket;
	*(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
	cache->bytes -= entry->bytes;
	cache->entries--;
	reply_unref(entry->answer.reply);
	free(entry);
}

static bool entry_holds(struct cache *cache, const struct entry *entry)
{
	return entry->user_gen == atomic_load(user_gen_of(cache, entry->user_id)) &&
	       entry->global_gen == atomic_load(&cache->global_gen) &&
	       clock_mono_ms(cache->clock) < entry->until_ms &&
	       (entry->until_unix == 0 || clock_unix(cache->clock) < entry->until_unix);
}

/* The oldest go until the rest fits, and whatever has had its time. A render under way stays:
 * somebody will come to fill it in. */
static void make_room(struct cache *cache, const struct entry *keep)
{
	int64_t now_ms = clock_mono_ms(cache->clock);
	struct entry *entry = cache->oldest, *newer;

	for (; entry; entry = newer) {
		newer = entry->newer;
		if (cache->bytes <= cache->max_bytes && now_ms < entry->until_ms)
			break;
		if (!entry->rendering && entry != keep)
			entry_drop(cache, entry);
	}
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	while (cache->oldest)
		entry_drop(cache, cache->oldest);
	pthread_mutex_destroy(&cache->lock);
	pthread_cond_destroy(&cache->done);
	free(cache);
}

void cache_set_max(struct cache *cache, size_t max_bytes)
{
	pthread_mutex_lock(&cache->lock);
	cache->max_bytes = max_bytes;
	make_room(cache, NULL);
	pthread_mutex_unlock(&cache->lock);
}

/* --- Finding and filling --- */

static void answer_copy(const struct cache_answer *from, struct cache_answer *to)
{
	*to = *from;
	reply_ref(to->reply);
}

/* Waits while somebody else renders the same; the entry may be another one, or gone, afterwards. */
static struct entry *wait_for(struct cache *cache, int64_t user_id, struct sub_variant variant)
{
	struct timespec end = clock_wait_end(WAIT_MS);
	struct entry *entry;

	while ((entry = entry_find(cache, user_id, variant)) && entry->rendering)
		if (pthread_cond_timedwait(&cache->done, &cache->lock, &end) == ETIMEDOUT)
			break;
	return entry_find(cache, user_id, variant);
}

bool cache_find(struct cache *cache, int64_t user_id, struct sub_variant variant,
		struct cache_answer *answer, struct cache_ticket *ticket)
{
	struct entry *entry;
	bool found;

	pthread_mutex_lock(&cache->lock);
	entry = entry_find(cache, user_id, variant);
	if (entry && entry->rendering)
		entry = wait_for(cache, user_id, variant);
	/* What was rendered while we waited may have begun before a change that our caller knows
	 * of: it must hold now like any other. */
	found = entry && !entry->rendering && entry_holds(cache, entry);
	if (found) {
		answer_copy(&entry->answer, answer);
		pthread_mutex_unlock(&cache->lock);
		atomic_fetch_add_explicit(&cache->hits, 1, memory_order_relaxed);
		return true;
	}
	/* The generations are read before the renderer opens its read transaction. */
	*ticket = (struct cache_ticket){.user_id = user_id,
					.variant = variant,
					.user_gen = atomic_load(user_gen_of(cache, user_id)),
					.global_gen = atomic_load(&cache->global_gen)};
	if (entry && !entry->rendering)
		entry_drop(cache, entry);
	if (!entry_find(cache, user_id, variant)) { /* else somebody slow is still at it */
		entry = entry_add(cache, user_id, variant);
		ticket->owner = entry != NULL;
		if (entry)
			entry->rendering = true;
	}
	pthread_mutex_unlock(&cache->lock);
	atomic_fetch_add_explicit(&cache->misses, 1, memory_order_relaxed);
	return false;
}

static void entry_fill(struct cache *cache, struct entry *entry, const struct cache_ticket *ticket,
		       const struct cache_answer *answer, int64_t until_unix)
{
	size_t body;

	reply_body(answer->reply, &body);
	entry->rendering = false;
	entry->user_gen = ticket->user_gen;
	entry->global_gen = ticket->global_gen;
	entry->until_ms = clock_mono_ms(cache->clock) + KEEP_MS;
	entry->until_unix = until_unix;
	cache->bytes += body + ENTRY_OVERHEAD - entry->bytes;
	entry->bytes = body + ENTRY_OVERHEAD;
	answer_copy(answer, &entry->answer);
	make_room(cache, entry);
	/* Overtaken by a change, or larger than all the room there is. */
	if (!entry_holds(cache, entry) || cache->bytes > cache->max_bytes)
		entry_drop(cache, entry);
}

void cache_done(struct cache *cache, const struct cache_ticket *ticket,
		const struct cache_answer *answer, int64_t until_unix)
{
	struct entry *entry;

	if (!ticket->owner)
		return;
	pthread_mutex_lock(&cache->lock);
	entry = entry_find(cache, ticket->user_id, ticket->variant);
	if (answer)
		entry_fill(cache, entry, ticket, answer, until_unix);
	else
		entry_drop(cache, entry);
	pthread_cond_broadcast(&cache->done);
	pthread_mutex_unlock(&cache->lock);
}

void cache_user_changed(struct cache *cache, int64_t user_id)
{
	atomic_fetch_add(user_gen_of(cache, user_id), 1);
}

void cache_all_changed(struct cache *cache)
{
	atomic_fetch_add(&cache->global_gen, 1);
}

void cache_count(struct cache *cache, struct cache_counters *out)
{
	out->hits = atomic_load(&cache->hits);
	out->misses = atomic_load(&cache->misses);
	pthread_mutex_lock(&cache->lock);
	out->bytes = cache->bytes;
	out->entries = cache->entries;
	pthread_mutex_unlock(&cache->lock);
}
