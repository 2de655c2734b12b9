/* sub/request_line.h – the two texts of a subscription request that outsiders write. Threads: any.
 */
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
/* If-None-Match against one entity tag, by the weak comparison (RFC 9110, 8.8.3.2). */
bool sub_etag_matches(const char *if_none_match, const char *etag);

#endif
