#include "hythe/model/node.h"

#include <string.h>

#include "words.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

enum res country_check(struct arena *arena, const char *field, const char *text, const char **out,
		       struct problem *problem)
{
	char *country;

	if (!text || *text == '\0') {
		*out = "";
		return RES_OK;
	}
	if (strlen(text) != 2 || !is_letter(text[0]) || !is_letter(text[1]))
		return problem_set(problem, RES_INVALID, "bad_country", field,
				   "must be two letters as in ISO 3166, such as DE");
	country = arena_dup(arena, text, 2);
	if (!country)
		return RES_NOMEM;
	for (size_t i = 0; i < 2; i++)
		country[i] =
			(char)(country[i] & ~0x20); /* letters: the one bit between the cases */
	*out = country;
	return RES_OK;
}

bool node_tag_valid(const char *tag)
{
	return word_valid(tag, NODE_TAG_MAX);
}

enum res node_tags_check(struct arena *arena, const char *field, const struct json *tags,
			 const char **out, struct problem *problem)
{
	static const struct words_rule rule = {"bad_tag", "1 to 32 of a-z, 0-9 and -",
					       node_tag_valid};

	return words_check(arena, field, tags, &rule, out, problem);
}
