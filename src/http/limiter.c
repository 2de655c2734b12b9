#include "hythe/http/limiter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/hash.h"

#define WAYS   8  /* buckets a set: a key may stand in any of its set */
#define SHARDS 32 /* locks */

/* A bucket is one moment: when it will be full again. Every token taken moves it by the time that
 * one token needs; no token is left when it lies a whole refill ahead. A moment that has passed is
 * a full bucket, and equal to none at all, so the idlest can go without anybody noticing. */
struct bucket {
	uint8_t key[16];
	int64_t full_us;
};

struct limiter {
	const struct clock *clock;
	_Atomic uint64_t limit; /* burst << 32 | refill_ms; changes only with every lock held */
	uint64_t seed;
	size_t sets; /* a power of two */
	struct bucket *buckets;
	/* Lock i guards the sets with set % SHARDS == i; leaf (limiter_set takes all, in order). */
	pthread_mutex_t locks[SHARDS];
};

struct limiter *limiter_new(size_t buckets, const struct clock *clock)
{
	struct limiter *limiter = calloc(1, sizeof *limiter);
	size_t sets = 1;

	while (sets * WAYS < buckets)
		sets *= 2;
	if (limiter)
		limiter->buckets = calloc(sets * WAYS, sizeof *limiter->buckets);
	if (!limiter || !limiter->buckets) {
		free(limiter);
		return NULL;
	}
	limiter->clock = clock;
	limiter->sets = sets;
	random_bytes(&limiter->seed, sizeof limiter->seed);
	for (size_t i = 0; i < SHARDS; i++)
		pthread_mutex_init(&limiter->locks[i], NULL);
	return limiter;
}

void limiter_free(struct limiter *limiter)
{
	if (!limiter)
		return;
	for (size_t i = 0; i < SHARDS; i++)
		pthread_mutex_destroy(&limiter->locks[i]);
	free(limiter->buckets);
	free(limiter);
}

/* Seeded, so that nobody can choose keys that push each other out. */
static size_t set_of(const struct limiter *limiter, const uint8_t key[16])
{
	uint64_t half[2], h;

	memcpy(half, key, sizeof half);
	h = (half[0] ^ limiter->seed) * 0x9e3779b97f4a7c15u;
	h = (h ^ (h >> 29) ^ half[1]) * 0xbf58476d1ce4e5b9u;
	h = (h ^ (h >> 32)) * 0x94d049bb133111ebu;
	return (size_t)(h >> 33) & (limiter->sets - 1);
}

static struct bucket *find(struct bucket *set, const uint8_t key[16])
{
	for (size_t i = 0; i < WAYS; i++)
		if (memcmp(set[i].key, key, sizeof set[i].key) == 0)
			return &set[i];
	return NULL;
}

static struct bucket *find_or_make(struct bucket *set, const uint8_t key[16])
{
	struct bucket *bucket = find(set, key);

	if (bucket)
		return bucket;
	bucket = set;
	for (size_t i = 1; i < WAYS; i++)
		if (set[i].full_us < bucket->full_us)
			bucket = &set[i];
	memcpy(bucket->key, key, sizeof bucket->key);
	bucket->full_us = 0;
	return bucket;
}

/* --- The limit in force --- */

struct limit {
	int64_t burst, refill_us, token_us, now_us;
};

static bool limit_now(const struct limiter *limiter, struct limit *out)
{
	uint64_t limit = atomic_load_explicit(&limiter->limit, memory_order_relaxed);

	out->burst = (int64_t)(limit >> 32);
	if (out->burst == 0)
		return false;
	out->refill_us = (int64_t)(limit & UINT32_MAX) * 1000;
	out->token_us = out->refill_us / out->burst;
	out->now_us = clock_mono_ms(limiter->clock) * 1000;
	return true;
}

/* Whoever had taken n tokens has taken n of the new ones: a raised limit helps at once, and a
 * lowered one leaves nobody waiting for longer than it takes to fill a bucket. */
static void rescale(struct bucket *bucket, const struct limit *was, const struct limit *is)
{
	int64_t ahead_us = bucket->full_us - was->now_us, taken;

	if (ahead_us <= 0 || was->token_us == 0) {
		bucket->full_us = 0;
		return;
	}
	taken = (ahead_us + was->token_us - 1) / was->token_us;
	if (taken > is->burst)
		taken = is->burst;
	bucket->full_us = is->now_us + taken * is->token_us;
}

void limiter_set(struct limiter *limiter, uint32_t burst, uint32_t refill_ms)
{
	uint64_t fresh = (uint64_t)burst << 32 | refill_ms;
	struct limit was = {0}, is = {0};

	if (fresh == atomic_load_explicit(&limiter->limit, memory_order_relaxed))
		return;
	for (size_t i = 0; i < SHARDS; i++)
		pthread_mutex_lock(&limiter->locks[i]);
	limit_now(limiter, &was);
	atomic_store_explicit(&limiter->limit, fresh, memory_order_relaxed);
	limit_now(limiter, &is);
	for (size_t i = 0; i < limiter->sets * WAYS; i++)
		rescale(&limiter->buckets[i], &was, &is);
	for (size_t i = 0; i < SHARDS; i++)
		pthread_mutex_unlock(&limiter->locks[i]);
}

/* --- Taking --- */

/* How long until a token is there; 0 or less: now. */
static int64_t wait_us(const struct limit *limit, int64_t full_us)
{
	int64_t from = full_us > limit->now_us ? full_us : limit->now_us;

	return from + limit->token_us - limit->now_us - limit->token_us * limit->burst;
}

bool limiter_take(struct limiter *limiter, const uint8_t key[16], unsigned *retry_s)
{
	size_t set = set_of(limiter, key);
	pthread_mutex_t *lock = &limiter->locks[set % SHARDS];
	struct bucket *bucket;
	struct limit limit;
	int64_t wait;

	pthread_mutex_lock(lock);
	if (!limit_now(limiter, &limit)) {
		pthread_mutex_unlock(lock);
		return true;
	}
	bucket = find_or_make(limiter->buckets + set * WAYS, key);
	wait = wait_us(&limit, bucket->full_us);
	if (wait <= 0) {
		if (bucket->full_us < limit.now_us)
			bucket->full_us = limit.now_us;
		bucket->full_us += limit.token_us;
	}
	pthread_mutex_unlock(lock);
	if (wait > 0 && retry_s)
		*retry_s = (unsigned)((wait + 999999) / 1000000);
	return wait <= 0;
}

bool limiter_look(struct limiter *limiter, const uint8_t key[16])
{
	size_t set = set_of(limiter, key);
	pthread_mutex_t *lock = &limiter->locks[set % SHARDS];
	const struct bucket *bucket;
	struct limit limit;
	bool ok;

	pthread_mutex_lock(lock);
	bucket = find(limiter->buckets + set * WAYS, key);
	ok = !limit_now(limiter, &limit) || !bucket || wait_us(&limit, bucket->full_us) <= 0;
	pthread_mutex_unlock(lock);
	return ok;
}

void limiter_key_of_network(const struct addr *addr, uint8_t key[16])
{
	struct addr network = addr_network(addr, 32, 64);

	memset(key, 0, 16);
	if (addr->family == 4) {
		memcpy(key, network.bytes, 4);
		key[15] = 4; /* apart from every IPv6 network, whose last eight bytes are 0 */
	} else {
		memcpy(key, network.bytes, 16);
	}
}
