/* admin/tokens.c – API tokens: each sees his own, who manages admins sees all; the secret is shown
 * once. */
#include <string.h>

#include "auth_internal.h"
#include "handlers_auth.h"
#include "hythe/ops/tokens.h"

static void token_write(struct json_writer *w, const struct api_token *token)
{
	json_text(w, "id", token->public_id.text);
	json_text(w, "name", token->name);
	token_rights_write(w, token->rights);
	json_int(w, "rate_per_s", token->rate_per_s);
	json_int(w, "created_unix", token->created_unix);
	json_int(w, "expires_unix", token->expires_unix);
	json_int(w, "last_used_unix", token->last_used_unix);
	if (token->admin_id == 0) {
		json_null(w, "admin"); /* made on the control socket */
		return;
	}
	json_object(w, "admin");
	json_text(w, "id", token->admin.text);
	json_text(w, "name", token->admin_name);
	json_end(w);
}

static enum res read_visible(struct call *call, const char *id, struct api_token *out)
{
	struct conn *conn = call_read(call);
	enum res res;

	if (!conn)
		return call->problem.res;
	res = token_by_public_id(conn, id, call->arena, out);
	store_read_end(conn);
	if (res == RES_NOT_FOUND || (res == RES_OK && !token_visible(call->actor, out)))
		return call_set(call, RES_NOT_FOUND, NULL, NULL, "There is no such token.");
	return res == RES_OK ? res : call_set(call, res, NULL, NULL, "The token cannot be read.");
}

struct reply *tokens_get(struct call *call)
{
	struct api_token token;
	struct json_writer w;
	struct buf body;

	if (read_visible(call, call->id, &token) != RES_OK)
		return call_problem(call);
	call_json(call, &w, &body);
	token_write(&w, &token);
	return call_json_end(call, &w, &body, 200, 0);
}

static struct reply *page(struct call *call, const struct list_query *query,
			  const struct api_token *rows, size_t count, int64_t total)
{
	bool more = count > (size_t)query->limit;
	struct cursor next = {.text = ""};
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	json_array(&w, "items");
	for (size_t i = 0; i < count && i < (size_t)query->limit; i++) {
		json_object(&w, NULL);
		token_write(&w, &rows[i]);
		json_end(&w);
		next.id = rows[i].id;
	}
	json_end(&w);
	call_next_cursor(call, &w, query, more ? &next : NULL);
	if (query->total)
		json_int(&w, "total", total);
	return call_json_end(call, &w, &body, 200, 0);
}

struct reply *tokens_list(struct call *call)
{
	static const char *const sorts[] = {"created", NULL};
	int64_t whose = call_may(call, RIGHT_ADMINS) ? -1 : call->actor->admin_id;
	struct api_token *rows = NULL;
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
				 "Tokens are listed in the order in which they were made, without "
				 "a search.");
	if (!(conn = call_read(call)))
		return call_problem(call);
	res = api_tokens_page(conn, whose, cursor.id, query.limit + 1, call->arena, &rows, &count);
	if (res == RES_OK && query.total)
		res = api_tokens_count(conn, whose, &total);
	store_read_end(conn);
	if (res != RES_OK)
		return call_fail(call, res, NULL, NULL, "The tokens cannot be read.");
	return page(call, &query, rows, count, total);
}

/* A dry run made a token that is already gone: it is not shown. */
static bool preview(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	struct token_create *create = arg;
	struct api_token token;
	enum res res = token_by_public_id(conn, create->public_id.text, call->arena, &token);

	if (res == RES_OK)
		token_write(w, &token);
	else
		call_set(call, res, NULL, NULL, "The token cannot be read.");
	return res == RES_OK;
}

struct reply *tokens_create(struct call *call)
{
	struct token_create create = {0};
	struct op_outcome out;
	struct api_token token;
	struct json_writer w;
	struct reply *reply;
	struct buf body;
	const char *id;

	if (!call_input(call, token_fields, TOKEN_FIELDS, &create.input, &create.input.present))
		return call_problem(call);
	call->preview = preview;
	if ((reply = call_write(call, op_token_create, &create, 201, &out)) != NULL)
		goto out;
	id = call_made(call, &out, create.public_id.text);
	if (read_visible(call, id, &token) != RES_OK) {
		reply = call_problem(call);
		goto out;
	}
	call_json(call, &w, &body);
	token_write(&w, &token);
	/* Only its hash is kept: a repeat by Idempotency-Key has nothing to show again. */
	if (out.repeated) {
		json_null(&w, "token");
		json_flag(&w, "token_shown_before", true);
	} else {
		json_text(&w, "token", create.secret.text);
	}
	reply = call_json_end(call, &w, &body, 201, 0);
	call_located(call, reply, id);
out:
	explicit_bzero(&create.secret, sizeof create.secret);
	return reply;
}

struct reply *tokens_delete(struct call *call)
{
	char *id = arena_dup(call->arena, call->id, strlen(call->id));
	struct reply *reply;

	if (!id)
		return call_fail(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	call->preview = call_preview_deleted;
	reply = call_write(call, op_token_delete, id, 200, NULL);
	return reply ? reply : call_deleted(call);
}
