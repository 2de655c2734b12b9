/* store/store.h – the database as a whole: opening, readers, the one writer, and who hears of
 * commits.
 *
 * SQLite in WAL mode behind one writer thread and two pools of read-only connections. SQL text
 * lives in the files of this folder, one a domain; nobody else sees sqlite3.h but through `struct
 * conn`. Threads: store_open/close by the owner; everything else from any thread. A `struct conn`
 * belongs to the thread that took it until it is given back. */
#ifndef HYTHE_STORE_STORE_H
#define HYTHE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/clock.h"
#include "hythe/util/result.h"

struct store;
struct conn; /* one SQLite connection with its prepared statements */
struct txn;  /* a write job at work: its savepoint, its change records */

struct store_config {
	const char *path;        /* DATA/hythe.db */
	unsigned public_readers; /* as many as event threads */
	unsigned admin_readers;  /* 2 */
	const struct clock *clock;
};

/* Opens or creates, migrates (a copy is kept beside the file first: hythe.db.before-NNNN), locks
 * the data directory's `lock` file so that a second process is refused (RES_CONFLICT, code in_use),
 * starts the writer thread. A database of a newer program: RES_CONFLICT, code newer_database, both
 * named. */
enum res store_open(const struct store_config *config, struct store **out, struct problem *problem);
/* Finishes what is queued, truncates the log, closes. No reader may be out. NULL is fine. */
void store_close(struct store *store);
const struct clock *store_clock(const struct store *store);

/* --- Readers --- */
enum store_pool { STORE_PUBLIC, STORE_ADMIN };

/* A connection inside a read transaction, in order of arrival; RES_BUSY after wait_ms. */
enum res store_read(struct store *store, enum store_pool pool, unsigned wait_ms, struct conn **out);
void store_read_end(struct conn *conn); /* ends the transaction, gives the connection back */

/* --- Writer --- */
enum store_source {
	STORE_FROM_ADMIN,
	STORE_FROM_TIMER,
	STORE_FROM_SUB,
	STORE_FROM_NODE,
	STORE_SOURCES
};

/* A job runs on the writer thread inside a savepoint of its own. Anything but RES_OK undoes the
 * savepoint (rows, change records and sums alike) and is what the caller gets. RES_OK reaches the
 * caller only after the commit is on disk; if the commit fails, the whole group gets its error.
 * A job runs once or not at all. */
typedef enum res (*store_job)(struct txn *txn, void *arg);

/* Runs a job and waits for its end. RES_BUSY: the writer could not begin it within wait_ms (it then
 * never runs). `revision` (NULL allowed): the last change_log.seq after the commit. Not from jobs,
 * `done` callbacks or observers (RES_INTERNAL): the writer would wait for itself. */
enum res store_write(struct store *store, enum store_source source, store_job job, void *arg,
		     unsigned wait_ms, int64_t *revision);

/* The same without waiting: `done` is called on the writer thread after the commit (or the
 * failure). RES_BUSY: the source's queue is full (256), nothing is kept. A job that could not begin
 * in 30 s (3 s when the store is closing), as another process holds the database, is told RES_BUSY
 * by `done`. */
typedef void (*store_done)(void *arg, enum res res, int64_t revision);
enum res store_submit(struct store *store, enum store_source source, store_job job, store_done done,
		      void *arg);

struct conn *txn_conn(struct txn *txn);
/* Undo one part of a job and go on: a nested savepoint. */
enum res txn_nest(struct txn *txn);
enum res txn_nest_end(struct txn *txn, bool keep);

/* --- What a commit changed --- */
enum change_kind {
	CHANGE_USER = 1,    /* id: user; his record, groups, credentials or what a render shows */
	CHANGE_INBOUND = 2, /* id: inbound; its record or how it is listed */
	CHANGE_ACCESS = 3,  /* id: node, group_id: the record of that pair; gained: it is new */
	CHANGE_RENDER = 4, /* id 0: something only subscriptions show (a host, a name, a setting) */
	CHANGE_TOKEN = 100,  /* not in change_log: a subscription token came or went (id: user) */
	CHANGE_SETTING = 101 /* not in change_log: settings are to be read again */
};

#define STORE_TOKEN_KEY 16 /* the first bytes of a token's SHA-256 */

struct change {
	int64_t seq; /* 0 for kinds of 100 and more */
	int64_t id, group_id;
	enum change_kind kind;
	bool gained;
	bool had_token, has_token; /* CHANGE_TOKEN */
	uint8_t old_token[STORE_TOKEN_KEY], new_token[STORE_TOKEN_KEY];
};

/* Writes the change_log row and remembers it for the observers. */
enum res txn_change(struct txn *txn, enum change_kind kind, int64_t id, int64_t group_id,
		    bool gained);
/* Either may be NULL: the token came first, or is gone. */
enum res txn_change_token(struct txn *txn, int64_t user_id, const uint8_t *old_token,
			  const uint8_t *new_token);
enum res txn_change_setting(struct txn *txn);

/* Observers hear of every commit in order, on the writer thread, after the commit and before the
 * callers are answered. They must be quick and must not write to the store.
 * Register before the first write; at most 8. */
typedef void (*store_observer)(void *ctx, const struct change *changes, size_t count);
void store_observe(struct store *store, store_observer observer, void *ctx);

/* --- Digest sums (reference/sync-protocol.md, A1): added up in memory, written once a job. --- */
enum sum_kind { SUM_GROUP, SUM_NODE_BASE, SUM_NODE_MINUS };
/* sum += hash x times (times may be negative), mod 2^256, of group or node `id`. */
enum res txn_sum_add(struct txn *txn, enum sum_kind kind, int64_t id, const uint8_t hash[32],
		     int64_t times);

/* --- Upkeep, called by the timer thread --- */
/* Last change number, and the highest pruned one. */
enum res store_revision(struct conn *conn, int64_t *last, int64_t *floor);
/* Prunes change_log to 7 days and 100,000 rows in jobs of at most 5 ms; raises log_floor. */
enum res store_prune_changes(struct store *store);

#endif
