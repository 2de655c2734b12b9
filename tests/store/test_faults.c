/* What the machine may do to a store: memory that runs out, writes and syncs that fail, a full
 * disk, a kill, a second process. After each the same is asked: who was told OK is in the file, who
 * was not is not, and the store goes on.
 *
 * The n-th call fails, n = 1, 2, 3, ... until one run passes without meeting its fault. With
 * HYTHE_TEST_ALL=1 every n is tried, otherwise the steps grow. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "store/store_internal.h"
#include "store_test.h"

/* --- A fault that strikes at the n-th call --- */

struct fault {
	atomic_int countdown; /* strikes when it reaches 0; negative: over or off */
	atomic_bool stays;    /* every later call fails too */
	atomic_bool struck;
	int code; /* set while nothing runs */
};

static struct fault memory, writing, syncing, reading;

static bool strikes(struct fault *fault)
{
	int before = atomic_load(&fault->countdown);

	if (before == 0)
		return atomic_load(&fault->stays);
	if (before < 0)
		return false;
	if (atomic_fetch_sub(&fault->countdown, 1) != 1)
		return false;
	atomic_store(&fault->struck, true);
	return true;
}

static void fault_set(struct fault *fault, int nth, bool stays, int code)
{
	fault->code = code;
	atomic_store(&fault->struck, false);
	atomic_store(&fault->stays, stays);
	atomic_store(&fault->countdown, nth);
}

/* True: it has struck. */
static bool fault_clear(struct fault *fault)
{
	atomic_store(&fault->stays, false);
	atomic_store(&fault->countdown, -1);
	return atomic_load(&fault->struck);
}

static int next_step(int n)
{
	static int all = -1;

	if (all < 0)
		all = getenv("HYTHE_TEST_ALL") != NULL;
	return all ? n + 1 : n + 1 + n / 8;
}

/* --- SQLite's memory * --- */

static sqlite3_mem_methods real_memory;
static atomic_long live;

static void *memory_get(int size)
{
	void *block = strikes(&memory) ? NULL : real_memory.xMalloc(size);

	if (block)
		atomic_fetch_add(&live, 1);
	return block;
}

static void memory_free(void *block)
{
	if (block)
		atomic_fetch_sub(&live, 1);
	real_memory.xFree(block);
}

static void *memory_resize(void *block, int size)
{
	return strikes(&memory) ? NULL : real_memory.xRealloc(block, size);
}

/* --- SQLite's files * --- */

/* A file keeps the methods that the system gave it, but for the few that may fail. SQLite's unix
 * files come with two or three tables of methods; each gets a copy of its own. */
struct hooked {
	sqlite3_io_methods own;
	const sqlite3_io_methods *real;
};

static struct hooked hooked[8];
static int hooked_count;
static pthread_mutex_t hooked_lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *real_vfs, own_vfs;

static const sqlite3_io_methods *real_of(sqlite3_file *file)
{
	return ((const struct hooked *)(const void *)file->pMethods)->real;
}

static int file_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	return strikes(&writing) ? writing.code : real_of(file)->xWrite(file, data, len, at);
}

static int file_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
	return strikes(&reading) ? reading.code : real_of(file)->xRead(file, data, len, at);
}

static int file_sync_hook(sqlite3_file *file, int flags)
{
	return strikes(&syncing) ? syncing.code : real_of(file)->xSync(file, flags);
}

static const sqlite3_io_methods *hook(const sqlite3_io_methods *real)
{
	struct hooked *at;

	pthread_mutex_lock(&hooked_lock);
	for (at = hooked; at < hooked + hooked_count && at->real != real; at++)
		;
	if (at == hooked + hooked_count) {
		at->own = *real;
		at->own.xWrite = file_write;
		at->own.xRead = file_read;
		at->own.xSync = file_sync_hook;
		at->real = real;
		hooked_count++;
	}
	pthread_mutex_unlock(&hooked_lock);
	return &at->own;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		    int *out_flags)
{
	int code = real_vfs->xOpen(vfs, name, file, flags, out_flags);

	if (file->pMethods)
		file->pMethods = hook(file->pMethods);
	return code;
}

