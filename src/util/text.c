#include "hythe/util/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t text_utf8_next(const char *text, size_t len, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t value;
	size_t n;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len < n)
		return 0;
	value = s[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (!is_tail(s[i]))
			return 0;
		value = value << 6 | (s[i] & 0x3fu);
	}
	if (value < least[n] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return n;
}

bool text_utf8_valid(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t code;
		size_t step = text_utf8_next(text + at, len - at, &code);

		if (step == 0 || code == 0)
			return false;
		at += step;
	}
	return true;
}

/* What is not UTF-8 counts as control: nobody can say what a terminal makes of it. */
bool text_has_control(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t code;
		size_t step = text_utf8_next(text + at, len - at, &code);

		if (step == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
		    code == 0x2029)
			return true;
		at += step;
	}
	return false;
}

bool text_copy(char *out, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len >= size) {
		if (size)
			out[0] = '\0';
		return false;
	}
	memcpy(out, text, len + 1);
	return true;
}

static bool is_unreserved(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

bool text_percent(struct buf *out, const char *text, size_t len)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t at = 0; at < len; at++) {
		size_t run = at;

		while (run < len && is_unreserved(text[run]))
			run++;
		if (run > at)
			buf_put(out, text + at, run - at);
		if (run < len) {
			unsigned char c = (unsigned char)text[run];
			char code[3] = {'%', hex[c >> 4], hex[c & 15]};

			buf_put(out, code, sizeof code);
		}
		at = run;
	}
	return !out->failed;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One character at `text`, decoded; returns the bytes it took, 0 if bad. */
static size_t decode_one(const char *text, size_t len, bool plus, char *c)
{
	size_t step = 1;

	*c = text[0];
	if (plus && *c == '+') {
		*c = ' ';
	} else if (*c == '%') {
		int high = len > 2 ? hex_value(text[1]) : -1;
		int low = len > 2 ? hex_value(text[2]) : -1;

		if (high < 0 || low < 0)
			return 0;
		*c = (char)(high * 16 + low);
		step = 3;
	}
	return *c == '\0' ? 0 : step;
}

bool text_percent_decode(const char *text, size_t len, bool plus, char *out, size_t size,
			 size_t *out_len)
{
	size_t n = 0;

	for (size_t at = 0; at < len;) {
		char c;
		size_t step = decode_one(text + at, len - at, plus, &c);

		if (step == 0 || n + 1 >= size)
			return false;
		out[n++] = c;
		at += step;
	}
	if (size == 0)
		return false;
	out[n] = '\0';
	if (out_len)
		*out_len = n;
	return true;
}

bool text_html(struct buf *out, const char *text)
{
	for (const char *rest = text; *rest;) {
		size_t plain = strcspn(rest, "&<>\"'");

		buf_put(out, rest, plain);
		rest += plain;
		switch (*rest) {
		case '&':
			buf_str(out, "&amp;");
			break;
		case '<':
			buf_str(out, "&lt;");
			break;
		case '>':
			buf_str(out, "&gt;");
			break;
		case '"':
			buf_str(out, "&quot;");
			break;
		case '\'':
			buf_str(out, "&#39;");
			break;
		default:
			continue;
		}
		rest++;
	}
	return !out->failed;
}

void text_time(int64_t unix_s, char out[static TEXT_TIME_MAX])
{
	time_t when = (time_t)unix_s;
	struct tm tm;

	if (!gmtime_r(&when, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		snprintf(out, TEXT_TIME_MAX, "%" PRId64, unix_s);
	else
		snprintf(out, TEXT_TIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void text_bytes(int64_t bytes, char out[static TEXT_TIME_MAX])
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	const char *sign = bytes < 0 ? "-" : "";
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	uint64_t unit = 1000, hundredths;
	size_t at = 0;

	if (size < 1000) {
		snprintf(out, TEXT_TIME_MAX, "%s%u B", sign, (unsigned)size);
		return;
	}
	/* Rounded before the unit is chosen: 999,995 bytes are 1.00 MB, not 1000.00 kB. */
	while ((hundredths = (size + unit / 200) / (unit / 100)) >= 100000) {
		unit *= 1000;
		at++;
	}
	snprintf(out, TEXT_TIME_MAX, "%s%u.%02u %s", sign, (unsigned)(hundredths / 100),
		 (unsigned)(hundredths % 100), units[at]);
}
