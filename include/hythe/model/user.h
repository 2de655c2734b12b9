/* model/user.h – the user: plain data, and the one rule for what state he is in.
 *
 * Text members are never NULL and live where the reader put them (an arena).
 * Threads: values; functions any. */
#ifndef HYTHE_MODEL_USER_H
#define HYTHE_MODEL_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/ids.h"

enum user_status { USER_DISABLED, USER_EXPIRED, USER_LIMITED, USER_ON_HOLD, USER_ACTIVE, USER_STATUSES };
extern const char *const user_status_words[]; /* "disabled", ...; NULL at the end */

enum quota_period {
	PERIOD_NONE, PERIOD_DAY, PERIOD_WEEK, PERIOD_MONTH, PERIOD_CALENDAR_MONTH, PERIOD_YEAR, PERIOD_ROLLING30,
	PERIOD_DAYS
};
extern const char *const quota_period_words[]; /* "none", "day", ...; NULL at the end */

struct user_usage {
	int64_t period_no, period_start_unix, period_end_unix; /* end 0: never */
	int64_t used_up_bytes, used_down_bytes, total_up_bytes, total_down_bytes;
	int64_t last_seen_unix, last_node_id;
};

struct user {
	int64_t id;
	struct public_id public_id;
	const char *name, *name_key, *display_name, *note, *tag, *email, *language;
	const char *meta;           /* JSON object */
	int64_t telegram_id;
	int64_t owner_admin_id;     /* 0: nobody's */
	bool enabled, served;
	enum user_status state;     /* the writer's last word; see user_status_at for the truth */
	int64_t created_unix, expires_unix;
	int64_t hold_s, hold_no, hold_deadline_unix, first_use_unix;
	int64_t quota_bytes;
	enum quota_period quota_period;
	int64_t quota_period_days, period_anchor_unix;
	int64_t device_limit, hwid_limit, plan_id, next_plan_id;
	int64_t sub_revoked_unix, version;
	int64_t deleted_unix;       /* 0 but for what user_any_by_id() finds */
	struct user_usage usage;
};

/* disabled over expired over limited over on_hold over active, at this second. A period that has
 * ended is taken as new (nothing used). On hold: hold_s > 0 and not used yet; the deadline makes expired. */
enum user_status user_status_at(const struct user *user, int64_t now_unix);
bool user_has_access(enum user_status status); /* active or on hold */
/* When the status or a shown figure will next change without anybody acting; 0: never. */
int64_t user_next_change(const struct user *user, int64_t now_unix);
int64_t user_used_bytes(const struct user *user, int64_t now_unix);     /* 0 once the period is over */
int64_t user_left_bytes(const struct user *user, int64_t now_unix);     /* max(0, ...); -1: unlimited */
int64_t user_days_left(const struct user *user, int64_t now_unix);      /* rounded up; -1: no end */

#endif
