#include "admin_test.h"

#include "hythe/store/conn.h"

static char id[40];

static void make(const char *body)
{
	CHECK_ASK(201, "POST", "/profiles", body);
	keep_at("id", id, sizeof id);
}

static const char *path_of(const char *tail)
{
	static char path[200];

	snprintf(path, sizeof path, "/profiles/%s%s", id, tail);
	return path;
}

static void test_life(void)
{
	fix_begin();
	make("{\"name\":\"Main\",\"obfs\":\"gecko\",\"hop_ports\":\"31000,20000-20100\",\"server\":"
	     "{\"speed_test\":true}}");
	CHECK_TEXT(fix.answer.etag, "\"1\"");
	CHECK_TEXT(text_at("hop_ports"), "20000-20100,31000");
	CHECK_INT(int_at("obfs_min_packet_bytes"), 512);
	CHECK_INT(strlen(text_at("obfs_password")), 24);
	CHECK_INT(int_at("server.quic.max_idle_timeout_s"), 20);
	CHECK_INT(int_at("inbounds"), 0);
	CHECK(at("revision"));
	CHECK_ASK(200, "GET", path_of(""), NULL);
	CHECK_TEXT(text_at("name"), "Main");
	CHECK(!at("revision"));
	CHECK_ASK(200, "PATCH", path_of(""),
		  "{\"obfs\":\"none\",\"server\":{\"speed_test\":null}}");
	CHECK_INT(int_at("version"), 2);
	CHECK_INT(at("obfs_password")->type, JSON_NULL);
	CHECK(!at("server.speed_test"));
	CHECK_ASK(200, "DELETE", path_of(""), NULL);
	CHECK_TEXT(text_at("id"), id);
	CHECK_ASK(404, "GET", path_of(""), NULL);
	CHECK_TEXT(text_at("code"), "not_found");
}

static void test_dry_run(void)
{
	fix_begin();
	CHECK_ASK(200, "POST", "/profiles?dry_run=1", "{\"name\":\"Main\",\"port\":8443}");
	CHECK(at("dry_run")->truth);
	CHECK_INT(int_at("port"), 8443);
	CHECK_ASK(200, "GET", "/profiles?total=1", NULL);
	CHECK_INT(int_at("total"), 0);
	make("{\"name\":\"Main\"}");
	CHECK_ASK(200, "PATCH", path_of("?dry_run=1"), "{\"port\":8443}");
	CHECK_INT(int_at("port"), 8443);
	CHECK_ASK(200, "DELETE", path_of("?dry_run=1"), NULL);
	CHECK_ASK(200, "GET", path_of(""), NULL);
	CHECK_INT(int_at("port"), 443);
}

static void test_problems(void)
{
	static const struct {
		const char *body;
		int status;
		const char *code, *field;
	} rows[] = {
		{"{\"name\":\"main\"}",						    409, "name_taken",    "name"                  },
		{"{\"name\":\"x\",\"server\":{\"acme\":{\"domains\":[\"a.net\",\"_\"]}}}", 422,
		 "bad_value",										    "server.acme.domains[1]"},
		{"{\"name\":\"x\",\"colour\":1}",                                          422, "unknown_field", "colour"                },
		{"{\"name\":\"x\",",						       400, "bad_json",      ""                      },
		{"{\"name\":\"x\",\"name\":\"y\"}",                                        400, "bad_json",      ""                      },
		{"{\"name\":\"x\",\"port\":-1}",                                           422, "out_of_range",  "port"                  },
		{"{\"name\":\"x\",\"port\":18446744073709551617}",                         422, "out_of_range",  "port"                  },
	};

	fix_begin();
	make("{\"name\":\"Main\"}");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_ASK(rows[i].status, "POST", "/profiles", rows[i].body);
		CHECK_TEXT(text_at("code"), rows[i].code);
		CHECK_TEXT(text_at("field") ? text_at("field") : "", rows[i].field);
	}
	CHECK_ASK(200, "GET", "/profiles?total=1", NULL);
	CHECK_INT(int_at("total"), 1);
}

static void test_yesterdays_version(void)
{
	fix_begin();
	make("{\"name\":\"Main\"}");
	CHECK_INT(ask_with("PATCH", path_of(""), "If-Match: \"1\"\r\n", "{\"port\":8443}"), 200);
	CHECK_INT(ask_with("PATCH", path_of(""), "If-Match: \"1\"\r\n", "{\"port\":9443}"), 412);
	CHECK_TEXT(text_at("code"), "version_mismatch");
	CHECK_ASK(200, "GET", path_of(""), NULL);
	CHECK_INT(int_at("port"), 8443);
}

static void test_same_key_once(void)
{
	char first[40];

	fix_begin();
	CHECK_INT(ask_with("POST", "/profiles", "Idempotency-Key: k1\r\n", "{\"name\":\"Main\"}"),
		  201);
	keep_at("id", first, sizeof first);
	CHECK_INT(ask_with("POST", "/profiles", "Idempotency-Key: k1\r\n", "{\"name\":\"Main\"}"),
		  201);
	CHECK_TEXT(text_at("id"), first);
	CHECK_INT(ask_with("POST", "/profiles", "Idempotency-Key: k1\r\n", "{\"name\":\"Other\"}"),
		  422);
}

