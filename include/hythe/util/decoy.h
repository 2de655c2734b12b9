/* util/decoy.h – the page that everybody sees who has no business here.
 *
 * One set of bytes for every unknown path, lent to http and (later) fleet. `decoy_404` and
 * `decoy_429` differ in status and text only as an ordinary small site's would. The built-in page is
 * neutral; a directory of the operator's own comes with --decoy-dir (index.html, 404.html, 429.html).
 * Threads: read only after loading; a reload makes a new one. */
#ifndef HYTHE_UTIL_DECOY_H
#define HYTHE_UTIL_DECOY_H

#include <stddef.h>

#include "hythe/util/result.h"

struct decoy_page {
	const char *body;
	size_t len;
};

struct decoy;
/* dir NULL: the built-in pages. */
enum res decoy_load(const char *dir, struct decoy **out, struct problem *problem);
void decoy_free(struct decoy *decoy);
const struct decoy_page *decoy_404(const struct decoy *decoy);
const struct decoy_page *decoy_429(const struct decoy *decoy);
const struct decoy_page *decoy_index(const struct decoy *decoy);

#endif