/* Before main: SQLite takes its settings only while it sleeps. */
__attribute__((constructor)) static void hooks(void)
{
	static sqlite3_mem_methods own;

	fault_clear(&memory);
	fault_clear(&writing);
	fault_clear(&syncing);
	fault_clear(&reading);
	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
	own = real_memory;
	own.xMalloc = memory_get;
	own.xFree = memory_free;
	own.xRealloc = memory_resize;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &own);
	sqlite_setup();
	real_vfs = sqlite3_vfs_find(NULL);
	own_vfs = *real_vfs;
	own_vfs.zName = "faulty";
	own_vfs.xOpen = vfs_open;
	sqlite3_vfs_register(&own_vfs, 1);
}

/* --- The work * --- */

#define JOBS 4

struct work {
	struct store *store;
	int number; /* of the next job */
	enum res got[64];
	int observed;
};

static enum res work_job(struct txn *txn, void *arg)
{
	static const uint8_t hash[32] = {[31] = 1};
	const int *number = arg;
	sqlite3_stmt *st = conn_stmt(txn_conn(txn), "INSERT INTO setting VALUES (?1, ?2)");
	char key[32];
	enum res res;

	snprintf(key, sizeof key, "work.%d", *number);
	bind_text(st, 1, key);
	bind_i64(st, 2, *number);
	if ((res = stmt_run(txn_conn(txn), st)) != RES_OK ||
	    (res = txn_sum_add(txn, SUM_GROUP, 1, hash, 1)) != RES_OK ||
	    (res = txn_nest(txn)) != RES_OK ||
	    (res = txn_change(txn, CHANGE_USER, *number, 0, false)) != RES_OK)
		return res;
	return txn_nest_end(txn, true);
}

static void on_commit(void *ctx, const struct change *changes, size_t count)
{
	struct work *work = ctx;

	(void)changes;
	work->observed += (int)count;
}

static enum res group_job(struct txn *txn, void *arg)
{
	(void)arg;
	return stmt_run(txn_conn(txn),
			conn_stmt(txn_conn(txn),
				  "INSERT INTO group_ (public_id, name, name_key, created_unix)"
				  " VALUES ('g', 'g', 'g', 0)"));
}

static void make_first(void)
{
	struct store *store;

	dir_new();
	store = open_store();
	CHECK_INT(store_write(store, STORE_FROM_ADMIN, group_job, NULL, 1000, NULL), RES_OK);
	store_close(store);
}

/* A data directory with one group: made once, then written out from memory. */
static void make_base(void)
{
	static char image[1 << 20];
	static size_t len;
	FILE *file;

	if (len == 0) {
		make_first();
		file = fopen(db_path, "rb");
		CHECK(file != NULL);
		len = fread(image, 1, sizeof image, file);
		CHECK(len > 0 && len < sizeof image);
	} else {
		dir_new();
		file = fopen(db_path, "wb");
		CHECK(file != NULL && fwrite(image, 1, len, file) == len);
	}
	CHECK_INT(fclose(file), 0);
}

static bool try_open(struct store **store)
{
	struct store_config config = config_of(&clock_system);

	return store_open(&config, store, NULL) == RES_OK;
}

static void work_open(struct work *work)
{
	memset(work, 0, sizeof *work);
	work->store = open_store();
	store_observe(work->store, on_commit, work);
}

static void work_write(struct work *work)
{
	int number = work->number++;

	work->got[number] =
		store_write(work->store, STORE_FROM_ADMIN, work_job, &number, 5000, NULL);
}

/* Rows, change records, sum and what observers heard are those of the jobs that were told OK. */
static void work_check(struct work *work, bool observed)
{
	int ok = 0;

	for (int i = 0; i < work->number; i++) {
		char sql[64];

		snprintf(sql, sizeof sql, "SELECT count(*) FROM setting WHERE key = 'work.%d'", i);
		CHECK_INT(read_i64(work->store, sql), work->got[i] == RES_OK);
		ok += work->got[i] == RES_OK;
	}
	CHECK_INT(read_i64(work->store, "SELECT count(*) FROM change_log"), ok);
	CHECK_INT(read_i64(work->store, "SELECT max(seq) FROM change_log"), ok);
	CHECK_INT(read_i64(work->store,
			   "SELECT CAST('0x' || substr(hex(sum), 63) AS TEXT) = printf('0x%02X', ("
			   "SELECT count(*) FROM change_log)) FROM group_"),
		  1);
	if (observed)
		CHECK_INT(work->observed, ok);
	CHECK_INT(read_i64(work->store, "SELECT count(*) FROM pragma_integrity_check WHERE "
					"integrity_check <> 'ok'"),
		  0);
}

