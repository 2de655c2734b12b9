#include "hythe/model/name.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#define VARIATION_EMOJI 0xfe0f
#define VARIATION_TEXT  0xfe0e
#define JOINER_NOT      0x200c
#define JOINER          0x200d
#define FLAG_BLACK      0x1f3f4 /* with tags behind: the flag of a part of a country */
#define BRAILLE_BLANK   0x2800 /* a symbol by category, and looks like a space */

static bool is_invisible(ucs4_t c)
{
	return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cf) ||
	       uc_is_property_default_ignorable_code_point(c) || c == BRAILLE_BLANK;
}

static bool is_control(ucs4_t c)
{
	return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Zl |
							   UC_CATEGORY_MASK_Zp);
}

/* NULL: the character may stand in a name; else what to tell. `before` is 0 at the start.
 * The joiner U+200D is refused with the other invisible ones: a family emoji is not worth two names
 * that look the same. The emoji selector U+FE0F may follow an emoji, for the key drops it. */
static const char *refusal(ucs4_t c, ucs4_t before)
{
	if (c == VARIATION_EMOJI && before != 0 && uc_is_property_emoji(before))
		return NULL;
	if (is_control(c))
		return "control characters";
	if (is_invisible(c))
		return "invisible characters";
	if (uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Co | UC_CATEGORY_MASK_Cn |
							UC_CATEGORY_MASK_Cs))
		return "characters that have no meaning of their own in Unicode";
	return NULL;
}

static bool is_blank(ucs4_t c)
{
	return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Zs);
}

static enum res bad_name(struct problem *problem, const char *field, const char *what)
{
	return problem_set(problem, RES_INVALID, "bad_name", field, "A name %s.", what);
}

static enum res check_characters(const char *field, const uint8_t *text, size_t len,
				 struct problem *problem)
{
	ucs4_t c = 0, before = 0;
	size_t chars = 0, at = 0;

	while (at < len) {
		const char *why;

		at += (size_t)u8_mbtouc(&c, text + at, len - at);
		if ((why = refusal(c, before)) != NULL)
			return problem_set(problem, RES_INVALID, "bad_name", field,
					   "A name has no %s (character %zu is U+%04X).", why,
					   chars + 1, (unsigned)c);
		if (is_blank(c) && (chars == 0 || at == len))
			return bad_name(problem, field, "has no blank at its beginning or end");
		before = c;
		chars++;
	}
	if (chars == 0 || chars > NAME_MAX_CHARS || len > NAME_MAX_BYTES)
		return bad_name(problem, field, "has 1 to 64 characters, in 256 bytes at most");
	return RES_OK;
}

static size_t drop_selectors(uint8_t *text, size_t len)
{
	static const uint8_t selector[] = {0xef, 0xb8, 0x8f};
	size_t kept = 0;

	for (size_t at = 0; at < len;) {
		if (len - at >= sizeof selector &&
		    memcmp(text + at, selector, sizeof selector) == 0)
			at += sizeof selector;
		else
			text[kept++] = text[at++];
	}
	return kept;
}

/* Folding once is not enough: compatibility forms (a black-letter capital) become plain capitals
 * only by normalization, which comes after the folding. */
static uint8_t *fold(const uint8_t *text, size_t len, size_t *out_len)
{
	size_t once_len;
	uint8_t *once = u8_casefold(text, len, NULL, UNINORM_NFKC, NULL, &once_len), *twice;

	if (!once)
		return NULL;
	twice = u8_casefold(once, once_len, NULL, UNINORM_NFKC, NULL, out_len);
	free(once);
	if (twice)
		*out_len = drop_selectors(twice, *out_len);
	return twice;
}

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return len >= 1 && len <= NAME_MAX_CHARS && text[0] != ' ' && text[len - 1] != ' ';
}

/* Most names are ASCII, where the rules below come to this; a bulk of a thousand users feels it. */
static enum res take_plain(struct arena *arena, const char *text, size_t len, const char **name,
			   const char **key)
{
	char *lower = arena_dup(arena, text, len);

	*name = arena_dup(arena, text, len);
	*key = lower;
	if (!lower || !*name)
		return RES_NOMEM;
	for (; *lower; lower++)
		if (*lower >= 'A' && *lower <= 'Z')
			*lower = (char)(*lower + ('a' - 'A'));
	return RES_OK;
}

enum res name_check(struct arena *arena, const char *field, const char *text, const char **name,
		    const char **key, struct problem *problem)
{
	size_t len = strnlen(text, 4 * NAME_MAX_BYTES), nfc_len, key_len;
	uint8_t *nfc = NULL, *folded = NULL;
	enum res res;

	if (len > NAME_MAX_BYTES)
		return bad_name(problem, field, "has 1 to 64 characters, in 256 bytes at most");
	if (is_plain(text, len))
		return take_plain(arena, text, len, name, key);
	if (u8_check((const uint8_t *)text, len) != NULL)
		return bad_name(problem, field, "is valid UTF-8");
	res = RES_NOMEM;
	if (!(nfc = u8_normalize(UNINORM_NFC, (const uint8_t *)text, len, NULL, &nfc_len)))
		goto out;
	if ((res = check_characters(field, nfc, nfc_len, problem)) != RES_OK)
		goto out;
	res = RES_NOMEM;
	if (!(folded = fold(nfc, nfc_len, &key_len)))
		goto out;
	*name = arena_dup(arena, (const char *)nfc, nfc_len);
	*key = arena_dup(arena, (const char *)folded, key_len);
	if (*name && *key)
		res = RES_OK;
out:
	free(nfc);
	free(folded);
	return res;
}

/* --- Other text that is shown --- */

static bool is_tag(ucs4_t c)
{
	return c >= 0xe0020 && c <= 0xe007f;
}

static bool may_show(ucs4_t c, ucs4_t before)
{
	switch (c) {
	case JOINER:
	case JOINER_NOT:
	case VARIATION_TEXT:
	case VARIATION_EMOJI:
		return before != 0;
	}
	if (is_tag(c))
		return is_tag(before) || before == FLAG_BLACK;
	return !is_control(c) && !is_invisible(c);
}

enum res shown_check(const char *field, const char *text, struct problem *problem)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t len = strlen(text), at = 0, chars = 0;
	ucs4_t c = 0, before = 0;

	while (at < len) {
		at += (size_t)u8_mbtouc(&c, bytes + at, len - at);
		chars++;
		if (!may_show(c, before))
			return problem_set(problem, RES_INVALID, "bad_value", field,
					   "must not have characters that nobody sees or that turn "
					   "the line around (character %zu is U+%04X)",
					   chars, (unsigned)c);
		before = c;
	}
	return RES_OK;
}
