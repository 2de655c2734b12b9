/* The subscription endpoint over the real store: what links answer, and how soon a change shows. */
#include <pthread.h>

#include "serve_test.h"

static struct answer answer, other; /* large: not on the stack */

static void test_link_lists(void)
{
	struct secrets secrets;
	char want[1024], decoded[4096];
	size_t len;

	door_open();
	door_fleet();
	secrets = get_secrets(door_user("ann", "").text);
	snprintf(want, sizeof want,
		 "hysteria2://%s@de1.example.net:443/?obfs=salamander&obfs-password=Rain-Forest_42&"
		 "sni=de1.example.net&mport=20000-29999#%%F0%%9F%%87%%A9%%F0%%9F%%87%%AA%%"
		 "20Frankfurt%%201\n"
		 "hysteria2://%s@[2001:db8::10]:8443/"
		 "?sni=hel.example.net&insecure=1&pinSHA256=" DOOR_PIN
		 "#%%F0%%9F%%87%%AB%%F0%%9F%%87%%AE%%20Helsinki\n",
		 secrets.credential, secrets.credential);
	fetch("GET", secrets.token, "/plain", "", &answer);
	CHECK_INT(answer.status, 200);
	CHECK_TEXT(wire_body(&answer), want);
	fetch("GET", secrets.token, "", "", &answer);
	CHECK_INT(answer.status, 200);
	len = answer.len - answer.header_len;
	CHECK_INT(len, BASE64_LEN(strlen(want)));
	CHECK(base64_decode(wire_body(&answer), len, decoded, strlen(want)));
	CHECK(memcmp(decoded, want, strlen(want)) == 0);
}

static void test_headers(void)
{
	struct public_id ann;
	struct secrets secrets;
	char sql[256];

	door_open();
	door_fleet();
	door_settings("{\"title\":\"N\xc3\xa4he\",\"update_interval_h\":24}");
	ann = door_user("ann", ",\"quota_bytes\":1000,\"expires_unix\":1800864000");
	secrets = get_secrets(ann.text);
	snprintf(sql, sizeof sql,
		 "UPDATE user_usage SET used_up_bytes = 7, used_down_bytes = 30 WHERE user_id = "
		 "%lld RETURNING 1",
		 (long long)get_user(ann.text).id);
	CHECK_INT(outside_i64(db_path, sql), 1);
	fetch("GET", secrets.token, "", "", &answer);
	check_header(&answer, "Content-Type", "text/plain; charset=utf-8");
	check_header(&answer, "subscription-userinfo",
		     "upload=7; download=30; total=1000; expire=1800864000");
	check_header(&answer, "profile-title", "base64:TsOkaGU=");
	check_header(&answer, "profile-update-interval", "24"); /* B036: whole hours */
	check_header(&answer, "Cache-Control", "private, no-store");
	check_header(&answer, "Referrer-Policy", "no-referrer");
	check_header(&answer, "Vary", "User-Agent, Accept, Accept-Encoding");
	CHECK(!wire_header(&answer, "announce", sql, sizeof sql));
	CHECK(!wire_header(&answer, "Server", sql, sizeof sql));
	secrets = get_secrets(door_user("bob", "").text);
	fetch("GET", secrets.token, "", "", &answer);
	check_header(&answer, "subscription-userinfo", "upload=0; download=0; total=0; expire=0");
}

static void test_formats(void)
{
	static const struct {
		const char *path;
		int status;
		bool plain;
	} rows[] = {
		{"",			   200, false},
		{"/",			  200, false},
		{"/base64",                    200, false},
		{"/plain",                     200, true },
		{"?format=plain",              200, true },
		{"?format=base64",             200, false},
		{"?x=1&format=%70lain",        200, true },
		{"?format=",                   404, false},
		{"/base64?format=plain",       200, false}, /* the path wins */
		{"/plain?format=nonsense",     200, true },
		{"/nonsense",                  404, false},
		{"/Plain",                     404, false},
		{"/plain/",                    404, false},
		{"/%70lain",                   404, false},
		{"?format=nonsense",           404, false},
		{"?format=plain&format=plain", 404, false},
		{"?format=%zz",                404, false},
	};
	struct secrets secrets;

	door_open();
	door_fleet();
	secrets = get_secrets(door_user("ann", "").text);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		fetch("GET", secrets.token, rows[i].path, "", &answer);
		if (answer.status != rows[i].status)
			TEST_FAIL("%s: %d", rows[i].path, answer.status);
		if (answer.status == 200 &&
		    (strncmp(wire_body(&answer), "hysteria2://", 12) == 0) != rows[i].plain)
			TEST_FAIL("%s: %s", rows[i].path, wire_body(&answer));
	}
}

