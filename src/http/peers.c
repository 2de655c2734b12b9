/* The registry of open connections: how many a network holds, and which have run out of time. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "edge.h"
#include "hythe/util/hash.h"

bool registry_init(struct registry *registry)
{
	memset(registry, 0, sizeof *registry);
	random_bytes(&registry->seed, sizeof registry->seed);
	return pthread_mutex_init(&registry->lock, NULL) == 0;
}

void registry_free(struct registry *registry)
{
	pthread_mutex_destroy(&registry->lock);
}

/* Seeded, so that nobody can choose addresses that share a bucket. */
static struct peer **bucket_of(struct registry *registry, const uint8_t network[16])
{
	uint64_t half[2], h;

	memcpy(half, network, sizeof half);
	h = (half[0] ^ registry->seed) * 0x9e3779b97f4a7c15u;
	h = (h ^ (h >> 29) ^ half[1]) * 0xbf58476d1ce4e5b9u;
	return &registry->buckets[(h >> 40) % REGISTRY_BUCKETS];
}

bool registry_full(struct registry *registry, const uint8_t network[16])
{
	unsigned count = 0;

	pthread_mutex_lock(&registry->lock);
	for (struct peer *p = *bucket_of(registry, network); p; p = p->same_bucket)
		count += memcmp(p->network, network, sizeof p->network) == 0;
	pthread_mutex_unlock(&registry->lock);
	return count >= HTTP_PER_NETWORK_MAX;
}

void registry_add(struct registry *registry, struct peer *peer)
{
	pthread_mutex_lock(&registry->lock);
	peer->next = registry->first;
	if (peer->next)
		peer->next->prev = peer;
	registry->first = peer;
	if (peer->counted) {
		struct peer **bucket = bucket_of(registry, peer->network);

		peer->same_bucket = *bucket;
		*bucket = peer;
	}
	pthread_mutex_unlock(&registry->lock);
}

void registry_remove(struct registry *registry, struct peer *peer)
{
	pthread_mutex_lock(&registry->lock);
	if (peer->prev)
		peer->prev->next = peer->next;
	else
		registry->first = peer->next;
	if (peer->next)
		peer->next->prev = peer->prev;
	if (peer->counted) {
		struct peer **at = bucket_of(registry, peer->network);

		while (*at != peer)
			at = &(*at)->same_bucket;
		*at = peer->same_bucket;
	}
	pthread_mutex_unlock(&registry->lock);
}

void registry_sweep(struct registry *registry, int64_t now_ms)
{
	pthread_mutex_lock(&registry->lock);
	for (struct peer *p = registry->first; p; p = p->next) {
		int64_t deadline = atomic_load_explicit(&p->deadline_ms, memory_order_relaxed);

		/* The descriptor is closed only after its peer has left the registry, so this is
		 * never somebody else's. The event thread sees the end and closes. */
		if (deadline != 0 && now_ms >= deadline)
			shutdown(p->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&registry->lock);
}
