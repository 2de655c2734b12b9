#include "hythe/model/host.h"

#include <string.h>

#include "hythe/util/addr.h"
#include "words.h"

#define LABEL_MAX 63

const char *const host_format_words[] = {"base64", "links", "plain", NULL};

static bool is_ldh(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

bool host_label_is_number(const char *label, size_t len)
{
	bool hex = len >= 2 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X');

	for (size_t i = hex ? 2 : 0; i < len; i++) {
		char c = label[i];

		if (!(c >= '0' && c <= '9') &&
		    !(hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))))
			return false;
	}
	return len > 0;
}

/* Labels of letters, digits and inner hyphens. A number at the end would be taken for a broken IPv4
 * address by every client, so it is refused. */
static bool is_host_name(const char *name)
{
	const char *label = name;

	for (;;) {
		size_t len = strcspn(label, ".");

		if (len < 1 || len > LABEL_MAX || label[0] == '-' || label[len - 1] == '-')
			return false;
		for (size_t i = 0; i < len; i++)
			if (!is_ldh(label[i]))
				return false;
		if (label[len] == '\0')
			return !host_label_is_number(label, len);
		label += len + 1;
	}
}

/* Lowered, without the dot at the end that means the same. NULL: too long, or memory is out. */
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
		if (!addr_is_host(&addr))
			return problem_set(problem, RES_INVALID, "bad_address", field,
					   "must be the address of one machine");
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
	for (size_t i = 0; host_format_words[i]; i++)
		if (strcmp(host_format_words[i], word) == 0)
			return true;
	return false;
}

enum res host_formats_check(struct arena *arena, const char *field, const struct json *formats,
			    const char **out, struct problem *problem)
{
	static const struct words_rule rule = {"bad_format", "one of base64, links, plain",
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
