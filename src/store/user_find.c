/* store/user_find.c – filters and searches of users: see user_find.h.
 *
 * Each filter has an index that covers it. The first of them that few pass gives the candidates,
 * and the others are asked of each; if many pass all of them, nobody is collected before a page
 * needs it. */
#include "user_find.h"

#include <string.h>

#include "hythe/model/name.h"
#include "hythe/store/users.h"
#include "user_exact.h"

/* A question costs some 4 us, a row of a covering index 0.1 us. */
#define FEW           6000 /* made a set at once, when it is the only filter */
#define FEW_ASKED     1200 /* candidates of whom the other filters are asked one by one */
#define QUESTIONS_MAX 600  /* for one page; then the set is cheaper */

enum {
	BY_STATE,
	BY_TAG,
	BY_OWNER,
	BY_GROUP,
	BY_PREFIX,
	BY_TELEGRAM,
	BY_MATCH,
	ASK,
	TEXTS,
	STATEMENTS
};

static const char *const SQL[STATEMENTS] = {
	[BY_STATE] = "SELECT id FROM user WHERE state = ?1",
	[BY_TAG] = "SELECT id FROM user WHERE tag = ?1 AND tag <> '' AND deleted_unix = 0",
	[BY_OWNER] = "SELECT id FROM user WHERE owner_admin_id = ?1 AND deleted_unix = 0",
	[BY_GROUP] = "SELECT user_id FROM user_group WHERE group_id = ?1",
	[BY_PREFIX] = "SELECT id FROM user WHERE name_key >= ?1 AND name_key < ?2",
	[BY_TELEGRAM] = "SELECT id FROM user"
			" WHERE telegram_id = ?1 AND telegram_id <> 0 AND deleted_unix = 0",
	[BY_MATCH] = "SELECT rowid FROM user_search WHERE user_search MATCH ?1 AND rowid > ?2"
		     " ORDER BY rowid",
	[ASK] = "SELECT 1 FROM user WHERE id = ?1 AND deleted_unix = 0"
		" AND (?2 = '' OR state = ?2) AND (?3 = '' OR tag = ?3)"
		" AND (?4 = 0 OR owner_admin_id = ?4)"
		" AND (?6 = '' OR (name_key >= ?6 AND name_key < ?7))"
		" AND (?5 = 0 OR EXISTS"
		" (SELECT 1 FROM user_group WHERE user_id = ?1 AND group_id = ?5))",
	[TEXTS] = "SELECT name, display_name, note, tag, email FROM user"
		  " WHERE id = ?1 AND deleted_unix = 0",
};
#define TEXT_COLUMNS 5

void user_found_free(struct user_found *found)
{
	id_set_free(&found->set);
	id_set_free(&found->late_in);
	id_set_free(&found->late_out);
}

/* --- The parts of a filter --- */

enum part { PART_STATE, PART_TAG, PART_OWNER, PART_GROUP, PART_PREFIX, PARTS };

static bool has_part(const struct user_found *found, enum part part)
{
	switch (part) {
	case PART_STATE:
		return found->filter.status >= 0;
	case PART_TAG:
		return found->filter.tag != NULL;
	case PART_OWNER:
		return found->filter.owner_admin_id != 0;
	case PART_GROUP:
		return found->filter.group_id != 0;
	case PART_PREFIX:
		return found->prefix != NULL;
	case PARTS:
		break;
	}
	return false;
}

static size_t part_count(const struct user_found *found, enum part *only)
{
	size_t parts = 0;

	for (enum part part = 0; part < PARTS; part++)
		if (has_part(found, part)) {
			parts++;
			*only = part;
		}
	return parts;
}

static sqlite3_stmt *part_rows(struct user_found *found, enum part part)
{
	static const int statements[PARTS] = {BY_STATE, BY_TAG, BY_OWNER, BY_GROUP, BY_PREFIX};
	sqlite3_stmt *st = conn_stmt(found->conn, SQL[statements[part]]);

	if (!st)
		return NULL;
	switch (part) {
	case PART_STATE:
		bind_text(st, 1, user_status_words[found->filter.status]);
		break;
	case PART_TAG:
		bind_text(st, 1, found->filter.tag);
		break;
	case PART_OWNER:
		bind_i64(st, 1, found->filter.owner_admin_id);
		break;
	case PART_GROUP:
		bind_i64(st, 1, found->filter.group_id);
		break;
	case PART_PREFIX:
		bind_text(st, 1, found->prefix);
		bind_text(st, 2, found->prefix_end);
		break;
	case PARTS:
		break;
	}
	return st;
}

