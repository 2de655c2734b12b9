/* admin/admins.c – the people who operate the panel: list, make, change, remove, new passwords. */
#include <stddef.h>
#include <string.h>

#include "auth_input.h"
#include "auth_internal.h"
#include "handlers_auth.h"
#include "hythe/ops/admins.h"
#include "hythe/ops/settings.h"

void admin_account_write(struct json_writer *w, const struct admin_account *account)
{
	json_text(w, "id", account->public_id.text);
	json_text(w, "name", account->name);
	json_text(w, "role", account->role);
	json_text(w, "language", account->language);
	json_flag(w, "enabled", account->enabled);
	json_int(w, "created_unix", account->created_unix);
	json_int(w, "signed_in_unix", account->signed_in_unix);
	json_int(w, "version", account->version);
}

/* --- Reading --- */

static enum res read_account(struct call *call, const char *id, struct admin_account *out)
{
	struct conn *conn = call_read(call);
	enum res res;

	if (!conn)
		return call->problem.res;
	res = admin_by_public_id(conn, id, call->arena, out);
	store_read_end(conn);
	if (res == RES_NOT_FOUND)
		return call_set(call, res, NULL, NULL, "There is no such admin.");
	return res == RES_OK ? res : call_set(call, res, NULL, NULL, "The admin cannot be read.");
}

/* The account as it is now. */
static struct reply *answer(struct call *call, const char *id, int status)
{
	struct admin_account account;
	struct json_writer w;
	struct reply *reply;
	struct buf body;

	if (read_account(call, id, &account) != RES_OK)
		return call_problem(call);
	call_json(call, &w, &body);
	admin_account_write(&w, &account);
	reply = call_json_end(call, &w, &body, status, account.version);
	if (status == 201)
		call_located(call, reply, id);
	return reply;
}

struct reply *admins_get(struct call *call)
{
	return answer(call, call->id, 200);
}

static struct reply *page(struct call *call, const struct list_query *query,
			  const struct admin_account *rows, size_t count, int64_t total)
{
	bool more = count > (size_t)query->limit;
	struct cursor next = {.text = ""};
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	json_array(&w, "items");
	for (size_t i = 0; i < count && i < (size_t)query->limit; i++) {
		json_object(&w, NULL);
		admin_account_write(&w, &rows[i]);
		json_end(&w);
		next.id = rows[i].id;
	}
	json_end(&w);
	call_next_cursor(call, &w, query, more ? &next : NULL);
	if (query->total)
		json_int(&w, "total", total);
	return call_json_end(call, &w, &body, 200, 0);
}

struct reply *admins_list(struct call *call)
{
	static const char *const sorts[] = {"created", NULL};
	struct admin_account *rows = NULL;
	struct list_query query;
	struct cursor cursor;
	struct conn *conn;
	int64_t total = 0;
	size_t count = 0;
	enum res res;

	if (!call_list_query(call, sorts, NULL, &query) || !call_cursor_read(call, &query, &cursor))
		return call_problem(call);
	if (query.q || query.sort[0] == '-')
		return call_fail(call, RES_INVALID, "bad_value", query.q ? "q" : "sort",
				 "Admins are listed in the order in which they were made, without "
				 "a search.");
	if (!(conn = call_read(call)))
		return call_problem(call);
	/* One more than asked for says whether there is a next page. */
	res = admins_page(conn, cursor.id, query.limit + 1, call->arena, &rows, &count);
	if (res == RES_OK && query.total)
		res = admins_count(conn, &total);
	store_read_end(conn);
	if (res != RES_OK)
		return call_fail(call, res, NULL, NULL, "The admins cannot be read.");
	return page(call, &query, rows, count, total);
}

/* --- Writing --- */

static bool preview_account(struct call *call, struct conn *conn, struct json_writer *w,
			    const char *id)
{
	struct admin_account account;
	enum res res = admin_by_public_id(conn, id, call->arena, &account);

	if (res != RES_OK) {
		call_set(call, res, NULL, NULL, "The admin cannot be read.");
		return false;
	}
	admin_account_write(w, &account);
	return true;
}

static bool preview_create(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	struct admin_create *create = arg;

	return preview_account(call, conn, w, create->public_id.text);
}

static bool preview_same(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	(void)arg;
	return preview_account(call, conn, w, call->id);
}

static bool hash_password(struct call *call, const char *field, const char *password,
			  char out[PASSWORD_HASH_MAX])
{
	enum res res = password_check(field, password, &call->problem);

	if (res != RES_OK)
		return false;
	res = password_hash(auth_hasher(admin_auth_of(call->admin)), password, out);
	if (res != RES_OK)
		call_set(call, res, NULL, NULL, "The password could not be hashed.");
	return res == RES_OK;
}

static struct reply *create_with(struct call *call, struct admin_create *create)
{
	char hash[PASSWORD_HASH_MAX];
	struct op_outcome out;
	struct reply *reply;

	if (!create->input.password)
		return call_fail(call, RES_INVALID, "missing_field", "password",
				 "password is needed");
	if (!hash_password(call, "password", create->input.password, hash))
		return call_problem(call);
	create->password_hash = hash;
	call->preview = preview_create;
	if ((reply = call_write(call, op_admin_create, create, 201, &out)) != NULL)
		return reply;
	return answer(call, call_made(call, &out, create->public_id.text), 201);
}

struct reply *admins_create(struct call *call)
{
	struct admin_create create = {0};
	struct reply *reply;

