/* Nodes, inbounds and hosts over the API, from an empty panel to a server that is listed. */
#include "admin_test.h"

static char node[40], profile[40], inbound[40], host[40];
static char path[300], body[600];

static const char *target(const char *noun, const char *id, const char *tail)
{
	snprintf(path, sizeof path, "/%s/%s%s", noun, id, tail);
	return path;
}

static void base(void)
{
	fix_begin();
	CHECK_ASK(201, "POST", "/nodes",
		  "{\"name\":\"Frankfurt\",\"address\":\"de1.example.net\",\"country\":\"de\","
		  "\"tags\":[\"eu\",\"fast\"]}");
	keep_at("id", node, sizeof node);
	CHECK_ASK(201, "POST", "/profiles", "{\"name\":\"Main\",\"sni\":\"a.net\"}");
	keep_at("id", profile, sizeof profile);
	snprintf(body, sizeof body, "{\"node\":\"%s\",\"profile\":\"%s\"}", node, profile);
	CHECK_ASK(201, "POST", "/inbounds", body);
	keep_at("id", inbound, sizeof inbound);
}

static void test_node(void)
{
	base();
	CHECK_ASK(200, "GET", target("nodes", node, ""), NULL);
	CHECK_TEXT(text_at("country"), "DE");
	CHECK_TEXT(text_at("tags.1"), "fast");
	CHECK_INT(int_at("inbounds"), 1);
	CHECK(!at("connected")->truth);
	CHECK_INT(at("last_seen_unix")->type, JSON_NULL);
	CHECK_ASK(200, "PATCH", target("nodes", node, ""),
		  "{\"tags\":[\"asia\"],\"address\":\"2001:DB8::1\"}");
	CHECK_TEXT(text_at("address"), "2001:db8::1");
	CHECK_INT(count_at("tags"), 1);
	CHECK_ASK(200, "GET", "/nodes?tag=asia", NULL);
	CHECK_INT(count_at("items"), 1);
	CHECK_ASK(200, "GET", "/nodes?tag=eu&total=1", NULL);
	CHECK_INT(count_at("items"), 0);
	CHECK_INT(int_at("total"), 0);
	CHECK_ASK(422, "GET", "/nodes?group=x", NULL);
}

static void test_node_delete_says_what_goes(void)
{
	base();
	CHECK_ASK(200, "DELETE", target("nodes", node, "?dry_run=1"), NULL);
	CHECK_INT(int_at("removes.inbounds"), 1);
	CHECK_INT(int_at("removes.hosts"), 1);
	CHECK_ASK(200, "GET", target("inbounds", inbound, ""), NULL);
	CHECK_ASK(200, "DELETE", target("nodes", node, ""), NULL);
	CHECK_ASK(404, "GET", target("inbounds", inbound, ""), NULL);
	CHECK_ASK(200, "GET", "/hosts", NULL);
	CHECK_INT(count_at("items"), 0);
}

static void test_inbound(void)
{
	base();
	CHECK_ASK(200, "GET", target("inbounds", inbound, ""), NULL);
	CHECK_TEXT(text_at("node.name"), "Frankfurt");
	CHECK_TEXT(text_at("profile.id"), profile);
	CHECK_INT(at("port")->type, JSON_NULL);
	CHECK_INT(int_at("effective_port"), 443);
	CHECK_TEXT(text_at("effective_sni"), "a.net");
	CHECK_TEXT(text_at("state"), "pending");
	CHECK_TEXT(text_at("unlisted_reason"), "never_ran");
	CHECK_ASK(200, "PATCH", target("inbounds", inbound, ""),
		  "{\"managed\":false,\"port\":8443,\"cert_pin\":"
		  "\"C0D28C040885E5A8D9E441E466316C091798BF1E42D6C39151138CAD"
		  "999B2F48\"}");
	CHECK_TEXT(text_at("state"), "external");
	CHECK_TEXT(text_at("cert_pin"),
		   "c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b2f48");
	CHECK(at("listed")->truth);
	CHECK_INT(at("unlisted_reason")->type, JSON_NULL);
	CHECK_INT(int_at("effective_port"), 8443);
	CHECK_ASK(409, "POST", "/inbounds", body);
	CHECK_TEXT(text_at("code"), "inbound_exists");
	CHECK_ASK(409, "DELETE", target("profiles", profile, ""), NULL);
	CHECK_TEXT(text_at("code"), "in_use");
	CHECK(strstr(text_at("detail"), inbound));
}

static void test_inbound_filters(void)
{
	base();
	snprintf(path, sizeof path, "/inbounds?node=%s&profile=%s&total=1", node, profile);
	CHECK_ASK(200, "GET", path, NULL);
	CHECK_INT(int_at("total"), 1);
	CHECK_ASK(200, "GET", "/inbounds?node=nod_nothing", NULL);
	CHECK_INT(count_at("items"), 0);
	CHECK_ASK(200, "GET", "/inbounds?q=frank", NULL);
	CHECK_INT(count_at("items"), 1);
	CHECK_ASK(422, "GET", "/inbounds?sort=name", NULL);
}

static void test_hosts(void)
{
	base();
	snprintf(path, sizeof path, "/hosts?inbound=%s", inbound);
	CHECK_ASK(200, "GET", path, NULL);
	CHECK_INT(count_at("items"), 1);
	keep_at("items.0.id", host, sizeof host);
	CHECK_ASK(409, "DELETE", target("hosts", host, ""), NULL);
	CHECK_TEXT(text_at("code"), "last_host");
	snprintf(body, sizeof body,
		 "{\"inbound\":\"%s\",\"name\":\"relay\",\"address\":\"r.net\",\"formats\":["
		 "\"links\"]}",
		 inbound);
	CHECK_ASK(201, "POST", "/hosts", body);
	CHECK_TEXT(text_at("formats.0"), "links");
	CHECK_ASK(200, "DELETE", target("hosts", host, ""), NULL);
	CHECK_ASK(200, "GET", "/hosts?q=relay&total=1", NULL);
	CHECK_INT(int_at("total"), 1);
	keep_at("items.0.id", host, sizeof host);
	CHECK_ASK(200, "PATCH", target("hosts", host, ""),
		  "{\"hidden\":true,\"port\":8443,\"formats\":null}");
	CHECK_INT(int_at("port"), 8443);
	CHECK_INT(count_at("formats"), 0);
	CHECK_ASK(404, "GET", "/hosts/hst_aaaaaaaaaaaaaaaaaaaaaaaaaa", NULL);
}

/* The longest page: as many rows as may be asked for, with the longest texts. */
static void test_longest_page(void)
{
	char note[2049], text[4096];

	fix_begin();
	memset(note, 'x', sizeof note - 1);
	note[sizeof note - 1] = '\0';
	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof text,
			 "{\"name\": \"n%d\", \"address\": \"x.example\", \"note\": \"%s\"}", i,
			 note);
		CHECK_ASK(201, "POST", "/nodes", text);
		snprintf(text, sizeof text, "{\"name\": \"g%d\", \"note\": \"%s\"}", i, note);
		CHECK_ASK(201, "POST", "/groups", text);
	}
	CHECK_ASK(200, "GET", "/nodes?limit=500", NULL);
	CHECK_INT(count_at("items"), 500);
	CHECK_ASK(200, "GET", "/groups?limit=500", NULL);
	CHECK_INT(count_at("items"), 500);
}

TEST_MAIN(TEST(test_node), TEST(test_node_delete_says_what_goes), TEST(test_inbound),
	  TEST(test_inbound_filters), TEST(test_hosts), TEST(test_longest_page))