/* The status as it is stored and as it is now are two things for those who are late. */
static bool ask(struct user_found *found, int64_t id)
{
	const struct user_filter *filter = &found->filter;
	bool state = filter->status >= 0 && !id_set_has(&found->late_in, id);
	sqlite3_stmt *st;
	enum res res;

	if (state && id_set_has(&found->late_out, id))
		return false;
	if ((st = conn_stmt(found->conn, SQL[ASK]))) {
		bind_i64(st, 1, id);
		bind_text(st, 2, state ? user_status_words[filter->status] : "");
		bind_text(st, 3, filter->tag);
		bind_i64(st, 4, filter->owner_admin_id);
		bind_i64(st, 5, filter->group_id);
		bind_text(st, 6, found->prefix);
		bind_text(st, 7, found->prefix_end);
	}
	res = stmt_row(found->conn, st);
	stmt_end(found->conn, st);
	if (res != RES_OK && res != RES_NOT_FOUND)
		found->res = res;
	return res == RES_OK;
}

/* --- Sets --- */

struct gather {
	struct id_set set;
	size_t max;
	bool failed;
};

static bool gather_put(void *ctx, int64_t id)
{
	struct gather *gather = ctx;

	gather->failed = !id_set_add(&gather->set, id);
	return !gather->failed && gather->set.count <= gather->max;
}

/* The ids of one part that are also in `among` (NULL: all of them), as far as gather->max. */
static enum res gather_part(struct user_found *found, enum part part, struct id_set *among,
			    struct gather *gather)
{
	sqlite3_stmt *st = part_rows(found, part);
	bool go_on = true;
	enum res res;

	while (go_on && (res = stmt_row(found->conn, st)) == RES_OK) {
		int64_t id = column_i64(st, 0);

		if (part == PART_STATE && id_set_has(&found->late_out, id))
			continue;
		if (!among || id_set_has(among, id))
			go_on = gather_put(gather, id);
	}
	stmt_end(found->conn, st);
	if (go_on && res != RES_NOT_FOUND)
		return res;
	return gather->failed ? RES_NOMEM : RES_OK;
}

struct merge {
	struct gather *into;
	struct id_set *among;
};

static bool merge_put(void *ctx, int64_t id)
{
	struct merge *merge = ctx;

	return (merge->among && !id_set_has(merge->among, id)) || gather_put(merge->into, id);
}

/* With those who have the status now and are stored with another. */
static enum res gather_whole(struct user_found *found, enum part part, struct id_set *among,
			     struct gather *gather)
{
	struct merge merge = {gather, among};
	enum res res = gather_part(found, part, among, gather);

	if (res == RES_OK && part == PART_STATE)
		id_set_each(&found->late_in, INT64_MIN, merge_put, &merge);
	return gather->failed ? RES_NOMEM : res;
}

static void take_set(struct user_found *found, struct id_set *set)
{
	id_set_free(&found->set);
	found->set = *set;
	found->all = found->asked = false;
}

struct sift {
	struct user_found *found;
	bool (*keep)(struct user_found *found, int64_t id);
	struct gather kept;
};

static bool sift_one(void *ctx, int64_t id)
{
	struct sift *sift = ctx;

	if (sift->keep(sift->found, id) && !gather_put(&sift->kept, id))
		return false;
	return sift->found->res == RES_OK;
}

static enum res sift_set(struct user_found *found, struct id_set *from,
			 bool (*keep)(struct user_found *found, int64_t id))
{
	struct sift sift = {.found = found, .keep = keep, .kept = {.max = SIZE_MAX}};

	id_set_each(from, INT64_MIN, sift_one, &sift);
	if (from != &found->set)
		id_set_free(from);
	take_set(found, &sift.kept.set);
	return sift.kept.failed ? RES_NOMEM : found->res;
}

/* The first part that few pass gives the candidates. */
static enum res find_parts(struct user_found *found)
{
	enum part only;
	size_t parts = part_count(found, &only);

	for (enum part part = 0; part < PARTS; part++) {
		size_t few = parts > 1 ? FEW_ASKED : FEW;
		struct gather gather = {.max = few};
		enum res res;

		if (!has_part(found, part))
			continue;
		res = gather_whole(found, part, NULL, &gather);
		if (res == RES_OK && gather.set.count <= few && parts > 1)
			return sift_set(found, &gather.set, ask);
		if (res == RES_OK && gather.set.count <= few) {
			take_set(found, &gather.set);
			return RES_OK;
		}
		id_set_free(&gather.set);
		if (res != RES_OK)
			return res;
	}
	found->all = parts == 0;
	found->asked = parts > 0;
	return RES_OK;
}

static enum res settle_parts(struct user_found *found)
{
	struct gather have = {.max = SIZE_MAX};
	bool first = true;

