/* admin/render.h – users and groups as JSON; the members of one object, for the caller to enclose.
 * Read on the connection given, in the same transaction as the row itself. */
#ifndef HYTHE_ADMIN_RENDER_H
#define HYTHE_ADMIN_RENDER_H

#include "call.h"
#include "hythe/model/user.h"
#include "hythe/ops/settings.h"
#include "hythe/store/groups.h"

/* False: call->problem is set. `secrets`: with the link. */
bool render_user(struct call *call, struct conn *conn, const struct settings_snapshot *snapshot,
		 const struct user *user, struct arena *arena, struct json_writer *w);
bool render_group(struct call *call, struct conn *conn, const struct group *group,
		  struct json_writer *w);
/* The whole link of a user into `out` (born by the caller, buf_free_secret() it). */
bool render_link(struct call *call, struct conn *conn, const struct settings *settings,
		 const struct user *user, struct arena *arena, struct buf *out);

#endif
