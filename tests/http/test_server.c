/* A listener as its clients see it: request lines, bodies, limits, deadlines, workers, stopping. */
#include "hythe/http/server.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "wire.h"

#define HOST "Host: example.net\r\n"

struct gate { /* holds workers until the test lets them go */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool open;
	unsigned inside;
	unsigned handed; /* requests that reached the queue */
};

struct bench {
	_Atomic int64_t mono_ms; /* moved by the test while event threads read it */
	struct clock clock;
	struct addr_net trusted[1];
	struct addr_net_list proxies;
	struct http_config config;
	struct http_site site;
	struct http_listener *listener;
	struct http_workers *workers;
	struct gate gate;
	const char *address;
};

static struct reply *echo(struct request *req)
{
	size_t path_len, query_len, body_len;
	const char *path = request_path(req, &path_len), *query = request_query(req, &query_len);
	const char *body = request_body(req, &body_len);
	char client[ADDR_TEXT_MAX], joined[256];
	bool twice, bad;
	const char *x = request_header(req, "X-One", &twice);
	const char *a = request_param(req, "a", &bad);
	struct reply *reply;
	struct buf out;

	addr_print(request_client(req), client);
	request_header_joined(req, "x-one", joined, sizeof joined);
	buf_init(&out, 65536);
	buf_printf(
		&out,
		"%s path=%.*s query=%.*s body=%.*s client=%s one=%s twice=%d joined=%s a=%s bad=%d",
		request_method_text(req), (int)path_len, path, (int)query_len, query, (int)body_len,
		body ? body : "", client, x ? x : "-", twice, joined, a ? a : "-", bad);
	reply = reply_body_take(200, "text/plain", &out);
	reply_header(reply, "X-Test", "yes");
	if (path_len == 4 && memcmp(path, "/bad", 4) == 0)
		reply_header(reply, "X-Bad", "no\r\nX-Evil: 1");
	return reply;
}

static struct reply *work(void *ctx, struct request *req)
{
	struct gate *gate = ctx;

	pthread_mutex_lock(&gate->lock);
	gate->inside++;
	pthread_cond_broadcast(&gate->moved);
	while (!gate->open)
		pthread_cond_wait(&gate->moved, &gate->lock);
	gate->inside--;
	pthread_mutex_unlock(&gate->lock);
	return echo(req);
}

static struct reply *hand(struct bench *bench, struct request *req)
{
	struct reply *reply = http_workers_hand(bench->workers, req, work, &bench->gate);

	pthread_mutex_lock(&bench->gate.lock);
	bench->gate.handed++;
	pthread_cond_broadcast(&bench->gate.moved);
	pthread_mutex_unlock(&bench->gate.lock);
	return reply;
}

static struct reply *site_serve(void *ctx, struct request *req)
{
	struct bench *bench = ctx;
	size_t len;
	const char *path = request_path(req, &len);
	static const char page[] = "static page";

	if (len >= 5 && memcmp(path, "/work", 5) == 0)
		return hand(bench, req);
	if (len == 7 && memcmp(path, "/static", 7) == 0)
		return reply_static(404, "text/html", page, sizeof page - 1);
	return echo(req);
}

static size_t site_body_max(void *ctx, const struct request *req)
{
	size_t len;
	const char *path = request_path(req, &len);

	(void)ctx;
	return len >= 4 && memcmp(path, "/api", 4) == 0 ? 1000 : 0;
}

static int64_t bench_clock(void *ctx)
{
	struct bench *bench = ctx;

	return atomic_load(&bench->mono_ms);
}

static struct bench *bench_new(const char *listen, unsigned threads)
{
	struct bench *bench = calloc(1, sizeof *bench);

	bench->mono_ms = 1000000;
	bench->clock = (struct clock){bench_clock, bench_clock, bench};
	bench->site = (struct http_site){bench, site_body_max, site_serve, NULL};
	bench->config = (struct http_config){
		.name = "test", .listen = listen, .threads = threads, .clock = &bench->clock};
	bench->gate =
		(struct gate){.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
	return bench;
}

static void bench_start(struct bench *bench)
{
	struct problem problem = {0};

	if (http_listener_new(&bench->config, &bench->site, &bench->listener, &problem) != RES_OK)
		TEST_FAIL("no listener: %s", problem.detail);
	bench->address = http_listener_address(bench->listener);
}

static struct bench *bench_run(const char *listen, unsigned threads)
{
	struct bench *bench = bench_new(listen, threads);