	for (enum part part = 0; part < PARTS; part++) {
		struct gather next = {.max = SIZE_MAX};
		enum res res;

		if (!has_part(found, part))
			continue;
		res = gather_whole(found, part, first ? NULL : &have.set, &next);
		id_set_free(&have.set);
		have.set = next.set;
		first = false;
		if (res != RES_OK) {
			id_set_free(&have.set);
			return res;
		}
	}
	take_set(found, &have.set);
	return RES_OK;
}

bool user_found_has(struct user_found *found, int64_t id)
{
	if (found->asked && ++found->questions > QUESTIONS_MAX && found->res == RES_OK)
		found->res = settle_parts(found);
	if (found->res != RES_OK)
		return false;
	if (found->asked)
		return ask(found, id);
	return found->all || id_set_has(&found->set, id);
}

/* --- Search --- */

enum res user_found_stream(struct user_found *found, int64_t after,
			   bool (*each)(void *ctx, int64_t id), void *ctx)
{
	sqlite3_stmt *st = conn_stmt(found->conn, SQL[BY_MATCH]);
	bool go_on = true;
	enum res res;

	if (st) {
		bind_text(st, 1, found->search.match);
		bind_i64(st, 2, after);
	}
	while (go_on && (res = stmt_row(found->conn, st)) == RES_OK) {
		int64_t id = column_i64(st, 0);

		if (user_found_has(found, id))
			go_on = each(ctx, id);
		else
			go_on = found->res == RES_OK;
	}
	stmt_end(found->conn, st);
	if (go_on && res == RES_CORRUPT && conn_index_damaged(found->conn))
		return RES_BUSY; /* a timer makes it anew */
	if (go_on && res != RES_NOT_FOUND)
		return res;
	return found->res;
}

static enum res find_by_index(struct user_found *found)
{
	struct gather gather = {.max = USER_SEARCH_FEW};
	enum res res = user_found_stream(found, INT64_MIN, gather_put, &gather);

	if (res == RES_OK && gather.failed)
		res = RES_NOMEM;
	found->streamed = res == RES_OK && gather.set.count > gather.max;
	if (res != RES_OK || found->streamed)
		id_set_free(&gather.set);
	else
		take_set(found, &gather.set);
	return res;
}

static bool row_has_text(struct user_found *found, int64_t id)
{
	sqlite3_stmt *st = conn_stmt(found->conn, SQL[TEXTS]);
	bool hit = false;
	enum res res;

	if (st)
		bind_i64(st, 1, id);
	res = stmt_row(found->conn, st);
	for (int i = 0; res == RES_OK && !hit && i < TEXT_COLUMNS; i++) {
		const char *text = (const char *)sqlite3_column_text(st, i);

		hit = text &&
		      search_text_in(&found->search, text, (size_t)sqlite3_column_bytes(st, i));
	}
	stmt_end(found->conn, st);
	if (res != RES_OK && res != RES_NOT_FOUND)
		found->res = res;
	return hit;
}

static enum res find_nobody(struct user_found *found)
{
	struct id_set nobody = {0};

	take_set(found, &nobody);
	return RES_OK;
}

static enum res find_two(struct user_found *found, int64_t id, int64_t other)
{
	struct gather two = {.max = 2};

	if (user_found_has(found, id))
		gather_put(&two, id);
	if (!two.failed && other != id && user_found_has(found, other))
		gather_put(&two, other);
	take_set(found, &two.set);
	return two.failed ? RES_NOMEM : found->res;
}

/* Digits are a Telegram id and may stand in a name as well: both count. */
static enum res add_telegram(struct user_found *found, const char *q, struct gather *have)
{
	int64_t telegram_id;
	sqlite3_stmt *st;
	enum res res;

	if (!search_telegram(q, &telegram_id))
		return RES_OK;
	if ((st = conn_stmt(found->conn, SQL[BY_TELEGRAM])))
		bind_i64(st, 1, telegram_id);
	while ((res = stmt_row(found->conn, st)) == RES_OK)
		if (user_found_has(found, column_i64(st, 0)) &&
		    !gather_put(have, column_i64(st, 0)))
			break;
	stmt_end(found->conn, st);
	return have->failed ? RES_NOMEM : res == RES_NOT_FOUND ? RES_OK : res;
}

static enum res find_text(struct user_found *found)
{
	/* Of a few the rows are looked at. */
	if (!found->all && !found->asked && found->set.count <= FEW_ASKED)
		return sift_set(found, &found->set, row_has_text);
	return find_by_index(found);
}

static enum res find_text_or_telegram(struct user_found *found, const char *q)
{
	struct gather telegram = {.max = USER_SEARCH_FEW};
	struct merge merge = {&telegram, NULL};
	enum res res = add_telegram(found, q, &telegram);

