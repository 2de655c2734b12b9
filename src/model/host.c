#include "hythe/model/host.h"

#include <string.h>

#include "hythe/util/addr.h"
#include "words.h"

#define LABEL_MAX  63
#define FORMAT_MAX 24

static bool is_ldh(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* Labels of letters, digits and inner hyphens. A last label of digits alone would be taken for a
 * broken IPv4 address by every client, so it is refused. */
static bool is_host_name(const char *name)
{
	const char *label = name;
	bool digits = false;

	for (;;) {
		size_t len = strcspn(label, ".");

		if (len < 1 || len > LABEL_MAX || label[0] == '-' || label[len - 1] == '-')
			return false;
		digits = true;
		for (size_t i = 0; i < len; i++) {
			if (!is_ldh(label[i]))
				return false;
			digits = digits && label[i] >= '0' && label[i] <= '9';
		}
		if (label[len] == '\0')
			return !digits;
		label += len + 1;
	}
}

/* Lowered, without the dot at the end that means the same name. NULL: too long, or memory is out.
 */
static char *plain_name(struct arena *arena, const char *text)
{
	size_t len = strlen(text);
	char *name;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len > HOST_ADDRESS_MAX)
		return NULL;
	name = arena_dup(arena, text, len);
	for (size_t i = 0; name && i < len; i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] = (char)(name[i] | 0x20);
	return name;
}

static enum res refuse_name(const char *code, const char *field, const char *text,
			    const char *wants, struct problem *problem)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return problem_set(problem, RES_INVALID, code, field,
					   "must be given in its ASCII form (xn--...)");
	return problem_set(problem, RES_INVALID, code, field, "must be %s", wants);
}

enum res address_check(struct arena *arena, const char *field, const char *text, const char **out,
		       struct problem *problem)
{
	static const char wants[] =
		"a host name of letters, digits and hyphens, an IPv4 address, or "
		"an IPv6 address without brackets and zone";
	struct addr addr;
	char *name;

	if (addr_parse(text, strlen(text), &addr)) {
		name = arena_alloc(arena, ADDR_TEXT_MAX);
		if (!name)
			return RES_NOMEM;
		addr_print(&addr, name);
		*out = name;
		return RES_OK;
	}
	name = plain_name(arena, text);
	if (!name || !is_host_name(name))
		return refuse_name("bad_address", field, text, wants, problem);
	*out = name;
	return RES_OK;
}

enum res sni_check(struct arena *arena, const char *field, const char *text, const char **out,
		   struct problem *problem)
{
	char *name;

	if (!text || *text == '\0') {
		*out = "";
		return RES_OK;
	}
	name = plain_name(arena, text);
	if (!name || !is_host_name(name))
		return refuse_name("bad_sni", field, text,
				   "a host name of letters, digits and hyphens", problem);
	*out = name;
	return RES_OK;
}

static bool format_valid(const char *word)
{
	return word_valid(word, FORMAT_MAX);
}

enum res host_formats_check(struct arena *arena, const char *field, const struct json *formats,
			    const char **out, struct problem *problem)
{
	static const struct words_rule rule = {"bad_format", "1 to 24 of a-z, 0-9 and -",
					       format_valid};

	return words_check(arena, field, formats, &rule, out, problem);
}

bool host_has_format(const char *formats, const char *word)
{
	size_t word_len = strlen(word);

	if (*formats == '\0')
		return true;
	for (const char *at = formats;; at++) {
		size_t len = strcspn(at, ",");

		if (len == word_len && memcmp(at, word, len) == 0)
			return true;
		at += len;
		if (*at == '\0')
			return false;
	}
}
