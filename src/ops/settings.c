#include "hythe/ops/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/store/settings.h"
#include "hythe/util/json_write.h"
#include "hythe/util/log.h"
#include "hythe/util/text.h"

#define OBSERVERS_MAX 8
#define READ_WAIT_MS  1000

/* --- The box --- */

struct settings_observer {
	void (*fn)(void *ctx, const struct settings *settings);
	void *ctx;
};

struct settings_box {
	pthread_mutex_t lock;          /* leaf: nothing else is locked while it is held */
	struct settings_snapshot *now; /* guarded by lock */
	struct settings_observer observers[OBSERVERS_MAX]; /* guarded by lock; only added to */
	size_t observer_count;                             /* guarded by lock */
	struct store *store;
	struct conn *writer; /* the writer thread's alone */
};

/* `snapshot->refs` is guarded by the box's lock; a fresh one is its maker's alone. */
static void drop(struct settings_snapshot *snapshot)
{
	if (!snapshot || --snapshot->refs > 0)
		return;
	zone_free(snapshot->zone);
	free(snapshot);
}

static enum res read_snapshot(struct conn *conn, struct settings_snapshot **out,
			      struct problem *problem)
{
	struct settings_snapshot *fresh = calloc(1, sizeof *fresh);
	enum res res;

	*out = NULL;
	if (!fresh)
		return RES_NOMEM;
	fresh->refs = 1;
	settings_default(&fresh->settings);
	res = settings_load(conn, &fresh->settings, &fresh->version, problem);
	if (res == RES_OK)
		res = zone_load(fresh->settings.time_zone, &fresh->zone);
	if (res == RES_NOT_FOUND)
		problem_set(problem, res, "bad_setting", "time_zone",
			    "this system no longer knows the time zone %s; install tzdata",
			    fresh->settings.time_zone);
	if (res == RES_OK)
		*out = fresh;
	else
		drop(fresh);
	return res;
}

/* On the writer thread. It reads by the writer's own connection: between commits that is what
 * readers see, and no reader's turn has to be waited for (the readers may be waiting for this very
 * commit). */
static enum res reread(struct settings_box *box, struct settings_snapshot **fresh,
		       struct problem *problem)
{
	struct conn *conn;
	enum res res;

	if (box->writer)
		return read_snapshot(box->writer, fresh, problem);
	if ((res = store_read(box->store, STORE_ADMIN, READ_WAIT_MS, &conn)) != RES_OK)
		return res;
	res = read_snapshot(conn, fresh, problem);
	store_read_end(conn);
	return res;
}

static void publish(struct settings_box *box, struct settings_snapshot *fresh)
{
	struct settings_observer observers[OBSERVERS_MAX];
	struct settings_snapshot *old;
	size_t count;

	pthread_mutex_lock(&box->lock);
	old = box->now;
	box->now = fresh;
	fresh->refs++; /* for the observers */
	drop(old);
	count = box->observer_count;
	memcpy(observers, box->observers, count * sizeof *observers);
	pthread_mutex_unlock(&box->lock);
	for (size_t i = 0; i < count; i++)
		observers[i].fn(observers[i].ctx, &fresh->settings);
	settings_give(box, fresh);
}

static void on_commit(void *ctx, const struct change *changes, size_t count)
{
	struct settings_box *box = ctx;
	struct settings_snapshot *fresh;
	struct problem problem = {0};
	size_t at = 0;
	enum res res;

	while (at < count && changes[at].kind != CHANGE_SETTING)
		at++;
	if (at == count)
		return;
	if ((res = reread(box, &fresh, &problem)) == RES_OK) {
		publish(box, fresh);
		return;
	}
	/* A reload that fails keeps the old settings. */
	log_error("settings_not_read", "result=%s detail=%s", log_quote(res_text(res)),
		  log_quote(problem.detail));
}

enum res settings_box_new(struct store *store, struct settings_box **out, struct problem *problem)
{
	struct settings_box *box = calloc(1, sizeof *box);
	enum res res;

	*out = NULL;
	if (!box)
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	pthread_mutex_init(&box->lock, NULL);
	box->store = store;
	if ((res = reread(box, &box->now, problem)) != RES_OK) {
		settings_box_free(box);
		return problem_set(problem, res, "settings_unreadable", NULL,
				   "the settings cannot be read: %s", res_text(res));
	}
	store_observe(store, on_commit, box);
	*out = box;
	return RES_OK;
}

