#include "hythe/util/addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "hythe/util/num.h"

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* The address as written: an IPv4-mapped one stays IPv6. */
static bool parse_raw(const char *text, size_t len, struct addr *out)
{
	char copy[ADDR_TEXT_MAX];

	if (len >= sizeof copy || memchr(text, '\0', len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*out = (struct addr){0};
	if (inet_pton(AF_INET, copy, out->bytes) == 1)
		out->family = 4;
	else if (inet_pton(AF_INET6, copy, out->bytes) == 1)
		out->family = 6;
	return out->family != 0;
}

static bool is_mapped(const struct addr *addr)
{
	return addr->family == 6 && memcmp(addr->bytes, mapped, sizeof mapped) == 0;
}

static void unmap(struct addr *addr)
{
	if (!is_mapped(addr))
		return;
	memmove(addr->bytes, addr->bytes + sizeof mapped, 4);
	memset(addr->bytes + 4, 0, sizeof addr->bytes - 4);
	addr->family = 4;
}

bool addr_parse(const char *text, size_t len, struct addr *out)
{
	struct addr addr;

	if (!parse_raw(text, len, &addr))
		return false;
	unmap(&addr);
	*out = addr;
	return true;
}

bool addr_of_sockaddr(const struct sockaddr *sa, struct addr *out)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	*out = (struct addr){0};
	switch (sa->sa_family) {
	case AF_INET:
		memcpy(&v4, sa, sizeof v4);
		memcpy(out->bytes, &v4.sin_addr, 4);
		out->family = 4;
		return true;
	case AF_INET6:
		memcpy(&v6, sa, sizeof v6);
		memcpy(out->bytes, &v6.sin6_addr, 16);
		out->family = 6;
		unmap(out);
		return true;
	}
	return false;
}

void addr_print(const struct addr *addr, char out[static ADDR_TEXT_MAX])
{
	int family = addr->family == 4 ? AF_INET : AF_INET6;

	if (addr->family == 0 || !inet_ntop(family, addr->bytes, out, ADDR_TEXT_MAX))
		out[0] = '\0';
}

static unsigned width(const struct addr *addr)
{
	return addr->family == 4 ? 32 : 128;
}

static void clear_after(struct addr *addr, unsigned bits)
{
	for (unsigned i = 0; i < sizeof addr->bytes; i++) {
		if (bits <= i * 8)
			addr->bytes[i] = 0;
		else if (bits < i * 8 + 8)
			addr->bytes[i] &= (uint8_t)(0xff00u >> (bits - i * 8));
	}
}

static bool equal(const struct addr *a, const struct addr *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool addr_net_parse(const char *text, struct addr_net *out)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct addr addr, cleared;
	uint64_t bits;

	if (!parse_raw(text, len, &addr))
		return false;
	bits = width(&addr);
	if (slash && num_u64(slash + 1, strlen(slash + 1), width(&addr), &bits) != RES_OK)
		return false;
	cleared = addr;
	clear_after(&cleared, (unsigned)bits);
	if (!equal(&addr, &cleared))
		return false;
	if (is_mapped(&addr)) { /* its host bits are 0, so bits >= 96 */
		bits -= sizeof mapped * 8;
		unmap(&addr);
	}
	*out = (struct addr_net){.base = addr, .bits = (uint8_t)bits};
	return true;
}

bool addr_in(const struct addr *addr, const struct addr_net_list *nets)
{
	for (size_t i = 0; nets && i < nets->count; i++) {
		struct addr cut = *addr;

		clear_after(&cut, nets->nets[i].bits);
		if (equal(&cut, &nets->nets[i].base))
			return true;
	}
	return false;
}

bool addr_is_loopback(const struct addr *addr)
{
	static const uint8_t one[16] = {[15] = 1};

	if (addr->family == 4)
		return addr->bytes[0] == 127;
	return addr->family == 6 && memcmp(addr->bytes, one, sizeof one) == 0;
}

bool addr_is_host(const struct addr *addr)
{
	static const uint8_t any[16];

	if (addr->family == 6)
		return memcmp(addr->bytes, any, sizeof any) != 0 && addr->bytes[0] != 0xff;
	return addr->bytes[0] != 0 && (addr->bytes[0] & 0xf0) != 0xe0 &&
	       memcmp(addr->bytes, "\xff\xff\xff\xff", 4) != 0;
}

struct addr addr_network(const struct addr *addr, uint8_t bits4, uint8_t bits6)
{
	struct addr network = *addr;

	clear_after(&network, addr->family == 4 ? bits4 : bits6);
	return network;
}

static void listen_v4(const struct addr *addr, uint16_t port, struct sockaddr_storage *out,
		      socklen_t *len)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};

	memcpy(&v4.sin_addr, addr->bytes, 4);
	memcpy(out, &v4, sizeof v4);
	*len = sizeof v4;
}

static void listen_v6(const struct addr *addr, uint16_t port, struct sockaddr_storage *out,
		      socklen_t *len)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	memcpy(&v6.sin6_addr, addr->bytes, 16);
	memcpy(out, &v6, sizeof v6);
	*len = sizeof v6;
}

/* The host part of a listen address: nothing (both families), IPv4, or IPv6 in brackets. */
static bool parse_host(const char *text, size_t len, struct addr *out)
{
	bool brackets = len >= 2 && text[0] == '[' && text[len - 1] == ']';

	if (len == 0) {
		*out = (struct addr){.family = 6};
		return true;
	}
	if (brackets)
		return parse_raw(text + 1, len - 2, out) && out->family == 6;
	return parse_raw(text, len, out) && out->family == 4;
}

bool addr_listen_parse(const char *text, struct sockaddr_storage *out, socklen_t *len)
{
	const char *colon = strrchr(text, ':');
	struct addr addr;
	uint64_t port;

	if (!colon || !parse_host(text, (size_t)(colon - text), &addr) ||
	    num_u64(colon + 1, strlen(colon + 1), UINT16_MAX, &port) != RES_OK)
		return false;
	memset(out, 0, sizeof *out);
	if (addr.family == 4)
		listen_v4(&addr, (uint16_t)port, out, len);
	else
		listen_v6(&addr, (uint16_t)port, out, len);
	return true;
}
