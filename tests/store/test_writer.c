/* The one writer: groups, savepoints, turns, bounds, observers, and locks from outside. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "store/store_internal.h"
#include "store_test.h"

static enum res run_sql(struct txn *txn, const char *sql)
{
	return stmt_run(txn_conn(txn), conn_stmt(txn_conn(txn), sql));
}

static enum res insert_setting(struct txn *txn, const char *key, int64_t value)
{
	sqlite3_stmt *st = conn_stmt(txn_conn(txn), "INSERT INTO setting VALUES (?1, ?2)");

	bind_text(st, 1, key);
	bind_i64(st, 2, value);
	return stmt_run(txn_conn(txn), st);
}

/* --- A stopped writer, so that jobs pile up --- */

struct stop {
	sem_t reached, go;
};

static enum res stop_job(struct txn *txn, void *arg)
{
	struct stop *stop = arg;

	(void)txn;
	sem_post(&stop->reached);
	while (sem_wait(&stop->go) != 0)
		;
	return RES_OK;
}

static void stop_done(void *arg, enum res res, int64_t revision)
{
	(void)arg;
	(void)res;
	(void)revision;
}

static void stop_writer(struct store *store, struct stop *stop)
{
	sem_init(&stop->reached, 0, 0);
	sem_init(&stop->go, 0, 0);
	CHECK_INT(store_submit(store, STORE_FROM_TIMER, stop_job, stop_done, stop), RES_OK);
	sem_wait(&stop->reached);
}

/* --- Jobs that leave a trace * --- */

struct step {
	int number;
	enum res want; /* what the job answers after its insert */
	enum change_kind change;
	enum res got;
	int64_t revision;
	int place; /* among all answers */
};

static atomic_int answers;
static int run_order[1000];
static atomic_int runs;

static enum res step_job(struct txn *txn, void *arg)
{
	struct step *step = arg;
	char key[32];
	enum res res;

	run_order[atomic_fetch_add(&runs, 1)] = step->number;
	snprintf(key, sizeof key, "step.%d", step->number);
	if ((res = insert_setting(txn, key, step->number)) != RES_OK)
		return res;
	if (step->change && (res = txn_change(txn, step->change, step->number, 0, false)) != RES_OK)
		return res;
	return step->want;
}

static void step_done(void *arg, enum res res, int64_t revision)
{
	struct step *step = arg;

	step->got = res;
	step->revision = revision;
	step->place = atomic_load(&answers);
	atomic_fetch_add(&answers, 1); /* last: who sees the number sees the rest */
}

static enum res nothing_job(struct txn *txn, void *arg)
{
	(void)txn;
	(void)arg;
	return RES_OK;
}

static void wait_for_answers(int count)
{
	while (atomic_load(&answers) < count)
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* --- What observers hear * --- */

struct heard {
	int calls;
	size_t count;
	int answers_before;
	struct change changes[600];
	size_t per_call[100];
};

static void on_commit(void *ctx, const struct change *changes, size_t count)
{
	struct heard *heard = ctx;

	heard->answers_before = atomic_load(&answers);
	heard->per_call[heard->calls++ % 100] = count;
	for (size_t i = 0; i < count && heard->count < 600; i++)
		heard->changes[heard->count++] = changes[i];
}

static struct store *open_observed(struct heard *heard)
{
	struct store *store;

	memset(heard, 0, sizeof *heard);
	atomic_store(&answers, 0);
	atomic_store(&runs, 0);
	dir_new();
	store = open_store();
	/* However slow the machine: what waits together is one group. */
	store->writer.group_ms = 60000;
	store_observe(store, on_commit, heard);
	return store;
}

static struct heard heard;

static void test_group_commit(void)
{
	struct store *store = open_observed(&heard);
	struct step steps[5];
	struct stop stop;

	stop_writer(store, &stop);
	for (int i = 0; i < 5; i++) {
		steps[i] = (struct step){
			.number = i, .want = i == 2 ? RES_INVALID : RES_OK, .change = CHANGE_USER};
		CHECK_INT(store_submit(store, STORE_FROM_ADMIN, step_job, step_done, &steps[i]),
			  RES_OK);
	}
	sem_post(&stop.go);
	wait_for_answers(5);
	/* One commit, told before anybody is answered; the failing job failed alone. */
	CHECK_INT(heard.calls, 1);
	CHECK_INT(heard.answers_before, 0);
	CHECK_INT(heard.count, 4);
	for (int i = 0; i < 5; i++) {
		CHECK_INT(steps[i].got, steps[i].want);
		CHECK_INT(steps[i].place, i);
		CHECK_INT(steps[i].revision, 4);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_INT(heard.changes[i].seq, i + 1);
		CHECK_INT(heard.changes[i].id, i < 2 ? i : i + 1);
	}
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'step.%'"), 4);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key = 'step.2'"), 0);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM change_log"), 4);
	store_close(store);
}

