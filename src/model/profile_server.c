/* The server settings of a profile: what a single text must be, what must hold between members, and
 * the tables. */
#include "hythe/model/profile.h"

#include <stdio.h>
#include <string.h>

#include "hythe/model/host.h"
#include "hythe/util/addr.h"
#include "hythe/util/num.h"
#include "json_rules.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* --- What single texts must be --- */

static bool is_host(const char *text)
{
	struct arena arena;
	const char *name;
	bool ok;

	arena_init(&arena, 8192);
	ok = address_check(&arena, NULL, text, &name, NULL) == RES_OK;
	arena_free(&arena);
	return ok;
}

static bool is_domain(const char *text)
{
	struct addr addr;

	return !addr_parse(text, strlen(text), &addr) &&
	       is_host(strncmp(text, "*.", 2) == 0 ? text + 2 : text);
}

/* Enough to catch what is no address at all; who gets the mail decides the rest. */
static bool is_email(const char *text)
{
	const char *at = strchr(text, '@');

	return at && at > text && !strchr(at + 1, '@') && !strchr(text, ' ') && is_host(at + 1);
}

/* A path below the node's one directory: no way up, no way out. */
static bool is_below(const char *text)
{
	for (const char *at = text;;) {
		size_t len = strcspn(at, "/");

		if (len == 0 || at[0] == '.')
			return false;
		for (size_t i = 0; i < len; i++)
			if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-",
				    at[i]))
				return false;
		if (at[len] == '\0')
			return true;
		at += len + 1;
	}
}

/* "host:port" or "[IPv6]:port", or the host alone. */
static bool is_host_port(const char *text)
{
	char host[256];
	const char *end, *port;
	int64_t number;
	size_t len;

	if (is_host(text))
		return true;
	if (*text == '[') {
		end = strchr(text, ']');
		port = end ? end + 1 : NULL;
		text++;
	} else {
		end = port = strrchr(text, ':');
	}
	if (!end || *port != ':' ||
	    num_i64(port + 1, strlen(port + 1), 1, 65535, &number) != RES_OK)
		return false;
	len = (size_t)(end - text);
	if (len >= sizeof host)
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	return is_host(host);
}

static bool is_url(const char *text)
{
	const char *rest = strncmp(text, "https://", 8) == 0  ? text + 8
			   : strncmp(text, "http://", 7) == 0 ? text + 7
							      : NULL;
	const char *at;
	char host[256];
	size_t len;

	if (!rest || strpbrk(rest, " \"<>\\^`{|}"))
		return false;
	len = strcspn(rest, "/?#");
	at = memrchr(rest, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - rest);
		rest = at + 1;
	}
	if (len == 0 || len >= sizeof host)
		return false;
	memcpy(host, rest, len);
	host[len] = '\0';
	if (host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		return is_host(host + 1) && strchr(host, ':');
	}
	return is_host_port(host) && (!is_host(host) || !strchr(host, ':'));
}

/* A site to show: its address stands open in answers, so it must not carry a password. */
static bool is_page_url(const char *text)
{
	const char *rest = strstr(text, "//");

	return is_url(text) && rest && !memchr(rest + 2, '@', strcspn(rest + 2, "/?#"));
}

static bool is_net(const char *text)
{
	struct addr_net net;
	struct addr addr;

	return addr_net_parse(text, &net) || addr_parse(text, strlen(text), &addr) ||
	       is_domain(text);
}

static bool is_ip4(const char *text)
{
	struct addr addr;

	return addr_parse(text, strlen(text), &addr) && addr.family == 4;
}

static bool is_ip6(const char *text)
{
	struct addr addr;

	return addr_parse(text, strlen(text), &addr) && addr.family == 6;
}

/* Names of outbounds, devices, DNS providers' settings and headers. */
static bool is_token(const char *text)
{
	size_t len = strlen(text);

	return len >= 1 && len <= 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       len;
}

