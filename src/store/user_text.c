/* store/user_text.c – see user_text.h. */
#include "user_text.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>

#include "hythe/store/users.h"
#include "hythe/util/buf.h"
#include "hythe/util/num.h"
#include "hythe/util/text.h"

#define ROW_IDS_END    ((int64_t)1 << 53)
#define CREDENTIAL_MAX 128

static uint32_t lower(uint32_t c)
{
	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	return uc_tolower(c);
}

/* The whole text as one phrase; a quote in it is written twice. */
static bool put_match(struct arena *arena, struct search_text *out)
{
	struct buf match;

	buf_init(&match, 4096);
	buf_char(&match, '"');
	for (const char *at = out->text; *at; at++) {
		if (*at == '"')
			buf_char(&match, '"');
		buf_char(&match, *at);
	}
	buf_char(&match, '"');
	out->match = match.failed ? NULL : arena_dup(arena, match.data, match.len);
	buf_free(&match);
	return out->match != NULL;
}

static bool put_chars(struct search_text *out)
{
	const char *at = out->text;
	size_t left = strlen(at);

	while (left) {
		uint32_t code;
		size_t n = text_utf8_next(at, left, &code);

		if (n == 0 || out->chars == SEARCH_CHARS_MAX)
			return false;
		out->folded[out->chars++] = lower(code);
		at += n;
		left -= n;
	}
	return true;
}

bool search_text_read(struct arena *arena, const char *q, struct search_text *out)
{
	size_t len = 0;
	uint8_t *nfc = u8_normalize(UNINORM_NFC, (const uint8_t *)q, strlen(q), NULL, &len);

	out->chars = 0;
	out->match = NULL;
	out->text = nfc ? arena_dup(arena, (const char *)nfc, len) : NULL;
	free(nfc);
	if (!out->text || !put_chars(out))
		return false;
	return out->chars < 3 || put_match(arena, out);
}

static bool begins_with(const struct search_text *search, const char *text, size_t len)
{
	for (size_t i = 0; i < search->chars; i++) {
		uint32_t code;
		size_t n = len ? text_utf8_next(text, len, &code) : 0;

		if (n == 0 || lower(code) != search->folded[i])
			return false;
		text += n;
		len -= n;
	}
	return true;
}

bool search_text_in(const struct search_text *search, const char *text, size_t len)
{
	while (len) {
		if (begins_with(search, text, len))
			return true;
		do { /* to the next character, also past bytes that are none */
			text++;
			len--;
		} while (len && ((unsigned char)*text & 0xc0) == 0x80);
	}
	return false;
}

static bool is_token(const char *text, size_t len)
{
	if (len != LINK_TOKEN_LEN)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
			    text[i]))
			return false;
	return true;
}

const char *search_link_token(struct arena *arena, const char *q)
{
	const char *found = NULL;

	/* The last piece of that shape: a prefix may look like a token, a format does not. */
	while (*q) {
		size_t len = strcspn(q, "/?#& ");

		if (is_token(q, len))
			found = q;
		q += len;
		q += *q != '\0';
	}
	return found ? arena_dup(arena, found, LINK_TOKEN_LEN) : NULL;
}

const char *search_credential(struct arena *arena, const char *q)
{
	static const char *const schemes[] = {"hysteria2://", "hy2://"};
	size_t len = strlen(q), out_len;
	char text[CREDENTIAL_MAX + 1];

	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		size_t n = strlen(schemes[i]), user;

		if (strncmp(q, schemes[i], n) != 0)
			continue;
		user = strcspn(q + n, "@/?#");
		if (q[n + user] != '@' ||
		    !text_percent_decode(q + n, user, false, text, sizeof text, &out_len))
			return NULL;
		return arena_dup(arena, text, out_len);
	}
	return len && len <= CREDENTIAL_MAX ? arena_dup(arena, q, len) : NULL;
}

bool search_slot(const char *q, int64_t *user_id)
{
	const char *dot = strchr(q, '.');
	int64_t slot;

	return dot && num_i64(q, (size_t)(dot - q), 1, ROW_IDS_END, user_id) == RES_OK &&
	       num_i64(dot + 1, strlen(dot + 1), 0, 65535, &slot) == RES_OK;
}

bool search_telegram(const char *q, int64_t *telegram_id)
{
	return num_i64(q, strlen(q), 1, ROW_IDS_END, telegram_id) == RES_OK;
}