	if (!call_input(call, admin_fields, ADMIN_FIELDS, &create.input, &create.input.present))
		return call_problem(call);
	reply = create_with(call, &create);
	call_wipe_body(call);
	return reply;
}

struct reply *admins_patch(struct call *call)
{
	struct admin_patch patch = {
		.target = {.public_id = call->id, .if_match = call->if_match}
        };
	struct reply *reply;

	if (!call_input(call, admin_fields, ADMIN_PATCH_FIELDS, &patch.input, &patch.input.present))
		return call_problem(call);
	call->preview = preview_same;
	if ((reply = call_write(call, op_admin_patch, &patch, 200, NULL)) != NULL)
		return reply;
	return answer(call, call->id, 200);
}

struct reply *admins_delete(struct call *call)
{
	struct admin_target target = {.public_id = call->id, .if_match = call->if_match};
	struct reply *reply;

	call->preview = call_preview_deleted;
	reply = call_write(call, op_admin_delete, &target, 200, NULL);
	return reply ? reply : call_deleted(call);
}

/* --- Passwords --- */

const struct json_field password_fields[PASSWORD_FIELDS] = {
	{.name = "password",
	 .kind = JSON_IN_TEXT,
	 .offset = offsetof(struct password_input, password),
	 .max = 1024,
	 .required = true},
	{.name = "current_password",
	 .kind = JSON_IN_TEXT,
	 .offset = offsetof(struct password_input, current_password),
	 .min = 1,
	 .max = 1024     },
};

/* Who changes his own password in a session proves that he knows the old one: a browser left open
 * must not be enough to lock its owner out. */
static bool prove_current(struct call *call, const struct password_input *input,
			  const struct admin_account *account)
{
	struct attempt attempt;
	enum res res;

	if (!input->current_password) {
		call_set(call, RES_INVALID, "missing_field", "current_password",
			 "current_password is needed to change one's own password");
		return false;
	}
	if (!attempt_begin(&attempt, call, account->name_key))
		return false;
	res = password_verify(auth_hasher(admin_auth_of(call->admin)), input->current_password,
			      account->password_hash);
	if (res == RES_OK)
		attempt_right(&attempt);
	else if (res != RES_UNAUTHORIZED)
		attempt_undecided(&attempt);
	if (res == RES_UNAUTHORIZED)
		call_set(call, RES_FORBIDDEN, "bad_credentials", "current_password",
			 "The present password is another.");
	else if (res != RES_OK)
		call_set(call, res, NULL, NULL, "The password could not be checked.");
	return res == RES_OK;
}

static struct reply *password_with(struct call *call, const struct password_input *input)
{
	bool own = call->actor->kind == ACTOR_ADMIN &&
		   strcmp(call->actor->public_id.text, call->id) == 0;
	struct admin_password change = {
		.target = {.public_id = call->id, .if_match = call->if_match}
        };
	struct lockout *lockout = auth_lockout(admin_auth_of(call->admin));
	char hash[PASSWORD_HASH_MAX];
	struct admin_account account;
	struct reply *reply;

	if (!own && !call_may(call, RIGHT_ADMINS))
		return call_fail(call, RES_FORBIDDEN, "forbidden", NULL,
				 "This needs the right admins.");
	if (read_account(call, call->id, &account) != RES_OK ||
	    (own && !prove_current(call, input, &account)) ||
	    !hash_password(call, "password", input->password, hash))
		return call_problem(call);
	change.password_hash = hash;
	change.seen_hash = own ? account.password_hash : NULL;
	change.keep_session_id = own ? call->actor->session_id : 0;
	call->preview = preview_same;
	if ((reply = call_write(call, op_admin_password, &change, 200, NULL)) != NULL)
		return reply;
	lockout_clear(lockout, LOCKOUT_KIND_LOGIN, account.name_key, strlen(account.name_key));
	return answer(call, call->id, 200);
}

struct reply *admins_password(struct call *call)
{
	struct password_input input = {0};
	struct reply *reply;
	uint64_t present;

	if (!call_input(call, password_fields, PASSWORD_FIELDS, &input, &present))
		return call_problem(call);
	reply = password_with(call, &input);
	call_wipe_body(call);
	return reply;
}

/* --- The first owner's link --- */

struct reply *admins_owner_link(struct call *call)
{
	struct owner_link link = {.force = true}; /* who has the socket has the machine */
	struct settings_snapshot *snapshot;
	struct json_writer w;
	struct reply *reply;
	struct buf body, url;
	const struct ops *ops = call_ops(call);
	uint64_t present;

	if (!call_input(call, admin_fields, 0, &link, &present))
		return call_problem(call);
	if ((reply = call_write(call, op_owner_link_create, &link, 201, NULL)) != NULL)
		return reply;
	call->wrote = false;
	buf_init(&url, 1024);
	snapshot = settings_take(ops->settings);
	admin_base_write(call->admin, &snapshot->settings, &url);
	buf_printf(&url, "/setup/%s", link.secret.text);
	call_json(call, &w, &body);
	json_text(&w, "url", url.data);
	buf_reset(&url);
	buf_printf(&url, "/%s/setup/%s", snapshot->settings.admin_prefix, link.secret.text);
	json_text(&w, "path", url.data);
	json_int(&w, "expires_unix", link.expires_unix);
	settings_give(ops->settings, snapshot);
	buf_free_secret(&url);
	return call_json_end(call, &w, &body, 201, 0);
}