/* After the fault: the same store serves again, and so does the file once reopened. */
static void work_finish(struct work *work)
{
	work_write(work);
	CHECK_INT(work->got[work->number - 1], RES_OK);
	work_check(work, true);
	store_close(work->store);
	work->store = open_store();
	work_check(work, false);
	store_close(work->store);
}

/* --- Memory runs out * --- */

static void memory_in_open(bool create, bool stays)
{
	struct store *store;
	bool struck = true;
	long before;
	int n;

	make_base();
	before = atomic_load(&live);
	for (n = 1; struck; n = next_step(n)) {
		bool opened;

		if (create)
			dir_empty();
		fault_set(&memory, n, stays, 0);
		opened = try_open(&store);
		struck = fault_clear(&memory);
		CHECK(opened || struck);
		store_close(store);
		CHECK_INT(atomic_load(&live), before);
		/* And nothing is in the way of the next start. */
		CHECK(try_open(&store));
		CHECK_INT(read_i64(store, "SELECT count(*) FROM setting"), 2);
		store_close(store);
	}
	CHECK(n > 100);
}

static void test_memory_in_open(void)
{
	quiet(true);
	memory_in_open(false, false);
	memory_in_open(false, true);
	quiet(false);
}

static void test_memory_in_creation(void)
{
	quiet(true);
	memory_in_open(true, false);
	memory_in_open(true, true);
	quiet(false);
}

static void memory_in_write(bool stays)
{
	bool struck = true;
	int n;

	for (n = 1; struck; n = next_step(n)) {
		static struct work work;
		long before;

		make_base();
		before = atomic_load(&live);
		work_open(&work);
		fault_set(&memory, n, stays, 0);
		for (int i = 0; i < JOBS; i++) {
			work_write(&work);
			CHECK(work.got[i] == RES_OK || work.got[i] == RES_NOMEM);
		}
		struck = fault_clear(&memory);
		work_finish(&work);
		CHECK_INT(atomic_load(&live), before);
	}
	CHECK(n > 20);
}

static void test_memory_in_write(void)
{
	quiet(true);
	memory_in_write(false);
	memory_in_write(true);
	quiet(false);
}

static void test_memory_in_read(void)
{
	bool struck = true;
	int n;

	make_base();
	quiet(true);
	for (n = 1; struck; n = next_step(n)) {
		struct store *store = open_store();
		struct arena arena;
		struct conn *conn;
		sqlite3_stmt *st;
		enum res res;

		arena_init(&arena, 65536);
		fault_set(&memory, n, false, 0);
		res = store_read(store, STORE_PUBLIC, 100, &conn);
		CHECK((res == RES_OK) == (conn != NULL));
		if (conn) {
			st = conn_stmt(conn, "SELECT value FROM setting WHERE key = ?1");
			bind_text(st, 1, "store_id");
			res = stmt_row(conn, st);
			if (res == RES_OK)
				CHECK_INT(strlen(column_text(st, 0, &arena)), 32);
			stmt_end(conn, st);
			store_read_end(conn);
		}
		struck = fault_clear(&memory);
		CHECK(res == RES_OK || (res == RES_NOMEM && struck));
		/* A place is not lost with its connection. */
		for (int i = 0; i < 5; i++) {
			CHECK_INT(store_read(store, STORE_PUBLIC, 0, &conn), RES_OK);
			store_read_end(conn);
		}
		arena_free(&arena);
		store_close(store);
	}
	quiet(false);
	CHECK(n > 20);
}

/* --- The disk fails * --- */

static void disk_in_write(struct fault *fault, int code, bool stays, enum res want)
{
	bool struck = true;
	int n;

	for (n = 1; struck; n = next_step(n)) {
		static struct work work;

		make_base();
		work_open(&work);
		fault_set(fault, n, stays, code);
		for (int i = 0; i < JOBS; i++) {
			work_write(&work);
			CHECK(work.got[i] == RES_OK || work.got[i] == want);
		}
		struck = fault_clear(fault);
		if (struck && stays)
			CHECK_INT(work.got[JOBS - 1], want);
		work_finish(&work);
	}
	CHECK(n > JOBS);
}

static void test_disk_full(void)
{
	quiet(true);
	disk_in_write(&writing, SQLITE_FULL, false, RES_FULL);
	disk_in_write(&writing, SQLITE_FULL, true, RES_FULL);
	quiet(false);
}

