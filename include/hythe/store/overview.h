/* store/overview.h – what the panel holds, in numbers. About 20 ms at 100,000 users: for one reader
 * at a time, who shares it (admin/overview.c). Threads: a connection is used by one at a time. */
#ifndef HYTHE_STORE_OVERVIEW_H
#define HYTHE_STORE_OVERVIEW_H

#include "hythe/model/user.h"
#include "hythe/store/store.h"

struct overview {
	int64_t users, users_by_status[USER_STATUSES]; /* true at this second */
	int64_t groups, profiles, hosts;
	int64_t nodes, nodes_enabled;
	int64_t inbounds, inbounds_running, inbounds_failed;
	int64_t up_bytes, down_bytes; /* ever; also of deleted users whose rows are kept */
	int64_t revision;
};

enum res overview_read(struct conn *conn, int64_t now_unix, struct overview *out);

#endif
