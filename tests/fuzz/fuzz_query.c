/* One parameter out of any query string: decoded once, without a NUL in it, and not at all when it
 * is given twice or badly escaped. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/edge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void try_name(const char *query, size_t len, const char *name)
{
	struct arena arena;
	const char *value, *again;
	bool bad = false, bad_again = true;

	arena_init(&arena, 1u << 20);
	value = query_param(query, len, name, &arena, &bad);
	must(!value || !bad);
	/* Decoding only ever shortens. */
	must(!value || strlen(value) <= len);
	again = query_param(query, len, name, &arena, &bad_again);
	must(bad == bad_again && !value == !again && (!value || strcmp(value, again) == 0));
	must(query_param(query, 0, name, &arena, NULL) == NULL);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"format", "q", "limit", "nobody"};
	char *query = malloc(size + 1);

	if (!query)
		return 0;
	memcpy(query, data, size);
	query[size] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		try_name(query, size, names[i]);
	free(query);
	return 0;
}
