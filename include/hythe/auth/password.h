/* auth/password.h – passwords of admins: rules, argon2id hashes, verification.
 *
 * A hash is a PHC string ("$argon2id$v=19$m=19456,t=2,p=1$salt$hash"). One hash at a time in a
 * hasher, its 19 MiB by mmap and munmap, so that the process is small again afterwards (measured:
 * malloc keeps them from the second hash on). Threads: any, after hasher_new(); a second caller
 * waits for the first (some 20 ms). */
#ifndef HYTHE_AUTH_PASSWORD_H
#define HYTHE_AUTH_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/result.h"

#define PASSWORD_MIN_BYTES 10
#define PASSWORD_MAX_BYTES 256
#define PASSWORD_HASH_MAX  160 /* with its NUL */

struct hasher_cost {
	uint32_t memory_kib, passes;
};
extern const struct hasher_cost hasher_cost_usual; /* 19 MiB, t=2 */

struct hasher;
enum res hasher_new(const struct hasher_cost *cost, struct hasher **out); /* NULL: the usual cost */
void hasher_free(struct hasher *hasher);

/* 10 to 256 bytes of UTF-8 without control characters; RES_INVALID names `field` (code
 * bad_password). */
enum res password_check(const char *field, const char *password, struct problem *problem);
enum res password_hash(struct hasher *hasher, const char *password,
		       char out[static PASSWORD_HASH_MAX]);
/* RES_OK, RES_UNAUTHORIZED (wrong), RES_CORRUPT (the hash is none), RES_NOMEM. `hash` NULL (no such
 * login): the same work for nothing, then RES_UNAUTHORIZED. */
enum res password_verify(struct hasher *hasher, const char *password, const char *hash);

#endif
