#include "hythe/auth/rights.h"

#include <string.h>

const char *const role_words[] = {
	[ROLE_OWNER] = "owner",
	[ROLE_HELPER] = "helper",
	[ROLE_RESELLER] = "reseller",
	[ROLE_READONLY] = "readonly",
	[ROLE_READONLY + 1] = NULL,
};

/* Role by right. A helper hands out links, so he sees them; what nodes and profiles hold he does
 * not need. A reseller has own users only: until operations can be bounded to them he may sign in
 * and no more. */
static const uint32_t roles[] = {
	[ROLE_OWNER] = RIGHTS_ALL,
	[ROLE_HELPER] = RIGHT_SIGNED_IN | RIGHT_USERS_READ | RIGHT_USERS_WRITE | RIGHT_SECRETS,
	[ROLE_RESELLER] = RIGHT_SIGNED_IN,
	[ROLE_READONLY] = RIGHT_SIGNED_IN | RIGHT_USERS_READ | RIGHT_NODES_READ | RIGHT_METRICS,
};

/* RIGHT_SIGNED_IN has no word: everybody who is somebody has it. */
static const struct {
	enum right right;
	const char *word;
} words[] = {
	{RIGHT_USERS_READ,  "users.read" },
	{RIGHT_USERS_WRITE, "users.write"},
	{RIGHT_SECRETS,     "secrets"    },
	{RIGHT_NODES_READ,  "nodes.read" },
	{RIGHT_NODES_WRITE, "nodes.write"},
	{RIGHT_SETTINGS,    "settings"   },
	{RIGHT_ADMINS,      "admins"     },
	{RIGHT_METRICS,     "metrics"    },
};

#define WORDS (sizeof words / sizeof *words)

uint32_t role_rights(enum role role)
{
	size_t at = (size_t)role;

	return at < sizeof roles / sizeof *roles ? roles[at] : 0;
}

bool role_of_word(const char *word, enum role *out)
{
	for (size_t i = 0; role_words[i]; i++) {
		if (strcmp(role_words[i], word) != 0)
			continue;
		*out = (enum role)i;
		return true;
	}
	return false;
}

const char *right_word(enum right right)
{
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].right == right)
			return words[i].word;
	return right == RIGHT_SIGNED_IN ? "signed_in" : "none";
}

bool right_of_word(const char *word, enum right *out)
{
	for (size_t i = 0; i < WORDS; i++) {
		if (strcmp(words[i].word, word) != 0)
			continue;
		*out = words[i].right;
		return true;
	}
	return false;
}

bool actor_may(const struct actor *actor, enum right right)
{
	return (actor->rights & (uint32_t)right) == (uint32_t)right;
}
