#include "nodes_test.h"

static void test_defaults(void)
{
	struct public_id id;
	struct profile p;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"Main\"}", &id));
	p = get_open_profile(id.text);
	CHECK_TEXT(p.name, "Main");
	CHECK_TEXT(p.kind, "hysteria2");
	CHECK_INT(p.port, 443);
	CHECK_TEXT(p.hop_ports, "");
	CHECK_INT(p.hop_interval_s, 30);
	CHECK_INT(p.obfs, OBFS_NONE);
	CHECK_INT(p.cert_mode, CERT_SELF_SIGNED);
	CHECK_TEXT(p.obfs_password, "");
	CHECK_TEXT(p.server, "{\"quic\":{\"max_idle_timeout_s\":20}}");
	CHECK_INT(p.version, 1);
	CHECK_INT(p.created_unix, NOW);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM audit WHERE action = 'profile.create'"),
		  1);
}

static void test_refused(void)
{
	static const struct {
		const char *json;
		enum res res;
		const char *code, *field;
	} rows[] = {
		{"{}",								      RES_INVALID,  "missing_field", "name"                 },
		{"{\"name\":\" x\"}",						       RES_INVALID,  "bad_name",      "name"                 },
		{"{\"name\":\"MAIN\"}",						     RES_CONFLICT, "name_taken",    "name"                 },
		{"{\"name\":\"x\",\"port\":0}",                                             RES_INVALID,  "out_of_range",  "port"                 },
		{"{\"name\":\"x\",\"port\":65536}",                                         RES_INVALID,  "out_of_range",  "port"                 },
		{"{\"name\":\"x\",\"port\":\"443\"}",                                       RES_INVALID,  "wrong_type",    "port"                 },
		{"{\"name\":\"x\",\"hop_ports\":\"5-1\"}",                                  RES_INVALID,  "bad_hop_ports",
		 "hop_ports"														      },
		{"{\"name\":\"x\",\"hop_interval_s\":4}",                                   RES_INVALID,  "out_of_range",
		 "hop_interval_s"														 },
		{"{\"name\":\"x\",\"obfs\":\"xor\"}",                                       RES_INVALID,  "bad_value",     "obfs"                 },
		{"{\"name\":\"x\",\"obfs\":\"salamander\",\"obfs_password\":\"abc\"}",      RES_INVALID,
		 "out_of_range",											   "obfs_password"        },
		{"{\"name\":\"x\",\"obfs_password\":\"abcdefgh\"}",                         RES_INVALID,  "bad_value",
		 "obfs_password"														  },
		{"{\"name\":\"x\",\"obfs\":\"salamander\",\"obfs_max_packet_bytes\":1200}",
		 RES_INVALID,									     "bad_value",     "obfs_max_packet_bytes"},
		{"{\"name\":\"x\",\"obfs\":\"gecko\",\"obfs_min_packet_bytes\":1201}",      RES_INVALID,
		 "out_of_range",											   "obfs_min_packet_bytes"},
		{"{\"name\":\"x\",\"cert_mode\":\"acme\"}",                                 RES_INVALID,  "missing_field",
		 "server.acme"														    },
		{"{\"name\":\"x\",\"cert_mode\":\"file\"}",                                 RES_INVALID,  "missing_field",
		 "server.tls"														     },
		{"{\"name\":\"x\",\"sni\":\"1.2.3.4\"}",                                    RES_INVALID,  "bad_sni",       "sni"                  },
		{"{\"name\":\"x\",\"server\":{\"quick\":{}}}",                              RES_INVALID,  "unknown_field",
		 "server.quick"														   },
		{"{\"name\":\"x\",\"server\":[]}",                                          RES_INVALID,  "wrong_type",    "server"               },
		{"{\"name\":\"x\",\"colour\":1}",                                           RES_INVALID,  "unknown_field", "colour"               },
		{"{\"name\":\"x\",\"note\":\"a\\u0007\"}",                                  RES_INVALID,  "bad_value",     "note"                 },
	};

	world_new();
	add_profile("{\"name\":\"Main\"}");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum res res = create_profile(rows[i].json, NULL);

		if (res != rows[i].res || strcmp(w.problem.code, rows[i].code) != 0 ||
		    strcmp(w.problem.field, rows[i].field) != 0)
			TEST_FAIL("%s: %s, %s, %s", rows[i].json, res_text(res), w.problem.code,
				  w.problem.field);
	}
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM profile"), 1);
}

