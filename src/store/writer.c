#include "store_internal.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>

#include "hythe/util/log.h"

#define GROUP_MAX     64
#define GROUP_MS      20    /* after that long no further job joins a group */
#define LOCKED_NAP_MS 5     /* between two tries while another process holds the database */
#define LOCKED_LOG_MS 100   /* shorter is a reader of ours at a half-written log header */
#define SUBMIT_MS     30000 /* a submitted job that could not begin so long is answered RES_BUSY */
#define STOP_MS       3000  /* the same, once the store is closing */
#define LEAN_MS       5000  /* quiet so long: give memory back */
#define CHANGES_KEPT  1024

enum job_state { JOB_WAITING, JOB_BEGUN, JOB_ENDED };

struct job {
	store_job run;
	void *arg;
	store_done done; /* NULL: a caller waits on `moved`, and the job is on his stack */
	pthread_cond_t moved;
	int64_t give_up_ms;   /* submitted ones */
	enum job_state state; /* guarded by writer->lock */
	enum res res;         /* the writer thread's until JOB_ENDED */
	int64_t revision;
	struct job *next; /* in its queue (guarded by writer->lock), then in its group */
};

struct group {
	struct job *first, *last;
	unsigned count;
};

static void group_add(struct group *group, struct job *job)
{
	job->next = NULL;
	if (group->last)
		group->last->next = job;
	else
		group->first = job;
	group->last = job;
	group->count++;
}

/* --- Queues; all called with the lock held --- */

static void queue_put(struct writer *writer, enum store_source source, struct job *job)
{
	struct job_queue *queue = &writer->queues[source];

	if (queue->last)
		queue->last->next = job;
	else
		queue->first = job;
	queue->last = job;
	queue->submitted += job->done != NULL;
	writer->waiting++;
	pthread_cond_signal(&writer->work);
}

/* False: it is not there, somebody else took it. */
static bool queue_remove(struct writer *writer, struct job_queue *queue, const struct job *job)
{
	struct job **at = &queue->first, *before = NULL;

	while (*at && *at != job) {
		before = *at;
		at = &(*at)->next;
	}
	if (!*at)
		return false;
	*at = job->next;
	if (queue->last == job)
		queue->last = before;
	queue->submitted -= job->done != NULL;
	writer->waiting--;
	return true;
}

/* One from each source that has any, in turn. */
static struct job *queue_take(struct writer *writer)
{
	for (unsigned i = 0; i < STORE_SOURCES; i++) {
		struct job_queue *queue = &writer->queues[writer->turn];
		struct job *job = queue->first;

		writer->turn = (writer->turn + 1) % STORE_SOURCES;
		if (!job)
			continue;
		queue_remove(writer, queue, job);
		job->state = JOB_BEGUN;
		return job;
	}
	return NULL;
}

/* --- Callers --- */

static bool on_writer_thread(const struct writer *writer)
{
	return pthread_equal(pthread_self(), writer->thread) != 0;
}

static enum res wait_for_job(struct writer *writer, enum store_source source, struct job *job,
			     unsigned wait_ms)
{
	int64_t until = mono_ms() + wait_ms;

	while (job->state == JOB_WAITING && cond_wait_until(&job->moved, &writer->lock, until))
		;
	if (job->state == JOB_WAITING && queue_remove(writer, &writer->queues[source], job))
		return RES_BUSY;
	while (job->state != JOB_ENDED)
		pthread_cond_wait(&job->moved, &writer->lock);
	return job->res;
}

enum res store_write(struct store *store, enum store_source source, store_job run, void *arg,
		     unsigned wait_ms, int64_t *revision)
{
	struct writer *writer = &store->writer;
	struct job job = {.run = run, .arg = arg};
	enum res res = RES_BUSY;

	if (on_writer_thread(writer)) {
		log_error("store_write_on_writer_thread", "source=%d", (int)source);
		return RES_INTERNAL;
	}
	cond_init_mono(&job.moved);
	pthread_mutex_lock(&writer->lock);
	if (!writer->stopping) {
		queue_put(writer, source, &job);
		res = wait_for_job(writer, source, &job, wait_ms);
	}
	pthread_mutex_unlock(&writer->lock);
	pthread_cond_destroy(&job.moved);
	if (revision)
		*revision = job.revision;
	return res;
}

enum res store_submit(struct store *store, enum store_source source, store_job run, store_done done,
		      void *arg)
{
	struct writer *writer = &store->writer;
	struct job *job = malloc(sizeof *job);
	bool kept;

	if (!job)
		return RES_NOMEM;
	*job = (struct job){
		.run = run, .arg = arg, .done = done, .give_up_ms = mono_ms() + SUBMIT_MS};
	pthread_mutex_lock(&writer->lock);
	kept = !writer->stopping && writer->queues[source].submitted < QUEUE_MAX;
	if (kept)
		queue_put(writer, source, job);
	pthread_mutex_unlock(&writer->lock);
	if (!kept)
		free(job);
	return kept ? RES_OK : RES_BUSY;
}

