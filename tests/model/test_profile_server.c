#include "hythe/model/profile.h"

#include "test.h"

#define QUIC "\"quic\":{\"max_idle_timeout_s\":20}"

static struct json_doc *parse(const char *json, char *text, size_t size)
{
	struct json_doc *doc;

	if (!json)
		return NULL;
	snprintf(text, size, "%s", json);
	if (json_parse(text, strlen(text), &doc, NULL) != RES_OK)
		TEST_FAIL("bad test: %s", json);
	return doc;
}

static enum res merge(const char *base, const char *patch, struct buf *out, struct problem *problem)
{
	char base_text[4096], patch_text[4096];
	struct json_doc *a = parse(base, base_text, sizeof base_text);
	struct json_doc *b = parse(patch, patch_text, sizeof patch_text);
	enum res res;

	*problem = (struct problem){0};
	buf_init(out, SERVER_TEXT_MAX * 2);
	res = server_merge("server", a ? json_root(a) : NULL, b ? json_root(b) : NULL, out,
			   problem);
	json_free(a);
	json_free(b);
	return res;
}

static void test_canonical(void)
{
	static const struct {
		const char *base, *patch, *want;
	} rows[] = {
		{NULL, NULL, "{" QUIC "}"},
		{NULL, "{}", "{" QUIC "}"},
		{NULL, "{ \"udp_idle_timeout_s\": 60, \"disable_udp\": false }",
		 "{\"disable_udp\":false," QUIC ",\"udp_idle_timeout_s\":60}"},
		{NULL, "{\"quic\":{\"max_idle_timeout_s\":30,\"max_incoming_streams\":8}}",
		 "{\"quic\":{\"max_idle_timeout_s\":30,\"max_incoming_streams\":8}}"},
		{NULL, "{\"bandwidth\":{\"up_bps\":100000000,\"down_bps\":0}}",
		 "{\"bandwidth\":{\"down_bps\":0,\"up_bps\":100000000}," QUIC "}"},
		{NULL,
		 "{\"acme\":{\"type\":\"dns\",\"domains\":[\"a.net\",\"*.b.net\"],\"email\":\"x@a."
		 "net\","
		 "\"dns\":{\"name\":\"cloudflare\",\"config\":{\"b\":\"2\",\"a\":\"1\"}}}}",
		 "{\"acme\":{\"dns\":{\"config\":{\"a\":\"1\",\"b\":\"2\"},\"name\":\"cloudflare\"}"
		 ","
		 "\"domains\":[\"a.net\",\"*.b.net\"],\"email\":\"x@a.net\",\"type\":\"dns\"}," QUIC
		 "}"},
		{NULL,
		 "{\"masquerade\":{\"type\":\"string\",\"content\":\"a\\nb\",\"headers\":{\"x-b\":"
		 "\"1\","
		 "\"x-a\":\"2\"},\"status_code\":404}}",
		 "{\"masquerade\":{\"content\":\"a\\nb\",\"headers\":{\"x-a\":\"2\",\"x-b\":\"1\"},"
		 "\"status_code\":404,\"type\":\"string\"}," QUIC "}"},
		{NULL, "{\"tls\":{\"key\":\"site/key.pem\",\"cert\":\"site/cert.pem\"}}",
		 "{" QUIC ",\"tls\":{\"cert\":\"site/cert.pem\",\"key\":\"site/key.pem\"}}"},
		{NULL,
		 "{\"outbounds\":[{\"name\":\"home\",\"type\":\"socks5\",\"addr\":\"[2001:db8::1]:"
		 "1080\"},"
		 "{\"name\":\"d\",\"type\":\"direct\",\"mode\":\"46\"}]}",
		 "{\"outbounds\":[{\"addr\":\"[2001:db8::1]:1080\",\"name\":\"home\",\"type\":"
		 "\"socks5\"},"
		 "{\"mode\":\"46\",\"name\":\"d\",\"type\":\"direct\"}]," QUIC "}"},
		{NULL,
		 "{\"acl_allow\":[{\"address\":\"203.0.113.20\",\"port\":443,\"proto\":\"tcp\"}]}",
		 "{\"acl_allow\":[{\"address\":\"203.0.113.20\",\"port\":443,\"proto\":\"tcp\"}]"
		 "," QUIC "}"},
		{NULL,
		 "{\"resolver\":{\"type\":\"https\",\"addr\":\"1.1.1.1:443\",\"sni\":\"one.net\"},"
		 "\"sniff\":{\"enable\":true,\"tcp_ports\":\"80,443,8000-9000\",\"udp_ports\":"
		 "\"all\"}}",
		 "{" QUIC
		 ",\"resolver\":{\"addr\":\"1.1.1.1:443\",\"sni\":\"one.net\",\"type\":\"https\"},"
		 "\"sniff\":{\"enable\":true,\"tcp_ports\":\"80,443,8000-9000\",\"udp_ports\":"
		 "\"all\"}}"},
		/* Merging: members at the top take the place of those that were, null takes one
		   away. */
		{"{\"disable_udp\":true," QUIC ",\"speed_test\":true}", "{\"speed_test\":null}",
		 "{\"disable_udp\":true," QUIC "}"},
		{"{\"quic\":{\"max_idle_timeout_s\":60,\"max_incoming_streams\":16}}",
		 "{\"quic\":{\"max_incoming_streams\":32}}",
		 "{\"quic\":{\"max_idle_timeout_s\":20,\"max_incoming_streams\":32}}"},
		{"{\"quic\":{\"max_idle_timeout_s\":60}}", "{\"quic\":null}", "{" QUIC "}"},
		{"{\"disable_udp\":true," QUIC "}", NULL, "{\"disable_udp\":true," QUIC "}"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem;
		struct buf out, again;
		enum res res = merge(rows[i].base, rows[i].patch, &out, &problem);

		if (res != RES_OK)
			TEST_FAIL("row %zu: %s: %s", i, problem.field, problem.detail);
		CHECK_TEXT(out.data, rows[i].want);
		/* What is canonical stays as it is. */
		CHECK_INT(merge(NULL, out.data, &again, &problem), RES_OK);
		CHECK_TEXT(again.data, rows[i].want);
		buf_free(&out);
		buf_free(&again);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *patch, *field, *code;
	} rows[] = {
		{"[]", "server", "wrong_type"},
		{"{\"nonsense\":1}", "server.nonsense", "unknown_field"},
		{"{\"Quic\":{}}", "server.Quic", "unknown_field"},
		{"{\"quic\":{\"x\":1}}", "server.quic.x", "unknown_field"},
		{"{\"quic\":[]}", "server.quic", "wrong_type"},
		{"{\"quic\":{\"max_idle_timeout_s\":3}}", "server.quic.max_idle_timeout_s",
		 "out_of_range"},
		{"{\"quic\":{\"max_idle_timeout_s\":121}}", "server.quic.max_idle_timeout_s",
		 "out_of_range"},
		{"{\"quic\":{\"max_idle_timeout_s\":20.5}}", "server.quic.max_idle_timeout_s",
		 "wrong_type"},
		{"{\"quic\":{\"max_idle_timeout_s\":\"20s\"}}", "server.quic.max_idle_timeout_s",
		 "wrong_type"},
		{"{\"quic\":{\"max_incoming_streams\":7}}", "server.quic.max_incoming_streams",
		 "out_of_range"},
		{"{\"quic\":{\"init_conn_receive_window_bytes\":40000,\"max_conn_receive_window_"
		 "bytes\":20000}}",
		 "server.quic.init_conn_receive_window_bytes", "out_of_range"},
		{"{\"disable_udp\":1}", "server.disable_udp", "wrong_type"},
		{"{\"udp_idle_timeout_s\":601}", "server.udp_idle_timeout_s", "out_of_range"},
		{"{\"udp_idle_timeout_s\":99999999999999999999}", "server.udp_idle_timeout_s",
		 "out_of_range"},
		{"{\"bandwidth\":{\"up_bps\":524287}}", "server.bandwidth.up_bps", "out_of_range"},
		{"{\"bandwidth\":{\"up_bps\":-1}}", "server.bandwidth.up_bps", "out_of_range"},
		{"{\"congestion\":{\"type\":\"cubic\"}}", "server.congestion.type", "bad_value"},
		{"{\"acme\":{}}", "server.acme.domains", "missing_field"},
		{"{\"acme\":{\"domains\":[]}}", "server.acme.domains", "out_of_range"},
		{"{\"acme\":{\"domains\":[\"a.net\",\"b_c\"]}}", "server.acme.domains[1]",
		 "bad_value"},
		{"{\"acme\":{\"domains\":[\"1.2.3.4\"]}}", "server.acme.domains[0]", "bad_value"},
		{"{\"acme\":{\"domains\":[\"a.net\"],\"type\":\"dns\"}}", "server.acme.dns",
		 "missing_field"},
		{"{\"acme\":{\"domains\":[\"a.net\"],\"tls_port\":8443}}", "server.acme.tls_port",
		 "bad_value"},
		{"{\"acme\":{\"domains\":[\"a.net\"],\"email\":\"nobody\"}}", "server.acme.email",
		 "bad_value"},
		{"{\"acme\":{\"domains\":[\"a.net\"],\"type\":\"dns\",\"dns\":{\"name\":"
		 "\"namedotcom\","
		 "\"config\":{\"a\":\"1\"}}}}",
		 "server.acme.dns.name", "bad_value"},
		{"{\"acme\":{\"domains\":[\"a.net\"],\"type\":\"dns\",\"dns\":{\"name\":\"vultr\","
		 "\"config\":{\"a\":1}}}}",
		 "server.acme.dns.config.a", "wrong_type"},
		{"{\"acme\":{\"domains\":[\"a.net\"],\"type\":\"dns\",\"dns\":{\"name\":\"vultr\","
		 "\"config\":{\"a b\":\"1\"}}}}",
		 "server.acme.dns.config", "bad_value"},
		{"{\"masquerade\":{\"type\":\"string\"}}", "server.masquerade.content",
		 "missing_field"},
		{"{\"masquerade\":{\"type\":\"string\",\"content\":\"\"}}",
		 "server.masquerade.content", "out_of_range"},
		{"{\"masquerade\":{\"type\":\"string\",\"content\":\"a\",\"status_code\":233}}",
		 "server.masquerade.status_code", "bad_value"},
		{"{\"masquerade\":{\"type\":\"string\",\"content\":\"a\",\"url\":\"https://"
		 "a.net\"}}",
		 "server.masquerade.url", "bad_value"},
		{"{\"masquerade\":{\"type\":\"string\",\"content\":\"a\",\"headers\":{\"a\":"
		 "\"b\\r\\nc\"}}}",
		 "server.masquerade.headers.a", "bad_value"},
		{"{\"masquerade\":{\"type\":\"proxy\",\"url\":\"ftp://a.net\"}}",
		 "server.masquerade.url", "bad_value"},
		{"{\"masquerade\":{\"type\":\"proxy\",\"url\":\"https://u:p@a.net/\"}}",
		 "server.masquerade.url", "bad_value"},
		{"{\"masquerade\":{\"type\":\"proxy\",\"url\":\"https://\"}}",
		 "server.masquerade.url", "bad_value"},
		{"{\"masquerade\":{\"type\":\"file\",\"dir\":\"/etc\"}}", "server.masquerade.dir",
		 "bad_value"},
		{"{\"masquerade\":{\"type\":\"file\",\"dir\":\"../x\"}}", "server.masquerade.dir",
		 "bad_value"},
		{"{\"masquerade\":{\"type\":\"file\",\"dir\":\"a/../b\"}}", "server.masquerade.dir",
		 "bad_value"},
		{"{\"masquerade\":{\"type\":\"file\",\"dir\":\"a//b\"}}", "server.masquerade.dir",
		 "bad_value"},
		{"{\"masquerade\":{\"http_port\":80}}", "server.masquerade.https_port",
		 "missing_field"},
		{"{\"tls\":{\"cert\":\"a.pem\"}}", "server.tls.key", "missing_field"},
		{"{\"tls\":{\"cert\":\"a.pem\",\"key\":\"/etc/shadow\"}}", "server.tls.key",
		 "bad_value"},
		{"{\"outbounds\":[{\"name\":\"a\"}]}", "server.outbounds[0].type", "missing_field"},
		{"{\"outbounds\":[{\"name\":\"a\",\"type\":\"socks5\"}]}",
		 "server.outbounds[0].addr", "missing_field"},
		{"{\"outbounds\":[{\"name\":\"a\",\"type\":\"direct\",\"password\":\"x\"}]}",
		 "server.outbounds[0].password", "bad_value"},
		{"{\"outbounds\":[{\"name\":\"a b\",\"type\":\"direct\"}]}",
		 "server.outbounds[0].name", "bad_value"},
		{"{\"outbounds\":{}}", "server.outbounds", "wrong_type"},
		{"{\"resolver\":{\"type\":\"udp\"}}", "server.resolver.addr", "missing_field"},
		{"{\"resolver\":{\"type\":\"system\",\"addr\":\"1.1.1.1\"}}",
		 "server.resolver.addr", "bad_value"},
		{"{\"resolver\":{\"type\":\"udp\",\"addr\":\"1.1.1.1:0\"}}", "server.resolver.addr",
		 "bad_value"},
		{"{\"sniff\":{\"tcp_ports\":\"80-\"}}", "server.sniff.tcp_ports", "bad_value"},
		{"{\"acl_allow\":[{\"address\":\"10.0.0.1/8\"}]}", "server.acl_allow[0].address",
		 "bad_value"},
		{"{\"acl_allow\":[{\"address\":\"a.net) direct(all\"}]}",
		 "server.acl_allow[0].address", "bad_value"},
		{"{\"acl_allow\":[{\"port\":1}]}", "server.acl_allow[0].address", "missing_field"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem;
		struct buf out;

		CHECK_INT(merge(NULL, rows[i].patch, &out, &problem), RES_INVALID);
		CHECK_TEXT(problem.field, rows[i].field);
		CHECK_TEXT(problem.code, rows[i].code);
		CHECK(problem.detail[0] != '\0');
		buf_free(&out);
	}
}

static void test_too_long(void)
{
	struct problem problem;
	struct buf patch, out;
	char *copy;
	struct json_doc *doc;

	buf_init(&patch, 1 << 20);
	buf_str(&patch, "{\"masquerade\":{\"type\":\"string\",\"content\":\"x\",\"headers\":{");
	for (int i = 0; i < 30; i++)
		buf_printf(&patch, "%s\"h%d\":\"%0*d\"", i ? "," : "", i, 1000, 0);
	buf_str(&patch, "}}}");
	copy = strdup(patch.data);
	CHECK_INT(json_parse(copy, patch.len, &doc, NULL), RES_OK);
	problem = (struct problem){0};
	buf_init(&out, SERVER_TEXT_MAX * 2);
	CHECK_INT(server_merge("server", NULL, json_root(doc), &out, &problem), RES_INVALID);
	CHECK_TEXT(problem.field, "server");
	json_free(doc);
	free(copy);
	buf_free(&out);
	buf_free(&patch);
}

static void test_public(void)
{
	char text[2048];
	struct json_doc *doc = parse(
		"{\"acme\":{\"dns\":{\"config\":{\"token\":\"hush\"},\"name\":\"vultr\"},"
		"\"domains\":[\"a.net\"],\"type\":\"dns\"},\"outbounds\":[{\"addr\":\"b.net\","
		"\"name\":\"s\",\"password\":\"hush\",\"type\":\"socks5\",\"username\":\"u\"},"
		"{\"name\":\"h\",\"type\":\"http\",\"url\":\"http://u:hush@c.net\"}]," QUIC "}",
		text, sizeof text);
	struct buf out;

	buf_init(&out, 4096);
	CHECK_INT(server_print_public(json_root(doc), &out), RES_OK);
	CHECK_TEXT(
		out.data,
		"{\"acme\":{\"dns\":{\"name\":\"vultr\"},\"domains\":[\"a.net\"],\"type\":\"dns\"},"
		"\"outbounds\":[{\"addr\":\"b.net\",\"name\":\"s\",\"type\":\"socks5\","
		"\"username\":\"u\"},{\"name\":\"h\",\"type\":\"http\"}]," QUIC "}");
	json_free(doc);
	buf_free(&out);
}

TEST_MAIN(TEST(test_canonical), TEST(test_refused), TEST(test_too_long), TEST(test_public))