/* Header names and values but Date, as one text. */
static void header_set(const struct answer *from, char *out, size_t size)
{
	const char *line = strstr(from->text, "\r\n") + 2;
	size_t n = 0;

	while (strncmp(line, "\r\n", 2) != 0) {
		size_t len = strcspn(line, "\r") + 2;

		if (strncasecmp(line, "Date:", 5) != 0)
			n += (size_t)snprintf(out + n, size - n, "%.*s", (int)len, line);
		line += len;
	}
}

/* HEAD: the same status and headers for every format, for refused links, and at the same price. */
static void test_b035_head(void)
{
	static const char *const paths[] = {"", "/plain", "/base64", "/nonsense", "?format=plain"};
	char get[2048], head[2048];
	struct secrets secrets;

	door_open();
	door_fleet();
	secrets = get_secrets(door_user("ann", "").text);
	for (size_t i = 0; i < 6; i++) {
		const char *token = i < 5 ? secrets.token : "AAAAAAAAAAAAAAAAAAAAAA";
		const char *path = i < 5 ? paths[i] : "";

		fetch("GET", token, path, "", &answer);
		fetch("HEAD", token, path, "", &other);
		CHECK_INT(other.status, answer.status);
		CHECK_INT(other.len, other.header_len);
		header_set(&answer, get, sizeof get);
		header_set(&other, head, sizeof head);
		CHECK_TEXT(head, get);
	}
	door_settings("{\"link_burst\":3}");
	secrets = get_secrets(door_user("bob", "").text);
	for (int i = 0; i < 3; i++)
		fetch("HEAD", secrets.token, "", "", &other);
	CHECK_INT(other.status, 200);
	fetch("GET", secrets.token, "", "", &answer);
	fetch("HEAD", secrets.token, "", "", &other);
	CHECK_INT(answer.status, 429);
	CHECK_INT(other.status, 429);
}

/* Whatever is no link of ours is the decoy, and the same one. */
static void test_not_a_link(void)
{
	static const char *const lines[] = {
		"GET /s/AAAAAAAAAAAAAAAAAAAAAA",
		"GET /s/",
		"GET /s/x",
		"GET /other",
		"GET /s/%s%%2f",
		"GET /s/%.21s",
		"GET /s/%sA",
		"POST /s/%s",
		"DELETE /s/%s",
		"OPTIONS /s/%s",
		"PUT /s/%s/plain",
	};
	struct secrets secrets;
	char first[2048] = "", set[2048];

	door_open();
	door_fleet();
	secrets = get_secrets(door_user("ann", "").text);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char target[128], request[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(target, sizeof target, lines[i], secrets.token);
#pragma GCC diagnostic pop
		snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: a\r\n\r\n", target);
		wire_ask(door.address, request, &answer);
		if (answer.status != 404)
			TEST_FAIL("%s: %d", target, answer.status);
		CHECK_TEXT(wire_body(&answer), decoy_404(door.decoy)->body);
		header_set(&answer, set, sizeof set);
		if (i == 0)
			strcpy(first, set);
		CHECK_TEXT(set, first);
	}
}

static void check_stub(const char *token, const char *reason, const char *announce)
{
	char tail[256];
	const char *body;

	fetch("GET", token, "/plain", "", &answer);
	CHECK_INT(answer.status, 200);
	body = wire_body(&answer);
	snprintf(tail, sizeof tail, "@0.0.0.0:1/?sni=stub.invalid#%s\n", reason);
	CHECK(strncmp(body, "hysteria2://", 12) == 0);
	CHECK_TEXT(strchr(body, '@'), tail);
	CHECK(strchr(body, '\n')[1] == '\0');
	check_header(&answer, "announce", announce);
	check_header(&answer, "profile-update-interval", "1");
}

