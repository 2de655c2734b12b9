#include "jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "module.h"
#include "overview.h"

#define JOBS_KEPT   16
#define PIECE_TRIES 20 /* the writer was busy: the job has time */

struct job {
	struct job_view view; /* guarded by jobs->lock */
	struct jobs *jobs;
	const struct ops *ops;
	const struct clock *clock;
	struct actor actor;
	struct job_work work;
	int64_t *ids;
	size_t count;
	bool decided, go; /* guarded by jobs->lock */
};

struct jobs {
	struct overview_box *overview;
	pthread_mutex_t lock;            /* leaf */
	pthread_cond_t decision;         /* of the one that was prepared */
	struct job_view kept[JOBS_KEPT]; /* guarded by lock: a ring */
	size_t next;                     /* guarded by lock */
	struct job *running;             /* guarded by lock */
	pthread_t thread;                /* guarded by lock, valid while `started` */
	bool started;                    /* guarded by lock: to be joined */
	bool stopping;                   /* guarded by lock */
};

struct jobs *jobs_new(struct overview_box *overview)
{
	struct jobs *jobs = calloc(1, sizeof *jobs);

	if (!jobs)
		return NULL;
	jobs->overview = overview;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->decision, NULL);
	return jobs;
}

static bool stopping(struct jobs *jobs)
{
	bool stop;

	pthread_mutex_lock(&jobs->lock);
	stop = jobs->stopping;
	pthread_mutex_unlock(&jobs->lock);
	return stop;
}

void jobs_stop(struct jobs *jobs)
{
	bool started;

	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	jobs->stopping = true;
	started = jobs->started;
	jobs->started = false;
	pthread_mutex_unlock(&jobs->lock);
	if (started)
		pthread_join(jobs->thread, NULL);
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	jobs_stop(jobs);
	pthread_cond_destroy(&jobs->decision);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}

/* --- The thread --- */

static enum res run_piece(struct job *job, size_t from, size_t count, struct bulk *bulk)
{
	struct op_call call = {.actor = &job->actor,
			       .source = STORE_FROM_ADMIN,
			       .status = 200,
			       .action = "users.bulk",
			       .target = job->view.id.text};
	enum res res = RES_NOMEM;

	bulk->items = job->work.piece(job->work.arg, job->ids + from, count);
	bulk->count = count;
	for (int i = 0; bulk->items && i < PIECE_TRIES; i++) {
		struct problem problem = {0};
		struct op_outcome out;

		res = op_run(job->ops, &call, op_bulk, bulk, NULL, &out, &problem);
		if (res != RES_BUSY || stopping(job->jobs))
			break;
	}
	return res;
}

static void note_piece(struct job *job, size_t from, size_t count, const struct bulk *bulk)
{
	struct job_view *view = &job->view;

	overview_forget(job->jobs->overview);
	pthread_mutex_lock(&job->jobs->lock);
	view->done += (int64_t)(count - bulk->failed - bulk->skipped);
	view->failed += (int64_t)bulk->failed;
	view->skipped += (int64_t)bulk->skipped;
	for (size_t i = 0; i < bulk->error_count && view->error_count < JOB_ERRORS_MAX; i++) {
		view->errors[view->error_count] = bulk->errors[i];
		view->errors[view->error_count++].index += from;
	}
	pthread_mutex_unlock(&job->jobs->lock);
}

static void job_free(struct job *job)
{
	job->work.free(job->work.arg);
	free(job->ids);
	free(job);
}

/* False: it shall not run, and is gone already. */
static bool job_decided(struct job *job)
{
	struct jobs *jobs = job->jobs;
	bool go;

	pthread_mutex_lock(&jobs->lock);
	while (!job->decided)
		pthread_cond_wait(&jobs->decision, &jobs->lock);
	go = job->go;
	if (!go)
		jobs->running = NULL;
	pthread_mutex_unlock(&jobs->lock);
	if (!go)
		job_free(job);
	return go;
}

static void job_end(struct job *job, bool whole)
{
	struct jobs *jobs = job->jobs;

	pthread_mutex_lock(&jobs->lock);
	job->view.state = whole ? "done" : "stopped";
	job->view.finished_unix = clock_unix(job->clock);
	jobs->kept[jobs->next++ % JOBS_KEPT] = job->view;
	jobs->running = NULL;
	pthread_mutex_unlock(&jobs->lock);
	job_free(job);
}