static void test_write_error(void)
{
	quiet(true);
	disk_in_write(&writing, SQLITE_IOERR_WRITE, false, RES_IO);
	disk_in_write(&writing, SQLITE_IOERR_WRITE, true, RES_IO);
	quiet(false);
}

static void test_sync_error(void)
{
	quiet(true);
	disk_in_write(&syncing, SQLITE_IOERR_FSYNC, false, RES_IO);
	disk_in_write(&syncing, SQLITE_IOERR_FSYNC, true, RES_IO);
	quiet(false);
}

static void disk_in_open(struct fault *fault, int code, bool create)
{
	bool struck = true;
	struct store *store;

	make_base();
	for (int n = 1; struck; n = next_step(n)) {
		bool opened;

		if (create)
			dir_empty();
		fault_set(fault, n, false, code);
		opened = try_open(&store);
		struck = fault_clear(fault);
		CHECK(opened || struck);
		store_close(store);
		store = open_store();
		CHECK_INT(read_i64(store, "SELECT count(*) FROM setting"), 2);
		CHECK_INT(read_i64(store, "SELECT count(*) FROM pragma_integrity_check"
					  " WHERE integrity_check <> 'ok'"),
			  0);
		store_close(store);
	}
}

static void test_disk_in_open(void)
{
	quiet(true);
	disk_in_open(&reading, SQLITE_IOERR_READ, false);
	disk_in_open(&writing, SQLITE_FULL, true);
	disk_in_open(&writing, SQLITE_IOERR_WRITE, true);
	disk_in_open(&syncing, SQLITE_IOERR_FSYNC, true);
	quiet(false);
}

static const char SECOND[] = "CREATE TABLE second (a); INSERT INTO second VALUES (1), (2);"
			     "UPDATE setting SET value = 5 WHERE key = 'log_floor';";

/* A migration is there wholly or not at all, and its copy is whole or not there. */
static void disk_in_migration(struct fault *fault, int code)
{
	struct embedded_file files[3] = {
		*embedded_find("migrations/0001_panel.sql"),
		{"migrations/0002_second.sql", SECOND, sizeof SECOND - 1},
		{NULL,			 NULL,   0                }
        };
	struct store_config config = config_of(&clock_system);
	bool struck = true;
	struct store *store;

	for (int n = 1; struck; n = next_step(n)) {
		char copy[128];
		bool opened;

		make_base();
		snprintf(copy, sizeof copy, "%s.before-0002", db_path);
		fault_set(fault, n, false, code);
		opened = store_open_with(&config, files, &store, NULL) == RES_OK;
		struck = fault_clear(fault);
		CHECK(opened || struck);
		store_close(store);
		if (access(copy, F_OK) == 0) {
			CHECK_INT(outside_i64(copy, "PRAGMA user_version"), 1);
			CHECK_INT(outside_i64(copy, "SELECT count(*) FROM group_"), 1);
		} else {
			CHECK(!opened);
		}
		CHECK_INT(store_open_with(&config, files, &store, NULL), RES_OK);
		CHECK_INT(read_i64(store, "PRAGMA user_version"), 2);
		CHECK_INT(read_i64(store, "SELECT count(*) FROM second"), 2);
		store_close(store);
	}
}

static void test_disk_in_migration(void)
{
	quiet(true);
	disk_in_migration(&writing, SQLITE_FULL);
	disk_in_migration(&syncing, SQLITE_IOERR_FSYNC);
	quiet(false);
}

/* --- Other processes * --- */