static void test_group_bound(void)
{
	struct store *store = open_observed(&heard);
	static struct step steps[200];
	struct stop stop;

	stop_writer(store, &stop);
	for (int i = 0; i < 200; i++) {
		steps[i] = (struct step){.number = i, .change = CHANGE_USER};
		CHECK_INT(store_submit(store, STORE_FROM_ADMIN, step_job, step_done, &steps[i]),
			  RES_OK);
	}
	sem_post(&stop.go);
	wait_for_answers(200);
	CHECK_INT(heard.count, 200);
	CHECK(heard.calls >= 4);
	for (int i = 0; i < heard.calls; i++)
		CHECK(heard.per_call[i] <= 64);
	for (int i = 0; i < 200; i++)
		CHECK_INT(heard.changes[i].id, i);
	store_close(store);
}

static void test_turns(void)
{
	struct store *store = open_observed(&heard);
	struct step steps[40];
	struct stop stop;

	stop_writer(store, &stop);
	for (int i = 0; i < 40; i++) { /* 20 of a flood, then 10 and 10 */
		enum store_source source = i < 20   ? STORE_FROM_NODE
					   : i < 30 ? STORE_FROM_ADMIN
						    : STORE_FROM_SUB;

		steps[i] = (struct step){.number = i};
		CHECK_INT(store_submit(store, source, step_job, step_done, &steps[i]), RES_OK);
	}
	sem_post(&stop.go);
	wait_for_answers(40);
	/* Of the first 30 that ran, ten are of each source. */
	int of_source[3] = {0};
	for (int i = 0; i < 30; i++)
		of_source[run_order[i] < 20 ? 0 : run_order[i] < 30 ? 1 : 2]++;
	for (int i = 0; i < 3; i++)
		CHECK_INT(of_source[i], 10);
	store_close(store);
}

static void test_full_queue(void)
{
	struct store *store = open_observed(&heard);
	static struct step steps[QUEUE_MAX + 2];
	struct stop stop;

	stop_writer(store, &stop);
	for (int i = 0; i < QUEUE_MAX; i++) {
		steps[i] = (struct step){.number = i};
		CHECK_INT(store_submit(store, STORE_FROM_NODE, step_job, step_done, &steps[i]),
			  RES_OK);
	}
	steps[QUEUE_MAX] = (struct step){.number = QUEUE_MAX};
	CHECK_INT(store_submit(store, STORE_FROM_NODE, step_job, step_done, &steps[QUEUE_MAX]),
		  RES_BUSY);
	steps[QUEUE_MAX + 1] = (struct step){.number = QUEUE_MAX + 1};
	CHECK_INT(store_submit(store, STORE_FROM_SUB, step_job, step_done, &steps[QUEUE_MAX + 1]),
		  RES_OK);
	sem_post(&stop.go);
	store_close(store); /* finishes what is queued */
	CHECK_INT(atomic_load(&answers), QUEUE_MAX + 1);
	for (int i = 0; i < QUEUE_MAX; i++)
		CHECK_INT(steps[i].got, RES_OK);
	store = open_store();
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'step.%'"),
		  QUEUE_MAX + 1);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key = 'step.256'"), 0);
	store_close(store);
}

static void test_withdrawn(void)
{
	struct store *store = open_observed(&heard);
	struct step step = {.number = 1}, other = {.number = 2};
	int64_t revision = 77;
	struct stop stop;

	stop_writer(store, &stop);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &step, 0, NULL), RES_BUSY);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &step, 20, &revision), RES_BUSY);
	sem_post(&stop.go);
	CHECK_INT(store_write(store, STORE_FROM_TIMER, nothing_job, NULL, 5000, NULL), RES_OK);
	CHECK_INT(atomic_load(&runs), 0);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &other, 1000, NULL), RES_OK);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'step.%'"), 1);
	store_close(store);
}

