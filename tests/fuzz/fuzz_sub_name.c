/* Any template over any texts gives a name that is valid UTF-8, without control characters or
 * blanks at its ends, not empty, not too long, and not given before. */
#include <stdlib.h>
#include <string.h>

#include "sub/names.h"

#include "hythe/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void check_name(const char *name)
{
	size_t len = strlen(name);

	must(len > 0 && len <= SUB_NAME_MAX);
	must(text_utf8_valid(name, len) && !text_has_control(name, len));
	must(name[0] != ' ' && name[len - 1] != ' ' && strstr(name, "  ") == NULL);
}

/* The input is lines: template, node, country, city, host, user. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *part[6] = {"", "", "", "", "", ""};
	char *text = malloc(size + 1), *rest = text;
	struct arena arena;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < 6 && rest; i++)
		part[i] = strsep(&rest, "\n");
	arena_init(&arena, (size_t)1 << 20);
	{
		struct user user = {
			.name = part[5], .display_name = "", .quota_bytes = (int64_t)size};
		struct endpoint endpoint = {.node_name = part[1],
					    .country = part[2],
					    .city = part[3],
					    .host_name = part[4],
					    .profile_name = part[5]};
		struct names *names = names_new(&arena, part[0], &user, 1800000000, 4);
		const char *seen[4];

		for (size_t i = 0; i < 4; i++) {
			seen[i] = names_next(names, &endpoint);
			check_name(seen[i]);
			for (size_t j = 0; j < i; j++)
				must(strcmp(seen[i], seen[j]) != 0);
		}
	}
	arena_free(&arena);
	free(text);
	return 0;
}