void store_observe(struct store *store, store_observer observer, void *ctx)
{
	if (store->observer_count >= OBSERVERS_MAX) {
		log_error("store_too_many_observers", "max=%d", OBSERVERS_MAX);
		abort(); /* wiring, at start */
	}
	store->observers[store->observer_count] = observer;
	store->observer_ctx[store->observer_count++] = ctx;
}

/* --- Groups, on the writer thread --- */

static void answer(struct writer *writer, struct group *group)
{
	struct job *job, *next;

	for (job = group->first; job; job = next) {
		store_done done = job->done;

		next = job->next;
		if (done) {
			done(job->arg, job->res, job->revision);
			free(job);
			continue;
		}
		/* The job stands on its caller's stack: it is gone once the lock is free. */
		pthread_mutex_lock(&writer->lock);
		job->state = JOB_ENDED;
		pthread_cond_signal(&job->moved);
		pthread_mutex_unlock(&writer->lock);
	}
	*group = (struct group){0};
}

static struct job *next_job(struct writer *writer)
{
	struct job *job;

	pthread_mutex_lock(&writer->lock);
	job = queue_take(writer);
	pthread_mutex_unlock(&writer->lock);
	return job;
}

/* Something that makes every job of this group untrue: damage, a full disk, or a transaction that
 * SQLite undid by itself. */
static enum res group_broken(struct conn *conn)
{
	if (conn->sick != RES_OK)
		return conn->sick;
	return sqlite3_get_autocommit(conn->db) ? RES_NOMEM : RES_OK;
}

static enum res run_jobs(struct store *store, struct group *group)
{
	struct writer *writer = &store->writer;
	struct txn txn = {.store = store,
			  .conn = writer->conn,
			  .changes = &writer->changes,
			  .sums = &writer->sums};
	int64_t until = mono_ms() + writer->group_ms;
	enum res broken = RES_OK;
	struct job *job;

	while (broken == RES_OK && group->count < GROUP_MAX && (job = next_job(writer)) != NULL) {
		group_add(group, job);
		job->res = txn_run(&txn, job->run, job->arg);
		broken = group_broken(writer->conn);
		if (mono_ms() >= until)
			break;
	}
	sums_reset(&writer->sums);
	return broken;
}

/* COMMIT or ROLLBACK; what comes back is true of the whole group. */
static enum res end_group(struct writer *writer, enum res res)
{
	struct conn *conn = writer->conn;

	if (res == RES_OK) {
		res = conn_exec(conn, "COMMIT");
		if (res == RES_OK)
			return RES_OK;
		if (res == RES_CONFLICT || res == RES_NOT_FOUND)
			res = RES_INTERNAL;
	}
	conn->in_group = false;
	if (!sqlite3_get_autocommit(conn->db))
		conn_exec(conn, "ROLLBACK");
	return res;
}

static void tell(struct store *store)
{
	const struct change_list *changes = &store->writer.changes;

	if (changes->count == 0)
		return;
	for (unsigned i = 0; i < store->observer_count; i++)
		store->observers[i](store->observer_ctx[i], changes->items, changes->count);
}

static void changes_reset(struct change_list *changes)
{
	changes->count = 0;
	if (changes->cap > CHANGES_KEPT) {
		free(changes->items);
		changes->items = NULL;
		changes->cap = 0;
	}
}

static void run_group(struct store *store)
{
	struct writer *writer = &store->writer;
	int64_t last_seq = writer->changes.last_seq;
	struct group group = {0};
	enum res res;

	writer->conn->in_group = true;
	res = end_group(writer, run_jobs(store, &group));
	writer->conn->in_group = false;
	if (res != RES_OK) {
		writer->changes.last_seq = last_seq;
		log_error("store_group_failed", "jobs=%u result=%s", group.count,
			  log_quote(res_text(res)));
	}
	for (struct job *job = group.first; job; job = job->next) {
		if (job->res == RES_OK)
			job->res = res;
		job->revision = writer->changes.last_seq;
	}
	if (res == RES_OK)
		tell(store);
	changes_reset(&writer->changes);
	answer(writer, &group);
}

/* Nothing can be begun: those whose time is over hear `res`; with `all` everybody does. */
static void refuse(struct writer *writer, enum res res, bool all)
{
	struct group group = {0};
	int64_t now = mono_ms();
	struct job *job, *next;

	pthread_mutex_lock(&writer->lock);
	for (unsigned i = 0; i < STORE_SOURCES; i++) {
		for (job = writer->queues[i].first; job; job = next) {
			next = job->next;
			/* A waiting caller minds his own time. */
			if (!all && (!job->done || job->give_up_ms > now))
				continue;
			queue_remove(writer, &writer->queues[i], job);
			job->state = JOB_BEGUN;
			job->res = res;
			job->revision = writer->changes.last_seq;
			group_add(&group, job);
		}
	}
	pthread_mutex_unlock(&writer->lock);
	answer(writer, &group);
}

