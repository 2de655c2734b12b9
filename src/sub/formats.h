/* sub/formats.h – the table of subscription formats: one row a format, and what a renderer is
 * given.
 *
 * A renderer is a pure function from a page to text: no store, no clock, no request.
 * Threads: any. */
#ifndef HYTHE_SUB_FORMATS_H
#define HYTHE_SUB_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/host.h"
#include "hythe/util/buf.h"

#define SUB_BODY_MAX ((size_t)1024 * 1024) /* ACCESS_ENDPOINTS_MAX servers of under 1 KiB */

/* One line of the list: a server with the name that people see, or an entry that never connects. */
struct sub_server {
	const struct endpoint *endpoint; /* NULL: the entry that never connects */
	const char *name;
};

struct sub_page {
	const char *credential; /* what clients present; of the stub: a text fixed per user */
	const struct sub_server *servers;
	size_t count;
};

struct sub_format {
	const char *name;      /* the word in links, and in a host's list of formats */
	const char *host_word; /* a second word of hosts' lists that means this one too */
	const char *content_type;
	bool base64; /* the rendered text as a whole */
	bool gecko;  /* its readers know this obfuscation */
	bool (*render)(const struct sub_page *page, struct buf *out);
};

extern const struct sub_format sub_formats[]; /* the first is the default */
extern const size_t sub_formats_count;
/* The row of that name, or -1. */
int sub_format_find(const char *name, size_t len);
bool sub_format_takes(const struct sub_format *format, const struct endpoint *endpoint);
/* The body in this format; false: out of memory or room. */
bool sub_format_render(const struct sub_format *format, const struct sub_page *page,
		       struct buf *out);

/* format_links.c: share links, one a line. */
bool format_links(const struct sub_page *page, struct buf *out);

#endif
