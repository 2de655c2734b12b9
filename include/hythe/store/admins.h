/* store/admins.h – the people who operate the panel.
 * Owns the table admin. Roles are words here; what they mean is auth/rights.h.
 * Text of what is read lives in the arena passed in. Threads: those of the connection. */
#ifndef HYTHE_STORE_ADMINS_H
#define HYTHE_STORE_ADMINS_H

#include "hythe/model/ids.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"

struct admin_account {
	int64_t id;
	struct public_id public_id;
	const char *name, *name_key;
	const char *role;          /* a word of role_words */
	const char *password_hash; /* PHC string; "" takes no password */
	const char *language;
	int64_t created_unix, signed_in_unix, version;
	bool enabled;
};

/* RES_NOT_FOUND. */
enum res admin_by_id(struct conn *conn, int64_t id, struct arena *arena, struct admin_account *out);
enum res admin_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			    struct admin_account *out);
enum res admin_by_name_key(struct conn *conn, const char *name_key, struct arena *arena,
			   struct admin_account *out);
/* In order of id, those after `after_id`. */
enum res admins_page(struct conn *conn, int64_t after_id, int64_t limit, struct arena *arena,
		     struct admin_account **out, size_t *count);
enum res admins_count(struct conn *conn, int64_t *count);
/* Owners who may sign in. */
enum res admins_count_owners(struct conn *conn, int64_t *count);

/* RES_CONFLICT: the name is taken. Sets account->id. */
enum res admin_insert(struct conn *conn, struct admin_account *account);
/* Writes name, role, enabled, language and password hash, and raises the version by one. */
enum res admin_update(struct conn *conn, const struct admin_account *account);
enum res admin_signed_in(struct conn *conn, int64_t id, int64_t now_unix);
/* Sessions and tokens go with the account. */
enum res admin_delete(struct conn *conn, int64_t id);

#endif
