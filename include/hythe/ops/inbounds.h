/* ops/inbounds.h – what can be done to inbounds. All take `void *arg` of the type named, for
 * op_run(). Refusals: inbound_exists, port_taken (409), not_found (404), and per-field problems. */
#ifndef HYTHE_OPS_INBOUNDS_H
#define HYTHE_OPS_INBOUNDS_H

#include "hythe/model/inbound.h"
#include "hythe/ops/ops.h"
#include "hythe/util/json_read.h"

/* Bits of inbound_input.present, rows of the JSON table in this order. */
enum inbound_field {
	INBOUND_F_NODE,
	INBOUND_F_PROFILE,
	INBOUND_F_MANAGED,
	INBOUND_F_ENABLED,
	INBOUND_F_PORT,
	INBOUND_F_SNI,
	INBOUND_F_CERT_PIN,
	INBOUND_F_KEY_PIN,
	INBOUND_F_CERT_PEM,
	INBOUND_FIELDS
};
extern const struct json_field inbound_fields[INBOUND_FIELDS]; /* fills struct inbound_input */

struct inbound_input {
	const char *node, *profile; /* public ids; create only */
	bool managed, enabled;
	int64_t port;                              /* 0: the profile's */
	const char *sni;                           /* "": the profile's */
	const char *cert_pin, *key_pin, *cert_pem; /* only while it is not managed */
	uint64_t present;
};

struct inbound_create {
	struct inbound_input input;
	/* out: */
	int64_t id;
	struct public_id public_id;
};

struct inbound_target {
	const char *public_id;
	int64_t if_match;
	/* out: */
	int64_t id;
};

struct inbound_patch {
	struct inbound_target target;
	struct inbound_input input;
};

enum res op_inbound_create(struct op *op, void *inbound_create); /* with its default host */
enum res op_inbound_patch(struct op *op, void *inbound_patch);
enum res op_inbound_delete(struct op *op, void *inbound_target); /* its hosts go too */

/* What a node tells of one of its inbounds. Moves no version: it is not a setting. */
struct inbound_report {
	int64_t id;
	enum inbound_state state;     /* not pending, not external */
	const char *error;            /* with failed and unreachable; else "" */
	const char *cert_pem;         /* NULL: as before; pins and end are read from it */
	struct pin cert_pin, key_pin; /* without cert_pem; unknown: as before */
	int64_t node_id;              /* 0: any; else RES_NOT_FOUND for another node's inbound */
};
enum res op_inbound_state(struct op *op, void *inbound_report);

/* --- For other operations --- */
/* As inbound_refresh() of ops/access.h, and says whether the record changed. */
enum res inbound_refresh_told(struct op *op, int64_t inbound_id, bool *changed);
/* Refuses when another inbound of the node has one of its UDP ports (RES_CONFLICT, port_taken). */
enum res inbound_ports_check(struct op *op, const struct inbound *inbound);
/* Takes it out of all records and removes its rows, without audit. */
enum res inbound_drop(struct op *op, struct inbound *inbound);

#endif
