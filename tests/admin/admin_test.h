/* admin_test.h – the admin API behind real sockets: one that counts as the control socket, one as
 * public. The panel's clock stands still unless told. */
#ifndef HYTHE_ADMIN_TEST_H
#define HYTHE_ADMIN_TEST_H

#include <dirent.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "hythe/admin/admin.h"
#include "hythe/net/http_client.h"
#include "hythe/ops/settings.h"
#include "hythe/util/json_read.h"
#include "hythe/util/log.h"

#define NOW INT64_C(1800000000)

static struct panel_fix {
	char dir[64];
	struct clock_fake fake;
	struct clock clock;
	struct store *store;
	struct vault *vault;
	struct ops ops;
	struct http_workers *workers;
	struct admin *admin;
	struct http_listener *control, *public;
	char control_path[96], public_path[96];
	struct http_answer answer; /* of the last call */
	struct json_doc *doc;      /* of the last call */
	char *text;
} fix;

static size_t fix_body_max(const struct request *req)
{
	size_t len;
	const char *path = request_path(req, &len);

	return admin_body_max(fix.admin, req, path, len);
}

static size_t fix_body_max_ctx(void *ctx, const struct request *req)
{
	(void)ctx;
	return fix_body_max(req);
}

static struct reply *fix_serve(void *ctx, struct request *req)
{
	size_t len;
	const char *path = request_path(req, &len);
	struct reply *reply = admin_serve(fix.admin, req, path, len, ctx == &fix.control);

	return reply ? reply : reply_empty(404);
}

static void fix_listen(struct http_listener **out, const char *path)
{
	struct http_config config = {
		.name = "test", .unix_path = path, .threads = 1, .clock = &clock_system};
	struct http_site site = {.ctx = out, .body_max = fix_body_max_ctx, .serve = fix_serve};
	struct problem problem = {0};

	if (http_listener_new(&config, &site, out, &problem) != RES_OK)
		TEST_FAIL("listener: %s", problem.detail);
}

static enum res fix_nothing(struct op *op, void *arg)
{
	(void)op;
	(void)arg;
	return RES_OK;
}

static void fix_drop_answer(void)
{
	json_free(fix.doc);
	free(fix.text);
	http_answer_free(&fix.answer);
	fix.doc = NULL;
	fix.text = NULL;
	memset(&fix.answer, 0, sizeof fix.answer);
}

