/* admin/health.c – is the panel well: a word for everybody, figures for who is signed in. */
#include "handlers.h"
#include "hythe/store/store.h"
#include "module.h"

static bool figures(struct call *call, struct json_writer *w)
{
	const struct admin_config *config = &call->admin->config;
	struct conn *conn = call_read(call);
	int64_t last = 0, floor;
	enum res res;

	if (!conn)
		return false;
	res = store_revision(conn, &last, &floor);
	store_read_end(conn);
	if (res != RES_OK) {
		call_set(call, res, NULL, NULL, "The database cannot be read now.");
		return false;
	}
	json_text(w, "version", config->version);
	json_int(w, "revision", last);
	json_int(w, "uptime_s", call_now(call) - call->admin->started_unix);
	json_int(w, "private_bytes",
		 config->private_bytes ? config->private_bytes(config->ctx) : 0);
	return true;
}

struct reply *health_get(struct call *call)
{
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	json_text(&w, "status", "ok");
	if (call->actor->kind != ACTOR_NOBODY && !figures(call, &w))
		return call_json_fail(call, &body);
	return call_json_end(call, &w, &body, 200, 0);
}
