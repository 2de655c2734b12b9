#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "panel.h"

#define KEY_NAME      "master.key"
#define DATABASE_NAME "hythe.db"
#define ADMIN_READERS 2
#define OP_ARENA_MAX  ((size_t)1024 * 1024)

bool instance_path(const struct instance *instance, const char *name,
		   char out[static DATA_PATH_MAX])
{
	return (size_t)snprintf(out, DATA_PATH_MAX, "%s/%s", instance->dir, name) < DATA_PATH_MAX;
}

/* What cannot be looked at is not absent. */
static enum res is_there(const struct instance *instance, const char *name, bool *out,
			 struct problem *problem)
{
	char path[DATA_PATH_MAX];
	struct stat st;

	*out = instance_path(instance, name, path) && lstat(path, &st) == 0;
	if (*out || errno == ENOENT)
		return RES_OK;
	if (errno == EACCES)
		return problem_set(
			problem, RES_FORBIDDEN, "data_dir", "data-dir",
			"--data-dir: %.120s: permission denied; run this as root, or as the "
			"user that the panel runs as",
			instance->dir);
	return problem_set(problem, RES_IO, "data_dir", "data-dir", "--data-dir: %.120s: %s",
			   instance->dir, strerror(errno));
}

static enum res set_dir(struct instance *instance, const char *dir, struct problem *problem)
{
	if ((size_t)snprintf(instance->dir, sizeof instance->dir, "%s", dir) < sizeof instance->dir)
		return RES_OK;
	return problem_set(problem, RES_INVALID, "bad_flag", "data-dir", "--data-dir is too long");
}

enum res instance_look(const char *dir, struct instance_found *found, struct problem *problem)
{
	struct instance instance = {0};
	enum res res;

	if ((res = set_dir(&instance, dir, problem)) != RES_OK)
		return res;
	if ((res = is_there(&instance, KEY_NAME, &found->key, problem)) != RES_OK)
		return res;
	return is_there(&instance, DATABASE_NAME, &found->database, problem);
}

/* Is there nothing in it but what is ours? */
static bool is_own_dir(const char *path)
{
	struct instance_found found = {0};
	const struct dirent *entry;
	bool empty = true;
	DIR *dir;

	if (instance_look(path, &found, NULL) == RES_OK && (found.key || found.database))
		return true;
	if (!(dir = opendir(path)))
		return false;
	while (empty && (entry = readdir(dir)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(dir);
	return empty;
}

static enum res make_dir(const char *dir, struct problem *problem)
{
	struct stat st;

	if (mkdir(dir, 0700) == 0)
		return RES_OK;
	if (errno != EEXIST)
		return problem_set(problem, RES_IO, "data_dir", "data-dir",
				   "--data-dir: %.120s cannot be made: %s", dir, strerror(errno));
	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return problem_set(problem, RES_INVALID, "data_dir", "data-dir",
				   "--data-dir: %.120s is no directory", dir);
	if (st.st_uid != geteuid())
		return problem_set(problem, RES_INVALID, "data_dir", "data-dir",
				   "--data-dir: %.120s belongs to another user; run as that user "
				   "or name another "
				   "directory",
				   dir);
	if (!(st.st_mode & 077))
		return RES_OK;
	/* What others may read in it is not theirs to read; but /tmp or a home is not ours to
	 * close. */
	if (!is_own_dir(dir))
		return problem_set(problem, RES_CONFLICT, "data_dir", "data-dir",
				   "--data-dir: %.120s holds other things and is open to other "
				   "users; name one for the panel alone, or close it first",
				   dir);
	if (chmod(dir, 0700) != 0)
		return problem_set(problem, RES_IO, "data_dir", "data-dir",
				   "--data-dir: %.120s: %s", dir, strerror(errno));
	return RES_OK;
}

/* Key and database belong together; one without the other is never mended by making a new one. */
static enum res check_pair(const char *dir, enum instance_mode mode,
			   const struct instance_found *found, struct problem *problem)
{
	if (found->database && !found->key)
		return problem_set(
			problem, RES_CONFLICT, "key_missing", NULL,
			"%.80s holds a database but not its %s. Put the key back from your backup; "
			"without "
			"it links and credentials cannot be read. To begin anew, move %s away.",
			dir, KEY_NAME, DATABASE_NAME);
	if (mode == INSTANCE_USE && !found->database)
		return problem_set(
			problem, RES_NOT_FOUND, "not_set_up", NULL,
			"no panel is set up in %.120s; run `hythe setup --data-dir %.60s` first",
			dir, dir);
	return RES_OK;
}

static enum res open_store(struct instance *instance, unsigned public_readers,
			   struct problem *problem)
{
	char path[DATA_PATH_MAX];
	struct store_config config = {
		.path = path,
		.public_readers = public_readers,
		.admin_readers = ADMIN_READERS,
		.clock = &clock_system,
	};

	instance_path(instance, DATABASE_NAME, path);
	return store_open(&config, &instance->store, problem);
}

enum res instance_open(struct instance *instance, const char *dir, enum instance_mode mode,
		       unsigned public_readers, struct problem *problem)
{
	bool create = mode == INSTANCE_CREATE;
	struct instance_found found;
	char key[DATA_PATH_MAX];
	enum res res;

	memset(instance, 0, sizeof *instance);
	if ((res = set_dir(instance, dir, problem)) != RES_OK)
		return res;
	if (create && (res = make_dir(dir, problem)) != RES_OK)
		return res;
	if ((res = instance_look(dir, &found, problem)) != RES_OK)
		return res;
	if ((res = check_pair(dir, mode, &found, problem)) != RES_OK)
		return res;
	instance_path(instance, KEY_NAME, key);
	/* The key before the database: whatever interrupts this, no database ever lacks its key. */
	if ((res = vault_open(key, create && !found.database, &instance->vault, problem)) != RES_OK)
		goto out;
	if ((res = open_store(instance, public_readers, problem)) != RES_OK)
		goto out;
	if ((res = vault_check(instance->store, instance->vault, create, problem)) != RES_OK)
		goto out;
	res = settings_box_new(instance->store, &instance->settings, problem);
	instance->ops = (struct ops){.store = instance->store,
				      .vault = instance->vault,
				      .settings = instance->settings};
out:
	if (res != RES_OK) {
		problem_set(problem, res, "data_dir", NULL, "%.120s cannot be opened: %s", dir,
			    res_text(res));
		instance_close(instance);
	}
	return res;
}

void instance_close(struct instance *instance)
{
	store_close(instance->store);
	settings_box_free(instance->settings);
	vault_free(instance->vault);
	instance->store = NULL;
	instance->settings = NULL;
	instance->vault = NULL;
}

enum res instance_run(struct instance *instance, enum actor_kind kind, op_fn fn, void *arg,
		      struct problem *problem)
{
	struct actor actor = {.kind = kind, .rights = RIGHTS_ALL, .role = ROLE_OWNER};
	struct op_call call = {
		.actor = &actor,
		.source = kind == ACTOR_TIMER ? STORE_FROM_TIMER : STORE_FROM_ADMIN,
		.status = 200,
	};
	struct op_outcome outcome;
	struct problem unused = {0};
	struct arena arena;
	enum res res;

	snprintf(actor.public_id.text, sizeof actor.public_id.text, "%s",
		 kind == ACTOR_TIMER ? "timer" : "control");
	arena_init(&arena, OP_ARENA_MAX);
	res = op_run(&instance->ops, &call, fn, arg, &arena, &outcome, problem ? problem : &unused);
	arena_free(&arena);
	return res;
}
