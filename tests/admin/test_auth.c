/* Who is asking: sessions, tokens, lockouts, same origin, and how soon a change is felt. */
#include "auth_wire.h"

#include "hythe/store/conn.h"

static char bearer[128], token_id[40];

static void make_token(const char *more)
{
	char body[256], token[80];

	snprintf(body, sizeof body,
		 "{\"name\": \"t\", \"rights\": [\"users.read\", \"metrics\"]%s}", more);
	CHECK_ASK(201, "POST", "/tokens", body);
	keep_at("id", token_id, sizeof token_id);
	keep_at("token", token, sizeof token);
	snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n", token);
}

static void test_sign_in_and_out(void)
{
	char header[512];

	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(sign_in("ann", "correct horse"), 200);
	CHECK(said("\"kind\":\"session\"") && said("\"name\":\"Ann\"") && said("\"admins\""));
	CHECK(!said("argon2") && !said("revision"));
	CHECK(wire_header(&got, "Set-Cookie", header, sizeof header));
	CHECK(strncmp(header, "hythe=", 6) == 0 && strstr(header, "; HttpOnly; SameSite=Strict"));
	CHECK(!said(header + 6)); /* the secret stands in the cookie alone */
	CHECK_SENT(200, "GET", "/auth/session", cookie, NULL);
	CHECK_SENT(200, "GET", "/auth/sessions", cookie, NULL);
	CHECK(said("\"current\":true") && said("\"address\":\"127.0.0.1\""));
	CHECK_SENT(403, "POST", "/auth/sign-out", cookie, NULL);
	CHECK_CODE("cross_origin");
	CHECK_INT(send_raw("POST", "/api/v1/auth/sign-out",
			   (snprintf(header, sizeof header, "%sOrigin: http://panel.example\r\n",
				     cookie),
			    header),
			   NULL),
		  204);
	CHECK(wire_header(&got, "Set-Cookie", header, sizeof header) &&
	      strstr(header, "Max-Age=0"));
	CHECK_SENT(401, "GET", "/auth/session", cookie, NULL);
	CHECK_CODE("session_ended");
}

static void test_wrong_and_unknown_look_alike(void)
{
	char wrong[1024];

	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(sign_in("Ann", "wrong horse"), 401);
	CHECK_CODE("bad_credentials");
	snprintf(wrong, sizeof wrong, "%s", wire_body(&got));
	CHECK_INT(sign_in("Bob", "wrong horse"), 401);
	CHECK_TEXT(wire_body(&got), wrong);
	CHECK_SENT(422, "POST", "/auth/sign-in", NULL, "{\"name\": \"Ann\"}");
	CHECK_SENT(422, "POST", "/auth/sign-in", NULL, "{\"name\": \"Ann\", \"password\": 5}");
	CHECK_SENT(403, "POST", "/auth/sign-in", "Origin: https://evil.example\r\n",
		   "{\"name\": \"Ann\", \"password\": \"correct horse\"}");
}

static void test_five_wrong_per_login(void)
{
	tcp_begin();
	make_admin("Ann", "owner");
	for (int i = 0; i < 5; i++)
		CHECK_INT(sign_in(i % 2 ? "ann" : "ANN", "wrong horse"), 401);
	CHECK_INT(sign_in("Ann", "correct horse"), 429);
	CHECK_CODE("locked_out");
	pass_s(3600);
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
}

static void test_unknown_logins_lock_too(void)
{
	tcp_begin();
	for (int i = 0; i < 5; i++)
		CHECK_INT(sign_in("nobody", "wrong horse"), 401);
	CHECK_INT(sign_in("nobody", "wrong horse"), 429);
}

static void test_ten_wrong_per_address(void)
{
	char name[32];

	tcp_begin();
	make_admin("Ann", "owner");
	for (int i = 0; i < 30; i++) /* right ones do not count */
		CHECK_INT(sign_in("Ann", "correct horse"), 200);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof name, "guess%d", i);
		CHECK_INT(sign_in(name, "wrong horse"), 401);
	}
	pass_s(600);
	CHECK_INT(sign_in("Ann", "correct horse"), 429);
	CHECK(wire_header(&got, "Retry-After", name, sizeof name));
	CHECK_TEXT(name, "3000"); /* what is left of the hour */
	pass_s(3000);
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
}