static enum res slow_job(struct txn *txn, void *arg)
{
	(void)txn;
	(void)arg;
	nanosleep(&(struct timespec){.tv_nsec = 80000000}, NULL);
	return RES_OK;
}

/* Once begun it is waited for, however short the patience was. */
static void test_begun_is_waited_for(void)
{
	struct store *store = open_observed(&heard);
	enum res res = RES_BUSY;

	for (int i = 0; res == RES_BUSY && i < 100; i++)
		res = store_write(store, STORE_FROM_ADMIN, slow_job, NULL, 20, NULL);
	CHECK_INT(res, RES_OK);
	store_close(store);
}

static void test_revision(void)
{
	struct store *store = open_observed(&heard);
	struct step step = {.number = 1, .change = CHANGE_INBOUND};
	struct step bad = {.number = 2, .change = CHANGE_INBOUND, .want = RES_CONFLICT};
	int64_t revision = 0, last, floor;
	struct conn *conn;

	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &step, 1000, &revision), RES_OK);
	CHECK_INT(revision, 1);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &bad, 1000, &revision),
		  RES_CONFLICT);
	CHECK_INT(revision, 1);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, nothing_job, NULL, 1000, &revision), RES_OK);
	CHECK_INT(revision, 1);
	store_close(store);
	store = open_store();
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, nothing_job, NULL, 1000, &revision), RES_OK);
	CHECK_INT(revision, 1);
	CHECK_INT(store_read(store, STORE_ADMIN, 100, &conn), RES_OK);
	CHECK_INT(store_revision(conn, &last, &floor), RES_OK);
	CHECK_INT(last, 1);
	CHECK_INT(floor, 0);
	store_read_end(conn);
	store_close(store);
}

/* --- Nesting * --- */

static enum res nest_job(struct txn *txn, void *arg)
{
	const uint8_t token[STORE_TOKEN_KEY] = {1, 2, 3};
	enum res res;

	(void)arg;
	if ((res = insert_setting(txn, "kept.1", 1)) != RES_OK ||
	    (res = txn_change(txn, CHANGE_USER, 1, 0, false)) != RES_OK ||
	    (res = txn_nest(txn)) != RES_OK || (res = insert_setting(txn, "gone.1", 1)) != RES_OK ||
	    (res = txn_change(txn, CHANGE_USER, 100, 0, false)) != RES_OK ||
	    (res = txn_nest(txn)) != RES_OK || (res = insert_setting(txn, "gone.2", 1)) != RES_OK ||
	    (res = txn_change_token(txn, 100, token, NULL)) != RES_OK ||
	    (res = txn_nest_end(txn, true)) != RES_OK || (res = txn_nest_end(txn, false)) != RES_OK)
		return res;
	/* A failed statement inside a part: the part goes, the job goes on. */
	if ((res = txn_nest(txn)) != RES_OK)
		return res;
	if (insert_setting(txn, "kept.1", 2) != RES_CONFLICT)
		return RES_INTERNAL;
	if ((res = txn_nest_end(txn, false)) != RES_OK || (res = txn_nest(txn)) != RES_OK ||
	    (res = insert_setting(txn, "kept.2", 2)) != RES_OK ||
	    (res = txn_change(txn, CHANGE_ACCESS, 2, 3, true)) != RES_OK ||
	    (res = txn_nest_end(txn, true)) != RES_OK)
		return res;
	if ((res = txn_change_token(txn, 9, NULL, token)) != RES_OK)
		return res;
	return txn_change_setting(txn);
}