static bool is_ports(const char *text)
{
	struct arena arena;
	const char *ports;
	bool ok;

	if (strcmp(text, "all") == 0)
		return true;
	arena_init(&arena, 8192);
	ok = *text && hop_ports_check(&arena, NULL, text, &ports, NULL) == RES_OK;
	arena_free(&arena);
	return ok;
}

/* --- Between members --- */

static bool given(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member && member->type != JSON_NULL;
}

/* What a type needs, and what only it may have. */
struct need {
	const char *type, *member;
	bool required;
};

static bool needs_allow(const struct need *needs, size_t count, const char *type,
			const char *member)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(needs[i].type, type) == 0 && strcmp(needs[i].member, member) == 0)
			return true;
	return false;
}

static enum res needs_check(struct rules_writer *w, const struct json *object, const char *fallback,
			    const struct need *needs, size_t count)
{
	const struct json *type = json_member(object, "type");
	const char *word = type && type->type == JSON_STRING ? type->text : fallback;

	for (size_t i = 0; i < count; i++) {
		bool has = given(object, needs[i].member);

		if (strcmp(needs[i].type, word) == 0 && needs[i].required && !has)
			return rules_refuse(w, needs[i].member, "missing_field",
					    "is needed while type is %s", word);
		if (has && !needs_allow(needs, count, word, needs[i].member))
			return rules_refuse(w, needs[i].member, "bad_value", "is not for type %s",
					    word);
	}
	return RES_OK;
}

static enum res acme_check(struct rules_writer *w, const struct json *object)
{
	static const struct need needs[] = {
		{"http", "http_port", false},
		{"tls",  "tls_port",  false},
		{"dns",  "dns",       true },
	};

	return needs_check(w, object, "http", needs, COUNT(needs));
}

static enum res masquerade_check(struct rules_writer *w, const struct json *object)
{
	static const struct need needs[] = {
		{"file",   "dir",          true },
		{"proxy",  "url",          true },
		{"proxy",  "rewrite_host", false},
		{"proxy",  "x_forwarded",  false},
		{"proxy",  "insecure",     false},
		{"string", "content",      true },
		{"string", "headers",      false},
		{"string", "status_code",  false},
	};
	const struct json *status = json_member(object, "status_code");
	int64_t code;

	/* 233 is Hysteria's own "admitted": a page that says so would be taken for one. */
	if (status && json_i64(status, 233, 233, &code) == RES_OK)
		return rules_refuse(w, "status_code", "bad_value", "must not be 233");
	if (given(object, "http_port") && !given(object, "https_port"))
		return rules_refuse(w, "https_port", "missing_field", "is needed with http_port");
	return needs_check(w, object, "404", needs, COUNT(needs));
}

static enum res outbound_check(struct rules_writer *w, const struct json *object)
{
	static const struct need needs[] = {
		{"direct", "mode",        false},
		{"direct", "bind_ipv4",   false},
		{"direct", "bind_ipv6",   false},
		{"direct", "bind_device", false},
		{"direct", "fast_open",   false},
		{"socks5", "addr",        true },
		{"socks5", "username",    false},
		{"socks5", "password",    false},
		{"http",   "url",         true },
		{"http",   "insecure",    false},
	};

	return needs_check(w, object, "direct", needs, COUNT(needs));
}

static enum res resolver_check(struct rules_writer *w, const struct json *object)
{
	static const struct need needs[] = {
		{"udp",   "addr",      true },
		{"tcp",   "addr",      true },
		{"tls",   "addr",      true },
		{"https", "addr",      true },
		{"tls",   "sni",       false},
		{"https", "sni",       false},
		{"tls",   "insecure",  false},
		{"https", "insecure",  false},
		{"udp",   "timeout_s", false},
		{"tcp",   "timeout_s", false},
		{"tls",   "timeout_s", false},
		{"https", "timeout_s", false},
	};

