#include "hythe/ops/inbounds.h"

#include <string.h>

#include "hythe/model/host.h"
#include "hythe/model/profile.h"
#include "hythe/ops/access.h"
#include "hythe/store/hosts.h"
#include "hythe/store/inbounds.h"
#include "hythe/store/nodes.h"
#include "hythe/store/profiles.h"
#include "op_parts.h"

/* clang-format off */
const struct json_field inbound_fields[INBOUND_FIELDS] = {
	[INBOUND_F_NODE]     = {FIELD_TEXT(inbound_input, node, 1, PUBLIC_ID_LEN)},
	[INBOUND_F_PROFILE]  = {FIELD_TEXT(inbound_input, profile, 1, PUBLIC_ID_LEN)},
	[INBOUND_F_MANAGED]  = {FIELD_BOOL(inbound_input, managed)},
	[INBOUND_F_ENABLED]  = {FIELD_BOOL(inbound_input, enabled)},
	[INBOUND_F_PORT]     = {FIELD_I64(inbound_input, port, 1, 65535), NULLABLE},
	[INBOUND_F_SNI]      = {FIELD_TEXT(inbound_input, sni, 0, HOST_ADDRESS_MAX), NULLABLE},
	[INBOUND_F_CERT_PIN] = {FIELD_TEXT(inbound_input, cert_pin, 0, 128), NULLABLE},
	[INBOUND_F_KEY_PIN]  = {FIELD_TEXT(inbound_input, key_pin, 0, 128), NULLABLE},
	[INBOUND_F_CERT_PEM] = {FIELD_LINES(inbound_input, cert_pem, CERT_PEM_MAX), NULLABLE},
};
/* clang-format on */

static bool has(const struct inbound_input *in, enum inbound_field field)
{
	return in->present >> field & 1;
}

/* --- Ports --- */

enum res inbound_ports_check(struct op *op, const struct inbound *inbound)
{
	struct port_set mine, others;
	int64_t *ids;
	size_t count;
	enum res res = inbounds_of_node(op->conn, inbound->node_id, op->arena, &ids, &count);

	port_set_of(inbound_port(inbound), inbound->profile_hop_ports, &mine);
	for (size_t i = 0; i < count && res == RES_OK; i++) {
		struct inbound other;
		uint16_t port;

		if (ids[i] == inbound->id)
			continue;
		if ((res = inbound_by_id(op->conn, ids[i], op->arena, &other)) != RES_OK)
			break;
		port_set_of(inbound_port(&other), other.profile_hop_ports, &others);
		if ((port = port_set_common(&mine, &others)))
			res = problem_set(op->problem, RES_CONFLICT, "port_taken", "port",
					  "UDP port %u of the node is used by inbound %s", port,
					  other.public_id.text);
	}
	return res;
}

/* --- Pins that people type in --- */

static enum res match_pin(struct op *op, const char *field, const struct pin *typed,
			  const struct pin *read)
{
	if (!typed->known || memcmp(typed->bytes, read->bytes, sizeof typed->bytes) == 0)
		return RES_OK;
	return problem_set(op->problem, RES_INVALID, "bad_pin", field, "is not that of cert_pem");
}

/* A certificate says both pins itself; what else was typed must agree with it. */
static enum res fill_cert(struct op *op, const struct inbound_input *in, struct inbound *inbound)
{
	struct cert_facts facts;
	enum res res;

	if (!in->cert_pem || *in->cert_pem == '\0') {
		inbound->cert_pem = "";
		inbound->cert_not_after_unix = 0;
		return RES_OK;
	}
	if ((res = cert_read("cert_pem", in->cert_pem, &facts, op->problem)) != RES_OK)
		return res;
	if (has(in, INBOUND_F_CERT_PIN))
		res = match_pin(op, "cert_pin", &inbound->cert_pin, &facts.cert_pin);
	if (res == RES_OK && has(in, INBOUND_F_KEY_PIN))
		res = match_pin(op, "key_pin", &inbound->key_pin, &facts.key_pin);
	if (res != RES_OK)
		return res;
	inbound->cert_pem = in->cert_pem;
	inbound->cert_pin = facts.cert_pin;
	inbound->key_pin = facts.key_pin;
	inbound->cert_not_after_unix = facts.not_after_unix;
	return RES_OK;
}

/* A pin that does not fit the certificate kept so far makes that one stale. */
static void drop_stale_cert(struct inbound *inbound)
{
	struct cert_facts facts;

	if (*inbound->cert_pem == '\0')
		return;
	if (cert_read(NULL, inbound->cert_pem, &facts, NULL) == RES_OK && inbound->cert_pin.known &&
	    memcmp(facts.cert_pin.bytes, inbound->cert_pin.bytes, PIN_LEN) == 0)
		return;
	inbound->cert_pem = "";
	inbound->cert_not_after_unix = 0;
}

