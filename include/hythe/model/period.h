/* model/period.h – where a quota's period begins and ends.
 *
 * `day`, `week`, `month`, `calendar_month` and `year` follow the panel's time zone; `month` and
 * `year` are anchored at the user's anchor day (the 31st resets on the last day of shorter months,
 * and on the 31st again after); `calendar_month` begins on the 1st, `week` on Monday; `rolling30`
 * and `days` are multiples of 24 h from the anchor. Borders are local midnight for the calendar
 * kinds. The zone is a name of the system's tz database, opened without touching TZ or the
 * process's own. Threads: a `struct zone` is read only once loaded. */
#ifndef HYTHE_MODEL_PERIOD_H
#define HYTHE_MODEL_PERIOD_H

#include <stdint.h>

#include "hythe/model/user.h"
#include "hythe/util/result.h"

struct zone;
enum res zone_load(const char *name, struct zone **out); /* RES_NOT_FOUND; "UTC" always works */
void zone_free(struct zone *zone);
/* Local date and time of day. */
struct local_time {
	int year, month, day, hour, minute, second, weekday; /* month 1-12; weekday 0 = Monday */
};
void zone_local(const struct zone *zone, int64_t unix_s, struct local_time *out);
/* First second of that local day. */
int64_t zone_midnight(const struct zone *zone, int year, int month, int day);

struct period {
	int64_t start_unix, end_unix; /* end 0: never */
};
/* The period that holds `now`. */
struct period period_at(const struct zone *zone, enum quota_period kind, int64_t days,
			int64_t anchor_unix, int64_t now_unix);

/* The period that a user's quota counts for at `now`, whatever the writer has stored yet: what is
 * shown as next reset and what the writer stores at it are this one function. */
struct period user_period_at(const struct zone *zone, const struct user *user, int64_t now_unix);

#endif