static void fix_remove_dir(void)
{
	DIR *dir = opendir(fix.dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[400];

		snprintf(path, sizeof path, "%s/%s", fix.dir, entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(fix.dir);
}

static void fix_end(void)
{
	if (!fix.store)
		return;
	fix_drop_answer();
	http_listener_quiesce(fix.control);
	http_listener_quiesce(fix.public);
	http_workers_free(fix.workers);
	http_listener_free(fix.control);
	http_listener_free(fix.public);
	admin_stop(fix.admin);
	store_close(fix.store);
	admin_free(fix.admin);
	settings_box_free(fix.ops.settings);
	vault_free(fix.vault);
	fix_remove_dir();
	memset(&fix, 0, sizeof fix);
}

static void fix_settings(void)
{
	struct settings settings;
	struct actor actor = {.kind = ACTOR_CONTROL, .rights = RIGHTS_ALL};
	struct op_call call = {.actor = &actor, .source = STORE_FROM_ADMIN, .status = 200};
	struct problem problem = {0};
	struct op_outcome out;

	settings_default(&settings);
	strcpy(settings.public_url, "http://127.0.0.1:8080");
	strcpy(settings.sub_prefix, "sub-prefix-of-the-test");
	strcpy(settings.admin_prefix, "admin-prefix-of-test");
	strcpy(actor.public_id.text, "control");
	(void)fix_nothing;
	if (op_run(&fix.ops, &call, op_settings_init, &settings, NULL, &out, &problem) != RES_OK)
		TEST_FAIL("settings: %s", problem.detail);
}

/* `database`: a file to work on instead of a new one; NULL: a new one. */
static void fix_begin_on(const char *database)
{
	struct problem problem = {0};
	struct store_config config = {.public_readers = 1, .admin_readers = 2};
	struct admin_config admin = {.version = "test"};
	char path[96];

	fix_end();
	atexit(fix_end);
	log_set_level(LOG_LEVEL_ERROR);
	fix.fake.wall_ms = NOW * 1000;
	fix.fake.mono_ms = 1000;
	fix.clock = clock_of_fake(&fix.fake);
	strcpy(fix.dir, "/tmp/hythe-admin-XXXXXX");
	CHECK(mkdtemp(fix.dir) != NULL);
	snprintf(path, sizeof path, "%s/hythe.db", fix.dir);
	config.path = database ? database : path;
	config.clock = &fix.clock;
	if (store_open(&config, &fix.store, &problem) != RES_OK)
		TEST_FAIL("store: %s", problem.detail);
	snprintf(path, sizeof path, "%s/master.key", fix.dir);
	if (vault_open(path, true, &fix.vault, &problem) != RES_OK)
		TEST_FAIL("vault: %s", problem.detail);
	fix.ops = (struct ops){.store = fix.store, .vault = fix.vault, .write_wait_ms = 60000};
	if (settings_box_new(fix.store, &fix.ops.settings, &problem) != RES_OK)
		TEST_FAIL("settings: %s", problem.detail);
	CHECK_INT(http_workers_new(2, 64, &fix.workers), RES_OK);
	admin.ops = &fix.ops;
	admin.workers = fix.workers;
	admin.clock = &fix.clock;
	CHECK_INT(admin_new(&admin, &fix.admin), RES_OK);
	fix_settings();
	snprintf(fix.control_path, sizeof fix.control_path, "%s/control", fix.dir);
	snprintf(fix.public_path, sizeof fix.public_path, "%s/public", fix.dir);
	fix_listen(&fix.control, fix.control_path);
	fix_listen(&fix.public, fix.public_path);
}

__attribute__((unused)) static void fix_begin(void)
{
	fix_begin_on(NULL);
}

/* Parses the answer if it is JSON. Returns its status. */
static int fix_take(struct http_call *call)
{
	struct problem problem = {0};

	fix_drop_answer();
	call->answer_max = 16u << 20;
	call->timeout_ms = 20000;
	if (http_call(call, &fix.answer, &problem) != RES_OK)
		TEST_FAIL("%s %.80s: %s", call->method, call->target, problem.detail);
	if (strstr(fix.answer.content_type, "json") && fix.answer.body.len) {
		fix.text = malloc(fix.answer.body.len + 1);
		memcpy(fix.text, fix.answer.body.data, fix.answer.body.len + 1);
		if (json_parse(fix.text, fix.answer.body.len, &fix.doc, &problem) != RES_OK)
			TEST_FAIL("answer of %.80s: %s: %.400s", call->target, problem.detail,
				  fix.answer.body.data);
	}
	return fix.answer.status;
}

/* One call over the control socket; `target` after /api/v1. */
__attribute__((unused)) static int ask(const char *method, const char *target, const char *body)
{
	char full[4096];
	struct http_call call = {.unix_path = fix.control_path,
				 .method = method,
				 .target = full,
				 .body = body,
				 .body_len = body ? strlen(body) : 0};

	snprintf(full, sizeof full, "/api/v1%s", target);
	return fix_take(&call);
}

/* The same over the public socket with headers of the test's own ("Name: value\r\n"; NULL: none).
 */
__attribute__((unused)) static int ask_public(const char *method, const char *target,
					      const char *headers, const char *body)
{
	char full[4096];
	struct http_call call = {.unix_path = fix.public_path,
				 .method = method,
				 .target = full,
				 .headers = headers,
				 .body = body,
				 .body_len = body ? strlen(body) : 0};

	snprintf(full, sizeof full, "/api/v1%s", target);
	return fix_take(&call);
}

__attribute__((unused)) static int ask_with(const char *method, const char *target,
					    const char *headers, const char *body)
{
	char full[4096];
	struct http_call call = {.unix_path = fix.control_path,
				 .method = method,
				 .target = full,
				 .headers = headers,
				 .body = body,
				 .body_len = body ? strlen(body) : 0};

	snprintf(full, sizeof full, "/api/v1%s", target);
	return fix_take(&call);
}

/* A member of the last answer by a dotted path; numbers are places in arrays. */
static const struct json *at(const char *path)
{
	const struct json *value = fix.doc ? json_root(fix.doc) : NULL;
	char part[64];

	while (value && *path) {
		size_t len = strcspn(path, ".");

		snprintf(part, sizeof part, "%.*s", (int)len, path);
		path += len + (path[len] == '.');
		if (value->type == JSON_ARRAY) {
			int n = atoi(part);

			for (value = json_first(value); value && n > 0; n--)
				value = json_next(value);
		} else {
			value = json_member(value, part);
		}
	}
	return value;
}

__attribute__((unused)) static const char *text_at(const char *path)
{
	const struct json *value = at(path);

	return value && value->type == JSON_STRING ? value->text : NULL;
}

__attribute__((unused)) static int64_t int_at(const char *path)
{
	const struct json *value = at(path);
	int64_t out = -999;

	if (value)
		json_i64(value, INT64_MIN, INT64_MAX, &out);
	return out;
}

__attribute__((unused)) static size_t count_at(const char *path)
{
	const struct json *value = at(path);

	return value ? value->len : 0;
}

/* Copies what must outlive the next call. */
__attribute__((unused)) static const char *keep_at(const char *path, char *out, size_t size)
{
	const char *text = text_at(path);

	if (!text)
		TEST_FAIL("no %s in %.300s", path,
			  fix.answer.body.data ? fix.answer.body.data : "");
	snprintf(out, size, "%s", text);
	return out;
}

#define CHECK_ASK(want, method, target, input)                                                     \
	do {                                                                                       \
		int status_ = ask(method, target, input);                                          \
		if (status_ != (want))                                                             \
			TEST_FAIL("%s %s: %d, want %d: %.300s", method, target, status_, want,     \
				  fix.answer.body.data ? fix.answer.body.data : "");               \
	} while (0)

#endif
