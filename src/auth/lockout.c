#include "hythe/auth/lockout.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/hash.h"

#define SETS 128
#define WAYS 4

struct entry {
	uint8_t key[16];
	int64_t until_ms; /* end of the window, monotonic; 0: empty */
	unsigned count;
};

struct lockout {
	pthread_mutex_t lock;          /* leaf: nothing else is locked while it is held */
	struct entry sets[SETS][WAYS]; /* guarded by lock */
	uint8_t salt[16]; /* only read: which names share a set is nobody's to choose */
	const struct clock *clock;
};

struct lockout *lockout_new(const struct clock *clock)
{
	struct lockout *lockout = calloc(1, sizeof *lockout);

	if (!lockout)
		return NULL;
	pthread_mutex_init(&lockout->lock, NULL);
	random_bytes(lockout->salt, sizeof lockout->salt);
	lockout->clock = clock;
	return lockout;
}

void lockout_free(struct lockout *lockout)
{
	if (!lockout)
		return;
	pthread_mutex_destroy(&lockout->lock);
	free(lockout);
}

static void key_of(const struct lockout *lockout, char kind, const void *text, size_t len,
		   uint8_t key[SHA256_LEN])
{
	struct hash_sha256_ctx *ctx = hash_sha256_new();

	hash_sha256_put(ctx, lockout->salt, sizeof lockout->salt);
	hash_sha256_put(ctx, &kind, 1);
	hash_sha256_put_text(ctx, text, len);
	hash_sha256_end(ctx, key);
}

static struct entry *find(struct lockout *lockout, const uint8_t key[SHA256_LEN])
{
	struct entry *set = lockout->sets[key[31] % SETS];

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].until_ms && memcmp(set[i].key, key, sizeof set[i].key) == 0)
			return &set[i];
	return NULL;
}

/* An ended window, else the one with the fewest failures. */
static struct entry *make_room(struct lockout *lockout, const uint8_t key[SHA256_LEN],
			       int64_t now_ms)
{
	struct entry *set = lockout->sets[key[31] % SETS], *worst = &set[0];

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].until_ms <= now_ms) {
			worst = &set[i];
			break;
		}
		if (set[i].count < worst->count)
			worst = &set[i];
	}
	*worst = (struct entry){.until_ms = now_ms + LOCKOUT_WINDOW_S * INT64_C(1000)};
	memcpy(worst->key, key, sizeof worst->key);
	return worst;
}

bool lockout_enter(struct lockout *lockout, char kind, const void *text, size_t len, unsigned max,
		   unsigned *retry_s)
{
	int64_t now_ms = clock_mono_ms(lockout->clock);
	uint8_t key[SHA256_LEN];
	struct entry *entry;
	bool free_try;

	key_of(lockout, kind, text, len, key);
	pthread_mutex_lock(&lockout->lock);
	entry = find(lockout, key);
	if (!entry || entry->until_ms <= now_ms) {
		if (entry)
			entry->until_ms = 0;
		entry = make_room(lockout, key, now_ms);
	}
	free_try = entry->count < max;
	if (free_try)
		entry->count++;
	*retry_s = (unsigned)((entry->until_ms - now_ms + 999) / 1000);
	pthread_mutex_unlock(&lockout->lock);
	return free_try;
}

void lockout_take_back(struct lockout *lockout, char kind, const void *text, size_t len)
{
	uint8_t key[SHA256_LEN];
	struct entry *entry;

	key_of(lockout, kind, text, len, key);
	pthread_mutex_lock(&lockout->lock);
	entry = find(lockout, key);
	if (entry && entry->count > 0)
		entry->count--;
	pthread_mutex_unlock(&lockout->lock);
}

void lockout_clear(struct lockout *lockout, char kind, const void *text, size_t len)
{
	uint8_t key[SHA256_LEN];
	struct entry *entry;

	key_of(lockout, kind, text, len, key);
	pthread_mutex_lock(&lockout->lock);
	if ((entry = find(lockout, key)) != NULL)
		entry->until_ms = 0;
	pthread_mutex_unlock(&lockout->lock);
}
