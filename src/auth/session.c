#include "hythe/auth/session.h"

#include <string.h>

#include "hythe/model/settings.h"

#define NAME_HTTPS "__Host-hythe"
#define NAME_HTTP  "hythe"

static void hash_of(struct session_secret *secret)
{
	hash_sha256(secret->text, SESSION_TOKEN_LEN, secret->hash);
}

void session_secret_new(struct session_secret *secret)
{
	uint8_t bits[32];

	random_bytes(bits, sizeof bits);
	base64url_encode(bits, sizeof bits, secret->text);
	hash_of(secret);
	explicit_bzero(bits, sizeof bits);
}

bool session_secret_of_text(const char *text, size_t len, struct session_secret *secret)
{
	uint8_t bits[32];

	if (len != SESSION_TOKEN_LEN || !base64url_decode(text, len, bits, sizeof bits))
		return false;
	memcpy(secret->text, text, len);
	secret->text[len] = '\0';
	hash_of(secret);
	explicit_bzero(bits, sizeof bits);
	return true;
}

bool session_alive(int64_t last_seen_unix, int64_t expires_unix, int64_t now_unix)
{
	return now_unix < expires_unix && now_unix - last_seen_unix < SESSION_IDLE_S;
}

bool session_actor(const struct session_found *found, struct actor *out)
{
	enum role role;

	if (!found->enabled || !role_of_word(found->role, &role))
		return false;
	*out = (struct actor){
		.kind = ACTOR_ADMIN,
		.admin_id = found->admin_id,
		.session_id = found->id,
		.public_id = found->admin,
		.rights = role_rights(role),
		.role = role,
		.cookie = true,
	};
	return true;
}

const char *session_cookie_name(const char *public_url)
{
	if (settings_url_is_https(public_url))
		return NAME_HTTPS;
	return settings_url_is_loopback(public_url) ? NAME_HTTP : NULL;
}

bool session_cookie_find(const char *header, const char *name, struct session_secret *out)
{
	size_t name_len = strlen(name);
	bool found = false;

	while (*header) {
		size_t len;

		header += strspn(header, " \t;");
		len = strcspn(header, ";");
		if (strncmp(header, name, name_len) == 0 && header[name_len] == '=') {
			size_t value_len = len - name_len - 1;

			while (value_len > 0 && strchr(" \t", header[name_len + value_len]))
				value_len--;
			/* Two of one name: somebody planted one of them. */
			if (found || !session_secret_of_text(header + name_len + 1, value_len, out))
				return false;
			found = true;
		}
		header += len;
	}
	return found;
}

bool session_cookie_print(struct buf *out, const char *public_url, const char *token)
{
	const char *name = session_cookie_name(public_url);

	if (!name)
		return false;
	return buf_printf(out, "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s", name,
			  token ? token : "", token ? SESSION_LIFE_S : 0,
			  settings_url_is_https(public_url) ? "; Secure" : "");
}
