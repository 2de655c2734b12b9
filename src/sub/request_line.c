#include "request_line.h"

#include <string.h>

#include "hythe/store/users.h"

static bool is_token_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

bool sub_path_parse(const char *rest, size_t len, struct sub_path *out)
{
	if (len < LINK_TOKEN_LEN)
		return false;
	for (size_t i = 0; i < LINK_TOKEN_LEN; i++)
		if (!is_token_char(rest[i]))
			return false;
	if (len > LINK_TOKEN_LEN && rest[LINK_TOKEN_LEN] != '/')
		return false;
	out->token = rest;
	out->format = len > LINK_TOKEN_LEN ? rest + LINK_TOKEN_LEN + 1 : rest + len;
	out->format_len = (size_t)(rest + len - out->format);
	return true;
}
