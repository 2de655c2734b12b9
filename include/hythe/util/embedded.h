/* util/embedded.h – files that are part of the program (web/, migrations/), made by web/embed.c.
 * Read only; threads: any. */
#ifndef HYTHE_UTIL_EMBEDDED_H
#define HYTHE_UTIL_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
	const char *path; /* as in the repository: "migrations/0001_panel.sql" */
	const char *data; /* NUL behind it, not counted */
	size_t len;
};

extern const struct embedded_file embedded_files[]; /* ends with path NULL; sorted by path */
const struct embedded_file *embedded_find(const char *path); /* NULL: none */

#endif
