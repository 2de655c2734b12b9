#include "hythe/http/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "edge.h"
#include "hythe/util/text.h"

#define TAGS_MAX 2048 /* of If-None-Match; more than that names nothing */

/* --- The request line --- */

/* "http://host/path" may stand in any request (RFC 9112, 3.2.2): the path begins after the host. */
static size_t skip_authority(const char *target)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		size_t len = strlen(schemes[i]);

		if (strncasecmp(target, schemes[i], len) == 0)
			return len + strcspn(target + len, "/?");
	}
	return 0;
}

static void split_target(struct request *req, size_t len)
{
	const char *query;

	req->path_at = req->target[0] == '/' ? 0 : skip_authority(req->target);
	query = memchr(req->target + req->path_at, '?', len - req->path_at);
	req->path_len = (query ? (size_t)(query - req->target) : len) - req->path_at;
	req->query_at = query ? req->path_at + req->path_len + 1 : len;
	req->query_len = len - req->query_at;
}

bool request_begin(struct request *req, struct peer *peer, struct MHD_Connection *connection,
		   const char *target)
{
	size_t len = target ? strlen(target) : 0;

	request_end(req); /* of one before it that never came to its handler, something may be left */
	memset(req, 0, offsetof(struct request, target_inline));
	req->connection = connection;
	req->peer = peer;
	req->id = peer->id_base + ++peer->requests * 0x9e3779b1u;
	req->target = len < TARGET_INLINE ? req->target_inline : malloc(len + 1);
	if (!req->target) { /* the handler ends the connection */
		req->target = req->target_inline;
		req->target[0] = '\0';
		return false;
	}
	if (len > 0)
		memcpy(req->target, target, len);
	req->target[len] = '\0';
	split_target(req, len);
	return true;
}

