/* panel/dev.c – `hythe serve --dev`: demo data through the operations that everybody uses, and a
 * greeting that says what to try.
 *
 * All demo data come in one write job, or not at all; the setting `dev_user` remembers that they
 * were made, so what a developer changes or deletes afterwards stays so. The API token stands in
 * DATA/dev-token (0600), because tokens are shown once and the next start shall print a curl line
 * that works. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hythe/auth/password.h"
#include "hythe/fleet/ca.h"
#include "hythe/ops/admins.h"
#include "hythe/ops/groups.h"
#include "hythe/ops/inbounds.h"
#include "hythe/ops/nodes.h"
#include "hythe/ops/profiles.h"
#include "hythe/ops/tokens.h"
#include "hythe/ops/users.h"
#include "hythe/store/settings.h"
#include "hythe/store/users.h"
#include "hythe/sub/sub.h"
#include "hythe/util/hash.h"
#include "panel.h"

#define TOKEN_FILE        "dev-token"
#define SEEDED_KEY        "dev_user"
#define NOT_SEEDED        "none" /* a panel of --dev, cut short before its demo data */
#define DEMO_ADDRESS      "127.0.0.1"
#define OWNER_NAME        "owner"
#define PEM_MAX           ((size_t)8192)
#define LINE_MAX_BYTES    256
#define READ_WAIT_MS      1000
#define CERTIFICATE_YEARS 10

/* --- Input as the API would get it --- */

/* Reads a JSON text by an operation's table; the tree lives as long as the job. */
struct input {
	struct json_doc *docs[8];
	size_t count;
};

static enum res read_input(struct op *op, struct input *input, const char *text,
			   const struct json_field *fields, size_t count, void *out,
			   uint64_t *present)
{
	char *copy = arena_dup(op->arena, text, strlen(text));
	struct json_doc **doc = &input->docs[input->count];
	enum res res;

	if (!copy || input->count == sizeof input->docs / sizeof *input->docs)
		return RES_NOMEM;
	if ((res = json_parse(copy, strlen(text), doc, op->problem)) != RES_OK)
		return res;
	input->count++;
	return json_read(json_root(*doc), fields, count, out, present, op->problem);
}

static void free_input(struct input *input)
{
	while (input->count)
		json_free(input->docs[--input->count]);
}

/* --- The demo --- */

struct demo {
	struct input input;
	const char *password_hash;
	const char *cert_pem;
	struct profile_create profile;
	struct node_create node;
	struct inbound_create inbound;
	struct group_create group;
	struct user_create user;
};

static enum res make_profile(struct op *op, struct demo *demo)
{
	static const char text[] =
		"{\"name\":\"Demo\",\"port\":8443,\"obfs\":\"salamander\","
		"\"cert_mode\":\"self_signed\",\"note\":\"made by serve --dev\"}";
	enum res res = read_input(op, &demo->input, text, profile_fields, PROFILE_FIELDS,
				  &demo->profile.input, &demo->profile.input.present);

	return res == RES_OK ? op_profile_create(op, &demo->profile) : res;
}

static enum res make_node(struct op *op, struct demo *demo)
{
	static const char text[] =
		"{\"name\":\"Demo node\",\"address\":\"" DEMO_ADDRESS "\",\"country\":\"DE\","
		"\"tags\":[\"demo\"]}";
	enum res res = read_input(op, &demo->input, text, node_fields, NODE_FIELDS,
				  &demo->node.input, &demo->node.input.present);

	return res == RES_OK ? op_node_create(op, &demo->node) : res;
}

static enum res make_inbound(struct op *op, struct demo *demo)
{
	struct inbound_report running = {
		.state = INBOUND_RUNNING, .error = "", .cert_pem = demo->cert_pem};
	const char *text = arena_printf(op->arena, "{\"node\":\"%s\",\"profile\":\"%s\"}",
					demo->node.public_id.text, demo->profile.public_id.text);
	enum res res = text ? read_input(op, &demo->input, text, inbound_fields, INBOUND_FIELDS,
					 &demo->inbound.input, &demo->inbound.input.present)
			    : RES_NOMEM;

	if (res != RES_OK || (res = op_inbound_create(op, &demo->inbound)) != RES_OK)
		return res;
	/* No agent runs here: what it would report of this inbound is stored in its place. */
	running.id = demo->inbound.id;
	return op_inbound_state(op, &running);
}

