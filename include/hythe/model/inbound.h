/* model/inbound.h – one profile placed on one node: plain data and the rules on it.
 *
 * Text members are never NULL and live where the reader put them (an arena). Threads: values. */
#ifndef HYTHE_MODEL_INBOUND_H
#define HYTHE_MODEL_INBOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/ids.h"
#include "hythe/util/arena.h"
#include "hythe/util/result.h"

enum inbound_state {
	INBOUND_PENDING, /* never told of by its node */
	INBOUND_RUNNING,
	INBOUND_STOPPED,
	INBOUND_FAILED,
	INBOUND_UNREACHABLE, /* runs, but does not answer from outside */
	INBOUND_EXTERNAL     /* not managed: nobody tells us */
};
extern const char *const inbound_state_words[]; /* "pending", ...; NULL at the end */

#define PIN_LEN         32
#define PIN_TEXT_MAX    95 /* 64 hex digits with a colon between bytes */
#define CERT_PEM_MAX    8192
#define STATE_ERROR_MAX 512

struct pin {
	bool known;
	uint8_t bytes[PIN_LEN];
};

struct inbound {
	int64_t id;
	struct public_id public_id;
	int64_t node_id, profile_id;
	const char *core; /* "hysteria" */
	bool managed, enabled;
	int64_t port;    /* 0: the profile's */
	const char *sni; /* "": the profile's */
	enum inbound_state state;
	const char *state_error;
	int64_t state_since_unix, first_run_unix, last_ok_unix;
	struct pin cert_pin; /* SHA-256 of the leaf */
	struct pin key_pin;  /* SHA-256 of its public key (SPKI) */
	const char *cert_pem;
	int64_t cert_not_after_unix;
	int64_t created_unix, version;
	bool recorded; /* the node holds a record of it, with this hash */
	uint8_t record_hash[32];
	/* Of profile and node, filled by the reader. */
	bool node_open; /* enabled and not retired */
	struct public_id node_public_id, profile_public_id;
	const char *node_name, *profile_name;
	int64_t profile_port;
	const char *profile_hop_ports, *profile_sni;
	bool self_signed; /* clients must be told a pin */
};

int64_t inbound_port(const struct inbound *inbound);    /* effective */
const char *inbound_sni(const struct inbound *inbound); /* effective; may be "" */

/* Does its node hold a record of it: managed, switched on, on a node that is open. */
bool inbound_counts(const struct inbound *inbound);

/* A SHA-256 as people paste it: 64 hex digits of either case, with or without colons between bytes,
 * or base64 or base64url of 32 bytes; "" is no pin. One notation comes out whatever went in
 * (bad_pin). */
enum res pin_parse(const char *field, const char *text, struct pin *out, struct problem *problem);
#define PIN_HEX_SIZE (PIN_LEN * 2 + 1)
void pin_print(const struct pin *pin, char out[static PIN_HEX_SIZE]); /* "" when unknown */

/* What one certificate in PEM says of itself (code bad_certificate). */
struct cert_facts {
	struct pin cert_pin, key_pin;
	int64_t not_after_unix;
};
enum res cert_read(const char *field, const char *pem, struct cert_facts *out,
		   struct problem *problem);

#endif
