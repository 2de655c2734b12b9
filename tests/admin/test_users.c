#include "admin_test.h"

static char user_id[40], group_id[40];

static void make_user(const char *body)
{
	CHECK_ASK(201, "POST", "/users", body);
	keep_at("id", user_id, sizeof user_id);
}

static void test_create_and_get(void)
{
	char target[80];
	int64_t revision;

	fix_begin();
	CHECK_ASK(201, "POST", "/groups", "{\"name\": \"family\"}");
	keep_at("id", group_id, sizeof group_id);
	char body[300];
	snprintf(body, sizeof body,
		 "{\"name\": \"Ann\", \"expires_in_s\": 2592000, \"quota_bytes\": 1000, "
		 "\"quota_period\": \"month\","
		 "\"groups\": [\"%s\"], \"meta\": {\"a\": [1, {\"b\": null}]}}",
		 group_id);
	make_user(body);
	revision = int_at("revision");
	CHECK(revision > 0);
	CHECK_TEXT(fix.answer.etag, "\"1\"");
	CHECK_TEXT(text_at("status"), "active");
	CHECK_INT(int_at("days_left"), 30);
	CHECK_INT(int_at("usage.left_bytes"), 1000);
	CHECK_TEXT(text_at("groups.0.name"), "family");
	CHECK_INT(int_at("meta.a.0"), 1);
	CHECK(strncmp(text_at("link"), "http://127.0.0.1:8080/sub-prefix-of-the-test/", 45) == 0);
	snprintf(target, sizeof target, "/users/%s", user_id);
	CHECK_ASK(200, "GET", target, NULL);
	CHECK_TEXT(text_at("name"), "Ann");
	CHECK(at("revision") == NULL);
	CHECK_ASK(200, "GET", "/groups", NULL);
	CHECK_INT(int_at("items.0.members"), 1);
}

static void test_actions(void)
{
	static const struct {
		const char *action, *body;
		int status;
		const char *state;
	} rows[] = {
		{"disable",           NULL,                 200, "disabled"},
		{"disable",           "{}",                 200, "disabled"},
		{"enable",            "{\"x\": 1}",         422, NULL      },
		{"enable",            NULL,                 200, "active"  },
		{"extend",            "{\"add_s\": 86400}", 200, "active"  },
		{"extend",            "{}",                 422, NULL      },
		{"extend",            NULL,                 400, NULL      },
		{"extend",            "{\"add_s\": -1}",    422, NULL      },
		{"reset-usage",       NULL,                 200, "active"  },
		{"rotate-link",       NULL,                 200, "active"  },
		{"rotate-credential", "{\"keep_s\": 60}",   200, "active"  },
		{"nothing",           NULL,                 404, NULL      },
	};

	fix_begin();
	make_user("{\"name\": \"bob\"}");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char target[100];

		snprintf(target, sizeof target, "/users/%s/%s", user_id, rows[i].action);
		CHECK_ASK(rows[i].status, "POST", target, rows[i].body);
		if (rows[i].state)
			CHECK_TEXT(text_at("status"), rows[i].state);
		else
			CHECK(text_at("code") != NULL);
	}
}

static void test_patch_and_delete(void)
{
	char target[80];

	fix_begin();
	make_user("{\"name\": \"carol\"}");
	snprintf(target, sizeof target, "/users/%s", user_id);
	CHECK_ASK(200, "PATCH", target, "{\"note\": \"two\\nlines\"}");
	CHECK_INT(int_at("version"), 2);
	CHECK_INT(ask_with("PATCH", target, "If-Match: \"1\"\r\n", "{\"note\": \"x\"}"), 412);
	CHECK_TEXT(text_at("code"), "version_mismatch");
	CHECK_INT(ask_with("PATCH", target, "If-Match: \"1\", \"2\"\r\n", "{\"note\": \"x\"}"),
		  400);
	CHECK_TEXT(text_at("field"), "If-Match");
	CHECK_INT(ask_with("PATCH", target, "If-Match: \"abc\"\r\n", "{\"note\": \"x\"}"), 412);
	CHECK_INT(ask_with("PATCH", target, "If-Match: W/\"2\"\r\n", "{\"note\": \"y\"}"), 200);
	/* usage and status move without the version, so it never says "as you know it" */
	CHECK_INT(ask_with("GET", target, "If-None-Match: \"3\"\r\n", NULL), 200);
	CHECK_TEXT(fix.answer.etag, "\"3\"");
	CHECK_ASK(200, "DELETE", target, NULL);
	CHECK(at("deleted")->truth);
	CHECK_ASK(404, "GET", target, NULL);
	CHECK_ASK(404, "DELETE", target, NULL);
}

