/* Settings in force: the box, changes, old prefixes, and the key that belongs to the database. */
#include "auth/auth_test.h"

#include "hythe/store/settings.h"
#include "model/settings_same.h"

static struct settings now(void)
{
	struct settings_snapshot *snapshot = settings_take(b.box);
	struct settings settings = snapshot->settings;

	settings_give(b.box, snapshot);
	return settings;
}

static int64_t version(void)
{
	struct settings_snapshot *snapshot = settings_take(b.box);
	int64_t value = snapshot->version;

	settings_give(b.box, snapshot);
	return value;
}

static enum res change_row(enum setting_row row, const char *text, int64_t keep_s, int64_t if_match)
{
	struct settings_change change = {
		.present = UINT64_C(1) << row, .old_prefix_keep_s = keep_s, .if_match = if_match};

	CHECK_INT(settings_parse(&change.settings, row, text, NULL), RES_OK);
	return run_as(&owner_actor, op_settings_change, &change);
}

static void test_before_and_after_set_up(void)
{
	struct settings settings, again;

	bench_dir();
	bench_store();
	CHECK_INT(settings_box_new(b.store, &b.box, &b.problem), RES_OK);
	CHECK_INT(version(), 0);
	b.ops = (struct ops){.store = b.store, .settings = b.box, .write_wait_ms = 60000};
	settings_default(&settings);
	strcpy(settings.time_zone, "Europe/Berlin");
	CHECK_INT(run_as(&owner_actor, op_settings_init, &settings), RES_OK);
	again = now();
	CHECK(settings_same(&settings, &again));
	CHECK_INT(version(), 1);
	CHECK_INT(run_as(&owner_actor, op_settings_init, &settings), RES_CONFLICT);
	CHECK_TEXT(b.problem.code, "already_set_up");
}

static void test_without_a_box(void)
{
	struct settings settings;

	bench_dir();
	bench_store();
	b.ops = (struct ops){.store = b.store, .write_wait_ms = 60000};
	settings_default(&settings);
	CHECK_INT(run_as(&owner_actor, op_settings_init, &settings), RES_OK);
	CHECK_INT(settings_box_new(b.store, &b.box, &b.problem), RES_OK);
	CHECK_TEXT(now().sub_prefix, settings.sub_prefix);
}

static void test_change(void)
{
	struct settings before;

	bench_begin(NULL);
	before = now();
	CHECK_INT(change_row(SETTING_TITLE, "New title", 0, 1), RES_OK);
	CHECK_TEXT(now().title, "New title");
	CHECK_TEXT(now().sub_prefix, before.sub_prefix);
	CHECK_INT(version(), 2);
	CHECK_INT(change_row(SETTING_TITLE, "Newer", 0, 1), RES_PRECONDITION);
	CHECK_TEXT(now().title, "New title");
	CHECK_INT(number_of("SELECT count(*) FROM audit WHERE action = 'settings.change' AND "
			    "json_extract(detail, '$.changed[0]') = 'title'"),
		  1);
}

static void test_refused_changes_change_nothing(void)
{
	struct settings before, after;

	bench_begin(NULL);
	before = now();
	CHECK_INT(change_row(SETTING_TIME_ZONE, "Moon/Crater", 0, 0), RES_INVALID);
	CHECK_TEXT(b.problem.field, "time_zone");
	CHECK_INT(change_row(SETTING_SUB_PREFIX, before.admin_prefix, 0, 0), RES_INVALID);
	CHECK_TEXT(b.problem.code, "prefix_taken");
	CHECK_INT(change_row(SETTING_PUBLIC_URL, "https://x.example/", 0, 0), RES_INVALID);
	after = now();
	CHECK(settings_same(&before, &after));
	CHECK_INT(version(), 1);
}

static void test_time_zone_of_operations(void)
{
	struct settings_snapshot *snapshot;
	struct local_time local;

	bench_begin(NULL);
	CHECK_INT(change_row(SETTING_TIME_ZONE, "Asia/Tehran", 0, 0), RES_OK);
	snapshot = settings_take(b.box);
	zone_local(snapshot->zone, 0, &local);
	settings_give(b.box, snapshot);
	CHECK_INT(local.hour, 3);
	CHECK_INT(local.minute, 30);
}