static enum res fill_pins(struct op *op, const struct inbound_input *in, struct inbound *inbound)
{
	static const enum inbound_field typed[] = {INBOUND_F_CERT_PIN, INBOUND_F_KEY_PIN,
						   INBOUND_F_CERT_PEM};
	enum res res = RES_OK;

	for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
		if (inbound->managed && has(in, typed[i]))
			return problem_set(
				op->problem, RES_INVALID, "bad_value",
				inbound_fields[typed[i]].name,
				"is told by the node; it is typed in only where managed is false");
	if (has(in, INBOUND_F_CERT_PIN))
		res = pin_parse("cert_pin", in->cert_pin, &inbound->cert_pin, op->problem);
	if (res == RES_OK && has(in, INBOUND_F_KEY_PIN))
		res = pin_parse("key_pin", in->key_pin, &inbound->key_pin, op->problem);
	if (res == RES_OK && has(in, INBOUND_F_CERT_PEM))
		res = fill_cert(op, in, inbound);
	else if (res == RES_OK && has(in, INBOUND_F_CERT_PIN))
		drop_stale_cert(inbound);
	return res;
}

/* --- Input to inbound --- */

/* Who runs the server decides what is known of it: nothing of the other way stays. */
static void set_managed(struct op *op, struct inbound *inbound, bool managed)
{
	if (inbound->managed == managed)
		return;
	inbound->managed = managed;
	inbound->state = managed ? INBOUND_PENDING : INBOUND_EXTERNAL;
	inbound->state_error = "";
	inbound->state_since_unix = op->now_unix;
	inbound->first_run_unix = inbound->last_ok_unix = 0;
	if (managed) {
		inbound->cert_pin = inbound->key_pin = (struct pin){0};
		inbound->cert_pem = "";
		inbound->cert_not_after_unix = 0;
	}
}

static enum res fill(struct op *op, const struct inbound_input *in, struct inbound *inbound)
{
	enum res res = RES_OK;

	if (has(in, INBOUND_F_MANAGED))
		set_managed(op, inbound, in->managed);
	if (has(in, INBOUND_F_ENABLED))
		inbound->enabled = in->enabled;
	if (has(in, INBOUND_F_PORT))
		inbound->port = in->port;
	if (has(in, INBOUND_F_SNI))
		res = sni_check(op->arena, "sni", in->sni, &inbound->sni, op->problem);
	if (res == RES_OK)
		res = fill_pins(op, in, inbound);
	return res;
}

static bool same_pin(const struct pin *a, const struct pin *b)
{
	return a->known == b->known && (!a->known || memcmp(a->bytes, b->bytes, PIN_LEN) == 0);
}

static bool same_cert(const struct inbound *a, const struct inbound *b)
{
	return same_pin(&a->cert_pin, &b->cert_pin) && same_pin(&a->key_pin, &b->key_pin) &&
	       strcmp(a->cert_pem, b->cert_pem) == 0;
}

static bool same(const struct inbound *a, const struct inbound *b)
{
	return a->managed == b->managed && a->enabled == b->enabled && a->port == b->port &&
	       strcmp(a->sni, b->sni) == 0 && same_cert(a, b);
}

/* --- Operations --- */

static enum res place(struct op *op, const struct inbound_input *in, struct inbound *inbound)
{
	struct profile profile;
	struct node node;
	bool exists;
	enum res res = node_by_public_id(op->conn, in->node, op->arena, &node);

	if ((res = reference_found(op, res, "node", "node")) != RES_OK)
		return res;
	res = profile_by_public_id(op->conn, in->profile, op->arena, &profile);
	if ((res = reference_found(op, res, "profile", "profile")) != RES_OK ||
	    (res = inbound_exists(op->conn, node.id, profile.id, &exists)) != RES_OK)
		return res;
	if (exists)
		return problem_set(op->problem, RES_CONFLICT, "inbound_exists", "profile",
				   "is already placed on this node");
	inbound->node_id = node.id;
	inbound->profile_id = profile.id;
	inbound->profile_port = profile.port;
	inbound->profile_hop_ports = profile.hop_ports;
	inbound->profile_sni = profile.sni;
	return RES_OK;
}

static enum res default_host(struct op *op, int64_t inbound_id)
{
	struct host host = {.inbound_id = inbound_id,
			    .name = "",
			    .address = "",
			    .sni = "",
			    .enabled = true,
			    .formats = "",
			    .created_unix = op->now_unix};
	int64_t id;

