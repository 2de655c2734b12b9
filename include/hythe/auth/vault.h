/* auth/vault.h – the master key, and sealing of what must not lie open in the database.
 *
 * AES-256-GCM with a random nonce. A sealed value is version (1), key id (4), nonce (12),
 * ciphertext, tag (16), and is bound to where it stands: table, column and the row's public id
 * (credentials: the user's, and the hash), so that a value moved to another row does not open.
 * Threads: any, after opening. */
#ifndef HYTHE_AUTH_VAULT_H
#define HYTHE_AUTH_VAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/buf.h"
#include "hythe/util/result.h"

#define SEAL_OVERHEAD 33

struct vault;
struct seal_place {
	const char *table, *column, *public_id;
	const void *extra; /* credentials: the hash; else NULL */
	size_t extra_len;
};

/* Reads DATA/master.key: 32 bytes, 0600 or stricter, and our own; `create` makes it first. */
enum res vault_open(const char *path, bool create, struct vault **out, struct problem *problem);
void vault_free(struct vault *vault);
enum res vault_seal(const struct vault *vault, const struct seal_place *place, const void *data,
		    size_t len, struct buf *sealed);
/* RES_CORRUPT: not sealed by this key for this place. `plain` gets a NUL behind. */
enum res vault_open_sealed(const struct vault *vault, const struct seal_place *place,
			   const void *sealed, size_t len, struct buf *plain);

/* HMAC-SHA256 of a digest under the master key, for `purpose`: what may lie in the database where a bare
 * hash would let somebody try passwords against it. */
void vault_mac(const struct vault *vault, const char *purpose, const uint8_t digest[static 32],
	       uint8_t mac[static 32]);

#endif
