/* Cursors: any text is a cursor of this list or refused, and what is printed reads back the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "admin/call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct list_query query = {.limit = 50, .sort = "name", .tag = "x"};
	struct cursor first, second;
	struct arena arena;
	struct call call = {.path = "/users"};

	arena_init(&arena, 1u << 20);
	call.arena = &arena;
	query.cursor = arena_dup(&arena, (const char *)data, size);
	if (query.cursor && call_cursor_read(&call, &query, &first)) {
		query.cursor = call_cursor_print(&call, &query, &first);
		if (!query.cursor || !call_cursor_read(&call, &query, &second) ||
		    first.id != second.id || first.number != second.number ||
		    strcmp(first.text, second.text) != 0)
			abort();
	} else if (!call.problem.code[0]) {
		abort();
	}
	/* The same bytes as a key of their own. */
	call.problem = (struct problem){0};
	first = (struct cursor){.number = (int64_t)size, .id = -1};
	first.text = size < 1000 ? arena_dup(&arena, (const char *)data, size) : "";
	query.cursor = call_cursor_print(&call, &query, &first);
	if (!query.cursor || !call_cursor_read(&call, &query, &second) ||
	    strcmp(first.text, second.text) != 0)
		abort();
	arena_free(&arena);
	return 0;
}