	bench_start(bench);
	return bench;
}

static void bench_end(struct bench *bench)
{
	if (bench->listener)
		http_listener_quiesce(bench->listener);
	http_workers_free(bench->workers);
	http_listener_free(bench->listener);
	free(bench);
}

static void test_request_lines(void)
{
	static const struct {
		const char *line, *want; /* the beginning of the echo */
	} rows[] = {
		{"GET / HTTP/1.1",                        "GET path=/ query= body="              },
		{"GET /a/b?a=1 HTTP/1.1",                 "GET path=/a/b query=a=1 body="        },
		{"GET /a%2fb%00c?x=%00 HTTP/1.1",         "GET path=/a%2fb%00c query=x=%00 body="},
		{"GET //a/../b?q?r=#f HTTP/1.1",          "GET path=//a/../b query=q?r=#f body=" },
		{"GET http://other.example/x?y HTTP/1.1", "GET path=/x query=y body="            },
		{"GET https://other.example HTTP/1.1",    "GET path=/ query= body="              },
		{"GET http://other.example?y HTTP/1.1",   "GET path=/ query=y body="             },
		{"OPTIONS * HTTP/1.1",                    "OPTIONS path=/* query= body="         },
		{"DELETE /a HTTP/1.1",                    "DELETE path=/a query= body="          },
		{"PATCH /a? HTTP/1.1",                    "PATCH path=/a query= body="           },
		{"GET /\xff\xfe HTTP/1.1",                "GET path=/\xff\xfe query= body="      },
	};
	struct bench *bench = bench_run("127.0.0.1:0", 1);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct answer answer;
		char request[512];

		snprintf(request, sizeof request, "%s\r\n" HOST "\r\n", rows[i].line);
		wire_ask(bench->address, request, &answer);
		if (strncmp(wire_body(&answer), rows[i].want, strlen(rows[i].want)) != 0)
			TEST_FAIL("%s: %s", rows[i].line, wire_body(&answer));
	}
	bench_end(bench);
}

static void test_long_target(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	char request[4096] = "GET /";
	struct answer answer;

	memset(request + 5, 'x', 3000);
	strcpy(request + 3005, "?a=b%20c+d HTTP/1.1\r\n" HOST "\r\n");
	wire_ask(bench->address, request, &answer);
	CHECK_INT(answer.status, 200);
	CHECK(strstr(wire_body(&answer), "xxx query=a=b%20c+d") != NULL);
	CHECK(strstr(wire_body(&answer), "a=b c d bad=0") != NULL);
	bench_end(bench);
}

static void test_params(void)
{
	static const struct {
		const char *query, *want;
	} rows[] = {
		{"a=1",       "a=1 bad=0"  },
		{"b=1",       "a=- bad=0"  },
		{"",          "a=- bad=0"  },
		{"a",         "a= bad=0"   },
		{"a=",        "a= bad=0"   },
		{"a=1&a=2",   "a=- bad=1"  },
		{"a=%41%20b", "a=A b bad=0"},
		{"%61=x",     "a=x bad=0"  },
		{"a=%4",      "a=- bad=1"  },
		{"a=%zz",     "a=- bad=1"  },
		{"a=%00",     "a=- bad=1"  },
		{"x=1&&a=y",  "a=y bad=0"  },
		{"aa=1&ab=2", "a=- bad=0"  },
		{"a=1=2",     "a=1=2 bad=0"},
		{"&a=1&",     "a=1 bad=0"  },
		{"a=x&%61=y", "a=- bad=1"  },
		{"a=%4&a=1",  "a=- bad=1"  },
	};
	struct bench *bench = bench_run("127.0.0.1:0", 1);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct answer answer;
		char request[512];

		snprintf(request, sizeof request, "GET /q?%s HTTP/1.1\r\n" HOST "\r\n",
			 rows[i].query);
		wire_ask(bench->address, request, &answer);
		if (!strstr(wire_body(&answer), rows[i].want))
			TEST_FAIL("%s: %s", rows[i].query, wire_body(&answer));
	}
	bench_end(bench);
}

