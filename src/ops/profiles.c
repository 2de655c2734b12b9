#include "hythe/ops/profiles.h"

#include <stdio.h>
#include <string.h>

#include "hythe/model/host.h"
#include "hythe/model/name.h"
#include "hythe/ops/inbounds.h"
#include "hythe/store/inbounds.h"
#include "hythe/store/profiles.h"
#include "op_parts.h"

#define NOTE_MAX 2048

/* clang-format off */
const struct json_field profile_fields[PROFILE_FIELDS] = {
	[PROFILE_F_NAME]            = {FIELD_TEXT(profile_input, name, 1, NAME_MAX_BYTES)},
	[PROFILE_F_NOTE]            = {FIELD_LINES(profile_input, note, NOTE_MAX), NULLABLE},
	[PROFILE_F_PORT]            = {FIELD_I64(profile_input, port, 1, 65535)},
	[PROFILE_F_HOP_PORTS]       = {FIELD_TEXT(profile_input, hop_ports, 0, HOP_TEXT_MAX), NULLABLE},
	[PROFILE_F_HOP_INTERVAL]    = {FIELD_I64(profile_input, hop_interval_s, HOP_INTERVAL_MIN_S, HOP_INTERVAL_MAX_S)},
	[PROFILE_F_OBFS]            = {FIELD_WORD(profile_input, obfs, obfs_words)},
	[PROFILE_F_OBFS_PASSWORD]   = {FIELD_TEXT(profile_input, obfs_password, OBFS_PASSWORD_MIN, OBFS_PASSWORD_MAX), NULLABLE},
	[PROFILE_F_OBFS_MIN_PACKET] = {FIELD_I64(profile_input, obfs_min_packet_bytes, 1, OBFS_PACKET_MAX), NULLABLE},
	[PROFILE_F_OBFS_MAX_PACKET] = {FIELD_I64(profile_input, obfs_max_packet_bytes, 1, OBFS_PACKET_MAX), NULLABLE},
	[PROFILE_F_CERT_MODE]       = {FIELD_WORD(profile_input, cert_mode, cert_mode_words)},
	[PROFILE_F_SNI]             = {FIELD_TEXT(profile_input, sni, 0, HOST_ADDRESS_MAX), NULLABLE},
	[PROFILE_F_SERVER]          = {FIELD_TREE(profile_input, server), NULLABLE},
};
/* clang-format on */

static bool has(const struct profile_input *in, enum profile_field field)
{
	return in->present >> field & 1;
}

/* --- Sealing --- */

static struct seal_place place_of(const struct profile *profile, const char *column)
{
	return (struct seal_place){
		.table = "profile", .column = column, .public_id = profile->public_id.text};
}

static enum res seal(struct op *op, const struct profile *profile, const char *column,
		     const char *text, const void **sealed, size_t *len)
{
	struct seal_place place = place_of(profile, column);
	struct buf out;
	char *copy;
	enum res res;

	buf_init(&out, SERVER_TEXT_MAX + SEAL_OVERHEAD);
	if ((res = vault_seal(op->vault, &place, text, strlen(text), &out)) != RES_OK)
		goto out;
	copy = arena_dup(op->arena, out.data, out.len);
	if (!copy)
		res = RES_NOMEM;
	*sealed = copy;
	*len = out.len;
out:
	buf_free(&out);
	return res;
}

static enum res unseal(const struct vault *vault, const struct profile *profile, const char *column,
		       const void *sealed, size_t len, struct arena *arena, const char **text)
{
	struct seal_place place = place_of(profile, column);
	struct buf plain;
	enum res res;

	*text = "";
	if (len == 0)
		return RES_OK;
	buf_init(&plain, SERVER_TEXT_MAX);
	if ((res = vault_open_sealed(vault, &place, sealed, len, &plain)) == RES_OK) {
		*text = arena_dup(arena, plain.data ? plain.data : "", plain.len);
		res = *text ? RES_OK : RES_NOMEM;
	}
	buf_free_secret(&plain);
	return res;
}

