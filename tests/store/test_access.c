/* What a user's list holds. The world is made by the operations, then looked at through the store.
 */
#include "ops/nodes_test.h"

#include "sample_cert.h"

static struct public_id profile, node, group, user, inbound;

/* One managed server that runs, and one user who may use it. */
static void one_server(void)
{
	world_new();
	profile = add_profile("{\"name\":\"Main\",\"port\":443,\"hop_ports\":\"20000-20100\","
			      "\"sni\":\"p.example.net\","
			      "\"obfs\":\"salamander\",\"obfs_password\":\"Rain-Forest_42\"}");
	node = add_node(
		"{\"name\":\"Frankfurt\",\"address\":\"de1.example.net\",\"country\":\"de\","
		"\"city\":\"Frankfurt am Main\"}");
	group = add_group(
		textf("{\"name\":\"all\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}",
		      profile.text));
	user = add_user(textf("{\"name\":\"Ann\",\"groups\":[\"%s\"]}", group.text));
	inbound = add_inbound(node.text, profile.text);
	CHECK_OK(report(inbound.text, INBOUND_RUNNING, SAMPLE_CERT_PEM));
}

static void test_all_members(void)
{
	struct endpoint *e;
	char hex[65];
	size_t count;

	one_server();
	e = endpoints_of(user.text, &count);
	CHECK_INT(count, 1);
	CHECK_TEXT(e->host_name, "");
	CHECK_TEXT(e->address, "de1.example.net");
	CHECK_INT(e->port, 443);
	CHECK_TEXT(e->hop_ports, "20000-20100");
	CHECK_TEXT(e->sni, "p.example.net");
	CHECK_TEXT(e->obfs, "salamander");
	CHECK(e->obfs_password_sealed_len > 14 && !e->obfs_password);
	CHECK_TEXT(e->profile_public_id.text, profile.text);
	CHECK_INT(e->hop_interval_s, 30);
	CHECK_TEXT(e->cert_mode, "self_signed");
	CHECK(e->pinned && e->has_key_pin);
	hex_encode(e->cert_pin, 32, hex);
	CHECK_TEXT(hex, SAMPLE_CERT_PIN);
	hex_encode(e->key_pin, 32, hex);
	CHECK_TEXT(hex, SAMPLE_KEY_PIN);
	CHECK_TEXT(e->cert_pem, SAMPLE_CERT_PEM);
	CHECK_TEXT(e->node_name, "Frankfurt");
	CHECK_TEXT(e->country, "DE");
	CHECK_TEXT(e->city, "Frankfurt am Main");
	CHECK_TEXT(e->profile_name, "Main");
	CHECK_TEXT(e->formats, "");
}

static void test_inherited_and_overridden(void)
{
	struct endpoint *e;
	size_t count;

	one_server();
	CHECK_OK(patch_inbound(inbound.text, "{\"port\":8443,\"sni\":\"i.example.net\"}"));
	CHECK_OK(create_host(
		textf("{\"inbound\":\"%s\",\"name\":\"relay\",\"address\":\"2001:db8::1\",\"port\":"
		      "9443,"
		      "\"sni\":\"h.example.net\",\"sort_order\":-1,\"formats\":[\"links\"]}",
		      inbound.text),
		NULL));
	e = endpoints_of(user.text, &count);
	CHECK_INT(count, 2);
	CHECK_TEXT(e[0].address, "2001:db8::1");
	CHECK_INT(e[0].port, 9443);
	CHECK_TEXT(e[0].sni, "h.example.net");
	CHECK_TEXT(e[0].host_name, "relay");
	CHECK_TEXT(e[0].formats, "links");
	CHECK_INT(e[1].port, 8443);
	CHECK_TEXT(e[1].sni, "i.example.net");
}

