#include "hythe/ops/nodes.h"

#include <string.h>

#include "hythe/model/host.h"
#include "hythe/model/name.h"
#include "hythe/ops/access.h"
#include "hythe/ops/inbounds.h"
#include "hythe/store/hosts.h"
#include "hythe/store/inbounds.h"
#include "hythe/store/nodes.h"
#include "op_parts.h"

/* clang-format off */
const struct json_field node_fields[NODE_FIELDS] = {
	[NODE_F_NAME]      = {FIELD_TEXT(node_input, name, 1, NAME_MAX_BYTES)},
	[NODE_F_ADDRESS]   = {FIELD_TEXT(node_input, address, 1, HOST_ADDRESS_MAX + 1)},
	[NODE_F_COUNTRY]   = {FIELD_TEXT(node_input, country, 0, 2), NULLABLE},
	[NODE_F_CITY]      = {FIELD_TEXT(node_input, city, 0, NODE_CITY_MAX), NULLABLE},
	[NODE_F_TAGS]      = {FIELD_TREE(node_input, tags), NULLABLE},
	[NODE_F_NOTE]      = {FIELD_LINES(node_input, note, NODE_NOTE_MAX), NULLABLE},
	[NODE_F_COST_NOTE] = {FIELD_LINES(node_input, cost_note, NODE_NOTE_MAX), NULLABLE},
	[NODE_F_ENABLED]   = {FIELD_BOOL(node_input, enabled)},
	[NODE_F_FACTOR]    = {FIELD_I64(node_input, usage_factor_percent, 0, NODE_FACTOR_MAX)},
	[NODE_F_ALLOWANCE] = {FIELD_I64(node_input, traffic_allowance_bytes, 0, NODE_BYTES_MAX), NULLABLE},
	[NODE_F_RESET_DAY] = {FIELD_I64(node_input, traffic_reset_day, 1, 31)},
};
/* clang-format on */

static bool has(const struct node_input *in, enum node_field field)
{
	return in->present >> field & 1;
}

/* --- Input to node --- */

static void fill_plain(const struct node_input *in, struct node *node)
{
	if (has(in, NODE_F_CITY))
		node->city = in->city ? in->city : "";
	if (has(in, NODE_F_NOTE))
		node->note = in->note ? in->note : "";
	if (has(in, NODE_F_COST_NOTE))
		node->cost_note = in->cost_note ? in->cost_note : "";
	if (has(in, NODE_F_ENABLED))
		node->enabled = in->enabled;
	if (has(in, NODE_F_FACTOR))
		node->usage_factor_percent = in->usage_factor_percent;
	if (has(in, NODE_F_ALLOWANCE))
		node->traffic_allowance_bytes = in->traffic_allowance_bytes;
	if (has(in, NODE_F_RESET_DAY))
		node->traffic_reset_day = in->traffic_reset_day;
}

static enum res fill(struct op *op, const struct node_input *in, struct node *node)
{
	enum res res = RES_OK;

	fill_plain(in, node);
	if (has(in, NODE_F_CITY))
		res = shown_check("city", node->city, op->problem);
	if (res == RES_OK && has(in, NODE_F_NAME))
		res = name_set(op, in->name, node_name_taken, node->id, &node->name,
			       &node->name_key);
	if (res == RES_OK && has(in, NODE_F_ADDRESS))
		res = address_check(op->arena, "address", in->address, &node->address, op->problem);
	if (res == RES_OK && has(in, NODE_F_COUNTRY))
		res = country_check(op->arena, "country", in->country, &node->country, op->problem);
	if (res == RES_OK && has(in, NODE_F_TAGS))
		res = node_tags_check(op->arena, "tags", in->tags, &node->tags, op->problem);
	return res;
}

static bool same_to_clients(const struct node *a, const struct node *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->address, b->address) == 0 &&
	       strcmp(a->country, b->country) == 0 && strcmp(a->city, b->city) == 0 &&
	       a->enabled == b->enabled;
}

static bool same(const struct node *a, const struct node *b)
{
	return same_to_clients(a, b) && strcmp(a->tags, b->tags) == 0 &&
	       strcmp(a->note, b->note) == 0 && strcmp(a->cost_note, b->cost_note) == 0 &&
	       a->usage_factor_percent == b->usage_factor_percent &&
	       a->traffic_allowance_bytes == b->traffic_allowance_bytes &&
	       a->traffic_reset_day == b->traffic_reset_day;
}

