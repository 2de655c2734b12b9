/* user_find.h – from a filter to the users that pass it. Threads: as its connection. */
#ifndef HYTHE_STORE_USER_FIND_H
#define HYTHE_STORE_USER_FIND_H

#include "hythe/store/conn.h"
#include "hythe/store/user_list.h"
#include "id_set.h"
#include "user_text.h"

/* A filter that few pass becomes a set of ids. One that many pass stays a question: each candidate
 * is looked at, because a page is full after a few; when that goes on for too long, the set is made
 * after all. */
struct user_found {
	struct conn *conn;
	bool all;      /* no filter but perhaps a search */
	bool asked;    /* a question: `set` is not made */
	bool streamed; /* a search with many hits, beside the filter: user_found_stream() */
	struct id_set set;
	struct user_filter filter;
	const char *prefix,
		*prefix_end; /* a short search: the beginning of the name's key; or NULL */
	struct id_set late_in, late_out; /* who has the status, and has not, whatever is stored */
	struct search_text search;
	size_t questions;
	enum res res; /* of the questions */
};

enum res user_find(struct conn *conn, const struct user_filter *filter, int64_t now_unix,
		   struct arena *arena, struct user_found *out);
void user_found_free(struct user_found *found);
/* Does he pass the filter (without a streamed search)? Also false when reading failed: see res. */
bool user_found_has(struct user_found *found, int64_t id);
/* Those who pass filter and streamed search, after `after`, by id; stops when each() says false. */
enum res user_found_stream(struct user_found *found, int64_t after,
			   bool (*each)(void *ctx, int64_t id), void *ctx);
/* Questions and a streamed search become the set. */
enum res user_found_settle(struct user_found *found);
/* How many pass; `max` and more are told as max. */
enum res user_found_count(struct user_found *found, int64_t max, int64_t *count);

/* Users whose stored state the clock has outrun since the timer last ran. */
enum res user_late_each(struct conn *conn, int64_t now_unix,
			bool (*each)(void *ctx, const struct user *user, enum user_status now),
			void *ctx);

#endif
