/* admin/users.c – users: one, a list, and what can be done to one. Bulk is bulk.c. */
#include <stddef.h>
#include <string.h>

#include "handlers.h"
#include "hythe/ops/users.h"
#include "hythe/store/credentials.h"
#include "hythe/store/user_list.h"
#include "hythe/store/users.h"
#include "module.h"
#include "render.h"
#include "resource.h"
#include "user_filter.h"

#define PAGE_ARENA_MAX ((size_t)12 << 20) /* 500 users with notes and meta at their longest */
#define BY_ID_MARK     "#"                /* in a cursor of a list that comes in the order of ids */
#define EXTEND_MAX_S   (INT64_C(36500) * 86400)
#define EXTEND_MAX     (INT64_C(1) << 62)
#define KEEP_MAX_S     (INT64_C(30) * 86400)

/* --- One user --- */

static bool user_find_visible(struct call *call, struct conn *conn, const char *id,
			      struct user *user)
{
	enum res res = user_by_public_id(conn, id, call->arena, user);

	if (res == RES_OK && call->actor->role == ROLE_RESELLER &&
	    (call->actor->kind == ACTOR_ADMIN || call->actor->kind == ACTOR_TOKEN) &&
	    user->owner_admin_id != call->actor->admin_id)
		res = RES_NOT_FOUND;
	if (res != RES_OK)
		call_set(call, res, NULL, NULL,
			 res == RES_NOT_FOUND ? "There is no such user."
					      : "The user cannot be read.");
	return res == RES_OK;
}

static bool put_user(struct call *call, struct conn *conn, struct json_writer *w, const char *id,
		     int64_t *version)
{
	struct settings_snapshot *snapshot;
	struct user user;
	bool good;

	if (!user_find_visible(call, conn, id, &user))
		return false;
	snapshot = settings_take(call_ops(call)->settings);
	good = render_user(call, conn, snapshot, &user, call->arena, w);
	settings_give(call_ops(call)->settings, snapshot);
	*version = user.version;
	return good;
}

static const struct resource resource = {
	.write = put_user,
	.fields = user_fields,
	.field_count = USER_FIELDS,
	.create = op_user_create,
	.patch = op_user_patch,
	.remove = op_user_delete,
};

struct reply *users_get(struct call *call)
{
	return resource_answer(call, resource.write, call->id, 200);
}

struct reply *users_create(struct call *call)
{
	struct user_create create = {0};

	return resource_create(call, &resource, &create, &create.input, &create.input.present,
			       create.public_id.text);
}

static struct user_target target_of(const struct call *call)
{
	return (struct user_target){.public_id = call->id, .if_match = call->if_match};
}

struct reply *users_patch(struct call *call)
{
	struct user_patch patch = {.target = target_of(call)};

	return resource_patch(call, &resource, &patch, &patch.input, &patch.input.present);
}

struct reply *users_delete(struct call *call)
{
	struct user_target target = target_of(call);

	return resource_delete(call, &resource, &target);
}

/* --- Actions --- */

static struct reply *act_on_user(struct call *call, op_fn fn)
{
	struct user_target target = target_of(call);
	uint64_t present;

	if (!call_input(call, NULL, 0, &target, &present))
		return call_problem(call);
	return resource_change(call, &resource, fn, &target);
}

struct reply *users_enable(struct call *call)
{
	return act_on_user(call, op_user_enable);
}

struct reply *users_disable(struct call *call)
{
	return act_on_user(call, op_user_disable);
}

struct reply *users_reset_usage(struct call *call)
{
	return act_on_user(call, op_user_reset_usage);
}

struct reply *users_rotate_link(struct call *call)
{
	return act_on_user(call, op_user_rotate_link);
}

const struct json_field user_extend_fields[USER_EXTEND_FIELDS] = {
	{.name = "add_s",
	 .kind = JSON_IN_I64,
	 .offset = offsetof(struct user_extend,     add_s),
	 .max = EXTEND_MAX_S},
	{.name = "add_bytes",
	 .kind = JSON_IN_I64,
	 .offset = offsetof(struct user_extend,                       add_bytes),
	 .max = EXTEND_MAX},
	{.name = "reset_usage",
	 .kind = JSON_IN_BOOL,
	 .offset = offsetof(struct user_extend, reset_usage)                             },
};

const struct json_field user_rotate_fields[USER_ROTATE_FIELDS] = {
	{.name = "keep_s",
	 .kind = JSON_IN_I64,
	 .offset = offsetof(struct user_rotate, keep_s),
	 .max = KEEP_MAX_S},
};

struct reply *users_extend(struct call *call)
{
	struct user_extend extend = {.target = target_of(call)};
	uint64_t present;

	if (!call_input(call, user_extend_fields, USER_EXTEND_FIELDS, &extend, &present))
		return call_problem(call);
	if (extend.add_s == 0 && extend.add_bytes == 0 && !extend.reset_usage)
		return call_fail(
			call, RES_INVALID, "missing_field", "add_s",
			"Say what to add: time (add_s) or data (add_bytes), more than 0, or "
			"reset_usage.");
	return resource_change(call, &resource, op_user_extend, &extend);
}

struct reply *users_rotate_credential(struct call *call)
{
	struct user_rotate rotate = {.target = target_of(call)};
	uint64_t present;

	if (!call_input(call, user_rotate_fields, USER_ROTATE_FIELDS, &rotate, &present))
		return call_problem(call);
	return resource_change(call, &resource, op_user_rotate_credential, &rotate);
}

/* --- Secrets --- */

