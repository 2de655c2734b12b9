#include "hythe/util/clock.h"

#include <stddef.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
	struct timespec now = {0};

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_wall_ms(void *ctx)
{
	(void)ctx;
	return read_ms(CLOCK_REALTIME);
}

/* The boot clock: unlike CLOCK_MONOTONIC it counts the time a machine was suspended, so a deadline
 * that passed meanwhile is seen to have passed. */
static int64_t system_mono_ms(void *ctx)
{
	(void)ctx;
	return read_ms(CLOCK_BOOTTIME);
}

const struct clock clock_system = {.wall_ms = system_wall_ms, .mono_ms = system_mono_ms};

struct timespec clock_wait_end(int64_t wait_ms)
{
	int64_t end_ms = read_ms(CLOCK_MONOTONIC) + (wait_ms > 0 ? wait_ms : 0);

	return (struct timespec){.tv_sec = (time_t)(end_ms / 1000),
				 .tv_nsec = (long)(end_ms % 1000) * 1000000};
}

int64_t clock_wall_ms(const struct clock *clock)
{
	return clock->wall_ms(clock->ctx);
}

int64_t clock_mono_ms(const struct clock *clock)
{
	return clock->mono_ms(clock->ctx);
}

int64_t clock_unix(const struct clock *clock)
{
	int64_t ms = clock_wall_ms(clock);

	return ms / 1000 - (ms % 1000 < 0);
}

static int64_t fake_wall_ms(void *ctx)
{
	const struct clock_fake *fake = ctx;

	return fake->wall_ms;
}

static int64_t fake_mono_ms(void *ctx)
{
	const struct clock_fake *fake = ctx;

	return fake->mono_ms;
}

struct clock clock_of_fake(struct clock_fake *fake)
{
	return (struct clock){.wall_ms = fake_wall_ms, .mono_ms = fake_mono_ms, .ctx = fake};
}
