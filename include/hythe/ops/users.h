/* ops/users.h – what can be done to users. All take `void *arg` of the type named, for op_run().
 * Refusals: name_taken (409), credential_taken (409), not_found (404), and per-field problems. */
#ifndef HYTHE_OPS_USERS_H
#define HYTHE_OPS_USERS_H

#include "hythe/model/user.h"
#include "hythe/ops/ops.h"

/* Bits of user_input.present, rows of the JSON table in this order. */
enum user_field {
	USER_F_NAME,
	USER_F_DISPLAY_NAME,
	USER_F_NOTE,
	USER_F_TAG,
	USER_F_EMAIL,
	USER_F_TELEGRAM_ID,
	USER_F_LANGUAGE,
	USER_F_META,
	USER_F_ENABLED,
	USER_F_EXPIRES,
	USER_F_HOLD,
	USER_F_HOLD_DEADLINE,
	USER_F_QUOTA,
	USER_F_QUOTA_PERIOD,
	USER_F_QUOTA_PERIOD_DAYS,
	USER_F_DEVICE_LIMIT,
	USER_F_HWID_LIMIT,
	USER_F_GROUPS,
	USER_F_EXCLUDED_NODES,
	USER_F_CREDENTIAL,
	USER_F_EXPIRES_IN,
	USER_FIELDS
};
extern const struct json_field user_fields[USER_FIELDS]; /* fills struct user_input */

struct user_input {
	const char *name, *display_name, *note, *tag, *email, *language;
	const struct json *meta; /* object, 4 KiB at most */
	int64_t telegram_id;
	bool enabled;
	int64_t expires_unix, expires_in_s; /* the one or the other */
	int64_t hold_s, hold_deadline_unix;
	int64_t quota_bytes;
	int quota_period; /* enum quota_period */
	int64_t quota_period_days;
	int64_t device_limit, hwid_limit;
	const struct json *groups;         /* array of grp_ ids; replaces the set */
	const struct json *excluded_nodes; /* array of nod_ ids; replaces the set */
	const char *credential;            /* create only: an imported auth string */
	uint64_t present;
};

struct user_create {
	struct user_input input;
	/* out: */
	int64_t id;
	struct public_id public_id;
};

struct user_target {
	const char *public_id;
	int64_t if_match;
	/* out: */
	int64_t id;
};

struct user_patch {
	struct user_target target;
	struct user_input input;
};

struct user_extend {
	struct user_target target;
	int64_t add_s;
	int64_t add_bytes;
	bool reset_usage;
};

struct user_rotate {
	struct user_target target;
	int64_t keep_s; /* the old credential goes on so long; 0: refused at once */
};

enum res op_user_create(struct op *op, void *user_create);
enum res op_user_patch(struct op *op, void *user_patch);
enum res op_user_delete(struct op *op, void *user_target);
enum res op_user_enable(struct op *op, void *user_target);
enum res op_user_disable(struct op *op, void *user_target);
/* add_s counts from the later of now and the present end; for a user on hold it lengthens the hold,
 * and a deadline that has passed is dropped; who has no end keeps none. add_bytes raises a quota;
 * no quota stays none. */
enum res op_user_extend(struct op *op, void *user_extend);
/* A new period begins now, with nothing used; it ends when the present one would have. */
enum res op_user_reset_usage(struct op *op, void *user_target);
enum res op_user_rotate_link(struct op *op, void *user_target);
enum res op_user_rotate_credential(struct op *op, void *user_rotate);

/* The secrets of a user in clear, appended to `out` (born with a small cap; buf_free_secret() it):
 * the 22 characters of his link, and what his client presents. RES_CORRUPT: not sealed by this key
 * for this user. */
enum res user_link_token(const struct vault *vault, const struct public_id *user,
			 const void *sealed, size_t len, struct buf *out);
struct credential;
enum res user_credential_text(const struct vault *vault, const struct public_id *user,
			      const struct credential *credential, struct buf *out);

/* Timer: stores what the clock has done (expiry, hold deadline, end of a credential, new period);
 * at most `limit` users a call. `*more`: call again. */
struct users_tick {
	int64_t limit;
	/* out: */
	int64_t changed;
	bool more;
};
enum res op_users_tick(struct op *op, void *users_tick);

#endif
