/* auth_test.h – a panel without listeners for tests: data directory, store on a fake clock, key,
 * settings. */
#ifndef HYTHE_AUTH_TEST_H
#define HYTHE_AUTH_TEST_H

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hythe/auth/password.h"
#include "hythe/ops/ops.h"
#include "hythe/ops/settings.h"
#include "hythe/util/log.h"
#include "test.h"

#define T0_UNIX INT64_C(1800000000)

static const struct hasher_cost cheap = {.memory_kib = 64, .passes = 1};

struct bench {
	char dir[64], key_path[96], db_path[96];
	struct clock_fake fake;
	struct clock clock;
	struct store *store;
	struct vault *vault;
	struct settings_box *box;
	struct ops ops;
	struct arena arena;
	struct problem problem;
};

static struct bench b; /* of the running case */

static const struct actor owner_actor __attribute__((unused)) = {
	.kind = ACTOR_CONTROL, .public_id = {"control"}, .rights = RIGHTS_ALL, .role = ROLE_OWNER};

static void bench_end(void)
{
	DIR *list;
	struct dirent *entry;
	char name[sizeof b.dir + 258];

	store_close(b.store);
	settings_box_free(b.box);
	vault_free(b.vault);
	arena_free(&b.arena);
	list = b.dir[0] ? opendir(b.dir) : NULL;
	while (list && (entry = readdir(list)) != NULL) {
		snprintf(name, sizeof name, "%s/%s", b.dir, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(name);
	}
	if (list)
		closedir(list);
	if (b.dir[0])
		rmdir(b.dir);
	b = (struct bench){0};
}

/* Only a directory, with the names of what may stand in it. */
static void bench_dir(void)
{
	static bool once;

	bench_end();
	snprintf(b.dir, sizeof b.dir, "/tmp/hythe-auth-XXXXXX");
	if (!mkdtemp(b.dir))
		abort();
	snprintf(b.key_path, sizeof b.key_path, "%s/master.key", b.dir);
	snprintf(b.db_path, sizeof b.db_path, "%s/hythe.db", b.dir);
	arena_init(&b.arena, 4 << 20);
	if (!once)
		atexit(bench_end);
	once = true;
}

static void bench_store(void)
{
	struct store_config config = {.path = b.db_path, .public_readers = 2, .admin_readers = 2};

	b.fake = (struct clock_fake){.wall_ms = T0_UNIX * 1000, .mono_ms = 1000};
	b.clock = clock_of_fake(&b.fake);
	config.clock = &b.clock;
	if (store_open(&config, &b.store, &b.problem) != RES_OK)
		TEST_FAIL("store_open: %s", b.problem.detail);
}

__attribute__((unused)) static void bench_pass(int64_t seconds)
{
	b.fake.wall_ms += seconds * 1000;
	b.fake.mono_ms += seconds * 1000;
}

/* Runs an operation as `actor`; the outcome's problem stands in b.problem. */
__attribute__((unused)) static enum res run_as(const struct actor *actor, op_fn fn, void *arg)
{
	struct op_call call = {
		.actor = actor, .source = STORE_FROM_ADMIN, .status = 200, .action = "test"};

	b.problem = (struct problem){0};
	return op_run(&b.ops, &call, fn, arg, &b.arena, NULL, &b.problem);
}

/* Everything, set up with `public_url` (NULL: the default). */
__attribute__((unused)) static void bench_begin(const char *public_url)
{
	struct settings settings;

	bench_dir();
	bench_store();
	CHECK_INT(vault_open(b.key_path, true, &b.vault, &b.problem), RES_OK);
	CHECK_INT(settings_box_new(b.store, &b.box, &b.problem), RES_OK);
	b.ops = (struct ops){.store = b.store, .vault = b.vault, .settings = b.box, .write_wait_ms = 60000};
	settings_default(&settings);
	if (public_url)
		snprintf(settings.public_url, sizeof settings.public_url, "%s", public_url);
	if (run_as(&owner_actor, op_settings_init, &settings) != RES_OK)
		TEST_FAIL("op_settings_init: %s", b.problem.detail);
}

/* A number from the file, as another process sees it. */
__attribute__((unused)) static int64_t number_of(const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int64_t value = -1;

	if (sqlite3_open_v2(b.db_path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return value;
}

static enum res nothing_job(struct txn *txn, void *arg)
{
	(void)txn;
	(void)arg;
	return RES_OK;
}

/* Jobs that nobody waited for are done when a later one of their queue is. */
__attribute__((unused)) static void settle_writer(void)
{
	CHECK_INT(store_write(b.store, STORE_FROM_ADMIN, nothing_job, NULL, 5000, NULL), RES_OK);
}

#endif
