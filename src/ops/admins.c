#include "hythe/ops/admins.h"

#include <string.h>

#include "hythe/model/name.h"
#include "hythe/store/settings.h"
#include "hythe/util/json_write.h"
#include "op_parts.h"

/* clang-format off */
const struct json_field admin_fields[ADMIN_FIELDS] = {
	[ADMIN_F_NAME]     = {FIELD_TEXT(admin_input, name, 1, NAME_MAX_BYTES)},
	[ADMIN_F_ROLE]     = {FIELD_WORD(admin_input, role, role_words)},
	[ADMIN_F_LANGUAGE] = {FIELD_TEXT(admin_input, language, 0, 7)},
	[ADMIN_F_ENABLED]  = {FIELD_BOOL(admin_input, enabled)},
	[ADMIN_F_PASSWORD] = {FIELD_TEXT(admin_input, password, 0, 1024)},
};
/* clang-format on */

static bool given(const struct admin_input *input, enum admin_field field)
{
	return input->present & (UINT64_C(1) << field);
}

static enum res missing(struct op *op, const char *field)
{
	return problem_set(op->problem, RES_INVALID, "missing_field", field, "%s is needed", field);
}

/* --- Rules --- */

static uint32_t rights_of(const struct admin_account *account)
{
	enum role role;

	return role_of_word(account->role, &role) ? role_rights(role) : 0;
}

static enum res within_own(struct op *op, uint32_t rights, const char *field)
{
	if ((rights & ~op->actor->rights) == 0)
		return RES_OK;
	return problem_set(op->problem, RES_FORBIDDEN, "more_rights_than_own", field,
			   "that admin has rights which you have not");
}

static bool is_acting_owner(const struct admin_account *account)
{
	return account->enabled && strcmp(account->role, role_words[ROLE_OWNER]) == 0;
}

/* After the rows were changed. */
static enum res owner_left(struct op *op)
{
	int64_t owners;
	enum res res = admins_count_owners(op->conn, &owners);

	if (res != RES_OK || owners > 0)
		return res;
	return problem_set(op->problem, RES_CONFLICT, "last_owner", NULL,
			   "this is the last owner who can sign in; make another one first");
}

static enum res target_read(struct op *op, struct admin_target *target,
			    struct admin_account *account)
{
	enum res res = admin_by_public_id(op->conn, target->public_id, op->arena, account);

	if (res == RES_NOT_FOUND)
		return problem_set(op->problem, res, "not_found", NULL, "There is no such admin.");
	if (res != RES_OK ||
	    (res = op_check_version(op, target->if_match, account->version)) != RES_OK)
		return res;
	target->id = account->id;
	return within_own(op, rights_of(account), NULL);
}

static enum res name_free(struct op *op, const char *name_key, int64_t own_id)
{
	struct admin_account other;
	enum res res = admin_by_name_key(op->conn, name_key, op->arena, &other);

	if (res == RES_NOT_FOUND || (res == RES_OK && other.id == own_id))
		return RES_OK;
	if (res != RES_OK)
		return res;
	return problem_set(op->problem, RES_CONFLICT, "name_taken", "name",
			   "another admin has this name");
}

static bool language_fits(const char *language)
{
	for (const char *at = language; *at; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '-'))
			return false;
	return strlen(language) < 8;
}

static bool same(const struct admin_account *a, const struct admin_account *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->role, b->role) == 0 &&
	       a->enabled == b->enabled && strcmp(a->language, b->language) == 0;
}

/* What the input says over what the account has. */
static enum res apply(struct op *op, const struct admin_input *input, struct admin_account *account)
{
	enum res res;

	if (given(input, ADMIN_F_NAME)) {
		res = name_check(op->arena, "name", input->name, &account->name, &account->name_key,
				 op->problem);
		if (res != RES_OK ||
		    (res = name_free(op, account->name_key, account->id)) != RES_OK)
			return res;
	}
	if (given(input, ADMIN_F_ROLE)) {
		/* He could sign in and no more: his limits are not built yet. */
		if (input->role == ROLE_RESELLER)
			return problem_set(op->problem, RES_INVALID, "not_supported", "role",
					   "The role reseller cannot be given yet: choose owner, "
					   "helper or readonly.");
		account->role = role_words[input->role];
	}
	if (given(input, ADMIN_F_ENABLED))
		account->enabled = input->enabled;
	if (given(input, ADMIN_F_LANGUAGE)) {
		if (!language_fits(input->language))
			return problem_set(op->problem, RES_INVALID, "bad_value", "language",
					   "language must be a code such as en or pt-BR");
		account->language = input->language;
	}
	return within_own(op, rights_of(account), "role");
}