	return needs_check(w, object, "system", needs, COUNT(needs));
}

static enum res windows_check(struct rules_writer *w, const struct json *object)
{
	static const char *const pairs[][2] = {
		{"init_conn_receive_window_bytes",   "max_conn_receive_window_bytes"  },
		{"init_stream_receive_window_bytes", "max_stream_receive_window_bytes"},
	};

	for (size_t i = 0; i < COUNT(pairs); i++) {
		const struct json *first = json_member(object, pairs[i][0]);
		const struct json *most = json_member(object, pairs[i][1]);
		int64_t a, b;

		if (first && most && json_i64(first, 0, INT64_MAX, &a) == RES_OK &&
		    json_i64(most, 0, INT64_MAX, &b) == RES_OK && a > b)
			return rules_refuse(w, pairs[i][0], "out_of_range", "must not be above %s",
					    pairs[i][1]);
	}
	return RES_OK;
}

/* Below 65,536 bytes a second Hysteria does not start; 0 is no limit. */
static enum res bandwidth_check(struct rules_writer *w, const struct json *object)
{
	static const char *const names[] = {"down_bps", "up_bps"};

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct json *rate = json_member(object, names[i]);
		int64_t bps;

		if (rate && json_i64(rate, 1, 524287, &bps) == RES_OK)
			return rules_refuse(w, names[i], "out_of_range",
					    "must be 0 or at least 524288");
	}
	return RES_OK;
}

/* --- The tables --- */

/* clang-format off */
#define FLAG(n)               .name = n, .shape = SHAPE_FLAG
#define NUMBER(n, low, high)  .name = n, .shape = SHAPE_NUMBER, .min = low, .max = high
#define TEXT(n, high, fn, w)                                                                       \
	.name = n, .shape = SHAPE_TEXT, .min = 1, .max = high, .valid = fn, .wants = w
#define WORD(n, list)         .name = n, .shape = SHAPE_WORD, .words = list
#define OBJECT(n, rows)       .name = n, .shape = SHAPE_OBJECT, .object = rows
#define PORT(n)               NUMBER(n, 1, 65535)
#define WINDOW(n)             NUMBER(n, 16384, INT64_C(1) << 30)

static const char *const acme_types[] = {"http", "tls", "dns", NULL};
static const char *const acme_cas[] = {"letsencrypt", "zerossl", NULL};
static const char *const dns_names[] = {"cloudflare", "duckdns", "gandi",   "godaddy", "namecheap",
					"njalla",     "porkbun", "vultr", NULL};
static const char *const protos[] = {"tcp", "udp", NULL};
static const char *const congestions[] = {"bbr", "reno", NULL};
static const char *const bbr_profiles[] = {"standard", "conservative", "aggressive", NULL};
static const char *const masquerades[] = {"404", "file", "proxy", "string", NULL};
static const char *const outbound_types[] = {"direct", "socks5", "http", NULL};
static const char *const ip_modes[] = {"auto", "64", "46", "6", "4", NULL};
static const char *const resolver_types[] = {"system", "udp", "tcp", "tls", "https", NULL};
static const char *const sni_guards[] = {"dns-san", "strict", "disable", NULL};

static const char a_domain[] = "a host name, with *. before it for a wildcard";
static const char a_token[] = "1 to 64 of A-Z, a-z, 0-9, '_', '.' and '-'";
static const char a_path[] = "a name below the node's directory, without .. and a leading /";
static const char a_url[] = "an http:// or https:// address";
static const char a_server[] = "a host with or without :port";

static const struct rule allow_rows[] = {
	{TEXT("address", 255, is_net, "an address, a network or a host name"), .required = true},
	{PORT("port")},
	{WORD("proto", protos)},
};
static const struct object_rules allow = {allow_rows, COUNT(allow_rows), NULL};

