#include "hythe/util/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_MIN 4096
#define CHUNK_MAX ((size_t)256 * 1024)
#define ALIGN     _Alignof(max_align_t)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, cap;
	_Alignas(max_align_t) unsigned char data[];
};

void arena_init(struct arena *arena, size_t max)
{
	*arena = (struct arena){.max = max};
}

void arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->used = 0;
}

static struct arena_chunk *add_chunk(struct arena *arena, size_t need)
{
	size_t cap = CHUNK_MIN - sizeof(struct arena_chunk);
	struct arena_chunk *chunk;

	if (arena->chunks && arena->chunks->cap < CHUNK_MAX)
		cap = arena->chunks->cap * 2;
	if (cap < need)
		cap = need;
	if (cap > SIZE_MAX - sizeof *chunk)
		return NULL;
	chunk = calloc(1, sizeof *chunk + cap);
	if (!chunk)
		return NULL;
	chunk->cap = cap;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t taken;
	void *out;

	if (size > SIZE_MAX - ALIGN)
		return NULL;
	taken = size ? (size + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
	if (arena->used > arena->max || taken > arena->max - arena->used)
		return NULL;
	if (!chunk || taken > chunk->cap - chunk->used)
		chunk = add_chunk(arena, taken);
	if (!chunk)
		return NULL;
	out = chunk->data + chunk->used;
	chunk->used += taken;
	arena->used += taken;
	return out;
}

char *arena_dup(struct arena *arena, const char *text, size_t len)
{
	char *out = len < SIZE_MAX ? arena_alloc(arena, len + 1) : NULL;

	if (out && len)
		memcpy(out, text, len);
	return out;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *out = NULL;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	out = arena_alloc(arena, (size_t)n + 1);
	if (!out)
		return NULL;
	va_start(args, format);
	vsnprintf(out, (size_t)n + 1, format, args);
	va_end(args);
	return out;
}