static void test_keep_alive_and_headers(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 2);
	int fd = wire_open(bench->address);
	struct answer answer;
	char value[64];

	for (int i = 0; i < 50; i++) { /* the answer is queued late, so the connection lives on */
		wire_send(fd, "GET /a HTTP/1.1\r\n" HOST "X-One: 1\r\n\r\n");
		CHECK(wire_read(fd, &answer, false));
		CHECK_INT(answer.status, 200);
		CHECK(strstr(wire_body(&answer), "one=1 twice=0 joined=1 ") != NULL);
	}
	wire_send(fd, "GET /a HTTP/1.1\r\n" HOST "X-One: 1\r\nx-one: 2\r\n\r\n"
		      "POST /api HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc");
	CHECK(wire_read(fd, &answer, false));
	CHECK(strstr(wire_body(&answer), "one=- twice=1 joined=1, 2 ") != NULL);
	CHECK(wire_read(fd, &answer, false)); /* pipelined */
	CHECK(strstr(wire_body(&answer), "body=abc ") != NULL);
	CHECK(wire_header(&answer, "X-Test", value, sizeof value));
	CHECK(!wire_header(&answer, "Server", value, sizeof value));
	CHECK(wire_header(&answer, "Date", value, sizeof value));
	wire_send(fd, "GET /bad HTTP/1.1\r\n" HOST "\r\n"); /* a value that would be two headers */
	CHECK(wire_read(fd, &answer, false));
	CHECK(!wire_header(&answer, "X-Bad", value, sizeof value));
	CHECK(!wire_header(&answer, "X-Evil", value, sizeof value));
	close(fd);
	bench_end(bench);
}

/* HEAD answers what GET does, without the body. */
static void test_b035_head(void)
{
	static const char *const paths[] = {"/a", "/static", "/work"};
	struct bench *bench = bench_run("127.0.0.1:0", 1);

	bench->gate.open = true;
	CHECK_INT(http_workers_new(1, 8, &bench->workers), RES_OK);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"Content-Length", "Content-Type", "X-Test"};
		int fd = wire_open(bench->address);
		struct answer get, head;
		char request[128], a[64], b[64];

		snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
		wire_send(fd, request);
		CHECK(wire_read(fd, &head, true));
		snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
		wire_send(fd, request);
		CHECK(wire_read(fd, &get, false)); /* no stray bytes of a body in between */
		CHECK_INT(head.status, get.status);
		for (size_t n = 0; n < 3; n++) {
			bool there = wire_header(&get, names[n], a, sizeof a);

			CHECK(there == wire_header(&head, names[n], b, sizeof b));
			if (there && n > 0)
				CHECK_TEXT(a, b); /* the echo names the method, so lengths differ by
						     one */
		}
		close(fd);
	}
	bench_end(bench);
}

static void post(const char *address, const char *path, size_t len, const char *more,
		 struct answer *answer, bool *closed)
{
	int fd = wire_open(address);
	char head[256], *body = malloc(len + 1);

	memset(body, 'x', len);
	body[len] = '\0';
	snprintf(head, sizeof head, "POST %s HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n%s\r\n",
		 path, len, more);
	wire_send(fd, head);
	if (!*more)
		wire_send(fd, body);
	if (!wire_read(fd, answer, false))
		answer->status = 0;
	*closed = answer->status == 413 && wire_closed(fd);
	free(body);
	close(fd);
}