/* The child ends with 0, or with the line at fault. */
#define CHILD_CHECK(condition)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: child: not so: %s\n", __FILE__, __LINE__, #condition);      \
			fflush(stdout);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void check_child(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

static enum res bulky_job(struct txn *txn, void *arg)
{
	sqlite3_stmt *st =
		conn_stmt(txn_conn(txn), "INSERT INTO setting VALUES (?1, randomblob(30000))");
	const int *number = arg;
	char key[32];

	snprintf(key, sizeof key, "work.%d", *number);
	bind_text(st, 1, key);
	return stmt_run(txn_conn(txn), st);
}

/* A real limit, met in the middle of a write(2). */
static void size_limit_child(void)
{
	struct rlimit limit = {.rlim_cur = 1500000, .rlim_max = RLIM_INFINITY};
	struct store *store;
	enum res res = RES_OK;
	int number;

	signal(SIGXFSZ, SIG_IGN);
	CHILD_CHECK(try_open(&store));
	CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (number = 0; number < 1000; number++)
		if ((res = store_write(store, STORE_FROM_ADMIN, bulky_job, &number, 5000, NULL)) !=
		    RES_OK)
			break;
	CHILD_CHECK(res == RES_FULL);
	CHILD_CHECK(number > 10);
	for (int i = 0; i < 5; i++)
		CHILD_CHECK(store_write(store, STORE_FROM_ADMIN, bulky_job, &number, 5000, NULL) ==
			    RES_FULL);
	CHILD_CHECK(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'work.%'") ==
		    number);
	/* Room again: no restart is needed. */
	limit.rlim_cur = RLIM_INFINITY;
	CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHILD_CHECK(store_write(store, STORE_FROM_ADMIN, bulky_job, &number, 5000, NULL) == RES_OK);
	store_close(store);
	CHILD_CHECK(try_open(&store));
	CHILD_CHECK(read_i64(store, "SELECT count(*) FROM setting WHERE key LIKE 'work.%'") ==
		    number + 1);
	CHILD_CHECK(read_i64(store, "SELECT count(*) FROM pragma_integrity_check"
				    " WHERE integrity_check <> 'ok'") == 0);
	store_close(store);
	_exit(0);
}

static void test_size_limit(void)
{
	pid_t pid;

	make_base();
	quiet(true);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		size_limit_child();
	quiet(false);
	check_child(pid);
}

/* Writes 0, 1, 2, ... and says each number once it heard OK. */
static void writing_child(int out)
{
	struct store *store;

	CHILD_CHECK(try_open(&store));
	for (int number = 0;; number++) {
		CHILD_CHECK(store_write(store, STORE_FROM_ADMIN, work_job, &number, 5000, NULL) ==
			    RES_OK);
		CHILD_CHECK(write(out, &number, sizeof number) == sizeof number);
	}
}

static void test_killed(void)
{
	quiet(true);
	for (int round = 0; round < 6; round++) {
		int fds[2], number = -1, last = -1, status;
		static struct work work;
		struct store *store;
		int64_t rows;
		pid_t pid;

		make_base();
		CHECK_INT(pipe(fds), 0);
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			writing_child(fds[1]);
		close(fds[1]);
		while (last < 5 + round * 9 &&
		       read(fds[0], &number, sizeof number) == sizeof number)
			last = number;
		kill(pid, SIGKILL);
		while (read(fds[0], &number, sizeof number) == sizeof number)
			last = number;
		close(fds[0]);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		/* All that was promised, at most one more, and no hole. */
		store = open_store();
		rows = read_i64(store, "SELECT count(*) FROM change_log");
		CHECK(rows == last + 1 || rows == last + 2);
		memset(&work, 0, sizeof work);
		work.store = store;
		work.number = (int)(rows < 64 ? rows : 64);
		if (rows < 64)
			work_check(&work, false);
		store_close(store);
	}
	quiet(false);
}

static void second_child(int in, int out)
{
	struct store *store;
	char byte = 'o';

	CHILD_CHECK(try_open(&store));
	CHILD_CHECK(write(out, &byte, 1) == 1);
	CHILD_CHECK(read(in, &byte, 1) == 0);
	store_close(store);
	_exit(0);
}

static void test_second_process(void)
{
	struct store_config config;
	struct problem problem = {0};
	struct store *store;
	int to[2], from[2];
	char byte, text[32];
	pid_t pid;

	make_base();
	config = config_of(&clock_system);
	CHECK(pipe(to) == 0 && pipe(from) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		second_child(to[0], from[1]);
	}
	close(to[0]);
	CHECK(read(from[0], &byte, 1) == 1);
	CHECK_INT(store_open(&config, &store, &problem), RES_CONFLICT);
	CHECK_TEXT(problem.code, "in_use");
	snprintf(text, sizeof text, "(pid %ld)", (long)pid);
	CHECK(strstr(problem.detail, text) != NULL);
	close(to[1]);
	check_child(pid);
	close(from[0]);
	close(from[1]);
	store = open_store();
	store_close(store);
}

TEST_MAIN(TEST(test_memory_in_open), TEST(test_memory_in_creation), TEST(test_memory_in_write),
	  TEST(test_memory_in_read), TEST(test_disk_full), TEST(test_write_error),
	  TEST(test_sync_error), TEST(test_disk_in_open), TEST(test_disk_in_migration),
	  TEST(test_size_limit), TEST(test_killed), TEST(test_second_process))
