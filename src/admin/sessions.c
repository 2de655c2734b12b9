/* admin/sessions.c – signing in and out, and the list of one's own sessions. */
#include <stddef.h>
#include <string.h>

#include "auth_input.h"
#include "auth_internal.h"
#include "handlers_auth.h"
#include "hythe/auth/session.h"
#include "hythe/model/name.h"
#include "hythe/ops/admins.h"
#include "hythe/ops/settings.h"

#define USER_AGENT_MAX 200
#define SESSIONS_SHOWN 500

/* --- Attempts --- */

static bool locked_out(struct call *call, unsigned retry_s)
{
	problem_set(&call->problem, RES_LIMITED, "locked_out", NULL,
		    "Too many wrong passwords; the next try is in %u minutes.",
		    (retry_s + 59) / 60);
	call->problem.retry_s = retry_s;
	return false;
}

bool attempt_begin(struct attempt *attempt, struct call *call, const char *login)
{
	const struct addr *client = request_client(call->req);
	unsigned retry_s;

	*attempt = (struct attempt){.lockout = auth_lockout(admin_auth_of(call->admin)),
				    .login = login};
	if (client)
		attempt->network = addr_network(client, 32, 64);
	/* The control socket has no address and is root's. */
	if (attempt->network.family &&
	    !lockout_enter(attempt->lockout, LOCKOUT_KIND_ADDRESS, &attempt->network,
			   sizeof attempt->network, LOCKOUT_ADDRESS_MAX, &retry_s))
		return locked_out(call, retry_s);
	if (!lockout_enter(attempt->lockout, LOCKOUT_KIND_LOGIN, login, strlen(login),
			   LOCKOUT_LOGIN_MAX, &retry_s))
		return locked_out(call, retry_s);
	return true;
}

static void address_back(const struct attempt *attempt)
{
	if (attempt->network.family)
		lockout_take_back(attempt->lockout, LOCKOUT_KIND_ADDRESS, &attempt->network,
				  sizeof attempt->network);
}

void attempt_right(const struct attempt *attempt)
{
	lockout_clear(attempt->lockout, LOCKOUT_KIND_LOGIN, attempt->login, strlen(attempt->login));
	address_back(attempt);
}

void attempt_undecided(const struct attempt *attempt)
{
	lockout_take_back(attempt->lockout, LOCKOUT_KIND_LOGIN, attempt->login,
			  strlen(attempt->login));
	address_back(attempt);
}

/* --- Signing in --- */

#define SIGN_IN_TEXT(member)                                                                       \
	{                                                                                          \
		.name = #member, .kind = JSON_IN_TEXT,                                             \
		.offset = offsetof(struct sign_in_input, member), .min = 1, .max = 1024,           \
		.required = true                                                                   \
	}
const struct json_field sign_in_fields[SIGN_IN_FIELDS] = {SIGN_IN_TEXT(name),
							  SIGN_IN_TEXT(password)};

void call_wipe_body(struct call *call)
{
	size_t len;
	char *body = request_body(call->req, &len);

	if (body)
		explicit_bzero(body, len);
}

/* The login's key; what is no name at all is its own key, and leads nowhere. */
static const char *login_key(struct call *call, const char *name)
{
	const char *stored, *key;

	return name_check(call->arena, "name", name, &stored, &key, NULL) == RES_OK ? key : name;
}

/* RES_NOT_FOUND: no such login. */
static enum res read_account(struct call *call, const char *key, struct admin_account *out)
{
	struct conn *conn = call_read(call);
	enum res res;

	if (!conn)
		return call->problem.res;
	res = admin_by_name_key(conn, key, call->arena, out);
	store_read_end(conn); /* before the hash: it takes longer than any read may */
	return res;
}

static enum res bad_credentials(struct call *call)
{
	return problem_set(&call->problem, RES_UNAUTHORIZED, "bad_credentials", NULL,
			   "Name or password is wrong.");
}

/* Same answer and same work for an unknown login, a disabled one and a wrong password. */
static enum res verify(struct call *call, const char *key, const char *password,
		       struct admin_account *account)
{
	enum res res = read_account(call, key, account);
	bool usable = res == RES_OK && account->enabled;

	if (res != RES_OK && res != RES_NOT_FOUND)
		return res;
	res = password_verify(auth_hasher(admin_auth_of(call->admin)), password,
			      res == RES_OK ? account->password_hash : NULL);
	if (res == RES_UNAUTHORIZED || (res == RES_OK && !usable))
		return bad_credentials(call);
	return res;
}