/* B131: what was typed at a failed sign-in is text, wherever it is kept. */
static void test_b131_hostile_login(void)
{
	static const char count[] =
		"SELECT count(*) FROM audit WHERE action = 'auth.sign_in' AND result = "
		"'bad_credentials' AND target = '\"><img src=x onerror=alert(1)>'";
	struct conn *conn;
	sqlite3_stmt *st;

	tcp_begin();
	CHECK_SENT(
		401, "POST", "/auth/sign-in", "User-Agent: </script><svg/onload=alert(1)>\r\n",
		"{\"name\": \"\\\"><img src=x onerror=alert(1)>\", \"password\": \"wrong horse\"}");
	CHECK(!said("<img") && !said("svg"));
	CHECK_ASK(200, "PATCH", "/settings", "{\"title\": \"x\"}"); /* after the audit's own job */
	CHECK_INT(store_read(fix.store, STORE_ADMIN, 1000, &conn), RES_OK);
	st = conn_stmt(conn, count);
	CHECK_INT(stmt_row(conn, st), RES_OK);
	CHECK_INT(column_i64(st, 0), 1);
	stmt_end(conn, st);
	store_read_end(conn);
}

static void test_how_a_token_may_come(void)
{
	char two[512];

	tcp_begin();
	make_token("");
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	CHECK(said("\"kind\":\"token\"") && said("\"users.read\"") && !said("\"admins\""));
	CHECK_SENT(401, "GET", "/auth/session", NULL, NULL);
	CHECK_CODE("not_signed_in");
	CHECK_SENT(401, "GET", "/auth/session", "Authorization: Bearer hyt_x\r\n", NULL);
	CHECK_CODE("bad_token");
	CHECK_SENT(401, "GET", "/auth/session",
		   "Authorization: Bearer hyt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n",
		   NULL);
	snprintf(two, sizeof two, "%s%s", bearer, bearer);
	CHECK_SENT(401, "GET", "/auth/session", two, NULL);
	CHECK_SENT(403, "GET", "/settings", bearer, NULL);
	CHECK_SENT(403, "POST", "/tokens", bearer,
		   "{\"name\": \"heir\", \"rights\": [\"users.read\"]}");
}

static void test_a_token_is_shown_once(void)
{
	char target[80];

	tcp_begin();
	make_token("");
	snprintf(target, sizeof target, "/tokens/%s", token_id);
	CHECK_ASK(200, "GET", target, NULL);
	CHECK(at("token") == NULL && !strstr(fix.answer.body.data, "hyt_"));
	CHECK_ASK(200, "GET", "/tokens?total=1", NULL);
	CHECK_INT(int_at("total"), 1);
	CHECK(!strstr(fix.answer.body.data, "hyt_"));
	CHECK_ASK(200, "POST", "/tokens?dry_run=1", "{\"name\": \"d\", \"rights\": [\"metrics\"]}");
	CHECK(!strstr(fix.answer.body.data, "hyt_"));
}

static void test_ended_at_once(void)
{
	char target[80];

	tcp_begin();
	make_token("");
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	snprintf(target, sizeof target, "/tokens/%s", token_id);
	CHECK_ASK(200, "DELETE", target, NULL);
	CHECK_SENT(401, "GET", "/auth/session", bearer, NULL);
	CHECK_ASK(404, "DELETE", target, NULL);

	make_token(", \"expires_in_s\": 10");
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	pass_s(9);
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	pass_s(1);
	CHECK_SENT(401, "GET", "/auth/session", bearer, NULL);
}