static enum res make_group(struct op *op, struct demo *demo)
{
	const char *text = arena_printf(op->arena,
					"{\"name\":\"Everybody\",\"access\":[{\"profile\":\"%s\","
					"\"nodes\":\"all\"}]}",
					demo->profile.public_id.text);
	enum res res = text ? read_input(op, &demo->input, text, group_fields, GROUP_FIELDS,
					 &demo->group.input, &demo->group.input.present)
			    : RES_NOMEM;

	return res == RES_OK ? op_group_create(op, &demo->group) : res;
}

static enum res make_user(struct op *op, struct demo *demo)
{
	const char *text =
		arena_printf(op->arena,
			     "{\"name\":\"demo\",\"groups\":[\"%s\"],\"quota_bytes\":100000000000,"
			     "\"quota_period\":\"month\"}",
			     demo->group.public_id.text);
	enum res res = text ? read_input(op, &demo->input, text, user_fields, USER_FIELDS,
					 &demo->user.input, &demo->user.input.present)
			    : RES_NOMEM;

	return res == RES_OK ? op_user_create(op, &demo->user) : res;
}

static enum res op_demo(struct op *op, void *arg)
{
	static enum res (*const steps[])(struct op *, struct demo *) = {
		make_profile, make_node, make_inbound, make_group, make_user};
	struct demo *demo = arg;
	struct owner_make owner = {.name = OWNER_NAME, .password_hash = demo->password_hash};
	enum res res = op_owner_make(op, &owner);

	for (size_t i = 0; i < sizeof steps / sizeof *steps && res == RES_OK; i++)
		res = steps[i](op, demo);
	if (res == RES_OK)
		res = setting_put_text(op->conn, SEEDED_KEY, demo->user.public_id.text);
	free_input(&demo->input);
	return res;
}

static enum res op_first(struct op *op, void *settings)
{
	enum res res = op_settings_init(op, settings);

	if (res == RES_OK)
		res = setting_put_text(op->conn, SEEDED_KEY, NOT_SEEDED);
	return res == RES_OK ? op_ca_init(op, NULL) : res;
}

/* --- Small secret files --- */

/* Written beside and renamed, so that a crash leaves none or a whole one. */
static enum res write_secret(const struct instance *instance, const char *name, const char *text)
{
	char path[DATA_PATH_MAX], fresh[DATA_PATH_MAX];
	size_t len = strlen(text);
	bool ok;
	int fd;

	if (!instance_path(instance, name, path) ||
	    (size_t)snprintf(fresh, sizeof fresh, "%s/.%s.new", instance->dir, name) >=
		    sizeof fresh)
		return RES_TOO_LARGE;
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return RES_IO;
	ok = write(fd, text, len) == (ssize_t)len && write(fd, "\n", 1) == 1;
	ok = close(fd) == 0 && ok && rename(fresh, path) == 0;
	return ok ? RES_OK : RES_IO;
}