static void test_nesting(void)
{
	struct store *store = open_observed(&heard);
	int64_t revision;

	CHECK_INT(store_write(store, STORE_FROM_ADMIN, nest_job, NULL, 1000, &revision), RES_OK);
	CHECK_INT(revision, 2);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'kept.%'"), 2);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'gone.%'"), 0);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM change_log"), 2);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM change_log WHERE kind = 3 AND id = 2"
				  " AND group_id = 3 AND gained = 1"),
		  1);
	CHECK_INT(heard.count, 4);
	CHECK_INT(heard.changes[0].kind, CHANGE_USER);
	CHECK_INT(heard.changes[0].id, 1);
	CHECK_INT(heard.changes[1].kind, CHANGE_ACCESS);
	CHECK_INT(heard.changes[1].seq, 2);
	CHECK(heard.changes[1].gained && heard.changes[1].group_id == 3);
	CHECK_INT(heard.changes[2].kind, CHANGE_TOKEN);
	CHECK(heard.changes[2].has_token && !heard.changes[2].had_token);
	CHECK_INT(heard.changes[2].new_token[2], 3);
	CHECK_INT(heard.changes[2].seq, 0);
	CHECK_INT(heard.changes[3].kind, CHANGE_SETTING);
	store_close(store);
}

static enum res left_open_job(struct txn *txn, void *arg)
{
	(void)arg;
	if (insert_setting(txn, "left", 1) != RES_OK)
		return RES_INTERNAL;
	return txn_nest(txn);
}

static enum res too_deep_job(struct txn *txn, void *arg)
{
	enum res res = RES_OK;

	(void)arg;
	for (int i = 0; res == RES_OK && i < 100; i++)
		res = txn_nest(txn);
	return res;
}

static enum res end_only_job(struct txn *txn, void *arg)
{
	(void)arg;
	return txn_nest_end(txn, false);
}

static enum res orphan_job(struct txn *txn, void *arg)
{
	enum res res = run_sql(txn, "PRAGMA defer_foreign_keys = ON");

	(void)arg;
	if (res == RES_OK)
		res = run_sql(txn, "INSERT INTO user_usage (user_id) VALUES (12345)");
	return res;
}

static enum res running_statement_job(struct txn *txn, void *arg)
{
	sqlite3_stmt *st = conn_stmt(txn_conn(txn), "SELECT key FROM setting");

	(void)arg;
	return stmt_row(txn_conn(txn), st) == RES_OK ? insert_setting(txn, "running", 1)
						     : RES_INTERNAL;
}

static enum res write_inside_job(struct txn *txn, void *arg)
{
	(void)txn;
	return store_write(arg, STORE_FROM_ADMIN, nothing_job, NULL, 1000, NULL);
}

static enum res bad_kind_job(struct txn *txn, void *arg)
{
	(void)arg;
	return txn_change(txn, CHANGE_TOKEN, 1, 0, false);
}

/* Jobs that break a rule fail, alone, and the store goes on. */
static void test_rule_breakers(void)
{
	struct store *store = open_observed(&heard);
	struct step step = {.number = 1};

	quiet(true);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, left_open_job, NULL, 1000, NULL),
		  RES_INTERNAL);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, too_deep_job, NULL, 1000, NULL),
		  RES_INTERNAL);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, end_only_job, NULL, 1000, NULL),
		  RES_INTERNAL);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, orphan_job, NULL, 1000, NULL), RES_CONFLICT);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, bad_kind_job, NULL, 1000, NULL),
		  RES_INTERNAL);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, write_inside_job, store, 1000, NULL),
		  RES_INTERNAL);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, running_statement_job, NULL, 1000, NULL),
		  RES_OK);
	quiet(false);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &step, 1000, NULL), RES_OK);
	CHECK_INT(
		read_i64(store,
			 "SELECT count(*) FROM setting WHERE key IN ('left', 'running', 'step.1')"),
		2);
	CHECK_INT(heard.calls, 0);
	store_close(store);
}

static enum res rollback_job(struct txn *txn, void *arg)
{
	(void)arg;
	if (insert_setting(txn, "before", 1) != RES_OK)
		return RES_INTERNAL;
	/* What SQLite does by itself when memory is out: the transaction is gone. */
	sqlite3_exec(conn_db(txn_conn(txn)), "ROLLBACK", NULL, NULL, NULL);
	/* A statement now would be committed alone; it is not run. */
	if (insert_setting(txn, "after", 1) == RES_OK)
		return RES_CONFLICT;
	return RES_OK;
}

