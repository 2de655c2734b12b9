/* store/user_list.c – one page of users: which order, where it begins, and the rows themselves.
 *
 * Four ways to walk, each in the page's order: an index, a snapshot, a small set sorted here, and
 * the hits of a broad search by id. Rows that cannot be read (gone, damaged) are passed over. */
#include "hythe/store/user_list.h"

#include <stdlib.h>
#include <string.h>

#include "hythe/store/users.h"
#include "user_find.h"
#include "user_order.h"

/* Sorted here: two thousand rows of keys cost less than a walk past all others. */
#define SET_FEW 2000

const char *const user_sort_words[] = {
	[USER_SORT_NAME] = "name",
	[USER_SORT_CREATED] = "created",
	[USER_SORT_EXPIRY] = "expiry",
	[USER_SORT_USED] = "used",
	[USER_SORT_REMAINING] = "remaining",
	[USER_SORT_LAST_SEEN] = "last_seen",
	[USER_SORTS] = NULL,
};

enum {
	NAME_FIRST,
	NAME_AFTER,
	NAME_LAST,
	NAME_BEFORE,
	CREATED_AFTER,
	CREATED_BEFORE,
	END_AFTER,
	END_BEFORE,
	ODD_AFTER,
	ODD_BEFORE,
	NEVER_AFTER,
	NEVER_BEFORE,
	KEYS,
	COUNT_ALL,
	STATEMENTS
};

static const char *const SQL[STATEMENTS] = {
	[NAME_FIRST] = "SELECT id, 0 FROM user WHERE name_key IS NOT NULL ORDER BY name_key",
	[NAME_AFTER] = "SELECT id, 0 FROM user WHERE name_key > ?1 ORDER BY name_key",
	[NAME_LAST] = "SELECT id, 0 FROM user WHERE name_key IS NOT NULL ORDER BY name_key DESC",
	[NAME_BEFORE] = "SELECT id, 0 FROM user WHERE name_key < ?1 ORDER BY name_key DESC",
	[CREATED_AFTER] = "SELECT id, created_unix FROM user WHERE deleted_unix = 0"
			  " AND (created_unix, id) > (?1, ?2) ORDER BY created_unix, id",
	[CREATED_BEFORE] = "SELECT id, created_unix FROM user WHERE deleted_unix = 0"
			   " AND (created_unix, id) < (?1, ?2) ORDER BY created_unix DESC, id DESC",
	[END_AFTER] = "SELECT id, expires_unix FROM user WHERE deleted_unix = 0"
		      " AND (expires_unix, id) > (max(?1, 0), iif(?1 > 0, ?2, 9223372036854775807))"
		      " ORDER BY expires_unix, id",
	[END_BEFORE] = "SELECT id, expires_unix FROM user WHERE deleted_unix = 0"
		       " AND (expires_unix, id) < (?1, ?2) AND expires_unix > 0"
		       " ORDER BY expires_unix DESC, id DESC",
	/* Ends before 1970, which nobody could set: only a hand-changed row has one. */
	[ODD_AFTER] = "SELECT id, expires_unix FROM user WHERE deleted_unix = 0"
		      " AND (expires_unix, id) > (?1, ?2) AND expires_unix < 0"
		      " ORDER BY expires_unix, id",
	[ODD_BEFORE] = "SELECT id, expires_unix FROM user WHERE deleted_unix = 0"
		       " AND (expires_unix, id) < (min(?1, 0), ?2) AND expires_unix < 0"
		       " ORDER BY expires_unix DESC, id DESC",
	[NEVER_AFTER] = "SELECT id, 9223372036854775807 FROM user WHERE deleted_unix = 0"
			" AND expires_unix = 0 AND id > ?2 AND ?1 IS NOT NULL ORDER BY id",
	[NEVER_BEFORE] = "SELECT id, 9223372036854775807 FROM user WHERE deleted_unix = 0"
			 " AND expires_unix = 0 AND id < ?2 AND ?1 IS NOT NULL ORDER BY id DESC",
	[KEYS] = "SELECT u.name_key, u.created_unix, u.expires_unix, u.quota_bytes,"
		 " g.period_end_unix, g.used_up_bytes, g.used_down_bytes, g.last_seen_unix"
		 " FROM user AS u JOIN user_usage AS g ON g.user_id = u.id"
		 " WHERE u.id = ?1 AND u.deleted_unix = 0",
	[COUNT_ALL] = "SELECT count(*) FROM (SELECT 1 FROM user WHERE deleted_unix = 0 LIMIT ?1)",
};

struct walk {
	struct conn *conn;
	struct user_order *order;
	const struct user_list_query *query;
	struct user_found *found;
	int64_t now_unix;
	struct arena *arena;
	struct user_page *page;
	enum res res;
};

