/* sub/request_line.h – what follows the prefix of a link, as outsiders write it. Threads: any. */
#ifndef HYTHE_SUB_REQUEST_LINE_H
#define HYTHE_SUB_REQUEST_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct sub_path {
	const char *token; /* LINK_TOKEN_LEN characters of base64url, not terminated */
	const char *format;
	size_t format_len; /* 0: none was named */
};

/* "<token>", "<token>/", "<token>/<format>", raw: a token with escapes or of another length is
 * none. */
bool sub_path_parse(const char *rest, size_t len, struct sub_path *out);

#endif