static enum http_method method_of(const char *text)
{
	static const char *const words[] = {
		[HTTP_GET] = "GET", [HTTP_HEAD] = "HEAD",   [HTTP_POST] = "POST",
		[HTTP_PUT] = "PUT", [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE",
	};

	for (int i = HTTP_GET; i < HTTP_OTHER; i++)
		if (strcmp(text, words[i]) == 0)
			return (enum http_method)i;
	return HTTP_OTHER;
}

static void read_proxied_client(struct request *req)
{
	const struct http_listener *listener = req->peer->listener;
	char joined[HTTP_HEADER_MAX]; /* the whole header has no more */

	if (request_header_joined(req, listener->address_header, joined, sizeof joined))
		req->client = client_address(&req->peer->addr, joined, listener->trusted);
}

void request_headers(struct request *req, const char *method)
{
	req->headers_seen = true;
	req->method_text = method;
	req->method = method_of(method);
	req->client = req->peer->addr;
	if (req->peer->proxy)
		read_proxied_client(req);
}

void request_end(struct request *req)
{
	buf_free_secret(&req->body); /* passwords and credentials come in bodies */
	arena_free(&req->arena);
	reply_unref(req->answer);
	req->answer = NULL;
	if (req->target != req->target_inline)
		free(req->target);
	req->target = req->target_inline;
}

/* --- What handlers ask --- */

uint32_t request_id(const struct request *req)
{
	return req->id;
}

enum http_method request_method(const struct request *req)
{
	return req->method;
}

const char *request_method_text(const struct request *req)
{
	return req->method_text;
}

const char *request_path(const struct request *req, size_t *len)
{
	if (req->path_len == 0) { /* "http://host" */
		*len = 1;
		return "/";
	}
	if (req->target[req->path_at] != '/') { /* "*", "host:port" */
		*len = 2;
		return "/*";
	}
	*len = req->path_len;
	return req->target + req->path_at;
}

const char *request_query(const struct request *req, size_t *len)
{
	*len = req->query_len;
	return req->target + req->query_at;
}

struct one_header {
	const char *name, *value;
	size_t name_len;
	unsigned count;
};

static enum MHD_Result find_header(void *ctx, enum MHD_ValueKind kind, const char *name,
				   size_t name_len, const char *value, size_t value_len)
{
	struct one_header *one = ctx;

	(void)kind;
	(void)value_len;
	if (name_len == one->name_len && strncasecmp(name, one->name, name_len) == 0) {
		one->value = value ? value : "";
		one->count++;
	}
	return MHD_YES;
}

const char *request_header(const struct request *req, const char *name, bool *twice)
{
	struct one_header one = {.name = name, .name_len = strlen(name)};

	MHD_get_connection_values_n(req->connection, MHD_HEADER_KIND, find_header, &one);
	if (twice)
		*twice = one.count > 1;
	return one.count == 1 ? one.value : NULL;
}

struct joined_header {
	const char *name;
	size_t name_len;
	char *out;
	size_t size, len;
	bool cut;
};

static void joined_put(struct joined_header *joined, const char *text, size_t len)
{
	if (joined->cut || len >= joined->size - joined->len) {
		joined->cut = true;
		return;
	}
	memcpy(joined->out + joined->len, text, len);
	joined->len += len;
	joined->out[joined->len] = '\0';
}

static enum MHD_Result join_header(void *ctx, enum MHD_ValueKind kind, const char *name,
				   size_t name_len, const char *value, size_t value_len)
{
	struct joined_header *joined = ctx;

	(void)kind;
	if (name_len != joined->name_len || strncasecmp(name, joined->name, name_len) != 0)
		return MHD_YES;
	if (joined->len > 0)
		joined_put(joined, ", ", 2);
	if (value)
		joined_put(joined, value, value_len);
	return MHD_YES;
}

bool request_header_joined(const struct request *req, const char *name, char *out, size_t size)
{
	struct joined_header joined = {
		.name = name, .name_len = strlen(name), .out = out, .size = size};

	out[0] = '\0';
	MHD_get_connection_values_n(req->connection, MHD_HEADER_KIND, join_header, &joined);
	return !joined.cut;
}

char *request_body(struct request *req, size_t *len)
{
	*len = req->body.len;
	return req->body.len > 0 ? req->body.data : NULL;
}

const struct addr *request_client(const struct request *req)
{
	return &req->client;
}

struct arena *request_arena(struct request *req)
{
	if (req->arena.max == 0)
		arena_init(&req->arena, HTTP_ARENA_MAX);
	return &req->arena;
}

/* --- If-None-Match --- */

static const char *skip_weak(const char *tag)
{
	return tag[0] == 'W' && tag[1] == '/' ? tag + 2 : tag;
}

bool etag_listed(const char *list, const char *etag)
{
	const char *opaque = skip_weak(etag);
	size_t len = strlen(opaque);
	const char *at = list;

	for (;;) {
		at += strspn(at, " \t,");
		if (!*at)
			return false;
		if (*at == '*')
			return true;
		at = skip_weak(at);
		if (*at != '"')
			return false; /* not a list of tags: compare nothing further */
		if (strncmp(at, opaque, len) == 0)
			return true;
		at = strchr(at + 1, '"');
		if (!at)
			return false;
		at++;
	}
}

bool request_knows(const struct request *req, const char *etag)
{
	char list[TAGS_MAX];

	return request_header_joined(req, "If-None-Match", list, sizeof list) &&
	       etag_listed(list, etag);
}

/* --- Query parameters --- */

#define PARAM_NAME_MAX 64

static bool name_is(const char *text, size_t len, const char *name)
{
	char decoded[PARAM_NAME_MAX];
	size_t decoded_len;

	return text_percent_decode(text, len, true, decoded, sizeof decoded, &decoded_len) &&
	       strlen(name) == decoded_len && memcmp(decoded, name, decoded_len) == 0;
}

static const char *decode_param(struct arena *arena, const char *text, size_t len)
{
	char *out = arena_alloc(arena, len + 1);
	size_t out_len;

	return out && text_percent_decode(text, len, true, out, len + 1, &out_len) ? out : NULL;
}

const char *query_param(const char *query, size_t len, const char *name, struct arena *arena,
			bool *bad)
{
	const char *end = query + len, *next, *value = NULL;
	bool wrong = false;
	unsigned count = 0;

	for (const char *at = query; at < end; at = next + (next < end)) {
		const char *equals;

		next = memchr(at, '&', (size_t)(end - at));
		if (!next)
			next = end;
		equals = memchr(at, '=', (size_t)(next - at));
		if (!equals)
			equals = next;
		if (!name_is(at, (size_t)(equals - at), name) || ++count > 1)
			continue;
		if (equals < next)
			equals++;
		value = decode_param(arena, equals, (size_t)(next - equals));
		wrong = !value;
	}
	if (bad)
		*bad = wrong || count > 1;
	return count == 1 ? value : NULL;
}

const char *request_param(struct request *req, const char *name, bool *bad)
{
	if (bad)
		*bad = false;
	if (req->query_len == 0)
		return NULL;
	return query_param(req->target + req->query_at, req->query_len, name, request_arena(req),
			   bad);
}
