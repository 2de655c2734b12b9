/* util/arena.h – memory that is given back all at once.
 *
 * What one request or job reads from the store (names, notes, lists) lives in its arena. Chunks are
 * 4 KiB and grow; `max` bounds the whole. Threads: one owner at a time. */
#ifndef HYTHE_UTIL_ARENA_H
#define HYTHE_UTIL_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks; /* newest first */
	size_t used, max;           /* bytes given out, and how many may be */
};

void arena_init(struct arena *arena, size_t max);
void arena_free(struct arena *arena);
void *arena_alloc(struct arena *arena, size_t size);                  /* zeroed, aligned; NULL */
char *arena_dup(struct arena *arena, const char *text, size_t len);   /* adds a NUL; NULL */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
