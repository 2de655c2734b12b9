/* Admins and settings as the API has them; the first owner's page. */
#include "auth_wire.h"

static const char *target_of(const char *id, const char *more)
{
	static char target[120];

	snprintf(target, sizeof target, "/admins/%s%s", id, more);
	return target;
}

static void test_resource(void)
{
	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(int_at("version"), 1);
	CHECK_TEXT(fix.answer.etag, "\"1\"");
	CHECK(at("revision") != NULL && at("password_hash") == NULL &&
	      !strstr(fix.answer.body.data, "argon2"));
	CHECK_ASK(200, "PATCH", target_of(admin_id, ""), "{\"language\": \"pt-BR\"}");
	CHECK_TEXT(text_at("language"), "pt-BR");
	CHECK_INT(ask_with("PATCH", target_of(admin_id, ""), "If-Match: \"1\"\r\n",
			   "{\"language\": \"en\"}"),
		  412);
	CHECK_INT(ask_with("PATCH", target_of(admin_id, ""), "If-Match: \"2\"\r\n",
			   "{\"language\": \"en\"}"),
		  200);
	CHECK_ASK(409, "DELETE", target_of(admin_id, ""), NULL);
	CHECK_TEXT(text_at("code"), "last_owner");
	CHECK_ASK(404, "GET", "/admins/adm_aaaaaaaaaaaaaaaaaaaaaaaaaa", NULL);
}

static void test_bad_input(void)
{
	static const struct {
		const char *body, *code, *field;
		int status;
	} rows[] = {
		{"{\"name\": \"B\", \"role\": \"helper\"}",                                    "missing_field", "password", 422},
		{"{\"name\": \"B\", \"password\": \"correct horse\"}",                         "missing_field", "role",
		 422													   },
		{"{\"role\": \"helper\", \"password\": \"correct horse\"}",                    "missing_field", "name",
		 422													   },
		{"{\"name\": \"B\", \"role\": \"root\", \"password\": \"correct horse\"}",
		 "bad_value",										   "role",     422},
		{"{\"name\": \"B\", \"role\": \"helper\", \"password\": \"short\"}",           "bad_password",
		 "password",												422},
		{"{\"name\": \"ANN\", \"role\": \"helper\", \"password\": \"correct horse\"}",
		 "name_taken",										  "name",     409},
		{"{\"name\": \"B\", \"role\": \"helper\", \"password\": \"correct horse\", \"x\": "
		 "1}",							"unknown_field", "x",        422},
		{"{\"name\": \"B\", \"role\": \"helper\", \"password\": \"correct horse\", "
		 "\"language\": \"e n\"}",				    "bad_value",     "language", 422},
	};

	tcp_begin();
	make_admin("Ann", "owner");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_ASK(rows[i].status, "POST", "/admins", rows[i].body);
		CHECK_TEXT(text_at("code"), rows[i].code);
		CHECK_TEXT(text_at("field"), rows[i].field);
	}
	CHECK_ASK(200, "GET", "/admins?total=1", NULL);
	CHECK_INT(int_at("total"), 1);
	CHECK_ASK(422, "PATCH", target_of(admin_id, ""), "{\"password\": \"correct horse\"}");
	CHECK_TEXT(text_at("field"), "password");
}

static void test_repeat_and_dry_run(void)
{
	static const char body[] =
		"{\"name\": \"Bob\", \"role\": \"helper\", \"password\": \"correct horse\"}";

	tcp_begin();
	CHECK_ASK(200, "POST", "/admins?dry_run=1", body);
	CHECK_TEXT(text_at("name"), "Bob");
	CHECK_INT(ask_with("POST", "/admins", "Idempotency-Key: k1\r\n", body), 201);
	keep_at("id", admin_id, sizeof admin_id);
	CHECK_INT(ask_with("POST", "/admins", "Idempotency-Key: k1\r\n", body), 201);
	CHECK_TEXT(text_at("id"), admin_id);
	CHECK_INT(ask_with("POST", "/admins", "Idempotency-Key: k1\r\n",
			   "{\"name\": \"Eve\", \"role\": \"helper\", \"password\": \"correct "
			   "horse\"}"),
		  422);
	CHECK_TEXT(text_at("code"), "idempotency_key_reused");
	CHECK_ASK(200, "GET", "/admins?total=1", NULL);
	CHECK_INT(int_at("total"), 1);
}

