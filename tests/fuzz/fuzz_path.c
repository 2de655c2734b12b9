/* A raw request target comes apart into a path that begins with '/' and a query, and nothing is
 * decoded, lost or invented. */
#include <stdlib.h>
#include <string.h>

#include "http/edge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

/* "<path>" or "<path>?<query>", byte for byte. */
static void check_parts(const char *target, const char *path, size_t path_len, const char *query,
			size_t query_len)
{
	must(strncmp(target, path, path_len) == 0 && memchr(path, '?', path_len) == NULL);
	target += path_len;
	must(*target == '?' || *target == '\0');
	target += *target == '?';
	must(strlen(target) == query_len && memcmp(target, query, query_len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peer *peer = calloc(1, sizeof *peer);
	char *target = malloc(size + 1);
	size_t path_len, query_len;
	const char *path, *query;

	if (peer && target) {
		memcpy(target, data, size);
		target[size] = '\0';
		must(request_begin(&peer->request, peer, NULL, target));
		path = request_path(&peer->request, &path_len);
		query = request_query(&peer->request, &query_len);
		must(path_len >= 1 && path[0] == '/');
		if (target[0] == '/')
			check_parts(target, path, path_len, query, query_len);
		request_end(&peer->request);
	}
	free(target);
	free(peer);
	return 0;
}
