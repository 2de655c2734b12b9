/* Share links, by the rules of the published URI scheme as third-party apps read it: one numeric
 * port, the hop range in `mport`, each key at most once and only with a value, everything encoded.
 */
#include <string.h>

#include "formats.h"
#include "hythe/util/hash.h"
#include "hythe/util/text.h"

/* A discard port on no address, under a name that no resolver knows. */
#define STUB_AUTHORITY "0.0.0.0:1"
#define STUB_SNI       "stub.invalid"

struct query {
	struct buf *out;
	bool any;
};

static void query_key(struct query *query, const char *key)
{
	buf_str(query->out, query->any ? "&" : "?");
	query->any = true;
	buf_str(query->out, key);
	buf_char(query->out, '=');
}

static void query_text(struct query *query, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	query_key(query, key);
	text_percent(query->out, value, strlen(value));
}

static void put_pin(struct query *query, const struct endpoint *endpoint)
{
	char hex[HEX_LEN(sizeof endpoint->cert_pin) + 1];

	if (!endpoint->pinned)
		return;
	/* A pin beside a certificate that an authority signed is checked on top of the chain. */
	if (strcmp(endpoint->cert_mode, "self_signed") == 0)
		query_text(query, "insecure", "1");
	hex_encode(endpoint->cert_pin, sizeof endpoint->cert_pin, hex);
	query_text(query, "pinSHA256", hex);
}

static void put_query(struct buf *out, const struct endpoint *endpoint)
{
	struct query query = {.out = out};

	buf_char(out, '/');
	if (strcmp(endpoint->obfs, "none") != 0) {
		query_text(&query, "obfs", endpoint->obfs);
		query_text(&query, "obfs-password", endpoint->obfs_password);
	}
	query_text(&query, "sni", endpoint->sni);
	put_pin(&query, endpoint);
	if (*endpoint->hop_ports) { /* digits, ',' and '-', which every parser takes as they are */
		query_key(&query, "mport");
		buf_str(out, endpoint->hop_ports);
	}
}

static void put_authority(struct buf *out, const struct endpoint *endpoint)
{
	bool v6 = strchr(endpoint->address, ':') != NULL;

	buf_printf(out, v6 ? "[%s]:%lld" : "%s:%lld", endpoint->address, (long long)endpoint->port);
}

static void put_link(struct buf *out, const char *credential, const struct sub_server *server)
{
	buf_str(out, "hysteria2://");
	text_percent(out, credential, strlen(credential));
	buf_char(out, '@');
	if (server->endpoint) {
		put_authority(out, server->endpoint);
		put_query(out, server->endpoint);
	} else {
		buf_str(out, STUB_AUTHORITY "/?sni=" STUB_SNI);
	}
	buf_char(out, '#');
	text_percent(out, server->name, strlen(server->name));
	buf_char(out, '\n');
}

bool format_links(const struct sub_page *page, struct buf *out)
{
	for (size_t i = 0; i < page->count; i++)
		put_link(out, page->credential, &page->servers[i]);
	return !out->failed;
}
