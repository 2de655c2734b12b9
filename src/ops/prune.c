/* prune.c – what is past keeping goes, a few rows at a time. */
#include "hythe/ops/prune.h"

#include <stddef.h>

#include "hythe/store/prune.h"

#define DAY_S       86400
#define ROWS_A_CALL 400 /* some milliseconds of the writer's time */

struct keeping {
	enum prune_table table;
	int64_t keep_s;
	bool local_day; /* the column is a local date, not a moment */
};

static const struct keeping keepings[] = {
	{PRUNE_IDEMPOTENCY,     1 * DAY_S,   false},
	{PRUNE_SESSION,         0,           false}, /* the column is their end */
	{PRUNE_ENROLLMENT,      1 * DAY_S,   false},
	{PRUNE_NODE_REPORT,     2 * DAY_S,   false},
	{PRUNE_NODE_METRIC,     40 * DAY_S,  false},
	{PRUNE_USAGE_HOUR,      40 * DAY_S,  false},
	{PRUNE_NODE_USAGE_HOUR, 40 * DAY_S,  false},
	{PRUNE_AUDIT,           180 * DAY_S, false},
	{PRUNE_EVENT,           180 * DAY_S, false},
	{PRUNE_USAGE_DAY,       400 * DAY_S, true },
	{PRUNE_USER,            402 * DAY_S, false}, /* when the last of his days has gone */
};

static int64_t border_of(const struct op *op, const struct keeping *keeping)
{
	int64_t before = op->now_unix - keeping->keep_s;
	struct local_time local;

	if (!keeping->local_day)
		return before;
	zone_local(op->zone, before, &local);
	return local.year * 10000LL + local.month * 100 + local.day;
}

enum res op_prune(struct op *op, void *arg)
{
	struct prune *prune = arg;
	int64_t left = ROWS_A_CALL;
	enum res res = RES_OK;

	for (size_t i = 0; res == RES_OK && left > 0 && i < sizeof keepings / sizeof *keepings;
	     i++) {
		int64_t removed = 0;

		res = prune_rows(op->conn, keepings[i].table, border_of(op, &keepings[i]), left,
				  &removed);
		left -= removed;
	}
	if (prune) {
		prune->removed = ROWS_A_CALL - left;
		prune->more = left <= 0;
	}
	return res;
}
