/* user_order.h – orders by keys that are written too often for an index: see
 * hythe/store/user_list.h. Threads: a view is read only; take and give from any thread. */
#ifndef HYTHE_STORE_USER_ORDER_H
#define HYTHE_STORE_USER_ORDER_H

#include "hythe/store/conn.h"
#include "hythe/store/user_list.h"

struct order_entry {
	int64_t key, id;
};

struct order_view {
	struct order_entry *entries; /* by key, then id */
	size_t count;
	int64_t max_id; /* who is newer is not in it */
	int64_t made_unix;
	enum user_sort sort;
	unsigned refs; /* guarded by the order's lock */
};

/* The key by which a list is sorted. What there is none of (quota, end) comes last: INT64_MAX. */
int64_t user_order_key(enum user_sort sort, const struct user *user, int64_t now_unix);
enum res user_order_take(struct user_order *order, struct conn *conn, enum user_sort sort,
			 int64_t now_unix, struct order_view **out);
void user_order_give(struct user_order *order, struct order_view *view); /* NULL is fine */
/* Users made since the view, sorted as it is: malloc()ed. */
enum res user_order_newer(struct conn *conn, const struct order_view *view, int64_t now_unix,
			  struct order_entry **entries, size_t *count);
/* First entry behind (key, id). */
size_t user_order_place(const struct order_entry *entries, size_t count, int64_t key, int64_t id);

#endif