static bool put_credentials(struct call *call, struct conn *conn, const struct user *user,
			    struct json_writer *w)
{
	struct credential *list;
	size_t count = 0;
	enum res res = user_credentials(conn, user->id, call->arena, &list, &count);

	json_array(w, "credentials");
	for (size_t i = 0; res == RES_OK && i < count; i++) {
		struct buf text;

		buf_init(&text, 256);
		res = user_credential_text(call_ops(call)->vault, &user->public_id, &list[i],
					   &text);
		json_object(w, NULL);
		json_text_n(w, "credential", text.data ? text.data : "", text.len);
		json_int(w, "not_after_unix", list[i].not_after_unix);
		json_int(w, "created_unix", list[i].created_unix);
		json_end(w);
		buf_free_secret(&text);
	}
	json_end(w);
	if (res != RES_OK)
		call_set(call, res, NULL, NULL, "The user's credentials cannot be read.");
	return res == RES_OK;
}

static bool put_secrets(struct call *call, struct conn *conn, struct json_writer *w,
			int64_t *version)
{
	struct settings_snapshot *snapshot;
	struct user user;
	struct buf link;
	bool good;

	if (!user_find_visible(call, conn, call->id, &user))
		return false;
	*version = user.version;
	json_text(w, "id", user.public_id.text);
	snapshot = settings_take(call_ops(call)->settings);
	buf_init(&link, 1024);
	good = render_link(call, conn, &snapshot->settings, &user, call->arena, &link);
	if (good)
		json_text_n(w, "link", link.data, link.len);
	settings_give(call_ops(call)->settings, snapshot);
	buf_free_secret(&link);
	return good && put_credentials(call, conn, &user, w);
}

struct reply *users_link(struct call *call)
{
	struct conn *conn = call_read(call);
	struct json_writer w;
	struct buf body;
	int64_t version = 0;
	bool good;

	if (!conn)
		return call_problem(call);
	call_json(call, &w, &body);
	good = put_secrets(call, conn, &w, &version);
	store_read_end(conn);
	/* Its own tag would be the version, and the link depends on settings as well. */
	return good ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}

/* --- The list --- */

static enum user_sort sort_of(const char *word, bool *descending)
{
	int sort = 0;

	*descending = *word == '-';
	word += *descending;
	while (user_sort_words[sort] && strcmp(user_sort_words[sort], word) != 0)
		sort++;
	return (enum user_sort)sort;
}

static bool read_mark(struct call *call, const struct list_query *list, struct user_mark *mark)
{
	struct cursor cursor;

	if (!call_cursor_read(call, list, &cursor))
		return false;
	mark->set = list->cursor != NULL;
	mark->by_id = cursor.number == 1 && strcmp(cursor.text, BY_ID_MARK) == 0;
	mark->number = cursor.number;
	mark->text = cursor.text;
	mark->id = cursor.id;
	return true;
}

static struct cursor cursor_of(const struct user_mark *mark, enum user_sort sort)
{
	if (mark->by_id)
		return (struct cursor){.number = 1, .text = BY_ID_MARK, .id = mark->id};
	return (struct cursor){.number = sort == USER_SORT_NAME ? 0 : mark->number,
			       .text = mark->text,
			       .id = mark->id};
}

static bool put_page(struct call *call, struct conn *conn, const struct user_page *page,
		     struct arena *arena, struct json_writer *w)
{
	struct settings_snapshot *snapshot = settings_take(call_ops(call)->settings);
	bool good = true;

	json_array(w, "items");
	for (size_t i = 0; good && i < page->count; i++) {
		json_object(w, NULL);
		good = render_user(call, conn, snapshot, &page->users[i], arena, w);
		json_end(w);
	}
	json_end(w);
	settings_give(call_ops(call)->settings, snapshot);
	return good;
}

static bool put_list(struct call *call, struct conn *conn, const struct list_query *list,
		     const struct user_list_query *query, struct arena *arena,
		     struct json_writer *w)
{
	struct user_page page;
	struct cursor next;
	enum res res = user_list(conn, call->admin->order, query, call_now(call), arena, &page);

	if (res != RES_OK) {
		call_set(call, res, NULL, NULL, "The list cannot be read.");
		return false;
	}
	if (!put_page(call, conn, &page, arena, w))
		return false;
	next = cursor_of(&page.next, query->sort);
	call_next_cursor(call, w, list, page.more ? &next : NULL);
	json_text(w, "sort", page.by_id ? "id" : list->sort);
	if (page.total >= 0) {
		json_int(w, "total", page.total);
		json_flag(w, "total_capped", page.total_capped);
	}
	return true;
}

struct reply *users_list(struct call *call)
{
	static const char *const filters[] = {"status", "group", "tag", NULL};
	struct list_query list;
	struct user_list_query query = {0};
	struct conn *conn;
	struct json_writer w;
	struct arena arena;
	struct buf body;
	bool good;

	if (!call_list_query(call, user_sort_words, filters, &list) ||
	    !read_mark(call, &list, &query.after) || !(conn = call_read(call)))
		return call_problem(call);
	query.sort = sort_of(list.sort, &query.descending);
	query.limit = list.limit;
	query.total = list.total;
	arena_init(&arena, PAGE_ARENA_MAX);
	call_json(call, &w, &body);
	good = user_filter_read(call, conn, list.status, list.group, list.tag, list.q,
				&query.filter) &&
	       put_list(call, conn, &list, &query, &arena, &w);
	store_read_end(conn);
	arena_free(&arena);
	return good ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}