void settings_box_free(struct settings_box *box)
{
	if (!box)
		return;
	drop(box->now);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

struct settings_snapshot *settings_take(struct settings_box *box)
{
	struct settings_snapshot *snapshot;

	pthread_mutex_lock(&box->lock);
	snapshot = box->now;
	snapshot->refs++;
	pthread_mutex_unlock(&box->lock);
	return snapshot;
}

void settings_give(struct settings_box *box, struct settings_snapshot *snapshot)
{
	pthread_mutex_lock(&box->lock);
	drop(snapshot);
	pthread_mutex_unlock(&box->lock);
}

void settings_observe(struct settings_box *box,
		      void (*fn)(void *ctx, const struct settings *settings), void *ctx)
{
	pthread_mutex_lock(&box->lock);
	if (box->observer_count < OBSERVERS_MAX)
		box->observers[box->observer_count++] = (struct settings_observer){fn, ctx};
	else
		log_error("settings_observers_full", "max=%d", OBSERVERS_MAX);
	pthread_mutex_unlock(&box->lock);
}

void settings_box_lend(struct settings_box *box, struct conn *writer)
{
	box->writer = writer;
}

/* --- Operations --- */

/* One kind of prefix and where its past stands. */
struct prefix_rows {
	enum setting_row now, old, until;
};

static const struct prefix_rows prefixes[] = {
	{SETTING_SUB_PREFIX,   SETTING_OLD_SUB_PREFIX,   SETTING_OLD_SUB_UNTIL  },
	{SETTING_ADMIN_PREFIX, SETTING_OLD_ADMIN_PREFIX, SETTING_OLD_ADMIN_UNTIL},
};

/* What stands in them. */
struct prefix_state {
	char now[SETTING_PREFIX_MAX + 1], old[SETTING_PREFIX_MAX + 1];
	int64_t until_unix;
};

static struct prefix_state prefix_of(const struct settings *settings,
				     const struct prefix_rows *rows)
{
	struct prefix_state state;
	char text[32];

	settings_print(settings, rows->now, state.now, sizeof state.now);
	settings_print(settings, rows->old, state.old, sizeof state.old);
	settings_print(settings, rows->until, text, sizeof text);
	state.until_unix = strtoll(text, NULL, 10);
	return state;
}

static void set_row(struct settings *settings, enum setting_row row, const char *text)
{
	settings_parse(settings, row, text, NULL); /* text that another row of the same form held */
}

static void set_old(struct settings *settings, const struct prefix_rows *rows, const char *old,
		    int64_t until_unix)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)until_unix);
	set_row(settings, rows->old, old);
	set_row(settings, rows->until, text);
}

static bool is_sent(const struct settings_change *change, size_t row)
{
	return change->present & (UINT64_C(1) << row);
}

/* A new end is meant for this kind if the call names it, or neither. */
static bool means_end_of(const struct settings_change *change, const struct prefix_rows *rows)
{
	return change->keep_given &&
	       (is_sent(change, rows->now) || (!is_sent(change, SETTING_SUB_PREFIX) &&
					       !is_sent(change, SETTING_ADMIN_PREFIX)));
}

static enum res promised(struct op *op, const struct prefix_rows *rows, int64_t until_unix)
{
	char until[TEXT_TIME_MAX];

	text_time(until_unix, until);
	return problem_set(
		op->problem, RES_CONFLICT, "old_prefix_in_force", settings_name(rows->now),
		"the prefix before this one goes on until %s, as was promised; to change "
		"it again end that first, by old_prefix_keep_s 0 without a new prefix",
		until);
}

/* A replaced prefix goes on for a while, and what was promised to people with its links is kept:
 * one that goes on is ended by its time, or by name. One whose time is over is forgotten. */
static enum res keep_old_prefix(struct op *op, const struct settings_change *change,
				const struct prefix_rows *rows, const struct settings *before,
				struct settings *after)
{
	struct prefix_state was = prefix_of(before, rows), is = prefix_of(after, rows);
	bool goes_on = was.old[0] && was.until_unix > op->now_unix;
	int64_t keep_s = change->old_prefix_keep_s;

	if (strcmp(was.now, is.now) != 0) {
		/* Back to the old one: it goes on for ever. */
		if (goes_on && strcmp(is.now, was.old) != 0)
			return promised(op, rows, was.until_unix);
		set_old(after, rows, keep_s > 0 ? was.now : "",
			keep_s > 0 ? op->now_unix + keep_s : 0);
	} else if (!goes_on || (keep_s <= 0 && means_end_of(change, rows))) {
		set_old(after, rows, "", 0);
	} else if (means_end_of(change, rows)) {
		set_old(after, rows, was.old, op->now_unix + keep_s);
	}
	return RES_OK;
}

static enum res write_settings(struct op *op, const struct settings *settings, int64_t version)
{
	enum res res = settings_store(op->conn, settings, version);

	if (res == RES_OK)
		res = txn_change_setting(op->txn);
	/* Subscriptions show titles, names and prefixes. */
	if (res == RES_OK)
		res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false);
	return res;
}

/* The audit row names the rows that changed; a prefix is half a secret, so no values. */
static enum res audit_change(struct op *op, const struct settings_change *change)
{
	struct json_writer w;
	struct buf text;
	enum res res = RES_NOMEM;

	buf_init(&text, 2048);
	json_start(&w, &text);
	json_object(&w, NULL);
	json_array(&w, "changed");
	for (size_t row = 0; row < SETTINGS_INPUTS; row++)
		if (is_sent(change, row))
			json_text(&w, NULL, settings_name(row));
	if (change->keep_given)
		json_text(&w, NULL, "old_prefix_keep_s");
	json_end(&w);
	json_end(&w);
	if (json_finish(&w))
		res = op_audit(op, "settings.change", "settings", text.data);
	buf_free(&text);
	return res;
}

