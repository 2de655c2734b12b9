/* ops/settings.h – the settings in force, and changing them.
 *
 * The box holds the present settings and time zone; it re-reads them when a commit says so
 * (CHANGE_SETTING). A snapshot is counted: what was taken stays valid until given back.
 * Threads: any. */
#ifndef HYTHE_OPS_SETTINGS_H
#define HYTHE_OPS_SETTINGS_H

#include "hythe/ops/ops.h"

struct settings_snapshot {
	struct settings settings;
	struct zone *zone;
	int64_t version; /* rises with every change: for ETag */
	/* private */
	unsigned refs;
};

struct settings_box;
/* Reads what is stored; a database that was never set up gives defaults and version 0. Registers
 * with the writer (store_observe): it comes before the first write. Free it after store_close(). */
enum res settings_box_new(struct store *store, struct settings_box **out, struct problem *problem);
void settings_box_free(struct settings_box *box);
struct settings_snapshot *settings_take(struct settings_box *box); /* never NULL */
void settings_give(struct settings_box *box, struct settings_snapshot *snapshot);
/* An observer hears of it (sub: new limits); called on the writer thread after the snapshot
 * changed, before the change's caller is answered. At most 8. */
void settings_observe(struct settings_box *box,
		      void (*fn)(void *ctx, const struct settings *settings), void *ctx);

struct settings_change {
	struct settings settings;  /* filled where `present` says */
	uint64_t present;          /* rows of settings_fields */
	/* How long a replaced prefix goes on; 0: it ends at once. Only one of a kind goes on at a time:
	 * another change of it is refused (RES_CONFLICT, code old_prefix_in_force) until its end, or
	 * until it is ended by `keep_given` without a new prefix, which sets the end anew: of both
	 * kinds, or of those that `present` names with the prefix that they have. */
	int64_t old_prefix_keep_s;
	bool keep_given;
	int64_t if_match;
};
enum res op_settings_change(struct op *op, void *change);
/* First set-up: writes every setting as given. Refused (RES_CONFLICT, code already_set_up) when
 * there are some. */
enum res op_settings_init(struct op *op, void *settings);

/* The writer's connection, by which the box reads after a commit; op_run() lends it. */
void settings_box_lend(struct settings_box *box, struct conn *writer);

/* Does this master key belong to this database? A sealed constant in `setting` says so. With
 * `create` (set-up) it is written when it is not there. RES_CONFLICT, code wrong_key;
 * RES_NOT_FOUND, code not_set_up: none there. Call after store_open and vault_open, before anything
 * is sealed. */
enum res vault_check(struct store *store, const struct vault *vault, bool create,
		     struct problem *problem);

#endif
