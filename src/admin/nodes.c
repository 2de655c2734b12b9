/* admin/nodes.c – nodes of the admin API. */
#include "hythe/ops/nodes.h"
#include "handlers_nodes.h"
#include "hythe/store/nodes.h"
#include "resource.h"

static const char *const sorts[] = {"name", NULL};
static const char *const filters[] = {"tag", NULL};

static void write_node(struct json_writer *w, const struct node *node)
{
	json_text(w, "id", node->public_id.text);
	json_text(w, "name", node->name);
	json_text(w, "address", node->address);
	json_text(w, "country", node->country);
	json_text(w, "city", node->city);
	resource_words(w, "tags", node->tags);
	json_text(w, "note", node->note);
	json_text(w, "cost_note", node->cost_note);
	json_flag(w, "enabled", node->enabled);
	json_int(w, "usage_factor_percent", node->usage_factor_percent);
	json_int(w, "traffic_allowance_bytes", node->traffic_allowance_bytes);
	json_int(w, "traffic_reset_day", node->traffic_reset_day);
	json_int(w, "inbounds", node->inbound_count);
	json_flag(w, "connected", false); /* until there is a channel to say so, no node is */
	resource_time(w, "last_seen_unix", node->last_seen_unix);
	json_text(w, "agent_version", node->agent_version);
	json_text(w, "core_version", node->core_version);
	resource_time(w, "retired_unix", node->retired_unix);
	json_int(w, "created_unix", node->created_unix);
	json_int(w, "version", node->version);
}

static bool write_by_id(struct call *call, struct conn *conn, struct json_writer *w,
			const char *public_id, int64_t *version)
{
	struct node node;

	if (!resource_read(call, node_by_public_id(conn, public_id, call->arena, &node), "node"))
		return false;
	*version = node.version;
	write_node(w, &node);
	return true;
}

static bool write_list(struct call *call, struct conn *conn, struct json_writer *w,
		       const struct list_query *query, const struct page *page)
{
	struct node *list;
	size_t count, shown;
	int64_t total;

	if (!resource_read(call, node_list(conn, page, call->arena, &list, &count), "list"))
		return false;
	shown = count > (size_t)query->limit ? (size_t)query->limit : count;
	json_array(w, "items");
	for (size_t i = 0; i < shown; i++) {
		json_object(w, NULL);
		write_node(w, &list[i]);
		json_end(w);
	}
	json_end(w);
	call_next_cursor(call, w, query,
			 shown < count ? &(struct cursor){.text = list[shown - 1].name_key} : NULL);
	if (!query->total)
		return true;
	if (!resource_read(call, node_total(conn, page, &total), "list"))
		return false;
	json_int(w, "total", total);
	return true;
}

struct reply *nodes_list(struct call *call)
{
	struct list_query query;
	struct cursor cursor;
	struct json_writer w;
	struct page page = {0};
	struct conn *conn;
	struct buf body;
	bool ok;

	if (!call_list_query(call, sorts, filters, &query) ||
	    !call_cursor_read(call, &query, &cursor) || !resource_key(call, &query, &page.q) ||
	    !(conn = call_read(call)))
		return call_problem(call);
	page.tag = query.tag ? query.tag : "";
	page.after = cursor.text;
	page.down = query.sort[0] == '-';
	page.limit = query.limit + 1;
	call_json(call, &w, &body);
	ok = write_list(call, conn, &w, &query, &page);
	store_read_end(conn);
	return ok ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}

static bool preview_delete(struct call *call, struct conn *conn, struct json_writer *w, void *arg)
{
	const struct node_target *target = arg;

	call_preview_deleted(call, conn, w, NULL);
	json_object(w, "removes");
	json_int(w, "inbounds", target->inbounds);
	json_int(w, "hosts", target->hosts);
	json_end(w);
	return true;
}

static const struct resource resource = {
	.write = write_by_id,
	.fields = node_fields,
	.field_count = NODE_FIELDS,
	.create = op_node_create,
	.patch = op_node_patch,
	.remove = op_node_delete,
	.removed = preview_delete,
};

struct reply *nodes_create(struct call *call)
{
	struct node_create create = {0};

	return resource_create(call, &resource, &create, &create.input, &create.input.present,
			       create.public_id.text);
}

struct reply *nodes_get(struct call *call)
{
	return resource_answer(call, resource.write, call->id, 200);
}

struct reply *nodes_patch(struct call *call)
{
	struct node_patch patch = {.target = {.public_id = call->id, .if_match = call->if_match}};

	return resource_patch(call, &resource, &patch, &patch.input, &patch.input.present);
}

struct reply *nodes_delete(struct call *call)
{
	struct node_target target = {.public_id = call->id, .if_match = call->if_match};

	return resource_delete(call, &resource, &target);
}
