/* auth/rights.h – who may do what: one table, role by right. Threads: any. */
#ifndef HYTHE_AUTH_RIGHTS_H
#define HYTHE_AUTH_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hythe/model/ids.h"
#include "hythe/util/addr.h"

enum right {
	RIGHT_NONE = 0,      /* open to everybody who found the address: sign-in, health */
	RIGHT_SIGNED_IN = 1, /* any admin or token, for what is their own */
	RIGHT_USERS_READ = 2,
	RIGHT_USERS_WRITE = 4,
	RIGHT_SECRETS = 8,
	RIGHT_NODES_READ = 16,
	RIGHT_NODES_WRITE = 32,
	RIGHT_SETTINGS = 64,
	RIGHT_ADMINS = 128,
	RIGHT_METRICS = 256
};
#define RIGHTS_ALL 511u

enum role { ROLE_OWNER, ROLE_HELPER, ROLE_RESELLER, ROLE_READONLY };
extern const char *const role_words[]; /* NULL at the end */
uint32_t role_rights(enum role role);
bool role_of_word(const char *word, enum role *out);
const char *right_word(enum right right); /* "users.read" */
bool right_of_word(const char *word, enum right *out);

/* Who is asking. */
enum actor_kind { ACTOR_NOBODY, ACTOR_ADMIN, ACTOR_TOKEN, ACTOR_CONTROL, ACTOR_TIMER };
struct actor {
	enum actor_kind kind;
	int64_t admin_id; /* ACTOR_ADMIN; ACTOR_TOKEN: its maker, 0 for the control socket */
	int64_t token_id, session_id;
	struct public_id public_id; /* adm_..., tok_...; "control", "timer" */
	uint32_t rights;
	enum role role;
	struct addr address;
	bool cookie; /* came with a cookie: same-origin rule applies */
};
bool actor_may(const struct actor *actor, enum right right);

#endif
