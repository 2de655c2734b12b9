/* model/words.h – lists of short words (tags, formats) as one text: sorted, each once, ',' between.
 * Private to model/. */
#ifndef HYTHE_MODEL_WORDS_H
#define HYTHE_MODEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "hythe/util/arena.h"
#include "hythe/util/json_read.h"
#include "hythe/util/result.h"

#define WORDS_MAX 16

struct words_rule {
	const char *code;  /* of a refused word */
	const char *wants; /* "1 to 32 of a-z, 0-9 and -" */
	bool (*valid)(const char *word);
};

/* `list` is an array of text, or NULL or null for none; WORDS_MAX at most. */
enum res words_check(struct arena *arena, const char *field, const struct json *list,
		     const struct words_rule *rule, const char **out, struct problem *problem);
/* 1 to `max` of [a-z0-9-]. */
bool word_valid(const char *word, size_t max);

#endif