/* --- Taking a row into the page --- */

/* False: the page is full, or something failed. */
static bool walk_take(struct walk *walk, int64_t id, int64_t number)
{
	struct user_page *page = walk->page;
	struct user user;

	if (!user_found_has(walk->found, id)) {
		walk->res = walk->found->res;
		return walk->res == RES_OK;
	}
	walk->res = user_by_id(walk->conn, id, walk->arena, &user);
	if (walk->res == RES_NOT_FOUND) {
		walk->res = RES_OK;
		return true;
	}
	if (walk->res != RES_OK)
		return false;
	if ((int64_t)page->count == walk->query->limit) {
		page->more = true;
		return false;
	}
	page->users[page->count++] = user;
	page->next =
		(struct user_mark){.set = true,
				   .by_id = page->by_id,
				   .number = number,
				   .text = walk->query->sort == USER_SORT_NAME ? user.name_key : "",
				   .id = id};
	return true;
}

/* --- By an index --- */

static bool walk_rows(struct walk *walk, sqlite3_stmt *st)
{
	bool go_on = true;
	enum res res;

	while (go_on && (res = stmt_row(walk->conn, st)) == RES_OK)
		go_on = walk_take(walk, column_i64(st, 0), column_i64(st, 1));
	stmt_end(walk->conn, st);
	if (go_on && res != RES_NOT_FOUND)
		walk->res = res;
	return go_on && walk->res == RES_OK;
}

static bool walk_numbers(struct walk *walk, int statement, int64_t number, int64_t id)
{
	sqlite3_stmt *st = conn_stmt(walk->conn, SQL[statement]);

	if (st) {
		bind_i64(st, 1, number);
		bind_i64(st, 2, id);
	}
	return walk_rows(walk, st);
}

static void walk_names(struct walk *walk)
{
	const struct user_mark *after = &walk->query->after;
	bool down = walk->query->descending;
	int statement =
		after->set ? (down ? NAME_BEFORE : NAME_AFTER) : (down ? NAME_LAST : NAME_FIRST);
	sqlite3_stmt *st = conn_stmt(walk->conn, SQL[statement]);

	if (st && after->set)
		bind_text(st, 1, after->text);
	walk_rows(walk, st);
}

/* The mark to begin from, or the one before everybody. */
static struct user_mark mark_from(const struct walk *walk)
{
	int64_t edge = walk->query->descending ? INT64_MAX : INT64_MIN;
	struct user_mark first = {.number = edge, .id = edge};

	return walk->query->after.set ? walk->query->after : first;
}

static void walk_created(struct walk *walk)
{
	struct user_mark mark = mark_from(walk);

	walk_numbers(walk, walk->query->descending ? CREATED_BEFORE : CREATED_AFTER, mark.number,
		     mark.id);
}

/* Who has no end comes after all who have one: two ranges of one index. */
static void walk_expiry(struct walk *walk)
{
	struct user_mark mark = mark_from(walk);
	bool in_never = walk->query->after.set && mark.number == INT64_MAX;

	if (walk->query->descending) {
		bool first = !walk->query->after.set;

		if ((first || in_never) && !walk_numbers(walk, NEVER_BEFORE, 0, mark.id))
			return;
		if (first || in_never)
			mark.number = mark.id = INT64_MAX;
		if (walk_numbers(walk, END_BEFORE, mark.number, mark.id))
			walk_numbers(walk, ODD_BEFORE, mark.number, mark.id);
	} else {
		if (!in_never && (!walk_numbers(walk, ODD_AFTER, mark.number, mark.id) ||
				  !walk_numbers(walk, END_AFTER, mark.number, mark.id)))
			return;
		walk_numbers(walk, NEVER_AFTER, 0, in_never ? mark.id : INT64_MIN);
	}
}

/* --- By a snapshot, with those who came since merged in --- */

