/* store/usage.h – a user's counters and the period they count for.
 *
 * Threads: the writer's connection only. */
#ifndef HYTHE_STORE_USAGE_H
#define HYTHE_STORE_USAGE_H

#include "hythe/model/user.h"
#include "hythe/store/store.h"

/* Writes period_no, start, end and used_* of `usage`, and the row that makes the timer look at its
 * end. */
enum res usage_set_period(struct conn *conn, int64_t user_id, const struct user_usage *usage);

#endif