	if (res == RES_OK)
		res = find_text(found);
	if (res != RES_OK || telegram.set.count == 0) {
		id_set_free(&telegram.set);
		return res;
	}
	/* Beside many hits, the one who has the id matters more than they do. */
	if (!found->streamed)
		id_set_each(&found->set, INT64_MIN, merge_put, &merge);
	found->streamed = false;
	take_set(found, &telegram.set);
	return telegram.failed ? RES_NOMEM : RES_OK;
}

/* Under three characters there are no trigrams: then it is the beginning of a name. */
static enum res read_prefix(struct user_found *found, struct arena *arena, bool *nobody)
{
	const char *name;

	*nobody = name_check(arena, "q", found->search.text, &name, &found->prefix, NULL) != RES_OK;
	if (*nobody)
		return RES_OK;
	found->prefix_end = arena_printf(arena, "%s\xf4\x8f\xbf\xbf", found->prefix);
	return found->prefix_end ? RES_OK : RES_NOMEM;
}

/* The one whose link, credential, id or slot this is, and beside him whoever has it as his name:
 * "1.1" may be both. RES_NOT_FOUND: not an exact text of anybody. */
static enum res find_exact(struct user_found *found, const char *q, struct arena *arena)
{
	const char *name, *key;
	int64_t id, named;
	enum res res = user_exact(found->conn, q, arena, &id);

	if (res != RES_OK)
		return res;
	res = RES_NOT_FOUND;
	if (name_check(arena, "q", q, &name, &key, NULL) == RES_OK)
		res = user_id_by_name_key(found->conn, key, &named);
	if (res == RES_NOT_FOUND)
		named = id;
	else if (res != RES_OK)
		return res;
	return find_two(found, id, named);
}

static enum res find_q(struct user_found *found, struct arena *arena)
{
	const char *q = found->filter.q;
	bool nobody;
	enum res res = find_exact(found, q, arena);

	if (res != RES_NOT_FOUND)
		return res;
	if (!search_text_read(arena, q, &found->search))
		return found->search.text ? find_nobody(found) : RES_NOMEM;
	if (found->search.match)
		return find_text_or_telegram(found, q);
	if ((res = read_prefix(found, arena, &nobody)) != RES_OK)
		return res;
	return nobody ? find_nobody(found) : find_parts(found);
}

/* --- The whole filter --- */

static bool late_put(void *ctx, const struct user *user, enum user_status now)
{
	struct user_found *found = ctx;

	if ((int)now == found->filter.status)
		return id_set_add(&found->late_in, user->id);
	return (int)user->state != found->filter.status || id_set_add(&found->late_out, user->id);
}

enum res user_find(struct conn *conn, const struct user_filter *filter, int64_t now_unix,
		   struct arena *arena, struct user_found *out)
{
	enum res res = RES_OK;

	memset(out, 0, sizeof *out);
	out->conn = conn;
	out->filter = *filter;
	if (filter->status >= 0)
		res = user_late_each(conn, now_unix, late_put, out);
	if (res == RES_OK)
		res = find_parts(out);
	if (res == RES_OK && filter->q)
		res = find_q(out, arena);
	if (res != RES_OK)
		user_found_free(out);
	return res;
}

enum res user_found_settle(struct user_found *found)
{
	struct gather gather = {.max = SIZE_MAX};
	enum res res;

	if (!found->streamed)
		return found->asked ? settle_parts(found) : RES_OK;
	res = user_found_stream(found, INT64_MIN, gather_put, &gather);
	if (res == RES_OK && gather.failed)
		res = RES_NOMEM;
	found->streamed = false;
	take_set(found, &gather.set);
	return res;
}

/* --- Counting --- */

struct tally {
	int64_t count, max;
};

static bool tally_one(void *ctx, int64_t id)
{
	struct tally *tally = ctx;

	(void)id;
	return ++tally->count < tally->max;
}

enum res user_found_count(struct user_found *found, int64_t max, int64_t *count)
{
	struct tally tally = {.max = max};
	enum part only = PARTS;
	enum res res = RES_OK;

	if (found->streamed) {
		res = user_found_stream(found, INT64_MIN, tally_one, &tally);
		*count = tally.count;
		return res;
	}
	if (found->asked && part_count(found, &only) == 1) { /* no more than needed of its index */
		struct gather gather = {.max = (size_t)max};

		res = gather_whole(found, only, NULL, &gather);
		*count = (int64_t)gather.set.count < max ? (int64_t)gather.set.count : max;
		id_set_free(&gather.set);
		return res;
	}
	res = user_found_settle(found);
	*count = (int64_t)found->set.count < max ? (int64_t)found->set.count : max;
	return res;
}