enum res profile_unseal(const struct vault *vault, struct profile *profile, struct arena *arena)
{
	enum res res = unseal(vault, profile, "obfs_password_sealed", profile->obfs_password_sealed,
			      profile->obfs_password_sealed_len, arena, &profile->obfs_password);

	if (res == RES_OK)
		res = unseal(vault, profile, "server_sealed", profile->server_sealed,
			     profile->server_sealed_len, arena, &profile->server);
	return res;
}

/* Seals what differs from `before`, so that an unchanged value keeps its bytes. */
static enum res seal_changed(struct op *op, struct profile *profile, const struct profile *before)
{
	enum res res = RES_OK;

	if (strcmp(profile->obfs_password, before->obfs_password) != 0) {
		profile->obfs_password_sealed_len = 0;
		if (*profile->obfs_password)
			res = seal(op, profile, "obfs_password_sealed", profile->obfs_password,
				   &profile->obfs_password_sealed,
				   &profile->obfs_password_sealed_len);
	}
	if (res == RES_OK && strcmp(profile->server, before->server) != 0)
		res = seal(op, profile, "server_sealed", profile->server, &profile->server_sealed,
			   &profile->server_sealed_len);
	return res;
}

/* --- Input to profile --- */

static enum res fill_name(struct op *op, const struct profile_input *in, struct profile *profile)
{
	if (!has(in, PROFILE_F_NAME))
		return RES_OK;
	return name_set(op, in->name, profile_name_taken, profile->id, &profile->name,
			&profile->name_key);
}

static enum res fill_network(struct op *op, const struct profile_input *in, struct profile *profile)
{
	enum res res = RES_OK;

	if (has(in, PROFILE_F_PORT))
		profile->port = in->port;
	if (has(in, PROFILE_F_HOP_INTERVAL))
		profile->hop_interval_s = in->hop_interval_s;
	if (has(in, PROFILE_F_CERT_MODE))
		profile->cert_mode = (enum cert_mode)in->cert_mode;
	if (has(in, PROFILE_F_NOTE))
		profile->note = in->note ? in->note : "";
	if (has(in, PROFILE_F_HOP_PORTS))
		res = hop_ports_check(op->arena, "hop_ports", in->hop_ports, &profile->hop_ports,
				      op->problem);
	if (res == RES_OK && has(in, PROFILE_F_SNI))
		res = sni_check(op->arena, "sni", in->sni, &profile->sni, op->problem);
	return res;
}

/* What another kind of obfuscation leaves behind goes, unless the input gives it. */
static void fit_obfs(const struct profile_input *in, struct profile *profile)
{
	bool gecko = profile->obfs == OBFS_GECKO;

	if (!has(in, PROFILE_F_OBFS_MIN_PACKET) && (!gecko || !profile->obfs_min_packet_bytes))
		profile->obfs_min_packet_bytes = gecko ? GECKO_MIN_PACKET_BYTES : 0;
	if (!has(in, PROFILE_F_OBFS_MAX_PACKET) && (!gecko || !profile->obfs_max_packet_bytes))
		profile->obfs_max_packet_bytes = gecko ? GECKO_MAX_PACKET_BYTES : 0;
	if (profile->obfs == OBFS_NONE && (!has(in, PROFILE_F_OBFS_PASSWORD) || !in->obfs_password))
		profile->obfs_password = "";
}

static enum res fill_obfs(struct op *op, const struct profile_input *in, struct profile *profile)
{
	bool anew = has(in, PROFILE_F_OBFS_PASSWORD) && !in->obfs_password;

	if (has(in, PROFILE_F_OBFS))
		profile->obfs = (enum obfs)in->obfs;
	if (has(in, PROFILE_F_OBFS_MIN_PACKET))
		profile->obfs_min_packet_bytes = in->obfs_min_packet_bytes;
	if (has(in, PROFILE_F_OBFS_MAX_PACKET))
		profile->obfs_max_packet_bytes = in->obfs_max_packet_bytes;
	if (has(in, PROFILE_F_OBFS_PASSWORD) && in->obfs_password)
		profile->obfs_password = in->obfs_password;
	fit_obfs(in, profile);
	if (profile->obfs != OBFS_NONE && (anew || *profile->obfs_password == '\0')) {
		char *password = arena_alloc(op->arena, OBFS_PASSWORD_RANDOM + 1);

		if (!password)
			return RES_NOMEM;
		obfs_password_random(password);
		profile->obfs_password = password;
	}
	return RES_OK;
}

