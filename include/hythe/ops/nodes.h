/* ops/nodes.h – what can be done to nodes. All take `void *arg` of the type named, for op_run().
 * Refusals: name_taken (409), not_found (404), and per-field problems. */
#ifndef HYTHE_OPS_NODES_H
#define HYTHE_OPS_NODES_H

#include "hythe/model/node.h"
#include "hythe/ops/ops.h"

/* Bits of node_input.present, rows of the JSON table in this order. */
enum node_field {
	NODE_F_NAME,
	NODE_F_ADDRESS,
	NODE_F_COUNTRY,
	NODE_F_CITY,
	NODE_F_TAGS,
	NODE_F_NOTE,
	NODE_F_COST_NOTE,
	NODE_F_ENABLED,
	NODE_F_FACTOR,
	NODE_F_ALLOWANCE,
	NODE_F_RESET_DAY,
	NODE_FIELDS
};
extern const struct json_field node_fields[NODE_FIELDS]; /* fills struct node_input */

struct node_input {
	const char *name, *address, *country, *city, *note, *cost_note;
	const struct json *tags; /* array of text; replaces the set */
	bool enabled;
	int64_t usage_factor_percent, traffic_allowance_bytes, traffic_reset_day;
	uint64_t present;
};

struct node_create {
	struct node_input input;
	/* out: */
	int64_t id;
	struct public_id public_id;
};

struct node_target {
	const char *public_id;
	int64_t if_match;
	/* out: */
	int64_t id;
	int64_t inbounds, hosts; /* delete: how many go with it */
};

struct node_patch {
	struct node_target target;
	struct node_input input;
};

enum res op_node_create(struct op *op, void *node_create);
enum res op_node_patch(struct op *op, void *node_patch);
enum res op_node_delete(struct op *op, void *node_target); /* inbounds, hosts, access go too */

#endif