/* Name, role and enabled are what a later reader of the audit wants to see. */
static enum res audit_account(struct op *op, const char *action,
			      const struct admin_account *account)
{
	struct json_writer w;
	struct buf detail;
	enum res res = RES_NOMEM;

	buf_init(&detail, 4096);
	json_start(&w, &detail);
	json_object(&w, NULL);
	json_text(&w, "name", account->name);
	json_text(&w, "role", account->role);
	json_flag(&w, "enabled", account->enabled);
	json_end(&w);
	if (json_finish(&w))
		res = op_audit(op, action, account->public_id.text, detail.data);
	buf_free(&detail);
	return res;
}

/* --- Admins --- */

static enum res insert(struct op *op, struct admin_account *account, const char *action)
{
	enum res res;

	public_id_new(ID_ADMIN, &account->public_id);
	if ((res = admin_insert(op->conn, account)) != RES_OK ||
	    (res = op_made(op, account->public_id.text)) != RES_OK)
		return res;
	return audit_account(op, action, account);
}

enum res op_admin_create(struct op *op, void *arg)
{
	struct admin_create *create = arg;
	struct admin_account account = {.role = "",
					.language = "",
					.enabled = true,
					.password_hash = create->password_hash,
					.created_unix = op->now_unix};
	enum res res;

	if (!given(&create->input, ADMIN_F_NAME))
		return missing(op, "name");
	if (!given(&create->input, ADMIN_F_ROLE))
		return missing(op, "role");
	if ((res = apply(op, &create->input, &account)) != RES_OK ||
	    (res = insert(op, &account, "admin.create")) != RES_OK)
		return res;
	create->id = account.id;
	create->public_id = account.public_id;
	return RES_OK;
}

enum res op_admin_patch(struct op *op, void *arg)
{
	struct admin_patch *patch = arg;
	struct admin_account before, account;
	enum res res;

	if ((res = target_read(op, &patch->target, &before)) != RES_OK)
		return res;
	account = before;
	if ((res = apply(op, &patch->input, &account)) != RES_OK || same(&before, &account) ||
	    (res = admin_update(op->conn, &account)) != RES_OK)
		return res;
	if (is_acting_owner(&before) && !is_acting_owner(&account) && (res = owner_left(op)) != RES_OK)
		return res;
	if (!account.enabled && (res = sessions_drop(op->conn, account.id, 0)) != RES_OK)
		return res;
	if ((res = txn_change_setting(op->txn)) != RES_OK)
		return res;
	return audit_account(op, "admin.change", &account);
}

enum res op_admin_delete(struct op *op, void *arg)
{
	struct admin_target *target = arg;
	struct admin_account account;
	enum res res;

	if ((res = target_read(op, target, &account)) != RES_OK ||
	    (res = admin_delete(op->conn, account.id)) != RES_OK)
		return res;
	if (is_acting_owner(&account) && (res = owner_left(op)) != RES_OK)
		return res;
	if ((res = txn_change_setting(op->txn)) != RES_OK)
		return res;
	return audit_account(op, "admin.delete", &account);
}

enum res op_admin_password(struct op *op, void *arg)
{
	struct admin_password *change = arg;
	struct admin_account account;
	enum res res;

	if ((res = target_read(op, &change->target, &account)) != RES_OK)
		return res;
	if (change->seen_hash && strcmp(change->seen_hash, account.password_hash) != 0)
		return problem_set(op->problem, RES_CONFLICT, "password_changed",
				   "current_password", "the password was changed meanwhile");
	account.password_hash = change->password_hash;
	if ((res = admin_update(op->conn, &account)) != RES_OK ||
	    (res = sessions_drop(op->conn, account.id, change->keep_session_id)) != RES_OK ||
	    (res = txn_change_setting(op->txn)) != RES_OK)
		return res;
	return op_audit(op, "admin.password", account.public_id.text, NULL);
}

/* --- Sessions --- */

static enum res bad_credentials(struct op *op)
{
	return problem_set(op->problem, RES_UNAUTHORIZED, "bad_credentials", NULL,
			   "name or password is wrong");
}

enum res op_sign_in(struct op *op, void *arg)
{
	struct sign_in *in = arg;
	struct admin_account account;
	enum res res = admin_by_id(op->conn, in->admin_id, op->arena, &account);

	/* Between looking and writing the account may have changed. */
	if (res == RES_NOT_FOUND ||
	    (res == RES_OK &&
	     (!account.enabled || strcmp(account.password_hash, in->seen_hash) != 0)))
		return bad_credentials(op);
	if (res != RES_OK)
		return res;
	session_secret_new(&in->secret);
	public_id_new(ID_SESSION, &in->session.public_id);
	in->session.admin_id = account.id;
	in->session.created_unix = op->now_unix;
	in->session.last_seen_unix = op->now_unix;
	in->session.expires_unix = op->now_unix + SESSION_LIFE_S;
	in->session.address = in->address;
	in->session.user_agent = in->user_agent;
	if ((res = session_insert(op->conn, &in->session, in->secret.hash)) != RES_OK ||
	    (res = admin_signed_in(op->conn, account.id, op->now_unix)) != RES_OK)
		return res;
	return op_audit(op, "auth.sign_in", account.public_id.text, NULL);
}

