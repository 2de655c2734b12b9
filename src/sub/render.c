#include "render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats.h"
#include "hythe/ops/users.h"
#include "hythe/store/access.h"
#include "hythe/store/credentials.h"
#include "hythe/store/users.h"
#include "hythe/util/hash.h"
#include "hythe/util/log.h"
#include "names.h"

#define READ_WAIT_MS   250
#define RENDER_ARENA   ((size_t)16 * 1024 * 1024) /* 1,000 endpoints with a certificate each */
#define CREDENTIAL_MAX 512
#define HEADER_MAX     512
#define STUB_TOKEN_MAX 32

/* What the store knows of this user, read in one transaction. */
struct facts {
	struct user user;
	enum user_status status;
	int64_t now_unix;
	struct credential credential;
	bool has_credential;
	const int64_t *groups; /* sorted */
	size_t group_count;
	bool own_list; /* nodes are taken from him: nobody else gets his list */
};

struct work {
	const struct sub_config *config;
	const struct sub_format *format;
	struct server_lists *lists;
	uint64_t generation;
	struct servers *servers; /* what his groups are offered; NULL: nothing can be used */
	bool fresh;              /* it was read just now: passwords are still sealed */
	struct settings_snapshot *snapshot;
	struct arena arena;
	struct facts facts;
	struct buf credential;
	const char *reason; /* NULL: there are servers; else why the stub */
	struct sub_page page;
};

/* --- Reading --- */

static enum res read_groups(struct conn *conn, int64_t user_id, struct work *work)
{
	struct facts *facts = &work->facts;
	struct user_ref *taken;
	int64_t *groups;
	size_t count;
	enum res res = user_group_ids(conn, user_id, &work->arena, &groups, &facts->group_count);

	if (res != RES_OK)
		return res;
	facts->groups = groups;
	res = user_excluded_nodes(conn, user_id, &work->arena, &taken, &count);
	facts->own_list = count > 0;
	return res;
}

static enum res read_servers(struct conn *conn, int64_t user_id, struct work *work)
{
	struct facts *facts = &work->facts;
	enum res res = read_groups(conn, user_id, work);

	if (res != RES_OK || facts->group_count == 0)
		return res;
	if (!facts->own_list)
		work->servers = server_lists_find(work->lists, work->generation, facts->groups,
						  facts->group_count);
	if (work->servers)
		return RES_OK;
	if (!(work->servers = servers_new(RENDER_ARENA)))
		return RES_NOMEM;
	work->fresh = true;
	return access_endpoints(conn, user_id, facts->now_unix,
				work->snapshot->settings.hide_after_s, &work->servers->arena,
				&work->servers->endpoints, &work->servers->count);
}

static bool has_servers(const struct work *work)
{
	return work->servers && work->servers->count > 0;
}

/* A row changed by hand, or sealed with another key. He is told that there is nothing for him, as an
 * error would only be asked for again; the operator gives him a new credential. */
static void say_damaged(const struct facts *facts)
{
	log_error("credential_damaged", "user=%" PRId64 " public_id=%s", facts->user.id,
		  log_quote(facts->user.public_id.text));
}

static enum res read_facts(struct conn *conn, int64_t user_id, struct work *work)
{
	struct facts *facts = &work->facts;
	enum res res = user_by_id(conn, user_id, &work->arena, &facts->user);

	if (res != RES_OK)
		return res;
	facts->status = user_status_at(&facts->user, facts->now_unix);
	if (!user_has_access(facts->status))
		return RES_OK;
	res = read_servers(conn, user_id, work);
	if (res != RES_OK || !has_servers(work))
		return res;
	res = user_credential(conn, user_id, facts->now_unix, &work->arena, &facts->credential);
	facts->has_credential = res == RES_OK;
	if (res == RES_CORRUPT)
		say_damaged(facts);
	/* Nothing to present: no server can be used. */
	return res == RES_NOT_FOUND || res == RES_CORRUPT ? RES_OK : res;
}

static enum res read_store(struct work *work, int64_t user_id)
{
	struct conn *conn;
	enum res res = store_read(work->config->store, STORE_PUBLIC, READ_WAIT_MS, &conn);

	if (res != RES_OK)
		return res;
	res = read_facts(conn, user_id, work);
	store_read_end(conn);
	return res;
}