static void test_random_password(void)
{
	struct public_id id;
	const char *first;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"obfs\":\"salamander\"}", &id));
	first = get_open_profile(id.text).obfs_password;
	CHECK_INT(strlen(first), OBFS_PASSWORD_RANDOM);
	CHECK_OK(patch_profile(id.text, "{\"note\":\"x\"}")); /* other changes leave it alone */
	CHECK_TEXT(get_open_profile(id.text).obfs_password, first);
	CHECK_OK(patch_profile(id.text, "{\"obfs_password\":null}")); /* a new one on demand */
	CHECK(strcmp(get_open_profile(id.text).obfs_password, first) != 0);
	CHECK_OK(patch_profile(id.text,
			       "{\"obfs\":\"gecko\"}")); /* the kind alone: the same password */
	CHECK_INT(get_open_profile(id.text).obfs_min_packet_bytes, 512);
	CHECK_INT(get_open_profile(id.text).obfs_max_packet_bytes, 1200);
	CHECK_OK(patch_profile(id.text, "{\"obfs\":\"none\"}"));
	CHECK_TEXT(get_open_profile(id.text).obfs_password, "");
	CHECK_INT(get_open_profile(id.text).obfs_max_packet_bytes, 0);
	CHECK_INT(read_i64(w.store, "SELECT obfs_password_sealed IS NULL FROM profile"), 1);
}

static void test_b017_passwords_stay_text(void)
{
	static const char *const odd[] = {"2351e1", "38e92059",   "0x1f",  "true",
					  "null",   "2026-01-01", "12:30", "1_000"};
	struct public_id id;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"obfs\":\"salamander\"}", &id));
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		CHECK_OK(patch_profile(id.text, textf("{\"obfs_password\":\"%s\"}", odd[i])));
		CHECK_TEXT(get_open_profile(id.text).obfs_password, odd[i]);
	}
}

static void test_nothing_lies_open(void)
{
	world_new();
	add_profile("{\"name\":\"a\",\"obfs\":\"salamander\",\"obfs_password\":\"hush-hush\","
		    "\"server\":"
		    "{\"masquerade\":{\"type\":\"string\",\"content\":\"hush-hush\"}}}");
	CHECK_INT(read_i64(w.store, "SELECT instr(obfs_password_sealed, x'68757368') + "
				    "instr(server_sealed, x'68757368') FROM profile"),
		  0);
	CHECK_INT(read_i64(w.store, "SELECT sum(instr(detail, 'hush')) FROM audit"), 0);
}

/* Sealed values are bound to their row: swapped ones do not open. */
static void test_moved_value_does_not_open(void)
{
	struct public_id a, b;
	struct profile p;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"server\":{\"disable_udp\":true}}", &a));
	CHECK_OK(create_profile("{\"name\":\"b\"}", &b));
	CHECK_INT(
		outside_i64(db_path,
			    "UPDATE profile SET server_sealed = (SELECT server_sealed FROM profile "
			    "WHERE name = 'a') WHERE name = 'b' RETURNING 1"),
		1);
	p = get_profile(b.text);
	CHECK_INT(profile_unseal(w.vault, &p, &w.arena), RES_CORRUPT);
	CHECK_TEXT(get_open_profile(a.text).server,
		   "{\"disable_udp\":true,\"quic\":{\"max_idle_timeout_s\":20}}");
}

