/* model/profile.h – a Hysteria2 server setup with a name: plain data and the rules on it.
 *
 * What clients and the panel need stands in members of its own; what only the server reads
 * (masquerade, bandwidth, QUIC, ACME, ...) is one JSON object, checked key by key here, because
 * Hysteria ignores unknown keys without a word, and kept in one canonical form: members sorted, no
 * blanks. Text members are never NULL and live where the reader put them (an arena). Threads:
 * values. */
#ifndef HYTHE_MODEL_PROFILE_H
#define HYTHE_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/ids.h"
#include "hythe/util/arena.h"
#include "hythe/util/buf.h"
#include "hythe/util/json_read.h"
#include "hythe/util/result.h"

enum obfs { OBFS_NONE, OBFS_SALAMANDER, OBFS_GECKO };
extern const char *const obfs_words[]; /* "none", ...; NULL at the end */
enum cert_mode { CERT_SELF_SIGNED, CERT_ACME, CERT_FILE };
extern const char *const cert_mode_words[];

#define HOP_RANGES_MAX         28 /* what Mihomo reads at most */
#define HOP_TEXT_MAX           512
#define HOP_INTERVAL_MIN_S     5
#define HOP_INTERVAL_MAX_S     86400
#define OBFS_PASSWORD_MIN      4
#define OBFS_PASSWORD_MAX      128
#define OBFS_PASSWORD_RANDOM   24 /* length of one made at random */
#define OBFS_PACKET_MAX        2048
#define GECKO_MIN_PACKET_BYTES 512
#define GECKO_MAX_PACKET_BYTES 1200
#define SERVER_TEXT_MAX        16384 /* canonical server settings */

struct profile {
	int64_t id;
	struct public_id public_id;
	const char *kind; /* "hysteria2" */
	const char *name, *name_key, *note;
	int64_t port;
	const char *hop_ports; /* "" or "20000-29999,31000" */
	int64_t hop_interval_s;
	enum obfs obfs;
	const char *obfs_password; /* in clear, once unsealed; "" with OBFS_NONE */
	int64_t obfs_min_packet_bytes, obfs_max_packet_bytes; /* 0 but with OBFS_GECKO */
	enum cert_mode cert_mode;
	const char *sni;
	const char *server; /* canonical JSON, once unsealed */
	const void *obfs_password_sealed, *server_sealed;
	size_t obfs_password_sealed_len, server_sealed_len;
	int64_t created_unix, version;
	int64_t inbound_count; /* filled by readers of lists */
};

/* UDP ports as sorted ranges that neither overlap nor touch. */
struct port_range {
	uint16_t from, to;
};

struct port_set {
	struct port_range ranges[HOP_RANGES_MAX + 1];
	size_t count;
};

/* "20000-29999,31000" in any order; "" is no hopping. Blanks, reversed and overlapping ranges are
 * refused (bad_hop_ports). */
enum res hop_ports_check(struct arena *arena, const char *field, const char *text, const char **out,
			 struct problem *problem);
/* The main port and its hop ranges (in the form that hop_ports_check made) as one set. */
void port_set_of(int64_t port, const char *hop_ports, struct port_set *out);
/* The lowest port that both hold; 0: none. */
uint16_t port_set_common(const struct port_set *a, const struct port_set *b);

void obfs_password_random(char out[static OBFS_PASSWORD_RANDOM + 1]);
/* The rules between members (obfuscation and its sizes, certificate mode and server settings). */
enum res profile_check(const struct profile *profile, struct problem *problem);

/* Appends the canonical server settings made of `base` (canonical or NULL) with the members of
 * `patch` (an object, or NULL) put in place at the top level; null takes one away. Refusals name
 * the member with `field` before it: "server.acme.domains[1]". */
enum res server_merge(const char *field, const struct json *base, const struct json *patch,
		      struct buf *out, struct problem *problem);
/* Appends settings for people without the right to secrets: passwords and tokens left out. */
enum res server_print_public(const struct json *server, struct buf *out);
/* The first member of `base` with a secret in it that `patch` puts another value in the place of: one
 * who saw it without its secret would lose that unawares. Taking it away with null is said aloud, so
 * it does not count. NULL: there is none. */
const char *server_secret_lost(const struct json *base, const struct json *patch);

#endif
