/* link/digest.h – the fixed layout over which records are hashed, the same on panel and node.
 *
 * LAYOUT 1. SHA-256 over: one byte of kind (1 inbound, 2 access, 3 user), then the members in the
 * order of the structs below; an integer is 8 bytes big endian (two's complement), a text or blob
 * its length as an integer and its bytes, a list its count as an integer and its items, sorted. A
 * sum is 32 bytes big endian, mod 2^256. A change of layout gets a new number; numbers are compared
 * in `hello`. Threads: any. */
#ifndef HYTHE_LINK_DIGEST_H
#define HYTHE_LINK_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_LAYOUT 1
#define DIGEST_LEN    32

struct digest_inbound {
	int64_t id;
	const char *core, *kind; /* "hysteria", "hysteria2" */
	int64_t port;            /* effective */
	const char *hop_ports;
	const char *sni; /* effective */
	const char *obfs, *obfs_password;
	int64_t obfs_min_packet_bytes, obfs_max_packet_bytes;
	const char *cert_mode;
	const char *server; /* the profile's server settings as canonical JSON */
};

struct digest_credential {
	uint8_t hash[32];
	int64_t not_after_unix;
};

struct digest_user {
	int64_t id;
	int64_t expires_unix, hold_s, hold_no, device_limit, period_no, period_start_unix,
		period_end_unix;
	bool quota_counts;
	const int64_t *groups; /* sorted by id */
	size_t group_count;
	const struct digest_credential *credentials; /* sorted by hash */
	size_t credential_count;
};

void digest_of_inbound(const struct digest_inbound *inbound, uint8_t hash[static DIGEST_LEN]);
void digest_of_access(int64_t group_id, const int64_t *inbounds, size_t count,
		      uint8_t hash[static DIGEST_LEN]);
void digest_of_user(const struct digest_user *user, uint8_t hash[static DIGEST_LEN]);
/* sum += hash x times; times may be negative. */
void digest_add(uint8_t sum[static DIGEST_LEN], const uint8_t hash[static DIGEST_LEN],
		int64_t times);

#endif