enum res op_sign_out(struct op *op, void *arg)
{
	enum res res;

	(void)arg;
	if (op->actor->session_id == 0)
		return problem_set(op->problem, RES_CONFLICT, "no_session", NULL,
				   "this call was not made by a session");
	res = session_delete(op->conn, op->actor->session_id);
	if (res == RES_NOT_FOUND)
		return RES_OK; /* ended meanwhile: what was wanted */
	if (res != RES_OK || (res = txn_change_setting(op->txn)) != RES_OK)
		return res;
	return op_audit(op, "auth.sign_out", op->actor->public_id.text, NULL);
}

enum res op_session_delete(struct op *op, void *arg)
{
	const char *public_id = arg;
	enum res res = session_delete_own(op->conn, op->actor->admin_id, public_id);

	if (res == RES_NOT_FOUND)
		return problem_set(op->problem, res, "not_found", NULL,
				   "There is no such session of yours.");
	if (res != RES_OK || (res = txn_change_setting(op->txn)) != RES_OK)
		return res;
	return op_audit(op, "session.delete", public_id, NULL);
}

/* --- The first owner --- */

#define LINK_HASH "owner_link_hash"
#define LINK_END  "owner_link_expires_unix"

static enum res no_owner_yet(struct op *op)
{
	int64_t owners;
	enum res res = admins_count_owners(op->conn, &owners);

	if (res != RES_OK || owners == 0)
		return res;
	return problem_set(op->problem, RES_CONFLICT, "owner_exists", NULL,
			   "this panel has an owner already");
}

static enum res link_end(struct op *op)
{
	enum res res = setting_drop(op->conn, LINK_HASH);

	return res == RES_OK ? setting_drop(op->conn, LINK_END) : res;
}

enum res op_owner_link_create(struct op *op, void *arg)
{
	struct owner_link *link = arg;
	enum res res;

	if (!link->force && (res = no_owner_yet(op)) != RES_OK)
		return res;
	session_secret_new(&link->secret);
	link->expires_unix = op->now_unix + OWNER_LINK_LIFE_S;
	if ((res = setting_put_blob(op->conn, LINK_HASH, link->secret.hash, SHA256_LEN)) !=
		    RES_OK ||
	    (res = setting_put_i64(op->conn, LINK_END, link->expires_unix)) != RES_OK)
		return res;
	return op_audit(op, "owner_link.create", "", NULL);
}

enum res owner_link_live(struct conn *conn, const char *token, size_t token_len, int64_t now_unix)
{
	struct session_secret asked;
	struct buf hash;
	int64_t expires_unix;
	enum res res;

	if (!session_secret_of_text(token, token_len, &asked))
		return RES_NOT_FOUND;
	buf_init(&hash, 256);
	if ((res = setting_i64(conn, LINK_END, &expires_unix)) == RES_OK)
		res = setting_blob(conn, LINK_HASH, &hash);
	if (res == RES_OK && (now_unix >= expires_unix || hash.len != SHA256_LEN ||
			      !secret_equal(hash.data, asked.hash, SHA256_LEN)))
		res = RES_NOT_FOUND;
	buf_free(&hash);
	return res;
}

static enum res make_owner(struct op *op, const char *name, const char *password_hash,
			   const char *action, struct public_id *out)
{
	struct admin_account account = {.role = role_words[ROLE_OWNER],
					.language = "",
					.enabled = true,
					.password_hash = password_hash,
					.created_unix = op->now_unix};
	enum res res =
		name_check(op->arena, "name", name, &account.name, &account.name_key, op->problem);

	if (res != RES_OK || (res = name_free(op, account.name_key, 0)) != RES_OK ||
	    (res = insert(op, &account, action)) != RES_OK)
		return res;
	*out = account.public_id;
	return RES_OK;
}

enum res op_owner_claim(struct op *op, void *arg)
{
	struct owner_claim *claim = arg;
	enum res res = owner_link_live(op->conn, claim->token, claim->token_len, op->now_unix);

	if (res == RES_NOT_FOUND)
		return problem_set(op->problem, res, "link_spent", NULL,
				   "This link is no longer valid.");
	if (res != RES_OK || (res = make_owner(op, claim->name, claim->password_hash,
					       "owner_link.claim", &claim->public_id)) != RES_OK)
		return res;
	return link_end(op);
}

enum res op_owner_make(struct op *op, void *arg)
{
	struct owner_make *make = arg;
	enum res res;

	if ((res = no_owner_yet(op)) != RES_OK ||
	    (res = make_owner(op, make->name, make->password_hash, "owner.make",
			      &make->public_id)) != RES_OK)
		return res;
	return link_end(op); /* a link that was handed out must not make a second one */
}
