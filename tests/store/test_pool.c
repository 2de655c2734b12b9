/* Readers: order of arrival, bounds, snapshots, the second that a read may last. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "store/store_internal.h"
#include "store_test.h"

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static struct store *open_with(unsigned public_readers, unsigned admin_readers,
			       const struct clock *clock)
{
	struct store_config config = config_of(clock);
	struct store *store;

	dir_new();
	config.public_readers = public_readers;
	config.admin_readers = admin_readers;
	CHECK_INT(store_open(&config, &store, NULL), RES_OK);
	return store;
}

static int line_length(struct pool *pool)
{
	int count = 0;

	pthread_mutex_lock(&pool->lock);
	for (const struct pool_waiter *waiter = pool->first; waiter; waiter = waiter->next)
		count++;
	pthread_mutex_unlock(&pool->lock);
	return count;
}

static void wait_for_line(struct pool *pool, int count)
{
	while (line_length(pool) != count)
		nap();
}

struct guest {
	pthread_t thread;
	struct store *store;
	enum store_pool pool;
	unsigned wait_ms;
	int number;
	enum res res;
};

static atomic_int served;
static int order[64];

static void *guest_main(void *arg)
{
	struct guest *guest = arg;
	struct conn *conn;

	guest->res = store_read(guest->store, guest->pool, guest->wait_ms, &conn);
	if (guest->res == RES_OK) {
		order[atomic_fetch_add(&served, 1)] = guest->number;
		store_read_end(conn);
	}
	return NULL;
}

static void guest_start(struct guest *guest, struct store *store, int number, unsigned wait_ms)
{
	*guest = (struct guest){
		.store = store, .pool = STORE_ADMIN, .number = number, .wait_ms = wait_ms};
	CHECK_INT(pthread_create(&guest->thread, NULL, guest_main, guest), 0);
}

static void test_order_of_arrival(void)
{
	struct store *store = open_with(1, 1, &clock_system);
	struct guest guests[24];
	struct conn *held, *late;

	for (int round = 0; round < 5; round++) {
		atomic_store(&served, 0);
		CHECK_INT(store_read(store, STORE_ADMIN, 0, &held), RES_OK);
		for (int i = 0; i < 24; i++) {
			guest_start(&guests[i], store, i, 10000);
			wait_for_line(&store->pools[STORE_ADMIN], i + 1);
		}
		/* Who comes now and will not wait gets nothing, nor a place before the others. */
		CHECK_INT(store_read(store, STORE_ADMIN, 0, &late), RES_BUSY);
		CHECK(late == NULL);
		store_read_end(held);
		for (int i = 0; i < 24; i++) {
			pthread_join(guests[i].thread, NULL);
			CHECK_INT(guests[i].res, RES_OK);
		}
		for (int i = 0; i < 24; i++)
			CHECK_INT(order[i], i);
	}
	store_close(store);
}

static void test_bound(void)
{
	struct store *store = open_with(1, 1, &clock_system);
	struct conn *held, *other;
	struct guest guests[3];
	int64_t begun = mono_ms(), took;

	atomic_store(&served, 0);
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &held), RES_OK);
	CHECK_INT(store_read(store, STORE_ADMIN, 30, &other), RES_BUSY);
	took = mono_ms() - begun;
	CHECK(took >= 30 && took < 2000);
	/* One in the middle gives up, and the line holds; then the last one, and then all. */
	guest_start(&guests[0], store, 0, 10000);
	wait_for_line(&store->pools[STORE_ADMIN], 1);
	guest_start(&guests[1], store, 1, 30);
	wait_for_line(&store->pools[STORE_ADMIN], 2);
	guest_start(&guests[2], store, 2, 10000);
	wait_for_line(&store->pools[STORE_ADMIN], 3);
	pthread_join(guests[1].thread, NULL);
	CHECK_INT(guests[1].res, RES_BUSY);
	CHECK_INT(line_length(&store->pools[STORE_ADMIN]), 2);
	guest_start(&guests[1], store, 1, 20);
	pthread_join(guests[1].thread, NULL);
	CHECK_INT(guests[1].res, RES_BUSY);
	store_read_end(held);
	pthread_join(guests[0].thread, NULL);
	pthread_join(guests[2].thread, NULL);
	CHECK_INT(order[0], 0);
	CHECK_INT(order[1], 2);
	CHECK_INT(line_length(&store->pools[STORE_ADMIN]), 0);
	CHECK(store->pools[STORE_ADMIN].last == NULL);
	store_close(store);
}

