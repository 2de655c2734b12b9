#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/buf.h"

bool word_valid(const char *word, size_t max)
{
	size_t len = strlen(word);

	return len >= 1 && len <= max &&
	       strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum res read_word(const char *field, size_t index, const struct json *item,
			  const struct words_rule *rule, const char **out, struct problem *problem)
{
	char place[96];

	snprintf(place, sizeof place, "%s[%zu]", field, index);
	if (item->type != JSON_STRING)
		return problem_set(problem, RES_INVALID, "wrong_type", place, "must be text");
	if (!rule->valid(item->text))
		return problem_set(problem, RES_INVALID, rule->code, place, "must be %s",
				   rule->wants);
	*out = item->text;
	return RES_OK;
}

static enum res join(struct arena *arena, const char **words, size_t count, const char **out)
{
	struct buf text;

	buf_init(&text, 4096);
	qsort(words, count, sizeof *words, compare);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && strcmp(words[i], words[i - 1]) == 0)
			continue;
		buf_printf(&text, "%s%s", text.len ? "," : "", words[i]);
	}
	*out = text.failed ? NULL : arena_dup(arena, text.len ? text.data : "", text.len);
	buf_free(&text);
	return *out ? RES_OK : RES_NOMEM;
}

enum res words_check(struct arena *arena, const char *field, const struct json *list,
		     const struct words_rule *rule, const char **out, struct problem *problem)
{
	const char *words[WORDS_MAX];
	size_t count = 0;
	enum res res;

	if (!list || list->type == JSON_NULL) {
		*out = "";
		return RES_OK;
	}
	if (list->type != JSON_ARRAY)
		return problem_set(problem, RES_INVALID, "wrong_type", field,
				   "must be an array of text");
	if (list->len > WORDS_MAX)
		return problem_set(problem, RES_INVALID, "too_many", field, "takes %d at most",
				   WORDS_MAX);
	for (const struct json *item = json_first(list); item; item = json_next(item), count++) {
		res = read_word(field, count, item, rule, &words[count], problem);
		if (res != RES_OK)
			return res;
	}
	return join(arena, words, count, out);
}
