#include "render.h"

#include <string.h>

#include "hythe/model/period.h"
#include "hythe/ops/users.h"
#include "hythe/store/users.h"
#include "hythe/sub/sub.h"

/* Longer than any answer needs; a hand-changed row must not make an answer that is no JSON. */
static void put_meta(struct json_writer *w, const char *meta, struct arena *arena)
{
	size_t len = strlen(meta);
	char *copy = arena_dup(arena, meta, len);
	struct json_doc *doc = NULL;

	if (copy && json_parse(copy, len, &doc, NULL) == RES_OK &&
	    json_root(doc)->type == JSON_OBJECT)
		json_raw(w, "meta", meta, len);
	else
		json_raw(w, "meta", "{}", 2);
	json_free(doc);
}

/* -1 stands for "no end" and "no limit" in the model; in JSON that is null. */
static void put_or_null(struct json_writer *w, const char *name, int64_t value)
{
	if (value < 0)
		json_null(w, name);
	else
		json_int(w, name, value);
}

/* The period that counts now: the stored one, or the next when its end has passed and no timer
 * came. */
static struct user_usage usage_now(const struct user *user, const struct zone *zone, int64_t now)
{
	struct user_usage usage = user->usage;

	if (usage.period_end_unix > 0 && usage.period_end_unix <= now) {
		struct period period = period_at(zone, user->quota_period, user->quota_period_days,
						 user->period_anchor_unix, now);

		usage.period_no++;
		usage.period_start_unix = period.start_unix;
		usage.period_end_unix = period.end_unix;
		usage.used_up_bytes = usage.used_down_bytes = 0;
	}
	return usage;
}

static void put_usage(struct json_writer *w, const struct user *user, const struct zone *zone,
		      int64_t now)
{
	struct user_usage usage = usage_now(user, zone, now);

	json_object(w, "usage");
	json_int(w, "used_bytes", user_used_bytes(user, now));
	json_int(w, "used_up_bytes", usage.used_up_bytes);
	json_int(w, "used_down_bytes", usage.used_down_bytes);
	put_or_null(w, "left_bytes", user_left_bytes(user, now));
	json_int(w, "total_up_bytes", usage.total_up_bytes);
	json_int(w, "total_down_bytes", usage.total_down_bytes);
	json_int(w, "period_no", usage.period_no);
	json_int(w, "period_start_unix", usage.period_start_unix);
	json_int(w, "period_end_unix", usage.period_end_unix);
	json_int(w, "last_seen_unix", usage.last_seen_unix);
	json_end(w);
}

static void put_settings(struct json_writer *w, const struct user *user)
{
	json_flag(w, "enabled", user->enabled);
	json_int(w, "created_unix", user->created_unix);
	json_int(w, "expires_unix", user->expires_unix);
	json_int(w, "hold_s", user->hold_s);
	json_int(w, "hold_deadline_unix", user->hold_deadline_unix);
	json_int(w, "first_use_unix", user->first_use_unix);
	json_int(w, "quota_bytes", user->quota_bytes);
	json_text(w, "quota_period", quota_period_words[user->quota_period]);
	json_int(w, "quota_period_days", user->quota_period_days);
	json_int(w, "device_limit", user->device_limit);
	json_int(w, "hwid_limit", user->hwid_limit);
	json_int(w, "link_rotated_unix", user->sub_revoked_unix);
}

static void put_texts(struct json_writer *w, const struct user *user)
{
	json_text(w, "id", user->public_id.text);
	json_text(w, "name", user->name);
	json_text(w, "display_name", user->display_name);
	json_text(w, "note", user->note);
	json_text(w, "tag", user->tag);
	json_text(w, "email", user->email);
	json_int(w, "telegram_id", user->telegram_id);
	json_text(w, "language", user->language);
}

static void put_ref(struct json_writer *w, const struct public_id *id, const char *name)
{
	json_object(w, NULL);
	json_text(w, "id", id->text);
	json_text(w, "name", name);
	json_end(w);
}

static enum res put_sets(struct conn *conn, int64_t user_id, struct arena *arena,
			 struct json_writer *w)
{
	struct user_ref *groups;
	struct user_ref *nodes;
	size_t count;
	enum res res;

