/* Server settings of a profile: what is accepted is canonical (read again it is the same), and the
 * form for people without secrets is never longer. The input is one JSON object, or two with a NUL
 * between: what is stored, and a change to it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/model/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

struct text {
	char *bytes;
	struct json_doc *doc;
};

static struct text parse(const void *data, size_t size)
{
	struct text text = {.bytes = malloc(size + 1)};

	must(text.bytes != NULL);
	if (size > 0)
		memcpy(text.bytes, data, size);
	text.bytes[size] = '\0';
	(void)json_parse(text.bytes, size, &text.doc, NULL);
	return text;
}

static void drop(struct text *text)
{
	json_free(text->doc);
	free(text->bytes);
}

static enum res merge(const struct text *base, const struct text *patch, struct buf *out)
{
	struct problem problem = {0};
	enum res res =
		server_merge("server", base && base->doc ? json_root(base->doc) : NULL,
			     patch && patch->doc ? json_root(patch->doc) : NULL, out, &problem);

	must(res == RES_OK || res == RES_INVALID);
	must((res == RES_OK) == (problem.detail[0] == '\0'));
	must(res == RES_OK || strncmp(problem.field, "server", 6) == 0);
	return res;
}

static void check_canonical(const struct buf *first)
{
	struct text text = parse(first->data, first->len);
	struct buf again, public;

	must(text.doc != NULL);
	buf_init(&again, SERVER_TEXT_MAX * 2);
	buf_init(&public, SERVER_TEXT_MAX * 2);
	must(merge(NULL, &text, &again) == RES_OK);
	must(again.len == first->len && memcmp(again.data, first->data, again.len) == 0);
	buf_reset(&again);
	must(merge(&text, NULL, &again) == RES_OK);
	must(again.len == first->len && memcmp(again.data, first->data, again.len) == 0);
	must(server_print_public(json_root(text.doc), &public) == RES_OK);
	must(public.len <= first->len);
	buf_free(&public);
	buf_free(&again);
	drop(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
	struct text first = parse(data, cut ? (size_t)(cut - data) : size);
	struct text second = parse(cut ? cut + 1 : data, cut ? size - (size_t)(cut + 1 - data) : 0);
	struct buf stored, changed;

	buf_init(&stored, SERVER_TEXT_MAX * 2);
	buf_init(&changed, SERVER_TEXT_MAX * 2);
	if (first.doc && merge(NULL, &first, &stored) == RES_OK) {
		struct text base;

		check_canonical(&stored);
		base = parse(stored.data, stored.len);
		if (second.doc && merge(&base, &second, &changed) == RES_OK)
			check_canonical(&changed);
		drop(&base);
	}
	buf_free(&changed);
	buf_free(&stored);
	drop(&second);
	drop(&first);
	return 0;
}
