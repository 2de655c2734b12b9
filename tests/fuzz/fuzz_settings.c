/* One setting as text: what is taken prints back the same, and settings that pass the rules keep
 * them. The first byte chooses the row. */
#include <stdlib.h>
#include <string.h>

#include "hythe/model/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void try_url(const char *url)
{
	size_t origin;

	if (!settings_url_valid(url))
		return;
	origin = settings_origin_len(url);
	must(origin > strlen("http://") && origin <= strlen(url));
	must(url[origin] == '\0' || url[origin] == '/');
	must(!strpbrk(url, " ?#@\\\"'<>\t\r\n") && url[strlen(url) - 1] != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings settings;
	struct problem problem = {0};
	char *text, back[sizeof settings.public_url];
	size_t row;

	if (size == 0 || !(text = malloc(size)))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	row = data[0] % SETTINGS_ROWS;
	settings_default(&settings);
	if (settings_parse(&settings, row, text, NULL) == RES_OK) {
		must(settings_print(&settings, row, back, sizeof back) == RES_OK);
		must(strcmp(back, text) == 0);
		if (settings_check(&settings, &problem) != RES_OK)
			must(problem.field[0] && problem.detail[0]);
		else if (row == SETTING_PUBLIC_URL)
			must(settings_url_valid(text));
	}
	try_url(text);
	free(text);
	return 0;
}