static void test_transaction_lost(void)
{
	struct store *store = open_observed(&heard);
	struct step steps[3];
	struct stop stop;
	struct step lost = {0};

	quiet(true);
	stop_writer(store, &stop);
	steps[0] = (struct step){.number = 0, .change = CHANGE_USER};
	CHECK_INT(store_submit(store, STORE_FROM_ADMIN, step_job, step_done, &steps[0]), RES_OK);
	CHECK_INT(store_submit(store, STORE_FROM_ADMIN, rollback_job, step_done, &lost), RES_OK);
	for (int i = 1; i < 3; i++) {
		steps[i] = (struct step){.number = i, .change = CHANGE_USER};
		CHECK_INT(store_submit(store, STORE_FROM_ADMIN, step_job, step_done, &steps[i]),
			  RES_OK);
	}
	sem_post(&stop.go);
	wait_for_answers(4);
	quiet(false);
	/* Those before it in the group share its fate, those behind it come in the next. */
	CHECK_INT(steps[0].got, RES_NOMEM);
	CHECK_INT(lost.got, RES_NOMEM);
	CHECK_INT(steps[1].got, RES_OK);
	CHECK_INT(steps[2].got, RES_OK);
	CHECK_INT(steps[2].revision, 2);
	CHECK_INT(heard.count, 2);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key IN ('before', 'after')"),
		  0);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'step.%'"), 2);
	store_close(store);
}

/* --- A crowd * --- */

static void *crowd_main(void *arg)
{
	struct store *store = arg;
	static atomic_int next = 1000;
	long failed = 0;

	for (int i = 0; i < 100; i++) {
		struct step step = {.number = atomic_fetch_add(&next, 1),
				    .change = CHANGE_USER,
				    .want = i % 10 == 9 ? RES_INVALID : RES_OK};
		int64_t revision = 0;
		char key[32];
		enum res res;

		snprintf(key, sizeof key, "step.%d", step.number);
		res = store_write(store, (enum store_source)(i % STORE_SOURCES), step_job, &step,
				  5000, &revision);
		failed += res != step.want || (res == RES_OK && revision < 1);
	}
	return (void *)failed;
}

static void test_crowd(void)
{
	struct store *store = open_observed(&heard);
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, crowd_main, store);
	for (int i = 0; i < 8; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		CHECK(failed == NULL);
	}
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'step.%'"), 720);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM change_log"), 720);
	CHECK_INT(read_i64(store, "SELECT max(seq) FROM change_log"), 720);
	store_close(store);
}

/* --- Another process holds the database (field report B064) * --- */

struct holder {
	pid_t pid;
	int to, from;
};

static void holder_main(int in, int out)
{
	char order = 0;
	sqlite3 *db = NULL;

	while (read(in, &order, 1) == 1) {
		const char *sql = order == 'b' ? "BEGIN IMMEDIATE" : "ROLLBACK";

		if (!db && sqlite3_open(db_path, &db) != SQLITE_OK)
			_exit(1);
		if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
			_exit(2);
		if (write(out, &order, 1) != 1)
			_exit(3);
	}
	_exit(0);
}

/* Before the store is opened: a process with threads is not forked. */
static void holder_start(struct holder *holder)
{
	int to[2], from[2];

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	holder->pid = fork();
	if (holder->pid == 0) {
		close(to[1]);
		close(from[0]);
		holder_main(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	holder->to = to[1];
	holder->from = from[0];
}

static void holder_tell(struct holder *holder, char order)
{
	char answer = 0;

	CHECK(write(holder->to, &order, 1) == 1);
	CHECK(read(holder->from, &answer, 1) == 1);
}

static int count_lines(int fd)
{
	char text[65536];
	ssize_t len = pread(fd, text, sizeof text, 0);
	int lines = 0;

	for (ssize_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

static void test_locked_from_outside(void)
{
	struct step now = {.number = 1}, later[50], after = {.number = 99};
	char log_path[128];
	struct holder holder;
	struct store *store;
	int64_t begun, took;
	int log, status;

	dir_new();
	holder_start(&holder);
	atomic_store(&answers, 0);
	atomic_store(&runs, 0);
	store = open_store();
	snprintf(log_path, sizeof log_path, "%s/log", dir);
	log = open(log_path, O_RDWR | O_CREAT, 0600);
	log_set_fd(log);
	holder_tell(&holder, 'b');
	for (int i = 0; i < 50; i++) {
		later[i] = (struct step){.number = 100 + i};
		CHECK_INT(store_submit(store, STORE_FROM_NODE, step_job, step_done, &later[i]),
			  RES_OK);
	}
	begun = mono_ms();
	for (int i = 0; i < 6; i++)
		CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &now, 50, NULL), RES_BUSY);
	took = mono_ms() - begun;
	CHECK(took >= 300 && took < 3000);
	CHECK_INT(atomic_load(&runs), 0);
	/* Readers do not notice. */
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting"), 2);
	holder_tell(&holder, 'r');
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &after, 2000, NULL), RES_OK);
	wait_for_answers(50);
	for (int i = 0; i < 50; i++)
		CHECK_INT(later[i].got, RES_OK);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'step.%'"), 51);
	/* It began, and it is over. */
	log_set_fd(STDERR_FILENO);
	CHECK_INT(count_lines(log), 2);
	close(log);
	store_close(store);
	close(holder.to);
	close(holder.from);
	waitpid(holder.pid, &status, 0);
	CHECK_INT(status, 0);
}

