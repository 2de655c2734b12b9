/* ops/bulk.h – many operations as one: all or none, or each for itself. For op_run().
 *
 * All or none holds the writer for the whole of it, so a caller passes BULK_MAX at most; what goes
 * on past failures (`each_alone`) is cut into pieces of BULK_PIECE by its caller. */
#ifndef HYTHE_OPS_BULK_H
#define HYTHE_OPS_BULK_H

#include "hythe/ops/ops.h"
#include "hythe/util/clock.h"

#define BULK_MAX        1000
#define BULK_PIECE      100
#define BULK_ERRORS_MAX 100 /* that are told */

struct bulk_item {
	op_fn fn;
	void *arg;
};

struct bulk_error {
	size_t index;
	struct problem problem;
};

struct bulk {
	const struct bulk_item *items;
	size_t count;
	const char *field; /* of an item in a problem: "operations" gives "operations[499].name" */
	const struct clock *clock;
	bool each_alone; /* failures are counted, the rest is kept */
	bool skip_gone;  /* an item that is not there any more is no failure */
	/* out: */
	struct bulk_error *errors; /* room for BULK_ERRORS_MAX, the caller's */
	size_t error_count;        /* of those told */
	size_t failed, skipped;
};

/* When items fail, the problem is that of the first of them, and `errors` has those that were found
 * before too much time had gone. */
enum res op_bulk(struct op *op, void *bulk);

#endif
