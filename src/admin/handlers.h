/* admin/handlers.h – what the rows of routes.c call. Each reads input, calls an operation or a
 * reader, and replies. Threads: a worker each; those of quick rows also the event thread. */
#ifndef HYTHE_ADMIN_HANDLERS_H
#define HYTHE_ADMIN_HANDLERS_H

#include "call.h"

#include "handlers_auth.h"
#include "handlers_nodes.h"

struct reply *users_list(struct call *call);
struct reply *users_create(struct call *call);
struct reply *users_get(struct call *call);
struct reply *users_patch(struct call *call);
struct reply *users_delete(struct call *call);
struct reply *users_enable(struct call *call);
struct reply *users_disable(struct call *call);
struct reply *users_extend(struct call *call);
struct reply *users_reset_usage(struct call *call);
struct reply *users_rotate_link(struct call *call);
struct reply *users_rotate_credential(struct call *call);
struct reply *users_link(struct call *call);
struct reply *users_bulk(struct call *call);

struct reply *groups_list(struct call *call);
struct reply *groups_create(struct call *call);
struct reply *groups_get(struct call *call);
struct reply *groups_patch(struct call *call);
struct reply *groups_delete(struct call *call);

struct reply *jobs_get(struct call *call);
struct reply *overview_get(struct call *call);
struct reply *health_get(struct call *call);
struct reply *spec_get(struct call *call);

#endif
