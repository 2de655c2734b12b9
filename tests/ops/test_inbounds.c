#include "nodes_test.h"

#include "sample_cert.h"

static struct public_id a, b, node;

static void base(void)
{
	world_new();
	a = add_profile("{\"name\":\"a\",\"port\":443,\"hop_ports\":\"20000-20100\"}");
	b = add_profile("{\"name\":\"b\",\"port\":8443}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
}

static const char *pair(const char *profile, const char *more)
{
	return textf("{\"node\":\"%s\",\"profile\":\"%s\"%s}", node.text, profile, more);
}

static void test_defaults(void)
{
	struct public_id id;
	struct inbound in;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	in = get_inbound(id.text);
	CHECK(in.managed && in.enabled && in.node_open && in.recorded);
	CHECK_INT(in.state, INBOUND_PENDING);
	CHECK_INT(in.port, 0);
	CHECK_INT(inbound_port(&in), 443);
	CHECK_TEXT(in.core, "hysteria");
	CHECK_TEXT(in.node_name, "n");
	CHECK_TEXT(in.profile_public_id.text, a.text);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM host WHERE address = '' AND enabled = 1"),
		  1);
}

static void test_refused(void)
{
	base();
	CHECK_NOT(create_inbound("{}", NULL), RES_INVALID, "missing_field", "node");
	CHECK_NOT(create_inbound(textf("{\"node\":\"%s\"}", node.text), NULL), RES_INVALID,
		  "missing_field", "profile");
	CHECK_NOT(create_inbound(textf("{\"node\":\"%s\",\"profile\":\"prf_x\"}", node.text), NULL),
		  RES_INVALID, "not_found", "profile");
	CHECK_NOT(create_inbound(textf("{\"node\":\"nod_x\",\"profile\":\"%s\"}", a.text), NULL),
		  RES_INVALID, "not_found", "node");
	CHECK_NOT(create_inbound(pair(a.text, ",\"port\":70000"), NULL), RES_INVALID,
		  "out_of_range", "port");
	CHECK_NOT(create_inbound(pair(a.text, ",\"sni\":\"a_b\""), NULL), RES_INVALID, "bad_sni",
		  "sni");
	CHECK_NOT(
		create_inbound(pair(a.text, textf(",\"cert_pin\":\"%s\"", SAMPLE_CERT_PIN)), NULL),
		RES_INVALID, "bad_value", "cert_pin");
	CHECK_OK(create_inbound(pair(a.text, ""), NULL));
	CHECK_NOT(create_inbound(pair(a.text, ",\"port\":9999"), NULL), RES_CONFLICT,
		  "inbound_exists", "profile");
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM inbound"), 1);
}

static void test_ports_clash(void)
{
	struct public_id first, second, other;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &first));
	CHECK_NOT(create_inbound(pair(b.text, ",\"port\":443"), NULL), RES_CONFLICT, "port_taken",
		  "port");
	CHECK(strstr(w.problem.detail, first.text));
	CHECK_NOT(create_inbound(pair(b.text, ",\"port\":20050"), NULL), RES_CONFLICT, "port_taken",
		  "port");
	CHECK_OK(create_inbound(pair(b.text, ",\"port\":20101"), &second));
	CHECK_NOT(patch_inbound(second.text, "{\"port\":20100}"), RES_CONFLICT, "port_taken",
		  "port");
	CHECK_OK(patch_inbound(second.text, "{\"port\":null}"));
	CHECK_INT(get_inbound(second.text).port, 0);
	/* Another node has ports of its own. */
	other = add_node("{\"name\":\"m\",\"address\":\"m.net\"}");
	CHECK_OK(create_inbound(
		textf("{\"node\":\"%s\",\"profile\":\"%s\",\"port\":443}", other.text, b.text),
		NULL));
}

