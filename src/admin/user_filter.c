#include "user_filter.h"

#include <string.h>

#include "hythe/model/ids.h"
#include "hythe/store/groups.h"

static bool status_read(struct call *call, const char *word, int *out)
{
	*out = -1;
	if (!word)
		return true;
	for (int i = 0; user_status_words[i]; i++)
		if (strcmp(user_status_words[i], word) == 0)
			*out = i;
	if (*out >= 0)
		return true;
	call_set(call, RES_INVALID, "bad_value", "status",
		 "A status is one of disabled, expired, limited, on_hold, active.");
	return false;
}

static bool group_read(struct call *call, struct conn *conn, const char *id, int64_t *out)
{
	struct group group;
	enum res res;

	*out = 0;
	if (!id)
		return true;
	res = public_id_valid(ID_GROUP, id) ? group_by_public_id(conn, id, call->arena, &group)
					    : RES_NOT_FOUND;
	if (res == RES_OK)
		*out = group.id;
	else if (res == RES_NOT_FOUND)
		call_set(call, RES_INVALID, "unknown_group", "group",
			 "There is no group with this id.");
	else
		call_set(call, res, NULL, NULL, "The group cannot be read.");
	return res == RES_OK;
}

bool user_filter_read(struct call *call, struct conn *conn, const char *status, const char *group,
		      const char *tag, const char *q, struct user_filter *out)
{
	bool owns = call->actor->role == ROLE_RESELLER &&
		    (call->actor->kind == ACTOR_ADMIN || call->actor->kind == ACTOR_TOKEN);

	*out = (struct user_filter){.tag = tag, .q = q};
	out->owner_admin_id = owns ? call->actor->admin_id : 0;
	return status_read(call, status, &out->status) &&
	       group_read(call, conn, group, &out->group_id);
}
