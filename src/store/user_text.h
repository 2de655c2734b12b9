/* user_text.h – what an operator typed into the search field: exact things that can be pasted, a
 * name's beginning, or a phrase for the index of trigrams. No SQL. Threads: values. */
#ifndef HYTHE_STORE_USER_TEXT_H
#define HYTHE_STORE_USER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/arena.h"

#define SEARCH_CHARS_MAX 512

struct search_text {
	const char *text; /* in NFC */
	size_t chars;
	uint32_t folded[SEARCH_CHARS_MAX]; /* its characters in lower case */
	const char *match;                 /* for MATCH; NULL: under three characters */
};

/* False: out of memory (then `text` is NULL), or longer than SEARCH_CHARS_MAX characters. */
bool search_text_read(struct arena *arena, const char *q, struct search_text *out);
/* Does `text` contain it? Case counts for nothing. */
bool search_text_in(const struct search_text *search, const char *text, size_t len);

/* Things that name one user. NULL or false: it is not shaped like one. */
const char *search_link_token(struct arena *arena, const char *q); /* alone, or in a link */
const char *search_credential(struct arena *arena, const char *q); /* alone, or of hysteria2:// */
bool search_slot(const char *q, int64_t *user_id);                 /* "<user id>.<slot>" */
bool search_telegram(const char *q, int64_t *telegram_id);

#endif
