/* Session secrets and cookies. */
#include "hythe/auth/session.h"
#include "test.h"

#define A43 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define B43 "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"

static void test_secret(void)
{
	struct session_secret first, second, again;

	session_secret_new(&first);
	session_secret_new(&second);
	CHECK_INT(strlen(first.text), 43);
	CHECK(strcmp(first.text, second.text) != 0);
	CHECK(session_secret_of_text(first.text, 43, &again));
	CHECK(memcmp(first.hash, again.hash, sizeof first.hash) == 0);
	CHECK(!session_secret_of_text(first.text, 42, &again));
	CHECK(!session_secret_of_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 43, &again));
	/* The last character of 43 bears two bits only. */
	CHECK(!session_secret_of_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB", 43, &again));
}

static void test_cookie_find(void)
{
	static const struct {
		const char *header, *want;
	} rows[] = {
		{"hythe=" A43,                  A43 },
		{" hythe=" A43 " ",             A43 },
		{"a=b; hythe=" A43 "; c=d",     A43 },
		{"a=b;hythe=" A43 ";c=d",       A43 },
		{"xhythe=" B43 "; hythe=" A43,  A43 },
		{"a=hythe=" B43 "; hythe=" A43, A43 },
		{";;; hythe=" A43 ";;",         A43 },
		{"",			    NULL},
		{"hythe",                       NULL},
		{"hythe=",                      NULL},
		{"hythe=;",                     NULL},
		{"hythe=" A43 "A",              NULL},
		{"hythe=\"" A43 "\"",           NULL},
		{"hythe =" A43,                 NULL},
		{"Hythe=" A43,                  NULL},
		{"__Host-hythe=" A43,           NULL},
		{"hythe=" A43 "; hythe=" B43,   NULL},
		{"hythe=" A43 "; hythe=" A43,   NULL},
		{"hythe=x; hythe=" A43,         NULL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct session_secret secret;
		bool found = session_cookie_find(rows[i].header, "hythe", &secret);

		if (found != (rows[i].want != NULL))
			TEST_FAIL("row %zu: %d", i, found);
		if (found)
			CHECK_TEXT(secret.text, rows[i].want);
	}
}

/* B131: the cookie is out of reach of scripts and of other sites. */
static void test_b131_cookie_flags(void)
{
	static const struct {
		const char *url, *want;
	} rows[] = {
		{"https://panel.example.net",
		 "__Host-hythe=T; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure"                 },
		{"http://127.0.0.1:8080",
		 "hythe=T; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"                                },
		{"http://[::1]:8080",
		 "hythe=T; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"                                },
		{"http://localhost",             "hythe=T; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"},
		{"http://panel.example.net",     NULL							 },
		{"http://127.0.0.1.example.net", NULL							 },
		{"http://localhost.example.net", NULL							 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf text;
		bool made;

		buf_init(&text, 512);
		made = session_cookie_print(&text, rows[i].url, "T");
		CHECK_INT(made, rows[i].want != NULL);
		if (made)
			CHECK_TEXT(text.data, rows[i].want);
		buf_free(&text);
	}
}

static void test_cookie_end(void)
{
	struct buf text;

	buf_init(&text, 512);
	CHECK(session_cookie_print(&text, "https://x.example", NULL));
	CHECK_TEXT(text.data,
		   "__Host-hythe=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure");
	buf_free(&text);
}

static void test_alive(void)
{
	CHECK(session_alive(1000, 5000000, 1000));
	CHECK(session_alive(1000, 5000000, 1000 + SESSION_IDLE_S - 1));
	CHECK(!session_alive(1000, 5000000, 1000 + SESSION_IDLE_S));
	CHECK(session_alive(4999999, 5000000, 4999999));
	CHECK(!session_alive(4999999, 5000000, 5000000));
}

static void test_actor(void)
{
	struct session_found found = {.id = 7, .admin_id = 3, .role = "readonly", .enabled = true};
	struct actor actor;

	CHECK(session_actor(&found, &actor));
	CHECK_INT(actor.kind, ACTOR_ADMIN);
	CHECK(actor.cookie && actor.session_id == 7 && actor.admin_id == 3);
	CHECK(actor_may(&actor, RIGHT_USERS_READ) && !actor_may(&actor, RIGHT_USERS_WRITE));
	found.enabled = false;
	CHECK(!session_actor(&found, &actor));
	found.enabled = true;
	strcpy(found.role, "root");
	CHECK(!session_actor(&found, &actor));
}

TEST_MAIN(TEST(test_secret), TEST(test_cookie_find), TEST(test_b131_cookie_flags),
	  TEST(test_cookie_end), TEST(test_alive), TEST(test_actor))