static void test_bodies(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	struct answer answer;
	char value[64];
	bool closed;

	post(bench->address, "/api", 1000, "", &answer, &closed);
	CHECK_INT(answer.status, 200);
	post(bench->address, "/api", 1001, "", &answer, &closed);
	CHECK_INT(answer.status, 413);
	CHECK(closed);
	CHECK(wire_header(&answer, "Content-Type", value, sizeof value));
	CHECK_TEXT(value, "application/problem+json");
	CHECK(strstr(wire_body(&answer), "\"code\":\"body_too_large\"") != NULL);
	post(bench->address, "/api", 500000, "", &answer, &closed); /* read away, then answered */
	CHECK_INT(answer.status, 413);
	post(bench->address, "/api", 2000, "Expect: 100-continue\r\n", &answer, &closed);
	CHECK_INT(answer.status, 413); /* before a byte of it is sent */
	CHECK(closed);
	post(bench->address, "/other", 1, "", &answer, &closed); /* no API there, so none shows */
	CHECK_INT(answer.status, 413);
	CHECK_TEXT(wire_body(&answer), "");
	CHECK(!wire_header(&answer, "Content-Type", value, sizeof value));
	bench_end(bench);
}

static void test_body_far_too_large(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	int fd = wire_open(bench->address);
	struct answer answer;

	wire_send(fd, "PUT /api HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n");
	CHECK(wire_read(fd, &answer, false)); /* nothing of it is waited for */
	CHECK_INT(answer.status, 413);
	CHECK(wire_closed(fd));
	close(fd);
	bench_end(bench);
}

