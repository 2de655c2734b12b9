/* admin/settings.c – the settings in force, and changing them. */
#include <stddef.h>
#include <string.h>

#include "handlers_auth.h"
#include "hythe/ops/settings.h"
#include "hythe/store/settings.h"

/* When a prefix is replaced and nobody says for how long the old one goes on: people's apps ask
 * every few hours, and some phones lie in a drawer for weeks. */
#define KEEP_USUAL_S (30 * 86400)
#define KEEP_MAX_S   INT64_C(315360000) /* ten years */

struct patch_input {
	struct settings_input settings; /* first: settings_fields fills it */
	int64_t old_prefix_keep_s;
};

#define PATCH_FIELDS (SETTINGS_INPUTS + 1)
#define KEEP_BIT     (UINT64_C(1) << SETTINGS_INPUTS)

/* settings_fields and what only a change has. */
static void patch_fields(struct json_field fields[static PATCH_FIELDS])
{
	memcpy(fields, settings_fields, SETTINGS_INPUTS * sizeof *fields);
	fields[SETTINGS_INPUTS] =
		(struct json_field){.name = "old_prefix_keep_s",
				    .kind = JSON_IN_I64,
				    .offset = offsetof(struct patch_input, old_prefix_keep_s),
				    .min = 0,
				    .max = KEEP_MAX_S};
}

static void write_number(struct json_writer *w, const struct settings *settings, size_t row)
{
	char text[32];

	if (settings_print(settings, row, text, sizeof text) == RES_OK)
		json_raw(w, settings_name(row), text, strlen(text));
}

static void write_text(struct json_writer *w, const struct settings *settings, size_t row)
{
	char text[sizeof settings->public_url];

	if (settings_print(settings, row, text, sizeof text) == RES_OK)
		json_text(w, settings_name(row), text);
}

/* The old prefixes are shown while they go on; empty and 0 otherwise. */
static void settings_write(struct json_writer *w, const struct settings *settings, int64_t version,
			   int64_t now_unix)
{
	struct settings shown = *settings;

	if (shown.old_sub_prefix_until_unix <= now_unix) {
		shown.old_sub_prefix[0] = '\0';
		shown.old_sub_prefix_until_unix = 0;
	}
	if (shown.old_admin_prefix_until_unix <= now_unix) {
		shown.old_admin_prefix[0] = '\0';
		shown.old_admin_prefix_until_unix = 0;
	}
	for (size_t row = 0; row < SETTINGS_ROWS; row++) {
		if (settings_is_text(row))
			write_text(w, &shown, row);
		else
			write_number(w, &shown, row);
	}
	json_int(w, "version", version);
}

static struct reply *answer(struct call *call)
{
	const struct ops *ops = call_ops(call);
	struct settings_snapshot *snapshot = settings_take(ops->settings);
	int64_t version = snapshot->version;
	struct json_writer w;
	struct buf body;

	call_json(call, &w, &body);
	settings_write(&w, &snapshot->settings, version, call_now(call));
	settings_give(ops->settings, snapshot);
	return call_json_end(call, &w, &body, 200, version);
}

struct reply *settings_get(struct call *call)
{
	return answer(call);
}

static bool preview(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	struct settings settings;
	int64_t version;
	enum res res;

	(void)arg;
	settings_default(&settings);
	res = settings_load(conn, &settings, &version, &call->problem);
	if (res != RES_OK) {
		call_set(call, res, NULL, NULL, "The settings cannot be read.");
		return false;
	}
	settings_write(w, &settings, version, call_now(call));
	return true;
}

struct reply *settings_patch(struct call *call)
{
	struct json_field fields[PATCH_FIELDS];
	struct settings_change change = {.if_match = call->if_match};
	struct patch_input input = {0};
	struct reply *reply;
	uint64_t present;

	patch_fields(fields);
	if (!call_input(call, fields, PATCH_FIELDS, &input, &present))
		return call_problem(call);
	change.present = present & ~KEEP_BIT;
	change.keep_given = present & KEEP_BIT;
	change.old_prefix_keep_s = present & KEEP_BIT ? input.old_prefix_keep_s : KEEP_USUAL_S;
	if (settings_apply(&change.settings, &input.settings, change.present, &call->problem) !=
	    RES_OK)
		return call_problem(call);
	call->preview = preview;
	if ((reply = call_write(call, op_settings_change, &change, 200, NULL)) != NULL)
		return reply;
	return answer(call);
}
