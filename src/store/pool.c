#include "store_internal.h"

#include <stdlib.h>

#include "hythe/util/log.h"

/* A pool is a line of people in front of a few places. Whoever comes while nobody waits and a place
 * is free goes in; everybody else stands at the end of the line with a condition of his own, and
 * the one who leaves hands his place to the first. So nobody who comes later can be faster. */

void pool_init(struct pool *pool, struct store *store, unsigned limit)
{
	*pool = (struct pool){.store = store, .limit = limit ? limit : 1};
	pthread_mutex_init(&pool->lock, NULL);
	cond_init_mono(&pool->drained);
}

void pool_free(struct pool *pool)
{
	while (pool->idle) {
		struct conn *conn = pool->idle;

		pool->idle = conn->next_idle;
		conn_close(conn);
	}
	pthread_cond_destroy(&pool->drained);
	pthread_mutex_destroy(&pool->lock);
}

/* Lets in whom there is room for. Called with the lock held. */
static void grant(struct pool *pool)
{
	while (pool->first && !pool->gated && pool->out < pool->limit) {
		struct pool_waiter *waiter = pool->first;

		pool->first = waiter->next;
		if (!pool->first)
			pool->last = NULL;
		pool->out++;
		waiter->granted = true;
		pthread_cond_signal(&waiter->turn);
	}
}

static void leave_line(struct pool *pool, struct pool_waiter *waiter)
{
	struct pool_waiter *before = NULL;

	for (struct pool_waiter *at = pool->first; at != waiter; at = at->next)
		before = at;
	if (before)
		before->next = waiter->next;
	else
		pool->first = waiter->next;
	if (pool->last == waiter)
		pool->last = before;
}

/* Called with the lock held; false: nobody made room in time. */
static bool wait_in_line(struct pool *pool, unsigned wait_ms)
{
	struct pool_waiter self = {0};
	int64_t until = mono_ms() + wait_ms;

	if (wait_ms == 0)
		return false;
	cond_init_mono(&self.turn);
	if (pool->last)
		pool->last->next = &self;
	else
		pool->first = &self;
	pool->last = &self;
	while (!self.granted && cond_wait_until(&self.turn, &pool->lock, until))
		;
	if (!self.granted)
		leave_line(pool, &self);
	pthread_cond_destroy(&self.turn);
	return self.granted;
}

/* A place, and the warmest idle connection with it (NULL: none is open yet). */
static enum res pool_enter(struct pool *pool, unsigned wait_ms, struct conn **conn)
{
	bool in = true;

	pthread_mutex_lock(&pool->lock);
	if (!pool->first && !pool->gated && pool->out < pool->limit)
		pool->out++;
	else
		in = wait_in_line(pool, wait_ms);
	*conn = in ? pool->idle : NULL;
	if (*conn)
		pool->idle = (*conn)->next_idle;
	pthread_mutex_unlock(&pool->lock);
	return in ? RES_OK : RES_BUSY;
}

static void pool_leave(struct pool *pool, struct conn *conn)
{
	pthread_mutex_lock(&pool->lock);
	if (conn) {
		conn->next_idle = pool->idle;
		pool->idle = conn;
	}
	pool->out--;
	grant(pool);
	if (pool->out == 0)
		pthread_cond_signal(&pool->drained);
	pthread_mutex_unlock(&pool->lock);
}

void pool_gate(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->gated = true;
	pthread_mutex_unlock(&pool->lock);
}

void pool_ungate(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->gated = false;
	grant(pool);
	pthread_mutex_unlock(&pool->lock);
}

bool pool_wait_drained(struct pool *pool, unsigned ms)
{
	int64_t until = mono_ms() + ms;
	bool drained;

	pthread_mutex_lock(&pool->lock);
	while (pool->out > 0 && ms > 0 && cond_wait_until(&pool->drained, &pool->lock, until))
		;
	drained = pool->out == 0;
	pthread_mutex_unlock(&pool->lock);
	return drained;
}

void pool_release_memory(struct pool *pool)
{
	/* Under the lock: a connection that is idle now must not be handed out meanwhile. It is a
	 * walk over at most 64 cached pages each, and happens when the store has been quiet. */
	pthread_mutex_lock(&pool->lock);
	for (struct conn *conn = pool->idle; conn; conn = conn->next_idle)
		sqlite3_db_release_memory(conn->db);
	pthread_mutex_unlock(&pool->lock);
}

/* BEGIN alone takes no snapshot; the first look at a table does. */
static enum res read_begin(struct conn *conn)
{
	enum res res;

	conn->sick = RES_OK;
	conn->deadline_ms = 0;
	if ((res = conn_exec(conn, "BEGIN")) == RES_OK)
		res = conn_exec(conn, "SELECT 1 FROM setting WHERE 0");
	conn->deadline_ms = clock_mono_ms(conn->store->clock) + READ_LIMIT_MS;
	return res;
}

enum res store_read(struct store *store, enum store_pool which, unsigned wait_ms, struct conn **out)
{
	struct pool *pool = &store->pools[which];
	struct conn *conn = NULL;
	enum res res;

	*out = NULL;
	if ((res = pool_enter(pool, wait_ms, &conn)) != RES_OK)
		return res;
	if (!conn) {
		if ((res = conn_open(store->path, CONN_READER, &conn, NULL)) != RES_OK) {
			pool_leave(pool, NULL);
			return res;
		}
		conn->store = store;
		conn->pool = pool;
	}
	if ((res = read_begin(conn)) != RES_OK) {
		store_read_end(conn);
		return res;
	}
	*out = conn;
	return RES_OK;
}

void store_read_end(struct conn *conn)
{
	struct pool *pool = conn->pool;

	conn->deadline_ms = 0;
	conn_settle(conn);
	if (!sqlite3_get_autocommit(conn->db) && conn_exec(conn, "COMMIT") != RES_OK)
		conn->sick = RES_IO;
	if (sqlite3_txn_state(conn->db, NULL) != SQLITE_TXN_NONE) {
		log_error("store_reader_left_open", "text=%s",
			  log_quote("a statement was never ended; the connection is thrown away"));
		conn->sick = RES_INTERNAL;
	}
	/* After damage or an I/O error a new connection looks with fresh eyes. */
	if (conn->sick != RES_OK) {
		conn_close(conn);
		conn = NULL;
	}
	pool_leave(pool, conn);
}
