/* serve_test.h – a panel with one door: store, settings, subscriptions behind a listener on
 * loopback, and a clock that event threads may read while the test moves it. Links live under /s/.
 */
#ifndef HYTHE_SERVE_TEST_H
#define HYTHE_SERVE_TEST_H

#include <stdatomic.h>

#include "http/wire.h"
#include "hythe/http/server.h"
#include "hythe/ops/hosts.h"
#include "hythe/ops/settings.h"
#include "hythe/sub/sub.h"
#include "ops/users_test.h"

static _Atomic int64_t door_ms; /* since NOW */
static struct door {
	struct settings_box *settings;
	struct decoy *decoy;
	struct sub *sub;
	struct http_listener *listener;
	const char *address;
	struct public_id group, node_a, node_b, profile_a, profile_b, inbound_a, inbound_b;
} door;

static int64_t door_wall(void *ctx)
{
	(void)ctx;
	return NOW * 1000 + atomic_load(&door_ms);
}

static int64_t door_mono(void *ctx)
{
	(void)ctx;
	return 1000 + atomic_load(&door_ms);
}

static inline void door_go_on_ms(int64_t ms)
{
	atomic_fetch_add(&door_ms, ms);
	w.fake.wall_ms += ms;
}

static struct reply *door_serve(void *ctx, struct request *req)
{
	size_t len;
	const char *path = request_path(req, &len);
	struct reply *reply = NULL;
	const struct decoy_page *page = decoy_404(door.decoy);

	(void)ctx;
	if (len > 3 && memcmp(path, "/s/", 3) == 0)
		reply = sub_serve(door.sub, req, path + 3, len - 3);
	return reply ? reply : reply_static(404, "text/html; charset=utf-8", page->body, page->len);
}

static size_t door_body_max(void *ctx, const struct request *req)
{
	(void)ctx;
	(void)req;
	return 0;
}

static inline void door_close(void)
{
	if (!door.settings)
		return;
	http_listener_quiesce(door.listener);
	http_listener_free(door.listener);
	sub_free(door.sub);
	decoy_free(door.decoy);
	store_close(w.store);
	w.store = NULL;
	settings_box_free(door.settings);
	world_end();
	memset(&door, 0, sizeof door);
}

static inline void door_parts(void)
{
	static const struct http_site site = {NULL, door_body_max, door_serve, NULL};
	struct http_config config = {
		.name = "test", .listen = "127.0.0.1:0", .threads = 2, .clock = &w.clock};
	struct sub_config sub = {.store = w.store, .vault = w.vault, .clock = &w.clock};

	CHECK_INT(settings_box_new(w.store, &door.settings, &w.problem), RES_OK);
	w.ops.settings = door.settings;
	CHECK_INT(decoy_load(NULL, &door.decoy, &w.problem), RES_OK);
	sub.settings = door.settings;
	sub.decoy = door.decoy;
	CHECK_INT(sub_new(&sub, &door.sub, &w.problem), RES_OK);
	sub_observe(door.sub);
	if (http_listener_new(&config, &site, &door.listener, &w.problem) != RES_OK)
		TEST_FAIL("listener: %s", w.problem.detail);
	door.address = http_listener_address(door.listener);
}

static inline void door_open(void)
{
	struct store_config config;
	static bool once;
	char key[128];

	door_close();
	memset(&w, 0, sizeof w);
	atomic_store(&door_ms, 0);
	dir_new();
	if (!once) /* after dir_new(), whose own end then comes after ours */
		atexit(door_close);
	once = true;
	w.fake.wall_ms = NOW * 1000;
	w.clock = (struct clock){door_wall, door_mono, NULL};
	snprintf(key, sizeof key, "%s/master.key", dir);
	CHECK_INT(vault_open(key, true, &w.vault, &w.problem), RES_OK);
	config = config_of(&w.clock);
	if (store_open(&config, &w.store, &w.problem) != RES_OK)
		TEST_FAIL("store: %s", w.problem.detail);
	w.ops = (struct ops){.store = w.store, .vault = w.vault, .write_wait_ms = 60000};
	w.actor = (struct actor){.kind = ACTOR_CONTROL, .rights = RIGHTS_ALL};
	strcpy(w.actor.public_id.text, "control");
	arena_init(&w.arena, 64u << 20);
	door_parts();
}

