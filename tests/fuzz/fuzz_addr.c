/* What addr_parse() takes prints as text that parses to the same address; the same for networks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void try_addr(const char *text, size_t len)
{
	struct addr addr, again;
	char out[ADDR_TEXT_MAX];

	if (!addr_parse(text, len, &addr))
		return;
	must(addr.family == 4 || addr.family == 6);
	addr_print(&addr, out);
	must(addr_parse(out, strlen(out), &again));
	must(memcmp(&addr, &again, sizeof addr) == 0);
}

static void try_net(const char *text)
{
	struct addr_net net, again;
	struct addr_net_list list = {.nets = &net, .count = 1};
	char out[ADDR_TEXT_MAX], both[ADDR_TEXT_MAX + 8];
	struct addr cut;

	if (!addr_net_parse(text, &net))
		return;
	must(net.bits <= (net.base.family == 4 ? 32 : 128));
	must(addr_in(&net.base, &list));
	cut = addr_network(&net.base, net.bits, net.bits);
	must(memcmp(&cut, &net.base, sizeof cut) == 0);
	addr_print(&net.base, out);
	snprintf(both, sizeof both, "%s/%u", out, net.bits);
	must(addr_net_parse(both, &again));
	must(memcmp(&net, &again, sizeof net) == 0);
}

static void try_listen(const char *text)
{
	struct sockaddr_storage sa;
	struct addr addr;
	socklen_t len;

	if (!addr_listen_parse(text, &sa, &len))
		return;
	must(len <= sizeof sa && strchr(text, ':') != NULL);
	must(addr_of_sockaddr((const struct sockaddr *)&sa, &addr));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_addr(text, size);
	try_net(text);
	try_listen(text);
	free(text);
	return 0;
}