static const struct rule dns_rows[] = {
	{.name = "config", .shape = SHAPE_MAP, .min = 1, .max = 16, .valid = is_token, .wants = a_token,
	 .required = true, .secret = true},
	{WORD("name", dns_names), .required = true},
};
static const struct object_rules dns = {dns_rows, COUNT(dns_rows), NULL};

static const struct rule acme_rows[] = {
	{WORD("ca", acme_cas)},
	{OBJECT("dns", &dns)},
	{.name = "domains", .shape = SHAPE_TEXTS, .min = 1, .max = KEPT_MAX, .valid = is_domain,
	 .wants = a_domain, .required = true},
	{TEXT("email", 254, is_email, "a mail address")},
	{PORT("http_port")},
	{PORT("tls_port")},
	{WORD("type", acme_types)},
};
static const struct object_rules acme = {acme_rows, COUNT(acme_rows), acme_check};

static const struct rule bandwidth_rows[] = {
	{FLAG("disable_loss_compensation")},
	{NUMBER("down_bps", 0, INT64_C(1000000000000))},
	{NUMBER("up_bps", 0, INT64_C(1000000000000))},
};
static const struct object_rules bandwidth = {bandwidth_rows, COUNT(bandwidth_rows), bandwidth_check};

static const struct rule congestion_rows[] = {
	{WORD("bbr_profile", bbr_profiles)},
	{WORD("type", congestions)},
};
static const struct object_rules congestion = {congestion_rows, COUNT(congestion_rows), NULL};

static const struct rule masquerade_rows[] = {
	{TEXT("content", 8192, NULL, NULL), .lines = true},
	{TEXT("dir", 200, is_below, a_path)},
	{FLAG("force_https")},
	{.name = "headers", .shape = SHAPE_MAP, .min = 0, .max = KEPT_MAX, .valid = is_token,
	 .wants = a_token},
	{PORT("http_port")},
	{PORT("https_port")},
	{FLAG("insecure")},
	{FLAG("rewrite_host")},
	{NUMBER("status_code", 200, 599)},
	{WORD("type", masquerades)},
	{TEXT("url", 1024, is_page_url, "an http:// or https:// address without user and password")},
	{FLAG("x_forwarded")},
};
static const struct object_rules masquerade = {masquerade_rows, COUNT(masquerade_rows),
					       masquerade_check};

static const struct rule outbound_rows[] = {
	{TEXT("addr", 255, is_host_port, a_server)},
	{TEXT("bind_device", 15, is_token, a_token)},
	{TEXT("bind_ipv4", 15, is_ip4, "an IPv4 address")},
	{TEXT("bind_ipv6", 45, is_ip6, "an IPv6 address")},
	{FLAG("fast_open")},
	{FLAG("insecure")},
	{WORD("mode", ip_modes)},
	{TEXT("name", 64, is_token, a_token), .required = true},
	{TEXT("password", 255, NULL, NULL), .secret = true},
	{WORD("type", outbound_types), .required = true},
	{TEXT("url", 1024, is_url, a_url), .secret = true}, /* may hold user and password */
	{TEXT("username", 255, NULL, NULL)},
};
static const struct object_rules outbound = {outbound_rows, COUNT(outbound_rows), outbound_check};

static const struct rule quic_rows[] = {
	{FLAG("disable_path_mtu_discovery")},
	{WINDOW("init_conn_receive_window_bytes")},
	{WINDOW("init_stream_receive_window_bytes")},
	{WINDOW("max_conn_receive_window_bytes")},
	/* The shortest that costs phones no extra keep-alive; what a restart makes clients wait. */
	{NUMBER("max_idle_timeout_s", 4, 120), .fallback = 20},
	{NUMBER("max_incoming_streams", 8, 65536)},
	{WINDOW("max_stream_receive_window_bytes")},
};
static const struct object_rules quic = {quic_rows, COUNT(quic_rows), windows_check};

