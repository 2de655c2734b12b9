/* http/limiter.h – token buckets in tables of fixed size.
 *
 * A bucket belongs to a key of 16 bytes (a network, a link, a login). The table never grows: in a
 * full set the idlest bucket goes. Limits may be changed while running. Threads: any; sharded locks
 * inside, held for nanoseconds. */
#ifndef HYTHE_HTTP_LIMITER_H
#define HYTHE_HTTP_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/addr.h"
#include "hythe/util/clock.h"

struct limiter;
struct limiter *limiter_new(size_t buckets, const struct clock *clock); /* NULL: out of memory */
void limiter_free(struct limiter *limiter);
/* `burst` tokens at most, refilled over `refill_ms` (all of them). 0 burst: no limit. What was taken
 * stays taken, token by token: a raised limit helps whoever had none left at once. */
void limiter_set(struct limiter *limiter, uint32_t burst, uint32_t refill_ms);
/* Takes one token. False: none left; `retry_s` (may be NULL): when one will be there, at least 1. */
bool limiter_take(struct limiter *limiter, const uint8_t key[16], unsigned *retry_s);
bool limiter_look(struct limiter *limiter, const uint8_t key[16]); /* would a take succeed? */
void limiter_key_of_network(const struct addr *addr, uint8_t key[16]); /* IPv4 address, IPv6 /64 */

#endif