/* --- Operations --- */

enum res op_node_create(struct op *op, void *node_create)
{
	struct node_create *create = node_create;
	struct node node = {.country = "",
			    .city = "",
			    .note = "",
			    .cost_note = "",
			    .tags = "",
			    .enabled = true,
			    .usage_factor_percent = 100,
			    .traffic_reset_day = 1,
			    .created_unix = op->now_unix};
	enum res res;

	if (!has(&create->input, NODE_F_NAME) || !has(&create->input, NODE_F_ADDRESS))
		return problem_set(op->problem, RES_INVALID, "missing_field",
				   has(&create->input, NODE_F_NAME) ? "address" : "name",
				   "is needed");
	public_id_new(ID_NODE, &node.public_id);
	if ((res = fill(op, &create->input, &node)) != RES_OK ||
	    (res = node_insert(op->conn, &node, &create->id)) != RES_OK)
		return res;
	create->public_id = node.public_id;
	if ((res = op_made(op, node.public_id.text)) != RES_OK)
		return res;
	return op_audit(op, "node.create", node.public_id.text, detail_name(op, node.name));
}

static enum res read_target(struct op *op, struct node_target *target, struct node *node)
{
	enum res res = node_by_public_id(op->conn, target->public_id, op->arena, node);

	if ((res = target_found(op, res, "node")) != RES_OK)
		return res;
	target->id = node->id;
	return op_check_version(op, target->if_match, node->version);
}

static enum res refresh_inbounds(struct op *op, int64_t node_id)
{
	int64_t *ids;
	size_t count;
	enum res res = inbounds_of_node(op->conn, node_id, op->arena, &ids, &count);

	for (size_t i = 0; i < count && res == RES_OK; i++)
		res = inbound_refresh(op, ids[i]);
	return res;
}

static enum res spread(struct op *op, const struct node *before, const struct node *after)
{
	bool moved = before->enabled != after->enabled;
	enum res res = RES_OK;

	if (moved)
		res = refresh_inbounds(op, after->id);
	if (res == RES_OK && (moved || strcmp(before->tags, after->tags) != 0))
		res = access_refresh_node(op, after->id);
	if (res == RES_OK && !same_to_clients(before, after))
		res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false);
	return res;
}

enum res op_node_patch(struct op *op, void *node_patch)
{
	struct node_patch *patch = node_patch;
	struct node before, after;
	enum res res = read_target(op, &patch->target, &before);

	if (res != RES_OK)
		return res;
	after = before;
	if ((res = fill(op, &patch->input, &after)) != RES_OK || same(&before, &after))
		return res;
	after.version = next_version(after.version);
	if ((res = node_update(op->conn, &after)) != RES_OK ||
	    (res = spread(op, &before, &after)) != RES_OK)
		return res;
	return op_audit(op, "node.patch", after.public_id.text,
			detail_fields(op, node_fields, NODE_FIELDS, patch->input.present));
}

static enum res drop_inbounds(struct op *op, struct node_target *target)
{
	int64_t *ids;
	size_t count;
	enum res res = inbounds_of_node(op->conn, target->id, op->arena, &ids, &count);

	for (size_t i = 0; i < count && res == RES_OK; i++) {
		struct inbound inbound;
		int64_t hosts;

		if ((res = host_total(op->conn, &(struct host_page){.inbound_id = ids[i], .q = ""},
				      &hosts)) != RES_OK ||
		    (res = inbound_by_id(op->conn, ids[i], op->arena, &inbound)) != RES_OK ||
		    (res = inbound_drop(op, &inbound)) != RES_OK)
			break;
		target->inbounds++;
		target->hosts += hosts;
	}
	return res;
}

enum res op_node_delete(struct op *op, void *node_target)
{
	struct node_target *target = node_target;
	struct node node;
	enum res res = read_target(op, target, &node);

	target->inbounds = target->hosts = 0;
	/* Its inbounds go one by one, so that every record leaves the sums and the log as if each
	 * had been deleted by itself: what is told of a node that is gone does not differ. */
	if (res == RES_OK)
		res = drop_inbounds(op, target);
	if (res == RES_OK)
		res = node_remove(op->conn, node.id);
	if (res != RES_OK)
		return res;
	return op_audit(op, "node.delete", node.public_id.text, detail_name(op, node.name));
}
