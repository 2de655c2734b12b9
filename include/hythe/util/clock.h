/* util/clock.h – time is handed in, so that tests can move it. Threads: any. */
#ifndef HYTHE_UTIL_CLOCK_H
#define HYTHE_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

struct clock {
	int64_t (*wall_ms)(void *ctx); /* since 1970, UTC */
	int64_t (*mono_ms)(void *ctx); /* never goes back */
	void *ctx;
};

extern const struct clock clock_system;
int64_t clock_unix(const struct clock *clock); /* whole seconds */
int64_t clock_wall_ms(const struct clock *clock);
int64_t clock_mono_ms(const struct clock *clock);
/* The end of a wait that begins now, for a condition on CLOCK_MONOTONIC: mono_ms is another clock
 * (see clock.c) and must not be waited for by its value. */
struct timespec clock_wait_end(int64_t wait_ms);

/* For tests: starts where it is told and moves only when told. */
struct clock_fake {
	int64_t wall_ms, mono_ms;
};
struct clock clock_of_fake(struct clock_fake *fake);

#endif
