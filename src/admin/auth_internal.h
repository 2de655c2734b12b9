/* admin/auth_internal.h – what the handlers around signing in share. Threads: a call belongs to
 * one. */
#ifndef HYTHE_ADMIN_AUTH_INTERNAL_H
#define HYTHE_ADMIN_AUTH_INTERNAL_H

#include "auth.h"
#include "call.h"
#include "hythe/auth/lockout.h"
#include "hythe/auth/password.h"
#include "hythe/store/admins.h"

struct hasher *auth_hasher(struct admin_auth *auth);
struct lockout *auth_lockout(struct admin_auth *auth);
/* Only refuses what a browser says comes from elsewhere: for calls without a cookie (sign-in). */
enum res auth_not_cross_origin(struct admin_auth *auth, const struct request *req,
			       struct problem *problem);

/* What the address of a page or call begins with, up to the path: the admin's own address or the
 * public URL, and the secret prefix. */
struct settings;
bool admin_base_write(struct admin *admin, const struct settings *settings, struct buf *out);

/* One account's members. */
void admin_account_write(struct json_writer *w, const struct admin_account *account);
/* Clears the body, once everything was read from it: it held a password. */
void call_wipe_body(struct call *call);

/* Attempts of a login and of its network; false: the problem (429, locked_out) is set. */
struct attempt {
	struct lockout *lockout;
	const char *login; /* its key, or what was typed */
	struct addr network;
};
bool attempt_begin(struct attempt *attempt, struct call *call, const char *login);
void attempt_right(const struct attempt *attempt);     /* the password was right */
void attempt_undecided(const struct attempt *attempt); /* nobody could tell */

/* How a login's failures are keyed. */
#define LOCKOUT_KIND_LOGIN   'l'
#define LOCKOUT_KIND_ADDRESS 'a'

#endif
