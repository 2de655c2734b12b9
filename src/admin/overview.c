#include "overview.h"

#include <pthread.h>
#include <stdlib.h>

#include "handlers.h"
#include "hythe/store/overview.h"
#include "module.h"

#define FRESH_MS 1000

struct overview_box {
	pthread_mutex_t lock; /* leaf: held for no SQL */
	pthread_cond_t done;
	struct overview numbers; /* guarded by lock */
	int64_t now_unix;        /* guarded by lock: of the numbers */
	int64_t made_ms;         /* guarded by lock; -1: never */
	bool reading;            /* guarded by lock: somebody is at it */
	bool old;                /* guarded by lock: what is being read may miss a change */
};

struct overview_box *overview_new(void)
{
	struct overview_box *box = calloc(1, sizeof *box);

	if (!box)
		return NULL;
	box->made_ms = -1;
	pthread_mutex_init(&box->lock, NULL);
	pthread_cond_init(&box->done, NULL);
	return box;
}

void overview_free(struct overview_box *box)
{
	if (!box)
		return;
	pthread_cond_destroy(&box->done);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

/* False: the caller is to read, and then to call box_put(). */
static bool box_get(struct overview_box *box, int64_t mono_ms, int64_t now_unix,
		    struct overview *out)
{
	bool fresh;

	pthread_mutex_lock(&box->lock);
	while (box->reading)
		pthread_cond_wait(&box->done, &box->lock);
	/* The same second too: an expiry counts from its second on. */
	fresh = box->made_ms >= 0 && mono_ms - box->made_ms < FRESH_MS && now_unix == box->now_unix;
	if (fresh)
		*out = box->numbers;
	box->reading = !fresh;
	box->old = false;
	pthread_mutex_unlock(&box->lock);
	return fresh;
}

static void box_put(struct overview_box *box, const struct overview *numbers, int64_t mono_ms,
		    int64_t now_unix)
{
	pthread_mutex_lock(&box->lock);
	if (numbers && !box->old) {
		box->numbers = *numbers;
		box->made_ms = mono_ms;
		box->now_unix = now_unix;
	}
	box->reading = false;
	pthread_cond_broadcast(&box->done);
	pthread_mutex_unlock(&box->lock);
}

void overview_forget(struct overview_box *box)
{
	pthread_mutex_lock(&box->lock);
	box->made_ms = -1;
	box->old = true;
	pthread_mutex_unlock(&box->lock);
}

static bool numbers_read(struct call *call, struct overview *out)
{
	struct overview_box *box = call->admin->overview;
	const struct clock *clock = call->admin->config.clock;
	int64_t mono_ms = clock_mono_ms(clock), now_unix = clock_unix(clock);
	struct conn *conn;
	enum res res = RES_BUSY;

	if (box_get(box, mono_ms, now_unix, out))
		return true;
	if ((conn = call_read(call))) {
		res = overview_read(conn, now_unix, out);
		store_read_end(conn);
		if (res != RES_OK)
			call_set(call, res, NULL, NULL, "The overview could not be read.");
	}
	box_put(box, res == RES_OK ? out : NULL, mono_ms, now_unix);
	return res == RES_OK;
}

struct reply *overview_get(struct call *call)
{
	struct overview numbers;
	struct json_writer w;
	struct buf body;

	if (!numbers_read(call, &numbers))
		return call_problem(call);
	call_json(call, &w, &body);
	json_object(&w, "users");
	json_int(&w, "total", numbers.users);
	for (int i = 0; i < USER_STATUSES; i++)
		json_int(&w, user_status_words[i], numbers.users_by_status[i]);
	json_end(&w);
	json_int(&w, "groups", numbers.groups);
	json_int(&w, "profiles", numbers.profiles);
	json_int(&w, "hosts", numbers.hosts);
	json_object(&w, "nodes");
	json_int(&w, "total", numbers.nodes);
	json_int(&w, "enabled", numbers.nodes_enabled);
	json_int(&w, "connected", 0); /* no node speaks to the panel yet */
	json_end(&w);
	json_object(&w, "inbounds");
	json_int(&w, "total", numbers.inbounds);
	json_int(&w, "running", numbers.inbounds_running);
	json_int(&w, "failed", numbers.inbounds_failed);
	json_end(&w);
	json_object(&w, "traffic");
	json_int(&w, "up_bytes", numbers.up_bytes);
	json_int(&w, "down_bytes", numbers.down_bytes);
	json_end(&w);
	json_int(&w, "revision", numbers.revision);
	return call_json_end(call, &w, &body, 200, 0);
}
