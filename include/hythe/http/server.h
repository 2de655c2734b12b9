/* http/server.h – listeners on libmicrohttpd: from a socket to a whole request and back.
 *
 * A listener owns its event threads. For each request the site is asked twice: for the longest body
 * it will take (when the header is in) and for the answer (when everything is in). `serve` runs on
 * the event thread: what would wait returns reply_later() after handing the request to workers.
 *
 * What is bounded here, because libmicrohttpd does not: 4,096 connections a listener, 64 per client
 * network (trusted proxies, loopback peers on a loopback listener and unix sockets do not count),
 * 10 s for a complete request (a deadline that single bytes do not move), idle connections 15 s,
 * the header 8 KiB.
 *
 * Order of stopping: http_listener_quiesce() (nobody new is accepted), answer what is suspended and
 * join the workers, http_listener_drain() (those answers are sent), then http_listener_free():
 * stopping a daemon with a suspended connection aborts. Threads: new/free by the owner; request_resume() from any thread. */
#ifndef HYTHE_HTTP_SERVER_H
#define HYTHE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "hythe/http/reply.h"
#include "hythe/http/request.h"
#include "hythe/util/addr.h"
#include "hythe/util/clock.h"

struct http_site {
	void *ctx;
	/* How many bytes of body may come (0: none; more is answered 413 and closed). */
	size_t (*body_max)(void *ctx, const struct request *req);
	struct reply *(*serve)(void *ctx, struct request *req);
	/* The answer to a body that is too large, a fresh one, since `Connection: close` is added
	 * to it. NULL: a problem where bodies may come, else a bare 413 (so that a path without an
	 * API does not answer like one). */
	struct reply *(*refuse)(void *ctx, const struct request *req);
};

struct http_config {
	/* Text is copied; proxies and clock are lent for the listener's life. */
	const char *name;      /* for the log: "public", "admin", "control" */
	const char *listen;    /* "127.0.0.1:8080"; or NULL with unix_path */
	const char *unix_path; /* created 0600 after an old socket is removed */
	unsigned threads;
	const struct addr_net_list *trusted_proxies;
	const char *address_header;     /* "X-Forwarded-For"; NULL: the peer counts */
	const char *tls_cert, *tls_key; /* files; both or neither */
	const struct clock *clock;
	unsigned max_connections; /* 0: 4096 */
};

struct http_listener;
enum res http_listener_new(const struct http_config *config, const struct http_site *site,
			   struct http_listener **out, struct problem *problem);
/* The address it listens on as text ("127.0.0.1:8080"; the port chosen when 0 was asked). */
const char *http_listener_address(const struct http_listener *listener);
enum res http_listener_reload_tls(struct http_listener *listener,
				  struct problem *problem); /* SIGHUP */
void http_listener_quiesce(struct http_listener *listener);
/* Waits until what was handed to workers is sent, or its client is gone; until `until_ms` (of the
 * listener's monotonic clock) at most, for those who do not read. */
void http_listener_drain(struct http_listener *listener, int64_t until_ms);
void http_listener_free(struct http_listener *listener);
/* Closes connections past their deadline; called by the timer thread about once a second. */
void http_listener_sweep(struct http_listener *listener);

/* --- Workers: a few threads for what must not run on an event thread --- */
struct http_workers;
typedef struct reply *(*http_work)(void *ctx, struct request *req);
enum res http_workers_new(unsigned threads, unsigned queue_max, struct http_workers **out);
/* Suspends the request; a worker calls work() and resumes it with the reply. Returns reply_later(),
 * or a 503 with Retry-After when the queue is full (or waited 250 ms at its head: `work` is not
 * run). */
struct reply *http_workers_hand(struct http_workers *workers, struct request *req, http_work work,
				void *ctx);
void http_workers_free(struct http_workers *workers); /* runs what is queued, then joins */

#endif