static void test_a_disabled_admin_is_out_at_once(void)
{
	char target[80], body[160], token[128], same[512];

	tcp_begin();
	make_admin("Ann", "owner");
	make_admin("Bob", "owner");
	CHECK_INT(sign_in("Bob", "correct horse"), 200);
	snprintf(same, sizeof same, "%sSec-Fetch-Site: same-origin\r\n", cookie);
	snprintf(body, sizeof body,
		 "{\"name\": \"bobs\", \"rights\": [\"settings\", \"users.read\"]}");
	CHECK_SENT(201, "POST", "/tokens", same, body);
	snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n",
		 copy_member("token", token, sizeof token));
	CHECK_SENT(200, "GET", "/settings", bearer, NULL);
	snprintf(target, sizeof target, "/admins/%s", admin_id);
	/* A role that lacks a right takes it from what was made before. */
	CHECK_ASK(200, "PATCH", target, "{\"role\": \"readonly\"}");
	CHECK_SENT(403, "GET", "/settings", bearer, NULL);
	CHECK_SENT(403, "GET", "/settings", cookie, NULL);
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	CHECK_ASK(200, "PATCH", target, "{\"enabled\": false}");
	CHECK_SENT(401, "GET", "/auth/session", bearer, NULL);
	CHECK_SENT(401, "GET", "/auth/session", cookie, NULL);
	CHECK_INT(sign_in("Bob", "correct horse"), 401);
	CHECK_ASK(200, "PATCH", target, "{\"enabled\": true}");
	CHECK_SENT(401, "GET", "/auth/session", cookie, NULL); /* sessions were ended, not paused */
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	CHECK_ASK(200, "DELETE", target, NULL);
	CHECK_SENT(401, "GET", "/auth/session", bearer, NULL);
}

static void test_sessions_end_by_time(void)
{
	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	for (int i = 0; i < 4; i++) {
		pass_s(11 * 3600);
		CHECK_SENT(200, "GET", "/auth/session", cookie, NULL);
	}
	pass_s(12 * 3600);
	CHECK_SENT(401, "GET", "/auth/session", cookie, NULL);
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	for (int i = 0; i < 65; i++) {
		pass_s(11 * 3600);
		CHECK_SENT(200, "GET", "/auth/session", cookie, NULL);
	}
	pass_s(5 * 3600); /* 30 days and nights in all */
	CHECK_SENT(401, "GET", "/auth/session", cookie, NULL);
}

static int64_t last_used(void)
{
	char target[80];

	snprintf(target, sizeof target, "/tokens/%s", token_id);
	CHECK_ASK(200, "GET", target, NULL);
	return int_at("last_used_unix");
}

/* Writes that nobody waits for are done when a later one is. */
static void settle(void)
{
	CHECK_ASK(200, "PATCH", "/settings", "{\"title\": \"x\"}");
}

static void test_last_used_is_written_once_a_minute(void)
{
	int64_t first;

	tcp_begin();
	make_token("");
	CHECK_INT(last_used(), 0);
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	settle();
	first = last_used();
	CHECK_INT(first, NOW);
	pass_s(59);
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	settle();
	CHECK_INT(last_used(), first);
	pass_s(1);
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	settle();
	CHECK_INT(last_used(), NOW + 60);
}

static void test_a_tokens_own_rate(void)
{
	tcp_begin();
	make_token(", \"rate_per_s\": 3");
	for (int i = 0; i < 3; i++)
		CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	CHECK_SENT(429, "GET", "/auth/session", bearer, NULL);
	CHECK_CODE("rate_limited");
	fix.fake.mono_ms += 334;
	CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	CHECK_SENT(429, "GET", "/auth/session", bearer, NULL);
	fix.fake.mono_ms += 1000;
	for (int i = 0; i < 3; i++)
		CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
	make_token(""); /* none unless one is set */
	for (int i = 0; i < 50; i++)
		CHECK_SENT(200, "GET", "/auth/session", bearer, NULL);
}