static void test_dry_run(void)
{
	char target[80];

	fix_begin();
	CHECK_ASK(200, "POST", "/users?dry_run=1", "{\"name\": \"dora\", \"quota_bytes\": 5}");
	CHECK(at("dry_run")->truth);
	CHECK_TEXT(text_at("name"), "dora");
	CHECK_INT(int_at("quota_bytes"), 5);
	CHECK(at("revision") == NULL);
	CHECK_ASK(200, "GET", "/users?total=1", NULL);
	CHECK_INT(int_at("total"), 0);
	make_user("{\"name\": \"dora\"}");
	snprintf(target, sizeof target, "/users/%s?dry_run=1", user_id);
	CHECK_ASK(200, "PATCH", target, "{\"name\": \"DORA\"}");
	CHECK_TEXT(text_at("name"), "DORA");
	CHECK_ASK(409, "POST", "/users?dry_run=1", "{\"name\": \"Dora\"}");
	CHECK_TEXT(text_at("code"), "name_taken");
}

static void test_idempotency(void)
{
	char first[40];

	fix_begin();
	CHECK_INT(ask_with("POST", "/users", "Idempotency-Key: k1\r\n", "{\"name\": \"eve\"}"),
		  201);
	keep_at("id", first, sizeof first);
	int64_t revision = int_at("revision");
	CHECK_INT(ask_with("POST", "/users", "Idempotency-Key: k1\r\n", "{\"name\": \"eve\"}"),
		  201);
	CHECK_TEXT(text_at("id"), first);
	CHECK_INT(int_at("revision"), revision);
	CHECK_INT(ask_with("POST", "/users", "Idempotency-Key: k1\r\n", "{\"name\": \"eva\"}"),
		  422);
	CHECK_TEXT(text_at("code"), "idempotency_key_reused");
	CHECK_INT(ask_with("POST", "/users", "Idempotency-Key: a b\r\n", "{\"name\": \"eva\"}"),
		  400);
	CHECK_TEXT(text_at("field"), "Idempotency-Key");
}

static void test_wait_ms(void)
{
	fix_begin();
	CHECK_ASK(201, "POST", "/users?wait_ms=100", "{\"name\": \"f\"}");
	CHECK(at("nodes") && at("nodes")->type == JSON_ARRAY);
	CHECK_ASK(422, "POST", "/users?wait_ms=x", "{\"name\": \"g\"}");
	CHECK_TEXT(text_at("field"), "wait_ms");
}

/* Showing the link changes nothing; rotating ends the old one. */
static void test_b139_one_link(void)
{
	char target[80], link[200], now[200];

	fix_begin();
	make_user("{\"name\": \"h\"}");
	snprintf(target, sizeof target, "/users/%s/link", user_id);
	CHECK_ASK(200, "GET", target, NULL);
	keep_at("link", link, sizeof link);
	CHECK_INT(count_at("credentials"), 1);
	for (int i = 0; i < 5; i++) {
		CHECK_ASK(200, "GET", target, NULL);
		CHECK_TEXT(text_at("link"), link);
	}
	snprintf(target, sizeof target, "/users/%s/rotate-link", user_id);
	CHECK_ASK(200, "POST", target, NULL);
	keep_at("link", now, sizeof now);
	CHECK(strcmp(link, now) != 0);
}

TEST_MAIN(TEST(test_create_and_get), TEST(test_actions), TEST(test_patch_and_delete),
	  TEST(test_dry_run), TEST(test_idempotency), TEST(test_wait_ms), TEST(test_b139_one_link))