static void test_pools_are_apart(void)
{
	struct store *store = open_with(2, 1, &clock_system);
	struct conn *admin, *public[2];

	CHECK_INT(store_read(store, STORE_ADMIN, 0, &admin), RES_OK);
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &public[0]), RES_OK);
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &public[1]), RES_OK);
	store_read_end(public[0]);
	store_read_end(public[1]);
	store_read_end(admin);
	store_close(store);
}

static int idle_count(struct pool *pool)
{
	int count = 0;

	for (struct conn *conn = pool->idle; conn; conn = conn->next_idle)
		count++;
	return count;
}

static void test_opened_on_first_use(void)
{
	struct store *store = open_with(4, 2, &clock_system);
	struct pool *pool = &store->pools[STORE_PUBLIC];
	struct conn *conn[2], *again;

	CHECK_INT(idle_count(pool), 0);
	for (int i = 0; i < 10; i++) {
		CHECK_INT(store_read(store, STORE_PUBLIC, 0, &conn[0]), RES_OK);
		store_read_end(conn[0]);
	}
	CHECK_INT(idle_count(pool), 1);
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &conn[0]), RES_OK);
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &conn[1]), RES_OK);
	store_read_end(conn[0]);
	store_read_end(conn[1]);
	CHECK_INT(idle_count(pool), 2);
	/* The warmest goes out first. */
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &again), RES_OK);
	CHECK(again == conn[1]);
	store_read_end(again);
	store_close(store);
}

static enum res add_setting(struct txn *txn, void *arg)
{
	sqlite3_stmt *st = conn_stmt(txn_conn(txn), "INSERT INTO setting VALUES (?1, 1)");

	bind_text(st, 1, arg);
	return stmt_run(txn_conn(txn), st);
}

static int64_t count_settings(struct conn *conn)
{
	sqlite3_stmt *st = conn_stmt(conn, "SELECT count(*) FROM setting");
	int64_t count = stmt_row(conn, st) == RES_OK ? column_i64(st, 0) : -1;

	stmt_end(conn, st);
	return count;
}

/* The snapshot is that of store_read, not of the first statement after it. */
static void test_snapshot(void)
{
	struct store *store = open_with(2, 2, &clock_system);
	struct conn *before, *after;
	char name[] = "test.a";

	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &before), RES_OK);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, add_setting, name, 1000, NULL), RES_OK);
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &after), RES_OK);
	CHECK_INT(count_settings(before), 2);
	CHECK_INT(count_settings(after), 3);
	store_read_end(before);
	CHECK_INT(store_read(store, STORE_PUBLIC, 0, &before), RES_OK);
	CHECK_INT(count_settings(before), 3);
	store_read_end(before);
	store_read_end(after);
	store_close(store);
}

static const char ENDLESS[] = "WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
			      " SELECT count(*) FROM n";

/* A clock that runs a millisecond each time it is asked. */
static int64_t ticking(void *ctx)
{
	atomic_llong *now = ctx;

	return atomic_fetch_add(now, 1);
}

static void test_one_second(void)
{
	static atomic_llong now;
	struct clock clock = {.wall_ms = ticking, .mono_ms = ticking, .ctx = &now};
	struct store *store = open_with(1, 1, &clock);
	struct conn *conn;
	sqlite3_stmt *st;

	/* One statement without end. */
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &conn), RES_OK);
	st = conn_stmt(conn, ENDLESS);
	CHECK_INT(stmt_row(conn, st), RES_BUSY);
	stmt_end(conn, st);
	store_read_end(conn);
	/* Small ones without end. */
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &conn), RES_OK);
	atomic_fetch_add(&now, 500);
	CHECK_INT(count_settings(conn), 2);
	atomic_fetch_add(&now, 600);
	st = conn_stmt(conn, "SELECT count(*) FROM setting");
	CHECK(st == NULL);
	CHECK_INT(stmt_row(conn, st), RES_BUSY);
	store_read_end(conn);
	/* And the connection is as good as before. */
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &conn), RES_OK);
	CHECK_INT(count_settings(conn), 2);
	store_read_end(conn);
	store_close(store);
}

