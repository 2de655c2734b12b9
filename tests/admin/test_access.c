/* Who may see what: no sign-in, tokens of few rights, the rate, damaged rows. */
#include "admin_test.h"

#include <sqlite3.h>

#include "admin/routes.h"

static char header[200];

/* Makes a token with these rights and keeps it as the header of the next calls. */
static void token_with(const char *rights)
{
	char body[300];

	snprintf(body, sizeof body, "{\"name\": \"t\", \"rights\": [%s]}", rights);
	CHECK_ASK(201, "POST", "/tokens", body);
	snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", text_at("token"));
}

static void some_data(char credential[64], char link[64])
{
	char body[400], profile[40], node[40], user[40];

	CHECK_ASK(201, "POST", "/profiles",
		  "{\"name\": \"p\", \"port\": 443, \"obfs\": \"salamander\", \"obfs_password\": "
		  "\"Secret-Rain-42\"}");
	keep_at("id", profile, sizeof profile);
	CHECK_ASK(201, "POST", "/nodes", "{\"name\": \"n\", \"address\": \"n.example.net\"}");
	keep_at("id", node, sizeof node);
	snprintf(body, sizeof body, "{\"node\": \"%s\", \"profile\": \"%s\"}", node, profile);
	CHECK_ASK(201, "POST", "/inbounds", body);
	CHECK_ASK(201, "POST", "/users", "{\"name\": \"u\"}");
	keep_at("id", user, sizeof user);
	snprintf(body, sizeof body, "/users/%s/link", user);
	CHECK_ASK(200, "GET", body, NULL);
	keep_at("credentials.0.credential", credential, 64);
	snprintf(link, 64, "%s", strrchr(text_at("link"), '/') + 1);
}

static void test_everything_needs_a_sign_in(void)
{
	fix_begin();
	for (const struct route *route = routes; route->pattern; route++) {
		static const char *const methods[] = {"GET", "HEAD",  "POST",
						      "PUT", "PATCH", "DELETE"};
		char target[100], *id;

		if (route->right == RIGHT_NONE)
			continue;
		snprintf(target, sizeof target, "%s", route->pattern);
		if ((id = strstr(target, ":id"))) {
			char rest[60];

			snprintf(rest, sizeof rest, "%s", id + 3);
			snprintf(id, sizeof target - (size_t)(id - target),
				 "usr_aaaaaaaaaaaaaaaaaaaaaaaaaa%s", rest);
		}
		int status = ask_public(methods[route->method], target, NULL, NULL);
		CHECK_INT(status, route->flags & ROUTE_CONTROL ? 404 : 401);
		CHECK_INT(ask_public(methods[route->method], target,
				     "Authorization: Bearer hyt_x\r\n", NULL),
			  route->flags & ROUTE_CONTROL ? 404 : 401);
		fix.fake.mono_ms += 10000;
	}
	CHECK_INT(ask_public("GET", "/health", NULL, NULL), 200);
	CHECK(at("version") == NULL);
	CHECK_INT(ask_public("GET", "/openapi.yaml", NULL, NULL), 200);
	CHECK_INT(ask_public("HEAD", "/openapi.yaml", NULL, NULL), 200);
}

/* A token without the right `secrets` walks everything that can be read: none of the secrets is
 * there. */
