/* store/user_order.c – snapshots of (key, id), rebuilt at most every 30 s, shared by all who read.
 *
 * One order is kept at a time: 1.6 MB at 100,000 users. While one reader builds, others go on with
 * the old view if it is of the same order, else wait for the new one. */
#include "user_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "id_set.h"

#define ORDER_AGE_S 30
#define SORT_FEW    2000

struct user_order {
	pthread_mutex_t lock; /* leaf: held for no SQL */
	pthread_cond_t built;
	struct order_view *view; /* guarded by lock */
	bool building;           /* guarded by lock */
};

enum { USAGE, KEYS, DELETED, STATEMENTS };
static const char *const SQL[STATEMENTS] = {
	/* without the wide rows of `user`; who is deleted is taken out by his index */
	[USAGE] =
		"SELECT user_id, 0, period_end_unix, used_up_bytes, used_down_bytes, last_seen_unix"
		" FROM user_usage WHERE user_id > ?1 ORDER BY user_id",
	[DELETED] = "SELECT id FROM user WHERE deleted_unix > 0",
	[KEYS] =
		"SELECT u.id, u.quota_bytes, g.period_end_unix, g.used_up_bytes, g.used_down_bytes,"
		" g.last_seen_unix FROM user AS u JOIN user_usage AS g ON g.user_id = u.id"
		" WHERE u.id > ?1 AND u.deleted_unix = 0 ORDER BY u.id",
};

struct user_order *user_order_new(void)
{
	struct user_order *order = calloc(1, sizeof *order);

	if (!order)
		return NULL;
	pthread_mutex_init(&order->lock, NULL);
	pthread_cond_init(&order->built, NULL);
	return order;
}

static void view_free(struct order_view *view)
{
	if (view)
		free(view->entries);
	free(view);
}

void user_order_free(struct user_order *order)
{
	if (!order)
		return;
	view_free(order->view);
	pthread_cond_destroy(&order->built);
	pthread_mutex_destroy(&order->lock);
	free(order);
}

int64_t user_order_key(enum user_sort sort, const struct user *user, int64_t now_unix)
{
	int64_t left;

	switch (sort) {
	case USER_SORT_NAME:
	case USER_SORTS:
		return 0;
	case USER_SORT_CREATED:
		return user->created_unix;
	case USER_SORT_EXPIRY:
		return user->expires_unix ? user->expires_unix : INT64_MAX;
	case USER_SORT_USED:
		return user_used_bytes(user, now_unix);
	case USER_SORT_REMAINING:
		left = user_left_bytes(user, now_unix);
		return left < 0 ? INT64_MAX : left;
	case USER_SORT_LAST_SEEN:
		return user->usage.last_seen_unix;
	}
	return 0;
}

/* Sixteen bits of a key, the sign turned so that negative ones come first. */
static size_t digit(int64_t key, unsigned shift)
{
	return (size_t)((((uint64_t)key ^ (uint64_t)INT64_MIN) >> shift) & 0xffff);
}

static int entry_compare(const void *a, const void *b)
{
	const struct order_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->id == y->id ? 0 : x->id < y->id ? -1 : 1;
}

size_t user_order_place(const struct order_entry *entries, size_t count, int64_t key, int64_t id)
{
	struct order_entry mark = {key, id};
	size_t low = 0, end = count;

	while (low < end) {
		size_t mid = low + (end - low) / 2;

		if (entry_compare(&entries[mid], &mark) <= 0)
			low = mid + 1;
		else
			end = mid;
	}
	return low;
}

static bool grow(struct order_entry **entries, size_t count, size_t *cap)
{
	size_t more = *cap ? *cap + *cap / 2 : 256;
	struct order_entry *moved;

	if (count < *cap)
		return true;
	moved = realloc(*entries, more * sizeof *moved);
	if (!moved)
		return false;
	*entries = moved;
	*cap = more;
	return true;
}

/* By key, and stable: rows come by id. Digits that are the same in all keys cost nothing. */
static bool sort_many(struct order_entry *entries, size_t count)
{
	struct order_entry *from = entries, *to = malloc(count * sizeof *to), *spare;
	size_t *starts = calloc(1u << 16, sizeof *starts);
	bool good = to && starts;

	for (unsigned shift = 0; good && shift < 64; shift += 16) {
		size_t sum = 0;

		memset(starts, 0, ((size_t)1 << 16) * sizeof *starts);
		for (size_t i = 0; i < count; i++)
			starts[digit(from[i].key, shift)]++;
		if (starts[digit(from[0].key, shift)] == count)
			continue;
		for (size_t d = 0; d < (size_t)1 << 16; d++) {
			size_t n = starts[d];

			starts[d] = sum;
			sum += n;
		}
		for (size_t i = 0; i < count; i++)
			to[starts[digit(from[i].key, shift)]++] = from[i];
		spare = from;
		from = to;
		to = spare;
	}
	if (good && from != entries) {
		memcpy(entries, from, count * sizeof *entries);
		to = from;
	}
	free(to != entries ? to : NULL);
	free(starts);
	return good;
}

/* The few that came since a view was made are not worth a table of 65,536 counts a digit. */
static bool sort_entries(struct order_entry *entries, size_t count)
{
	if (count > SORT_FEW)
		return sort_many(entries, count);
	if (count > 1)
		qsort(entries, count, sizeof *entries, entry_compare);
	return true;
}