/* People without access are told why; the entry is the same at every fetch, and not another's. */
static void test_reasons(void)
{
	struct public_id ann, bob, eve, joe;
	struct secrets a, b, e, j;
	char etag[64], first[256];

	door_open();
	door_fleet();
	ann = door_user("ann", "");
	bob = door_user("bob", ",\"expires_unix\":1800000001");
	eve = door_user("eve", ",\"quota_bytes\":10");
	joe = add_user("{\"name\":\"joe\"}"); /* in no group */
	a = get_secrets(ann.text);
	b = get_secrets(bob.text);
	e = get_secrets(eve.text);
	j = get_secrets(joe.text);
	use_bytes(get_user(eve.text).id, 10);
	CHECK_INT(patch_user(ann.text, "{\"enabled\":false}"), RES_OK);
	door_go_on_ms(2000);
	check_stub(a.token, "Account%20disabled", "base64:QWNjb3VudCBkaXNhYmxlZA==");
	snprintf(first, sizeof first, "%s", wire_body(&answer));
	CHECK(wire_header(&answer, "ETag", etag, sizeof etag));
	check_stub(b.token, "Subscription%20expired", "base64:U3Vic2NyaXB0aW9uIGV4cGlyZWQ=");
	CHECK(strncmp(first, wire_body(&answer), 33) != 0);
	check_header(&answer, "subscription-userinfo",
		     "upload=0; download=0; total=0; expire=1800000001");
	check_stub(e.token, "Traffic%20limit%20reached", "base64:VHJhZmZpYyBsaW1pdCByZWFjaGVk");
	check_header(&answer, "subscription-userinfo", "upload=0; download=10; total=10; expire=0");
	check_stub(j.token, "No%20servers%20yet", "base64:Tm8gc2VydmVycyB5ZXQ=");
	door_go_on_ms(20000); /* another render */
	check_stub(a.token, "Account%20disabled", "base64:QWNjb3VudCBkaXNhYmxlZA==");
	CHECK_TEXT(wire_body(&answer), first);
	check_header(&answer, "ETag", etag);
}

/* A credential that cannot be read is no reason to answer 503 for ever. */
static void test_damaged_credential(void)
{
	static const char *const spoils[] = {
		"UPDATE credential SET hash = x'01' RETURNING 1",
		"UPDATE credential SET sealed = x'01' RETURNING 1",
		"UPDATE user SET public_id = 'odd' RETURNING 1",
	};

	for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
		struct secrets secrets;
		struct public_id id;

		door_open();
		door_fleet();
		id = door_user("ann", "");
		secrets = get_secrets(id.text);
		quiet(true);
		CHECK_INT(outside_i64(db_path, spoils[i]), 1);
		check_stub(secrets.token, "No%20servers%20yet", "base64:Tm8gc2VydmVycyB5ZXQ=");
		quiet(false);
	}
}

static bool has_servers(const char *token)
{
	fetch("GET", token, "/plain", "", &answer);
	CHECK_INT(answer.status, 200);
	return strstr(wire_body(&answer), "@de1.example.net:443") != NULL;
}

/* The same link: a stub while expired, servers in the very next answer after each way of renewing.
 */
static void test_b045_renewal(void)
{
	struct public_id ann;
	struct secrets secrets;
	struct user_extend extend = {.add_s = 3600};
	char json[64];

	door_open();
	door_fleet();
	ann = door_user("ann", ",\"expires_unix\":1800000100");
	secrets = get_secrets(ann.text);
	CHECK(has_servers(secrets.token));
	door_go_on_ms(100 * 1000 - 1); /* the cache must not carry him over the end */
	CHECK(has_servers(secrets.token));
	door_go_on_ms(1);
	CHECK(!has_servers(secrets.token));
	snprintf(json, sizeof json, "{\"expires_unix\":%lld}", (long long)NOW + 200);
	CHECK_INT(patch_user(ann.text, json), RES_OK);
	CHECK(has_servers(secrets.token));
	door_go_on_ms(200 * 1000);
	CHECK(!has_servers(secrets.token));
	extend.target.public_id = ann.text;
	CHECK_RUN(op_user_extend, &extend);
	CHECK(has_servers(secrets.token));
}

