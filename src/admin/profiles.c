/* admin/profiles.c – profiles of the admin API. */
#include <string.h>

#include "handlers_nodes.h"
#include "hythe/ops/profiles.h"
#include "hythe/store/profiles.h"
#include "resource.h"

static const char *const sorts[] = {"name", NULL};

/* Without the right to secrets what may be one is left out, and the answer says that it is. */
static bool write_server(struct call *call, struct json_writer *w, const struct profile *profile)
{
	struct json_doc *doc = NULL;
	struct buf text;
	size_t len = strlen(profile->server);
	char *copy = arena_dup(call->arena, profile->server, len);
	bool ok;

	if (call_may(call, RIGHT_SECRETS)) {
		json_raw(w, "server", profile->server, len);
		return true;
	}
	buf_init(&text, SERVER_TEXT_MAX * 2);
	ok = copy && json_parse(copy, len, &doc, NULL) == RES_OK &&
	     server_print_public(json_root(doc), &text) == RES_OK;
	if (ok)
		json_raw(w, "server", text.data, text.len);
	json_free(doc);
	buf_free(&text);
	return ok || resource_read(call, RES_CORRUPT, "profile");
}

static void write_obfs(struct call *call, struct json_writer *w, const struct profile *profile)
{
	json_text(w, "obfs", obfs_words[profile->obfs]);
	if (profile->obfs == OBFS_NONE)
		json_null(w, "obfs_password");
	else if (call_may(call, RIGHT_SECRETS))
		json_text(w, "obfs_password", profile->obfs_password);
	resource_number(w, "obfs_min_packet_bytes", profile->obfs_min_packet_bytes);
	resource_number(w, "obfs_max_packet_bytes", profile->obfs_max_packet_bytes);
}

static bool write_profile(struct call *call, struct json_writer *w, struct profile *profile)
{
	enum res res = profile_unseal(call_ops(call)->vault, profile, call->arena);
	bool damaged = res == RES_CORRUPT;

	/* A row that somebody damaged must not take the whole list with it. */
	if (damaged) {
		profile->obfs_password = "";
		profile->server = "{}";
	} else if (!resource_read(call, res, "profile")) {
		return false;
	}
	json_text(w, "id", profile->public_id.text);
	json_text(w, "name", profile->name);
	json_text(w, "kind", profile->kind);
	json_text(w, "note", profile->note);
	json_int(w, "port", profile->port);
	json_text(w, "hop_ports", profile->hop_ports);
	json_int(w, "hop_interval_s", profile->hop_interval_s);
	write_obfs(call, w, profile);
	json_text(w, "cert_mode", cert_mode_words[profile->cert_mode]);
	json_text(w, "sni", profile->sni);
	if (!write_server(call, w, profile))
		return false;
	json_flag(w, "damaged", damaged);
	json_flag(w, "secrets_hidden", !call_may(call, RIGHT_SECRETS));
	json_int(w, "inbounds", profile->inbound_count);
	json_int(w, "created_unix", profile->created_unix);
	json_int(w, "version", profile->version);
	return true;
}

static bool write_by_id(struct call *call, struct conn *conn, struct json_writer *w,
			const char *public_id, int64_t *version)
{
	struct profile profile;
	enum res res = profile_by_public_id(conn, public_id, call->arena, &profile);

	if (!resource_read(call, res, "profile"))
		return false;
	*version = profile.version;
	return write_profile(call, w, &profile);
}

static bool write_list(struct call *call, struct conn *conn, struct json_writer *w,
		       const struct list_query *query, struct page *page)
{
	struct profile *list;
	size_t count, shown;
	int64_t total;

	if (!resource_read(call, profile_list(conn, page, call->arena, &list, &count), "list"))
		return false;
	shown = count > (size_t)query->limit ? (size_t)query->limit : count;
	json_array(w, "items");
	for (size_t i = 0; i < shown; i++) {
		json_object(w, NULL);
		if (!write_profile(call, w, &list[i]))
			return false;
		json_end(w);
	}
	json_end(w);
	call_next_cursor(call, w, query,
			 shown < count ? &(struct cursor){.text = list[shown - 1].name_key} : NULL);
	if (!query->total)
		return true;
	if (!resource_read(call, profile_total(conn, page, &total), "list"))
		return false;
	json_int(w, "total", total);
	return true;
}

struct reply *profiles_list(struct call *call)
{
	struct page page = {.tag = ""};
	struct list_query query;
	struct cursor cursor;
	struct json_writer w;
	struct conn *conn;
	struct buf body;
	bool ok;

	if (!call_list_query(call, sorts, NULL, &query) ||
	    !call_cursor_read(call, &query, &cursor) || !resource_key(call, &query, &page.q) ||
	    !(conn = call_read(call)))
		return call_problem(call);
	page.after = cursor.text;
	page.down = query.sort[0] == '-';
	page.limit = query.limit + 1;
	call_json(call, &w, &body);
	ok = write_list(call, conn, &w, &query, &page);
	store_read_end(conn);
	return ok ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}

static const struct resource resource = {
	.write = write_by_id,
	.fields = profile_fields,
	.field_count = PROFILE_FIELDS,
	.create = op_profile_create,
	.patch = op_profile_patch,
	.remove = op_profile_delete,
};

struct reply *profiles_create(struct call *call)
{
	struct profile_create create = {0};

	return resource_create(call, &resource, &create, &create.input, &create.input.present,
			       create.public_id.text);
}

struct reply *profiles_get(struct call *call)
{
	return resource_answer(call, resource.write, call->id, 200);
}

struct reply *profiles_patch(struct call *call)
{
	struct profile_patch patch = {.target = {.public_id = call->id, .if_match = call->if_match}};

	return resource_patch(call, &resource, &patch, &patch.input, &patch.input.present);
}

struct reply *profiles_delete(struct call *call)
{
	struct profile_target target = {.public_id = call->id, .if_match = call->if_match};

	return resource_delete(call, &resource, &target);
}