/* --- Secrets --- */

static bool open_obfs(const struct vault *vault, struct servers *servers,
		      struct endpoint *endpoint)
{
	const struct seal_place place = {.table = "profile",
					 .column = "obfs_password_sealed",
					 .public_id = endpoint->profile_public_id.text};
	struct buf plain;
	bool ok;

	if (strcmp(endpoint->obfs, "none") == 0)
		return true;
	buf_init(&plain, CREDENTIAL_MAX);
	ok = vault_open_sealed(vault, &place, endpoint->obfs_password_sealed,
			       endpoint->obfs_password_sealed_len, &plain) == RES_OK &&
	     plain.len > 0;
	if (ok)
		endpoint->obfs_password = arena_dup(&servers->arena, plain.data, plain.len);
	else
		log_error("obfs_password_sealed", "profile=%s", endpoint->profile_public_id.text);
	buf_free_secret(&plain);
	return ok && endpoint->obfs_password;
}

/* A password that does not open takes its server off the list, and the rest is served. */
static void finish_servers(struct work *work)
{
	struct servers *servers = work->servers;
	size_t kept = 0;

	if (!work->fresh)
		return;
	for (size_t i = 0; i < servers->count; i++)
		if (open_obfs(work->config->vault, servers, &servers->endpoints[i]))
			servers->endpoints[kept++] = servers->endpoints[i];
	servers->count = kept;
	if (!work->facts.own_list)
		server_lists_keep(work->lists, servers, work->generation, work->facts.groups,
				  work->facts.group_count);
}

/* --- The page --- */

static const char *reason_of(const struct work *work)
{
	switch (work->facts.status) {
	case USER_DISABLED:
		return "Account disabled";
	case USER_EXPIRED:
		return "Subscription expired";
	case USER_LIMITED:
		return "Traffic limit reached";
	case USER_ON_HOLD:
	case USER_ACTIVE:
	case USER_STATUSES:
		break;
	}
	return "No servers yet";
}

/* Fixed per user, so that the body (and its ETag) is the same at every fetch; of the alphabet that
 * no app misreads, and not base64 as a whole because of the hyphen. */
static const char *stub_token(struct work *work)
{
	uint8_t hash[SHA256_LEN];
	char text[BASE64URL_LEN(15) + 1];
	struct hash_sha256_ctx *ctx = hash_sha256_new();

	hash_sha256_put_text(ctx, "stub", 4);
	hash_sha256_put_text(ctx, work->facts.user.public_id.text, PUBLIC_ID_LEN);
	hash_sha256_end(ctx, hash);
	base64url_encode(hash, 15, text);
	return arena_printf(&work->arena, "%.10s-%s", text, text + 10);
}

static enum res make_stub(struct work *work)
{
	struct sub_server *server = arena_alloc(&work->arena, sizeof *server);

	work->reason = reason_of(work);
	work->page.credential = stub_token(work);
	if (!server || !work->page.credential)
		return RES_NOMEM;
	server->name = work->reason;
	work->page.servers = server;
	work->page.count = 1;
	return RES_OK;
}

static enum res list_servers(struct work *work)
{
	struct facts *facts = &work->facts;
	size_t count = work->servers->count;
	struct names *names = names_new(&work->arena, work->snapshot->settings.name_template,
					&facts->user, facts->now_unix, count);
	struct sub_server *servers = arena_alloc(&work->arena, count * sizeof *servers);

	if (!names || !servers)
		return RES_NOMEM;
	work->page.servers = servers;
	for (size_t i = 0; i < count; i++) {
		const struct endpoint *endpoint = &work->servers->endpoints[i];
		struct sub_server *server = &servers[work->page.count];

		if (!sub_format_takes(work->format, endpoint))
			continue;
		server->endpoint = endpoint;
		server->name = names_next(names, endpoint);
		if (!server->name)
			return RES_NOMEM;
		work->page.count++;
	}
	return RES_OK;
}

static enum res make_page(struct work *work)
{
	struct facts *facts = &work->facts;
	enum res res;

	finish_servers(work);
	if (!has_servers(work) || !facts->has_credential)
		return make_stub(work);
	res = user_credential_text(work->config->vault, &facts->user.public_id, &facts->credential,
				   &work->credential);
	if (res == RES_CORRUPT) {
		say_damaged(facts);
		return make_stub(work);
	}
	if (res != RES_OK)
		return res;
	work->page.credential = work->credential.data;
	res = list_servers(work);
	return res == RES_OK && work->page.count == 0 ? make_stub(work) : res;
}

