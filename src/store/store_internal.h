/* store/store_internal.h – what the files of the store's core show each other. Nobody else includes
 * it; the files of statements see conn.h only.
 *
 * Order of locks: none nests. The writer's lock guards its queues, a pool's lock guards its line;
 * both are let go before SQL runs or somebody else's function is called. */
#ifndef HYTHE_STORE_INTERNAL_H
#define HYTHE_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "hythe/store/conn.h"
#include "hythe/store/store.h"
#include "hythe/util/embedded.h"

#define STORE_APPLICATION_ID 0x48797468 /* "Hyth": PRAGMA application_id of our files */
#define READER_STATEMENTS    32
#define WRITER_STATEMENTS    96
#define READ_LIMIT_MS        1000
#define QUEUE_MAX            256
#define OBSERVERS_MAX        8
#define NEST_MAX             8

/* --- conn.c: statements, and what became of them --- */
struct conn_slot {
	const char *sql; /* the address it was asked by; compare texts through sqlite3_sql() */
	sqlite3_stmt *st;
	uint64_t used_at; /* by conn.ticks; the smallest one goes first */
	bool busy;        /* between conn_stmt and stmt_end */
};

struct conn {
	sqlite3 *db;
	struct store *store;
	struct pool *pool;      /* NULL: the writer's */
	struct conn *next;      /* in the list of all connections (conn.c) */
	struct conn *next_idle; /* guarded by pool->lock */
	int64_t deadline_ms;    /* of the read transaction, by the store's clock; 0: none */
	bool in_group;          /* the writer is inside BEGIN ... COMMIT */
	enum res prepare_res;   /* what stmt_row answers for a NULL statement */
	enum res bind_res;      /* first failed bind since the last step */
	enum res sick;          /* first I/O, full or corrupt since the transaction began */
	uint64_t ticks;
	unsigned slots_used, slots_max;
	struct conn_slot slots[];
};

enum res conn_exec(struct conn *conn, const char *sql);     /* one kept statement, no parameters */
enum res conn_exec_all(struct conn *conn, const char *sql); /* any number, not kept */
/* What a failed call means; remembered as sickness, and logged, where it is no caller's doing. */
enum res conn_error(struct conn *conn, int code);
void conn_settle(struct conn *conn); /* ends statements that a caller left running */
void conn_forget_statements(struct conn *conn);
void conn_enlist(struct conn *conn); /* so that a failed bind finds its way here */
void conn_delist(struct conn *conn);

/* --- connect.c --- */
enum conn_mode { CONN_READER, CONN_WRITER };

/* Opens and sets every pragma; the file must exist. `*out` is NULL unless RES_OK. */
enum res conn_open(const char *path, enum conn_mode mode, struct conn **out,
		   struct problem *problem);
void conn_close(struct conn *conn); /* NULL is fine */
void sqlite_setup(void);            /* process-wide settings, once */

/* --- migrate.c --- */
/* Brings a database to the last of `files` (ends with path NULL; only migrations/NNNN_*.sql count).
 * `fresh`: an empty file that becomes ours. Otherwise a copy is made before anything changes. */
enum res migrate(struct conn *conn, const char *path, const struct embedded_file *files, bool fresh,
		 const struct clock *clock, struct problem *problem);
/* Reads the header alone, before SQLite touches the file. */
enum res migrate_check_header(const char *path, struct problem *problem);

/* --- pool.c --- */
struct pool_waiter { /* one who stands in line, on his own stack */
	pthread_cond_t turn;
	bool granted; /* guarded by pool->lock */
	struct pool_waiter *next;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t drained;           /* the last one out came back */
	struct store *store;              /* set once */
	unsigned limit;                   /* set once */
	struct pool_waiter *first, *last; /* guarded by lock: in order of arrival */
	struct conn *idle;                /* guarded by lock: the warmest on top */
	unsigned out;                     /* guarded by lock: places taken */
	bool gated;                       /* guarded by lock: nobody goes in */
};

void pool_init(struct pool *pool, struct store *store, unsigned limit);
void pool_free(struct pool *pool);
void pool_gate(struct pool *pool);
void pool_ungate(struct pool *pool);
bool pool_wait_drained(struct pool *pool, unsigned ms); /* gated before; false: somebody is out */
/* Gives back the page caches of connections that nobody uses. */
void pool_release_memory(struct pool *pool);

/* --- sums.c --- */
struct sum_cell {
	int64_t id;
	enum sum_kind kind;
	bool used;
	uint64_t limbs[4]; /* least significant first */
};

