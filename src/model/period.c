#include "hythe/model/period.h"

#include "zone.h"

#define DAY_S 86400

/* Borders are numbered without gaps: by day, week, month or year of the calendar, or by stretches
 * of equal length from the anchor. Which border a number means is one function; the period that
 * holds a moment is found by walking from a good guess: no change of clocks can lead it astray. */
struct ruler {
	const struct zone *zone;
	enum quota_period kind;
	int64_t length_s; /* of equal stretches */
	int64_t anchor_unix;
	int month, day; /* of the anchor, local */
};

static int64_t clamped_midnight(const struct ruler *r, int64_t year, int month, int day)
{
	int last = month_days(year, month);

	return zone_midnight(r->zone, (int)year, month, day < last ? day : last);
}

static int64_t midnight_of_days(const struct ruler *r, int64_t days)
{
	int64_t year;
	int month, day;

	civil_of_days(days, &year, &month, &day);
	return zone_midnight(r->zone, (int)year, month, day);
}

static int64_t border(const struct ruler *r, int64_t no)
{
	switch (r->kind) {
	case PERIOD_NONE:
		return r->anchor_unix;
	case PERIOD_DAY:
		return midnight_of_days(r, no);
	case PERIOD_WEEK:
		return midnight_of_days(r, no * 7 + 4); /* 1970-01-05 was a Monday */
	case PERIOD_MONTH:
	case PERIOD_CALENDAR_MONTH:
		return clamped_midnight(r, no / 12, (int)(no % 12) + 1, r->day);
	case PERIOD_YEAR:
		return clamped_midnight(r, no, r->month, r->day);
	case PERIOD_ROLLING30:
	case PERIOD_DAYS:
		break;
	}
	return r->anchor_unix + no * r->length_s;
}

static int64_t guess(const struct ruler *r, int64_t now_unix)
{
	struct local_time local;
	int64_t days;

	zone_local(r->zone, now_unix, &local);
	days = civil_days(local.year, local.month, local.day);
	switch (r->kind) {
	case PERIOD_NONE:
		return 0;
	case PERIOD_DAY:
		return days;
	case PERIOD_WEEK:
		return (days - 4) / 7;
	case PERIOD_MONTH:
	case PERIOD_CALENDAR_MONTH:
		return (int64_t)local.year * 12 + local.month - 1;
	case PERIOD_YEAR:
		return local.year;
	case PERIOD_ROLLING30:
	case PERIOD_DAYS:
		break;
	}
	return (now_unix - r->anchor_unix) / r->length_s;
}

struct period period_at(const struct zone *zone, enum quota_period kind, int64_t days,
			int64_t anchor_unix, int64_t now_unix)
{
	struct ruler r = {.zone = zone, .kind = kind, .anchor_unix = anchor_unix};
	struct local_time anchor;
	int64_t no;

	if (kind == PERIOD_NONE)
		return (struct period){anchor_unix, 0};
	zone_local(zone, anchor_unix, &anchor);
	r.month = anchor.month;
	r.day = kind == PERIOD_CALENDAR_MONTH ? 1 : anchor.day;
	r.length_s = (kind == PERIOD_DAYS && days > 0 ? days : 30) * DAY_S;
	no = guess(&r, now_unix);
	while (border(&r, no) > now_unix)
		no--;
	while (border(&r, no + 1) <= now_unix)
		no++;
	return (struct period){border(&r, no), border(&r, no + 1)};
}

struct period user_period_at(const struct zone *zone, const struct user *user, int64_t now_unix)
{
	const struct user_usage *usage = &user->usage;
	struct period period;

	if (usage->period_end_unix == 0 || usage->period_end_unix > now_unix)
		return (struct period){usage->period_start_unix, usage->period_end_unix};
	period = period_at(zone, user->quota_period, user->quota_period_days,
			   user->period_anchor_unix, now_unix);
	/* Periods of one user follow each other, also after a move to another time zone. */
	if (period.start_unix < usage->period_end_unix)
		period.start_unix = usage->period_end_unix;
	return period;
}