static void test_pages(void)
{
	char cursor[200], target[300], name[16];
	int seen = 0;

	tcp_begin();
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "A%d", i);
		make_admin(name, "readonly");
	}
	strcpy(target, "/admins?limit=2");
	for (;;) {
		CHECK_ASK(200, "GET", target, NULL);
		seen += (int)count_at("items");
		if (!text_at("next_cursor"))
			break;
		keep_at("next_cursor", cursor, sizeof cursor);
		snprintf(target, sizeof target, "/admins?limit=2&cursor=%s", cursor);
	}
	CHECK_INT(seen, 5);
	CHECK_ASK(422, "GET", "/admins?q=a", NULL);
	CHECK_ASK(422, "GET", "/admins?color=red", NULL);
}

static void test_own_password(void)
{
	char same[512], other[256];

	tcp_begin();
	make_admin("Ann", "owner");
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	snprintf(other, sizeof other, "%s", cookie);
	CHECK_INT(sign_in("Ann", "correct horse"), 200);
	snprintf(same, sizeof same, "%sSec-Fetch-Site: same-origin\r\n", cookie);
	CHECK_SENT(422, "POST", target_of(admin_id, "/password"), same,
		   "{\"password\": \"battery staple\"}");
	CHECK_SENT(403, "POST", target_of(admin_id, "/password"), same,
		   "{\"password\": \"battery staple\", \"current_password\": \"wrong\"}");
	CHECK_CODE("bad_credentials");
	CHECK_SENT(422, "POST", target_of(admin_id, "/password"), same,
		   "{\"password\": \"short\", \"current_password\": \"correct horse\"}");
	CHECK_SENT(200, "POST", target_of(admin_id, "/password"), same,
		   "{\"password\": \"battery staple\", \"current_password\": \"correct horse\"}");
	CHECK(!said("battery"));
	CHECK_SENT(200, "GET", "/auth/session", cookie, NULL);
	CHECK_SENT(401, "GET", "/auth/session", other, NULL);
	CHECK_INT(sign_in("Ann", "correct horse"), 401);
	CHECK_INT(sign_in("Ann", "battery staple"), 200);
}

static void test_password_of_others(void)
{
	char same[512], ann[40];

	tcp_begin();
	make_admin("Ann", "owner");
	strcpy(ann, admin_id);
	make_admin("Bob", "helper");
	CHECK_INT(sign_in("Bob", "correct horse"), 200);
	snprintf(same, sizeof same, "%sSec-Fetch-Site: same-origin\r\n", cookie);
	CHECK_SENT(403, "POST", target_of(ann, "/password"), same,
		   "{\"password\": \"battery staple\"}");
	for (int i = 0; i < 5; i++)
		CHECK_INT(sign_in("Ann", "wrong horse"), 401);
	CHECK_INT(sign_in("Ann", "correct horse"), 429);
	CHECK_ASK(200, "POST", target_of(ann, "/password"),
		  "{\"password\": \"battery staple\"}");  /* from the shell */
	CHECK_INT(sign_in("Ann", "battery staple"), 200); /* and no longer locked out */
}

/* --- Settings --- */