	public_id_new(ID_HOST, &host.public_id);
	return host_insert(op->conn, &host, &id);
}

enum res op_inbound_create(struct op *op, void *inbound_create)
{
	struct inbound_create *create = inbound_create;
	const struct inbound_input *in = &create->input;
	struct inbound inbound = {.managed = true,
				  .enabled = true,
				  .sni = "",
				  .state_error = "",
				  .cert_pem = "",
				  .state_since_unix = op->now_unix,
				  .created_unix = op->now_unix};
	enum res res;

	if (!has(in, INBOUND_F_NODE) || !has(in, INBOUND_F_PROFILE))
		return problem_set(op->problem, RES_INVALID, "missing_field",
				   has(in, INBOUND_F_NODE) ? "profile" : "node", "is needed");
	public_id_new(ID_INBOUND, &inbound.public_id);
	if ((res = place(op, in, &inbound)) != RES_OK || (res = fill(op, in, &inbound)) != RES_OK ||
	    (res = inbound_ports_check(op, &inbound)) != RES_OK ||
	    (res = inbound_insert(op->conn, &inbound, &create->id)) != RES_OK ||
	    (res = default_host(op, create->id)) != RES_OK ||
	    (res = inbound_refresh(op, create->id)) != RES_OK ||
	    (res = access_refresh_node(op, inbound.node_id)) != RES_OK ||
	    (res = op_made(op, inbound.public_id.text)) != RES_OK)
		return res;
	create->public_id = inbound.public_id;
	return op_audit(op, "inbound.create", inbound.public_id.text,
			detail_fields(op, inbound_fields, INBOUND_FIELDS, in->present));
}

static enum res read_target(struct op *op, struct inbound_target *target, struct inbound *inbound)
{
	enum res res = inbound_by_public_id(op->conn, target->public_id, op->arena, inbound);

	if ((res = target_found(op, res, "inbound")) != RES_OK)
		return res;
	target->id = inbound->id;
	return op_check_version(op, target->if_match, inbound->version);
}

/* Usage and certificates hang on the pair, so another one is another inbound. */
static enum res check_place(struct op *op, const struct inbound_input *in,
			    const struct inbound *inbound)
{
	const char *field = NULL;

	if (has(in, INBOUND_F_NODE) && strcmp(in->node, inbound->node_public_id.text) != 0)
		field = "node";
	else if (has(in, INBOUND_F_PROFILE) &&
		 strcmp(in->profile, inbound->profile_public_id.text) != 0)
		field = "profile";
	if (!field)
		return RES_OK;
	return problem_set(op->problem, RES_INVALID, "immutable", field,
			   "stays as it is: make another inbound");
}

static enum res spread(struct op *op, const struct inbound *inbound)
{
	bool told;
	enum res res = inbound_refresh_told(op, inbound->id, &told);

	/* Its record is the same (or there is none), but lists show it otherwise. */
	if (res == RES_OK && !told)
		res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false);
	if (res == RES_OK)
		res = access_refresh_node(op, inbound->node_id);
	return res;
}

enum res op_inbound_patch(struct op *op, void *inbound_patch)
{
	struct inbound_patch *patch = inbound_patch;
	struct inbound before, after;
	enum res res = read_target(op, &patch->target, &before);

	if (res == RES_OK)
		res = check_place(op, &patch->input, &before);
	if (res != RES_OK)
		return res;
	after = before;
	if ((res = fill(op, &patch->input, &after)) != RES_OK || same(&before, &after))
		return res;
	after.version = next_version(after.version);
	if ((res = inbound_ports_check(op, &after)) != RES_OK ||
	    (res = inbound_update(op->conn, &after)) != RES_OK ||
	    (res = spread(op, &after)) != RES_OK)
		return res;
	return op_audit(op, "inbound.patch", after.public_id.text,
			detail_fields(op, inbound_fields, INBOUND_FIELDS, patch->input.present));
}

enum res inbound_drop(struct op *op, struct inbound *inbound)
{
	enum res res;

	/* Switched off first: then its records leave the sums by the same way as ever. */
	inbound->enabled = false;
	if ((res = inbound_update(op->conn, inbound)) != RES_OK ||
	    (res = spread(op, inbound)) != RES_OK)
		return res;
	return inbound_remove(op->conn, inbound->id);
}

enum res op_inbound_delete(struct op *op, void *inbound_target)
{
	struct inbound_target *target = inbound_target;
	struct inbound inbound;
	enum res res = read_target(op, target, &inbound);

	if (res == RES_OK)
		res = inbound_drop(op, &inbound);
	if (res != RES_OK)
		return res;
	return op_audit(op, "inbound.delete", inbound.public_id.text, NULL);
}
