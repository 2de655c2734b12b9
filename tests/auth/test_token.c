/* API tokens: their form, and what they may. */
#include "hythe/auth/token.h"
#include "test.h"

#define T "hyt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void test_form(void)
{
	static const struct {
		const char *header;
		bool good;
	} rows[] = {
		{"Bearer " T,					      true },
		{"bearer " T,					      true },
		{"Bearer   " T,					    true },
		{T,							false},
		{"Bearer" T,					       false},
		{"Basic " T,					       false},
		{"Bearer ",						false},
		{"",						       false},
		{"Bearer " T "A",					  false},
		{"Bearer " T " ",					  false},
		{"Bearer hyt_",					    false},
		{"Bearer HYT_" T,					  false},
		{"Bearer hyt-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false},
		{"Bearer hyt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+", false},
		{"Bearer hyt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct token_secret secret;

		if (token_of_authorization(rows[i].header, &secret) != rows[i].good)
			TEST_FAIL("row %zu", i);
	}
}

/* B140: a token is random, whatever its name. */
static void test_b140_random(void)
{
	struct token_secret first, second, again;

	token_secret_new(&first);
	token_secret_new(&second);
	CHECK_INT(strlen(first.text), TOKEN_TEXT_LEN);
	CHECK(strncmp(first.text, "hyt_", 4) == 0);
	CHECK(strcmp(first.text, second.text) != 0);
	CHECK(memcmp(first.hash, second.hash, sizeof first.hash) != 0);
	CHECK(token_secret_of_text(first.text, TOKEN_TEXT_LEN, &again));
	CHECK(memcmp(first.hash, again.hash, sizeof first.hash) == 0);
}

static void test_never_more_than_its_maker(void)
{
	struct token_found found = {.id = 1,
				    .admin_id = 2,
				    .rights = RIGHT_USERS_READ | RIGHT_USERS_WRITE | RIGHT_SETTINGS,
				    .role = "owner",
				    .enabled = true};
	struct actor actor;

	CHECK(token_actor(&found, &actor));
	CHECK_INT(actor.rights,
		  RIGHT_SIGNED_IN | RIGHT_USERS_READ | RIGHT_USERS_WRITE | RIGHT_SETTINGS);
	CHECK(!actor.cookie);
	strcpy(found.role, "readonly");
	CHECK(token_actor(&found, &actor));
	CHECK_INT(actor.rights, RIGHT_SIGNED_IN | RIGHT_USERS_READ);
	found.enabled = false;
	CHECK(!token_actor(&found, &actor));
	found = (struct token_found){.id = 1, .rights = RIGHT_SETTINGS, .enabled = true};
	CHECK(token_actor(&found, &actor)); /* of the control socket */
	CHECK(actor_may(&actor, RIGHT_SETTINGS) && !actor_may(&actor, RIGHT_ADMINS));
}

static void test_alive(void)
{
	CHECK(token_alive(0, 5000));
	CHECK(token_alive(5001, 5000));
	CHECK(!token_alive(5000, 5000));
}

TEST_MAIN(TEST(test_form), TEST(test_b140_random), TEST(test_never_more_than_its_maker),
	  TEST(test_alive))