static void test_settings(void)
{
	tcp_begin();
	CHECK_ASK(200, "GET", "/settings", NULL);
	CHECK_TEXT(text_at("sub_prefix"), "sub-prefix-of-the-test");
	CHECK_INT(int_at("hide_after_s"), 600);
	CHECK_TEXT(fix.answer.etag, "\"1\"");
	CHECK_INT(
		ask_with(
			"PATCH", "/settings", "If-Match: \"1\"\r\n",
			"{\"sub_prefix\": \"fresh\", \"old_prefix_keep_s\": 60, \"title\": \"T\"}"),
		200);
	CHECK_TEXT(text_at("sub_prefix"), "fresh");
	CHECK_TEXT(text_at("old_sub_prefix"), "sub-prefix-of-the-test");
	CHECK_INT(int_at("old_sub_prefix_until_unix"), NOW + 60);
	CHECK_INT(int_at("version"), 2);
	CHECK_INT(ask_with("PATCH", "/settings", "If-Match: \"1\"\r\n", "{\"title\": \"U\"}"), 412);
	pass_s(61);
	CHECK_ASK(200, "GET", "/settings", NULL);
	CHECK_TEXT(text_at("old_sub_prefix"), "");
	CHECK_ASK(200, "PATCH", "/settings?dry_run=1", "{\"title\": \"Dry\"}");
	CHECK_TEXT(text_at("title"), "Dry");
	CHECK_ASK(200, "GET", "/settings", NULL);
	CHECK_TEXT(text_at("title"), "T");
}

/* B036 and its kind: refused by name, and nothing changed. */
static void test_b036_bad_settings(void)
{
	static const struct {
		const char *body, *field;
	} rows[] = {
		{"{\"update_interval_h\": 0}",                         "update_interval_h"},
		{"{\"update_interval_h\": 0.5}",                       "update_interval_h"},
		{"{\"update_interval_h\": \"90m\"}",                   "update_interval_h"},
		{"{\"update_interval_h\": -1}",                        "update_interval_h"},
		{"{\"update_interval_h\": 100000}",                    "update_interval_h"},
		{"{\"title\": \"T\", \"time_zone\": \"Moon/Crater\"}", "time_zone"        },
		{"{\"public_url\": \"https://x.example/?a\"}",         "public_url"       },
		{"{\"sub_prefix\": \"admin-prefix-of-test\"}",         "sub_prefix"       },
		{"{\"sub_prefix\": \"a/b\"}",                          "sub_prefix"       },
		{"{\"sub_prefix\": \"api\"}",                          "sub_prefix"       },
		{"{\"name_template\": \"{nope}\"}",                    "name_template"    },
		{"{\"old_sub_prefix\": \"x\"}",                        "old_sub_prefix"   },
		{"{\"old_prefix_keep_s\": -1}",                        "old_prefix_keep_s"},
		{"{\"link_burst\": 99999999999999999999}",             "link_burst"       },
		{"{\"title\": \"a\\nb\"}",                             "title"            },
		{"{\"color\": \"red\"}",                               "color"            },
	};

	tcp_begin();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_ASK(422, "PATCH", "/settings", rows[i].body);
		CHECK_TEXT(text_at("field"), rows[i].field);
	}
	CHECK_ASK(200, "GET", "/settings", NULL);
	CHECK_INT(int_at("version"), 1);
	CHECK_ASK(200, "PATCH", "/settings", "{\"update_interval_h\": 24}");
}

/* --- The first owner's page --- */

#define FORM "Content-Type: application/x-www-form-urlencoded\r\n"

static char page[120];

static void make_link(void)
{
	CHECK_ASK(201, "POST", "/admins/owner-link", NULL);
	CHECK(strstr(text_at("url"), "/admin-prefix-of-test/setup/") != NULL);
	snprintf(page, sizeof page, "%s", strstr(text_at("path"), "/setup/"));
}

static bool is_decoy(void)
{
	return got.status == 404 && wire_body(&got)[0] == '\0'; /* what the test's listener shows */
}