static void test_b025_pin_however_written(void)
{
	static const char *const written[] = {
		"c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b2f48",
		("C0:D2:8C:04:08:85:E5:A8:D9:E4:41:E4:66:31:6C:09:17:98:BF:1E:42:D6:C3:91:51:13:8C:"
		 "AD:99:9B:2F:48"),
		"wNKMBAiF5ajZ5EHkZjFsCReYvx5C1sORUROMrZmbL0g=",
		"wNKMBAiF5ajZ5EHkZjFsCReYvx5C1sORUROMrZmbL0g",
	};
	struct public_id id;

	base();
	CHECK_OK(create_inbound(pair(a.text, ",\"managed\":false"), &id));
	for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
		char hex[PIN_HEX_SIZE];
		struct inbound in;

		CHECK_OK(patch_inbound(id.text, "{\"cert_pin\":null}"));
		CHECK(!get_inbound(id.text).cert_pin.known);
		CHECK_OK(patch_inbound(id.text, textf("{\"cert_pin\":\"%s\"}", written[i])));
		in = get_inbound(id.text);
		pin_print(&in.cert_pin, hex);
		CHECK_TEXT(hex, written[0]);
	}
	CHECK_NOT(
		patch_inbound(id.text,
			      "{\"cert_pin\":"
			      "\"c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b\"}"),
		RES_INVALID, "bad_pin", "cert_pin");
}

static const char *escaped_pem(void)
{
	static char text[2048];
	size_t len = 0;

	for (const char *c = SAMPLE_CERT_PEM; *c && len + 3 < sizeof text; c++) {
		if (*c == '\n')
			text[len++] = '\\';
		text[len++] = *c == '\n' ? 'n' : *c;
	}
	text[len] = '\0';
	return text;
}

static void test_typed_certificate(void)
{
	struct public_id id;
	struct inbound in;
	char hex[PIN_HEX_SIZE];

	base();
	CHECK_OK(create_inbound(
		pair(a.text, textf(",\"managed\":false,\"cert_pem\":\"%s\"", escaped_pem())), &id));
	in = get_inbound(id.text);
	CHECK_INT(in.state, INBOUND_EXTERNAL);
	pin_print(&in.cert_pin, hex);
	CHECK_TEXT(hex, SAMPLE_CERT_PIN);
	pin_print(&in.key_pin, hex);
	CHECK_TEXT(hex, SAMPLE_KEY_PIN);
	CHECK_INT(in.cert_not_after_unix, SAMPLE_CERT_END);
	CHECK_NOT(patch_inbound(id.text, textf("{\"cert_pem\":\"%s\",\"cert_pin\":\"%064d\"}",
					       escaped_pem(), 0)),
		  RES_INVALID, "bad_pin", "cert_pin");
	CHECK_NOT(patch_inbound(id.text, "{\"cert_pem\":\"nonsense\"}"), RES_INVALID,
		  "bad_certificate", "cert_pem");
	/* Another pin alone: the certificate kept so far is no longer the server's. */
	CHECK_OK(patch_inbound(id.text, textf("{\"cert_pin\":\"%064d\"}", 0)));
	CHECK_TEXT(get_inbound(id.text).cert_pem, "");
	CHECK_INT(get_inbound(id.text).cert_not_after_unix, 0);
}

static void test_patch(void)
{
	struct public_id id;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	CHECK_OK(patch_inbound(id.text, pair(a.text, ",\"enabled\":true,\"managed\":true")));
	CHECK_INT(get_inbound(id.text).version, 1);
	CHECK_NOT(patch_inbound(id.text, pair(b.text, "")), RES_INVALID, "immutable", "profile");
	CHECK_NOT(patch_inbound(id.text, textf("{\"node\":\"%s\"}", a.text)), RES_INVALID,
		  "immutable", "node");
	CHECK_OK(patch_inbound(id.text, "{\"sni\":\"Other.net\"}"));
	CHECK_TEXT(get_inbound(id.text).sni, "other.net");
	CHECK_INT(get_inbound(id.text).version, 2);
}

static void test_reports(void)
{
	struct public_id id;
	struct inbound in;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	CHECK_OK(report(id.text, INBOUND_RUNNING, SAMPLE_CERT_PEM));
	in = get_inbound(id.text);
	CHECK_INT(in.state, INBOUND_RUNNING);
	CHECK_INT(in.first_run_unix, NOW);
	CHECK_INT(in.last_ok_unix, NOW);
	CHECK_TEXT(in.state_error, "");
	CHECK_INT(in.version, 1);
	go_on(10);
	CHECK_OK(report(id.text, INBOUND_FAILED, NULL));
	in = get_inbound(id.text);
	CHECK_TEXT(in.state_error, "no reason");
	CHECK_INT(in.state_since_unix, NOW + 10);
	CHECK_INT(in.last_ok_unix, NOW + 10);
	CHECK_INT(in.first_run_unix, NOW);
	CHECK_TEXT(in.cert_pem, SAMPLE_CERT_PEM);
	go_on(10);
	CHECK_OK(report(id.text, INBOUND_FAILED, NULL));
	CHECK_INT(get_inbound(id.text).state_since_unix, NOW + 10);
	CHECK_INT(get_inbound(id.text).last_ok_unix, NOW + 10);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM event WHERE kind = 'inbound_failed'"), 1);
	CHECK_OK(report(id.text, INBOUND_RUNNING, NULL));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM event WHERE kind = 'inbound_recovered'"),
		  1);
}

