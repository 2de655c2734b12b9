/* ops/admins.h – what can be done to admins, their sessions, and the first owner's link.
 *
 * Passwords come as hashes (auth/password.h): a hash takes some 20 ms, which the writer must not
 * spend. Nobody makes, changes or removes an admin who has rights that he lacks himself (code
 * more_rights_than_own), and the last owner who can sign in stays one (code last_owner).
 * Every change that ends a session or takes rights is told to the settings box's observers. */
#ifndef HYTHE_OPS_ADMINS_H
#define HYTHE_OPS_ADMINS_H

#include "hythe/auth/password.h"
#include "hythe/auth/session.h"
#include "hythe/ops/ops.h"
#include "hythe/store/admins.h"
#include "hythe/util/json_read.h"

enum admin_field {
	ADMIN_F_NAME,
	ADMIN_F_ROLE,
	ADMIN_F_LANGUAGE,
	ADMIN_F_ENABLED,
	ADMIN_F_PASSWORD,
	ADMIN_FIELDS
};
/* A create takes all of them, the first two and the password required; a patch all but the
 * password. */
extern const struct json_field admin_fields[ADMIN_FIELDS];
#define ADMIN_PATCH_FIELDS ADMIN_F_PASSWORD

struct admin_input {
	const char *name, *language, *password; /* password: rules and hash are the caller's */
	int role;                               /* enum role */
	bool enabled;
	uint64_t present;
};

struct admin_target {
	const char *public_id;
	int64_t if_match; /* out: */
	int64_t id;
};
struct admin_create {
	struct admin_input input;
	const char *password_hash; /* out: */
	int64_t id;
	struct public_id public_id;
};
struct admin_patch {
	struct admin_target target;
	struct admin_input input;
};
/* Ends all sessions of that admin but `keep_session_id`; tokens stay. `seen_hash`, if not NULL, is
 * the hash that the old password was compared with: RES_CONFLICT when it is no longer the stored
 * one. */
struct admin_password {
	struct admin_target target;
	const char *password_hash, *seen_hash;
	int64_t keep_session_id;
};

enum res op_admin_create(struct op *op, void *admin_create);
enum res op_admin_patch(struct op *op, void *admin_patch);
enum res op_admin_delete(struct op *op, void *admin_target);
enum res op_admin_password(struct op *op, void *admin_password);

/* --- Sessions --- */

/* The password has been verified against `seen_hash`; the account is looked at again. */
struct sign_in {
	int64_t admin_id;
	const char *seen_hash, *address, *user_agent;
	/* out: */
	struct session_secret secret;
	struct session session;
};
enum res op_sign_in(struct op *op, void *sign_in);
enum res op_sign_out(struct op *op, void *unused); /* the actor's own session */
/* const char *public_id: one of the actor's own. */
enum res op_session_delete(struct op *op, void *public_id);

/* --- The first owner --- */
#define OWNER_LINK_LIFE_S 1800

/* RES_CONFLICT, code owner_exists, when an owner can sign in and `force` is not set. A new link
 * ends the old one. */
struct owner_link {
	bool force; /* out: */
	struct session_secret secret;
	int64_t expires_unix;
};
enum res op_owner_link_create(struct op *op, void *owner_link);
/* Does this text open the page now? Reading does not spend it. RES_NOT_FOUND. */
enum res owner_link_live(struct conn *conn, const char *token, size_t token_len, int64_t now_unix);
/* Spends the link and makes the owner, in one. RES_NOT_FOUND: spent, expired or never there. */
struct owner_claim {
	const char *token;
	size_t token_len;
	const char *name, *password_hash; /* out: */
	struct public_id public_id;
};
enum res op_owner_claim(struct op *op, void *owner_claim);
/* For `hythe setup --owner`: an owner without a link, while there is none (code owner_exists). */
struct owner_make {
	const char *name, *password_hash; /* out: */
	struct public_id public_id;
};
enum res op_owner_make(struct op *op, void *owner_make);

#endif
