/* The setting table, and what is remembered for a while: idempotency, audit, events. */
#include "auth/auth_test.h"

#include "hythe/store/audit.h"
#include "hythe/store/idempotency.h"
#include "hythe/store/prune.h"
#include "hythe/store/settings.h"
#include "model/settings_same.h"

#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);             \
			return RES_INTERNAL;                                                       \
		}                                                                                  \
	} while (0)

static void in_job(store_job job)
{
	bench_dir();
	bench_store();
	CHECK_INT(store_write(b.store, STORE_FROM_ADMIN, job, NULL, 5000, NULL), RES_OK);
}

static enum res values_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	const char *text;
	struct buf blob;
	int64_t number;

	(void)arg;
	buf_init(&blob, 64);
	NEED(setting_text(conn, "none", &b.arena, &text) == RES_NOT_FOUND && !text);
	NEED(setting_i64(conn, "none", &number) == RES_NOT_FOUND && number == 0);
	NEED(setting_blob(conn, "none", &blob) == RES_NOT_FOUND && blob.len == 0);
	NEED(setting_put_text(conn, "t", "abc") == RES_OK &&
	     setting_put_text(conn, "t", "def") == RES_OK);
	NEED(setting_text(conn, "t", &b.arena, &text) == RES_OK && strcmp(text, "def") == 0);
	NEED(setting_put_i64(conn, "n", INT64_MIN) == RES_OK);
	NEED(setting_i64(conn, "n", &number) == RES_OK && number == INT64_MIN);
	NEED(setting_put_blob(conn, "b", "\0\1\2", 3) == RES_OK);
	NEED(setting_blob(conn, "b", &blob) == RES_OK && blob.len == 3 &&
	     memcmp(blob.data, "\0\1\2", 3) == 0);
	NEED(setting_drop(conn, "b") == RES_OK && setting_drop(conn, "b") == RES_OK);
	NEED(setting_blob(conn, "b", &blob) == RES_NOT_FOUND && blob.len == 0);
	buf_free(&blob);
	return RES_OK;
}

static void test_values(void)
{
	in_job(values_job);
}

static enum res settings_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	struct settings stored, loaded, before;
	struct problem problem = {0};
	int64_t version = -1;

	(void)arg;
	settings_default(&stored);
	settings_default(&loaded);
	before = loaded;
	NEED(settings_load(conn, &loaded, &version, &problem) == RES_OK && version == 0);
	NEED(settings_same(&loaded, &before)); /* nothing was ever stored */
	stored.link_burst = 7;
	NEED(settings_store(conn, &stored, 3) == RES_OK);
	NEED(settings_load(conn, &loaded, &version, &problem) == RES_OK && version == 3);
	NEED(settings_same(&loaded, &stored));
	NEED(setting_drop(conn, "link_burst") == RES_OK); /* as a later release's row would be */
	settings_default(&loaded);
	NEED(settings_load(conn, &loaded, &version, &problem) == RES_OK && loaded.link_burst == 60);
	NEED(setting_put_text(conn, "network_per_s", "many") == RES_OK);
	NEED(settings_load(conn, &loaded, &version, &problem) == RES_CORRUPT);
	NEED(strcmp(problem.field, "network_per_s") == 0);
	return RES_OK;
}

static void test_settings(void)
{
	in_job(settings_job);
}

static enum res idempotency_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	struct idempotency_row row = {.actor = "adm_a",
				      .key = "k",
				      .request_hash = {9},
				      .status = 201,
				      .revision = 5,
				      .created_unix = 100,
				      .resources = "x_1\ny_2\n"},
			       got;
	int64_t count;

	(void)arg;
	NEED(idempotency_find(conn, "adm_a", "k", 0, &b.arena, &got) == RES_NOT_FOUND);
	NEED(idempotency_put(conn, &row) == RES_OK);
	NEED(idempotency_find(conn, "adm_a", "k", 100, &b.arena, &got) == RES_OK);
	NEED(got.status == 201 && got.revision == 5 && got.request_hash[0] == 9);
	NEED(strcmp(got.resources, "x_1\ny_2\n") == 0);
	NEED(idempotency_find(conn, "adm_b", "k", 0, &b.arena, &got) == RES_NOT_FOUND);
	NEED(idempotency_find(conn, "adm_a", "k", 101, &b.arena, &got) == RES_NOT_FOUND);
	row.created_unix = 200;
	NEED(idempotency_put(conn, &row) == RES_OK); /* takes the old one's place */
	NEED(prune_rows(conn, PRUNE_IDEMPOTENCY, 200, 10, &count) == RES_OK && count == 0);
	NEED(prune_rows(conn, PRUNE_IDEMPOTENCY, 201, 10, &count) == RES_OK && count == 1);
	return RES_OK;
}

static void test_idempotency(void)
{
	in_job(idempotency_job);
}

static enum res audit_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	struct audit_row row = {
		.actor = "a", .address = "", .action = "x", .target = "", .result = "ok"};
	struct event_row event = {.kind = "x", .severity = "info", .subject = ""};
	int64_t count;

	(void)arg;
	for (row.at_unix = 1; row.at_unix <= 5; row.at_unix++) {
		event.at_unix = row.at_unix;
		NEED(audit_insert(conn, &row) == RES_OK && event_insert(conn, &event) == RES_OK);
	}
	NEED(prune_rows(conn, PRUNE_AUDIT, 4, 2, &count) == RES_OK && count == 2);
	NEED(prune_rows(conn, PRUNE_AUDIT, 4, 2, &count) == RES_OK && count == 1);
	NEED(prune_rows(conn, PRUNE_AUDIT, 4, 2, &count) == RES_OK && count == 0);
	NEED(prune_rows(conn, PRUNE_EVENT, 4, 10, &count) == RES_OK && count == 3);
	event.severity = "loud";
	NEED(event_insert(conn, &event) == RES_CONFLICT);
	return RES_OK;
}

static void test_audit_and_events(void)
{
	in_job(audit_job);
}

TEST_MAIN(TEST(test_values), TEST(test_settings), TEST(test_idempotency),
	  TEST(test_audit_and_events))
