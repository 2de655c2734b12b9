#include "hythe/model/user.h"

#include "hythe/util/num.h"

#define DAY_S 86400

const char *const user_status_words[] = {
	[USER_DISABLED] = "disabled", [USER_EXPIRED] = "expired", [USER_LIMITED] = "limited",
	[USER_ON_HOLD] = "on_hold",   [USER_ACTIVE] = "active",   [USER_STATUSES] = NULL,
};

const char *const quota_period_words[] = {
	[PERIOD_NONE] = "none",
	[PERIOD_DAY] = "day",
	[PERIOD_WEEK] = "week",
	[PERIOD_MONTH] = "month",
	[PERIOD_CALENDAR_MONTH] = "calendar_month",
	[PERIOD_YEAR] = "year",
	[PERIOD_ROLLING30] = "rolling30",
	[PERIOD_DAYS] = "days",
	[PERIOD_DAYS + 1] = NULL,
};

static bool waits_for_use(const struct user *user)
{
	return user->hold_s > 0 && user->first_use_unix == 0;
}

static bool passed(int64_t moment_unix, int64_t now_unix)
{
	return moment_unix > 0 && moment_unix <= now_unix;
}

enum user_status user_status_at(const struct user *user, int64_t now_unix)
{
	if (!user->enabled)
		return USER_DISABLED;
	if (passed(user->expires_unix, now_unix) ||
	    (waits_for_use(user) && passed(user->hold_deadline_unix, now_unix)))
		return USER_EXPIRED;
	if (user->quota_bytes > 0 && user_used_bytes(user, now_unix) >= user->quota_bytes)
		return USER_LIMITED;
	return waits_for_use(user) ? USER_ON_HOLD : USER_ACTIVE;
}

bool user_has_access(enum user_status status)
{
	return status == USER_ACTIVE || status == USER_ON_HOLD;
}

static void sooner(int64_t *next, int64_t moment_unix, int64_t now_unix)
{
	if (moment_unix > now_unix && (*next == 0 || moment_unix < *next))
		*next = moment_unix;
}

int64_t user_next_change(const struct user *user, int64_t now_unix)
{
	int64_t next = 0, days = user_days_left(user, now_unix);

	if (days > 0) /* the last day's border is the end itself */
		sooner(&next, user->expires_unix - (days - 1) * DAY_S, now_unix);
	if (waits_for_use(user))
		sooner(&next, user->hold_deadline_unix, now_unix);
	sooner(&next, user->usage.period_end_unix, now_unix);
	return next;
}

/* A counter in a row changed by hand. */
static int64_t not_negative(int64_t bytes)
{
	return bytes < 0 ? 0 : bytes;
}

int64_t user_used_bytes(const struct user *user, int64_t now_unix)
{
	if (passed(user->usage.period_end_unix, now_unix))
		return 0;
	return num_add_sat(not_negative(user->usage.used_up_bytes),
			   not_negative(user->usage.used_down_bytes));
}

int64_t user_left_bytes(const struct user *user, int64_t now_unix)
{
	int64_t used = user_used_bytes(user, now_unix);

	if (user->quota_bytes <= 0)
		return -1;
	return used < user->quota_bytes ? user->quota_bytes - used : 0;
}

int64_t user_days_left(const struct user *user, int64_t now_unix)
{
	int64_t left;

	if (user->expires_unix <= 0)
		return -1;
	if (user->expires_unix <= now_unix)
		return 0;
	left = user->expires_unix - now_unix;
	return left / DAY_S + (left % DAY_S != 0);
}
