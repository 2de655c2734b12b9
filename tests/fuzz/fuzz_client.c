/* Whatever a header says, the address that counts is the peer's or one that stands in the header,
 * and never one reached past somebody who is not trusted. */
#include <stdlib.h>
#include <string.h>

#include "hythe/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static bool same(const struct addr *a, const struct addr *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const proxies[] = {"10.0.0.0/8", "127.0.0.1", "2001:db8::/32"};
	struct addr_net nets[3];
	const struct addr_net_list trusted = {nets, 3}, nobody = {nets, 0};
	struct addr proxy, stranger, got, again;
	char *header = malloc(size + 64);

	if (!header)
		return 0;
	for (size_t i = 0; i < 3; i++)
		must(addr_net_parse(proxies[i], &nets[i]));
	must(addr_parse("127.0.0.1", 9, &proxy));
	must(addr_parse("192.0.2.7", 9, &stranger));
	memcpy(header, data, size);
	header[size] = '\0';
	got = client_address(&stranger, header, &trusted);
	must(same(&got, &stranger));
	got = client_address(&proxy, header, &nobody);
	must(same(&got, &proxy));
	got = client_address(&proxy, header, &trusted);
	must(got.family == 4 || got.family == 6);
	/* What a proxy of ours appends decides, whatever the client wrote before it. */
	strcat(header, ", 198.51.100.7:80, [2001:db8::1]:443");
	got = client_address(&proxy, header, &trusted);
	must(addr_parse("198.51.100.7", 12, &again) && same(&got, &again));
	free(header);
	return 0;
}
