/* Who is really asking, when proxies stand in between. */
#include <string.h>

#include "hythe/http/request.h"
#include "hythe/util/num.h"

static bool port_ok(const char *text, size_t len)
{
	uint64_t port;

	return num_u64(text, len, UINT16_MAX, &port) == RES_OK;
}

/* "192.0.2.1", "192.0.2.1:567", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:567": what proxies
 * in the field write. */
static bool parse_hop(const char *text, size_t len, struct addr *out)
{
	const char *end = text + len;
	const char *stop;

	if (len > 0 && text[0] == '[') {
		stop = memchr(text, ']', len);
		if (!stop || !addr_parse(text + 1, (size_t)(stop - text - 1), out) ||
		    !memchr(text, ':', (size_t)(stop - text)))
			return false;
		return stop + 1 == end ||
		       (stop[1] == ':' && port_ok(stop + 2, (size_t)(end - stop - 2)));
	}
	if (addr_parse(text, len, out))
		return true;
	stop = memchr(text, ':', len);
	return stop && addr_parse(text, (size_t)(stop - text), out) &&
	       port_ok(stop + 1, (size_t)(end - stop - 1));
}

/* The last element of text[0..*len), without blanks; shortens *len to what stands before it. */
static const char *last_hop(const char *text, size_t *len, size_t *hop_len)
{
	size_t end = *len, at;

	for (at = end; at > 0 && text[at - 1] != ','; at--)
		;
	*len = at > 0 ? at - 1 : 0;
	while (at < end && (text[at] == ' ' || text[at] == '\t'))
		at++;
	while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\t'))
		end--;
	*hop_len = end - at;
	return text + at;
}

struct addr client_address(const struct addr *peer, const char *header_joined,
			   const struct addr_net_list *trusted)
{
	size_t len = header_joined ? strlen(header_joined) : 0;
	struct addr good = *peer;

	while (len > 0 && addr_in(&good, trusted)) {
		size_t hop_len;
		const char *hop = last_hop(header_joined, &len, &hop_len);
		struct addr addr;

		if (!parse_hop(hop, hop_len, &addr))
			break;
		good = addr;
	}
	return good;
}
