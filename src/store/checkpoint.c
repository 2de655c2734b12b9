#include "store_internal.h"

#include <inttypes.h>

#include "hythe/util/log.h"

/* Commits only append to the log; what moves its pages into the database is here, on the writer
 * thread and never while a caller waits for a commit.
 *
 * A passive checkpoint disturbs nobody, but the log starts anew only when no reader looks into it,
 * and under steady readers that moment never comes by itself. So past 16 MiB it is made: the admin
 * readers are gated first, as one of them may take a second, while jobs and public readers go on;
 * when the last is back the public ones are gated too, which takes as long as a point read, and the
 * log is cut. */
#define PASSIVE_PAGES  1000
#define LOG_MAX_BYTES  (16 * 1024 * 1024)
#define PUBLIC_GATE_MS 100
#define ADMIN_GATE_MS  (READ_LIMIT_MS + 500)
#define GATED_LOOK_MS  10
#define RETRY_MS       5000
#define IDLE_PAGES     100
#define IDLE_MS        250
#define IDLE_FEW_MS    3000

static int on_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct checkpoint *cp = ctx;

	(void)db;
	(void)name;
	/* Shorter than before: the log was begun anew. */
	if ((unsigned)pages < cp->log_pages)
		cp->passive_at = PASSIVE_PAGES;
	cp->log_pages = (unsigned)pages;
	cp->pending = true;
	return SQLITE_OK;
}

static enum res run(struct store *store, int mode)
{
	struct checkpoint *cp = &store->checkpoint;
	struct conn *conn = store->writer.conn;
	int log = 0, done = 0;
	int code = sqlite3_wal_checkpoint_v2(conn->db, "main", mode, &log, &done);

	if (log >= 0 && done >= 0) {
		cp->log_pages = (unsigned)log;
		cp->pending = log > done;
	}
	cp->hindered = cp->pending;
	cp->passive_at = cp->log_pages + PASSIVE_PAGES;
	/* Busy: a reader still looks at older pages. The rest moves another time. */
	if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
		return res_of_sqlite(code);
	return conn_error(conn, code);
}

void checkpoint_init(struct store *store)
{
	struct checkpoint *cp = &store->checkpoint;
	sqlite3_stmt *st = conn_stmt(store->writer.conn, "PRAGMA page_size");

	*cp = (struct checkpoint){.page_bytes = 4096, .passive_at = PASSIVE_PAGES};
	if (stmt_row(store->writer.conn, st) == RES_OK)
		cp->page_bytes = (unsigned)column_i64(st, 0);
	stmt_end(store->writer.conn, st);
	sqlite3_wal_hook(store->writer.conn->db, on_commit, cp);
	/* Nobody reads yet: what a killed process left in the log goes into the file at once. */
	run(store, SQLITE_CHECKPOINT_TRUNCATE);
}

static void admin_ungate(struct store *store)
{
	pool_ungate(&store->pools[STORE_ADMIN]);
	store->checkpoint.gated_ms = 0;
	store->checkpoint.retry_ms = mono_ms() + RETRY_MS;
}

static void truncate_drained(struct store *store)
{
	struct pool *public = &store->pools[STORE_PUBLIC];
	uint64_t bytes = (uint64_t)store->checkpoint.log_pages * store->checkpoint.page_bytes;
	int64_t begun = mono_ms();
	enum res res = RES_BUSY;

	/* Most of the work while the public readers still run. */
	run(store, SQLITE_CHECKPOINT_PASSIVE);
	pool_gate(public);
	if (pool_wait_drained(public, PUBLIC_GATE_MS))
		res = run(store, SQLITE_CHECKPOINT_TRUNCATE);
	pool_ungate(public);
	admin_ungate(store);
	if (res == RES_OK)
		store->checkpoint.retry_ms = 0;
	log_debug("store_log_truncated", "result=%s bytes=%" PRIu64 " took_ms=%" PRId64,
		  log_quote(res_text(res)), bytes, mono_ms() - begun);
}

static void truncate_step(struct store *store)
{
	struct checkpoint *cp = &store->checkpoint;
	int64_t now = mono_ms();

	if (!cp->gated_ms) {
		if ((uint64_t)cp->log_pages * cp->page_bytes <= LOG_MAX_BYTES || now < cp->retry_ms)
			return;
		pool_gate(&store->pools[STORE_ADMIN]);
		cp->gated_ms = now;
	}
	if (pool_wait_drained(&store->pools[STORE_ADMIN], 0))
		truncate_drained(store);
	else if (now - cp->gated_ms > ADMIN_GATE_MS) /* somebody keeps a reader: wait no more */
		admin_ungate(store);
}

void checkpoint_after_group(struct store *store)
{
	struct checkpoint *cp = &store->checkpoint;

	if (cp->log_pages >= cp->passive_at && !cp->gated_ms)
		run(store, SQLITE_CHECKPOINT_PASSIVE);
	truncate_step(store);
}

int64_t checkpoint_wait_ms(const struct store *store)
{
	const struct checkpoint *cp = &store->checkpoint;

	if (cp->gated_ms)
		return GATED_LOOK_MS;
	if (!cp->pending)
		return -1;
	/* Two fdatasync for a page or two, after each of a trickle of commits, would be dear. */
	return cp->log_pages >= IDLE_PAGES && !cp->hindered ? IDLE_MS : IDLE_FEW_MS;
}

void checkpoint_idle(struct store *store)
{
	if (store->checkpoint.pending && !store->checkpoint.gated_ms)
		run(store, SQLITE_CHECKPOINT_PASSIVE);
	truncate_step(store);
}

void checkpoint_close(struct store *store)
{
	if (store->checkpoint.gated_ms)
		admin_ungate(store);
	run(store, SQLITE_CHECKPOINT_TRUNCATE);
	sqlite3_wal_hook(store->writer.conn->db, NULL, NULL);
}