static enum res parse_own(struct op *op, const char *text, struct json_doc **doc)
{
	size_t len = strlen(text);
	char *copy = arena_dup(op->arena, text, len);

	if (!copy)
		return RES_NOMEM;
	return json_parse(copy, len, doc, NULL) == RES_OK ? RES_OK : RES_CORRUPT;
}

/* What an actor saw without its passwords he cannot put back whole. */
static enum res keep_secrets(struct op *op, const struct json *base, const struct json *patch)
{
	const char *member;
	char field[64];

	if (!base || patch->type != JSON_OBJECT || actor_may(op->actor, RIGHT_SECRETS) ||
	    !(member = server_secret_lost(base, patch)))
		return RES_OK;
	snprintf(field, sizeof field, "server.%s", member);
	return problem_set(op->problem, RES_FORBIDDEN, "secrets_needed", field,
			   "holds passwords that you do not see and that would be lost: changing it "
			   "needs the right secrets");
}

/* `server` null or absent at creation is the default settings; null in a change resets to them. */
static enum res fill_server(struct op *op, const struct profile_input *in, struct profile *profile)
{
	bool keep = *profile->server && !(has(in, PROFILE_F_SERVER) && !in->server);
	struct json_doc *base = NULL;
	struct buf text;
	enum res res = RES_OK;

	if (*profile->server && !has(in, PROFILE_F_SERVER))
		return RES_OK;
	buf_init(&text, SERVER_TEXT_MAX * 2);
	if (keep && ((res = parse_own(op, profile->server, &base)) != RES_OK ||
		     (res = keep_secrets(op, json_root(base), in->server)) != RES_OK))
		goto out;
	res = server_merge("server", base ? json_root(base) : NULL, in->server, &text, op->problem);
	if (res != RES_OK)
		goto out;
	profile->server = arena_dup(op->arena, text.data, text.len);
	res = profile->server ? RES_OK : RES_NOMEM;
out:
	json_free(base);
	buf_free_secret(&text);
	return res;
}

static enum res fill(struct op *op, const struct profile_input *in, struct profile *profile)
{
	enum res res = fill_name(op, in, profile);

	if (res == RES_OK)
		res = fill_network(op, in, profile);
	if (res == RES_OK)
		res = fill_obfs(op, in, profile);
	if (res == RES_OK)
		res = fill_server(op, in, profile);
	if (res == RES_OK)
		res = profile_check(profile, op->problem);
	return res;
}

/* --- Operations --- */

enum res op_profile_create(struct op *op, void *profile_create)
{
	struct profile_create *create = profile_create;
	const struct profile nothing = {.obfs_password = "", .server = ""};
	struct profile profile = {.note = "",
				  .port = 443,
				  .hop_ports = "",
				  .hop_interval_s = 30,
				  .obfs_password = "",
				  .sni = "",
				  .server = "",
				  .created_unix = op->now_unix};
	enum res res;

	if (!has(&create->input, PROFILE_F_NAME))
		return problem_set(op->problem, RES_INVALID, "missing_field", "name", "is needed");
	public_id_new(ID_PROFILE, &profile.public_id);
	if ((res = fill(op, &create->input, &profile)) != RES_OK ||
	    (res = seal_changed(op, &profile, &nothing)) != RES_OK ||
	    (res = profile_insert(op->conn, &profile, &create->id)) != RES_OK)
		return res;
	create->public_id = profile.public_id;
	if ((res = op_made(op, profile.public_id.text)) != RES_OK)
		return res;
	return op_audit(op, "profile.create", profile.public_id.text,
			detail_name(op, profile.name));
}

static enum res read_target(struct op *op, struct profile_target *target, struct profile *profile)
{
	enum res res = profile_by_public_id(op->conn, target->public_id, op->arena, profile);