/* Closing does not wait for ever. */
static void test_close_while_locked(void)
{
	struct step step = {.number = 1};
	struct holder holder;
	struct store *store;
	int64_t begun;
	int status;

	dir_new();
	holder_start(&holder);
	atomic_store(&answers, 0);
	atomic_store(&runs, 0);
	store = open_store();
	quiet(true);
	holder_tell(&holder, 'b');
	CHECK_INT(store_submit(store, STORE_FROM_NODE, step_job, step_done, &step), RES_OK);
	begun = mono_ms();
	store_close(store);
	CHECK(mono_ms() - begun < 5500);
	CHECK_INT(step.got, RES_BUSY);
	CHECK_INT(atomic_load(&runs), 0);
	quiet(false);
	close(holder.to);
	close(holder.from);
	waitpid(holder.pid, &status, 0);
}

/* --- Pruning * --- */

struct rows {
	int64_t count, at_unix;
};

static enum res rows_job(struct txn *txn, void *arg)
{
	const struct rows *rows = arg;
	sqlite3_stmt *st =
		conn_stmt(txn_conn(txn),
			  "INSERT INTO change_log (kind, id, group_id, gained, at_unix)"
			  " WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
			  " SELECT 1, i, 0, 0, ?2 FROM n");
	bind_i64(st, 1, rows->count);
	bind_i64(st, 2, rows->at_unix);
	return stmt_run(txn_conn(txn), st);
}

static void add_rows(struct store *store, int64_t count, int64_t at_unix)
{
	struct rows rows = {count, at_unix};
	struct step step = {.number = (int)at_unix, .change = CHANGE_USER};

	CHECK_INT(store_write(store, STORE_FROM_ADMIN, rows_job, &rows, 5000, NULL), RES_OK);
	/* The writer counts its own changes; one of these follows. */
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, step_job, &step, 5000, NULL), RES_OK);
}

static void check_floor(struct store *store, int64_t want_floor, int64_t want_last)
{
	int64_t last, floor;
	struct conn *conn;

	CHECK_INT(store_read(store, STORE_ADMIN, 1000, &conn), RES_OK);
	CHECK_INT(store_revision(conn, &last, &floor), RES_OK);
	store_read_end(conn);
	CHECK_INT(floor, want_floor);
	CHECK_INT(last, want_last);
}

static void test_prune(void)
{
	struct clock_fake fake = {.wall_ms = 1000000000, .mono_ms = 0};
	struct clock clock = clock_of_fake(&fake);
	struct store_config config = config_of(&clock);
	struct store *store;
	int64_t revision;

	dir_new();
	atomic_store(&runs, 0);
	CHECK_INT(store_open(&config, &store, NULL), RES_OK);
	add_rows(store, 999, 1000000); /* seq 1..1000, the last one at the clock's 1000000 */
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 0, 1000);
	fake.wall_ms += 7 * 86400 * INT64_C(1000);
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 0, 1000);
	add_rows(store, 9, 1000000 + 7 * 86400); /* ..1010 */
	fake.wall_ms += 1000;
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 1000, 1010);
	CHECK_INT(read_i64(store, "SELECT min(seq) FROM change_log"), 1001);
	/* Quiet for long: no row, and the revision stands, also after a restart. */
	fake.wall_ms += 30 * 86400 * INT64_C(1000);
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 1010, 1010);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM change_log"), 0);
	store_close(store);
	CHECK_INT(store_open(&config, &store, NULL), RES_OK);
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, nothing_job, NULL, 1000, &revision), RES_OK);
	CHECK_INT(revision, 1010);
	check_floor(store, 1010, 1010);
	store_close(store);
}

