/* store_test.h – what the tests of the store's core share: a data directory of their own, an opened
 * store, and looks at the file from outside. */
#ifndef HYTHE_STORE_TEST_H
#define HYTHE_STORE_TEST_H

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hythe/store/conn.h"
#include "hythe/store/store.h"
#include "hythe/util/log.h"
#include "test.h"

static char dir[64];
static char db_path[96];

__attribute__((unused)) static void dir_empty(void)
{
	DIR *list = opendir(dir);
	struct dirent *entry;
	char name[sizeof dir + sizeof entry->d_name + 2];

	while (list && (entry = readdir(list)) != NULL) {
		snprintf(name, sizeof name, "%s/%s", dir, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(name);
	}
	if (list)
		closedir(list);
}

static void dir_remove(void)
{
	dir_empty();
	rmdir(dir);
}

/* A fresh directory for each case, in memory where there is such a place: what is tested is not the
 * disk, and 2,000 openings would wait for it. The last one goes when the program ends. */
__attribute__((unused)) static void dir_new(void)
{
	static bool once;

	if (dir[0])
		dir_remove();
	snprintf(dir, sizeof dir, "%s/hythe-store-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	snprintf(db_path, sizeof db_path, "%s/hythe.db", dir);
	if (!once)
		atexit(dir_remove);
	once = true;
}

/* While faults are made on purpose. */
__attribute__((unused)) static void quiet(bool on)
{
	static int null_fd = -1;

	if (null_fd < 0)
		null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	log_set_fd(on ? null_fd : STDERR_FILENO);
}

__attribute__((unused)) static struct store_config config_of(const struct clock *clock)
{
	return (struct store_config){
		.path = db_path, .public_readers = 4, .admin_readers = 2, .clock = clock};
}

__attribute__((unused)) static struct store *open_store(void)
{
	struct store_config config = config_of(&clock_system);
	struct problem problem = {0};
	struct store *store;

	if (store_open(&config, &store, &problem) != RES_OK)
		TEST_FAIL("store_open: %s: %s", problem.code, problem.detail);
	return store;
}

/* A number from the file as another process sees it; -1 when there is none. */
__attribute__((unused)) static int64_t outside_i64(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int64_t value = -1;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return value;
}

__attribute__((unused)) static int64_t read_i64(struct store *store, const char *sql)
{
	struct conn *conn;
	sqlite3_stmt *st;
	int64_t value = -1;

	if (store_read(store, STORE_ADMIN, 2000, &conn) != RES_OK)
		return -2;
	st = conn_stmt(conn, sql);
	if (stmt_row(conn, st) == RES_OK)
		value = column_i64(st, 0);
	stmt_end(conn, st);
	store_read_end(conn);
	return value;
}

#endif
