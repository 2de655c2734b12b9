#include "admin_test.h"

#include "hythe/util/buf.h"

static char first_id[40];

/* {"operations": [...]}: `count` creates, of which `bad` (SIZE_MAX: none) has a name that none may
 * have. */
static char *creates(size_t count, size_t bad, const char *prefix)
{
	struct buf body;
	size_t len;

	buf_init(&body, 1u << 20);
	buf_str(&body, "{\"operations\": [");
	for (size_t i = 0; i < count; i++)
		buf_printf(&body, "%s{\"op\": \"create\", \"name\": \"%s%zu\", \"quota_bytes\": 5}",
			   i ? "," : "", i == bad ? "\xe2\x80\x8b" : prefix, i);
	buf_str(&body, "]}");
	return buf_take(&body, &len);
}

static int64_t total(void)
{
	CHECK_ASK(200, "GET", "/users?total=1&limit=1", NULL);
	return int_at("total");
}

static void test_b128_all_or_nothing(void)
{
	char *body;
	int64_t revision;

	fix_begin();
	CHECK_ASK(200, "GET", "/stats/overview", NULL);
	revision = int_at("revision");
	body = creates(1000, 499, "n");
	CHECK_ASK(422, "POST", "/users/bulk", body);
	CHECK_INT(int_at("index"), 499);
	CHECK_TEXT(text_at("field"), "operations[499].name");
	if (count_at("errors") != 1)
		TEST_FAIL("%.900s", fix.answer.body.data);
	free(body);
	CHECK_INT(total(), 0);
	fix.fake.mono_ms += 2000;
	CHECK_ASK(200, "GET", "/stats/overview", NULL);
	CHECK_INT(int_at("revision"), revision);
	body = creates(1000, SIZE_MAX, "n");
	CHECK_ASK(200, "POST", "/users/bulk", body);
	CHECK_INT(count_at("results"), 1000);
	CHECK(int_at("revision") > revision);
	free(body);
	CHECK_INT(total(), 1000);
}

static void test_an_error_for_each_item(void)
{
	fix_begin();
	CHECK_ASK(422, "POST", "/users/bulk",
		  "{\"operations\": [{\"op\": \"create\", \"name\": \"a\"}, {\"op\": \"create\"}, "
		  "{\"op\": \"none\"}, 5,"
		  "{\"op\": \"delete\"}, {\"op\": \"enable\", \"id\": "
		  "\"usr_aaaaaaaaaaaaaaaaaaaaaaaaaa\", \"x\": 1}]}");
	CHECK_INT(count_at("errors"), 4);
	CHECK_INT(int_at("errors.0.index"), 2);
	CHECK_TEXT(text_at("errors.0.field"), "operations[2].op");
	CHECK_TEXT(text_at("errors.1.code"), "wrong_type");
	CHECK_TEXT(text_at("errors.2.field"), "operations[4].id");
	CHECK_TEXT(text_at("errors.3.field"), "operations[5].x");
	CHECK_ASK(409, "POST", "/users/bulk",
		  "{\"operations\": [{\"op\": \"create\", \"name\": \"a\"}, {\"op\": \"create\", "
		  "\"name\": \"A\"},"
		  "{\"op\": \"create\"}]}");
	CHECK_INT(count_at("errors"), 2);
	CHECK_TEXT(text_at("errors.0.code"), "name_taken");
	CHECK_TEXT(text_at("errors.1.field"), "operations[2].name");
	CHECK_INT(total(), 0);
}

/* A deleted name is free for the next operation of the same call. */
static void test_b122_delete_then_create(void)
{
	char body[300];

	fix_begin();
	CHECK_ASK(201, "POST", "/users", "{\"name\": \"same\"}");
	keep_at("id", first_id, sizeof first_id);
	snprintf(body, sizeof body,
		 "{\"operations\": [{\"op\": \"delete\", \"id\": \"%s\"}, {\"op\": \"create\", "
		 "\"name\": \"Same\"}]}",
		 first_id);
	CHECK_ASK(200, "POST", "/users/bulk", body);
	CHECK_TEXT(text_at("results.0.id"), first_id);
	CHECK(strcmp(text_at("results.1.id"), first_id) != 0);
	CHECK_INT(total(), 1);
}

static void test_idempotent_bulk(void)
{
	static const char body[] = "{\"operations\": [{\"op\": \"create\", \"name\": \"x\"}, "
				   "{\"op\": \"create\", \"name\": \"y\"}]}";
	char id[40];

	fix_begin();
	CHECK_INT(ask_with("POST", "/users/bulk", "Idempotency-Key: b\r\n", body), 200);
	keep_at("results.1.id", id, sizeof id);
	CHECK_INT(ask_with("POST", "/users/bulk", "Idempotency-Key: b\r\n", body), 200);
	CHECK_TEXT(text_at("results.1.id"), id);
	CHECK_INT(total(), 2);
}

