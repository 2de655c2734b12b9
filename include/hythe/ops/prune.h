/* ops/prune.h – what is past keeping goes, a few hundred rows a call, so that a job stays short.
 * How long each is kept stands in ops/prune.c, where its rows are in store/prune.h. */
#ifndef HYTHE_OPS_PRUNE_H
#define HYTHE_OPS_PRUNE_H

#include "hythe/ops/ops.h"

struct prune {
	/* out: */
	int64_t removed;
	bool more; /* call again */
};
enum res op_prune(struct op *op, void *prune); /* NULL: nobody asks how many */

#endif
