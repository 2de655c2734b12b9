/* http/edge.h – what the files of http/ share: a listener, a connection, the one request on it.
 *
 * A connection carries one request at a time, so the request is part of it: answering costs no
 * allocation of ours while path and query fit in TARGET_INLINE bytes.
 * Threads: a peer and its request belong to the event thread of the connection, and to a worker
 * while the request is suspended; the registry's lock guards what the sweep and the accept limit
 * read. */
#ifndef HYTHE_HTTP_EDGE_H
#define HYTHE_HTTP_EDGE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "hythe/http/server.h"
#include "hythe/util/buf.h"

#define HTTP_CONNECTIONS_MAX 4096
#define HTTP_PER_NETWORK_MAX 64
#define HTTP_HEADER_MAX      8192 /* libmicrohttpd's pool for one connection */
#define HTTP_PARAMETERS_MAX  64
#define HTTP_IDLE_S          15
#define HTTP_REQUEST_MS      10000 /* from the first byte (or the connection) to the whole request */
#define HTTP_ANSWER_MS       60000 /* for a client that reads slowly */
#define HTTP_ARENA_MAX       ((size_t)32 << 20) /* only what a worker fills: the longest list */
#define TARGET_INLINE        128

struct request {
	struct MHD_Connection *connection;
	struct peer *peer;
	uint32_t id;
	enum http_method method;
	const char *method_text;
	char *target; /* the raw request target: target_inline, or allocated when longer */
	size_t path_at, path_len, query_at, query_len;
	bool headers_seen; /* the handler was called once */
	bool body_asked;   /* the site was asked how much it takes */
	bool too_large;
	bool refused; /* answered before the library could: target_seen() */
	bool handed; /* to workers: counted in the listener until the answer is sent */
	size_t body_max, dropped;
	struct buf body;
	struct arena arena;
	struct addr client;
	int64_t began_ms;
	/* While suspended: a place in the workers' queue, and what came of it. */
	struct request *next;
	http_work work;
	void *work_ctx;
	int64_t queued_ms;
	struct reply *answer;
	char target_inline[TARGET_INLINE];
};

struct peer {
	struct http_listener *listener;
	struct addr addr;
	bool counted; /* towards its network's limit */
	bool proxy;   /* trusted: its header says who is asking */
	int fd;       /* open at least until it left the registry */
	uint32_t requests;
	uint32_t id_base;
	_Atomic int64_t deadline_ms; /* 0: none */
	struct peer *prev, *next;    /* registry; guarded by its lock */
	struct peer *same_bucket;    /* guarded by its lock */
	uint8_t network[16];
	struct request request;
};

#define REGISTRY_BUCKETS 1024

struct registry {
	pthread_mutex_t lock; /* leaf */
	struct peer *first;
	struct peer *buckets[REGISTRY_BUCKETS];
	uint64_t seed;
};

bool registry_init(struct registry *registry);
void registry_free(struct registry *registry);
bool registry_full(struct registry *registry, const uint8_t network[16]); /* no more from there */
void registry_add(struct registry *registry, struct peer *peer);
void registry_remove(struct registry *registry, struct peer *peer);
void registry_sweep(struct registry *registry, int64_t now_ms);

struct tls_files; /* http/tls.c */

struct http_listener {
	struct MHD_Daemon *daemon;
	struct http_site site;
	char *name, *unix_path;
	char *address_header;
	char address[160];
	const struct addr_net_list *trusted;
	const struct clock *clock;
	struct tls_files *tls; /* NULL: plain */
	bool loopback;         /* listens on a loopback address */
	atomic_bool quiesced;  /* nobody new is let in */
	int listen_fd;
	atomic_uint peers;  /* since start; for request ids */
	atomic_uint handed; /* requests that are with workers, or on the way back from them */
	struct registry registry;
};

/* http/socket.c: a listening socket for the configuration; `address` as it is shown. */
enum res http_socket_open(const struct http_config *config, struct http_listener *listener,
			  struct problem *problem);

/* http/request.c */
bool request_begin(struct request *req, struct peer *peer, struct MHD_Connection *connection,
		   const char *target);
void request_headers(struct request *req, const char *method);
void request_end(struct request *req);
/* request_param() on bare text: the value of `name`, decoded into the arena. */
const char *query_param(const char *query, size_t len, const char *name, struct arena *arena,
			bool *bad);

/* http/reply.c */
enum MHD_Result reply_queue(struct reply *reply, struct MHD_Connection *connection);
void reply_headers_each(const struct reply *reply, MHD_KeyValueIterator each, void *ctx);

/* http/tls.c */
enum res tls_open(const char *cert, const char *key, const struct clock *clock,
		  struct tls_files **out, struct problem *problem);
enum res tls_reload(struct tls_files *tls, struct problem *problem);
void tls_free(struct tls_files *tls);
void *tls_callback(void); /* for MHD_OPTION_HTTPS_CERT_CALLBACK */
struct tls_files *http_tls_of(struct MHD_Connection *connection);

#endif
