#include "hythe/auth/token.h"

#include <string.h>
#include <strings.h>

static void hash_of(struct token_secret *secret)
{
	hash_sha256(secret->text, TOKEN_TEXT_LEN, secret->hash);
}

void token_secret_new(struct token_secret *secret)
{
	uint8_t bits[32];

	random_bytes(bits, sizeof bits);
	memcpy(secret->text, TOKEN_HEAD, sizeof TOKEN_HEAD);
	base64url_encode(bits, sizeof bits, secret->text + strlen(TOKEN_HEAD));
	hash_of(secret);
	explicit_bzero(bits, sizeof bits);
}

bool token_secret_of_text(const char *text, size_t len, struct token_secret *secret)
{
	uint8_t bits[32];

	if (len != TOKEN_TEXT_LEN || memcmp(text, TOKEN_HEAD, strlen(TOKEN_HEAD)) != 0 ||
	    !base64url_decode(text + strlen(TOKEN_HEAD), len - strlen(TOKEN_HEAD), bits,
			      sizeof bits))
		return false;
	memcpy(secret->text, text, len);
	secret->text[len] = '\0';
	hash_of(secret);
	explicit_bzero(bits, sizeof bits);
	return true;
}

bool token_of_authorization(const char *header, struct token_secret *out)
{
	if (strncasecmp(header, "Bearer ", 7) != 0)
		return false;
	header += 7;
	header += strspn(header, " ");
	return token_secret_of_text(header, strlen(header), out);
}

bool token_alive(int64_t expires_unix, int64_t now_unix)
{
	return expires_unix == 0 || now_unix < expires_unix;
}

bool token_actor(const struct token_found *found, struct actor *out)
{
	uint32_t bound = RIGHTS_ALL;
	enum role role = ROLE_OWNER;

	if (!found->enabled)
		return false;
	/* A maker who lost rights takes them from what he made. */
	if (found->admin_id != 0) {
		if (!role_of_word(found->role, &role))
			return false;
		bound = role_rights(role);
	}
	*out = (struct actor){
		.kind = ACTOR_TOKEN,
		.admin_id = found->admin_id,
		.token_id = found->id,
		.public_id = found->public_id,
		.rights = (found->rights & bound) | RIGHT_SIGNED_IN,
		.role = role,
	};
	return true;
}
