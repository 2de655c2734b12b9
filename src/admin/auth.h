/* admin/auth.h – who is asking, and whether a browser was tricked into asking.
 *
 * Sessions and tokens are resolved from a small table in memory (by the SHA-256 of what was
 * presented); a miss costs one point read. The table is emptied on the writer thread whenever an
 * admin, a session or a token changes, before the caller of that change is answered. Threads:
 * new/free by the owner; the rest from event threads and workers. */
#ifndef HYTHE_ADMIN_AUTH_H
#define HYTHE_ADMIN_AUTH_H

#include "hythe/auth/password.h"
#include "hythe/auth/rights.h"
#include "hythe/http/request.h"
#include "hythe/ops/ops.h"
#include "hythe/util/clock.h"

struct admin;      /* admin/admin.h */
struct admin_auth; /* laid out in admin/auth.c */

/* Registers with ops->settings (see settings_observe). `cost`: of a password hash; NULL: usual. */
enum res admin_auth_new(const struct ops *ops, const struct clock *clock,
			const struct hasher_cost *cost, struct admin_auth **out);
/* After the store is closed, or when nothing is written any more. */
void admin_auth_free(struct admin_auth *auth);

/* Authorization: Bearer, else the session cookie. RES_UNAUTHORIZED (code not_signed_in, bad_token,
 * session_ended), RES_LIMITED (code rate_limited: the token's own rate), RES_BUSY. `out` has the
 * client's address in every case, and kind ACTOR_NOBODY unless RES_OK. */
enum res auth_actor(struct admin_auth *auth, struct request *req, struct actor *out,
		    struct problem *problem);
/* The actor of the control socket: every right, no sign-in. */
void auth_actor_control(struct actor *out);

/* For requests that change something and came with a cookie (actor.cookie): RES_FORBIDDEN, code
 * cross_origin, unless Sec-Fetch-Site or Origin says that the panel's own page asks. */
enum res auth_same_origin(struct admin_auth *auth, const struct request *req,
			  struct problem *problem);

/* Ends what is cached of sessions and tokens; the settings observer does it by itself. */
void auth_forget(struct admin_auth *auth);

/* --- What the admin module's frame (admin.c) lends the handlers of this part. */
struct admin_auth *admin_auth_of(struct admin *admin);
const struct ops *admin_ops_of(struct admin *admin);

#endif
