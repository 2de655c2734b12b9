/* Hosts, server names, hop ports and pins as people type them: what is accepted comes out in one
 * notation, and that notation is accepted as itself. The first byte chooses the reader. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/model/host.h"
#include "hythe/model/inbound.h"
#include "hythe/model/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

typedef enum res (*check_fn)(struct arena *arena, const char *field, const char *text,
			     const char **out, struct problem *problem);

static void try_check(check_fn check, const char *text)
{
	struct problem problem = {0};
	struct arena arena;
	const char *once, *twice;
	enum res res;

	arena_init(&arena, 1 << 20);
	res = check(&arena, "field", text, &once, &problem);
	must(res == RES_OK || (res == RES_INVALID && problem.code[0] && problem.detail[0]));
	if (res == RES_OK) {
		must(check(&arena, "field", once, &twice, NULL) == RES_OK);
		must(strcmp(once, twice) == 0);
		must(strlen(once) <= HOP_TEXT_MAX);
		for (const char *c = once; *c; c++)
			must((unsigned char)*c > ' ' && (unsigned char)*c < 0x7f);
	}
	arena_free(&arena);
}

static void try_ports(const char *text)
{
	struct arena arena;
	struct port_set set;
	const char *ports;

	arena_init(&arena, 1 << 20);
	if (hop_ports_check(&arena, NULL, text, &ports, NULL) == RES_OK) {
		port_set_of(65535, ports, &set);
		must(set.count >= 1 && set.count <= HOP_RANGES_MAX + 1);
		must(port_set_common(&set, &set) != 0);
	}
	arena_free(&arena);
}

static void try_pin(const char *text)
{
	char hex[PIN_HEX_SIZE];
	struct pin pin, again;

	if (pin_parse("pin", text, &pin, NULL) != RES_OK)
		return;
	pin_print(&pin, hex);
	must(pin_parse("pin", hex, &again, NULL) == RES_OK);
	must(again.known == pin.known && memcmp(again.bytes, pin.bytes, PIN_LEN) == 0);
}

static void try_cert(const char *text)
{
	struct cert_facts facts;

	if (cert_read("cert", text, &facts, NULL) == RES_OK)
		must(facts.cert_pin.known && facts.key_pin.known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0]) {
	case 'a':
		try_check(address_check, text);
		break;
	case 's':
		try_check(sni_check, text);
		break;
	case 'h':
		try_check(hop_ports_check, text);
		try_ports(text);
		break;
	case 'p':
		try_pin(text);
		break;
	default:
		try_cert(text);
	}
	free(text);
	return 0;
}
