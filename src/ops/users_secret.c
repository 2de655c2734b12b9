/* users_secret.c – links and credentials: made, sealed, opened. In clear they live on the stack, as
 * short as can be. */
#include <inttypes.h>
#include <string.h>

#include "hythe/util/hash.h"
#include "hythe/util/log.h"
#include "hythe/util/text.h"
#include "users_internal.h"

#define TOKEN_BYTES 16

static struct seal_place link_place(const struct public_id *user)
{
	return (struct seal_place){"user", "sub_token_sealed", user->text, NULL, 0};
}

static struct seal_place credential_place(const struct public_id *user, const uint8_t hash[32])
{
	return (struct seal_place){"credential", "sealed", user->text, hash, 32};
}

static enum res seal(struct op *op, const struct seal_place *place, const char *text, size_t len,
		     const void **sealed, size_t *sealed_len)
{
	struct buf out;
	enum res res;

	buf_init(&out, CREDENTIAL_MAX + SEAL_OVERHEAD);
	if ((res = vault_seal(op->vault, place, text, len, &out)) == RES_OK) {
		*sealed_len = out.len;
		if (!(*sealed = arena_dup(op->arena, out.data, out.len)))
			res = RES_NOMEM;
	}
	buf_free(&out);
	return res;
}

enum res user_link_make(struct op *op, const struct public_id *user, struct user_link *out)
{
	struct seal_place place = link_place(user);
	uint8_t random[TOKEN_BYTES];
	char token[LINK_TOKEN_LEN + 1];
	enum res res;

	_Static_assert(BASE64URL_LEN(TOKEN_BYTES) == LINK_TOKEN_LEN, "128 bits make a token");
	random_bytes(random, sizeof random);
	base64url_encode(random, sizeof random, token);
	hash_sha256(token, LINK_TOKEN_LEN, out->hash);
	res = seal(op, &place, token, LINK_TOKEN_LEN, &out->sealed, &out->sealed_len);
	explicit_bzero(random, sizeof random);
	explicit_bzero(token, sizeof token);
	return res;
}

enum res user_link_old(struct op *op, int64_t user_id, struct user_link *out, bool *linked)
{
	enum res res = user_link_sealed(op->conn, user_id, op->arena, out);

	*linked = res == RES_OK || res == RES_CORRUPT;
	if (res == RES_CORRUPT)
		log_error("user_link_damaged", "user=%" PRId64, user_id);
	return *linked || res == RES_NOT_FOUND ? RES_OK : res;
}

/* Drawn anew until it has a '-', so that no YAML or JSON reader takes it for a number. */
static void random_credential(char out[CREDENTIAL_LEN + 1])
{
	static const char alphabet[64] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[CREDENTIAL_LEN];

	do {
		random_bytes(random, sizeof random);
		for (size_t i = 0; i < CREDENTIAL_LEN; i++)
			out[i] = alphabet[random[i] & 63];
		out[CREDENTIAL_LEN] = '\0';
	} while (!strchr(out, '-'));
	explicit_bzero(random, sizeof random);
}

static enum res check_imported(const char *text, struct problem *problem)
{
	size_t len = strnlen(text, CREDENTIAL_MAX + 1);

	if (len < 1 || len > CREDENTIAL_MAX || !text_utf8_valid(text, len) ||
	    text_has_control(text, len))
		return problem_set(
			problem, RES_INVALID, "bad_value", "credential",
			"A credential is 1 to %d bytes of UTF-8 without control characters.",
			CREDENTIAL_MAX);
	return RES_OK;
}

static enum res settle_user(struct op *op, int64_t user_id)
{
	struct user_before before;
	enum res res = user_record_begin(op, user_id, &before);

	return res == RES_OK ? user_record_end(op, &before) : res;
}

/* One that has ended but was not yet taken away is nobody's. */
static enum res check_free(struct op *op, const struct user *user, const uint8_t hash[32])
{
	struct credential holder;
	enum res res = credential_by_hash(op->conn, hash, op->arena, &holder);

	if (res == RES_OK && holder.not_after_unix > 0 && holder.not_after_unix <= op->now_unix &&
	    holder.user_id != user->id) {
		if ((res = settle_user(op, holder.user_id)) != RES_OK)
			return res;
		res = credential_by_hash(op->conn, hash, op->arena, &holder);
	}
	if (res == RES_NOT_FOUND)
		return RES_OK;
	if (res != RES_OK)
		return res;
	return problem_set(op->problem, RES_CONFLICT, "credential_taken", "credential",
			   "Another user has this credential.");
}

enum res user_credential_make(struct op *op, const struct user *user, const char *imported,
			      struct credential *out)
{
	char made[CREDENTIAL_LEN + 1] = "";
	const char *text = imported ? imported : made;
	struct seal_place place = credential_place(&user->public_id, out->hash);
	enum res res = RES_OK;

	*out = (struct credential){.user_id = user->id, .created_unix = op->now_unix};
	if (imported)
		res = check_imported(imported, op->problem);
	else
		random_credential(made);
	if (res == RES_OK) {
		hash_sha256(text, strlen(text), out->hash);
		if (imported)
			res = check_free(op, user, out->hash);
	}
	if (res == RES_OK)
		res = seal(op, &place, text, strlen(text), &out->sealed, &out->sealed_len);
	explicit_bzero(made, sizeof made);
	return res;
}

enum res user_link_token(const struct vault *vault, const struct public_id *user,
			 const void *sealed, size_t len, struct buf *out)
{
	struct seal_place place = link_place(user);

	return vault_open_sealed(vault, &place, sealed, len, out);
}

enum res user_credential_text(const struct vault *vault, const struct public_id *user,
			      const struct credential *credential, struct buf *out)
{
	struct seal_place place = credential_place(user, credential->hash);

	return vault_open_sealed(vault, &place, credential->sealed, credential->sealed_len, out);
}
