/* panel/timers.c – the one thread for what nobody asked for: users whose time has come, slow
 * requests, old rows. What is due is known by the modules; here stands only how often they are
 * asked. */
#include <stdlib.h>

#include "hythe/ops/prune.h"
#include "hythe/ops/users.h"
#include "panel.h"

#define SECOND_MS  1000
#define HOUR_MS    (3600 * SECOND_MS)
#define FIRST_MS   (300 * SECOND_MS) /* a panel that restarts daily prunes too */
#define TICK_USERS 200               /* a job of this size stays well under 20 ms */

struct timers {
	struct panel *panel;
	pthread_t thread;
	pthread_mutex_t lock; /* leaf; guards `stopping` */
	pthread_cond_t wake;
	bool stopping;
};

struct timer {
	void (*run)(struct timers *timers);
	int64_t every_ms;
};

static bool stopping(struct timers *timers)
{
	bool is;

	pthread_mutex_lock(&timers->lock);
	is = timers->stopping;
	pthread_mutex_unlock(&timers->lock);
	return is;
}

static void tick_users(struct timers *timers)
{
	struct users_tick tick = {.limit = TICK_USERS};
	struct problem problem = {0};
	enum res res;

	do {
		tick.more = false;
		res = instance_run(&timers->panel->instance, ACTOR_TIMER, op_users_tick, &tick,
				   &problem);
		if (res != RES_OK)
			log_warn("users_tick_failed", "result=%s detail=%s", res_text(res),
				 log_quote(problem.detail));
	} while (res == RES_OK && tick.more && !stopping(timers));
}

static void sweep(struct timers *timers)
{
	struct http_listener *const listeners[] = {
		timers->panel->public, timers->panel->admin_listener, timers->panel->control};

	for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++)
		if (listeners[i])
			http_listener_sweep(listeners[i]);
}

static void prune(struct timers *timers)
{
	struct prune rows;
	enum res res;

	do {
		rows = (struct prune){0};
		res = instance_run(&timers->panel->instance, ACTOR_TIMER, op_prune, &rows, NULL);
	} while (res == RES_OK && rows.more && !stopping(timers));
	if (res == RES_OK)
		res = store_prune_changes(timers->panel->instance.store);
	if (res != RES_OK)
		log_warn("prune_failed", "result=%s", res_text(res));
}

static const struct timer table[] = {
	{sweep,      SECOND_MS},
	{tick_users, SECOND_MS},
	{prune,      HOUR_MS  },
};
#define TIMERS (sizeof table / sizeof *table)

/* False: the end has come. */
static bool wait_until(struct timers *timers, int64_t at_ms)
{
	struct timespec end = clock_wait_end(at_ms - clock_mono_ms(&clock_system));
	int woken = 0;
	bool go_on;

	pthread_mutex_lock(&timers->lock);
	while (!timers->stopping && woken == 0)
		woken = pthread_cond_timedwait(&timers->wake, &timers->lock, &end);
	go_on = !timers->stopping;
	pthread_mutex_unlock(&timers->lock);
	return go_on;
}

static void *run(void *arg)
{
	struct timers *timers = arg;
	int64_t due_ms[TIMERS], next_ms = clock_mono_ms(&clock_system);

	for (size_t i = 0; i < TIMERS; i++)
		due_ms[i] = next_ms + (table[i].every_ms < FIRST_MS ? table[i].every_ms : FIRST_MS);
	do {
		int64_t now_ms = clock_mono_ms(&clock_system);

		next_ms = INT64_MAX;
		for (size_t i = 0; i < TIMERS; i++) {
			if (due_ms[i] <= now_ms) {
				table[i].run(timers);
				due_ms[i] = now_ms + table[i].every_ms;
			}
			next_ms = due_ms[i] < next_ms ? due_ms[i] : next_ms;
		}
	} while (wait_until(timers, next_ms));
	return NULL;
}

enum res timers_start(struct panel *panel, struct timers **out)
{
	struct timers *timers = calloc(1, sizeof *timers);
	pthread_condattr_t monotonic;

	if (!timers)
		return RES_NOMEM;
	timers->panel = panel;
	pthread_mutex_init(&timers->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&timers->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&timers->thread, NULL, run, timers) != 0) {
		free(timers);
		return RES_NOMEM;
	}
	*out = timers;
	return RES_OK;
}

void timers_stop(struct timers *timers)
{
	if (!timers)
		return;
	pthread_mutex_lock(&timers->lock);
	timers->stopping = true;
	pthread_cond_signal(&timers->wake);
	pthread_mutex_unlock(&timers->lock);
	pthread_join(timers->thread, NULL);
	pthread_cond_destroy(&timers->wake);
	pthread_mutex_destroy(&timers->lock);
	free(timers);
}