static enum res read_deleted(struct conn *conn, struct id_set *deleted)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[DELETED]);
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK)
		if (!id_set_add(deleted, column_i64(st, 0))) {
			res = RES_NOMEM;
			break;
		}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

static int64_t key_of_row(sqlite3_stmt *st, enum user_sort sort, int64_t now_unix)
{
	struct user user = {
		.quota_bytes = column_i64(st, 1),
		.usage =
			{
				.period_end_unix = column_i64(st, 2),
				.used_up_bytes = column_i64(st, 3),
				.used_down_bytes = column_i64(st, 4),
				.last_seen_unix = column_i64(st, 5),
				},
	};

	return user_order_key(sort, &user, now_unix);
}

/* Those of a statement that are not in `skip`, in the order of their ids. */
static enum res read_entries(struct conn *conn, int statement, enum user_sort sort, int64_t after,
			     int64_t now_unix, struct id_set *skip, struct order_entry **entries,
			     size_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[statement]);
	size_t cap = 0;
	enum res res;

	if (st)
		bind_i64(st, 1, after);
	while ((res = stmt_row(conn, st)) == RES_OK) {
		int64_t id = column_i64(st, 0);

		if (skip->count && id_set_has(skip, id))
			continue;
		if (!grow(entries, *count, &cap)) {
			res = RES_NOMEM;
			break;
		}
		(*entries)[*count].id = id;
		(*entries)[(*count)++].key = key_of_row(st, sort, now_unix);
	}
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

static enum res read_keys(struct conn *conn, enum user_sort sort, int64_t after, int64_t now_unix,
			  struct order_entry **entries, size_t *count)
{
	bool narrow = sort != USER_SORT_REMAINING;
	struct id_set deleted = {0};
	enum res res = narrow ? read_deleted(conn, &deleted) : RES_OK;

	*entries = NULL;
	*count = 0;
	if (res == RES_OK)
		res = read_entries(conn, narrow ? USAGE : KEYS, sort, after, now_unix, &deleted,
				   entries, count);
	if (res == RES_OK && !sort_entries(*entries, *count))
		res = RES_NOMEM;
	id_set_free(&deleted);
	return res;
}

static int64_t largest_id(const struct order_entry *entries, size_t count)
{
	int64_t id = 0;

	for (size_t i = 0; i < count; i++)
		if (entries[i].id > id)
			id = entries[i].id;
	return id;
}

static enum res view_build(struct conn *conn, enum user_sort sort, int64_t now_unix,
			   struct order_view **out)
{
	struct order_view *view = calloc(1, sizeof *view);
	enum res res;

	*out = NULL;
	if (!view)
		return RES_NOMEM;
	view->sort = sort;
	view->made_unix = now_unix;
	res = read_keys(conn, sort, INT64_MIN, now_unix, &view->entries, &view->count);
	if (res != RES_OK) {
		view_free(view);
		return res;
	}
	if (view->count) { /* what growing took in advance */
		struct order_entry *fit = realloc(view->entries, view->count * sizeof *fit);

		view->entries = fit ? fit : view->entries;
	}
	view->max_id = largest_id(view->entries, view->count);
	*out = view;
	return RES_OK;
}

static void view_drop(struct order_view *view) /* under the lock */
{
	if (view && --view->refs == 0)
		view_free(view);
}

/* The view is fit to use; else whose turn it is to build is settled under the lock. */
static bool view_serves(const struct user_order *order, enum user_sort sort, int64_t now_unix)
{
	const struct order_view *view = order->view;

	if (!view || view->sort != sort)
		return false;
	return order->building ||
	       (now_unix >= view->made_unix && now_unix - view->made_unix < ORDER_AGE_S);
}

static enum res build_and_keep(struct user_order *order, struct conn *conn, enum user_sort sort,
			       int64_t now_unix, struct order_view **out)
{
	struct order_view *view = NULL;
	enum res res = view_build(conn, sort, now_unix, &view);

	pthread_mutex_lock(&order->lock);
	if (res == RES_OK) {
		view_drop(order->view);
		order->view = view;
		view->refs = 2; /* the order's and the caller's */
	}
	order->building = false;
	pthread_cond_broadcast(&order->built);
	pthread_mutex_unlock(&order->lock);
	*out = view;
	return res;
}

enum res user_order_take(struct user_order *order, struct conn *conn, enum user_sort sort,
			 int64_t now_unix, struct order_view **out)
{
	*out = NULL;
	pthread_mutex_lock(&order->lock);
	while (order->building && !view_serves(order, sort, now_unix))
		pthread_cond_wait(&order->built, &order->lock);
	if (view_serves(order, sort, now_unix)) {
		*out = order->view;
		order->view->refs++;
		pthread_mutex_unlock(&order->lock);
		return RES_OK;
	}
	order->building = true;
	pthread_mutex_unlock(&order->lock);
	return build_and_keep(order, conn, sort, now_unix, out);
}

void user_order_give(struct user_order *order, struct order_view *view)
{
	if (!view)
		return;
	pthread_mutex_lock(&order->lock);
	view_drop(view);
	pthread_mutex_unlock(&order->lock);
}

enum res user_order_newer(struct conn *conn, const struct order_view *view, int64_t now_unix,
			  struct order_entry **entries, size_t *count)
{
	return read_keys(conn, view->sort, view->max_id, now_unix, entries, count);
}
