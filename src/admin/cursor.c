/* admin/cursor.c – opaque cursors: where a list's page ended, and of which list.
 *
 * Inside: version (1), check (4), number (8), id (8), text. The check is the beginning of a SHA-256
 * over the route, sort and filters, so that a cursor of another list is refused and not misread. It
 * is no secret and no signature: a forged cursor begins a page elsewhere, which any client may. */
#include "call.h"

#include <string.h>

#include "hythe/util/hash.h"

#define CURSOR_VERSION  1
#define CURSOR_HEAD     21
#define CURSOR_TEXT_MAX 1024

static void put_text(struct hash_sha256_ctx *ctx, const char *text)
{
	hash_sha256_put_text(ctx, text ? text : "", text ? strlen(text) : 0);
	hash_sha256_put_i64(ctx, text != NULL);
}

static void cursor_check(const struct call *call, const struct list_query *query, uint8_t out[4])
{
	struct hash_sha256_ctx *ctx = hash_sha256_new();
	uint8_t hash[SHA256_LEN];

	put_text(ctx, call->path);
	put_text(ctx, query->sort);
	put_text(ctx, query->q);
	put_text(ctx, query->status);
	put_text(ctx, query->group);
	put_text(ctx, query->tag);
	hash_sha256_end(ctx, hash);
	memcpy(out, hash, 4);
}

static void put_i64(uint8_t *out, int64_t value)
{
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)((uint64_t)value >> (56 - 8 * i));
}

static int64_t get_i64(const uint8_t *in)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | in[i];
	return (int64_t)value;
}

const char *call_cursor_print(struct call *call, const struct list_query *query,
			      const struct cursor *cursor)
{
	const char *text = cursor->text ? cursor->text : "";
	size_t text_len = strlen(text), len = CURSOR_HEAD + text_len;
	uint8_t *raw = arena_alloc(call->arena, len);
	char *out = arena_alloc(call->arena, BASE64URL_LEN(len) + 1);

	if (!raw || !out)
		return NULL;
	raw[0] = CURSOR_VERSION;
	cursor_check(call, query, raw + 1);
	put_i64(raw + 5, cursor->number);
	put_i64(raw + 13, cursor->id);
	memcpy(raw + CURSOR_HEAD, text, text_len);
	base64url_encode(raw, len, out);
	return out;
}

static bool cursor_bad(struct call *call, const char *why)
{
	problem_set(&call->problem, RES_INVALID, "bad_cursor", "cursor", "%s", why);
	return false;
}

static bool cursor_decode(struct call *call, const struct list_query *query, uint8_t *raw,
			  size_t len, struct cursor *out)
{
	uint8_t check[4];
	size_t text_len = len - CURSOR_HEAD;

	cursor_check(call, query, check);
	if (raw[0] != CURSOR_VERSION || memcmp(raw + 1, check, sizeof check) != 0)
		return cursor_bad(call,
				  "The cursor belongs to a list with another sort or filter.");
	out->number = get_i64(raw + 5);
	out->id = get_i64(raw + 13);
	out->text = arena_dup(call->arena, (const char *)raw + CURSOR_HEAD, text_len);
	if (out->text)
		return true;
	call_set(call, RES_NOMEM, NULL, NULL, "Out of memory.");
	return false;
}

bool call_cursor_read(struct call *call, const struct list_query *query, struct cursor *out)
{
	uint8_t raw[CURSOR_HEAD + CURSOR_TEXT_MAX];
	size_t text_len, len;

	*out = (struct cursor){.text = ""};
	if (!query->cursor)
		return true;
	text_len = strlen(query->cursor);
	len = text_len / 4 * 3 + (text_len % 4 ? text_len % 4 - 1 : 0);
	if (text_len % 4 == 1 || len < CURSOR_HEAD || len > sizeof raw ||
	    !base64url_decode(query->cursor, text_len, raw, len))
		return cursor_bad(call, "This is no cursor of ours.");
	return cursor_decode(call, query, raw, len, out);
}

void call_next_cursor(struct call *call, struct json_writer *w, const struct list_query *query,
		      const struct cursor *cursor)
{
	const char *text = cursor ? call_cursor_print(call, query, cursor) : NULL;

	if (cursor && !text)
		w->failed = true;
	json_text(w, "next_cursor", text);
}
