#include "hythe/ops/hosts.h"

#include <string.h>

#include "hythe/model/inbound.h"
#include "hythe/model/name.h"
#include "hythe/store/hosts.h"
#include "hythe/store/inbounds.h"
#include "op_parts.h"

#define HOST_NAME_MAX_BYTES 128

/* clang-format off */
const struct json_field host_fields[HOST_FIELDS] = {
	[HOST_F_INBOUND]    = {FIELD_TEXT(host_input, inbound, 1, PUBLIC_ID_LEN)},
	[HOST_F_NAME]       = {FIELD_TEXT(host_input, name, 0, HOST_NAME_MAX_BYTES), NULLABLE},
	[HOST_F_ADDRESS]    = {FIELD_TEXT(host_input, address, 0, HOST_ADDRESS_MAX + 1), NULLABLE},
	[HOST_F_PORT]       = {FIELD_I64(host_input, port, 1, 65535), NULLABLE},
	[HOST_F_SNI]        = {FIELD_TEXT(host_input, sni, 0, HOST_ADDRESS_MAX), NULLABLE},
	[HOST_F_SORT_ORDER] = {FIELD_I64(host_input, sort_order, -HOST_ORDER_MAX, HOST_ORDER_MAX)},
	[HOST_F_ENABLED]    = {FIELD_BOOL(host_input, enabled)},
	[HOST_F_HIDDEN]     = {FIELD_BOOL(host_input, hidden)},
	[HOST_F_FORMATS]    = {FIELD_TREE(host_input, formats), NULLABLE},
};
/* clang-format on */

static bool has(const struct host_input *in, enum host_field field)
{
	return in->present >> field & 1;
}

static void fill_plain(const struct host_input *in, struct host *host)
{
	if (has(in, HOST_F_NAME))
		host->name = in->name ? in->name : "";
	if (has(in, HOST_F_PORT))
		host->port = in->port;
	if (has(in, HOST_F_SORT_ORDER))
		host->sort_order = in->sort_order;
	if (has(in, HOST_F_ENABLED))
		host->enabled = in->enabled;
	if (has(in, HOST_F_HIDDEN))
		host->hidden = in->hidden;
}

static enum res fill(struct op *op, const struct host_input *in, struct host *host)
{
	enum res res = RES_OK;

	fill_plain(in, host);
	if (has(in, HOST_F_NAME))
		res = shown_check("name", host->name, op->problem);
	if (res == RES_OK && has(in, HOST_F_ADDRESS)) {
		host->address = "";
		if (in->address && *in->address)
			res = address_check(op->arena, "address", in->address, &host->address,
					    op->problem);
	}
	if (res == RES_OK && has(in, HOST_F_SNI))
		res = sni_check(op->arena, "sni", in->sni, &host->sni, op->problem);
	if (res == RES_OK && has(in, HOST_F_FORMATS))
		res = host_formats_check(op->arena, "formats", in->formats, &host->formats,
					 op->problem);
	return res;
}

static bool same(const struct host *a, const struct host *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->address, b->address) == 0 &&
	       a->port == b->port && strcmp(a->sni, b->sni) == 0 &&
	       a->sort_order == b->sort_order && a->enabled == b->enabled &&
	       a->hidden == b->hidden && strcmp(a->formats, b->formats) == 0;
}

enum res op_host_create(struct op *op, void *host_create)
{
	struct host_create *create = host_create;
	struct host host = {.name = "",
			    .address = "",
			    .sni = "",
			    .enabled = true,
			    .formats = "",
			    .created_unix = op->now_unix};
	struct inbound inbound;
	enum res res;

	if (!has(&create->input, HOST_F_INBOUND))
		return problem_set(op->problem, RES_INVALID, "missing_field", "inbound",
				   "is needed");
	res = inbound_by_public_id(op->conn, create->input.inbound, op->arena, &inbound);
	if ((res = reference_found(op, res, "inbound", "inbound")) != RES_OK)
		return res;
	host.inbound_id = inbound.id;
	public_id_new(ID_HOST, &host.public_id);
	if ((res = fill(op, &create->input, &host)) != RES_OK ||
	    (res = host_insert(op->conn, &host, &create->id)) != RES_OK ||
	    (res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false)) != RES_OK)
		return res;
	create->public_id = host.public_id;
	if ((res = op_made(op, host.public_id.text)) != RES_OK)
		return res;
	return op_audit(op, "host.create", host.public_id.text, detail_name(op, host.name));
}

static enum res read_target(struct op *op, struct host_target *target, struct host_row *row)
{
	enum res res = host_by_public_id(op->conn, target->public_id, op->arena, row);

	if ((res = target_found(op, res, "host")) != RES_OK)
		return res;
	target->id = row->host.id;
	return op_check_version(op, target->if_match, row->host.version);
}

enum res op_host_patch(struct op *op, void *host_patch)
{
	struct host_patch *patch = host_patch;
	const struct host_input *in = &patch->input;
	struct host_row row;
	struct host after;
	enum res res = read_target(op, &patch->target, &row);

	if (res != RES_OK)
		return res;
	if (has(in, HOST_F_INBOUND) && strcmp(in->inbound, row.inbound_public_id.text) != 0)
		return problem_set(op->problem, RES_INVALID, "immutable", "inbound",
				   "stays as it is: make another host");
	after = row.host;
	if ((res = fill(op, in, &after)) != RES_OK || same(&row.host, &after))
		return res;
	after.version = next_version(after.version);
	if ((res = host_update(op->conn, &after)) != RES_OK ||
	    (res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false)) != RES_OK)
		return res;
	return op_audit(op, "host.patch", after.public_id.text,
			detail_fields(op, host_fields, HOST_FIELDS, in->present));
}

enum res op_host_delete(struct op *op, void *host_target)
{
	struct host_target *target = host_target;
	struct host_row row;
	int64_t count;
	enum res res = read_target(op, target, &row);

	if (res == RES_OK)
		res = host_total(op->conn,
				 &(struct host_page){.inbound_id = row.host.inbound_id, .q = ""},
				 &count);
	if (res != RES_OK)
		return res;
	if (count < 2)
		return problem_set(op->problem, RES_CONFLICT, "last_host", NULL,
				   "an inbound keeps one host: disable or hide it instead");
	if ((res = host_remove(op->conn, row.host.id)) != RES_OK ||
	    (res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false)) != RES_OK)
		return res;
	return op_audit(op, "host.delete", row.host.public_id.text, detail_name(op, row.host.name));
}