static void test_left_running(void)
{
	struct store *store = open_with(1, 1, &clock_system);
	struct conn *conn;
	sqlite3_stmt *st;
	char name[] = "test.b";

	/* A caller that forgets stmt_end does not keep an old snapshot for the next one. */
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &conn), RES_OK);
	st = conn_stmt(conn, "SELECT key FROM setting");
	CHECK_INT(stmt_row(conn, st), RES_OK);
	store_read_end(conn);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, add_setting, name, 1000, NULL), RES_OK);
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &conn), RES_OK);
	CHECK_INT(count_settings(conn), 3);
	store_read_end(conn);
	store_close(store);
}

static void test_gate(void)
{
	struct store *store = open_with(1, 2, &clock_system);
	struct pool *pool = &store->pools[STORE_ADMIN];
	struct guest guests[3];
	struct conn *out, *in;

	atomic_store(&served, 0);
	CHECK_INT(store_read(store, STORE_ADMIN, 0, &out), RES_OK);
	pool_gate(pool);
	CHECK(!pool_wait_drained(pool, 0));
	CHECK(!pool_wait_drained(pool, 10));
	CHECK_INT(store_read(store, STORE_ADMIN, 10, &in), RES_BUSY);
	for (int i = 0; i < 3; i++) {
		guest_start(&guests[i], store, i, 10000);
		wait_for_line(pool, i + 1);
	}
	store_read_end(out);
	CHECK(pool_wait_drained(pool, 1000));
	CHECK_INT(line_length(pool), 3);
	pool_ungate(pool);
	for (int i = 0; i < 3; i++) {
		pthread_join(guests[i].thread, NULL);
		CHECK_INT(guests[i].res, RES_OK);
	}
	store_close(store);
}

/* --- Everybody at once --- */

static atomic_bool crowd_over;
static atomic_int crowd_wrong;

static void *crowd_reader(void *arg)
{
	struct store *store = arg;

	for (int i = 0; i < 400; i++) {
		struct conn *conn;
		int64_t a, b;

		if (store_read(store, i % 3 ? STORE_PUBLIC : STORE_ADMIN, 5000, &conn) != RES_OK) {
			atomic_fetch_add(&crowd_wrong, 1);
			continue;
		}
		a = count_settings(conn);
		b = count_settings(conn);
		if (a != b || a < 2)
			atomic_fetch_add(&crowd_wrong, 1);
		store_read_end(conn);
	}
	return NULL;
}

static void *crowd_writer(void *arg)
{
	struct store *store = arg;
	char name[32];

	for (int i = 0; !atomic_load(&crowd_over); i++) {
		snprintf(name, sizeof name, "test.%d", i);
		if (store_write(store, STORE_FROM_ADMIN, add_setting, name, 5000, NULL) != RES_OK)
			atomic_fetch_add(&crowd_wrong, 1);
	}
	return NULL;
}

static void test_crowd(void)
{
	struct store *store = open_with(2, 2, &clock_system);
	pthread_t readers[6], writer;

	atomic_store(&crowd_over, false);
	pthread_create(&writer, NULL, crowd_writer, store);
	for (int i = 0; i < 6; i++)
		pthread_create(&readers[i], NULL, crowd_reader, store);
	for (int i = 0; i < 6; i++)
		pthread_join(readers[i], NULL);
	atomic_store(&crowd_over, true);
	pthread_join(writer, NULL);
	CHECK_INT(atomic_load(&crowd_wrong), 0);
	store_close(store);
}

TEST_MAIN(TEST(test_order_of_arrival), TEST(test_bound), TEST(test_pools_are_apart),
	  TEST(test_opened_on_first_use), TEST(test_snapshot), TEST(test_one_second),
	  TEST(test_left_running), TEST(test_gate), TEST(test_crowd))
