/* A listener: libmicrohttpd's daemon with our bounds around it.
 *
 * The order in which the library calls us, for one connection: accept_policy (may refuse),
 * on_connect started; for each request target_seen (the raw request line), handle once after the
 * header, once a piece of the body, once when all is in (and again after a resume), request_done;
 * on_connect closed, and only then close(2) of the descriptor. */
#include "hythe/http/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "edge.h"
#include "hythe/http/limiter.h"
#include "hythe/util/log.h"
#include "hythe/util/num.h"

/* How much of a body beyond the site's limit is read away before the answer, because a client that
 * is still sending when the connection closes never sees the 413. */
#define DROP_MAX ((size_t)1024 * 1024)

static void set_deadline(struct peer *peer, int64_t deadline_ms)
{
	atomic_store_explicit(&peer->deadline_ms, deadline_ms, memory_order_relaxed);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

struct tls_files *http_tls_of(struct MHD_Connection *connection)
{
	struct peer *peer = peer_of(connection);

	return peer ? peer->listener->tls : NULL;
}

/* --- Connections --- */

/* Trusted proxies speak for many; on a loopback listener so does everything on this machine. */
static bool is_counted(const struct http_listener *listener, const struct addr *addr)
{
	if (addr->family == 0 || addr_in(addr, listener->trusted))
		return false;
	return !(listener->loopback && addr_is_loopback(addr));
}

static enum MHD_Result accept_policy(void *ctx, const struct sockaddr *sa, socklen_t len)
{
	struct http_listener *listener = ctx;
	uint8_t network[16];
	struct addr addr;

	(void)len;
	if (atomic_load_explicit(&listener->quiesced, memory_order_relaxed))
		return MHD_NO;
	if (!addr_of_sockaddr(sa, &addr) || !is_counted(listener, &addr))
		return MHD_YES;
	limiter_key_of_network(&addr, network);
	return registry_full(&listener->registry, network) ? MHD_NO : MHD_YES;
}

static struct peer *peer_new(struct http_listener *listener, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *at =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = calloc(1, sizeof *peer);

	if (!peer || !at || !fd) {
		free(peer);
		return NULL;
	}
	peer->listener = listener;
	peer->fd = fd->connect_fd;
	addr_of_sockaddr(at->client_addr, &peer->addr);
	peer->counted = is_counted(listener, &peer->addr);
	limiter_key_of_network(&peer->addr, peer->network);
	peer->proxy = listener->address_header && addr_in(&peer->addr, listener->trusted);
	peer->id_base =
		atomic_fetch_add_explicit(&listener->peers, 1, memory_order_relaxed) * 0x85ebca6bu;
	set_deadline(peer, clock_mono_ms(listener->clock) + HTTP_REQUEST_MS);
	return peer;
}

static void on_connect(void *ctx, struct MHD_Connection *connection, void **context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct http_listener *listener = ctx;
	struct peer *peer = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = peer_new(listener, connection);
		if (*context)
			registry_add(&listener->registry, *context);
	} else if (peer) {
		registry_remove(&listener->registry, peer);
		/* A request that the library gave up before its handler is never said to be done. */
		request_end(&peer->request);
		free(peer);
		*context = NULL;
	}
}

/* --- Requests --- */

/* The library keeps a record of each parameter in the connection's pool and says nothing, not even
 * an error, once the pool is full: the client would wait for the deadline. */
static bool too_many_parameters(const struct request *req)
{
	size_t count = 0;

	for (size_t i = req->query_at; i < req->query_at + req->query_len; i++)
		count += req->target[i] == '&';
	return count > HTTP_PARAMETERS_MAX;
}