static bool read_secret(const struct instance *instance, const char *name,
			char out[static LINE_MAX_BYTES])
{
	char path[DATA_PATH_MAX];
	int fd = instance_path(instance, name, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
						     : -1;
	ssize_t len = fd >= 0 ? read(fd, out, LINE_MAX_BYTES - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	out[len] = 0;
	out[strcspn(out, "\r\n")] = 0;
	return out[0] != 0;
}

/* --- Preparing --- */

static enum res read_text_setting(struct instance *instance, const char *key, struct arena *arena,
				  const char **value)
{
	struct conn *conn;
	enum res res = store_read(instance->store, STORE_ADMIN, READ_WAIT_MS, &conn);

	if (res != RES_OK)
		return res;
	res = setting_text(conn, key, arena, value);
	store_read_end(conn);
	return res;
}

static bool is_demo(struct instance *instance)
{
	struct arena arena;
	const char *value;
	bool demo;

	arena_init(&arena, 65536);
	demo = read_text_setting(instance, SEEDED_KEY, &arena, &value) == RES_OK;
	arena_free(&arena);
	return demo;
}

static bool is_seeded(struct instance *instance)
{
	struct arena arena;
	const char *value;
	bool seeded;

	arena_init(&arena, 65536);
	seeded = read_text_setting(instance, SEEDED_KEY, &arena, &value) == RES_OK &&
		 strcmp(value, NOT_SEEDED) != 0;
	arena_free(&arena);
	return seeded;
}

static enum res hash_random_password(char password[static DEV_PASSWORD_SIZE],
				     char hash[static PASSWORD_HASH_MAX])
{
	struct hasher *hasher = NULL;
	uint8_t bytes[18];
	enum res res;

	random_bytes(bytes, sizeof bytes);
	base64url_encode(bytes, sizeof bytes, password);
	if ((res = hasher_new(NULL, &hasher)) == RES_OK)
		res = password_hash(hasher, password, hash);
	hasher_free(hasher);
	return res;
}

static enum res seed(struct instance *instance, char password[static DEV_PASSWORD_SIZE],
		     struct problem *problem)
{
	struct certificate_spec spec = {
		.common_name = DEMO_ADDRESS,
		.alt_name = DEMO_ADDRESS,
		.now_unix = clock_unix(&clock_system),
		.years = CERTIFICATE_YEARS,
	};
	char hash[PASSWORD_HASH_MAX];
	struct demo demo = {.password_hash = hash};
	struct buf key, cert;
	enum res res;

	buf_init(&key, PEM_MAX);
	buf_init(&cert, PEM_MAX);
	if ((res = hash_random_password(password, hash)) != RES_OK ||
	    (res = certificate_make(&spec, &key, &cert)) != RES_OK)
		goto out;
	demo.cert_pem = cert.data;
	res = instance_run(instance, ACTOR_CONTROL, op_demo, &demo, problem);
out:
	if (res != RES_OK)
		explicit_bzero(password, DEV_PASSWORD_SIZE);
	buf_free_secret(&key);
	buf_free(&cert);
	return res;
}

static enum res first_start(struct instance *instance, const struct config *config,
			    struct problem *problem)
{
	struct settings settings;

	settings_default(&settings);
	system_zone_name(settings.time_zone);
	listen_url(config->listen, config->tls_cert != NULL, settings.public_url,
		   sizeof settings.public_url);
	return instance_run(instance, ACTOR_CONTROL, op_first, &settings, problem);
}

static bool has_settings(struct instance *instance)
{
	struct settings_snapshot *now = settings_take(instance->settings);
	bool there = now->version > 0;

	settings_give(instance->settings, now);
	return there;
}

/* A lost token file gets a new token; the old token stays listed until somebody ends it. */
static enum res make_token(struct instance *instance, struct problem *problem)
{
	static const char rights[] =
		"[\"users.read\",\"users.write\",\"secrets\",\"nodes.read\",\"nodes.write\","
		"\"settings\",\"admins\",\"metrics\"]";
	struct token_create create = {.input = {.name = "serve --dev"}};
	char text[LINE_MAX_BYTES], copy[sizeof rights];
	struct json_doc *doc = NULL;
	enum res res;

	if (read_secret(instance, TOKEN_FILE, text))
		return RES_OK;
	memcpy(copy, rights, sizeof rights);
	if ((res = json_parse(copy, sizeof rights - 1, &doc, problem)) != RES_OK)
		return res;
	create.input.rights = json_root(doc);
	create.input.present = UINT64_C(1) << TOKEN_F_NAME | UINT64_C(1) << TOKEN_F_RIGHTS;
	if ((res = instance_run(instance, ACTOR_CONTROL, op_token_create, &create, problem)) ==
	    RES_OK)
		res = write_secret(instance, TOKEN_FILE, create.secret.text);
	json_free(doc);
	explicit_bzero(&create.secret, sizeof create.secret);
	return res;
}

enum res dev_prepare(struct instance *instance, const struct config *config,
		     char password[static DEV_PASSWORD_SIZE], struct problem *problem)
{
	enum res res;

	password[0] = 0;
	if (!has_settings(instance) && (res = first_start(instance, config, problem)) != RES_OK)
		return res;
	if (!is_demo(instance))
		return problem_set(
			problem, RES_CONFLICT, "not_a_demo", "dev",
			"--dev (HYTHE_DEV) runs a demo with data of its own, and %.120s "
			"holds a panel that was set up: leave --dev out to run that one, or "
			"name another --data-dir",
			instance->dir);
	if (!is_seeded(instance) && (res = seed(instance, password, problem)) != RES_OK)
		return res;
	return make_token(instance, problem);
}

/* --- The greeting --- */

/* The demo user's link, or nothing when he was deleted. */
static bool demo_link(struct panel *panel, const struct settings *settings, struct arena *arena,
		      struct buf *link)
{
	struct user_link sealed;
	struct conn *conn;
	struct buf token;
	struct user user;
	const char *id;
	bool ok;

	if (store_read(panel->instance.store, STORE_ADMIN, READ_WAIT_MS, &conn) != RES_OK)
		return false;
	buf_init(&token, 64);
	ok = setting_text(conn, SEEDED_KEY, arena, &id) == RES_OK &&
	     user_by_public_id(conn, id, arena, &user) == RES_OK &&
	     user_link_sealed(conn, user.id, arena, &sealed) == RES_OK &&
	     user_link_token(panel->instance.vault, &user.public_id, sealed.sealed,
			     sealed.sealed_len, &token) == RES_OK &&
	     sub_link(settings, token.data, link);
	store_read_end(conn);
	buf_free_secret(&token);
	return ok;
}

/* Another --listen than last time: links and pages shall lead to where the panel is now. */
static void follow_address(struct panel *panel, const char *url)
{
	struct settings_change change = {.present = UINT64_C(1) << SETTING_PUBLIC_URL};
	struct settings_snapshot *now = settings_take(panel->instance.settings);
	bool same = strcmp(now->settings.public_url, url) == 0;

	settings_give(panel->instance.settings, now);
	if (same || (size_t)snprintf(change.settings.public_url, sizeof change.settings.public_url,
				     "%s", url) >= sizeof change.settings.public_url)
		return;
	instance_run(&panel->instance, ACTOR_CONTROL, op_settings_change, &change, NULL);
}

static void print_api_base(char *out, size_t size, struct panel *panel, const char *url,
			   const struct settings *settings)
{
	if (panel->admin_listener)
		snprintf(out, size, "%s/api/v1", panel->admin_url);
	else
		snprintf(out, size, "%s/%s/api/v1", url, settings->admin_prefix);
}

static void greet(struct panel *panel, const char *url, const struct settings *settings,
		  const char *link)
{
	const char *dir = panel->instance.dir;
	char api[512], token[LINE_MAX_BYTES] = "";

	print_api_base(api, sizeof api, panel, url, settings);
	printf("\nHythe %s, demo on loopback.\n\n"
	       "  public     %s (an unknown path sees a plain 404)\n"
	       "  admin API  %s\n"
	       "  control    %s/" CONTROL_SOCKET_NAME " (what the hythe command uses)\n"
	       "  data       %s\n",
	       HYTHE_VERSION, url, api, dir, dir);
	if (link)
		printf("\nThe subscription link of the user \"demo\", as an app fetches it:\n\n"
		       "  curl -s %s | base64 -d\n",
		       link);
	if (read_secret(&panel->instance, TOKEN_FILE, token))
		printf("\nThe API, with a token that may do everything (kept in %s/" TOKEN_FILE
		       "):\n\n"
		       "  curl -s -H \"Authorization: Bearer %s\" %s/users\n",
		       dir, token, api);
	if (panel->dev_password[0])
		printf("\nThe owner is \"" OWNER_NAME "\", the password %s (said this once).\n",
		       panel->dev_password);
	printf("\nNext, in another terminal:\n\n"
	       "  build/hythe user add anna --groups Everybody --quota 50GB --expires-in 30d "
	       "--data-dir %s\n"
	       "  build/hythe user list --data-dir %s\n\n"
	       "No node runs here: the demo server is stored as running, but nothing listens on "
	       "its port.\n"
	       "Ctrl-C stops the panel; its data stay in %s, and the next start uses them "
	       "again.\n\n",
	       dir, dir, dir);
	fflush(stdout);
	explicit_bzero(token, sizeof token);
	explicit_bzero(panel->dev_password, sizeof panel->dev_password);
}

void dev_greet(struct panel *panel)
{
	struct settings_snapshot *now;
	struct arena arena;
	struct buf link;
	char url[300];

	listen_url(http_listener_address(panel->public), panel->config->tls_cert != NULL, url,
		   sizeof url);
	follow_address(panel, url);
	arena_init(&arena, 65536);
	buf_init(&link, 1024);
	now = settings_take(panel->instance.settings);
	greet(panel, url, &now->settings,
	      demo_link(panel, &now->settings, &arena, &link) ? link.data : NULL);
	settings_give(panel->instance.settings, now);
	buf_free_secret(&link);
	arena_free(&arena);
}
