/* util/addr.h – IP addresses, networks, and listen addresses as text. Threads: any. */
#ifndef HYTHE_UTIL_ADDR_H
#define HYTHE_UTIL_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDR_TEXT_MAX 46

struct addr {
	uint8_t family; /* 0 none, 4, 6; an IPv4-mapped IPv6 address is kept as 4 */
	uint8_t bytes[16];
};

struct addr_net {
	struct addr base;
	uint8_t bits; /* prefix length, within the address's own family */
};

struct addr_net_list { /* --trusted-proxy; plain data */
	struct addr_net *nets;
	size_t count;
};

bool addr_parse(const char *text, size_t len, struct addr *out); /* no zone, no port, no brackets */
bool addr_of_sockaddr(const struct sockaddr *sa, struct addr *out);
void addr_print(const struct addr *addr, char out[static ADDR_TEXT_MAX]);
bool addr_net_parse(const char *text, struct addr_net *out); /* "10.0.0.0/8", "::1"; host bits must be 0 */
bool addr_in(const struct addr *addr, const struct addr_net_list *nets);
/* May be that of one machine: not unspecified, broadcast or multicast. */
bool addr_is_host(const struct addr *addr);
bool addr_is_loopback(const struct addr *addr);
/* The address with everything after `bits4`/`bits6` cleared: what buckets and limits count by. */
struct addr addr_network(const struct addr *addr, uint8_t bits4, uint8_t bits6);

/* "127.0.0.1:8080", "[::]:8443", ":8080" (both families). Fills a sockaddr for bind(2). */
bool addr_listen_parse(const char *text, struct sockaddr_storage *out, socklen_t *len);

#endif
