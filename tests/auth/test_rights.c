/* The table of rights. */
#include "hythe/auth/rights.h"
#include "test.h"

static void test_words(void)
{
	for (uint32_t bit = RIGHT_USERS_READ; bit <= RIGHT_METRICS; bit <<= 1) {
		enum right right;

		CHECK(right_of_word(right_word((enum right)bit), &right));
		CHECK_INT(right, bit);
	}
	CHECK(!right_of_word("users", &(enum right){0}));
	CHECK(!right_of_word("signed_in", &(enum right){0}));
	CHECK(!right_of_word("", &(enum right){0}));
}

static void test_roles(void)
{
	enum role role;

	CHECK_INT(role_rights(ROLE_OWNER), RIGHTS_ALL);
	for (size_t i = 0; role_words[i]; i++) {
		CHECK(role_of_word(role_words[i], &role));
		CHECK_INT(role, i);
		CHECK(role_rights(role) & RIGHT_SIGNED_IN);
	}
	CHECK(!role_of_word("root", &role));
}

/* B137: what a role does not need it has not. */
static void test_b137_lesser_roles(void)
{
	static const enum right not_for_helpers[] = {RIGHT_NODES_READ, RIGHT_NODES_WRITE,
						     RIGHT_SETTINGS, RIGHT_ADMINS};
	static const enum right not_for_readers[] = {
		RIGHT_USERS_WRITE, RIGHT_SECRETS, RIGHT_NODES_WRITE, RIGHT_SETTINGS, RIGHT_ADMINS};

	for (size_t i = 0; i < sizeof not_for_helpers / sizeof *not_for_helpers; i++)
		CHECK(!(role_rights(ROLE_HELPER) & not_for_helpers[i]));
	for (size_t i = 0; i < sizeof not_for_readers / sizeof *not_for_readers; i++)
		CHECK(!(role_rights(ROLE_READONLY) & not_for_readers[i]));
	CHECK_INT(role_rights(ROLE_RESELLER), RIGHT_SIGNED_IN);
}

static void test_may(void)
{
	struct actor actor = {.rights = RIGHT_SIGNED_IN | RIGHT_USERS_READ};

	CHECK(actor_may(&actor, RIGHT_NONE));
	CHECK(actor_may(&actor, RIGHT_USERS_READ));
	CHECK(!actor_may(&actor, RIGHT_USERS_WRITE));
	CHECK(!actor_may(&actor, (enum right)(RIGHT_USERS_READ | RIGHT_USERS_WRITE)));
}

TEST_MAIN(TEST(test_words), TEST(test_roles), TEST(test_b137_lesser_roles), TEST(test_may))
