#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files_internal.h"
#include "hythe/util/log.h"

int64_t mono_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cond_init_mono(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_ms)
{
	struct timespec at = {.tv_sec = (time_t)(at_ms / 1000),
			      .tv_nsec = (long)(at_ms % 1000) * 1000000};

	return pthread_cond_timedwait(cond, lock, &at) != ETIMEDOUT;
}

/* --- The data directory's lock --- */

/* The one who holds it wrote his pid; only for the sentence. */
static long lock_owner(int fd)
{
	char text[24] = "";
	ssize_t len = pread(fd, text, sizeof text - 1, 0);

	return len > 0 ? strtol(text, NULL, 10) : 0;
}

static void lock_sign(int fd)
{
	char text[24];
	int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());

	/* Without room for a pid the lock still holds. */
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len)
		log_debug("store_lock_not_signed", "errno=%d", errno);
}

static enum res lock_take(const char *path, int *out, struct problem *problem)
{
	char *name = path_beside(path, "lock");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	enum res res = RES_OK;

	if (!name) {
		res = problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	} else if (fd < 0) {
		res = problem_set(problem, res_of_errno(errno), "cannot_open_lock", NULL,
				  "The lock file %.120s cannot be opened: %s. Check that the data "
				  "directory exists and is writable.",
				  name, strerror(errno));
	} else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		res = problem_set(
			problem, RES_CONFLICT, "in_use", NULL,
			"Another hythe (pid %ld) uses this data directory. Stop it first, or use "
			"its commands while it runs (lock file %.100s).",
			lock_owner(fd), name);
	}
	free(name);
	if (res != RES_OK) {
		if (fd >= 0)
			close(fd);
		return res;
	}
	lock_sign(fd);
	*out = fd;
	return RES_OK;
}

/* --- Creating --- */

#define MAKING_PRAGMAS "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"

/* A log without its database would be taken for the new one's. */
static enum res no_stray_log(const char *path, struct problem *problem)
{
	static const char *const tails[] = {"-wal", "-journal"};
	enum res res = RES_OK;

	for (size_t i = 0; res == RES_OK && i < sizeof tails / sizeof *tails; i++) {
		char *name = path_with(path, tails[i]);
		struct stat st;

		if (!name)
			return problem_set(problem, RES_NOMEM, "out_of_memory", NULL,
					   "Out of memory.");
		if (stat(name, &st) == 0 && st.st_size > 0)
			res = problem_set(problem, RES_CONFLICT, "stray_log", NULL,
					  "%.120s is missing, but its log (%s) is there. Put the "
					  "database back, or move the log away to begin anew.",
					  path, tails[i]);
		free(name);
	}
	return res;
}

static void remove_with_logs(const char *path)
{
	static const char *const tails[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		char *name = path_with(path, tails[i]);

		if (name)
			unlink(name);
		free(name);
	}
}

static enum res create_file(const char *path, struct problem *problem)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	enum res res = RES_OK;

	/* fchmod: an odd umask may have taken our own rights away. */
	if (fd < 0 || fchmod(fd, 0600) != 0)
		res = problem_set(problem, res_of_errno(errno), "cannot_create_database", NULL,
				  "The database %.120s cannot be created: %s.", path,
				  strerror(errno));
	if (fd >= 0)
		close(fd);
	return res;
}

/* Made under another name and renamed when it is whole: under its own name a database is never half
 * made, so an empty file there is damage and not a beginning. Until then nobody needs a journal on
 * disk or an fdatasync for each step; and with a log, closing would have to move it into the file,
 * and does not say when it could not. */
