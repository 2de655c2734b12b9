/* Names: what is taken is in bounds, is stored as it would be stored again, and has a key that is
 * its own key. */
#include <stdlib.h>
#include <string.h>

#include "hythe/model/name.h"
#include "hythe/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name, *key, *name_again, *key_again;
	struct problem problem = {0};
	struct arena arena;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	arena_init(&arena, 1 << 16);
	if (name_check(&arena, "name", text, &name, &key, &problem) == RES_OK) {
		check(strlen(name) <= NAME_MAX_BYTES && text_utf8_valid(name, strlen(name)));
		check(text_utf8_valid(key, strlen(key)) && !text_has_control(name, strlen(name)));
		check(name_check(&arena, "name", name, &name_again, &key_again, NULL) == RES_OK);
		check(strcmp(name, name_again) == 0 && strcmp(key, key_again) == 0);
		if (name_check(&arena, "name", key, &name_again, &key_again, NULL) == RES_OK)
			check(strcmp(key, key_again) == 0);
	} else {
		check(problem.res != RES_INVALID || strcmp(problem.field, "name") == 0);
	}
	arena_free(&arena);
	free(text);
	return 0;
}
