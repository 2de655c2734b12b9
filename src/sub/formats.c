#include "formats.h"

#include <string.h>

#include "hythe/util/hash.h"

const struct sub_format sub_formats[] = {
	{"base64", "links", "text/plain; charset=utf-8", true,  false, format_links},
	{"plain",  "links", "text/plain; charset=utf-8", false, false, format_links},
};
const size_t sub_formats_count = sizeof sub_formats / sizeof *sub_formats;

int sub_format_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sub_formats_count; i++)
		if (strlen(sub_formats[i].name) == len &&
		    memcmp(sub_formats[i].name, name, len) == 0)
			return (int)i;
	return -1;
}

bool sub_format_takes(const struct sub_format *format, const struct endpoint *endpoint)
{
	if (!format->gecko && strcmp(endpoint->obfs, "gecko") == 0)
		return false;
	return host_has_format(endpoint->formats, format->name) ||
	       host_has_format(endpoint->formats, format->host_word);
}

/* Not util/hash's encoder, which takes the same time whatever the letters and so ten times as long:
 * it is for keys, this is for lists of a hundred servers that are sent as they are. */
static void encode_three(const unsigned char *in, size_t len, char *out)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = (unsigned)in[0] << 16;

	if (len > 1)
		bits |= (unsigned)in[1] << 8;
	if (len > 2)
		bits |= in[2];
	out[0] = letters[bits >> 18];
	out[1] = letters[bits >> 12 & 63];
	out[2] = letters[bits >> 6 & 63];
	out[3] = letters[bits & 63];
}

static bool put_base64(const struct buf *text, struct buf *out)
{
	const unsigned char *in = (const unsigned char *)text->data;
	size_t len = BASE64_LEN(text->len), left = text->len;
	char *at;

	if (!buf_reserve(out, len))
		return false;
	at = out->data + out->len;
	for (; left >= 3; left -= 3, in += 3, at += 4)
		encode_three(in, 3, at);
	if (left > 0) {
		encode_three(in, left, at);
		memset(at + 1 + left, '=', 3 - left);
	}
	out->len += len;
	out->data[out->len] = '\0';
	return true;
}

bool sub_format_render(const struct sub_format *format, const struct sub_page *page,
		       struct buf *out)
{
	struct buf text;
	bool ok;

	if (!format->base64)
		return format->render(page, out);
	buf_init(&text, SUB_BODY_MAX);
	ok = format->render(page, &text) && put_base64(&text, out);
	buf_free_secret(&text);
	return ok;
}
