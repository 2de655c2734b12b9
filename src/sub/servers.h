/* sub/servers.h – what a set of groups is offered: read once for all of its users.
 *
 * Most users share their groups with thousands of others, and with them their servers: only the
 * credential and the names differ. A list is counted and read only once made; it holds for as long as
 * the generation under which it was begun stands (cache.h), for KEEP_MS at most, since time alone
 * hides a server that has failed for too long. Passwords of obfuscation stand in it opened, as they do
 * in each answer. Threads: any. */
#ifndef HYTHE_SUB_SERVERS_H
#define HYTHE_SUB_SERVERS_H

#include <stddef.h>
#include <stdint.h>

#include "hythe/model/host.h"
#include "hythe/util/arena.h"
#include "hythe/util/clock.h"

struct servers { /* plain data but for what is private */
	struct endpoint *endpoints;
	size_t count;
	/* private to servers.c */
	struct arena arena;
	int64_t *groups;
	size_t group_count;
	uint64_t generation;
	int64_t until_ms;
	_Atomic unsigned refs;
	struct servers *older;
};

struct server_lists;
struct server_lists *server_lists_new(const struct clock *clock); /* NULL: out of memory */
void server_lists_free(struct server_lists *lists);

/* The list of these groups (sorted by id), or NULL: make one. */
struct servers *server_lists_find(struct server_lists *lists, uint64_t generation,
				  const int64_t *groups, size_t group_count); /* at least one group */
/* An empty list to fill: endpoints and all they point to live in its arena. NULL: out of memory. */
struct servers *servers_new(size_t arena_max);
/* Keeps a reference for others of the same groups, begun under `generation`. */
void server_lists_keep(struct server_lists *lists, struct servers *servers, uint64_t generation,
		       const int64_t *groups, size_t group_count);
void servers_give(struct servers *servers); /* NULL is fine */

#endif
