/* A few threads for what would hold up an event thread, with a queue that answers instead of
 * growing.
 *
 * One more thread only watches: when no worker has taken anything for WAIT_MS, what has waited that
 * long is answered 503. The workers cannot do that, because then they are all busy. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "edge.h"
#include "hythe/util/log.h"

#define WAIT_MS 250

struct http_workers {
	/* Guards what follows; inside it only the library's own is taken, which is a leaf. */
	pthread_mutex_t lock;
	pthread_cond_t work;  /* something was queued, or the end has come */
	pthread_cond_t watch; /* the queue is no longer empty, or the end has come */
	struct request *head, *tail;
	unsigned queued, queue_max;
	int64_t taken_ms; /* when a worker last took something */
	bool ending;
	/* Set before the first thread starts, then only read. */
	unsigned count;
	pthread_t watcher;
	pthread_t threads[];
};

static struct reply *busy_reply(void)
{
	struct problem problem = {0};

	problem_set(&problem, RES_BUSY, "busy", NULL,
		    "the panel is busy; nothing was done, try again");
	return reply_problem(&problem);
}

static int64_t now_ms(void)
{
	return clock_mono_ms(&clock_system);
}

static struct request *pop(struct http_workers *workers)
{
	struct request *req = workers->head;

	workers->head = req->next;
	if (!workers->head)
		workers->tail = NULL;
	workers->queued--;
	return req;
}

/* After this the request belongs to its event thread again. */
static void give_back(struct request *req, struct reply *reply)
{
	struct MHD_Connection *connection = req->connection;

	req->answer = reply;
	MHD_resume_connection(connection);
}

static void run(struct request *req)
{
	struct reply *reply = req->work(req->work_ctx, req);

	if (!reply) { /* our bug; without an answer the site would be asked again, for ever */
		log_error("work_without_answer", "req=%08x", (unsigned)req->id);
		reply = reply_empty(500);
	}
	give_back(req, reply);
}

static void *worker_run(void *arg)
{
	struct http_workers *workers = arg;

	pthread_mutex_lock(&workers->lock);
	for (;;) {
		struct request *req;

		while (!workers->head && !workers->ending)
			pthread_cond_wait(&workers->work, &workers->lock);
		if (!workers->head)
			break;
		req = pop(workers);
		workers->taken_ms = now_ms();
		pthread_mutex_unlock(&workers->lock);
		run(req);
		pthread_mutex_lock(&workers->lock);
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

/* When the head will have stood for too long. */
static int64_t head_until_ms(const struct http_workers *workers)
{
	int64_t since = workers->head->queued_ms;

	return (since > workers->taken_ms ? since : workers->taken_ms) + WAIT_MS;
}

static void *watcher_run(void *arg)
{
	struct http_workers *workers = arg;

	pthread_mutex_lock(&workers->lock);
	while (!workers->ending) {
		int64_t left_ms = workers->head ? head_until_ms(workers) - now_ms() : 0;

		if (!workers->head) {
			pthread_cond_wait(&workers->watch, &workers->lock);
		} else if (left_ms > 0) {
			struct timespec end = clock_wait_end(left_ms);

			pthread_cond_timedwait(&workers->watch, &workers->lock, &end);
		} else {
			struct request *req = pop(workers);

			pthread_mutex_unlock(&workers->lock);
			give_back(req, busy_reply());
			pthread_mutex_lock(&workers->lock);
		}
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

static bool init_conds(struct http_workers *workers)
{
	pthread_condattr_t monotonic;
	bool ok;

	if (pthread_condattr_init(&monotonic) != 0)
		return false;
	ok = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
	     pthread_mutex_init(&workers->lock, NULL) == 0 &&
	     pthread_cond_init(&workers->work, NULL) == 0 &&
	     pthread_cond_init(&workers->watch, &monotonic) == 0;
	pthread_condattr_destroy(&monotonic);
	return ok;
}

static void end_threads(struct http_workers *workers, bool watcher)
{
	pthread_mutex_lock(&workers->lock);
	workers->ending = true;
	pthread_cond_broadcast(&workers->work);
	pthread_cond_broadcast(&workers->watch);
	pthread_mutex_unlock(&workers->lock);
	for (unsigned i = 0; i < workers->count; i++)
		pthread_join(workers->threads[i], NULL);
	if (watcher)
		pthread_join(workers->watcher, NULL);
	pthread_cond_destroy(&workers->work);
	pthread_cond_destroy(&workers->watch);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}

enum res http_workers_new(unsigned threads, unsigned queue_max, struct http_workers **out)
{
	struct http_workers *workers = calloc(1, sizeof *workers + threads * sizeof(pthread_t));

	*out = NULL;
	if (!workers)
		return RES_NOMEM;
	workers->queue_max = queue_max;
	if (!init_conds(workers)) {
		free(workers);
		return RES_NOMEM;
	}
	while (workers->count < threads &&
	       pthread_create(&workers->threads[workers->count], NULL, worker_run, workers) == 0)
		workers->count++;
	if (workers->count < threads) {
		end_threads(workers, false);
		return RES_NOMEM;
	}
	if (pthread_create(&workers->watcher, NULL, watcher_run, workers) != 0) {
		end_threads(workers, false);
		return RES_NOMEM;
	}
	*out = workers;
	return RES_OK;
}

struct reply *http_workers_hand(struct http_workers *workers, struct request *req, http_work work,
				void *ctx)
{
	bool full;

	req->work = work;
	req->work_ctx = ctx;
	req->next = NULL;
	req->queued_ms = now_ms();
	pthread_mutex_lock(&workers->lock);
	full = workers->queued >= workers->queue_max || workers->ending;
	if (!full) {
		/* Suspended before anybody can resume it. */
		MHD_suspend_connection(req->connection);
		if (workers->tail)
			workers->tail->next = req;
		else
			workers->head = req;
		workers->tail = req;
		workers->queued++;
		pthread_cond_signal(&workers->work);
		if (workers->queued == 1)
			pthread_cond_signal(&workers->watch);
	}
	pthread_mutex_unlock(&workers->lock);
	return full ? busy_reply() : reply_later();
}

void http_workers_free(struct http_workers *workers)
{
	if (workers)
		end_threads(workers, true);
}