static void test_prune_rows(void)
{
	struct clock_fake fake = {.wall_ms = 1000000000, .mono_ms = 0};
	struct clock clock = clock_of_fake(&fake);
	struct store_config config = config_of(&clock);
	struct store *store;

	dir_new();
	atomic_store(&runs, 0);
	CHECK_INT(store_open(&config, &store, NULL), RES_OK);
	add_rows(store, 119999, 1000000); /* 20,000 too many, but a full state may run */
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 0, 120000);
	fake.wall_ms += 601 * 1000;
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 20000, 120000);
	CHECK_INT(read_i64(store, "SELECT count(*) FROM change_log"), 100000);
	/* The clock was a year ahead once: these rows are not kept for ever. */
	add_rows(store, 150000, 1000000 + 366 * 86400);
	fake.wall_ms += 8 * 86400 * INT64_C(1000);
	CHECK_INT(store_prune_changes(store), RES_OK);
	check_floor(store, 270001 - 100000, 270001);
	store_close(store);
}

/* --- The log's length * --- */

static enum res bulky_job(struct txn *txn, void *arg)
{
	sqlite3_stmt *st = conn_stmt(
		txn_conn(txn), "INSERT OR REPLACE INTO setting VALUES (?1, randomblob(60000))");
	int *number = arg;
	char key[32];

	snprintf(key, sizeof key, "bulk.%d", (*number)++ % 40);
	bind_text(st, 1, key);
	return stmt_run(txn_conn(txn), st);
}

static atomic_bool reading;
static atomic_int reads_failed;

static void *steady_reader(void *arg)
{
	struct store *store = arg;
	unsigned turn = 0;

	while (atomic_load(&reading)) {
		struct conn *conn;

		if (store_read(store, turn++ % 2 ? STORE_PUBLIC : STORE_ADMIN, 2000, &conn) !=
		    RES_OK) {
			atomic_fetch_add(&reads_failed, 1);
			continue;
		}
		/* Never a moment without a reader in the log. */
		nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
		store_read_end(conn);
	}
	return NULL;
}

static off_t log_size(void)
{
	char name[128];
	struct stat st;

	snprintf(name, sizeof name, "%s-wal", db_path);
	return stat(name, &st) == 0 ? st.st_size : 0;
}

static void test_log_is_cut(void)
{
	struct store *store;
	pthread_t readers[4];
	off_t most = 0;
	int number = 0;

	dir_new();
	store = open_store();
	atomic_store(&reading, true);
	for (int i = 0; i < 4; i++)
		pthread_create(&readers[i], NULL, steady_reader, store);
	for (int i = 0; i < 1200; i++) { /* 72 MB of log */
		off_t size;

		CHECK_INT(store_write(store, STORE_FROM_ADMIN, bulky_job, &number, 5000, NULL),
			  RES_OK);
		size = log_size();
		most = size > most ? size : most;
	}
	atomic_store(&reading, false);
	for (int i = 0; i < 4; i++)
		pthread_join(readers[i], NULL);
	CHECK_INT(atomic_load(&reads_failed), 0);
	CHECK(most > 8 * 1024 * 1024);
	CHECK(most < 20 * 1024 * 1024);
	store_close(store);
	CHECK_INT(log_size(), 0);
}

TEST_MAIN(TEST(test_group_commit), TEST(test_group_bound), TEST(test_turns), TEST(test_full_queue),
	  TEST(test_withdrawn), TEST(test_begun_is_waited_for), TEST(test_revision),
	  TEST(test_nesting), TEST(test_rule_breakers), TEST(test_transaction_lost),
	  TEST(test_crowd), TEST(test_locked_from_outside), TEST(test_close_while_locked),
	  TEST(test_prune), TEST(test_prune_rows), TEST(test_log_is_cut))