static void test_chunked_bodies(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	char chunk[4200] = "1000\r\n";
	struct answer answer;
	int fd;

	wire_ask(bench->address,
		 "POST /api HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
		 "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
		 &answer);
	CHECK(strstr(wire_body(&answer), "body=abcde ") != NULL);
	memset(chunk + 6, 'x', 4096);
	strcpy(chunk + 6 + 4096, "\r\n");
	fd = wire_open(bench->address);
	wire_send(fd, "POST /api HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	wire_send(fd, chunk);
	wire_send(fd, "0\r\n\r\n");
	CHECK(wire_read(fd, &answer, false));
	CHECK_INT(answer.status, 413);
	close(fd);
	fd = wire_open(bench->address);
	wire_send(fd, "GET /api HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 300; i++) /* endless: hung up on after about a MiB */
		wire_send(fd, chunk);
	CHECK(!wire_read(fd, &answer, false));
	close(fd);
	bench_end(bench);
}

static void test_proxy_header(void)
{
	struct bench *bench = bench_new("127.0.0.1:0", 1);
	struct answer answer;

	CHECK(addr_net_parse("127.0.0.1", &bench->trusted[0]));
	bench->proxies = (struct addr_net_list){bench->trusted, 1};
	bench->config.trusted_proxies = &bench->proxies;
	bench->config.address_header = "X-Forwarded-For";
	bench_start(bench);
	wire_ask(bench->address,
		 "GET /a HTTP/1.1\r\n" HOST "X-Forwarded-For: 203.0.113.9\r\n"
		 "x-forwarded-for: 198.51.100.7, 127.0.0.1\r\nX-Real-IP: 192.0.2.1\r\n\r\n",
		 &answer);
	CHECK(strstr(wire_body(&answer), "client=198.51.100.7 ") != NULL);
	wire_ask(bench->address, "GET /a HTTP/1.1\r\n" HOST "Forwarded: for=192.0.2.1\r\n\r\n",
		 &answer);
	CHECK(strstr(wire_body(&answer), "client=127.0.0.1 ") != NULL);
	bench_end(bench);
}

static void test_network_limit(void)
{
	struct bench *bench = bench_run("0.0.0.0:0", 1);
	char address[64];
	struct answer answer;
	int fds[65];

	snprintf(address, sizeof address, "127.0.0.1%s", strchr(bench->address, ':'));
	for (size_t i = 0; i < 64; i++) {
		fds[i] = wire_open(address);
		wire_send(fds[i], "GET /a HTTP/1.1\r\n" HOST "\r\n");
		CHECK(wire_read(fds[i], &answer, false));
	}
	fds[64] = wire_open(address);
	wire_send(fds[64], "GET /a HTTP/1.1\r\n" HOST "\r\n");
	CHECK(wire_closed(fds[64]));
	wire_send(fds[0], "GET /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
	CHECK(wire_read(fds[0], &answer, false)); /* who is in goes on */
	CHECK(wire_closed(fds[0]));
	for (size_t i = 0; i < 65; i++)
		close(fds[i]);
	bench_end(bench);
}

/* On a loopback listener the peers are this machine's own: proxies, scripts, the benchmark. */
/* Whoever comes when all places are taken waits until one is free. */
static void test_connection_bound(void)
{
	struct bench *bench = bench_new("127.0.0.1:0", 1);
	struct pollfd late = {.events = POLLIN};
	struct answer answer;
	int fds[8];

	bench->config.max_connections = 8;
	bench_start(bench);
	for (size_t i = 0; i < 8; i++) {
		fds[i] = wire_open(bench->address);
		wire_send(fds[i], "GET /a HTTP/1.1\r\n" HOST "\r\n");
		CHECK(wire_read(fds[i], &answer, false));
		CHECK_INT(answer.status, 200);
	}
	late.fd = wire_open(bench->address);
	wire_send(late.fd, "GET /late HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(poll(&late, 1, 200), 0);
	close(fds[0]);
	CHECK(wire_read(late.fd, &answer, false));
	CHECK_INT(answer.status, 200);
	CHECK(strstr(wire_body(&answer), "path=/late") != NULL);
	for (size_t i = 1; i < 8; i++)
		close(fds[i]);
	close(late.fd);
	bench_end(bench);
}

static void test_loopback_is_not_limited(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	struct answer answer;
	int fds[100];

	for (size_t i = 0; i < 100; i++) {
		fds[i] = wire_open(bench->address);
		wire_send(fds[i], "GET /a HTTP/1.1\r\n" HOST "\r\n");
		CHECK(wire_read(fds[i], &answer, false));
	}
	for (size_t i = 0; i < 100; i++)
		close(fds[i]);
	bench_end(bench);
}

static void test_deadlines(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	int slow = wire_open(bench->address), good;
	struct answer answer;

	wire_send(slow, "GET /a HTTP/1.1\r\nHost: exa");
	good = wire_open(
		bench->address); /* one event thread: when this is served, the slow one is known */
	wire_send(good, "GET /a HTTP/1.1\r\n" HOST "\r\n");
	CHECK(wire_read(good, &answer, false));
	bench->mono_ms += 9999;
	http_listener_sweep(bench->listener);
	wire_send(slow, "mple"); /* a byte moves nothing */
	wire_send(good, "GET /a HTTP/1.1\r\n" HOST "\r\n");
	CHECK(wire_read(good, &answer, false)); /* not cut: it came after */
	bench->mono_ms += 1;
	http_listener_sweep(bench->listener);
	CHECK(wire_closed(slow));
	wire_send(good, "GET /a HTTP/1.1\r\n" HOST "\r\n");
	CHECK(wire_read(good, &answer, false));
	wire_send(good, "POST /api HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\n12345");
	bench->mono_ms += 61000;
	http_listener_sweep(bench->listener);
	CHECK(wire_closed(good));
	close(slow);
	close(good);
	bench_end(bench);
}

/* More parameters than the library has room for: it would say nothing at all until the deadline.
 * And what was kept of such a request is given back when the client goes first (ASan looks on). */
static void test_too_many_parameters(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	char request[2048] = "GET /a?";
	int first = wire_open(bench->address), second = wire_open(bench->address);
	struct answer answer;

	for (int i = 0; i < 400; i++)
		memcpy(request + 7 + i * 4, "a=1&", 4);
	strcpy(request + 7 + 1600, " HTTP/1.1\r\n" HOST "\r\n");
	wire_send(first, request);
	wire_send(second, request);
	close(second);
	wire_ask(bench->address, "GET /a HTTP/1.1\r\n" HOST "\r\n", &answer); /* they are known */
	CHECK_INT(answer.status, 200);
	CHECK(wire_read(first, &answer, false));
	CHECK_INT(answer.status, 414);
	http_listener_sweep(bench->listener);
	CHECK(wire_closed(first));
	close(first);
	bench_end(bench);
}

static void gate_wait(struct gate *gate, unsigned inside)
{
	pthread_mutex_lock(&gate->lock);
	while (gate->inside < inside)
		pthread_cond_wait(&gate->moved, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

/* As many requests have come to the workers' queue: what is still on its way in is not counted. */
static void gate_wait_handed(struct gate *gate, unsigned handed)
{
	pthread_mutex_lock(&gate->lock);
	while (gate->handed < handed)
		pthread_cond_wait(&gate->moved, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

static void gate_open(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->moved);
	pthread_mutex_unlock(&gate->lock);
}

/* Suspended requests hold up nobody, have no deadline, and come back with their answer. */
static void test_workers(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	struct answer answer;
	int held, other;

	CHECK_INT(http_workers_new(1, 8, &bench->workers), RES_OK);
	held = wire_open(bench->address);
	wire_send(held, "GET /work?n=1 HTTP/1.1\r\n" HOST "\r\n");
	gate_wait(&bench->gate, 1);
	other = wire_open(bench->address);
	wire_send(other, "GET /a HTTP/1.1\r\n" HOST "\r\n");
	CHECK(wire_read(other, &answer, false));
	bench->mono_ms += 600000;
	http_listener_sweep(bench->listener);
	gate_open(&bench->gate);
	CHECK(wire_read(held, &answer, false));
	CHECK(strstr(wire_body(&answer), "query=n=1 ") != NULL);
	wire_send(held, "GET /work?n=2 HTTP/1.1\r\n" HOST "\r\n");
	CHECK(wire_read(held, &answer, false));
	CHECK(strstr(wire_body(&answer), "query=n=2 ") != NULL);
	close(held);
	close(other);
	bench_end(bench);
}

/* Overload is answered: at once when the queue is full, after 250 ms when the workers hang. */
static void test_workers_overload(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	struct answer answer;
	char value[32];
	int fds[3];

	CHECK_INT(http_workers_new(1, 1, &bench->workers), RES_OK);
	fds[0] = wire_open(bench->address);
	wire_send(fds[0], "GET /work HTTP/1.1\r\n" HOST "\r\n");
	gate_wait(&bench->gate, 1);
	fds[1] = wire_open(bench->address);
	wire_send(fds[1], "GET /work HTTP/1.1\r\n" HOST "\r\n");
	fds[2] = wire_open(bench->address);
	wire_send(fds[2], "GET /work HTTP/1.1\r\n" HOST "\r\n");
	for (size_t i = 1; i < 3; i++) {
		CHECK(wire_read(fds[i], &answer, false));
		CHECK_INT(answer.status, 503);
		CHECK(wire_header(&answer, "Retry-After", value, sizeof value));
		CHECK_TEXT(value, "1");
	}
	gate_open(&bench->gate);
	CHECK(wire_read(fds[0], &answer, false));
	CHECK_INT(answer.status, 200);
	for (size_t i = 0; i < 3; i++)
		close(fds[i]);
	bench_end(bench);
}

static void *open_later(void *arg)
{
	gate_open(arg);
	return NULL;
}

/* The order of stopping: nobody is left without an answer, and nothing aborts. */
static void test_stop_with_suspended(void)
{
	struct bench *bench = bench_run("127.0.0.1:0", 2);
	pthread_t opener;
	struct answer answer;
	int fds[4], late;

	CHECK_INT(http_workers_new(2, 8, &bench->workers), RES_OK);
	for (size_t i = 0; i < 4; i++) {
		fds[i] = wire_open(bench->address);
		wire_send(fds[i], "GET /work HTTP/1.1\r\n" HOST "\r\n");
	}
	gate_wait_handed(&bench->gate, 4);
	http_listener_quiesce(bench->listener);
	late = wire_open(bench->address);
	CHECK(wire_closed(late)); /* nobody new */
	close(late);
	CHECK_INT(pthread_create(&opener, NULL, open_later, &bench->gate), 0);
	http_workers_free(bench->workers);
	bench->workers = NULL;
	pthread_join(opener, NULL);
	for (size_t i = 0; i < 4; i++) {
		CHECK(wire_read(fds[i], &answer, false));
		CHECK(answer.status == 200 || answer.status == 503);
		close(fds[i]);
	}
	bench_end(bench);
}

static void test_unix_socket(void)
{
	char dir[] = "/tmp/hythe-http-XXXXXX", path[64];
	struct bench *bench = bench_new(NULL, 1), *again = bench_new(NULL, 1);
	struct answer answer;
	struct stat st;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof path, "%s/hythe.sock", dir);
	bench->config.unix_path = again->config.unix_path = path;
	bench_start(bench);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_TEXT(bench->address, path);
	wire_ask(path, "GET /a HTTP/1.1\r\n" HOST "X-Forwarded-For: 192.0.2.1\r\n\r\n", &answer);
	CHECK(strstr(wire_body(&answer), "client= one") != NULL);
	bench_start(again); /* what a killed process left behind is replaced */
	wire_ask(path, "GET /a HTTP/1.1\r\n" HOST "\r\n", &answer);
	CHECK_INT(answer.status, 200);
	bench_end(bench);
	bench_end(again);
	CHECK(stat(path, &st) != 0);
	rmdir(dir);
}

static void test_refused_addresses(void)
{
	char dir[] = "/tmp/hythe-http-XXXXXX", file[64], used[64];
	struct bench *bench = bench_run("127.0.0.1:0", 1);
	struct {
		const char *listen, *unix_path, *code;
	} rows[] = {
		{"127.0.0.1",       NULL,                  "bad_listen"   },
		{"localhost:80",    NULL,                  "bad_listen"   },
		{"127.0.0.1:70000", NULL,                  "bad_listen"   },
		{"[::1:80",         NULL,                  "bad_listen"   },
		{"192.0.2.1:0",     NULL,                  "listen_failed"},
		{used,              NULL,                  "listen_failed"},
		{NULL,              file,                  "not_a_socket" },
		{NULL,              "/no/such/dir/x.sock", "listen_failed"},
		{NULL,
		 "/tmp/"
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		 "xxxxxxx"
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",     "path_too_long"},
	};
	FILE *f;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(file, sizeof file, "%s/file", dir);
	CHECK((f = fopen(file, "w")) != NULL);
	fclose(f);
	snprintf(used, sizeof used, "%s", bench->address);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bench *bad = bench_new(rows[i].listen, 1);
		struct problem problem = {0};

		bad->config.unix_path = rows[i].unix_path;
		CHECK(http_listener_new(&bad->config, &bad->site, &bad->listener, &problem) !=
		      RES_OK);
		CHECK(bad->listener == NULL);
		CHECK_TEXT(problem.code, rows[i].code);
		CHECK(problem.field[0] != '\0');
		free(bad);
	}
	CHECK_INT(access(file, F_OK), 0);
	unlink(file);
	rmdir(dir);
	bench_end(bench);
}

static void test_both_families(void)
{
	struct bench *bench = bench_run("[::]:0", 1);
	const char *port = strrchr(bench->address, ':');
	char v4[64], v6[64];
	struct answer answer;

	snprintf(v4, sizeof v4, "127.0.0.1%s", port);
	snprintf(v6, sizeof v6, "[::1]%s", port);
	wire_ask(v4, "GET /a HTTP/1.1\r\n" HOST "\r\n", &answer);
	CHECK(strstr(wire_body(&answer), "client=127.0.0.1 ") != NULL);
	wire_ask(v6, "GET /a HTTP/1.1\r\n" HOST "\r\n", &answer);
	CHECK(strstr(wire_body(&answer), "client=::1 ") != NULL);
	bench_end(bench);
}

TEST_MAIN(TEST(test_request_lines), TEST(test_long_target), TEST(test_params),
	  TEST(test_keep_alive_and_headers), TEST(test_b035_head), TEST(test_bodies),
	  TEST(test_body_far_too_large), TEST(test_chunked_bodies), TEST(test_proxy_header),
	  TEST(test_network_limit), TEST(test_loopback_is_not_limited), TEST(test_connection_bound),
	  TEST(test_deadlines), TEST(test_too_many_parameters), TEST(test_workers),
	  TEST(test_workers_overload), TEST(test_stop_with_suspended), TEST(test_unix_socket),
	  TEST(test_refused_addresses), TEST(test_both_families))
