/* ops/profiles.h – what can be done to profiles. All take `void *arg` of the type named, for
 * op_run(). Refusals: name_taken, in_use, port_taken (409), secrets_needed (403), not_found (404),
 * and per-field problems. */
#ifndef HYTHE_OPS_PROFILES_H
#define HYTHE_OPS_PROFILES_H

#include "hythe/model/profile.h"
#include "hythe/ops/ops.h"

/* Bits of profile_input.present, rows of the JSON table in this order. */
enum profile_field {
	PROFILE_F_NAME,
	PROFILE_F_NOTE,
	PROFILE_F_PORT,
	PROFILE_F_HOP_PORTS,
	PROFILE_F_HOP_INTERVAL,
	PROFILE_F_OBFS,
	PROFILE_F_OBFS_PASSWORD,
	PROFILE_F_OBFS_MIN_PACKET,
	PROFILE_F_OBFS_MAX_PACKET,
	PROFILE_F_CERT_MODE,
	PROFILE_F_SNI,
	PROFILE_F_SERVER,
	PROFILE_FIELDS
};
extern const struct json_field profile_fields[PROFILE_FIELDS]; /* fills struct profile_input */

struct profile_input {
	const char *name, *note;
	int64_t port;
	const char *hop_ports;
	int64_t hop_interval_s;
	int obfs;                  /* enum obfs */
	const char *obfs_password; /* NULL although present: a new one is made at random */
	int64_t obfs_min_packet_bytes, obfs_max_packet_bytes;
	int cert_mode; /* enum cert_mode */
	const char *sni;
	const struct json *server; /* members put in place at the top level; null takes one away */
	uint64_t present;
};

struct profile_create {
	struct profile_input input;
	/* out: */
	int64_t id;
	struct public_id public_id;
};

struct profile_target {
	const char *public_id;
	int64_t if_match;
	/* out: */
	int64_t id;
};

struct profile_patch {
	struct profile_target target;
	struct profile_input input;
};

enum res op_profile_create(struct op *op, void *profile_create);
enum res op_profile_patch(struct op *op, void *profile_patch);
enum res op_profile_delete(struct op *op, void *profile_target); /* in_use: an inbound has it */

/* Opens the sealed members of a profile as read; clear text lives in the arena. For readers too. */
enum res profile_unseal(const struct vault *vault, struct profile *profile, struct arena *arena);

#endif