static void test_walk(void)
{
	char body[64], target[512], cursor[300] = "", last[80] = "";
	int seen = 0;

	fix_begin();
	for (int i = 0; i < 7; i++) {
		snprintf(body, sizeof body, "{\"name\":\"p%d\"}", i);
		make(body);
	}
	do {
		snprintf(target, sizeof target, "/profiles?limit=3%s%s", *cursor ? "&cursor=" : "",
			 cursor);
		CHECK_ASK(200, "GET", target, NULL);
		for (size_t i = 0; i < count_at("items"); i++, seen++) {
			snprintf(target, sizeof target, "items.%zu.name", i);
			CHECK(strcmp(text_at(target), last) > 0);
			keep_at(target, last, sizeof last);
		}
		snprintf(cursor, sizeof cursor, "%s",
			 text_at("next_cursor") ? text_at("next_cursor") : "");
	} while (*cursor);
	CHECK_INT(seen, 7);
	CHECK_ASK(200, "GET", "/profiles?sort=-name&limit=1", NULL);
	CHECK_TEXT(text_at("items.0.name"), "p6");
	CHECK_ASK(200, "GET", "/profiles?q=P3", NULL);
	CHECK_INT(count_at("items"), 1);
	CHECK_ASK(200, "GET", "/profiles?q=%20", NULL);
	CHECK_INT(count_at("items"), 7);
	CHECK_ASK(422, "GET", "/profiles?status=active", NULL);
	CHECK_ASK(422, "GET", "/profiles?sort=port", NULL);
}

/* Without the right to secrets nothing that may be one is in any answer. */
static void test_b137_no_secret_without_the_right(void)
{
	static const char *const targets[] = {"/profiles", "/inbounds", "/nodes", "/hosts", NULL};
	char token[200], headers[300];

	fix_begin();
	make("{\"name\":\"Main\",\"obfs\":\"salamander\",\"obfs_password\":\"hush-password\","
	     "\"server\":{\"outbounds\":"
	     "[{\"name\":\"a\",\"type\":\"socks5\",\"addr\":\"b.net\",\"password\":\"hush-"
	     "password\"}],\"acme\":"
	     "{\"domains\":[\"a.net\"],\"type\":\"dns\",\"dns\":{\"name\":\"vultr\",\"config\":{"
	     "\"k\":\"hush-password\"}}}}}");
	CHECK(strstr(fix.answer.body.data, "hush-password"));
	CHECK_ASK(201, "POST", "/tokens",
		  "{\"name\":\"t\",\"rights\":[\"nodes.read\",\"nodes.write\"]}");
	keep_at("token", token, sizeof token);
	snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
	for (size_t i = 0; targets[i]; i++) {
		CHECK_INT(ask_public("GET", targets[i], headers, NULL), 200);
		CHECK(!strstr(fix.answer.body.data, "hush-password"));
	}
	CHECK_INT(ask_public("GET", path_of(""), headers, NULL), 200);
	CHECK(!strstr(fix.answer.body.data, "hush-password"));
	CHECK(at("secrets_hidden")->truth);
	CHECK(!at("obfs_password"));
	CHECK_TEXT(text_at("server.acme.dns.name"), "vultr");
	CHECK_INT(ask_public("PATCH", path_of(""), headers, "{\"port\":8443}"), 200);
	CHECK(!strstr(fix.answer.body.data, "hush-password"));
	CHECK_INT(ask_public("PATCH", path_of("?dry_run=1"), headers, "{\"port\":9443}"), 200);
	CHECK(!strstr(fix.answer.body.data, "hush-password"));
	CHECK_ASK(200, "GET", path_of(""), NULL);
	CHECK_TEXT(text_at("obfs_password"), "hush-password");
}

/* A row that somebody damaged by hand is shown as such, and takes no other with it. */
static enum res damage(struct op *op, void *arg)
{
	sqlite3_stmt *st =
		conn_stmt(op->conn, "UPDATE profile SET server_sealed = x'00' WHERE name = 'b'");

	(void)arg;
	return stmt_run(op->conn, st);
}

static void test_b082_damaged_row(void)
{
	struct actor actor = {.kind = ACTOR_CONTROL, .rights = RIGHTS_ALL};
	struct op_call call = {.actor = &actor, .source = STORE_FROM_ADMIN, .status = 200};
	struct op_outcome out;

	fix_begin();
	for (char name = 'a'; name <= 'c'; name++) {
		char body[40];

		snprintf(body, sizeof body, "{\"name\":\"%c\"}", name);
		make(body);
	}
	CHECK_INT(op_run(&fix.ops, &call, damage, NULL, NULL, &out, NULL), RES_OK);
	CHECK_ASK(200, "GET", "/profiles", NULL);
	CHECK_INT(count_at("items"), 3);
	CHECK(!at("items.0.damaged")->truth);
	CHECK(at("items.1.damaged")->truth);
	CHECK_TEXT(text_at("items.2.name"), "c");
}

TEST_MAIN(TEST(test_life), TEST(test_dry_run), TEST(test_problems), TEST(test_yesterdays_version),
	  TEST(test_same_key_once), TEST(test_walk), TEST(test_b137_no_secret_without_the_right),
	  TEST(test_b082_damaged_row))