static void test_patch_only_what_changes(void)
{
	struct public_id id;
	struct profile p;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"port\":8443,\"server\":{\"speed_test\":true}}",
				&id));
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"disable_udp\":true}}"));
	p = get_open_profile(id.text);
	CHECK_TEXT(
		p.server,
		"{\"disable_udp\":true,\"quic\":{\"max_idle_timeout_s\":20},\"speed_test\":true}");
	CHECK_INT(p.port, 8443);
	CHECK_INT(p.version, 2);
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"speed_test\":null,\"disable_udp\":null}}"));
	CHECK_TEXT(get_open_profile(id.text).server, "{\"quic\":{\"max_idle_timeout_s\":20}}");
}

static void test_nothing_changed(void)
{
	struct public_id id;
	int64_t audits;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"obfs\":\"gecko\",\"hop_ports\":\"5,4\"}", &id));
	audits = read_i64(w.store, "SELECT count(*) FROM audit");
	CHECK_OK(patch_profile(
		id.text, "{\"name\":\"a\",\"port\":443,\"hop_ports\":\"4-5\",\"obfs\":\"gecko\","
			 "\"server\":{},\"sni\":null}"));
	CHECK_OK(patch_profile(id.text, "{}"));
	CHECK_INT(get_profile(id.text).version, 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM audit"), audits);
	CHECK_INT(changes(), 0);
}

static void test_b120_case_only_rename(void)
{
	struct public_id id;

	world_new();
	id = add_profile("{\"name\":\"main\"}");
	CHECK_OK(patch_profile(id.text, "{\"name\":\"Main\"}"));
	CHECK_TEXT(get_profile(id.text).name, "Main");
}

static void test_b122_deleted_name_is_free(void)
{
	struct public_id id;

	world_new();
	id = add_profile("{\"name\":\"main\"}");
	CHECK_OK(delete_profile(id.text));
	CHECK_OK(create_profile("{\"name\":\"main\"}", NULL));
}

static void test_versions(void)
{
	struct profile_patch patch = {.target = {.if_match = 1}};
	struct public_id id;

	world_new();
	id = add_profile("{\"name\":\"a\"}");
	patch.target.public_id = id.text;
	INPUT(patch.input, "{\"note\":\"1\"}", profile_fields, PROFILE_FIELDS);
	CHECK_RUN(op_profile_patch, &patch);
	CHECK_INT(run(op_profile_patch, &patch), RES_PRECONDITION);
	CHECK_TEXT(w.problem.code, "version_mismatch");
	CHECK_NOT(patch_profile("prf_nothing", "{}"), RES_NOT_FOUND, "not_found", "");
}