/* Another process holds the write lock (field report B064). One line when it begins, one when it is
 * over, and a nap between two tries; the jobs wait in their queues, each as long as it may. */
static void wait_for_lock(struct store *store)
{
	struct writer *writer = &store->writer;
	int64_t now = mono_ms();
	bool stopping;

	if (!writer->locked_since_ms)
		writer->locked_since_ms = now;
	if (!writer->locked_logged && now - writer->locked_since_ms >= LOCKED_LOG_MS) {
		writer->locked_logged = true;
		log_warn("store_locked", "text=%s",
			 log_quote("another process holds the database; writes wait"));
	}
	pthread_mutex_lock(&writer->lock);
	stopping = writer->stopping;
	if (!stopping)
		cond_wait_until(&writer->work, &writer->lock, now + LOCKED_NAP_MS);
	pthread_mutex_unlock(&writer->lock);
	if (stopping)
		nanosleep(&(struct timespec){.tv_nsec = LOCKED_NAP_MS * 1000000}, NULL);
	refuse(writer, RES_BUSY, stopping && now - writer->locked_since_ms > STOP_MS);
}

static void serve(struct store *store)
{
	struct writer *writer = &store->writer;
	struct conn *conn = writer->conn;
	enum res res;

	conn->sick = RES_OK;
	if (!sqlite3_get_autocommit(conn->db)) /* an earlier ROLLBACK failed */
		conn_exec(conn, "ROLLBACK");
	res = conn_exec(conn, "BEGIN IMMEDIATE");
	if (res == RES_BUSY) {
		wait_for_lock(store);
		return;
	}
	if (writer->locked_logged)
		log_info("store_unlocked", "waited_ms=%" PRId64,
			 mono_ms() - writer->locked_since_ms);
	writer->locked_since_ms = 0;
	writer->locked_logged = false;
	if (res != RES_OK) {
		log_error("store_cannot_begin", "result=%s", log_quote(res_text(res)));
		refuse(writer, res, true);
		return;
	}
	run_group(store);
	writer->group_ended_ms = mono_ms();
	writer->lean = false;
	checkpoint_after_group(store);
}

/* --- The thread --- */

static int64_t idle_until(const struct store *store)
{
	const struct writer *writer = &store->writer;
	int64_t wait_ms = checkpoint_wait_ms(store);

	if (wait_ms >= 0)
		return mono_ms() + wait_ms;
	return writer->lean ? INT64_MAX : writer->group_ended_ms + LEAN_MS;
}

static void idle(struct store *store)
{
	struct writer *writer = &store->writer;

	if (checkpoint_wait_ms(store) >= 0)
		checkpoint_idle(store);
	if (writer->lean || mono_ms() < writer->group_ended_ms + LEAN_MS)
		return;
	sqlite3_db_release_memory(writer->conn->db);
	pool_release_memory(&store->pools[STORE_PUBLIC]);
	pool_release_memory(&store->pools[STORE_ADMIN]);
	malloc_trim(0); /* freed pages stay with the C library otherwise */
	writer->lean = true;
}

/* False: nothing is queued and nothing will be. */
static bool wait_for_work(struct store *store)
{
	struct writer *writer = &store->writer;
	bool work, stopping, quiet = false;

	pthread_mutex_lock(&writer->lock);
	while (!writer->waiting && !writer->stopping && !quiet) {
		int64_t until = idle_until(store);

		if (until == INT64_MAX)
			pthread_cond_wait(&writer->work, &writer->lock);
		else
			quiet = !cond_wait_until(&writer->work, &writer->lock, until);
	}
	work = writer->waiting > 0;
	stopping = writer->stopping;
	pthread_mutex_unlock(&writer->lock);
	if (work)
		serve(store);
	else if (!stopping)
		idle(store);
	return work || !stopping;
}

static void *writer_main(void *arg)
{
	struct store *store = arg;

	while (wait_for_work(store))
		;
	return NULL;
}

enum res writer_start(struct store *store)
{
	struct writer *writer = &store->writer;
	enum res res = change_last_seq(writer->conn, &writer->changes.last_seq);

	if (res != RES_OK)
		return res;
	writer->group_ms = GROUP_MS;
	writer->group_ended_ms = mono_ms();
	if (pthread_create(&writer->thread, NULL, writer_main, store) != 0)
		return RES_NOMEM;
	writer->started = true;
	return RES_OK;
}

void writer_stop(struct store *store)
{
	struct writer *writer = &store->writer;

	if (!writer->started)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stopping = true;
	pthread_cond_signal(&writer->work);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	writer->started = false;
	sums_free(&writer->sums);
	free(writer->changes.items);
	writer->changes = (struct change_list){0};
}
