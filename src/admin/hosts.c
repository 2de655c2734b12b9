/* admin/hosts.c – hosts of the admin API. */
#include "hythe/ops/hosts.h"
#include "handlers_nodes.h"
#include "hythe/store/hosts.h"
#include "hythe/store/inbounds.h"
#include "resource.h"

static const char *const sorts[] = {"order", NULL};
static const char *const filters[] = {"inbound", NULL};

static void write_host(struct json_writer *w, const struct host_row *row)
{
	const struct host *host = &row->host;

	json_text(w, "id", host->public_id.text);
	json_text(w, "inbound", row->inbound_public_id.text);
	json_text(w, "node_name", row->node_name);
	json_text(w, "profile_name", row->profile_name);
	json_text(w, "name", host->name);
	json_text(w, "address", host->address);
	resource_number(w, "port", host->port);
	json_text(w, "sni", host->sni);
	json_int(w, "sort_order", host->sort_order);
	json_flag(w, "enabled", host->enabled);
	json_flag(w, "hidden", host->hidden);
	resource_words(w, "formats", host->formats);
	json_int(w, "created_unix", host->created_unix);
	json_int(w, "version", host->version);
}

static bool write_by_id(struct call *call, struct conn *conn, struct json_writer *w,
			const char *public_id, int64_t *version)
{
	struct host_row row;

	if (!resource_read(call, host_by_public_id(conn, public_id, call->arena, &row), "host"))
		return false;
	*version = row.host.version;
	write_host(w, &row);
	return true;
}

static bool write_list(struct call *call, struct conn *conn, struct json_writer *w,
		       const struct list_query *query, const struct host_page *page)
{
	struct cursor last = {.text = ""};
	struct host_row *list;
	size_t count, shown;
	int64_t total;

	if (!resource_read(call, host_list(conn, page, call->arena, &list, &count), "list"))
		return false;
	shown = count > (size_t)query->limit ? (size_t)query->limit : count;
	json_array(w, "items");
	for (size_t i = 0; i < shown; i++) {
		json_object(w, NULL);
		write_host(w, &list[i]);
		json_end(w);
		last.number = list[i].host.sort_order;
		last.id = list[i].host.id;
	}
	json_end(w);
	call_next_cursor(call, w, query, shown < count ? &last : NULL);
	if (!query->total)
		return true;
	if (!resource_read(call, host_total(conn, page, &total), "list"))
		return false;
	json_int(w, "total", total);
	return true;
}

/* ?inbound=: as for inbounds, one that is not there fits nothing. */
static bool filter_inbound(struct call *call, struct conn *conn, int64_t *id)
{
	const char *public_id = NULL;
	struct inbound inbound;
	enum res res;

	*id = 0;
	if (!call_param_text(call, "inbound", PUBLIC_ID_LEN, &public_id))
		return false;
	if (!public_id)
		return true;
	res = inbound_by_public_id(conn, public_id, call->arena, &inbound);
	*id = res == RES_OK ? inbound.id : -1;
	return res == RES_NOT_FOUND || resource_read(call, res, "list");
}

struct reply *hosts_list(struct call *call)
{
	struct host_page page = {0};
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
	page.after_order = cursor.number;
	page.after_id = cursor.id;
	page.down = query.sort[0] == '-';
	page.limit = query.limit + 1;
	call_json(call, &w, &body);
	ok = filter_inbound(call, conn, &page.inbound_id) &&
	     write_list(call, conn, &w, &query, &page);
	store_read_end(conn);
	return ok ? call_json_end(call, &w, &body, 200, 0) : call_json_fail(call, &body);
}

static const struct resource resource = {
	.write = write_by_id,
	.fields = host_fields,
	.field_count = HOST_FIELDS,
	.create = op_host_create,
	.patch = op_host_patch,
	.remove = op_host_delete,
};

struct reply *hosts_create(struct call *call)
{
	struct host_create create = {0};

	return resource_create(call, &resource, &create, &create.input, &create.input.present,
			       create.public_id.text);
}

struct reply *hosts_get(struct call *call)
{
	return resource_answer(call, resource.write, call->id, 200);
}

struct reply *hosts_patch(struct call *call)
{
	struct host_patch patch = {.target = {.public_id = call->id, .if_match = call->if_match}};

	return resource_patch(call, &resource, &patch, &patch.input, &patch.input.present);
}

struct reply *hosts_delete(struct call *call)
{
	struct host_target target = {.public_id = call->id, .if_match = call->if_match};

	return resource_delete(call, &resource, &target);
}