struct sum_undo {
	int64_t id, times;
	enum sum_kind kind;
	uint8_t hash[32];
};

struct sums {
	struct sum_cell *cells; /* open addressing; `size` is a power of two */
	size_t size, count;
	struct sum_undo *undo; /* only while a nested savepoint is open */
	size_t undo_count, undo_cap;
};

enum res sums_add(struct sums *sums, enum sum_kind kind, int64_t id, const uint8_t hash[32],
		  int64_t times, bool undoable);
void sums_undo_to(struct sums *sums, size_t mark);
enum res sums_flush(struct sums *sums, struct conn *conn); /* one UPDATE a sum that moved */
void sums_reset(struct sums *sums); /* keeps a modest table for the next job */
void sums_free(struct sums *sums);
/* total += hash x times, mod 2^256, big endian. */
void sum_add_bytes(uint8_t total[32], const uint8_t hash[32], int64_t times);

/* --- change_log.c --- */
struct change_list {
	struct change *items;
	size_t count, cap;
	int64_t last_seq;
};

enum res change_last_seq(struct conn *conn, int64_t *last);

/* --- txn.c --- */
struct txn_mark {
	size_t changes, undo;
	int64_t last_seq;
};

struct txn {
	struct store *store;
	struct conn *conn;
	struct change_list *changes; /* of the whole group */
	struct sums *sums;           /* of this job */
	unsigned depth;
	struct txn_mark marks[NEST_MAX + 1]; /* [0]: where the job began */
};

/* Runs one job in its savepoint. What it answers is the job's own result; whether the group is
 * still whole is for the caller to ask (conn->sick, sqlite3_get_autocommit). */
enum res txn_run(struct txn *txn, store_job job, void *arg);

/* --- checkpoint.c --- */
struct checkpoint {          /* the writer thread's */
	unsigned log_pages;  /* in the log, as of the last commit */
	unsigned passive_at; /* next passive one when the log is this long */
	unsigned page_bytes;
	bool pending;     /* the log holds pages that the database has not */
	bool hindered;    /* the last one could not finish: a reader looks at old pages */
	int64_t gated_ms; /* since when the admin pool is gated; 0: it is not */
	int64_t retry_ms; /* no truncating one before */
};

void checkpoint_init(struct store *store);
/* Between two groups; takes no longer than a passive one, or a truncation with nobody reading. */
void checkpoint_after_group(struct store *store);
void checkpoint_idle(struct store *store);
int64_t checkpoint_wait_ms(const struct store *store); /* quiet before the next; -1: none due */
void checkpoint_close(struct store *store);

/* --- writer.c --- */
struct job;

struct job_queue {
	struct job *first, *last;
	unsigned submitted; /* of these, without a waiting caller: bounded by QUEUE_MAX */
};

struct writer {
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct job_queue queues[STORE_SOURCES]; /* guarded by lock */
	unsigned waiting;                       /* guarded by lock: jobs in all queues */
	unsigned turn;                          /* guarded by lock: the source served next */
	bool stopping;                          /* guarded by lock */
	/* The writer thread's own from here on. */
	struct conn *conn;
	struct change_list changes;
	struct sums sums;
	unsigned group_ms;       /* a constant, but for tests on a slow machine */
	int64_t locked_since_ms; /* another process holds the database; 0: none does */
	bool locked_logged;
	int64_t group_ended_ms;
	bool lean; /* memory was given back since the last group */
};

enum res writer_start(struct store *store);
void writer_stop(struct store *store); /* serves what is queued */

/* --- db.c --- */
struct store {
	char *path;
	const struct clock *clock;
	int lock_fd;
	struct pool pools[2]; /* by enum store_pool */
	struct writer writer;
	struct checkpoint checkpoint;
	store_observer observers[OBSERVERS_MAX];
	void *observer_ctx[OBSERVERS_MAX];
	unsigned observer_count; /* set before the first write */
	atomic_bool index_damaged; /* a full-text index was found out of step with its rows */
};

/* store_open with other migrations than the program's own: for tests. */
enum res store_open_with(const struct store_config *config, const struct embedded_file *files,
			 struct store **out, struct problem *problem);

int64_t mono_ms(void); /* the machine's, for waiting; rules use the store's clock */
void cond_init_mono(pthread_cond_t *cond);
/* Waits on a condition of cond_init_mono() until then; false when the time is over. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_ms);

#endif
