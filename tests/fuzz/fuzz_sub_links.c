/* A link of any texts is one line of printable ASCII with one '#', one '?' at most before it, and
 * pairs of exactly one '=' in the query; the base64 list is the plain one, encoded. */
#include <stdlib.h>
#include <string.h>

#include "sub/formats.h"

#include "hythe/util/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void check_pairs(const char *at, const char *end)
{
	while (at < end) {
		size_t len = strcspn(at, "&#");
		const char *equals = memchr(at, '=', len);

		must(equals && equals > at && equals + 1 < at + len);
		must(memchr(equals + 1, '=', len - (size_t)(equals + 1 - at)) == NULL);
		at += len + 1;
	}
}

static void check_link(const struct buf *plain)
{
	const char *name = strchr(plain->data, '#'), *query = strchr(plain->data, '?');

	must(strncmp(plain->data, "hysteria2://", 12) == 0 && name != NULL);
	must(strchr(plain->data, '\n') == plain->data + plain->len - 1);
	for (size_t i = 0; i + 1 < plain->len; i++)
		must(plain->data[i] > 0x20 && plain->data[i] < 0x7f);
	must(strchr(name + 1, '#') == NULL && strchr(name, '?') == NULL);
	if (query && query < name)
		check_pairs(query + 1, name);
}

static void render(const char *format, const struct sub_page *page, struct buf *out)
{
	buf_init(out, SUB_BODY_MAX);
	must(sub_format_render(&sub_formats[sub_format_find(format, strlen(format))], page, out));
}

/* The input is lines: credential, obfs password, SNI, name. Address and ports are checked before
 * they are stored, so they are plain here. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *part[4] = {"", "", "", ""};
	char *text = malloc(size + 1), *rest = text, *decoded;
	struct endpoint endpoint = {.address = "2001:db8::1", .port = 443, .hop_ports = "1-2,5"};
	struct sub_server server = {&endpoint, ""};
	struct buf plain, base64;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < 4 && rest; i++)
		part[i] = strsep(&rest, "\n");
	endpoint.obfs = size % 2 ? "salamander" : "none";
	endpoint.obfs_password = part[1];
	endpoint.sni = part[2];
	endpoint.cert_mode = size % 3 ? "self_signed" : "file";
	endpoint.pinned = size % 3 != 0;
	server.name = part[3];
	{
		struct sub_page page = {part[0], &server, 1};

		render("plain", &page, &plain);
		render("base64", &page, &base64);
	}
	check_link(&plain);
	decoded = malloc(plain.len);
	must(decoded && base64_decode(base64.data, base64.len, decoded, plain.len));
	must(memcmp(decoded, plain.data, plain.len) == 0);
	free(decoded);
	buf_free(&plain);
	buf_free(&base64);
	free(text);
	return 0;
}
