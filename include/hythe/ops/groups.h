/* ops/groups.h – groups and what they open: a profile, on all nodes, one node, or nodes with a tag.
 * Refusals: name_taken (409), not_found (404), and per-field problems. */
#ifndef HYTHE_OPS_GROUPS_H
#define HYTHE_OPS_GROUPS_H

#include "hythe/ops/ops.h"

enum group_field { GROUP_F_NAME, GROUP_F_NOTE, GROUP_F_ACCESS, GROUP_FIELDS };
extern const struct json_field group_fields[GROUP_FIELDS];

struct group_input {
	const char *name, *note;
	/* An array; each item has "profile" and one of "nodes" ("all"), "node" (its id), "tag". */
	const struct json *access;
	uint64_t present;
};
struct group_create {
	struct group_input input;
	/* out: */
	int64_t id;
	struct public_id public_id;
};

struct group_target {
	const char *public_id;
	int64_t if_match;
	/* out: */
	int64_t id;
};

struct group_patch {
	struct group_target target;
	struct group_input input;
};

enum res op_group_create(struct op *op, void *group_create);
enum res op_group_patch(struct op *op, void *group_patch);
enum res op_group_delete(struct op *op, void *group_target); /* members leave it; they stay users */

#endif
