/* admin/handlers_nodes.h – profiles, nodes, inbounds and hosts of the admin API: the handlers'
 * names. */
#ifndef HYTHE_ADMIN_HANDLERS_NODES_H
#define HYTHE_ADMIN_HANDLERS_NODES_H

#include "call.h"

struct reply *profiles_list(struct call *call);
struct reply *profiles_create(struct call *call);
struct reply *profiles_get(struct call *call);
struct reply *profiles_patch(struct call *call);
struct reply *profiles_delete(struct call *call);

struct reply *nodes_list(struct call *call);
struct reply *nodes_create(struct call *call);
struct reply *nodes_get(struct call *call);
struct reply *nodes_patch(struct call *call);
struct reply *nodes_delete(struct call *call);

struct reply *inbounds_list(struct call *call);
struct reply *inbounds_create(struct call *call);
struct reply *inbounds_get(struct call *call);
struct reply *inbounds_patch(struct call *call);
struct reply *inbounds_delete(struct call *call);

struct reply *hosts_list(struct call *call);
struct reply *hosts_create(struct call *call);
struct reply *hosts_get(struct call *call);
struct reply *hosts_patch(struct call *call);
struct reply *hosts_delete(struct call *call);

#endif
