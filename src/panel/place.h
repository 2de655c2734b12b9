/* panel/place.h – where a raw path leads, apart from the rest so that it can be tried by itself.
 * Threads: values only. */
#ifndef HYTHE_PANEL_PLACE_H
#define HYTHE_PANEL_PLACE_H

#include "hythe/model/settings.h"

enum place { PLACE_NOWHERE, PLACE_SUB, PLACE_ADMIN };

/* Is the first segment of `path` the prefix? `rest` is what follows it, from the slash on ("" if
 * none). An empty prefix is nobody's. */
bool path_under(const char *path, size_t len, const char *prefix, const char **rest,
		size_t *rest_len);

/* By the prefixes in force and those that go on for a while. */
enum place place_of(const struct settings *settings, int64_t now_unix, const char *path, size_t len,
		    const char **rest, size_t *rest_len);

#endif
