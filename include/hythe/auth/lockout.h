/* auth/lockout.h – who has been wrong too often, by login or by address.
 *
 * A failure is counted before the password is looked at, and taken back when it was right, so that
 * attempts side by side cannot outrun the count. A window begins with its first failure. The table
 * is of fixed size; in a full set the entry with the fewest failures goes, so that a flood of new
 * names does not free one that is locked. Threads: any. */
#ifndef HYTHE_AUTH_LOCKOUT_H
#define HYTHE_AUTH_LOCKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/clock.h"

#define LOCKOUT_LOGIN_MAX   5  /* wrong passwords of one login */
#define LOCKOUT_ADDRESS_MAX 10 /* of one client network */
#define LOCKOUT_WINDOW_S    3600

struct lockout;
struct lockout *lockout_new(const struct clock *clock); /* NULL: out of memory */
void lockout_free(struct lockout *lockout);
/* Counts one attempt of `text` (a login's key, a network). False: `max` are used up; `retry_s` says
 * when the window ends (at least 1). */
bool lockout_enter(struct lockout *lockout, char kind, const void *text, size_t len, unsigned max,
		   unsigned *retry_s);
void lockout_take_back(struct lockout *lockout, char kind, const void *text,
		       size_t len); /* one attempt */
void lockout_clear(struct lockout *lockout, char kind, const void *text, size_t len);

#endif