static bool entry_less(const struct order_entry *a, const struct order_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static void merge_up(struct walk *walk, const struct order_entry *a, size_t a_count,
		     const struct order_entry *b, size_t b_count, struct user_mark mark)
{
	size_t i = user_order_place(a, a_count, mark.number, mark.id);
	size_t k = user_order_place(b, b_count, mark.number, mark.id);
	bool go_on = true;

	while (go_on && (i < a_count || k < b_count)) {
		const struct order_entry *next;

		if (k == b_count || (i < a_count && entry_less(&a[i], &b[k])))
			next = &a[i++];
		else
			next = &b[k++];
		go_on = walk_take(walk, next->id, next->key);
	}
}

static void merge_down(struct walk *walk, const struct order_entry *a, size_t a_count,
		       const struct order_entry *b, size_t b_count, struct user_mark mark)
{
	size_t i = user_order_place(a, a_count, mark.number, mark.id);
	size_t k = user_order_place(b, b_count, mark.number, mark.id);
	bool go_on = true;

	/* place() is behind the mark itself: it was on the page before */
	i -= i > 0 && a[i - 1].key == mark.number && a[i - 1].id == mark.id;
	k -= k > 0 && b[k - 1].key == mark.number && b[k - 1].id == mark.id;
	while (go_on && (i > 0 || k > 0)) {
		const struct order_entry *next;

		if (k == 0 || (i > 0 && !entry_less(&a[i - 1], &b[k - 1])))
			next = &a[--i];
		else
			next = &b[--k];
		go_on = walk_take(walk, next->id, next->key);
	}
}

static void walk_order(struct walk *walk)
{
	struct order_view *view = NULL;
	struct order_entry *newer = NULL;
	size_t newer_count = 0;

	walk->res =
		user_order_take(walk->order, walk->conn, walk->query->sort, walk->now_unix, &view);
	if (walk->res == RES_OK)
		walk->res =
			user_order_newer(walk->conn, view, walk->now_unix, &newer, &newer_count);
	if (walk->res == RES_OK && walk->query->descending)
		merge_down(walk, view->entries, view->count, newer, newer_count, mark_from(walk));
	else if (walk->res == RES_OK)
		merge_up(walk, view->entries, view->count, newer, newer_count, mark_from(walk));
	free(newer);
	user_order_give(walk->order, view);
}

/* --- A small set, sorted here --- */

struct few_key {
	int64_t number, id;
	const char *text;
};

struct few {
	struct walk *walk;
	struct few_key *keys;
	size_t count;
};

static int few_compare(const void *a, const void *b)
{
	const struct few_key *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	if (order != 0)
		return order;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->id == y->id ? 0 : x->id < y->id ? -1 : 1;
}

static enum res few_read(struct walk *walk, int64_t id, struct few_key *out)
{
	sqlite3_stmt *st = conn_stmt(walk->conn, SQL[KEYS]);
	struct user user = {.id = id};
	enum res res;

	if (st)
		bind_i64(st, 1, id);
	if ((res = stmt_row(walk->conn, st)) == RES_OK) {
		user.created_unix = column_i64(st, 1);
		user.expires_unix = column_i64(st, 2);
		user.quota_bytes = column_i64(st, 3);
		user.usage.period_end_unix = column_i64(st, 4);
		user.usage.used_up_bytes = column_i64(st, 5);
		user.usage.used_down_bytes = column_i64(st, 6);
		user.usage.last_seen_unix = column_i64(st, 7);
		out->id = id;
		out->number = user_order_key(walk->query->sort, &user, walk->now_unix);
		out->text =
			walk->query->sort == USER_SORT_NAME ? column_text(st, 0, walk->arena) : "";
		if (!out->text)
			res = RES_NOMEM;
	}
	stmt_end(walk->conn, st);
	return res;
}

static bool few_put(void *ctx, int64_t id)
{
	struct few *few = ctx;
	enum res res = few_read(few->walk, id, &few->keys[few->count]);

	if (res == RES_OK)
		few->count++;
	else if (res != RES_NOT_FOUND)
		few->walk->res = res;
	return few->walk->res == RES_OK;
}

static bool few_behind(const struct walk *walk, const struct few_key *key)
{
	const struct user_mark *after = &walk->query->after;
	struct few_key mark = {after->number, after->id, after->text};
	int order;

	if (!after->set)
		return true;
	if (walk->query->sort == USER_SORT_NAME) /* unique: the id does not matter */
		order = strcmp(key->text, mark.text);
	else
		order = few_compare(key, &mark);
	return walk->query->descending ? order < 0 : order > 0;
}

static void walk_few(struct walk *walk)
{
	struct few few = {.walk = walk};
	bool go_on = true;

	few.keys = malloc((walk->found->set.count + 1) * sizeof *few.keys);
	if (!few.keys) {
		walk->res = RES_NOMEM;
		return;
	}
	id_set_each(&walk->found->set, INT64_MIN, few_put, &few);
	if (walk->res == RES_OK && few.count)
		qsort(few.keys, few.count, sizeof *few.keys, few_compare);
	for (size_t i = 0; walk->res == RES_OK && go_on && i < few.count; i++) {
		const struct few_key *key =
			&few.keys[walk->query->descending ? few.count - 1 - i : i];

		if (few_behind(walk, key))
			go_on = walk_take(walk, key->id, key->number);
	}
	free(few.keys);
}

/* --- By id, for a search with many hits --- */

static bool id_take(void *ctx, int64_t id)
{
	return walk_take(ctx, id, id);
}

static void walk_ids(struct walk *walk)
{
	const struct user_mark *after = &walk->query->after;
	int64_t from = after->set ? after->id : INT64_MIN;
	enum res res = RES_OK;

	walk->page->by_id = true;
	if (walk->found->streamed)
		res = user_found_stream(walk->found, from, id_take, walk);
	else if ((res = user_found_settle(walk->found)) == RES_OK)
		id_set_each(&walk->found->set, from, id_take, walk);
	if (walk->res == RES_OK)
		walk->res = res;
}

/* --- Totals --- */

static enum res count_all(struct conn *conn, int64_t *count)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[COUNT_ALL]);
	enum res res;

	if (st)
		bind_i64(st, 1, USER_TOTAL_MAX + 1);
	if ((res = stmt_row(conn, st)) == RES_OK)
		*count = column_i64(st, 0);
	stmt_end(conn, st);
	return res;
}