static void test_old_prefix_goes_on(void)
{
	struct settings before, after;

	bench_begin(NULL);
	before = now();
	CHECK_INT(change_row(SETTING_SUB_PREFIX, "fresh", 3600, 0), RES_OK);
	after = now();
	CHECK_TEXT(after.sub_prefix, "fresh");
	CHECK_TEXT(after.old_sub_prefix, before.sub_prefix);
	CHECK_INT(after.old_sub_prefix_until_unix, T0_UNIX + 3600);
	/* While it goes on, the other kind cannot take it; its own kind can have it back. */
	CHECK_INT(change_row(SETTING_ADMIN_PREFIX, before.sub_prefix, 0, 0), RES_INVALID);
	CHECK_INT(change_row(SETTING_SUB_PREFIX, before.sub_prefix, 60, 0), RES_OK);
	CHECK_TEXT(now().old_sub_prefix, "fresh");
	/* An unrelated change keeps it, and forgets it once its time is over. */
	CHECK_INT(change_row(SETTING_TITLE, "T", 0, 0), RES_OK);
	CHECK_TEXT(now().old_sub_prefix, "fresh");
	bench_pass(61);
	CHECK_INT(change_row(SETTING_TITLE, "U", 0, 0), RES_OK);
	CHECK_TEXT(now().old_sub_prefix, "");
	CHECK_INT(now().old_sub_prefix_until_unix, 0);
	CHECK_INT(change_row(SETTING_ADMIN_PREFIX, "fresh", 0, 0), RES_OK);
	CHECK_TEXT(now().old_admin_prefix, ""); /* 0: ends at once */
}

/* What was promised is kept: a second change does not end it early, unless it was ended by name. */
static void test_promise_is_kept(void)
{
	struct settings_change end = {.keep_given = true};
	struct settings before, after;

	bench_begin(NULL);
	before = now();
	CHECK_INT(change_row(SETTING_SUB_PREFIX, "fresh", 3600, 0), RES_OK);
	CHECK_INT(change_row(SETTING_SUB_PREFIX, "fresher", 60, 0), RES_CONFLICT);
	CHECK_TEXT(b.problem.code, "old_prefix_in_force");
	CHECK_TEXT(b.problem.field, "sub_prefix");
	CHECK(strstr(b.problem.detail, "until 2")); /* it says until when */
	CHECK_INT(change_row(SETTING_SUB_PREFIX, "fresher", 0, 0), RES_CONFLICT);
	after = now();
	CHECK_TEXT(after.old_sub_prefix, before.sub_prefix);
	CHECK_INT(after.old_sub_prefix_until_unix, T0_UNIX + 3600);
	/* The other kind has its own. */
	CHECK_INT(change_row(SETTING_ADMIN_PREFIX, "desk", 7200, 0), RES_OK);
	CHECK_INT(now().old_sub_prefix_until_unix, T0_UNIX + 3600);
	CHECK_INT(now().old_admin_prefix_until_unix, T0_UNIX + 7200);
	/* Named as it is: a new end for its kind; none named: for both. */
	end.present = UINT64_C(1) << SETTING_SUB_PREFIX;
	end.settings = now();
	end.old_prefix_keep_s = 60;
	CHECK_INT(run_as(&owner_actor, op_settings_change, &end), RES_OK);
	CHECK_INT(now().old_sub_prefix_until_unix, T0_UNIX + 60);
	CHECK_INT(now().old_admin_prefix_until_unix, T0_UNIX + 7200);
	end.present = 0;
	end.old_prefix_keep_s = 90;
	CHECK_INT(run_as(&owner_actor, op_settings_change, &end), RES_OK);
	CHECK_INT(now().old_sub_prefix_until_unix, T0_UNIX + 90);
	CHECK_INT(now().old_admin_prefix_until_unix, T0_UNIX + 90);
	end.old_prefix_keep_s = 0;
	CHECK_INT(run_as(&owner_actor, op_settings_change, &end), RES_OK);
	CHECK_TEXT(now().old_sub_prefix, "");
	CHECK_TEXT(now().old_admin_prefix, "");
	CHECK_INT(change_row(SETTING_SUB_PREFIX, "fresher", 60, 0), RES_OK);
	CHECK_TEXT(now().old_sub_prefix, "fresh");
	bench_pass(61); /* and its time ends it too */
	CHECK_INT(change_row(SETTING_SUB_PREFIX, "freshest", 60, 0), RES_OK);
	CHECK_TEXT(now().old_sub_prefix, "fresher");
	/* Nothing goes on: there is nothing to end, and nothing wrong. */
	bench_pass(61);
	CHECK_INT(run_as(&owner_actor, op_settings_change, &end), RES_OK);
}

static void test_snapshots_stay(void)
{
	struct settings_snapshot *old;

	bench_begin(NULL);
	old = settings_take(b.box);
	CHECK_INT(change_row(SETTING_TITLE, "A", 0, 0), RES_OK);
	CHECK_INT(change_row(SETTING_TITLE, "B", 0, 0), RES_OK);
	CHECK_TEXT(old->settings.title, "Hythe");
	CHECK_TEXT(now().title, "B");
	settings_give(b.box, old);
}

static void heard(void *ctx, const struct settings *settings)
{
	snprintf(ctx, 64, "%s", settings->title);
}