/* A change shows in the first answer after it is acknowledged; usage alone costs no render. */
static void test_changes_show_at_once(void)
{
	struct user_target target = {0};
	struct sub_counters before, after;
	struct public_id ann;
	struct secrets secrets;

	door_open();
	door_fleet();
	ann = door_user("ann", "");
	secrets = get_secrets(ann.text);
	target.public_id = ann.text;
	for (int i = 0; i < 5; i++) {
		CHECK(has_servers(secrets.token));
		CHECK(has_servers(secrets.token));
		CHECK_RUN(op_user_disable, &target);
		CHECK(!has_servers(secrets.token));
		CHECK_RUN(op_user_enable, &target);
	}
	CHECK(has_servers(secrets.token));
	sub_count(door.sub, &before);
	use_bytes(get_user(ann.text).id, 1000);
	CHECK(has_servers(secrets.token));
	sub_count(door.sub, &after);
	CHECK_INT(after.misses, before.misses);
	CHECK_INT(after.hits, before.hits + 1);
	door_settings("{\"name_template\":\"{node} of {user}\"}");
	CHECK(has_servers(secrets.token));
	CHECK(strstr(wire_body(&answer), "#Frankfurt%201%20of%20ann\n") != NULL);
	door_report(&door.inbound_a, INBOUND_FAILED, NULL);
	CHECK(has_servers(secrets.token)); /* a restart of seconds hides nothing */
	door_go_on_ms(700 * 1000);
	CHECK(!has_servers(secrets.token));
	CHECK(strstr(wire_body(&answer), "Helsinki") != NULL);
}

/* One valid link: rotating ends the old one at once, whatever was kept of it. */
static void test_b139_rotation(void)
{
	struct user_target target = {0};
	struct public_id ann;
	struct secrets old, now;

	door_open();
	door_fleet();
	ann = door_user("ann", "");
	target.public_id = ann.text;
	old = get_secrets(ann.text);
	CHECK_TEXT(get_secrets(ann.text).token, old.token); /* looking changes nothing */
	CHECK(has_servers(old.token));
	CHECK_RUN(op_user_rotate_link, &target);
	fetch("GET", old.token, "", "", &answer);
	CHECK_INT(answer.status, 404);
	now = get_secrets(ann.text);
	CHECK(has_servers(now.token));
	CHECK_RUN(op_user_delete, &target);
	fetch("GET", now.token, "", "", &answer);
	CHECK_INT(answer.status, 404);
}

