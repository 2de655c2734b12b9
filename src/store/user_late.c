/* store/user_late.c – whom the clock has changed since the timer last ran: by the timer's own index
 * ranges, so the cost is that of what it has not done yet. */
#include <stdlib.h>

#include "hythe/store/users.h"
#include "user_find.h"

#define LATE_MAX 20000 /* the timer is far behind then, and the next page is right again */

typedef bool (*late_fn)(void *ctx, const struct user *user, enum user_status now);

static enum res late_one(struct conn *conn, int64_t id, int64_t now_unix, late_fn each, void *ctx)
{
	struct arena arena;
	struct user user;
	enum res res;

	arena_init(&arena, 64 << 10);
	res = user_by_id(conn, id, &arena, &user);
	if (res == RES_OK) {
		enum user_status now = user_status_at(&user, now_unix);

		if (now != user.state && !each(ctx, &user, now))
			res = RES_NOMEM;
	}
	arena_free(&arena);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

/* One who is due for two reasons is told once. */
static enum res late_list(struct conn *conn, const int64_t *ids, size_t count, int64_t now_unix,
			  struct id_set *done, late_fn each, void *ctx)
{
	enum res res = RES_OK;

	for (size_t i = 0; res == RES_OK && i < count; i++) {
		if (id_set_has(done, ids[i]))
			continue;
		res = id_set_add(done, ids[i]) ? late_one(conn, ids[i], now_unix, each, ctx)
					       : RES_NOMEM;
	}
	return res;
}

enum res user_late_each(struct conn *conn, int64_t now_unix, late_fn each, void *ctx)
{
	static const enum user_due dues[] = {USER_DUE_END, USER_DUE_HOLD, USER_DUE_PERIOD};
	int64_t *ids = malloc(LATE_MAX * sizeof *ids);
	struct id_set done = {0};
	enum res res = ids ? RES_OK : RES_NOMEM;

	for (size_t d = 0; res == RES_OK && d < sizeof dues / sizeof *dues; d++) {
		size_t count = 0;

		res = users_due(conn, dues[d], now_unix, ids, LATE_MAX, &count);
		if (res == RES_OK)
			res = late_list(conn, ids, count, now_unix, &done, each, ctx);
	}
	id_set_free(&done);
	free(ids);
	return res;
}
