/* admin/module.h – what the files of admin/ share: the layout of `struct admin`.
 * Threads: every member is set before the first request, and looks after its own locking. */
#ifndef HYTHE_ADMIN_MODULE_H
#define HYTHE_ADMIN_MODULE_H

#include "hythe/admin/admin.h"

struct admin_auth;
struct user_order;
struct overview_box;
struct jobs;

struct admin {
	struct admin_config config;
	struct limiter *limiter;  /* by client network; not for tokens and the control socket */
	struct admin_auth *auth;  /* admin/auth.h */
	struct user_order *order; /* store/user_list.h: snapshots of sort keys without an index */
	struct overview_box *overview; /* admin/overview.h */
	struct jobs *jobs;             /* admin/jobs.h: bulk work beyond one transaction */
	int64_t started_unix;
};

#endif
