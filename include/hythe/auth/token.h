/* auth/token.h – API tokens: "hyt_" and 43 base64url characters from 256 random bits, kept as
 * SHA-256. Threads: values only. */
#ifndef HYTHE_AUTH_TOKEN_H
#define HYTHE_AUTH_TOKEN_H

#include "hythe/auth/rights.h"
#include "hythe/store/tokens.h"
#include "hythe/util/hash.h"

#define TOKEN_HEAD     "hyt_"
#define TOKEN_TEXT_LEN (4 + BASE64URL_LEN(32))
#define TOKEN_TOUCH_S  60 /* last_used is written at most that often */

struct token_secret {
	char text[TOKEN_TEXT_LEN + 1];
	uint8_t hash[SHA256_LEN];
};
void token_secret_new(struct token_secret *secret);
bool token_secret_of_text(const char *text, size_t len, struct token_secret *secret);
/* "Bearer <token>"; false: another scheme or not of the form. */
bool token_of_authorization(const char *header, struct token_secret *out);

bool token_alive(int64_t expires_unix, int64_t now_unix);
/* Who that is, with what token and maker's role both allow; false: the maker is disabled. */
bool token_actor(const struct token_found *found, struct actor *out);

#endif