/* A report that says what is known writes no change: nobody renders anew for it. */
static void test_same_report(void)
{
	struct public_id id;
	int64_t before;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	CHECK_OK(report(id.text, INBOUND_RUNNING, SAMPLE_CERT_PEM));
	before = changes();
	go_on(60);
	CHECK_OK(report(id.text, INBOUND_RUNNING, SAMPLE_CERT_PEM));
	CHECK_INT(changes(), before);
	CHECK_INT(get_inbound(id.text).last_ok_unix, NOW + 60);
}

static void test_bad_reports(void)
{
	struct inbound_report report_of = {.state = INBOUND_FAILED, .error = ""};
	struct public_id id, external;
	char error[2000];

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	CHECK_OK(create_inbound(pair(b.text, ",\"managed\":false"), &external));
	CHECK_NOT(report(id.text, INBOUND_PENDING, NULL), RES_INVALID, "bad_value", "state");
	CHECK_NOT(report(id.text, INBOUND_EXTERNAL, NULL), RES_INVALID, "bad_value", "state");
	CHECK_NOT(report(id.text, INBOUND_RUNNING, "junk"), RES_INVALID, "bad_certificate",
		  "cert_pem");
	CHECK_NOT(report(external.text, INBOUND_RUNNING, NULL), RES_CONFLICT, "not_managed", "");
	report_of.id = get_inbound(id.text).id;
	report_of.node_id = 999; /* another node's word */
	CHECK_NOT(run(op_inbound_state, &report_of), RES_NOT_FOUND, "not_found", "");
	report_of.node_id = 0;
	memset(error, 'x', sizeof error);
	memcpy(error, "a\nb\x1b", 4);
	memcpy(error + STATE_ERROR_MAX - 1, "\xc3\xa9", 2);
	error[sizeof error - 1] = '\0';
	report_of.error = error;
	CHECK_OK(run(op_inbound_state, &report_of));
	CHECK_INT(strlen(get_inbound(id.text).state_error), STATE_ERROR_MAX - 1);
	CHECK(memcmp(get_inbound(id.text).state_error, "a b x", 5) == 0);
}

/* Who runs it anew knows nothing of what was before. */
static void test_managed_and_back(void)
{
	struct public_id id;
	struct inbound in;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	CHECK_OK(report(id.text, INBOUND_RUNNING, SAMPLE_CERT_PEM));
	CHECK_OK(patch_inbound(id.text, "{\"managed\":false}"));
	in = get_inbound(id.text);
	CHECK_INT(in.state, INBOUND_EXTERNAL);
	CHECK(!in.recorded && in.cert_pin.known);
	CHECK_OK(patch_inbound(id.text, "{\"managed\":true}"));
	in = get_inbound(id.text);
	CHECK_INT(in.state, INBOUND_PENDING);
	CHECK_INT(in.first_run_unix, 0);
	CHECK(in.recorded && !in.cert_pin.known && !in.key_pin.known);
}

static void test_deleted(void)
{
	struct public_id id;

	base();
	CHECK_OK(create_inbound(pair(a.text, ""), &id));
	CHECK_OK(delete_inbound(id.text));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM host"), 0);
	CHECK_INT(read_i64(w.store, "SELECT base = zeroblob(32) FROM node_state"), 1);
	CHECK_NOT(delete_inbound(id.text), RES_NOT_FOUND, "not_found", "");
	CHECK_OK(create_inbound(pair(a.text, ""), NULL));
}

TEST_MAIN(TEST(test_defaults), TEST(test_refused), TEST(test_ports_clash),
	  TEST(test_b025_pin_however_written), TEST(test_typed_certificate), TEST(test_patch),
	  TEST(test_reports), TEST(test_same_report), TEST(test_bad_reports),
	  TEST(test_managed_and_back), TEST(test_deleted))