static void off_profile(void)
{
	CHECK_OK(patch_group(group.text, "{\"access\":[]}"));
}
static void off_group(void)
{
	CHECK_OK(patch_user(user.text, "{\"groups\":[]}"));
}
static void off_inbound(void)
{
	CHECK_OK(patch_inbound(inbound.text, "{\"enabled\":false}"));
}
static void off_node(void)
{
	CHECK_OK(patch_node(node.text, "{\"enabled\":false}"));
}
static void off_user_node(void)
{
	CHECK_OK(patch_user(user.text, textf("{\"excluded_nodes\":[\"%s\"]}", node.text)));
}
static void off_host(void)
{
	const char *sql = "UPDATE host SET enabled = 0 RETURNING 1";

	CHECK_INT(outside_i64(db_path, sql), 1);
}
static void off_hidden(void)
{
	CHECK_INT(outside_i64(db_path, "UPDATE host SET hidden = 1 RETURNING 1"), 1);
}
static void off_retired(void)
{
	CHECK_INT(outside_i64(db_path, "UPDATE node SET retired_unix = 1 RETURNING 1"), 1);
}
static void off_never_ran(void)
{
	CHECK_INT(outside_i64(db_path, "UPDATE inbound SET first_run_unix = 0 RETURNING 1"), 1);
}
static void off_no_pin(void)
{
	CHECK_INT(outside_i64(db_path, "UPDATE inbound SET cert_pin = NULL RETURNING 1"), 1);
}

static void test_each_reason_hides(void)
{
	static void (*const offs[])(void) = {off_profile,   off_group, off_inbound, off_node,
					     off_user_node, off_host,  off_hidden,  off_retired,
					     off_never_ran, off_no_pin};

	for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
		one_server();
		CHECK_INT(count_of(user.text), 1);
		offs[i]();
		if (count_of(user.text) != 0)
			TEST_FAIL("reason %zu hides nothing", i);
	}
}

static void test_pending_is_not_listed(void)
{
	world_new();
	one_server();
	CHECK_INT(outside_i64(db_path, "SELECT count(*) FROM inbound WHERE state = 'running'"), 1);
	CHECK_OK(delete_inbound(inbound.text));
	inbound = add_inbound(node.text, profile.text);
	CHECK_INT(count_of(user.text), 0);
	CHECK_OK(report(inbound.text, INBOUND_STOPPED, SAMPLE_CERT_PEM));
	CHECK_INT(count_of(user.text), 0);
	CHECK_OK(report(inbound.text, INBOUND_RUNNING, NULL));
	CHECK_INT(count_of(user.text), 1);
}

/* A restart of seconds hides nothing; ten minutes do. */
static void test_hidden_after_a_while(void)
{
	one_server();
	go_on(3600);
	CHECK_OK(report(inbound.text, INBOUND_FAILED, NULL));
	CHECK_INT(count_of(user.text), 1);
	go_on(600);
	CHECK_INT(count_of(user.text), 1);
	go_on(1);
	CHECK_INT(count_of(user.text), 0);
	CHECK_OK(report(inbound.text, INBOUND_UNREACHABLE,
			NULL)); /* another way of not being well */
	CHECK_INT(count_of(user.text), 0);
	CHECK_OK(report(inbound.text, INBOUND_RUNNING, NULL));
	CHECK_INT(count_of(user.text), 1);
	CHECK_OK(report(inbound.text, INBOUND_STOPPED, NULL));
	go_on(6000);
	CHECK_INT(count_of(user.text), 1);
}

static void test_never_hidden(void)
{
	struct endpoint *list;
	struct conn *conn;
	size_t count;

	one_server();
	CHECK_OK(report(inbound.text, INBOUND_FAILED, NULL));
	go_on(1000000);
	CHECK_INT(store_read(w.store, STORE_PUBLIC, 2000, &conn), RES_OK);
	CHECK_INT(access_endpoints(conn, 1, now_unix(), 0, &w.arena, &list, &count), RES_OK);
	store_read_end(conn);
	CHECK_INT(count, 1);
}

static void test_external(void)
{
	struct endpoint *e;
	size_t count;

	one_server();
	CHECK_OK(patch_inbound(inbound.text,
			       "{\"managed\":false,\"cert_pin\":null,\"cert_pem\":null}"));
	CHECK_INT(count_of(user.text), 0); /* self-signed: nothing to verify by */
	CHECK_OK(patch_inbound(inbound.text, textf("{\"cert_pin\":\"%s\"}", SAMPLE_CERT_PIN)));
	e = endpoints_of(user.text, &count);
	CHECK_INT(count, 1);
	CHECK(e->pinned);
	CHECK_TEXT(e->cert_pem, "");
}