static void test_observers(void)
{
	char title[64] = "";

	bench_begin(NULL);
	settings_observe(b.box, heard, title);
	CHECK_INT(change_row(SETTING_TITLE, "Heard", 0, 0), RES_OK);
	CHECK_TEXT(title, "Heard"); /* before the caller was answered */
	CHECK_INT(change_row(SETTING_LANGUAGE, "xx-1", 0, 0), RES_INVALID);
	CHECK_TEXT(title, "Heard");
}

/* Both readers are taken and wait for the very commit that makes the box read again. */
static void test_no_wait_for_readers(void)
{
	struct conn *first, *second;

	bench_begin(NULL);
	CHECK_INT(store_read(b.store, STORE_ADMIN, 1000, &first), RES_OK);
	CHECK_INT(store_read(b.store, STORE_ADMIN, 1000, &second), RES_OK);
	CHECK_INT(change_row(SETTING_TITLE, "At once", 0, 0), RES_OK);
	CHECK_TEXT(now().title, "At once");
	store_read_end(first);
	store_read_end(second);
}

struct two {
	const char *first, *second;
};

/* Two changes in one operation, the second refused: what was undone is not in force. */
static enum res op_two(struct op *op, void *arg)
{
	const struct two *two = arg;
	struct settings_change change = {.present = UINT64_C(1) << SETTING_TITLE};
	enum res res;

	strcpy(change.settings.title, two->first);
	if ((res = op_settings_change(op, &change)) != RES_OK)
		return res;
	change = (struct settings_change){.present = UINT64_C(1) << SETTING_LANGUAGE};
	strcpy(change.settings.language, two->second);
	return op_settings_change(op, &change);
}

static void test_undone_is_not_in_force(void)
{
	struct two bad = {"Undone", "!"}, good = {"Done", "ru"};

	bench_begin(NULL);
	CHECK_INT(run_as(&owner_actor, op_two, &bad), RES_INVALID);
	CHECK_INT(change_row(SETTING_LINK_BURST, "7", 0, 0), RES_OK);
	CHECK_TEXT(now().title, "Hythe");
	CHECK_INT(run_as(&owner_actor, op_two, &good), RES_OK);
	CHECK_TEXT(now().title, "Done");
	CHECK_TEXT(now().language, "ru");
}

static void test_damaged_row(void)
{
	struct settings_box *box;

	bench_begin(NULL);
	store_close(b.store);
	settings_box_free(b.box);
	b.store = NULL;
	b.box = NULL;
	{
		sqlite3 *db;

		CHECK_INT(sqlite3_open(b.db_path, &db), SQLITE_OK);
		CHECK_INT(sqlite3_exec(
				  db,
				  "UPDATE setting SET value = '0' WHERE key = 'update_interval_h'",
				  NULL, NULL, NULL),
			  SQLITE_OK);
		sqlite3_close(db);
	}
	bench_store();
	CHECK_INT(settings_box_new(b.store, &box, &b.problem), RES_CORRUPT);
	CHECK_TEXT(b.problem.field, "update_interval_h");
}

static void test_key_belongs_to_database(void)
{
	struct vault *other;
	char path[128];

	bench_begin(NULL);
	b.problem = (struct problem){0};
	CHECK_INT(vault_check(b.store, b.vault, false, &b.problem), RES_NOT_FOUND);
	CHECK_TEXT(b.problem.code, "not_set_up");
	CHECK_INT(vault_check(b.store, b.vault, true, NULL), RES_OK);
	CHECK_INT(vault_check(b.store, b.vault, false, NULL), RES_OK);
	CHECK_INT(vault_check(b.store, b.vault, true, NULL), RES_OK);
	snprintf(path, sizeof path, "%s/other.key", b.dir);
	CHECK_INT(vault_open(path, true, &other, NULL), RES_OK);
	for (int create = 0; create < 2; create++) {
		b.problem = (struct problem){0};
		CHECK_INT(vault_check(b.store, other, create, &b.problem), RES_CONFLICT);
		CHECK_TEXT(b.problem.code, "wrong_key");
	}
	CHECK_INT(vault_check(b.store, b.vault, false, NULL), RES_OK);
	vault_free(other);
}

TEST_MAIN(TEST(test_before_and_after_set_up), TEST(test_without_a_box), TEST(test_change),
	  TEST(test_refused_changes_change_nothing), TEST(test_time_zone_of_operations),
	  TEST(test_old_prefix_goes_on), TEST(test_promise_is_kept), TEST(test_snapshots_stay), TEST(test_observers),
	  TEST(test_no_wait_for_readers), TEST(test_undone_is_not_in_force), TEST(test_damaged_row),
	  TEST(test_key_belongs_to_database))
