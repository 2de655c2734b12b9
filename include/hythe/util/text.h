/* util/text.h – the small questions about text: UTF-8, percent, copies that fit. Threads: any. */
#ifndef HYTHE_UTIL_TEXT_H
#define HYTHE_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/buf.h"

bool text_utf8_valid(const char *text, size_t len); /* no surrogates, no overlong, no NUL */
/* Decodes one code point at `text` (len > 0); returns its bytes, 0 if invalid. */
size_t text_utf8_next(const char *text, size_t len, uint32_t *code);
bool text_has_control(const char *text, size_t len); /* C0, DEL, C1, line and paragraph separators */
bool text_copy(char *out, size_t size, const char *text); /* false (and out "") when it does not fit */
/* Everything but A-Z a-z 0-9 - . _ ~ as %XX (RFC 3986 unreserved). */
bool text_percent(struct buf *out, const char *text, size_t len);
/* One path segment or query value; false: bad escape, NUL. `plus` turns '+' into a space. */
bool text_percent_decode(const char *text, size_t len, bool plus, char *out, size_t size, size_t *out_len);
bool text_html(struct buf *out, const char *text); /* & < > " ' escaped */
/* ISO 8601 in UTC, "2026-12-01T10:00:00Z"; out of range years print as a number. */
#define TEXT_TIME_MAX 32
void text_time(int64_t unix_s, char out[static TEXT_TIME_MAX]);
void text_bytes(int64_t bytes, char out[static TEXT_TIME_MAX]); /* "1.50 GB", decimal */

#endif