static bool same_settings(const struct settings *a, const struct settings *b)
{
	char x[sizeof a->public_url], y[sizeof b->public_url];

	for (size_t row = 0; row < SETTINGS_ROWS; row++)
		if (settings_print(a, row, x, sizeof x) != RES_OK ||
		    settings_print(b, row, y, sizeof y) != RES_OK || strcmp(x, y) != 0)
			return false;
	return true;
}

enum res op_settings_change(struct op *op, void *arg)
{
	const struct settings_change *change = arg;
	struct settings before, after;
	int64_t version;
	enum res res;

	settings_default(&before);
	if ((res = settings_load(op->conn, &before, &version, op->problem)) != RES_OK ||
	    (res = op_check_version(op, change->if_match, version)) != RES_OK)
		return res;
	after = before;
	for (size_t row = 0; row < SETTINGS_INPUTS; row++)
		if (change->present & (UINT64_C(1) << row))
			settings_copy_row(&after, &change->settings, row);
	for (size_t i = 0; res == RES_OK && i < sizeof prefixes / sizeof *prefixes; i++)
		res = keep_old_prefix(op, change, &prefixes[i], &before, &after);
	if (res != RES_OK ||
	    (res = settings_check_change(&after, change->present, op->problem)) != RES_OK ||
	    same_settings(&before, &after) ||
	    (res = write_settings(op, &after, version + 1)) != RES_OK)
		return res;
	return audit_change(op, change);
}

enum res op_settings_init(struct op *op, void *arg)
{
	const struct settings *settings = arg;
	struct settings present;
	int64_t version;
	enum res res;

	settings_default(&present);
	if ((res = settings_load(op->conn, &present, &version, op->problem)) != RES_OK)
		return res;
	if (version > 0)
		return problem_set(op->problem, RES_CONFLICT, "already_set_up", NULL,
				   "this database has its settings already");
	if ((res = settings_check(settings, op->problem)) != RES_OK)
		return res;
	if ((res = write_settings(op, settings, 1)) != RES_OK)
		return res;
	return op_audit(op, "settings.init", "settings", NULL);
}

/* --- The key belongs to the database --- */

#define CHECK_KEY  "vault_check"
#define CHECK_TEXT "this key opens this database"

static const struct seal_place check_place = {
	.table = "setting", .column = "value", .public_id = CHECK_KEY};

static enum res check_sealed(const struct vault *vault, const struct buf *sealed,
			     struct problem *problem)
{
	struct buf plain;
	enum res res;

	buf_init(&plain, 256);
	res = vault_open_sealed(vault, &check_place, sealed->data, sealed->len, &plain);
	if (res == RES_OK && strcmp(plain.data, CHECK_TEXT) != 0)
		res = RES_CORRUPT;
	buf_free(&plain);
	if (res != RES_CORRUPT)
		return res;
	return problem_set(
		problem, RES_CONFLICT, "wrong_key", NULL,
		"this database belongs to another master key; put its own master.key back, or "
		"restore a backup that holds both");
}

struct check_job {
	const struct vault *vault;
	struct buf *sealed;
};

static enum res write_check(struct txn *txn, void *arg)
{
	const struct check_job *job = arg;
	enum res res;

	/* Two set-ups at once: the first one's stands, and the caller compares with it. */
	if ((res = setting_blob(txn_conn(txn), CHECK_KEY, job->sealed)) != RES_NOT_FOUND)
		return res;
	res = vault_seal(job->vault, &check_place, CHECK_TEXT, strlen(CHECK_TEXT), job->sealed);
	if (res != RES_OK)
		return res;
	return setting_put_blob(txn_conn(txn), CHECK_KEY, job->sealed->data, job->sealed->len);
}

static enum res read_check(struct store *store, struct buf *sealed)
{
	struct conn *conn;
	enum res res = store_read(store, STORE_ADMIN, READ_WAIT_MS, &conn);

	if (res != RES_OK)
		return res;
	res = setting_blob(conn, CHECK_KEY, sealed);
	store_read_end(conn);
	return res;
}

enum res vault_check(struct store *store, const struct vault *vault, bool create,
		     struct problem *problem)
{
	struct buf sealed;
	struct check_job job = {vault, &sealed};
	enum res res;

	buf_init(&sealed, 1024);
	res = read_check(store, &sealed);
	if (res == RES_NOT_FOUND && create)
		res = store_write(store, STORE_FROM_ADMIN, write_check, &job, READ_WAIT_MS, NULL);
	if (res == RES_NOT_FOUND)
		problem_set(problem, res, "not_set_up", NULL,
			    "this data directory is not set up yet");
	else if (res == RES_OK)
		res = check_sealed(vault, &sealed, problem);
	if (res != RES_OK)
		problem_set(problem, res, "key_not_checked", NULL,
			    "the master key could not be checked: %s", res_text(res));
	buf_free(&sealed);
	return res;
}