/* After a rotation of the credential the next answer holds the new one. */
static void test_b003_rotated_credential(void)
{
	struct user_rotate rotate = {0};
	struct public_id ann;
	struct secrets old, now;

	door_open();
	door_fleet();
	ann = door_user("ann", "");
	old = get_secrets(ann.text);
	CHECK(has_servers(old.token));
	CHECK(strstr(wire_body(&answer), old.credential) != NULL);
	rotate.target.public_id = ann.text;
	CHECK_RUN(op_user_rotate_credential, &rotate);
	now = get_secrets(ann.text);
	CHECK(has_servers(old.token));
	CHECK(strstr(wire_body(&answer), old.credential) == NULL);
	CHECK(strstr(wire_body(&answer), now.credential) != NULL);
	CHECK(strspn(now.credential,
		     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
	      strlen(now.credential));
}

/* A link from before a detour through other settings is the link after it. */
static void test_b015_detour(void)
{
	struct profile_patch patch = {0};
	struct public_id ann;
	struct secrets secrets;
	char before[4096];

	door_open();
	door_fleet();
	ann = door_user("ann", "");
	secrets = get_secrets(ann.text);
	CHECK(has_servers(secrets.token));
	snprintf(before, sizeof before, "%s", wire_body(&answer));
	CHECK_INT(patch_user(ann.text, "{\"enabled\":false}"), RES_OK);
	patch.target.public_id = door.profile_b.text;
	INPUT(patch.input,
	      "{\"cert_mode\":\"acme\",\"server\":{\"acme\":{\"domains\":[\"h.example\"]}}}",
	      profile_fields, PROFILE_FIELDS);
	CHECK_RUN(op_profile_patch, &patch);
	INPUT(patch.input, "{\"cert_mode\":\"self_signed\",\"server\":{\"acme\":null}}",
	      profile_fields, PROFILE_FIELDS);
	CHECK_RUN(op_profile_patch, &patch);
	CHECK(!has_servers(secrets.token));
	CHECK_INT(patch_user(ann.text, "{\"enabled\":true}"), RES_OK);
	CHECK(has_servers(secrets.token));
	CHECK_TEXT(wire_body(&answer), before);
}

static void test_not_modified(void)
{
	static const char *const kept[] = {"ETag",
					   "subscription-userinfo",
					   "profile-title",
					   "Cache-Control",
					   "profile-update-interval",
					   "Vary",
					   "Referrer-Policy",
					   "Content-Type"};
	char etag[64], header[128], a[256], b[256];
	struct secrets secrets;

	door_open();
	door_fleet();
	door_settings("{\"title\":\"T\"}");
	secrets = get_secrets(door_user("ann", "").text);
	fetch("GET", secrets.token, "", "", &answer);
	CHECK(wire_header(&answer, "ETag", etag, sizeof etag));
	CHECK(strncmp(etag, "W/\"", 3) == 0);
	snprintf(header, sizeof header, "If-None-Match: \"x\", %s\r\n", etag);
	fetch("GET", secrets.token, "", header, &other);
	CHECK_INT(other.status, 304);
	CHECK_INT(other.len, other.header_len);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		CHECK(wire_header(&answer, kept[i], a, sizeof a));
		CHECK(wire_header(&other, kept[i], b, sizeof b));
		CHECK_TEXT(b, a);
	}
	fetch("GET", secrets.token, "/plain", header, &other); /* another body, another tag */
	CHECK_INT(other.status, 200);
	fetch("GET", secrets.token, "", "If-None-Match: W/\"0000000000000000\"\r\n", &other);
	CHECK_INT(other.status, 200);
}

static void test_link_limit(void)
{
	struct sub_counters counters;
	struct secrets ann, bob;

	door_open();
	door_fleet();
	ann = get_secrets(door_user("ann", "").text);
	bob = get_secrets(door_user("bob", "").text);
	for (int i = 0; i < 60; i++) {
		fetch("GET", ann.token, i % 2 ? "" : "/nonsense", "", &answer);
		CHECK_INT(answer.status, i % 2 ? 200 : 404);
	}
	fetch("GET", ann.token, "", "", &answer);
	CHECK_INT(answer.status, 429);
	check_header(&answer, "Retry-After", "60");
	check_header(&answer, "Content-Type", "text/html; charset=utf-8");
	CHECK_TEXT(wire_body(&answer), decoy_429(door.decoy)->body);
	fetch("GET", bob.token, "", "", &answer);
	CHECK_INT(answer.status, 200);
	door_go_on_ms(60000);
	fetch("GET", ann.token, "", "", &answer);
	CHECK_INT(answer.status, 200);
	fetch("GET", ann.token, "", "", &answer);
	CHECK_INT(answer.status, 429);
	door_settings("{\"link_burst\":1000}"); /* an empty bucket stays empty, and fills faster */
	door_go_on_ms(3600);
	fetch("GET", ann.token, "", "", &answer);
	CHECK_INT(answer.status, 200);
	sub_count(door.sub, &counters);
	CHECK_INT(counters.refused, 2);
	CHECK_INT(counters.tokens, 2);
}

/* Readers of lists take gecko for salamander, so it is left out, and said when nothing else is
 * there. */
