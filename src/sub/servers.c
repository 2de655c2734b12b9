#include "servers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MS   10000
#define LISTS_MAX 32
#define LIST_MAX  ((size_t)128 * 1024) /* larger ones are read each time: memory must not follow */

struct server_lists {
	const struct clock *clock;
	pthread_mutex_t lock;  /* leaf; guards what follows */
	struct servers *newest; /* through `older` */
};

struct server_lists *server_lists_new(const struct clock *clock)
{
	struct server_lists *lists = calloc(1, sizeof *lists);

	if (!lists)
		return NULL;
	lists->clock = clock;
	pthread_mutex_init(&lists->lock, NULL);
	return lists;
}

struct servers *servers_new(size_t arena_max)
{
	struct servers *servers = calloc(1, sizeof *servers);

	if (!servers)
		return NULL;
	arena_init(&servers->arena, arena_max);
	atomic_init(&servers->refs, 1);
	return servers;
}

void servers_give(struct servers *servers)
{
	if (!servers || atomic_fetch_sub(&servers->refs, 1) > 1)
		return;
	arena_free(&servers->arena);
	free(servers);
}

void server_lists_free(struct server_lists *lists)
{
	struct servers *servers, *older;

	if (!lists)
		return;
	for (servers = lists->newest; servers; servers = older) {
		older = servers->older;
		servers_give(servers);
	}
	pthread_mutex_destroy(&lists->lock);
	free(lists);
}

static bool is_of(const struct servers *servers, const int64_t *groups, size_t count)
{
	return servers->group_count == count &&
	       memcmp(servers->groups, groups, count * sizeof *groups) == 0;
}

struct servers *server_lists_find(struct server_lists *lists, uint64_t generation,
				  const int64_t *groups, size_t group_count)
{
	int64_t now_ms = clock_mono_ms(lists->clock);
	struct servers *found;

	pthread_mutex_lock(&lists->lock);
	for (found = lists->newest; found; found = found->older)
		if (is_of(found, groups, group_count))
			break;
	if (found && (found->generation != generation || now_ms >= found->until_ms))
		found = NULL;
	if (found)
		atomic_fetch_add(&found->refs, 1);
	pthread_mutex_unlock(&lists->lock);
	return found;
}

/* Those of the same groups and of times past, and the oldest of too many. Called with the lock. */
static void make_room(struct server_lists *lists, const struct servers *fresh, int64_t now_ms)
{
	struct servers **at = &lists->newest, *servers;
	size_t count = 1;

	while ((servers = *at)) {
		if (servers->until_ms > now_ms && ++count <= LISTS_MAX &&
		    !is_of(servers, fresh->groups, fresh->group_count)) {
			at = &servers->older;
			continue;
		}
		*at = servers->older;
		servers_give(servers);
	}
}

void server_lists_keep(struct server_lists *lists, struct servers *servers, uint64_t generation,
		       const int64_t *groups, size_t group_count)
{
	int64_t now_ms = clock_mono_ms(lists->clock);

	servers->groups = arena_alloc(&servers->arena, (group_count + 1) * sizeof *groups);
	if (!servers->groups || servers->arena.used > LIST_MAX)
		return;
	memcpy(servers->groups, groups, group_count * sizeof *groups);
	servers->group_count = group_count;
	servers->generation = generation;
	servers->until_ms = now_ms + KEEP_MS;
	pthread_mutex_lock(&lists->lock);
	make_room(lists, servers, now_ms);
	servers->older = lists->newest;
	lists->newest = servers;
	atomic_fetch_add(&servers->refs, 1);
	pthread_mutex_unlock(&lists->lock);
}
