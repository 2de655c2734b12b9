/* util/json_write.h – JSON for outside: a writer that knows its nesting.
 *
 * Values go to a struct buf; `name` is NULL inside arrays and at the top. Strings are escaped
 * (", \, control characters, and <, >, & as \u escapes so that an answer may stand in HTML); bytes that
 * are not UTF-8 become U+FFFD. One check at the end: json_finish() is false if an append failed or
 * something is open. Threads: one owner. */
#ifndef HYTHE_UTIL_JSON_WRITE_H
#define HYTHE_UTIL_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/buf.h"

struct json_writer {
	struct buf *out;
	uint64_t arrays; /* bit d: level d is an array */
	uint8_t depth;   /* at most 40 */
	bool comma;      /* the next value needs one */
	bool failed;
};

void json_start(struct json_writer *w, struct buf *out);
void json_object(struct json_writer *w, const char *name);
void json_array(struct json_writer *w, const char *name);
void json_end(struct json_writer *w);
void json_text(struct json_writer *w, const char *name, const char *text); /* NULL writes null */
void json_text_n(struct json_writer *w, const char *name, const char *text, size_t len);
void json_int(struct json_writer *w, const char *name, int64_t value);
void json_flag(struct json_writer *w, const char *name, bool value);
void json_null(struct json_writer *w, const char *name);
void json_raw(struct json_writer *w, const char *name, const char *text, size_t len); /* ready JSON */
bool json_finish(struct json_writer *w);

#endif
