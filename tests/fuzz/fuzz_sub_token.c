/* What follows the prefix of a link: a token of 22 plain characters or nothing; and If-None-Match.
 */
#include <stdlib.h>
#include <string.h>

#include "sub/request_line.h"

#include "hythe/http/request.h"
#include "hythe/store/users.h"
#include "hythe/util/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void try_path(const char *text, size_t len)
{
	struct sub_path path;

	if (!sub_path_parse(text, len, &path))
		return;
	must(path.token == text && len >= LINK_TOKEN_LEN);
	must(memchr(text, '%', LINK_TOKEN_LEN) == NULL &&
	     memchr(text, '/', LINK_TOKEN_LEN) == NULL);
	must(path.format + path.format_len == text + len);
	must(path.format_len == 0 || path.format[-1] == '/');
}

static void try_etags(const char *text)
{
	static const char etag[] = "W/\"0123456789abcdef\"";
	bool matches = etag_listed(text, etag);

	must(!matches || strchr(text, '*') || strstr(text, etag + 2));
	must(etag_listed(etag, etag) && etag_listed(etag + 2, etag));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_path(text, size);
	try_etags(text);
	free(text);
	return 0;
}
