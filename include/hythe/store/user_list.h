/* store/user_list.h – pages of users: sorted, filtered, searched, each within milliseconds at
 * 100,000.
 *
 * Filters become sets of ids, read from covering indexes; a page walks its order (an index, or a
 * snapshot in memory for keys that are written too often to have one), takes what is in the set,
 * and only then reads whole rows. A set of few is sorted by itself instead.
 *
 * What the clock has passed since the timer last ran is put right in the sets, so `status` is true
 * at every second. Sorting by used, remaining and last seen goes by the snapshot: at most 30 s old,
 * new users are merged in. Threads: a connection is used by one at a time; a struct user_order by
 * many. */
#ifndef HYTHE_STORE_USER_LIST_H
#define HYTHE_STORE_USER_LIST_H

#include "hythe/model/user.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"

enum user_sort {
	USER_SORT_NAME,
	USER_SORT_CREATED,
	USER_SORT_EXPIRY,
	USER_SORT_USED,
	USER_SORT_REMAINING,
	USER_SORT_LAST_SEEN,
	USER_SORTS
};
extern const char *const user_sort_words[]; /* "name", ...; NULL at the end */

#define USER_TOTAL_MAX  10000 /* counting stops here, and says so */
#define USER_SEARCH_FEW 1000  /* a search with more hits comes in the order of ids */

struct user_filter {
	int status;             /* enum user_status; -1: any */
	int64_t group_id;       /* 0: any */
	int64_t owner_admin_id; /* 0: any */
	const char *tag, *q;    /* NULL: any */
};

/* Where a page ended: the key of its last user. */
struct user_mark {
	bool set;
	bool by_id; /* of a page in the order of ids */
	int64_t number;
	const char *text;
	int64_t id;
};

struct user_list_query {
	struct user_filter filter;
	enum user_sort sort;
	bool descending, total;
	int64_t limit;
	struct user_mark after;
};

struct user_page {
	struct user *users;
	size_t count;
	bool more; /* `next` leads on */
	struct user_mark next;
	bool by_id;    /* too many hits to sort */
	int64_t total; /* -1: not asked for */
	bool total_capped;
};

/* Snapshots of sort keys, 16 bytes a user, one order at a time. */
struct user_order;
struct user_order *user_order_new(void);
void user_order_free(struct user_order *order); /* NULL is fine */

enum res user_list(struct conn *conn, struct user_order *order, const struct user_list_query *query,
		   int64_t now_unix, struct arena *arena, struct user_page *out);

/* The ids of all that a filter finds, ascending; malloc()ed, the caller frees. */
enum res user_filter_ids(struct conn *conn, const struct user_filter *filter, int64_t now_unix,
			 int64_t **ids, size_t *count);

#endif