static void test_b137_no_secret_without_the_right(void)
{
	static const char *const kinds[] = {"users", "groups",   "profiles",
					    "nodes", "inbounds", "hosts"};
	char credential[64], link[64];
	const char *secrets[] = {credential, link, "Secret-Rain-42"};

	fix_begin();
	some_data(credential, link);
	token_with("\"users.read\", \"nodes.read\", \"users.write\"");
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		char target[100], id[40] = "";

		snprintf(target, sizeof target, "/%s", kinds[k]);
		for (int one = 0; one < 2; one++) {
			CHECK_INT(ask_public("GET", target, header, NULL), 200);
			for (size_t s = 0; s < 3; s++)
				CHECK(!strstr(fix.answer.body.data, secrets[s]));
			if (one || !text_at("items.0.id"))
				break;
			keep_at("items.0.id", id, sizeof id);
			snprintf(target, sizeof target, "/%s/%s", kinds[k], id);
		}
		if (k == 0) {
			snprintf(target, sizeof target, "/users/%s/link", id);
			CHECK_INT(ask_public("GET", target, header, NULL), 403);
			snprintf(target, sizeof target, "/users/%s/rotate-link", id);
			CHECK_INT(ask_public("POST", target, header, NULL), 200);
			CHECK(at("link") == NULL);
		}
	}
	CHECK_INT(ask_public("GET", "/settings", header, NULL), 403);
	CHECK(strstr(text_at("detail"), "settings") != NULL);
	CHECK_INT(ask_public("POST", "/nodes", header, "{\"name\": \"x\", \"address\": \"y\"}"),
		  403);
}

static void test_rate(void)
{
	fix_begin();
	token_with("\"users.read\"");
	for (int i = 0; i < 200; i++)
		CHECK_INT(ask_public("GET", "/health", NULL, NULL), 200);
	CHECK_INT(ask_public("GET", "/health", NULL, NULL), 429);
	CHECK_INT(ask_public("GET", "/users", header, NULL), 200); /* a token has its own */
	CHECK_INT(ask_public("GET", "/users", "Authorization: Bearer hyt_no\r\n", NULL), 429);
	CHECK_INT(ask("GET", "/health", NULL), 200);
	fix.fake.mono_ms += 1000;
	CHECK_INT(ask_public("GET", "/health", NULL, NULL), 200);
}

static void damage(const char *sql)
{
	sqlite3 *db;
	char path[100], *error = NULL;

	snprintf(path, sizeof path, "%s/hythe.db", fix.dir);
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1", NULL, NULL, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		TEST_FAIL("%s: %s", sql, error);
	sqlite3_close(db);
}

/* A row that somebody changed by hand is shown as well as can be, and can be deleted. */
static void test_b082_damaged_row(void)
{
	static const char *const rows[] = {
		"UPDATE user SET expires_unix = 9223372036854775807",
		"UPDATE user SET expires_unix = -5",
		"UPDATE user SET meta = 'no json'",
		"UPDATE user SET meta = '[1]'",
		"UPDATE user SET hold_s = -9223372036854775807",
		"UPDATE user SET sub_token_sealed = x'00'",
		"UPDATE user SET sub_token_sealed = NULL",
		"UPDATE user SET name = CAST(x'ff00fe' AS TEXT)",
		"UPDATE user SET quota_period = 'odd'",
		"UPDATE user SET state = 'odd'",
		"UPDATE user SET quota_bytes = -1, period_anchor_unix = 9223372036854775807",
		"UPDATE user_usage SET used_up_bytes = -9223372036854775807, period_end_unix = 5",
		"UPDATE user_usage SET used_up_bytes = 1 << 62, used_down_bytes = 1 << 62",
	};
	static const char *const sorts[] = {"name",  "-created",  "expiry",
					    "-used", "remaining", "last_seen"};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char id[40], target[60];

		fix_begin();
		CHECK_ASK(201, "POST", "/users",
			  "{\"name\": \"odd\", \"quota_bytes\": 5, \"quota_period\": \"month\"}");
		keep_at("id", id, sizeof id);
		damage(rows[i]);
		CHECK_ASK(201, "POST", "/users", "{\"name\": \"even\"}");
		for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++) {
			snprintf(target, sizeof target, "/users?sort=%s", sorts[s]);
			CHECK_ASK(200, "GET", target, NULL);
			CHECK_INT(count_at("items"), 2);
		}
		CHECK_ASK(200, "GET", "/stats/overview", NULL);
		snprintf(target, sizeof target, "/users/%s", id);
		CHECK_ASK(200, "GET", target, NULL);
		CHECK_ASK(200, "DELETE", target, NULL);
	}
}

TEST_MAIN(TEST(test_everything_needs_a_sign_in), TEST(test_b137_no_secret_without_the_right),
	  TEST(test_rate), TEST(test_b082_damaged_row))
