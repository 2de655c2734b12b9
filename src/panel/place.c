#include "place.h"

#include <string.h>

#include "hythe/util/hash.h"

bool path_under(const char *path, size_t len, const char *prefix, const char **rest,
		size_t *rest_len)
{
	size_t prefix_len = strlen(prefix), segment;
	const char *slash;

	if (!prefix_len || len < 2 || path[0] != '/')
		return false;
	slash = memchr(path + 1, '/', len - 1);
	segment = slash ? (size_t)(slash - path) - 1 : len - 1;
	/* Prefixes are secrets: how much of one was guessed must not show in the time. */
	if (segment != prefix_len || !secret_equal(path + 1, prefix, prefix_len))
		return false;
	*rest = path + 1 + segment;
	*rest_len = len - 1 - segment;
	return true;
}

static bool still(int64_t until_unix, int64_t now_unix)
{
	return now_unix < until_unix;
}

enum place place_of(const struct settings *settings, int64_t now_unix, const char *path, size_t len,
		    const char **rest, size_t *rest_len)
{
	/* All four are compared, whichever fits, for the same reason; `rest` is the same for each. */
	bool sub = path_under(path, len, settings->sub_prefix, rest, rest_len);
	bool old_sub = path_under(path, len, settings->old_sub_prefix, rest, rest_len);
	bool admin = path_under(path, len, settings->admin_prefix, rest, rest_len);
	bool old_admin = path_under(path, len, settings->old_admin_prefix, rest, rest_len);

	if (sub || (old_sub && still(settings->old_sub_prefix_until_unix, now_unix)))
		return PLACE_SUB;
	if (admin || (old_admin && still(settings->old_admin_prefix_until_unix, now_unix)))
		return PLACE_ADMIN;
	return PLACE_NOWHERE;
}
