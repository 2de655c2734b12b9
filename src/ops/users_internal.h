/* users_internal.h – what the files of the user operations share. */
#ifndef HYTHE_OPS_USERS_INTERNAL_H
#define HYTHE_OPS_USERS_INTERNAL_H

#include "hythe/ops/access.h"
#include "hythe/ops/users.h"
#include "hythe/store/credentials.h"
#include "hythe/store/users.h"

#define UNIX_MAX         253402300799 /* the last second of the year 9999 */
#define HOLD_MAX_S       (3650LL * 86400)
#define EXTEND_MAX_S     (36500LL * 86400)
#define KEEP_MAX_S       (30LL * 86400)
#define QUOTA_MAX        (INT64_C(1) << 62)
#define META_MAX         4096
#define GROUPS_MAX       64
#define NODES_MAX        256
#define CREDENTIAL_LEN   24
#define CREDENTIAL_MAX   128
#define CREDENTIALS_KEPT 8 /* of one user at once, after rotations that keep the old one */

/* A change of one user under way: opened on whom a call names, then closed. */
struct user_edit {
	struct user was, now;
	struct user_before before;
	bool settings; /* set by user_edit_close(): columns of his own row differ */
	bool sets;     /* groups, nodes or credentials differ: a new version too */
	bool acted;    /* something that moves no version was done, and stands in the audit */
};

/* Finds him (code not_found), checks If-Match, and stores what the clock has done to him. */
enum res user_edit_open(struct op *op, struct user_target *target, struct user_edit *edit);
/* Writes what differs between `was` and `now`, with the version, record, sums and change record.
 * Nothing done: nothing is written but what the clock did. `detail` as for op_audit(). */
enum res user_edit_close(struct op *op, struct user_edit *edit, const char *action,
			 const char *detail);

/* user_record_end() for a caller who has the whole row as it is stored now. */
enum res user_record_end_as(struct op *op, const struct user_before *before,
			    const struct user *user);

/* Runs fn(op, arg) with an arena of its own, so that a job of a thousand operations needs no more
 * memory than one. Nothing in the arena outlives it. */
enum res user_op(struct op *op, op_fn fn, void *arg);

/* users_input.c: the rules on what a caller gave; fills `user` where `present` says. */
enum res user_input_apply(struct op *op, const struct user_input *input, struct user *user);
bool user_waits_for_use(const struct user *user);
static inline bool user_input_has(const struct user_input *input, enum user_field field)
{
	return input->present >> field & 1;
}

/* users_sets.c: groups and excluded nodes as a set; `*changed` stays as it was if they are the
 * same. */
enum res user_set_groups(struct op *op, int64_t user_id, const struct json *list, bool *changed);
enum res user_set_nodes(struct op *op, int64_t user_id, const struct json *list, bool *changed);

/* users_secret.c */
/* The link that goes, for the index of tokens; `linked`: he has one. */
enum res user_link_old(struct op *op, int64_t user_id, struct user_link *out, bool *linked);
enum res user_link_make(struct op *op, const struct public_id *user, struct user_link *out);
/* `imported` NULL: a new random one. Refuses one that somebody has (credential_taken). */
enum res user_credential_make(struct op *op, const struct user *user, const char *imported,
			      struct credential *out);

#endif