static const char *user_agent_of(struct call *call)
{
	const char *header = request_header(call->req, "User-Agent", NULL);
	size_t len = header ? strnlen(header, USER_AGENT_MAX) : 0;
	char *copy = arena_dup(call->arena, header ? header : "", len);

	for (size_t i = 0; copy && i < len; i++)
		if (copy[i] < 0x20 || copy[i] > 0x7e)
			copy[i] = '?';
	return copy ? copy : "";
}

static void audit_failure(struct call *call, const char *key)
{
	struct op_call op = {.actor = call->actor,
			     .source = STORE_FROM_ADMIN,
			     .action = "auth.sign_in",
			     .target = key};

	op_audit_refusal(call_ops(call), &op, &call->problem);
}

static const char *address_text(struct call *call)
{
	const struct addr *client = request_client(call->req);
	char *text = arena_alloc(call->arena, ADDR_TEXT_MAX);

	if (text && client && client->family)
		addr_print(client, text);
	return text ? text : "";
}

/* It is the admin who signs in, not the nobody who asked. */
static struct reply *write_session(struct call *call, const struct admin_account *account,
				   struct sign_in *in)
{
	const struct actor *asker = call->actor;
	struct reply *reply;
	struct actor actor = {
		.kind = ACTOR_ADMIN,
		.admin_id = account->id,
		.public_id = account->public_id,
		.address = call->actor->address,
	};

	*in = (struct sign_in){
		.admin_id = account->id,
		.seen_hash = account->password_hash,
		.address = address_text(call),
		.user_agent = user_agent_of(call),
	};
	call->actor = &actor;
	reply = call_write(call, op_sign_in, in, 200, NULL);
	call->actor = asker;
	return reply;
}

static void write_rights(struct json_writer *w, uint32_t rights)
{
	json_array(w, "rights");
	for (uint32_t bit = RIGHT_USERS_READ; bit <= RIGHT_METRICS; bit <<= 1)
		if (rights & bit)
			json_text(w, NULL, right_word((enum right)bit));
	json_end(w);
}

static void session_write(struct json_writer *w, const struct session *session, bool current)
{
	json_text(w, "id", session->public_id.text);
	json_int(w, "created_unix", session->created_unix);
	json_int(w, "last_seen_unix", session->last_seen_unix);
	json_int(w, "expires_unix", session->expires_unix);
	json_text(w, "address", session->address);
	json_text(w, "user_agent", session->user_agent);
	json_flag(w, "current", current);
}

static struct reply *signed_in(struct call *call, const struct admin_account *account,
			       const struct sign_in *in, const char *cookie)
{
	enum role role = ROLE_READONLY;
	struct json_writer w;
	struct reply *reply;
	struct buf body;

	call->wrote = false; /* nothing that a node would hear of */
	call_json(call, &w, &body);
	json_text(&w, "kind", "session");
	json_object(&w, "admin");
	admin_account_write(&w, account);
	json_end(&w);
	if (role_of_word(account->role, &role))
		write_rights(&w, role_rights(role));
	json_object(&w, "session");
	session_write(&w, &in->session, true);
	json_end(&w);
	reply = call_json_end(call, &w, &body, 200, 0);
	reply_header(reply, "Set-Cookie", cookie);
	return reply;
}

/* Set-Cookie's value for this panel's URL; NULL: none may be set there. */
static char *cookie_for(struct call *call, const char *token)
{
	const struct ops *ops = call_ops(call);
	struct settings_snapshot *snapshot = settings_take(ops->settings);
	struct buf text;
	char *copy = NULL;

	buf_init(&text, 512);
	if (session_cookie_print(&text, snapshot->settings.public_url, token))
		copy = arena_dup(call->arena, text.data, text.len);
	settings_give(ops->settings, snapshot);
	buf_free_secret(&text);
	return copy;
}

static struct reply *sign_in_with(struct call *call, const struct sign_in_input *input)
{
	const char *key = login_key(call, input->name);
	struct admin_account account;
	struct attempt attempt;
	struct sign_in in;
	struct reply *reply;
	char *cookie;
	enum res res;

