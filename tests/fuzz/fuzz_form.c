/* A posted form: what is taken is text, and is taken again when it is posted anew. */
#include <stdlib.h>
#include <string.h>

#include "admin/form.h"
#include "hythe/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VALUE 64

static void must(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[VALUE], password[VALUE], name_again[VALUE], password_again[VALUE];
	const struct form_field first[] = {
		{"name",     name,     VALUE},
                {"password", password, VALUE}
        };
	const struct form_field second[] = {
		{"name",     name_again,     VALUE},
                {"password", password_again, VALUE}
        };
	char *copy = malloc(size ? size : 1); /* no NUL behind: reads past the end are seen */
	struct problem problem = {0};
	struct buf posted;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	buf_init(&posted, 4096);
	if (form_read(copy, size, first, 2, &problem) == RES_OK) {
		must(text_utf8_valid(name, strlen(name)) && !text_has_control(name, strlen(name)));
		must(buf_str(&posted, "password=") &&
		     text_percent(&posted, password, strlen(password)) &&
		     buf_str(&posted, "&name=") && text_percent(&posted, name, strlen(name)));
		must(form_read(posted.data, posted.len, second, 2, NULL) == RES_OK);
		must(strcmp(name, name_again) == 0 && strcmp(password, password_again) == 0);
	} else {
		must(problem.code[0] != '\0');
	}
	buf_free(&posted);
	free(copy);
	return 0;
}