static enum res create(const char *path, const struct embedded_file *files,
		       const struct clock *clock, struct problem *problem)
{
	char *making = path_with(path, ".new");
	struct conn *conn = NULL;
	enum res res;

	if (!making)
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	remove_with_logs(making);
	if ((res = no_stray_log(path, problem)) != RES_OK ||
	    (res = create_file(making, problem)) != RES_OK ||
	    (res = conn_open(making, CONN_WRITER, &conn, problem)) != RES_OK ||
	    (res = conn_exec_all(conn, MAKING_PRAGMAS)) != RES_OK ||
	    (res = migrate(conn, making, files, true, clock, problem)) != RES_OK)
		goto out;
	conn_close(conn);
	conn = NULL;
	if ((res = file_sync(making)) == RES_OK && rename(making, path) != 0)
		res = res_of_errno(errno);
	if (res == RES_OK)
		res = dir_sync(path);
out:
	conn_close(conn);
	if (res != RES_OK) {
		problem_set(problem, res, "cannot_create_database", NULL,
			    "The database %.120s cannot be created: %s.", path, res_text(res));
		remove_with_logs(making);
	}
	free(making);
	return res;
}

/* --- Opening --- */

static enum res ensure_file(const char *path, const struct embedded_file *files,
			    const struct clock *clock, struct problem *problem)
{
	struct stat st;

	if (stat(path, &st) != 0 && errno == ENOENT)
		return create(path, files, clock, problem);
	return migrate_check_header(path, problem);
}

static enum res open_writer(struct store *store, const struct embedded_file *files,
			    struct problem *problem)
{
	struct writer *writer = &store->writer;
	enum res res;

	if ((res = ensure_file(store->path, files, store->clock, problem)) != RES_OK ||
	    (res = conn_open(store->path, CONN_WRITER, &writer->conn, problem)) != RES_OK)
		return res;
	writer->conn->store = store;
	if ((res = migrate(writer->conn, store->path, files, false, store->clock, problem)) !=
	    RES_OK)
		return res;
	checkpoint_init(store);
	if ((res = writer_start(store)) != RES_OK)
		problem_set(problem, res, "cannot_open_database", NULL,
			    "The database %.120s cannot be read: %s.", store->path, res_text(res));
	return res;
}

static struct store *store_new(const struct store_config *config)
{
	struct store *store = calloc(1, sizeof *store);

	if (!store)
		return NULL;
	store->path = strdup(config->path);
	store->clock = config->clock;
	store->lock_fd = -1;
	pool_init(&store->pools[STORE_PUBLIC], store, config->public_readers);
	pool_init(&store->pools[STORE_ADMIN], store, config->admin_readers);
	pthread_mutex_init(&store->writer.lock, NULL);
	cond_init_mono(&store->writer.work);
	return store;
}

enum res store_open_with(const struct store_config *config, const struct embedded_file *files,
			 struct store **out, struct problem *problem)
{
	struct store *store = store_new(config);
	enum res res;

	*out = NULL;
	sqlite_setup();
	if (!store || !store->path)
		res = problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	else if ((res = lock_take(store->path, &store->lock_fd, problem)) == RES_OK)
		res = open_writer(store, files, problem);
	if (res != RES_OK) {
		store_close(store);
		return res;
	}
	*out = store;
	return RES_OK;
}

enum res store_open(const struct store_config *config, struct store **out, struct problem *problem)
{
	return store_open_with(config, embedded_files, out, problem);
}

static void close_pool(struct pool *pool)
{
	pool_gate(pool);
	if (!pool_wait_drained(pool, READ_LIMIT_MS + 500))
		log_error("store_reader_out_at_close", "text=%s",
			  log_quote("a reader was not given back; its connection is left open"));
	pool_free(pool);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	writer_stop(store);
	close_pool(&store->pools[STORE_PUBLIC]);
	close_pool(&store->pools[STORE_ADMIN]);
	if (store->writer.conn && store->checkpoint.page_bytes)
		checkpoint_close(store);
	conn_close(store->writer.conn);
	pthread_cond_destroy(&store->writer.work);
	pthread_mutex_destroy(&store->writer.lock);
	if (store->lock_fd >= 0)
		close(store->lock_fd); /* and with it the lock */
	free(store->path);
	free(store);
}

const struct clock *store_clock(const struct store *store)
{
	return store->clock;
}
