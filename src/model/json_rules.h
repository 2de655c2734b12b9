/* model/json_rules.h – objects of outside JSON that are checked key by key and written in canonical
 * form.
 *
 * One table an object, its rows sorted by name: the table is the list of what is known, what is
 * checked, and the order in which it is written, so what comes out is canonical by construction.
 * Unlike the tables of util/json_read.h these nest, and make text instead of filling a struct.
 * Private to model/. */
#ifndef HYTHE_MODEL_JSON_RULES_H
#define HYTHE_MODEL_JSON_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/json_read.h"
#include "hythe/util/json_write.h"
#include "hythe/util/result.h"

#define KEPT_MAX 32 /* items of a list, members of a map */

enum shape {
	SHAPE_FLAG,
	SHAPE_NUMBER,
	SHAPE_TEXT,
	SHAPE_WORD,
	SHAPE_OBJECT,
	SHAPE_TEXTS,   /* an array of text */
	SHAPE_OBJECTS, /* an array of objects */
	SHAPE_MAP      /* an object of text under free names */
};

struct rules_writer;
struct rule;

struct object_rules {
	const struct rule *rules; /* sorted by name */
	size_t count;
	enum res (*check)(struct rules_writer *w,
			  const struct json *object); /* between members; may be NULL */
};

struct rule {
	const char *name;
	enum shape shape;
	int64_t min, max; /* number; bytes of text; items of a list or map */
	const char *const *words;
	bool (*valid)(const char *text); /* text, each of a list, names of a map */
	const char *wants;               /* what `valid` accepts, for people */
	const struct object_rules *object;
	int64_t fallback; /* written when absent; 0: nothing is */
	bool required, secret, lines, always;
};

struct rules_writer {
	struct json_writer json;
	struct problem *problem;
	char path[96]; /* of what is being read: "server.acme.domains[1]" */
	bool public;   /* secrets are left out */
};

/* A refusal at `member` of what is being read (NULL: at itself). */
enum res rules_refuse(struct rules_writer *w, const char *member, const char *code,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Writes `object` (NULL: nothing given), and of `base` (NULL: none) the members that it does not
 * name; a null takes one away. Opens and closes the JSON object itself. */
enum res rules_put(struct rules_writer *w, const char *name, const struct object_rules *rules,
		   const struct json *object, const struct json *base);
/* Does `value`, as the rule takes it, hold anything that people without the right do not see? */
bool rule_holds_secret(const struct rule *rule, const struct json *value);

#endif
