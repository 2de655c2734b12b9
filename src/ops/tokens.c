#include "hythe/ops/tokens.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hythe/model/name.h"
#include "hythe/util/json_write.h"
#include "op_parts.h"

#define TIME_MAX INT64_C(253402300799) /* the last second of the year 9999 */
#define LIFE_MAX INT64_C(3155760000)   /* a hundred years */

/* clang-format off */
const struct json_field token_fields[TOKEN_FIELDS] = {
	[TOKEN_F_NAME]       = {FIELD_TEXT(token_input, name, 1, NAME_MAX_BYTES), REQUIRED},
	[TOKEN_F_RIGHTS]     = {FIELD_TREE(token_input, rights), REQUIRED},
	[TOKEN_F_EXPIRES]    = {FIELD_I64(token_input, expires_unix, 0, TIME_MAX)},
	[TOKEN_F_EXPIRES_IN] = {FIELD_I64(token_input, expires_in_s, 1, LIFE_MAX)},
	[TOKEN_F_RATE]       = {FIELD_I64(token_input, rate_per_s, 0, TOKEN_RATE_MAX)},
};
/* clang-format on */

static bool given(const struct token_input *input, enum token_field field)
{
	return input->present & (UINT64_C(1) << field);
}

/* --- Input --- */

static enum res bad_rights(struct op *op, const char *field)
{
	return problem_set(
		op->problem, RES_INVALID, "bad_value", field,
		"rights is a list of users.read, users.write, secrets, nodes.read, nodes.write, "
		"settings, admins, metrics, each once");
}

static enum res read_rights(struct op *op, const struct json *list, uint32_t *out)
{
	char field[32];
	unsigned at = 0;

	*out = 0;
	if (list->type != JSON_ARRAY)
		return problem_set(op->problem, RES_INVALID, "wrong_type", "rights",
				   "rights must be a list of words");
	for (const struct json *word = json_first(list); word; word = json_next(word), at++) {
		enum right right;

		snprintf(field, sizeof field, "rights[%u]", at);
		if (word->type != JSON_STRING || !right_of_word(word->text, &right) ||
		    (*out & right))
			return bad_rights(op, field);
		if (!actor_may(op->actor, right))
			return problem_set(op->problem, RES_FORBIDDEN, "more_rights_than_own",
					   field, "a token has no right that its maker lacks: %s",
					   right_word(right));
		*out |= right;
	}
	return *out ? RES_OK : bad_rights(op, "rights");
}

static enum res read_expiry(struct op *op, const struct token_input *input, int64_t *out)
{
	*out = given(input, TOKEN_F_EXPIRES) ? input->expires_unix : 0;
	if (given(input, TOKEN_F_EXPIRES) && given(input, TOKEN_F_EXPIRES_IN))
		return problem_set(op->problem, RES_INVALID, "bad_value", "expires_in_s",
				   "give expires_unix or expires_in_s, not both");
	if (given(input, TOKEN_F_EXPIRES_IN))
		*out = op->now_unix + input->expires_in_s;
	if (*out != 0 && *out <= op->now_unix)
		return problem_set(op->problem, RES_INVALID, "out_of_range", "expires_unix",
				   "expires_unix must lie ahead, or be 0 for never");
	return RES_OK;
}

/* A token that fell into wrong hands must not make itself an heir; one with the right to manage
 * admins could take over anyway. */
static enum res may_make(struct op *op)
{
	int64_t count;
	enum res res;

	if (op->actor->kind == ACTOR_TOKEN && !actor_may(op->actor, RIGHT_ADMINS))
		return problem_set(op->problem, RES_FORBIDDEN, "forbidden", NULL,
				   "a token makes tokens only with the right admins");
	if ((res = api_tokens_count(op->conn, op->actor->admin_id, &count)) != RES_OK)
		return res;
	if (count >= TOKENS_PER_ADMIN)
		return problem_set(op->problem, RES_CONFLICT, "too_many_tokens", NULL,
				   "an admin has %d tokens at most; delete some", TOKENS_PER_ADMIN);
	return RES_OK;
}

/* --- Operations --- */

void token_rights_write(struct json_writer *w, uint32_t rights)
{
	json_array(w, "rights");
	for (uint32_t bit = RIGHT_USERS_READ; bit <= RIGHT_METRICS; bit <<= 1)
		if (rights & bit)
			json_text(w, NULL, right_word((enum right)bit));
	json_end(w);
}

static enum res audit_create(struct op *op, const struct api_token *token)
{
	struct json_writer w;
	struct buf detail;
	enum res res = RES_NOMEM;

	buf_init(&detail, 4096);
	json_start(&w, &detail);
	json_object(&w, NULL);
	json_text(&w, "name", token->name);
	token_rights_write(&w, token->rights);
	json_int(&w, "expires_unix", token->expires_unix);
	json_end(&w);
	if (json_finish(&w))
		res = op_audit(op, "token.create", token->public_id.text, detail.data);
	buf_free(&detail);
	return res;
}

enum res op_token_create(struct op *op, void *arg)
{
	struct token_create *create = arg;
	const struct token_input *input = &create->input;
	struct api_token token = {
		.admin_id = op->actor->admin_id,
		.rate_per_s = input->rate_per_s,
		.created_unix = op->now_unix,
	};
	const char *key;
	enum res res;

	if ((res = may_make(op)) != RES_OK ||
	    (res = name_check(op->arena, "name", input->name, &token.name, &key, op->problem)) !=
		    RES_OK ||
	    (res = read_rights(op, input->rights, &token.rights)) != RES_OK ||
	    (res = read_expiry(op, input, &token.expires_unix)) != RES_OK)
		return res;
	public_id_new(ID_TOKEN, &token.public_id);
	token_secret_new(&create->secret);
	if ((res = token_insert(op->conn, &token, create->secret.hash)) != RES_OK)
		return res;
	create->id = token.id;
	create->public_id = token.public_id;
	if ((res = op_made(op, token.public_id.text)) != RES_OK)
		return res;
	return audit_create(op, &token);
}

bool token_visible(const struct actor *actor, const struct api_token *token)
{
	if (actor_may(actor, RIGHT_ADMINS))
		return true;
	return actor->admin_id != 0 && token->admin_id == actor->admin_id;
}

enum res op_token_delete(struct op *op, void *arg)
{
	const char *public_id = arg;
	struct api_token token;
	enum res res = token_by_public_id(op->conn, public_id, op->arena, &token);

	if (res == RES_NOT_FOUND || (res == RES_OK && !token_visible(op->actor, &token)))
		return problem_set(op->problem, RES_NOT_FOUND, "not_found", NULL,
				   "There is no such token.");
	if (res != RES_OK || (res = token_delete(op->conn, token.id)) != RES_OK ||
	    (res = txn_change_setting(op->txn)) != RES_OK)
		return res;
	return op_audit(op, "token.delete", token.public_id.text, NULL);
}
