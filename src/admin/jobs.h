/* admin/jobs.h – bulk work on more users than one transaction may hold the writer for.
 *
 * One job runs at a time, on a thread of its own, in pieces of a few milliseconds, each a
 * transaction. The last few are remembered until the panel stops. Threads: any. */
#ifndef HYTHE_ADMIN_JOBS_H
#define HYTHE_ADMIN_JOBS_H

#include "hythe/auth/rights.h"
#include "hythe/model/ids.h"
#include "hythe/ops/bulk.h"

#define JOB_ERRORS_MAX 20

struct overview_box;

struct jobs;
/* `overview` hears of every piece, and outlives the jobs. NULL: out of memory. */
struct jobs *jobs_new(struct overview_box *overview);
void jobs_stop(struct jobs *jobs);
void jobs_free(struct jobs *jobs); /* stops first; NULL is fine */

/* Makes the items of one piece from ids; arg is the job's own. NULL: out of memory. */
struct job_work {
	const char *op; /* its word; lives for good */
	const struct bulk_item *(*piece)(void *arg, const int64_t *ids, size_t count);
	void (*free)(void *arg);
	void *arg;
};

/* Takes `ids` and `work` over when RES_OK, and waits for jobs_decide(): so that nothing is stored of
 * a job that cannot run. RES_CONFLICT: another one is running. */
enum res jobs_prepare(struct jobs *jobs, const struct ops *ops, const struct clock *clock,
		      const struct actor *actor, const struct public_id *id,
		      const struct job_work *work, int64_t *ids, size_t count);

/* After RES_OK of jobs_prepare(), once. False: it is dropped, and nobody ever heard of it. */
void jobs_decide(struct jobs *jobs, bool go);

struct job_view {
	struct public_id id;
	const char *op;
	const char *state; /* "running", "done", "stopped" */
	int64_t total, done, failed, skipped;
	int64_t started_unix, finished_unix;      /* 0: not yet */
	struct bulk_error errors[JOB_ERRORS_MAX]; /* index: of the id in the job's order */
	size_t error_count;
};
bool jobs_look(struct jobs *jobs, const char *id, struct job_view *out);

#endif