static enum res page_total(struct walk *walk)
{
	struct user_page *page = walk->page;
	enum res res;

	page->total = 0;
	if (walk->found->all && !walk->found->streamed)
		res = count_all(walk->conn, &page->total);
	else
		res = user_found_count(walk->found, USER_TOTAL_MAX + 1, &page->total);
	page->total_capped = page->total > USER_TOTAL_MAX;
	if (page->total_capped)
		page->total = USER_TOTAL_MAX;
	return res;
}

/* --- The page --- */

static void walk_sorted(struct walk *walk)
{
	switch (walk->query->sort) {
	case USER_SORT_NAME:
	case USER_SORTS:
		walk_names(walk);
		return;
	case USER_SORT_CREATED:
		walk_created(walk);
		return;
	case USER_SORT_EXPIRY:
		walk_expiry(walk);
		return;
	case USER_SORT_USED:
	case USER_SORT_REMAINING:
	case USER_SORT_LAST_SEEN:
		walk_order(walk);
		return;
	}
}

static void walk_page(struct walk *walk)
{
	const struct user_mark *after = &walk->query->after;
	bool by_id = after->set ? after->by_id : walk->found->streamed;

	/* The hits became many after a sorted first page: they stay sorted to the end. */
	if (!by_id && walk->found->streamed)
		walk->res = user_found_settle(walk->found);
	if (walk->res != RES_OK)
		return;
	if (by_id)
		walk_ids(walk);
	else if (!walk->found->all && !walk->found->asked && walk->found->set.count <= SET_FEW)
		walk_few(walk);
	else
		walk_sorted(walk);
}

enum res user_list(struct conn *conn, struct user_order *order, const struct user_list_query *query,
		   int64_t now_unix, struct arena *arena, struct user_page *out)
{
	struct user_found found = {0};
	struct walk walk = {.conn = conn,
			    .order = order,
			    .query = query,
			    .found = &found,
			    .now_unix = now_unix,
			    .arena = arena,
			    .page = out};

	memset(out, 0, sizeof *out);
	out->total = -1;
	out->users = arena_alloc(arena, (size_t)query->limit * sizeof *out->users);
	if (!out->users)
		return RES_NOMEM;
	walk.res = user_find(conn, &query->filter, now_unix, arena, &found);
	if (walk.res == RES_OK && query->total)
		walk.res = page_total(&walk);
	if (walk.res == RES_OK)
		walk_page(&walk);
	user_found_free(&found);
	return walk.res;
}

/* --- All ids of a filter --- */

struct id_list {
	int64_t *ids;
	size_t count, cap;
	bool failed;
};

static bool id_put(void *ctx, int64_t id)
{
	struct id_list *list = ctx;

	if (list->count == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 256;
		int64_t *ids = realloc(list->ids, cap * sizeof *ids);

		list->failed = !ids;
		if (!ids)
			return false;
		list->ids = ids;
		list->cap = cap;
	}
	list->ids[list->count++] = id;
	return true;
}

static enum res every_id(struct conn *conn, struct id_list *list)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[NAME_FIRST]);
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK && id_put(list, column_i64(st, 0)))
		continue;
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res user_filter_ids(struct conn *conn, const struct user_filter *filter, int64_t now_unix,
			 int64_t **ids, size_t *count)
{
	struct user_found found = {0};
	struct id_list list = {0};
	struct arena arena;
	enum res res;

	arena_init(&arena, 256 << 10);
	res = user_find(conn, filter, now_unix, &arena, &found);
	if (res == RES_OK && found.all && !found.streamed)
		res = every_id(conn, &list);
	else if (res == RES_OK && (res = user_found_settle(&found)) == RES_OK)
		id_set_each(&found.set, INT64_MIN, id_put, &list);
	if (list.failed)
		res = RES_NOMEM;
	user_found_free(&found);
	arena_free(&arena);
	*ids = res == RES_OK ? list.ids : NULL;
	*count = res == RES_OK ? list.count : 0;
	if (res != RES_OK)
		free(list.ids);
	return res;
}