static void test_gecko(void)
{
	struct profile_patch patch = {0};
	struct secrets secrets;

	door_open();
	door_fleet();
	secrets = get_secrets(door_user("ann", "").text);
	patch.target.public_id = door.profile_a.text;
	INPUT(patch.input, "{\"obfs\":\"gecko\"}", profile_fields, PROFILE_FIELDS);
	CHECK_RUN(op_profile_patch, &patch);
	CHECK(!has_servers(secrets.token));
	CHECK(strstr(wire_body(&answer), "Helsinki") != NULL);
	CHECK(strstr(wire_body(&answer), "gecko") == NULL);
	patch.target.public_id = door.profile_b.text;
	INPUT(patch.input, "{\"obfs\":\"gecko\",\"obfs_password\":\"Rain-Forest_43\"}",
	      profile_fields, PROFILE_FIELDS);
	CHECK_RUN(op_profile_patch, &patch);
	check_stub(secrets.token, "No%20servers%20yet", "base64:Tm8gc2VydmVycyB5ZXQ=");
}

/* A restart finds the links again. */
static void test_index_at_start(void)
{
	struct sub_config config;
	struct sub_counters counters;
	struct sub *again;

	door_open();
	door_fleet();
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof name, "user%d", i);
		door_user(name, "");
	}
	config = (struct sub_config){
		.store = w.store, .vault = w.vault, .settings = door.settings, .clock = &w.clock};
	CHECK_INT(sub_new(&config, &again, &w.problem), RES_OK);
	sub_count(again, &counters);
	CHECK_INT(counters.tokens, 20);
	sub_free(again);
}

static void test_b006_link_text(void)
{
	struct settings settings;
	struct buf out;

	settings_default(&settings);
	strcpy(settings.public_url, "http://[::1]:8080");
	strcpy(settings.sub_prefix, "s");
	buf_init(&out, 256);
	CHECK(sub_link(&settings, "AbCdEfGhIjKlMnOpQrSt-_", &out));
	CHECK_TEXT(out.data, "http://[::1]:8080/s/AbCdEfGhIjKlMnOpQrSt-_");
	buf_free(&out);
}

struct crowd {
	char token[64];
	atomic_bool stop;
	atomic_uint bad, fetched;
};

static void *fetch_on(void *arg)
{
	struct crowd *crowd = arg;
	struct answer *got = malloc(sizeof *got);

	while (!atomic_load(&crowd->stop)) {
		fetch("GET", crowd->token, "/plain", "", got);
		if (got->status != 200 || strncmp(wire_body(got), "hysteria2://", 12) != 0)
			atomic_fetch_add(&crowd->bad, 1);
		atomic_fetch_add(&crowd->fetched, 1);
	}
	free(got);
	return NULL;
}

/* While others fetch the same link, an acknowledged change is in the next answer, every time. */
static void test_changes_under_load(void)
{
	struct user_target target = {0};
	struct crowd crowd = {0};
	struct public_id ann;
	pthread_t threads[3];

	door_open();
	door_fleet();
	door_settings("{\"link_burst\":100000}");
	ann = door_user("ann", "");
	target.public_id = ann.text;
	snprintf(crowd.token, sizeof crowd.token, "%s", get_secrets(ann.text).token);
	for (size_t i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, fetch_on, &crowd), 0);
	for (int i = 0; i < 15; i++) {
		CHECK_RUN(op_user_disable, &target);
		CHECK(!has_servers(crowd.token));
		CHECK_RUN(op_user_enable, &target);
		CHECK(has_servers(crowd.token));
	}
	atomic_store(&crowd.stop, true);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(atomic_load(&crowd.bad), 0);
	CHECK(atomic_load(&crowd.fetched) > 0);
}

TEST_MAIN(TEST(test_link_lists), TEST(test_headers), TEST(test_formats), TEST(test_b035_head),
	  TEST(test_not_a_link), TEST(test_reasons), TEST(test_damaged_credential), TEST(test_b045_renewal),
	  TEST(test_changes_show_at_once), TEST(test_b139_rotation),
	  TEST(test_b003_rotated_credential), TEST(test_b015_detour), TEST(test_not_modified),
	  TEST(test_link_limit), TEST(test_gecko), TEST(test_index_at_start),
	  TEST(test_b006_link_text), TEST(test_changes_under_load))