	if ((res = target_found(op, res, "profile")) != RES_OK)
		return res;
	target->id = profile->id;
	return op_check_version(op, target->if_match, profile->version);
}

static bool same_to_clients(const struct profile *a, const struct profile *b)
{
	return strcmp(a->name, b->name) == 0 && a->port == b->port &&
	       strcmp(a->hop_ports, b->hop_ports) == 0 && a->hop_interval_s == b->hop_interval_s &&
	       a->obfs == b->obfs && strcmp(a->obfs_password, b->obfs_password) == 0 &&
	       a->obfs_min_packet_bytes == b->obfs_min_packet_bytes &&
	       a->obfs_max_packet_bytes == b->obfs_max_packet_bytes &&
	       a->cert_mode == b->cert_mode && strcmp(a->sni, b->sni) == 0;
}

static bool same(const struct profile *a, const struct profile *b)
{
	return same_to_clients(a, b) && strcmp(a->note, b->note) == 0 &&
	       strcmp(a->server, b->server) == 0;
}

/* Ports are compared with the row already changed; a clash undoes the job. */
static enum res spread(struct op *op, const struct profile *profile, bool shown)
{
	int64_t *ids;
	size_t count;
	enum res res = inbounds_of_profile(op->conn, profile->id, op->arena, &ids, &count);

	for (size_t i = 0; i < count && res == RES_OK; i++) {
		struct inbound inbound;

		if ((res = inbound_by_id(op->conn, ids[i], op->arena, &inbound)) == RES_OK &&
		    (res = inbound_ports_check(op, &inbound)) == RES_OK)
			res = inbound_refresh_told(op, ids[i], &(bool){false});
	}
	if (res == RES_OK && count > 0 && shown)
		res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false);
	return res;
}

enum res op_profile_patch(struct op *op, void *profile_patch)
{
	struct profile_patch *patch = profile_patch;
	struct profile before, after;
	enum res res = read_target(op, &patch->target, &before);

	if (res == RES_OK)
		res = profile_unseal(op->vault, &before, op->arena);
	if (res != RES_OK)
		return res;
	after = before;
	if ((res = fill(op, &patch->input, &after)) != RES_OK || same(&before, &after))
		return res;
	after.version = next_version(after.version);
	if ((res = seal_changed(op, &after, &before)) != RES_OK ||
	    (res = profile_update(op->conn, &after)) != RES_OK ||
	    (res = spread(op, &after, !same_to_clients(&before, &after))) != RES_OK)
		return res;
	return op_audit(op, "profile.patch", after.public_id.text,
			detail_fields(op, profile_fields, PROFILE_FIELDS, patch->input.present));
}

/* Names the inbounds that stand in the way, as far as a sentence holds them. */
static enum res refuse_in_use(struct op *op, const int64_t *ids, size_t count)
{
	struct buf names;
	enum res res = RES_OK;

	buf_init(&names, 180);
	for (size_t i = 0; i < count && i < 3 && res == RES_OK; i++) {
		struct inbound inbound;

		if ((res = inbound_by_id(op->conn, ids[i], op->arena, &inbound)) == RES_OK)
			buf_printf(&names, "%s%s", i ? ", " : "", inbound.public_id.text);
	}
	if (res == RES_OK)
		res = problem_set(op->problem, RES_CONFLICT, "in_use", NULL,
				  "is placed on nodes (%zu): delete its inbounds first: %s%s",
				  count, names.len ? names.data : "", count > 3 ? ", ..." : "");
	buf_free(&names);
	return res;
}

enum res op_profile_delete(struct op *op, void *profile_target)
{
	struct profile_target *target = profile_target;
	struct profile profile;
	int64_t *ids;
	size_t count;
	enum res res = read_target(op, target, &profile);

	if (res == RES_OK)
		res = inbounds_of_profile(op->conn, profile.id, op->arena, &ids, &count);
	if (res != RES_OK)
		return res;
	if (count > 0)
		return refuse_in_use(op, ids, count);
	if ((res = profile_remove(op->conn, profile.id)) != RES_OK)
		return res;
	return op_audit(op, "profile.delete", profile.public_id.text,
			detail_name(op, profile.name));
}