/* --- The answer --- */

static void put_base64_header(struct reply *reply, const char *name, const char *text)
{
	char value[HEADER_MAX] = "base64:";
	size_t head = strlen(value), len = strlen(text);

	if (len == 0 || BASE64_LEN(len) >= sizeof value - head)
		return;
	base64_encode(text, len, value + head);
	reply_header(reply, name, value);
}

/* Four keys, no trailing ';', whole numbers: what the strictest app reads. */
static void put_userinfo(struct reply *reply, const struct facts *facts)
{
	const struct user_usage *usage = &facts->user.usage;
	bool fresh = user_used_bytes(&facts->user, facts->now_unix) == 0; /* the period is over */
	char value[HEADER_MAX];

	snprintf(value, sizeof value,
		 "upload=%" PRId64 "; download=%" PRId64 "; total=%" PRId64 "; expire=%" PRId64,
		 fresh ? 0 : usage->used_up_bytes, fresh ? 0 : usage->used_down_bytes,
		 facts->user.quota_bytes, facts->user.expires_unix);
	reply_header(reply, "subscription-userinfo", value);
}

static void put_headers(struct work *work, struct reply *reply, const char *etag)
{
	const struct settings *settings = &work->snapshot->settings;
	char hours[24];

	/* People without access are asked back soon, so that a renewal is seen soon. */
	snprintf(hours, sizeof hours, "%" PRId64,
		 work->reason || settings->update_interval_h < 1 ? 1 : settings->update_interval_h);
	put_userinfo(reply, &work->facts);
	put_base64_header(reply, "profile-title", settings->title);
	reply_header(reply, "profile-update-interval", hours);
	if (work->reason)
		put_base64_header(reply, "announce", work->reason);
	reply_header(reply, "Cache-Control", "private, no-store");
	reply_header(reply, "Referrer-Policy", "no-referrer");
	reply_header(reply, "Vary", "User-Agent, Accept, Accept-Encoding");
	reply_header(reply, "ETag", etag);
}

static void etag_of(const struct buf *body, char etag[static CACHE_ETAG_SIZE])
{
	uint8_t hash[SHA256_LEN];
	char hex[HEX_LEN(8) + 1];

	hash_sha256(body->data, body->len, hash);
	hex_encode(hash, 8, hex);
	snprintf(etag, CACHE_ETAG_SIZE, "W/\"%s\"", hex);
}

static enum res make_answer(struct work *work, struct cache_answer *answer)
{
	struct buf body;

	buf_init(&body, SUB_BODY_MAX);
	if (!sub_format_render(work->format, &work->page, &body)) {
		buf_free_secret(&body);
		return RES_NOMEM;
	}
	etag_of(&body, answer->etag);
	answer->reply = reply_body_take(200, work->format->content_type, &body);
	if (reply_status(answer->reply) != 200) {
		reply_unref(answer->reply);
		return RES_NOMEM;
	}
	put_headers(work, answer->reply, answer->etag);
	return RES_OK;
}

enum res sub_render(const struct sub_config *config, struct server_lists *lists,
		    uint64_t generation, int64_t user_id, struct sub_variant variant,
		    struct sub_render *out)
{
	struct work work = {.config = config,
			    .format = &sub_formats[variant.format],
			    .lists = lists,
			    .generation = generation};
	enum res res;

	*out = (struct sub_render){0};
	arena_init(&work.arena, RENDER_ARENA);
	buf_init(&work.credential, CREDENTIAL_MAX);
	work.snapshot = settings_take(config->settings);
	work.facts.now_unix = clock_unix(config->clock);
	if ((res = read_store(&work, user_id)) != RES_OK)
		goto out;
	if ((res = make_page(&work)) != RES_OK)
		goto out;
	if ((res = make_answer(&work, &out->answer)) != RES_OK)
		goto out;
	out->until_unix = user_next_change(&work.facts.user, work.facts.now_unix);
out:
	settings_give(config->settings, work.snapshot);
	servers_give(work.servers);
	buf_free_secret(&work.credential);
	arena_free(&work.arena);
	return res;
}
