/* model/host.h – addresses under which an inbound is offered to clients, and what a client needs of
 * one.
 *
 * `struct host` is the row as operators see it; `struct endpoint` is the host with everything that
 * it inherits from inbound, profile and node already filled in, which is what subscriptions render.
 * Text members are never NULL and live where the reader put them (an arena). Threads: values. */
#ifndef HYTHE_MODEL_HOST_H
#define HYTHE_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/ids.h"
#include "hythe/util/arena.h"
#include "hythe/util/json_read.h"
#include "hythe/util/result.h"

#define HOST_ADDRESS_MAX 253
#define HOST_FORMATS_MAX 256
#define HOST_ORDER_MAX   1000000

struct host {
	int64_t id, inbound_id;
	struct public_id public_id;
	const char *name;    /* the template's {host}; may be "" */
	const char *address; /* "": the node's */
	int64_t port;        /* 0: the inbound's */
	const char *sni;     /* "": the inbound's */
	int64_t sort_order;
	bool enabled, hidden;
	const char *formats; /* "": all; else names separated by ',' */
	int64_t created_unix, version;
};

/* One server as a subscription lists it. */
struct endpoint {
	int64_t host_id, inbound_id;
	const char *host_name; /* may be "" */
	const char *address;   /* host's or node's: a name, or an IP literal without brackets */
	int64_t port;
	const char *hop_ports; /* "" or "20000-29999,31000" */
	const char *sni;       /* host's, inbound's or profile's; may be "" */
	const char *obfs;      /* "none", "salamander", "gecko" */
	/* Its place: profile, obfs_password_sealed, profile_public_id. */
	const void *obfs_password_sealed;
	size_t obfs_password_sealed_len;
	struct public_id profile_public_id;
	const char *obfs_password; /* NULL until the reader's caller has unsealed it */
	int64_t hop_interval_s, obfs_min_packet_bytes, obfs_max_packet_bytes;
	const char *cert_mode; /* "self_signed", "acme", "file" */
	bool pinned;
	uint8_t cert_pin[32]; /* SHA-256 of the leaf */
	bool has_key_pin;
	uint8_t key_pin[32]; /* SHA-256 of its public key (SPKI) */
	const char *cert_pem;
	const char *node_name, *country, *city, *profile_name;
	const char *formats;
	int64_t sort_order;
};

/* An address that clients dial: a host name (letters, digits, hyphens; lowered, no dot at the end),
 * an IPv4 or an IPv6 literal without brackets or zone (printed the short way). What it accepts
 * comes out in one notation, so that equal addresses are equal text. `field` names the input (code
 * bad_address). */
enum res address_check(struct arena *arena, const char *field, const char *text, const char **out,
		       struct problem *problem);
/* A server name for TLS: the same without IP literals (code bad_sni); "" stays "". */
enum res sni_check(struct arena *arena, const char *field, const char *text, const char **out,
		   struct problem *problem);
/* The names of formats that a host can be bound to; sub/formats.c has a renderer for each (or, of
 * "links", several). NULL at the end. */
extern const char *const host_format_words[];
/* An array of them becomes "base64,links": sorted, each once (code bad_format); NULL, null and an
 * empty array are "", all formats. */
enum res host_formats_check(struct arena *arena, const char *field, const struct json *formats,
			    const char **out, struct problem *problem);
/* Would this label at the end of a name be read as (part of) an IPv4 address: "10", "0x1f"? */
bool host_label_is_number(const char *label, size_t len);
/* Does the list ("" or words separated by ',') hold the word? "" holds every one. */
bool host_has_format(const char *formats, const char *word);

#endif