static inline void door_settings(const char *json)
{
	struct settings_change change = {0};
	struct settings_input input = {0};

	if (read_input(json, settings_fields, settings_fields_count, &input, &change.present) !=
		    RES_OK ||
	    settings_apply(&change.settings, &input, change.present, &w.problem) != RES_OK)
		TEST_FAIL("settings %s: %s", json, w.problem.detail);
	CHECK_RUN(op_settings_change, &change);
}

static inline void door_report(const struct public_id *inbound, enum inbound_state state,
			       const char *pin)
{
	struct inbound_report report = {.state = state, .error = ""};
	char sql[160];

	snprintf(sql, sizeof sql, "SELECT id FROM inbound WHERE public_id = '%s'", inbound->text);
	report.id = read_i64(w.store, sql);
	if (pin) {
		report.cert_pin.known = report.key_pin.known = true;
		CHECK(hex_decode(pin, 64, report.cert_pin.bytes, PIN_LEN));
		CHECK(hex_decode(pin, 64, report.key_pin.bytes, PIN_LEN));
	}
	CHECK_RUN(op_inbound_state, &report);
}

#define DOOR_PIN "c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b2f48"

/* The fact sheet's two endpoints: one with a public certificate, hopping and obfuscation, one bare,
 * by its IPv6 address and with a certificate of its own. */
static inline void door_fleet(void)
{
	char json[512];

	door.profile_a = add_profile("{\"name\":\"hop\",\"port\":443,\"hop_ports\":\"20000-29999\","
				     "\"obfs\":\"salamander\","
				     "\"obfs_password\":\"Rain-Forest_42\",\"cert_mode\":\"acme\","
				     "\"sni\":\"de1.example.net\","
				     "\"server\":{\"acme\":{\"domains\":[\"de1.example.net\"]}}}");
	door.profile_b =
		add_profile("{\"name\":\"bare\",\"port\":8443,\"cert_mode\":\"self_signed\","
			    "\"sni\":\"hel.example.net\"}");
	door.node_a = add_node(
		"{\"name\":\"Frankfurt 1\",\"address\":\"de1.example.net\",\"country\":\"DE\"}");
	door.node_b =
		add_node("{\"name\":\"Helsinki\",\"address\":\"2001:db8::10\",\"country\":\"FI\"}");
	door.inbound_a = add_inbound(door.node_a.text, door.profile_a.text);
	door.inbound_b = add_inbound(door.node_b.text, door.profile_b.text);
	snprintf(json, sizeof json,
		 "{\"name\":\"all\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"},"
		 "{\"profile\":\"%s\",\"nodes\":\"all\"}]}",
		 door.profile_a.text, door.profile_b.text);
	door.group = add_group(json);
	door_report(&door.inbound_a, INBOUND_RUNNING, NULL);
	door_report(&door.inbound_b, INBOUND_RUNNING, DOOR_PIN);
}

static inline struct public_id door_user(const char *name, const char *more)
{
	char json[512];

	snprintf(json, sizeof json, "{\"name\":\"%s\",\"groups\":[\"%s\"]%s}", name,
		 door.group.text, more);
	return add_user(json);
}

/* One request for a link; `path` is what follows the token. */
static inline void fetch(const char *method, const char *token, const char *path,
			 const char *headers, struct answer *answer)
{
	char request[1024];

	snprintf(request, sizeof request,
		 "%s /s/%s%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n", method, token,
		 path, headers);
	wire_ask(door.address, request, answer);
}

static inline void check_header(const struct answer *answer, const char *name, const char *want)
{
	char value[512];

	if (!wire_header(answer, name, value, sizeof value))
		TEST_FAIL("no %s in %s", name, answer->text);
	CHECK_TEXT(value, want);
}

#endif