static void test_page_is_inert(void)
{
	char policy[300];

	tcp_begin();
	make_link();
	CHECK_INT(send_raw("GET", page, NULL, NULL), 200);
	CHECK(said("<form method=\"post\"") && !said("<script") && !said("src=") && !said("http"));
	CHECK(wire_header(&got, "Content-Security-Policy", policy, sizeof policy));
	CHECK(strncmp(policy, "default-src 'none'; style-src 'sha256-", 38) == 0 &&
	      !strstr(policy, "unsafe"));
	CHECK(wire_header(&got, "Referrer-Policy", policy, sizeof policy));
	CHECK(wire_header(&got, "Cache-Control", policy, sizeof policy));
	CHECK_TEXT(policy, "no-store");
}

/* B134: once, for 30 minutes, and nobody else sees that there is a page. */
static void test_b134_page_is_spent_by_post(void)
{
	tcp_begin();
	send_raw("GET", "/setup/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL, NULL);
	CHECK(is_decoy());
	make_link();
	for (int i = 0; i < 3; i++)
		CHECK_INT(send_raw("GET", page, NULL, NULL), 200);
	CHECK_INT(send_raw("HEAD", page, NULL, NULL), 200);
	send_raw("GET", "/setup/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL, NULL);
	CHECK(is_decoy());
	send_raw("DELETE", page, NULL, NULL);
	CHECK(is_decoy());
	CHECK_INT(send_raw("POST", page, FORM,
			   "name=Ann+B&password=correct+horse&again=correct+horse"),
		  200);
	CHECK(said("Done") && said("Ann B") && said("/admin-prefix-of-test/api/v1"));
	send_raw("GET", page, NULL, NULL);
	CHECK(is_decoy());
	send_raw("POST", page, FORM, "name=Eve&password=correct+horse&again=correct+horse");
	CHECK(is_decoy());
	CHECK_INT(sign_in("Ann B", "correct horse"), 200);
}

static void test_b134_page_after_half_an_hour(void)
{
	tcp_begin();
	make_link();
	pass_s(1800);
	send_raw("GET", page, NULL, NULL);
	CHECK(is_decoy());
	send_raw("POST", page, FORM, "name=Ann&password=correct+horse&again=correct+horse");
	CHECK(is_decoy());
	CHECK_ASK(200, "GET", "/admins", NULL);
	CHECK_INT(count_at("items"), 0);
}

static void test_page_refusals(void)
{
	static const struct {
		const char *type, *body, *text;
		int status;
	} rows[] = {
		{FORM,				 "name=Ann&password=short&again=short",                            "10 to 256 bytes", 422},
		{FORM,				 "name=Ann&password=correct+horse&again=correct+hors",             "differ",          422},
		{FORM,				 "name=&password=correct+horse&again=correct+horse",               "A name has",      422},
		{FORM,				 "name=Ann&password=correct+horse",                                "was not sent",    400},
		{FORM,				 "name=Ann&name=B&password=correct+horse&again=correct+horse",     "was not sent",
		 400															   },
		{FORM,				 "name=Ann&password=correct+horse&again=correct+horse&role=owner",
		 "was not sent",													    400},
		{FORM,				 "name=%ff&password=correct+horse&again=correct+horse",            "cannot be used",
		 422															   },
		{FORM,				 "name=A%00nn&password=correct+horse&again=correct+horse",         "cannot be used",
		 422															   },
		{FORM,				 "name=A%0ann&password=correct+horse&again=correct+horse",         "cannot be used",
		 422															   },
		{FORM,				 "name=A%4&password=correct+horse&again=correct+horse",            "cannot be used",
		 422															   },
		{FORM,				 "",							       "was not sent",    400},
		{"Content-Type: application/json\r\n", "{\"name\":\"Ann\"}",                                             "was not sent",    400},
		{"",				   "name=Ann&password=correct+horse&again=correct+horse",            "was not sent",    400},
	};

	tcp_begin();
	make_link();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (send_raw("POST", page, rows[i].type, rows[i].body) != rows[i].status ||
		    !said(rows[i].text))
			TEST_FAIL("row %zu: %d: %.1500s", i, got.status, wire_body(&got));
		CHECK(said("<form") && !said("correct horse"));
	}
	CHECK_ASK(200, "GET", "/admins", NULL);
	CHECK_INT(count_at("items"), 0);
	/* What was typed comes back as text. */
	send_raw("POST", page, FORM, "name=%22%3E%3Csvg%2Fonload%3Dalert(1)%3E&password=x&again=x");
	CHECK(!said("<svg") && said("&lt;svg"));
	send_raw("POST", page, FORM, "name=%ff%22Ann&password=correct+horse&again=correct+horse");
	CHECK_INT(got.status, 422);
	CHECK(!said("\xff") && said("value=\"\""));
	/* Another site's page that knows the link. */
	CHECK_INT(send_raw("POST", page, FORM "Origin: https://evil.example\r\n",
			   "name=Ann&password=correct+horse&again=correct+horse"),
		  403);
	CHECK(said("another page"));
	CHECK_INT(send_raw("POST", page, FORM "Origin: null\r\n",
			   "name=Ann&password=correct+horse&again=correct+horse"),
		  403);
	CHECK_ASK(200, "GET", "/admins", NULL);
	CHECK_INT(count_at("items"), 0);
	CHECK_INT(
		send_raw("POST", page, FORM, "name=Ann&password=correct+horse&again=correct+horse"),
		200);
	/* A second owner: the name is taken, and the page says which field that is. */
	make_link();
	CHECK_INT(
		send_raw("POST", page, FORM, "name=ann&password=correct+horse&again=correct+horse"),
		409);
	CHECK(said("Name: another admin has this name") && !said("first"));
}

/* A key is kept or refused, never ignored. */
static void test_keys(void)
{
	static const char body[] = "{\"name\":\"ci\",\"rights\":[\"users.read\"]}";
	static const char key[] = "Idempotency-Key: k1\r\n";
	char id[64], token[80], path[160];

	fix_begin();
	CHECK_INT(ask_with("POST", "/tokens", key, body), 201);
	keep_at("id", id, sizeof id);
	keep_at("token", token, sizeof token);
	CHECK(at("token_shown_before") == NULL);
	CHECK_INT(ask_with("POST", "/tokens", key, body), 201);
	CHECK_TEXT(text_at("id"), id);
	CHECK(at("token")->type == JSON_NULL);
	CHECK(at("token_shown_before") && at("token_shown_before")->type == JSON_BOOL);
	CHECK_ASK(200, "GET", "/tokens", NULL);
	CHECK_INT(count_at("items"), 1);
	CHECK_INT(ask_with("POST", "/tokens", key,
			   "{\"name\":\"other\",\"rights\":[\"users.read\"]}"),
		  422);
	CHECK_INT(ask_with("POST", "/admins/owner-link", key, NULL), 400);
	CHECK_TEXT(text_at("code"), "not_supported");
	CHECK_TEXT(text_at("field"), "Idempotency-Key");
	snprintf(path, sizeof path, "/tokens/%s", id);
	CHECK_INT(ask_with("DELETE", path, key, NULL), 400);
	CHECK_INT(ask_with("GET", path, key, NULL), 200);
	CHECK_INT(ask_public("POST", "/auth/sign-in", key, "{\"name\":\"a\",\"password\":\"b\"}"),
		  400);
	CHECK_TEXT(text_at("code"), "not_supported");
}

TEST_MAIN(TEST(test_resource), TEST(test_bad_input), TEST(test_repeat_and_dry_run),
	  TEST(test_pages), TEST(test_own_password), TEST(test_password_of_others),
	  TEST(test_settings), TEST(test_b036_bad_settings), TEST(test_page_is_inert),
	  TEST(test_b134_page_is_spent_by_post), TEST(test_b134_page_after_half_an_hour),
	  TEST(test_page_refusals), TEST(test_keys))