static void *job_run(void *arg)
{
	struct job *job = arg;
	struct bulk bulk = {
		.field = "items", .clock = job->clock, .each_alone = true, .skip_gone = true};
	enum res res = RES_OK;
	size_t from = 0;

	if (!job_decided(job))
		return NULL;
	bulk.errors = calloc(BULK_ERRORS_MAX, sizeof *bulk.errors);
	if (!bulk.errors)
		res = RES_NOMEM;
	while (res == RES_OK && from < job->count && !stopping(job->jobs)) {
		size_t count = job->count - from < BULK_PIECE ? job->count - from : BULK_PIECE;

		if ((res = run_piece(job, from, count, &bulk)) == RES_OK)
			note_piece(job, from, count, &bulk);
		from += count;
	}
	free(bulk.errors);
	job_end(job, res == RES_OK && from >= job->count);
	return NULL;
}

/* --- Starting and looking --- */

static enum res start_locked(struct jobs *jobs, struct job *job)
{
	if (jobs->running || jobs->stopping)
		return RES_CONFLICT;
	if (jobs->started)
		pthread_join(jobs->thread, NULL); /* it takes the lock no more */
	jobs->started = pthread_create(&jobs->thread, NULL, job_run, job) == 0;
	if (!jobs->started)
		return RES_NOMEM;
	jobs->running = job;
	return RES_OK;
}

enum res jobs_prepare(struct jobs *jobs, const struct ops *ops, const struct clock *clock,
		      const struct actor *actor, const struct public_id *id,
		      const struct job_work *work, int64_t *ids, size_t count)
{
	struct job *job = calloc(1, sizeof *job);
	enum res res;

	if (!job)
		return RES_NOMEM;
	*job = (struct job){.jobs = jobs,
			    .ops = ops,
			    .clock = clock,
			    .actor = *actor,
			    .work = *work,
			    .ids = ids,
			    .count = count};
	job->view = (struct job_view){.id = *id,
				      .op = work->op,
				      .state = "running",
				      .total = (int64_t)count,
				      .started_unix = clock_unix(clock)};
	pthread_mutex_lock(&jobs->lock);
	res = start_locked(jobs, job);
	pthread_mutex_unlock(&jobs->lock);
	if (res != RES_OK)
		free(job);
	return res;
}

void jobs_decide(struct jobs *jobs, bool go)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->running->decided = true;
	jobs->running->go = go;
	pthread_cond_signal(&jobs->decision);
	pthread_mutex_unlock(&jobs->lock);
}

bool jobs_look(struct jobs *jobs, const char *id, struct job_view *out)
{
	bool found = false;

	pthread_mutex_lock(&jobs->lock);
	if (jobs->running && jobs->running->go && strcmp(jobs->running->view.id.text, id) == 0) {
		*out = jobs->running->view;
		found = true;
	}
	for (size_t i = 0; !found && i < JOBS_KEPT; i++) {
		found = strcmp(jobs->kept[i].id.text, id) == 0;
		if (found)
			*out = jobs->kept[i];
	}
	pthread_mutex_unlock(&jobs->lock);
	return found;
}

static void put_job(struct json_writer *w, const struct job_view *view)
{
	json_text(w, "id", view->id.text);
	json_text(w, "op", view->op);
	json_text(w, "state", view->state);
	json_int(w, "total", view->total);
	json_int(w, "done", view->done);
	json_int(w, "failed", view->failed);
	json_int(w, "skipped", view->skipped);
	json_int(w, "started_unix", view->started_unix);
	json_int(w, "finished_unix", view->finished_unix);
	json_array(w, "errors");
	for (size_t i = 0; i < view->error_count; i++) {
		json_object(w, NULL);
		json_int(w, "index", (int64_t)view->errors[i].index);
		json_text(w, "code", view->errors[i].problem.code);
		json_text(w, "detail", view->errors[i].problem.detail);
		json_end(w);
	}
	json_end(w);
}

struct reply *jobs_get(struct call *call)
{
	struct job_view *view = arena_alloc(call->arena, sizeof *view);
	struct json_writer w;
	struct buf body;

	if (!view)
		return call_fail(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	if (!jobs_look(call->admin->jobs, call->id, view))
		return call_fail(
			call, RES_NOT_FOUND, NULL, NULL,
			"There is no such job; jobs are forgotten when the panel restarts.");
	call_json(call, &w, &body);
	put_job(&w, view);
	return call_json_end(call, &w, &body, 200, 0);
}