static void test_same_origin(void)
{
	static const struct {
		const char *headers;
		int status;
	} rows[] = {
		{"",								403},
		{"Origin: http://127.0.0.1:8080\r\n",                               200},
		{"Origin: HTTP://127.0.0.1:8080\r\n",                               200},
		{"Origin: http://panel.example\r\n",                                200},
		{"Origin: https://panel.example\r\n",                               200},
		{"Origin: http://panel.example:81\r\n",                             403},
		{"Origin: http://127.0.0.1:8081\r\n",                               403},
		{"Origin: http://127.0.0.1:8080.evil.example\r\n",                  403},
		{"Origin: http://evil.example\r\n",                                 403},
		{"Origin: null\r\n",						403},
		{"Origin: \r\n",						    403},
		{"Origin: http://panel.example\r\nOrigin: http://evil.example\r\n", 403},
		{"Sec-Fetch-Site: same-origin\r\n",                                 200},
		{"Sec-Fetch-Site: same-site\r\n",                                   403},
		{"Sec-Fetch-Site: cross-site\r\n",                                  403},
		{"Sec-Fetch-Site: none\r\n",                                        403},
		{"Sec-Fetch-Site: cross-site\r\nOrigin: http://panel.example\r\n",  403},
		{"Sec-Fetch-Site: same-origin\r\nOrigin: http://evil.example\r\n",  403},
	};
	char headers[1024];

	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(headers, sizeof headers, "%s%s", cookie, rows[i].headers);
		if (send_api("PATCH", "/settings", headers, "{\"title\": \"y\"}") != rows[i].status)
			TEST_FAIL("row %zu: %d", i, got.status);
		if (rows[i].status == 403)
			CHECK_CODE("cross_origin");
	}
	CHECK_SENT(200, "GET", "/settings", cookie, NULL); /* reading needs none */
}

static void test_own_sessions(void)
{
	char first[256], second_id[40], target[80], same[512], list[4096];

	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	snprintf(first, sizeof first, "%s", cookie);
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	CHECK_SENT(200, "GET", "/auth/sessions", first, NULL);
	snprintf(list, sizeof list, "%s", wire_body(&got));
	CHECK(strstr(list, "\"current\":true") && strstr(list, "\"current\":false"));
	copy_member("id", second_id, sizeof second_id); /* newest first */
	snprintf(target, sizeof target, "/auth/sessions/%s", second_id);
	snprintf(same, sizeof same, "%sSec-Fetch-Site: same-origin\r\n", first);
	CHECK_SENT(200, "DELETE", target, same, NULL);
	CHECK_SENT(404, "DELETE", target, same, NULL);
	CHECK_SENT(401, "GET", "/auth/session", cookie, NULL);
	CHECK_SENT(200, "GET", "/auth/session", first, NULL);
}

static void test_no_sessions_over_plain_http(void)
{
	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_ASK(200, "PATCH", "/settings", "{\"public_url\": \"http://panel.example\"}");
	CHECK_INT(sign_in("Ann", "correct horse"), 409);
	CHECK_CODE("https_needed");
	CHECK_ASK(200, "PATCH", "/settings", "{\"public_url\": \"https://panel.example\"}");
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	CHECK(strncmp(cookie, "Cookie: __Host-hythe=", 21) == 0);
	CHECK_SENT(200, "GET", "/auth/session", cookie, NULL);
}

/* Whoever guesses tokens pays for it from his network's bucket, also where nobody need sign in: with a
 * header that says nothing sign-in could be asked without end. */
static void test_guessed_tokens_cost(void)
{
	static const char *const paths[] = {"/health", "/auth/session"};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		int limited = 0;

		tcp_begin();
		for (int n = 0; n < 210; n++)
			limited += send_api("GET", paths[i], "Authorization: Bearer hyt_x\r\n",
					    NULL) == 429;
		CHECK_INT(limited, 10);
	}
}

TEST_MAIN(TEST(test_sign_in_and_out), TEST(test_wrong_and_unknown_look_alike),
	  TEST(test_five_wrong_per_login), TEST(test_unknown_logins_lock_too),
	  TEST(test_ten_wrong_per_address), TEST(test_b131_hostile_login),
	  TEST(test_how_a_token_may_come), TEST(test_a_token_is_shown_once),
	  TEST(test_ended_at_once), TEST(test_a_disabled_admin_is_out_at_once),
	  TEST(test_sessions_end_by_time), TEST(test_last_used_is_written_once_a_minute),
	  TEST(test_a_tokens_own_rate), TEST(test_same_origin), TEST(test_own_sessions),
	  TEST(test_no_sessions_over_plain_http), TEST(test_guessed_tokens_cost))
