/* ops/hosts.h – what can be done to hosts. All take `void *arg` of the type named, for op_run().
 * Refusals: last_host (409), not_found (404), and per-field problems. */
#ifndef HYTHE_OPS_HOSTS_H
#define HYTHE_OPS_HOSTS_H

#include "hythe/model/host.h"
#include "hythe/ops/ops.h"

/* Bits of host_input.present, rows of the JSON table in this order. */
enum host_field {
	HOST_F_INBOUND,
	HOST_F_NAME,
	HOST_F_ADDRESS,
	HOST_F_PORT,
	HOST_F_SNI,
	HOST_F_SORT_ORDER,
	HOST_F_ENABLED,
	HOST_F_HIDDEN,
	HOST_F_FORMATS,
	HOST_FIELDS
};
extern const struct json_field host_fields[HOST_FIELDS]; /* fills struct host_input */

struct host_input {
	const char *inbound; /* public id; create only */
	const char *name, *address, *sni;
	int64_t port, sort_order;
	bool enabled, hidden;
	const struct json *formats; /* array of text; empty: all */
	uint64_t present;
};

struct host_create {
	struct host_input input;
	/* out: */
	int64_t id;
	struct public_id public_id;
};

struct host_target {
	const char *public_id;
	int64_t if_match;
	/* out: */
	int64_t id;
};

struct host_patch {
	struct host_target target;
	struct host_input input;
};

enum res op_host_create(struct op *op, void *host_create);
enum res op_host_patch(struct op *op, void *host_patch);
enum res op_host_delete(struct op *op, void *host_target); /* not the inbound's last one */

#endif