static void test_filter(void)
{
	char *body;

	fix_begin();
	body = creates(30, SIZE_MAX, "u");
	CHECK_ASK(200, "POST", "/users/bulk", body);
	free(body);
	CHECK_ASK(200, "POST", "/users/bulk?dry_run=1",
		  "{\"filter\": {\"q\": \"u1\"}, \"op\": \"disable\"}");
	CHECK_INT(int_at("total"), 11);
	CHECK_INT(count_at("items"), 10);
	CHECK_ASK(422, "POST", "/users/bulk", "{\"filter\": {\"q\": \"u1\"}, \"op\": \"disable\"}");
	CHECK_TEXT(text_at("field"), "expected_total");
	CHECK_ASK(409, "POST", "/users/bulk",
		  "{\"filter\": {\"q\": \"u1\"}, \"op\": \"disable\", \"expected_total\": 12}");
	CHECK_TEXT(text_at("code"), "total_changed");
	CHECK_INT(ask_with("POST", "/users/bulk", "Idempotency-Key: f\r\n",
			   "{\"filter\": {\"status\": \"active\", \"q\": \"u1\"}, \"op\": "
			   "\"disable\", \"expected_total\": 11}"),
		  200);
	CHECK_INT(int_at("done"), 11);
	/* the repeat finds nobody active any more, and says the same as the first time */
	CHECK_INT(ask_with("POST", "/users/bulk", "Idempotency-Key: f\r\n",
			   "{\"filter\": {\"status\": \"active\", \"q\": \"u1\"}, \"op\": "
			   "\"disable\", \"expected_total\": 11}"),
		  200);
	CHECK_INT(int_at("done"), 11);
	CHECK_ASK(200, "GET", "/users?status=disabled&total=1", NULL);
	CHECK_INT(int_at("total"), 11);
	CHECK_ASK(422, "POST", "/users/bulk",
		  "{\"filter\": {\"status\": \"x\"}, \"op\": \"disable\", \"expected_total\": 1}");
	CHECK_ASK(422, "POST", "/users/bulk",
		  "{\"filter\": {}, \"op\": \"create\", \"name\": \"z\", \"expected_total\": 1}");
}

static void test_job(void)
{
	char id[40], target[60], state[20] = "running";
	char *body;

	fix_begin();
	for (int i = 0; i < 2; i++) {
		char prefix[3] = {(char)('a' + i), '-', '\0'};

		body = creates(700, SIZE_MAX, prefix);
		CHECK_ASK(200, "POST", "/users/bulk", body);
		free(body);
	}
	CHECK_ASK(202, "POST", "/users/bulk",
		  "{\"filter\": {}, \"op\": \"extend\", \"add_s\": 60, \"add_bytes\": 1, "
		  "\"expected_total\": 1400}");
	keep_at("job", id, sizeof id);
	snprintf(target, sizeof target, "/jobs/%s", id);
	while (strcmp(state, "running") == 0) {
		CHECK_ASK(200, "GET", target, NULL);
		keep_at("state", state, sizeof state);
	}
	CHECK_TEXT(state, "done");
	CHECK_INT(int_at("total"), 1400);
	CHECK_INT(int_at("done") + int_at("failed"), 1400);
	CHECK_ASK(404, "GET", "/jobs/job_aaaaaaaaaaaaaaaaaaaaaaaaaa", NULL);
}

/* A call that was refused because another job runs is done when it comes again with the same key,
 * and the repeat of a call that was done names the job of the first time. */
static void test_refused_job_is_not_remembered(void)
{
	static const char later[] = "{\"filter\": {}, \"op\": \"extend\", \"add_s\": 60, "
				    "\"expected_total\": 1400}";
	char id[40], target[60], state[20];
	int status = 0, refused = 0;
	char *body;

	fix_begin();
	for (int i = 0; i < 2; i++) {
		char prefix[3] = {(char)('a' + i), '-', '\0'};

		body = creates(700, SIZE_MAX, prefix);
		CHECK_ASK(200, "POST", "/users/bulk", body);
		free(body);
	}
	CHECK_ASK(202, "POST", "/users/bulk", later);
	/* nobody sleeps: asked again and again until the first job is through */
	do {
		status = ask_with("POST", "/users/bulk", "Idempotency-Key: later\r\n", later);
		if (status == 409)
			CHECK_TEXT(text_at("code"), "job_running");
		refused += status == 409;
	} while (status == 409);
	CHECK_INT(status, 202);
	CHECK(refused > 0);
	keep_at("job", id, sizeof id);
	CHECK_INT(ask_with("POST", "/users/bulk", "Idempotency-Key: later\r\n", later), 202);
	CHECK_TEXT(text_at("job"), id);
	snprintf(target, sizeof target, "/jobs/%s", id);
	do {
		CHECK_ASK(200, "GET", target, NULL);
		keep_at("state", state, sizeof state);
	} while (strcmp(state, "running") == 0);
	CHECK_TEXT(state, "done");
	CHECK_INT(int_at("done") + int_at("failed"), 1400);
}

TEST_MAIN(TEST(test_b128_all_or_nothing), TEST(test_an_error_for_each_item),
	  TEST(test_b122_delete_then_create), TEST(test_idempotent_bulk), TEST(test_filter),
	  TEST(test_job), TEST(test_refused_job_is_not_remembered))
