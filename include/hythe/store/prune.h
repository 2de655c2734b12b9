/* store/prune.h – what is past keeping, whatever table it stands in: one statement a table.
 *
 * How long each is kept is ops/prune.c's to say. Threads: the writer's connection only. */
#ifndef HYTHE_STORE_PRUNE_H
#define HYTHE_STORE_PRUNE_H

#include "hythe/store/store.h"

enum prune_table {
	PRUNE_USAGE_HOUR,
	PRUNE_USAGE_DAY,
	PRUNE_NODE_USAGE_HOUR,
	PRUNE_NODE_REPORT,
	PRUNE_NODE_METRIC,
	PRUNE_IDEMPOTENCY,
	PRUNE_AUDIT,
	PRUNE_EVENT,
	PRUNE_SESSION,
	PRUNE_ENROLLMENT,
	PRUNE_USER,
	PRUNE_TABLES
};
/* At most `limit` rows that are older; `*removed` says how many went. `before` is unix seconds; for
 * PRUNE_USAGE_DAY a local date as yyyymmdd. */
enum res prune_rows(struct conn *conn, enum prune_table table, int64_t before, int64_t limit,
		    int64_t *removed);

#endif