static const struct rule resolver_rows[] = {
	{TEXT("addr", 255, is_host_port, a_server)},
	{FLAG("insecure")},
	{TEXT("sni", 253, is_domain, "a host name")},
	{NUMBER("timeout_s", 1, 60)},
	{WORD("type", resolver_types), .required = true},
};
static const struct object_rules resolver = {resolver_rows, COUNT(resolver_rows), resolver_check};

static const struct rule sniff_rows[] = {
	{FLAG("enable")},
	{FLAG("rewrite_domain")},
	{TEXT("tcp_ports", HOP_TEXT_MAX, is_ports, "all, or ports and ranges such as 80,443,8000-9000")},
	{NUMBER("timeout_s", 1, 60)},
	{TEXT("udp_ports", HOP_TEXT_MAX, is_ports, "all, or ports and ranges such as 443")},
};
static const struct object_rules sniff = {sniff_rows, COUNT(sniff_rows), NULL};

static const struct rule tls_rows[] = {
	{TEXT("cert", 200, is_below, a_path), .required = true},
	{TEXT("key", 200, is_below, a_path), .required = true},
	{WORD("sni_guard", sni_guards)},
};
static const struct object_rules tls = {tls_rows, COUNT(tls_rows), NULL};

static const struct rule server_rows[] = {
	{.name = "acl_allow", .shape = SHAPE_OBJECTS, .max = KEPT_MAX, .object = &allow},
	{OBJECT("acme", &acme)},
	{OBJECT("bandwidth", &bandwidth)},
	{OBJECT("congestion", &congestion)},
	{FLAG("disable_udp")},
	{FLAG("ignore_client_bandwidth")},
	{OBJECT("masquerade", &masquerade)},
	{.name = "outbounds", .shape = SHAPE_OBJECTS, .max = 16, .object = &outbound},
	{OBJECT("quic", &quic), .always = true},
	{OBJECT("resolver", &resolver)},
	{OBJECT("sniff", &sniff)},
	{FLAG("speed_test")},
	{OBJECT("tls", &tls)},
	{NUMBER("udp_idle_timeout_s", 2, 600)},
};
static const struct object_rules server_rules = {server_rows, COUNT(server_rows), NULL};
/* clang-format on */

enum res server_merge(const char *field, const struct json *base, const struct json *patch,
		      struct buf *out, struct problem *problem)
{
	struct rules_writer w = {.problem = problem};
	size_t before = out->len;
	enum res res;

	snprintf(w.path, sizeof w.path, "%s", field);
	json_start(&w.json, out);
	if ((res = rules_put(&w, NULL, &server_rules, patch, base)) != RES_OK)
		return res;
	if (!json_finish(&w.json))
		return out->len >= SERVER_TEXT_MAX / 2
			       ? problem_set(problem, RES_INVALID, "out_of_range", field,
					     "is too long")
			       : RES_NOMEM;
	if (out->len - before > SERVER_TEXT_MAX)
		return problem_set(problem, RES_INVALID, "out_of_range", field,
				   "must be %d bytes at most", SERVER_TEXT_MAX);
	return RES_OK;
}

enum res server_print_public(const struct json *server, struct buf *out)
{
	struct rules_writer w = {.public = true};
	enum res res;

	json_start(&w.json, out);
	if ((res = rules_put(&w, NULL, &server_rules, server, NULL)) != RES_OK)
		return res;
	return json_finish(&w.json) ? RES_OK : RES_NOMEM;
}

const char *server_secret_lost(const struct json *base, const struct json *patch)
{
	for (size_t i = 0; i < COUNT(server_rows); i++) {
		const struct json *stored = json_member(base, server_rows[i].name);
		const struct json *given_now = json_member(patch, server_rows[i].name);

		if (stored && given_now && given_now->type != JSON_NULL &&
		    rule_holds_secret(&server_rows[i], stored))
			return server_rows[i].name;
	}
	return NULL;
}
