/* admin/inbounds.c – inbounds of the admin API. */
#include "hythe/ops/inbounds.h"
#include "handlers_nodes.h"
#include "hythe/store/inbounds.h"
#include "hythe/store/nodes.h"
#include "hythe/store/profiles.h"
#include "resource.h"

static const char *const sorts[] = {"created", NULL};
static const char *const filters[] = {"node", "profile", NULL};

static void write_pin(struct json_writer *w, const char *name, const struct pin *pin)
{
	char hex[PIN_HEX_SIZE];

	pin_print(pin, hex);
	json_text(w, name, pin->known ? hex : NULL);
}

/* Why no subscription lists it; NULL when one may. */
static const char *unlisted_reason(const struct inbound *inbound)
{
	if (!inbound->enabled)
		return "disabled";
	if (!inbound->node_open)
		return "node_disabled";
	if (inbound->managed && inbound->first_run_unix == 0)
		return "never_ran";
	if (inbound->self_signed && !inbound->cert_pin.known)
		return "no_pin";
	return NULL;
}

static void write_state(struct json_writer *w, const struct inbound *inbound)
{
	const char *reason = unlisted_reason(inbound);

	json_text(w, "state", inbound_state_words[inbound->state]);
	json_text(w, "state_error", inbound->state_error);
	resource_time(w, "state_since_unix", inbound->state_since_unix);
	resource_time(w, "first_run_unix", inbound->first_run_unix);
	resource_time(w, "last_ok_unix", inbound->last_ok_unix);
	json_flag(w, "listed", !reason);
	json_text(w, "unlisted_reason", reason);
	write_pin(w, "cert_pin", &inbound->cert_pin);
	write_pin(w, "key_pin", &inbound->key_pin);
	json_text(w, "cert_pem", *inbound->cert_pem ? inbound->cert_pem : NULL);
	resource_time(w, "cert_not_after_unix", inbound->cert_not_after_unix);
}

static void write_inbound(struct json_writer *w, const struct inbound *inbound)
{
	json_text(w, "id", inbound->public_id.text);
	resource_ref(w, "node", inbound->node_public_id.text, inbound->node_name);
	resource_ref(w, "profile", inbound->profile_public_id.text, inbound->profile_name);
	json_text(w, "core", inbound->core);
	json_flag(w, "managed", inbound->managed);
	json_flag(w, "enabled", inbound->enabled);
	resource_number(w, "port", inbound->port);
	json_text(w, "sni", inbound->sni);
	json_int(w, "effective_port", inbound_port(inbound));
	json_text(w, "effective_sni", inbound_sni(inbound));
	json_text(w, "hop_ports", inbound->profile_hop_ports);
	write_state(w, inbound);
	json_int(w, "created_unix", inbound->created_unix);
	json_int(w, "version", inbound->version);
}

static bool write_by_id(struct call *call, struct conn *conn, struct json_writer *w,
			const char *public_id, int64_t *version)
{
	struct inbound inbound;

	if (!resource_read(call, inbound_by_public_id(conn, public_id, call->arena, &inbound),
			   "inbound"))
		return false;
	*version = inbound.version;
	write_inbound(w, &inbound);
	return true;
}

static bool write_list(struct call *call, struct conn *conn, struct json_writer *w,
		       const struct list_query *query, const struct inbound_page *page)
{
	struct inbound *list;
	size_t count, shown;
	int64_t total;

	if (!resource_read(call, inbound_list(conn, page, call->arena, &list, &count), "list"))
		return false;
	shown = count > (size_t)query->limit ? (size_t)query->limit : count;
	json_array(w, "items");
	for (size_t i = 0; i < shown; i++) {
		json_object(w, NULL);
		write_inbound(w, &list[i]);
		json_end(w);
	}
	json_end(w);
	call_next_cursor(call, w, query,
			 shown < count ? &(struct cursor){.text = "", .id = list[shown - 1].id}
				       : NULL);
	if (!query->total)
		return true;
	if (!resource_read(call, inbound_total(conn, page, &total), "list"))
		return false;
	json_int(w, "total", total);
	return true;
}

/* ?node= and ?profile=: the id of a row, 0 when not asked for, -1 when there is no such row (then
 * the list is empty, as for any filter that fits nothing). */
static bool filter_id(struct call *call, struct conn *conn, const char *param, int64_t *id)
{
	const char *public_id = NULL;
	struct profile profile;
	struct node node;
	enum res res;

	*id = 0;
	if (!call_param_text(call, param, PUBLIC_ID_LEN, &public_id))
		return false;
	if (!public_id)
		return true;
	if (param == filters[0]) {
		res = node_by_public_id(conn, public_id, call->arena, &node);
		*id = res == RES_OK ? node.id : -1;
	} else {
		res = profile_by_public_id(conn, public_id, call->arena, &profile);
		*id = res == RES_OK ? profile.id : -1;
	}
	return res == RES_NOT_FOUND || resource_read(call, res, "list");
}

struct reply *inbounds_list(struct call *call)
{
	struct inbound_page page = {0};
	struct list_query query;
	struct cursor cursor;
	struct json_writer w;
	struct conn *conn;
	struct buf body;
	bool ok;

	if (!call_list_query(call, sorts, filters, &query) ||
	    !call_cursor_read(call, &query, &cursor) || !resource_key(call, &query, &page.q) ||
	    !(conn = call_read(call)))
		return call_problem(call);
	page.after = cursor.id;
	page.down = query.sort[0] == '-';
	page.limit = query.limit + 1;
	call_json(call, &w, &body);
	ok = filter_id(call, conn, filters[0], &page.node_id) &&
	     filter_id(call, conn, filters[1], &page.profile_id) &&
	     write_list(call, conn, &w, &query, &page);
	store_read_end(conn);
	return ok ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}

static const struct resource resource = {
	.write = write_by_id,
	.fields = inbound_fields,
	.field_count = INBOUND_FIELDS,
	.create = op_inbound_create,
	.patch = op_inbound_patch,
	.remove = op_inbound_delete,
};

struct reply *inbounds_create(struct call *call)
{
	struct inbound_create create = {0};

	return resource_create(call, &resource, &create, &create.input, &create.input.present,
			       create.public_id.text);
}

struct reply *inbounds_get(struct call *call)
{
	return resource_answer(call, resource.write, call->id, 200);
}

struct reply *inbounds_patch(struct call *call)
{
	struct inbound_patch patch = {.target = {.public_id = call->id, .if_match = call->if_match}};

	return resource_patch(call, &resource, &patch, &patch.input, &patch.input.present);
}

struct reply *inbounds_delete(struct call *call)
{
	struct inbound_target target = {.public_id = call->id, .if_match = call->if_match};

	return resource_delete(call, &resource, &target);
}