/* It takes no answer from us at this point either, so on a plain connection we write one ourselves. */
static void refuse_target(struct request *req)
{
	static const char answer[] = "HTTP/1.1 414 URI Too Long\r\n"
				     "Content-Type: text/html; charset=utf-8\r\n"
				     "Content-Length: 40\r\n"
				     "Connection: close\r\n\r\n"
				     "<html><body>URI Too Long</body></html>\r\n";
	struct peer *peer = req->peer;

	req->refused = true;
	if (!peer->listener->tls)
		send(peer->fd, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(peer->fd, SHUT_WR);
	set_deadline(peer, req->began_ms); /* the next sweep ends it if the library does not */
}

static void *target_seen(void *ctx, const char *target, struct MHD_Connection *connection)
{
	struct http_listener *listener = ctx;
	struct peer *peer = peer_of(connection);
	struct request *req;

	if (!peer) /* no memory for it when the connection came: handle() ends it */
		return NULL;
	req = &peer->request;
	if (!request_begin(req, peer, connection, target))
		return NULL;
	req->began_ms = clock_mono_ms(listener->clock);
	if (too_many_parameters(req))
		refuse_target(req);
	else if (peer->requests > 1) /* the first one's time began with the connection */
		set_deadline(peer, req->began_ms + HTTP_REQUEST_MS);
	return req;
}

static struct reply *refuse_body(struct request *req)
{
	const struct http_site *site = &req->peer->listener->site;
	struct problem problem = {0};
	struct reply *reply;

	if (site->refuse) {
		reply = site->refuse(site->ctx, req);
	} else if (req->body_max == 0) {
		reply = reply_empty(413);
	} else {
		problem_set(&problem, RES_TOO_LARGE, "body_too_large", NULL,
			    "the body may have %zu bytes at most", req->body_max);
		reply = reply_problem(&problem);
	}
	reply_header(reply, "Connection", "close");
	return reply;
}

static enum MHD_Result send_reply(struct request *req, struct reply *reply, int64_t now_ms)
{
	enum MHD_Result ok;

	set_deadline(req->peer, now_ms + HTTP_ANSWER_MS);
	ok = reply_queue(reply, req->connection);
	reply_unref(reply);
	return ok;
}

static void ask_body_max(struct request *req)
{
	const struct http_site *site = &req->peer->listener->site;

	if (req->body_asked)
		return;
	req->body_asked = true;
	req->body_max = site->body_max(site->ctx, req);
	buf_init(&req->body, req->body_max);
}

/* The header is in. A body that says itself that it is far too large is not waited for. */
static enum MHD_Result handle_header(struct request *req, const char *method)
{
	const char *text, *expect;
	uint64_t length;

	request_headers(req, method);
	if (req->method == HTTP_GET || req->method == HTTP_HEAD)
		return MHD_YES; /* the common case costs no look-up; a body, if any, is still
				   bounded */
	text = request_header(req, "Content-Length", NULL);
	if (!text || num_u64(text, strlen(text), UINT64_MAX, &length) != RES_OK || length == 0)
		return MHD_YES;
	ask_body_max(req);
	if (length <= req->body_max)
		return MHD_YES;
	req->too_large = true;
	expect = request_header(req, "Expect", NULL);
	if (!expect && length - req->body_max <= DROP_MAX)
		return MHD_YES; /* read away first */
	return send_reply(req, refuse_body(req), req->began_ms);
}

static enum MHD_Result handle_body(struct request *req, const char *data, size_t *len)
{
	size_t n = *len;

	*len = 0;
	ask_body_max(req);
	if (!req->too_large && n <= req->body_max - req->body.len)
		return buf_put(&req->body, data, n) ? MHD_YES : MHD_NO;
	req->too_large = true;
	req->dropped += n;
	/* In the middle of a body the library takes no answer: all that is left is to hang up. */
	return req->dropped <= req->body_max + DROP_MAX ? MHD_YES : MHD_NO;
}

static void no_longer_handed(struct request *req)
{
	if (req->handed)
		atomic_fetch_sub(&req->peer->listener->handed, 1);
	req->handed = false;
}

static enum MHD_Result handle_whole(struct request *req)
{
	const struct http_site *site = &req->peer->listener->site;
	struct reply *reply = req->answer;

	if (reply) { /* a worker has been at it */
		req->answer = NULL;
		return send_reply(req, reply, clock_mono_ms(req->peer->listener->clock));
	}
	if (req->too_large)
		return send_reply(req, refuse_body(req), req->began_ms + HTTP_REQUEST_MS);
	/* Before serving: a worker may have resumed the request when serve() returns. */
	set_deadline(req->peer, 0);
	req->handed = true;
	atomic_fetch_add(&req->peer->listener->handed, 1);
	reply = site->serve(site->ctx, req);
	if (reply == reply_later())
		return MHD_YES;
	no_longer_handed(req);
	if (!reply)
		return MHD_NO;
	return send_reply(req, reply, req->began_ms + HTTP_REQUEST_MS);
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *len, void **context)
{
	struct request *req = *context;

	(void)ctx;
	(void)connection;
	(void)url;
	(void)version;
	if (!req || req->refused)
		return MHD_NO;
	if (!req->headers_seen)
		return handle_header(req, method);
	if (*len > 0)
		return handle_body(req, data, len);
	return handle_whole(req);
}

static void request_done(void *ctx, struct MHD_Connection *connection, void **context,
			 enum MHD_RequestTerminationCode code)
{
	struct http_listener *listener = ctx;
	struct request *req = *context;

	(void)connection;
	(void)code;
	if (!req)
		return;
	no_longer_handed(req);
	request_end(req);
	set_deadline(req->peer, clock_mono_ms(listener->clock) + HTTP_IDLE_S * 1000);
	*context = NULL;
}

/* What the library says about a peer's nonsense; bounded by the log's own limit. */
static void library_log(void *ctx, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static void library_log(void *ctx, const char *format, va_list args)
{
	struct http_listener *listener = ctx;
	char text[200];

	vsnprintf(text, sizeof text, format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http_library", "listener=%s text=%s", listener->name, log_quote(text));
}

/* --- The listener --- */

static enum res start_daemon(const struct http_config *config, struct http_listener *listener,
			     struct problem *problem)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
			 MHD_USE_ERROR_LOG | (listener->tls ? MHD_USE_TLS : 0);
	/* A copy: whether the library closes the socket of a daemon that did not start depends on
	 * why. */
	int fd = fcntl(listener->listen_fd, F_DUPFD_CLOEXEC, 0);
	struct MHD_OptionItem options[4];
	size_t n = 0;

	if (config->threads > 1) /* a pool of one is a warning */
		options[n++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE,
						       (intptr_t)config->threads, NULL};
	if (listener->tls)
		options[n++] =
			(struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls_callback()};
	options[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	if (fd < 0)
		return problem_set(problem, RES_IO, "listener_failed", "listen",
				   "no descriptor left for %s", listener->address);
	listener->daemon = MHD_start_daemon(
		flags, 0, accept_policy, listener, handle, listener, MHD_OPTION_EXTERNAL_LOGGER,
		library_log, listener, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		config->max_connections ? config->max_connections : HTTP_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADER_MAX,
		MHD_OPTION_NOTIFY_CONNECTION, on_connect, listener, MHD_OPTION_URI_LOG_CALLBACK,
		target_seen, listener, MHD_OPTION_NOTIFY_COMPLETED, request_done, listener,
		MHD_OPTION_ARRAY, options, MHD_OPTION_END);
	if (listener->daemon)
		return RES_OK;
	return problem_set(problem, RES_INTERNAL, "listener_failed", "listen",
			   "the HTTP library did not start on %s", listener->address);
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

enum res http_listener_new(const struct http_config *config, const struct http_site *site,
			   struct http_listener **out, struct problem *problem)
{
	struct http_listener *listener = calloc(1, sizeof *listener);
	enum res res;

	*out = NULL;
	if (!listener || !registry_init(&listener->registry)) {
		free(listener);
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	}
	listener->site = *site;
	listener->listen_fd = -1;
	listener->clock = config->clock;
	listener->trusted = config->trusted_proxies;
	listener->name = copy_of(config->name);
	listener->unix_path = copy_of(config->unix_path);
	listener->address_header = copy_of(config->address_header);
	if (!listener->name || (config->unix_path && !listener->unix_path) ||
	    (config->address_header && !listener->address_header)) {
		res = problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
		goto out;
	}
	if ((res = http_socket_open(config, listener, problem)) != RES_OK)
		goto out;
	if (config->tls_cert && (res = tls_open(config->tls_cert, config->tls_key, config->clock,
						&listener->tls, problem)) != RES_OK)
		goto out;
	if ((res = start_daemon(config, listener, problem)) != RES_OK)
		goto out;
	*out = listener;
out:
	if (res != RES_OK)
		http_listener_free(listener);
	return res;
}

const char *http_listener_address(const struct http_listener *listener)
{
	return listener->address;
}

enum res http_listener_reload_tls(struct http_listener *listener, struct problem *problem)
{
	return listener->tls ? tls_reload(listener->tls, problem) : RES_OK;
}

/* By our own accept policy and not by MHD_quiesce_daemon(): in a pool that is at work it takes the
 * socket out of each thread's epoll set while the thread does the same, and whoever comes second
 * aborts. */
void http_listener_quiesce(struct http_listener *listener)
{
	atomic_store_explicit(&listener->quiesced, true, memory_order_relaxed);
}

void http_listener_drain(struct http_listener *listener, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (atomic_load(&listener->handed) > 0 && clock_mono_ms(listener->clock) < until_ms)
		nanosleep(&pause, NULL);
}

void http_listener_free(struct http_listener *listener)
{
	if (!listener)
		return;
	if (listener->daemon)
		MHD_stop_daemon(listener->daemon);
	if (listener->listen_fd >= 0)
		close(listener->listen_fd);
	if (listener->unix_path && listener->address[0])
		unlink(listener->unix_path);
	tls_free(listener->tls);
	registry_free(&listener->registry);
	free(listener->name);
	free(listener->unix_path);
	free(listener->address_header);
	free(listener);
}

void http_listener_sweep(struct http_listener *listener)
{
	registry_sweep(&listener->registry, clock_mono_ms(listener->clock));
}
