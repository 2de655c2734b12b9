/* util/json_read.h – JSON from outside: strict grammar, a flat tree, typed input by table.
 *
 * json_parse() takes one RFC 8259 text: valid UTF-8 (no BOM, no surrogate escapes left alone), no
 * NUL and no \u0000, no duplicate member names, nesting at most JSON_DEPTH, numbers by the grammar
 * (no 01, no +1, no .5), nothing but white space behind it. The nodes of the tree stand in one
 * array in document order; strings are unescaped in place, so the text passed in must be writable
 * and outlive the document. Integers keep their text and are read exact to 64 bits: a number with
 * fraction or exponent is no integer, 1.0 neither.
 * Errors are sentences with a byte offset. Threads: one owner; a finished tree may be shared. */
#ifndef HYTHE_UTIL_JSON_READ_H
#define HYTHE_UTIL_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/result.h"

#define JSON_DEPTH     32
#define JSON_NODES_MAX 65536 /* a 1 MiB body of "[0,0,...]" must not become 12 MiB of tree */

enum json_type { JSON_NULL, JSON_BOOL, JSON_INTEGER, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {              /* one value; plain data, owned by its document */
	const char *text;  /* string: unescaped, NUL-terminated; number: its text (not terminated) */
	const char *name;  /* as a member of an object: its name; else NULL */
	uint32_t len;      /* bytes of text; array, object: number of children */
	uint32_t skip;     /* nodes from here to the next sibling */
	enum json_type type;
	bool truth;        /* JSON_BOOL */
	bool last;         /* no sibling follows */
};

struct json_doc;

/* RES_MALFORMED (code bad_json, the sentence says where), RES_TOO_LARGE (too deep, too many nodes),
 * RES_NOMEM. `*out` is NULL unless RES_OK. */
enum res json_parse(char *text, size_t len, struct json_doc **out, struct problem *problem);
void json_free(struct json_doc *doc); /* NULL is fine */
const struct json *json_root(const struct json_doc *doc);
const struct json *json_first(const struct json *container);                /* NULL: empty */
const struct json *json_next(const struct json *value);                     /* NULL: last */
const struct json *json_member(const struct json *object, const char *name); /* NULL: absent */
bool json_is_text(const struct json *value, const char *text);
enum res json_i64(const struct json *value, int64_t min, int64_t max, int64_t *out);
/* Appends the value as compact JSON (strings escaped again). */
struct buf;
bool json_print(const struct json *value, struct buf *out);

/* --- Typed input: an object is read by a table of its members, once, before any work. ---
 * A row's index is its bit in `present`. Unknown members, wrong types, values out of range are
 * RES_INVALID with the member's name in `field` (code unknown_field, wrong_type, out_of_range,
 * bad_value, missing_field); nothing is written to `out` beyond what was read before. */
enum json_kind {
	JSON_IN_TEXT,  /* const char *; length in bytes within [min, max]; no control characters */
	JSON_IN_LINES, /* the same, but newline and tab are allowed */
	JSON_IN_I64,   /* int64_t in [min, max] */
	JSON_IN_BOOL,  /* bool */
	JSON_IN_WORD,  /* int: index into `words` (NULL-terminated list) */
	JSON_IN_TREE   /* const struct json *; any value but of the types that the reader refuses itself */
};

struct json_field {
	const char *name;
	enum json_kind kind;
	size_t offset; /* of the member in the struct filled */
	int64_t min, max;
	const char *const *words;
	bool required;
	bool nullable; /* null leaves the member at its zero value, and counts as present */
};

#define JSON_FIELDS_MAX 64
enum res json_read(const struct json *object, const struct json_field *fields, size_t count, void *out,
		   uint64_t *present, struct problem *problem);

#endif
