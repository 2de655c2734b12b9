#include "hythe/util/json_write.h"

#include <stdio.h>
#include <string.h>

#include "hythe/util/text.h"

#define DEPTH_MAX 40

void json_start(struct json_writer *w, struct buf *out)
{
	*w = (struct json_writer){.out = out};
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void put_escape(struct buf *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
	static const char shorts[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = c ? strchr(shorts, c) : NULL;

	if (at) {
		code[1] = letters[at - shorts];
		buf_put(out, code, 2);
	} else {
		buf_put(out, code, sizeof code);
	}
}

/* How many bytes from here may be written as they are. */
static size_t plain_run(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		unsigned char c = (unsigned char)text[at];
		uint32_t code;
		size_t step = 1;

		if (c >= 0x80)
			step = text_utf8_next(text + at, len - at, &code);
		else if (!is_plain(c))
			break;
		if (step == 0)
			break;
		at += step;
	}
	return at;
}

static void put_string(struct buf *out, const char *text, size_t len)
{
	buf_char(out, '"');
	while (len > 0) {
		size_t run = plain_run(text, len);

		if (run) {
			buf_put(out, text, run);
		} else {
			run = 1;
			if ((unsigned char)*text < 0x80)
				put_escape(out, (unsigned char)*text);
			else
				buf_str(out, "\xef\xbf\xbd");
		}
		text += run;
		len -= run;
	}
	buf_char(out, '"');
}

static bool in_array(const struct json_writer *w)
{
	return w->depth > 0 && (w->arrays >> w->depth & 1);
}

/* What stands before every value: comma and name. A name in the wrong place, or a second value at
 * the top, is a mistake of ours that json_finish() reports. */
static bool begin_value(struct json_writer *w, const char *name)
{
	bool wants_name = w->depth > 0 && !in_array(w);

	if (wants_name != (name != NULL) || (w->depth == 0 && w->comma))
		w->failed = true;
	if (w->failed)
		return false;
	if (w->comma)
		buf_char(w->out, ',');
	if (name) {
		put_string(w->out, name, strlen(name));
		buf_char(w->out, ':');
	}
	w->comma = true;
	return true;
}

static void open_level(struct json_writer *w, const char *name, bool array)
{
	uint64_t bit;

	if (w->depth >= DEPTH_MAX)
		w->failed = true;
	if (!begin_value(w, name))
		return;
	buf_char(w->out, array ? '[' : '{');
	w->depth++;
	bit = UINT64_C(1) << w->depth;
	w->arrays = array ? w->arrays | bit : w->arrays & ~bit;
	w->comma = false;
}

void json_object(struct json_writer *w, const char *name)
{
	open_level(w, name, false);
}

void json_array(struct json_writer *w, const char *name)
{
	open_level(w, name, true);
}

void json_end(struct json_writer *w)
{
	if (w->depth == 0)
		w->failed = true;
	if (w->failed)
		return;
	buf_char(w->out, in_array(w) ? ']' : '}');
	w->depth--;
	w->comma = true;
}

void json_text(struct json_writer *w, const char *name, const char *text)
{
	if (text)
		json_text_n(w, name, text, strlen(text));
	else
		json_null(w, name);
}

void json_text_n(struct json_writer *w, const char *name, const char *text, size_t len)
{
	if (begin_value(w, name))
		put_string(w->out, text, len);
}

void json_int(struct json_writer *w, const char *name, int64_t value)
{
	char text[24], *at = text + sizeof text;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (!begin_value(w, name))
		return;
	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--at = '-';
	buf_put(w->out, at, (size_t)(text + sizeof text - at));
}

void json_flag(struct json_writer *w, const char *name, bool value)
{
	if (begin_value(w, name))
		buf_str(w->out, value ? "true" : "false");
}

void json_null(struct json_writer *w, const char *name)
{
	if (begin_value(w, name))
		buf_str(w->out, "null");
}

void json_raw(struct json_writer *w, const char *name, const char *text, size_t len)
{
	if (begin_value(w, name))
		buf_put(w->out, text, len);
}

bool json_finish(struct json_writer *w)
{
	if (w->depth != 0 || !w->comma || w->out->failed)
		w->failed = true;
	return !w->failed;
}