	if ((res = user_groups(conn, user_id, arena, &groups, &count)) != RES_OK)
		return res;
	json_array(w, "groups");
	for (size_t i = 0; i < count; i++)
		put_ref(w, &groups[i].public_id, groups[i].name);
	json_end(w);
	if ((res = user_excluded_nodes(conn, user_id, arena, &nodes, &count)) != RES_OK)
		return res;
	json_array(w, "excluded_nodes");
	for (size_t i = 0; i < count; i++)
		put_ref(w, &nodes[i].public_id, nodes[i].name);
	json_end(w);
	return RES_OK;
}

bool render_link(struct call *call, struct conn *conn, const struct settings *settings,
		 const struct user *user, struct arena *arena, struct buf *out)
{
	struct user_link link;
	struct buf token;
	enum res res = user_link_sealed(conn, user->id, arena, &link);

	buf_init(&token, 64);
	if (res == RES_OK)
		res = user_link_token(call_ops(call)->vault, &user->public_id, link.sealed,
				      link.sealed_len, &token);
	if (res == RES_OK && !sub_link(settings, token.data, out))
		res = RES_NOMEM;
	buf_free_secret(&token);
	if (res != RES_OK)
		call_set(call, res, NULL, NULL, "The user's link cannot be read.");
	return res == RES_OK;
}

static bool put_link(struct call *call, struct conn *conn, const struct settings *settings,
		     const struct user *user, struct arena *arena, struct json_writer *w)
{
	struct buf link;
	bool good;

	buf_init(&link, 1024);
	good = render_link(call, conn, settings, user, arena, &link);
	if (good)
		json_text_n(w, "link", link.data, link.len);
	else if (call->problem.res == RES_CORRUPT || call->problem.res == RES_NOT_FOUND) {
		/* One damaged row must not take the whole list with it. */
		call->problem = (struct problem){0};
		json_null(w, "link");
		good = true;
	}
	buf_free_secret(&link);
	return good;
}

bool render_user(struct call *call, struct conn *conn, const struct settings_snapshot *snapshot,
		 const struct user *user, struct arena *arena, struct json_writer *w)
{
	int64_t now = call_now(call);
	enum res res;

	put_texts(w, user);
	put_meta(w, user->meta, arena);
	json_text(w, "status", user_status_words[user_status_at(user, now)]);
	put_or_null(w, "days_left", user_days_left(user, now));
	put_settings(w, user);
	put_usage(w, user, snapshot->zone, now);
	if ((res = put_sets(conn, user->id, arena, w)) != RES_OK) {
		call_set(call, res, NULL, NULL, "The user's groups cannot be read.");
		return false;
	}
	if (call_may(call, RIGHT_SECRETS) &&
	    !put_link(call, conn, &snapshot->settings, user, arena, w))
		return false;
	json_int(w, "version", user->version);
	return true;
}

static void put_access(struct json_writer *w, const struct group_access *access)
{
	json_object(w, NULL);
	json_text(w, "profile", access->profile_public_id.text);
	json_text(w, "profile_name", access->profile_name);
	switch (access->scope) {
	case ACCESS_ALL:
	case ACCESS_SCOPES:
		json_text(w, "nodes", "all");
		break;
	case ACCESS_NODE:
		json_text(w, "node", access->node_public_id.text);
		json_text(w, "node_name", access->node_name);
		break;
	case ACCESS_TAG:
		json_text(w, "tag", access->tag);
		break;
	}
	json_end(w);
}

bool render_group(struct call *call, struct conn *conn, const struct group *group,
		  struct json_writer *w)
{
	struct group_access *access;
	size_t count;
	int64_t members;
	enum res res;

	if ((res = group_access_list(conn, group->id, call->arena, &access, &count)) != RES_OK ||
	    (res = group_member_count(conn, group->id, &members)) != RES_OK) {
		call_set(call, res, NULL, NULL, "The group cannot be read.");
		return false;
	}
	json_text(w, "id", group->public_id.text);
	json_text(w, "name", group->name);
	json_text(w, "note", group->note);
	json_array(w, "access");
	for (size_t i = 0; i < count; i++)
		put_access(w, &access[i]);
	json_end(w);
	json_int(w, "members", members);
	json_int(w, "created_unix", group->created_unix);
	json_int(w, "version", group->version);
	return true;
}