	if (!attempt_begin(&attempt, call, key))
		return call_problem(call);
	if ((res = verify(call, key, input->password, &account)) != RES_OK) {
		if (res == RES_UNAUTHORIZED)
			audit_failure(call, key);
		else
			attempt_undecided(&attempt);
		call_set(call, res, NULL, NULL, "Signing in failed.");
		return call_problem(call);
	}
	if ((reply = write_session(call, &account, &in)) != NULL) {
		attempt_undecided(&attempt);
		return reply;
	}
	attempt_right(&attempt);
	cookie = cookie_for(call, in.secret.text);
	explicit_bzero(&in.secret, sizeof in.secret);
	if (!cookie)
		return call_fail(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	reply = signed_in(call, &account, &in, cookie);
	explicit_bzero(cookie, strlen(cookie));
	return reply;
}

struct reply *auth_sign_in(struct call *call)
{
	struct sign_in_input input;
	struct reply *reply;
	uint64_t present;

	if (auth_not_cross_origin(admin_auth_of(call->admin), call->req, &call->problem) != RES_OK)
		return call_problem(call);
	if (!cookie_for(call, NULL))
		return call_fail(call, RES_CONFLICT, "https_needed", NULL,
				 "Sessions need a public URL that is https, or http on a loopback "
				 "name; use a token here.");
	if (!call_input(call, sign_in_fields, SIGN_IN_FIELDS, &input, &present))
		return call_problem(call);
	reply = sign_in_with(call, &input);
	call_wipe_body(call);
	return reply;
}

/* --- Signing out, and what is signed in --- */

struct reply *auth_sign_out(struct call *call)
{
	char *cookie = cookie_for(call, NULL);
	struct reply *reply = call_write(call, op_sign_out, NULL, 204, NULL);

	if (reply)
		return reply;
	reply = reply_empty(204);
	if (cookie)
		reply_header(reply, "Set-Cookie", cookie);
	return reply;
}

static const char *const kind_words[] = {[ACTOR_NOBODY] = "nobody",
					 [ACTOR_ADMIN] = "session",
					 [ACTOR_TOKEN] = "token",
					 [ACTOR_CONTROL] = "control",
					 [ACTOR_TIMER] = "timer"};

static enum res write_admin(struct call *call, struct conn *conn, struct json_writer *w)
{
	struct admin_account account;
	enum res res = RES_NOT_FOUND;

	if (call->actor->admin_id != 0)
		res = admin_by_id(conn, call->actor->admin_id, call->arena, &account);
	if (res == RES_NOT_FOUND) {
		json_null(w, "admin");
		return RES_OK;
	}
	if (res != RES_OK)
		return res;
	json_object(w, "admin");
	admin_account_write(w, &account);
	json_end(w);
	return RES_OK;
}

struct reply *auth_session_get(struct call *call)
{
	struct conn *conn = call_read(call);
	struct json_writer w;
	struct buf body;
	enum res res;

	if (!conn)
		return call_problem(call);
	call_json(call, &w, &body);
	json_text(&w, "kind", kind_words[call->actor->kind]);
	res = write_admin(call, conn, &w);
	store_read_end(conn);
	if (res != RES_OK) {
		call_set(call, res, NULL, NULL, "The account cannot be read.");
		return call_json_fail(call, &body);
	}
	write_rights(&w, call->actor->rights);
	if (call->actor->kind == ACTOR_TOKEN)
		json_text(&w, "token_id", call->actor->public_id.text);
	return call_json_end(call, &w, &body, 200, 0);
}

struct reply *sessions_list(struct call *call)
{
	static const char *const no_names[] = {NULL};
	int64_t now_unix = call_now(call);
	struct session *rows = NULL;
	struct json_writer w;
	struct conn *conn;
	struct buf body;
	size_t count = 0;
	enum res res;

	if (!call_params_only(call, no_names) || !(conn = call_read(call)))
		return call_problem(call);
	res = sessions_of_admin(conn, call->actor->admin_id, SESSIONS_SHOWN, call->arena, &rows,
				&count);
	store_read_end(conn);
	if (res != RES_OK)
		return call_fail(call, res, NULL, NULL, "The sessions cannot be read.");
	call_json(call, &w, &body);
	json_array(&w, "items");
	for (size_t i = 0; i < count; i++) {
		if (!session_alive(rows[i].last_seen_unix, rows[i].expires_unix, now_unix))
			continue;
		json_object(&w, NULL);
		session_write(&w, &rows[i], rows[i].id == call->actor->session_id);
		json_end(&w);
	}
	json_end(&w);
	json_null(&w, "next_cursor");
	return call_json_end(call, &w, &body, 200, 0);
}

struct reply *sessions_delete(struct call *call)
{
	char *id = arena_dup(call->arena, call->id, strlen(call->id));
	struct reply *reply;

	if (!id)
		return call_fail(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	reply = call_write(call, op_session_delete, id, 200, NULL);
	return reply ? reply : call_deleted(call);
}
