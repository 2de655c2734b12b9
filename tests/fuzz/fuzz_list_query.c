/* The query string of a list, and the search text in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "admin/call.h"
#include "http/edge.h"
#include "store/user_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const sorts[] = {"name", "created", NULL};
static const char *const extra[] = {"status", "group", "tag", NULL};

static void try_search(struct arena *arena, const char *q)
{
	struct search_text search;
	int64_t number;

	/* What was typed is found in itself. */
	if (search_text_read(arena, q, &search) &&
	    !search_text_in(&search, search.text, strlen(search.text)))
		abort();
	search_link_token(arena, q);
	search_credential(arena, q);
	search_slot(q, &number);
	search_telegram(q, &number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *target = malloc(size + 2);
	struct request req;
	struct list_query query;
	struct cursor cursor;
	struct call call = {.req = &req, .path = "/users"};

	if (!target)
		return 0;
	memset(&req, 0, sizeof req);
	target[0] = '?';
	memcpy(target + 1, data, size);
	target[size + 1] = '\0';
	req.target = target;
	req.query_at = 1;
	req.query_len = strlen(target) - 1;
	call.arena = request_arena(&req);
	if (call_list_query(&call, sorts, extra, &query)) {
		if (query.limit < 1 || query.limit > LIST_LIMIT_MAX || !query.sort)
			abort();
		call_cursor_read(&call, &query, &cursor);
		if (query.q && *query.q)
			try_search(call.arena, query.q);
	} else if (!call.problem.code[0] || !call.problem.field[0]) {
		abort();
	}
	arena_free(call.arena);
	free(target);
	return 0;
}
