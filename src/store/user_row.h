/* user_row.h – the columns of a whole user, for every statement of this folder that reads one.
 *
 *	"SELECT " USER_COLUMNS " FROM " USER_TABLES " WHERE u.id = ?1 AND u.deleted_unix = 0"
 * Further columns begin at USER_COLUMN_COUNT. */
#ifndef HYTHE_STORE_USER_ROW_H
#define HYTHE_STORE_USER_ROW_H

#include "hythe/model/user.h"
#include "hythe/store/conn.h"

#define USER_COLUMNS                                                                               \
	"u.id, u.public_id, u.name, ifnull(u.name_key, ''), u.display_name, u.note, u.tag, "       \
	"u.email, u.language, u.meta, u.telegram_id, ifnull(u.owner_admin_id, 0), u.enabled, "     \
	"u.served, u.state, u.created_unix, u.expires_unix, u.hold_s, u.hold_no, "                 \
	"u.hold_deadline_unix, u.first_use_unix, u.quota_bytes, u.quota_period, "                  \
	"u.quota_period_days, u.period_anchor_unix, u.device_limit, u.hwid_limit, u.plan_id, "     \
	"u.next_plan_id, u.sub_revoked_unix, u.version, u.deleted_unix, g.period_no, "             \
	"g.period_start_unix, g.period_end_unix, g.used_up_bytes, g.used_down_bytes, "             \
	"g.total_up_bytes, g.total_down_bytes, g.last_seen_unix, g.last_node_id"
#define USER_COLUMN_COUNT 41
#define USER_TABLES       "user AS u JOIN user_usage AS g ON g.user_id = u.id"

/* RES_NOMEM when the arena is full. Words that no release has written are read as their first or
 * most cautious value, so that a row changed by hand never breaks a list. */
enum res user_from_row(sqlite3_stmt *st, struct arena *arena, struct user *out);

#endif