/* A certificate of ACME changes by itself, so its pin is never handed out. */
static void test_acme_needs_no_pin(void)
{
	struct endpoint *e;
	size_t count;

	one_server();
	CHECK_OK(patch_profile(profile.text,
			       "{\"cert_mode\":\"acme\",\"server\":{\"acme\":{\"domains\":"
			       "[\"p.example.net\"]}}}"));
	e = endpoints_of(user.text, &count);
	CHECK_INT(count, 1);
	CHECK(!e->pinned && !e->has_key_pin);
	CHECK_INT(outside_i64(db_path, "UPDATE inbound SET cert_pin = NULL RETURNING 1"), 1);
	CHECK_INT(count_of(user.text), 1);
}

static void test_b014_type_and_password_are_two_things(void)
{
	struct endpoint *e;
	size_t count;

	one_server();
	e = endpoints_of(user.text, &count);
	CHECK_TEXT(e->obfs, "salamander");
	CHECK_TEXT(get_open_profile(profile.text).obfs_password, "Rain-Forest_42");
}

static void test_several_groups_once(void)
{
	struct public_id more;

	one_server();
	more = add_group(
		textf("{\"name\":\"more\",\"access\":[{\"profile\":\"%s\",\"node\":\"%s\"}]}",
		      profile.text, node.text));
	CHECK_OK(patch_user(user.text,
			    textf("{\"groups\":[\"%s\",\"%s\"]}", group.text, more.text)));
	CHECK_INT(count_of(user.text), 1);
}

static void test_order_and_bound(void)
{
	struct endpoint *e;
	size_t count;

	one_server();
	for (int i = 0; i < 3; i++) {
		struct public_id id =
			add_node(textf("{\"name\":\"%c\",\"address\":\"n.net\"}", 'c' - i));

		CHECK_OK(create_inbound(textf("{\"node\":\"%s\",\"profile\":\"%s\",\"managed\":"
					      "false,\"cert_pin\":\"%s\"}",
					      id.text, profile.text, SAMPLE_CERT_PIN),
					NULL));
	}
	e = endpoints_of(user.text, &count);
	CHECK_INT(count, 4);
	CHECK_TEXT(e[0].node_name, "a");
	CHECK_TEXT(e[1].node_name, "b");
	CHECK_TEXT(e[3].node_name, "Frankfurt");
	CHECK_INT(outside_i64(db_path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
				       "FROM n WHERE i < 1100) "
				       "INSERT INTO host (public_id, inbound_id, created_unix) "
				       "SELECT 'hst_' || i, 1, 0 FROM n RETURNING 1"),
		  1);
	CHECK_INT(outside_i64(db_path, "UPDATE host SET sort_order = -5 WHERE id = 1000 RETURNING 1"), 1);
	e = endpoints_of(user.text, &count);
	CHECK_INT(count, ACCESS_ENDPOINTS_MAX);
	CHECK_INT(e[0].host_id, 1000);
	CHECK_TEXT(e[1].node_name, "a");
}

static void test_inbounds_of_user(void)
{
	struct conn *conn;
	int64_t *ids;
	size_t count;

	one_server();
	CHECK_INT(store_read(w.store, STORE_PUBLIC, 2000, &conn), RES_OK);
	CHECK_INT(access_inbounds_of_user(conn, get_user(user.text).id, &w.arena, &ids, &count),
		  RES_OK);
	store_read_end(conn);
	CHECK_INT(count, 1);
	CHECK_INT(ids[0], get_inbound(inbound.text).id);
	off_user_node();
	CHECK_INT(store_read(w.store, STORE_PUBLIC, 2000, &conn), RES_OK);
	CHECK_INT(access_inbounds_of_user(conn, get_user(user.text).id, &w.arena, &ids, &count),
		  RES_OK);
	store_read_end(conn);
	CHECK_INT(count, 0);
}

TEST_MAIN(TEST(test_all_members), TEST(test_inherited_and_overridden), TEST(test_each_reason_hides),
	  TEST(test_pending_is_not_listed), TEST(test_hidden_after_a_while),
	  TEST(test_never_hidden), TEST(test_external), TEST(test_acme_needs_no_pin),
	  TEST(test_b014_type_and_password_are_two_things), TEST(test_several_groups_once),
	  TEST(test_order_and_bound), TEST(test_inbounds_of_user))