static void test_in_use(void)
{
	struct public_id profile, node, inbound, group;

	world_new();
	profile = add_profile("{\"name\":\"a\"}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
	inbound = add_inbound(node.text, profile.text);
	group = add_group(
		textf("{\"name\":\"g\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}",
		      profile.text));
	CHECK_NOT(delete_profile(profile.text), RES_CONFLICT, "in_use", "");
	CHECK(strstr(w.problem.detail, inbound.text));
	CHECK_OK(delete_inbound(inbound.text));
	CHECK_OK(delete_profile(profile.text));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM group_access"), 0);
	CHECK_INT(read_i64(w.store,
			   textf("SELECT version FROM group_ WHERE public_id = '%s'", group.text)),
		  2);
}

/* The record of each inbound follows the profile; what only people see is told to renders alone. */
static void test_records_follow(void)
{
	struct public_id profile, node;
	int64_t inbounds, renders;

	world_new();
	profile = add_profile("{\"name\":\"a\"}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
	add_inbound(node.text, profile.text);
	inbounds = read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 2");
	renders = read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 4");
	CHECK_OK(patch_profile(profile.text, "{\"server\":{\"disable_udp\":true}}"));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 2"),
		  inbounds + 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 4"), renders);
	CHECK_OK(patch_profile(profile.text, "{\"name\":\"b\"}"));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 2"),
		  inbounds + 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 4"), renders + 1);
	CHECK_OK(patch_profile(profile.text, "{\"note\":\"nobody's business\"}"));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 4"), renders + 1);
}

static void test_port_clash_through_profile(void)
{
	struct public_id a, b, node;

	world_new();
	a = add_profile("{\"name\":\"a\",\"port\":443}");
	b = add_profile("{\"name\":\"b\",\"port\":8443}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
	add_inbound(node.text, a.text);
	add_inbound(node.text, b.text);
	CHECK_NOT(patch_profile(b.text, "{\"port\":443}"), RES_CONFLICT, "port_taken", "port");
	CHECK_NOT(patch_profile(b.text, "{\"hop_ports\":\"400-500\"}"), RES_CONFLICT, "port_taken",
		  "port");
	CHECK_INT(get_profile(b.text).port, 8443);
	CHECK_INT(get_profile(b.text).version, 1);
	CHECK_OK(patch_profile(b.text, "{\"hop_ports\":\"444-500\"}"));
}

/* What one cannot see he must not lose: an object with a password in it is changed by those only who
 * may see it. */
static void test_hidden_secrets_are_not_lost(void)
{
	struct public_id id;
	const char *before;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"server\":{\"outbounds\":[{\"name\":\"up\","
				"\"type\":\"socks5\",\"addr\":\"1.2.3.4:1080\",\"username\":\"u\","
				"\"password\":\"hush\"}],\"acme\":{\"domains\":[\"a.net\"],\"type\":"
				"\"dns\",\"dns\":{\"name\":\"gandi\",\"config\":{\"token\":\"hush\"}}}}}",
				&id));
	before = get_open_profile(id.text).server;
	w.actor.rights &= ~(uint32_t)RIGHT_SECRETS;
	CHECK_NOT(patch_profile(id.text, "{\"server\":{\"outbounds\":[{\"name\":\"up\","
					 "\"type\":\"socks5\",\"addr\":\"1.2.3.4:1081\","
					 "\"username\":\"u\"}]}}"),
		  RES_FORBIDDEN, "secrets_needed", "server.outbounds");
	CHECK_NOT(patch_profile(id.text, "{\"server\":{\"acme\":{\"domains\":[\"b.net\"]}}}"),
		  RES_FORBIDDEN, "secrets_needed", "server.acme");
	CHECK_TEXT(get_open_profile(id.text).server, before);
	CHECK_INT(get_profile(id.text).version, 1);
	/* What holds none is his to change, and taking away is said aloud. */
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"disable_udp\":true}}"));
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"outbounds\":null}}"));
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"outbounds\":[{\"name\":\"up\",\"type\":"
					"\"direct\"}]}}"));
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"outbounds\":[{\"name\":\"on\",\"type\":"
					"\"direct\"}]}}"));
	w.actor.rights = RIGHTS_ALL;
	CHECK_OK(patch_profile(id.text, "{\"server\":{\"acme\":{\"domains\":[\"b.net\"]}}}"));
}

/* B011's other half: certificate modes there and back change no server settings. */
static void test_cert_mode_there_and_back(void)
{
	struct public_id id;

	world_new();
	CHECK_OK(create_profile("{\"name\":\"a\",\"server\":{\"acme\":{\"domains\":[\"a.net\"]}}}",
				&id));
	CHECK_OK(patch_profile(id.text, "{\"cert_mode\":\"acme\"}"));
	CHECK_OK(patch_profile(id.text, "{\"cert_mode\":\"self_signed\"}"));
	CHECK_OK(patch_profile(id.text, "{\"cert_mode\":\"acme\"}"));
	CHECK_NOT(patch_profile(id.text, "{\"server\":{\"acme\":null}}"), RES_INVALID,
		  "missing_field", "server.acme");
}

TEST_MAIN(TEST(test_defaults), TEST(test_refused), TEST(test_random_password),
	  TEST(test_b017_passwords_stay_text), TEST(test_nothing_lies_open),
	  TEST(test_moved_value_does_not_open), TEST(test_patch_only_what_changes),
	  TEST(test_nothing_changed), TEST(test_b120_case_only_rename),
	  TEST(test_b122_deleted_name_is_free), TEST(test_versions), TEST(test_in_use),
	  TEST(test_records_follow), TEST(test_port_clash_through_profile),
	  TEST(test_cert_mode_there_and_back), TEST(test_hidden_secrets_are_not_lost))
