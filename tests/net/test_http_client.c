#include "hythe/net/http_client.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

#define ANSWER_MAX 64

static enum res parse(const char *text, size_t len, bool closed, bool head_only,
		      struct http_answer *out)
{
	/* An exact copy, so that a sanitizer sees one byte too many. */
	char *copy = malloc(len ? len : 1);
	enum res res;

	memcpy(copy, text, len);
	res = http_answer_parse(copy, len, closed, head_only, ANSWER_MAX, out);
	free(copy);
	return res;
}

#define OK_LINE "HTTP/1.1 200 OK\r\n"

static const struct parse_case {
	const char *text;
	bool closed, head_only;
	enum res res;
	int status;
	const char *body;
} parse_cases[] = {
	{OK_LINE "Content-Length: 2\r\n\r\nhi",                                            false, false, RES_OK,        200, "hi"   },
	{OK_LINE "Content-Length: 2\r\n\r\nhi, there",                                     false, false, RES_OK,        200, "hi"   },
	{OK_LINE "content-length:2\r\n\r\nhi",                                             false, false, RES_OK,        200, "hi"   },
	{"HTTP/1.0 404 \r\n\r\nnone",						      true,  false, RES_OK,        404, "none" },
	{"HTTP/1.1 204\r\n\r\n",							   false, false, RES_OK,        204, ""     },
	{"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",                         false, false, RES_OK,        304, ""     },
	{OK_LINE "Content-Length: 9\r\n\r\n",					      false, true,  RES_OK,        200, ""     },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x=y\r\n-ho\r\n0\r\n\r\n", false,
	 false,											  RES_OK,        200, "hi-ho"},
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",                    false, false, RES_OK,        200,
	 ""															 },
	{"HTTP/1.1 100 Continue\r\n\r\n" OK_LINE "Content-Length: 1\r\n\r\nx",             false, false, RES_OK,
	 200,														"x"    },
 /* More is to come. */
	{"",									       false, false, RES_BUSY,      0,   NULL   },
	{"HTTP/1.1 200",								   false, false, RES_BUSY,      0,   NULL   },
	{OK_LINE,									  false, false, RES_BUSY,      0,   NULL   },
	{OK_LINE "Content-Length: 3\r\n\r\nhi",                                            false, false, RES_BUSY,      0,   NULL   },
	{OK_LINE "\r\nno length",							  false, false, RES_BUSY,      0,   NULL   },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhi",                              false, false, RES_BUSY,      0,   NULL   },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",                     false, false, RES_BUSY,      0,
	 NULL														       },
 /* Cut off, or no HTTP. */
	{"",									       true,  false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Content-Length: 3\r\n\r\nhi",                                            true,  false, RES_MALFORMED, 0,   NULL   },
	{"SSH-2.0-OpenSSH\r\n\r\n",							false, false, RES_MALFORMED, 0,   NULL   },
	{"HTTP/1.1 20 OK\r\n\r\n",							 false, false, RES_MALFORMED, 0,   NULL   },
	{"HTTP/1.1 2000\r\n\r\n",							  false, false, RES_MALFORMED, 0,   NULL   },
	{"HTTP/1.1 +20 OK\r\n\r\n",							false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "no colon\r\n\r\n",						       false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE ": no name\r\n\r\n",						      false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Content-Length: -1\r\n\r\n",                                             false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Content-Length: 2x\r\n\r\nhi",                                           false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",                      false, false, RES_MALFORMED,
	 0,														  NULL   },
	{OK_LINE "Transfer-Encoding: gzip\r\n\r\n",                                        false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhi!\r\n",                         false, false, RES_MALFORMED, 0,
	 NULL														       },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\nzz\r\n",                               false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n\x12\r\nhi\r\n0\r\n\r\n",              false, false, RES_MALFORMED, 0,   NULL   },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\n\r\n",                                 false, false, RES_MALFORMED, 0,   NULL   },
 /* Over the bound. */
	{OK_LINE "Content-Length: 65\r\n\r\n",                                             false, false, RES_TOO_LARGE, 0,   NULL   },
	{OK_LINE "Content-Length: 99999999999999999999\r\n\r\n",                           false, false, RES_MALFORMED, 0,
	 NULL														       },
	{OK_LINE "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",                         false, false, RES_TOO_LARGE, 0,
	 NULL														       },
};

static void test_parse(void)
{
	for (size_t i = 0; i < sizeof parse_cases / sizeof *parse_cases; i++) {
		const struct parse_case *c = &parse_cases[i];
		struct http_answer answer;
		enum res res = parse(c->text, strlen(c->text), c->closed, c->head_only, &answer);

		if (res != c->res)
			TEST_FAIL("\"%s\": %s, want %s", c->text, res_text(res), res_text(c->res));
		CHECK_INT(answer.status, c->status);
		if (c->body)
			CHECK_TEXT(answer.body.data ? answer.body.data : "", c->body);
		http_answer_free(&answer);
	}
}

/* Whatever the piece, an answer that comes byte by byte is the same in the end. */
static void test_byte_by_byte(void)
{
	static const char text[] =
		OK_LINE "Content-Type: text/x\r\nETag: \"7\"\r\nTransfer-Encoding: "
			"chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
	struct http_answer answer;
	size_t len = sizeof text - 1;

	for (size_t i = 0; i < len; i++)
		CHECK_INT(parse(text, i, false, false, &answer), RES_BUSY);
	CHECK_INT(parse(text, len, false, false, &answer), RES_OK);
	CHECK_TEXT(answer.content_type, "text/x");
	CHECK_TEXT(answer.etag, "\"7\"");
	CHECK_TEXT(answer.body.data, "hi");
	http_answer_free(&answer);
}

static void test_endless_head(void)
{
	size_t len = HTTP_HEAD_MAX + 1;
	char *text = malloc(len);
	struct http_answer answer;

	memset(text, 'x', len);
	memcpy(text, OK_LINE, sizeof OK_LINE - 1);
	CHECK_INT(http_answer_parse(text, len, false, false, ANSWER_MAX, &answer), RES_TOO_LARGE);
	free(text);
}

/* --- Over a socket: a thread that says one thing --- */

struct server {
	char dir[32], path[64];
	int fd;
	const char *answer; /* NULL: reads and says nothing */
	char request[1024];
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct server *server = arg;
	int fd = accept(server->fd, NULL, NULL);
	ssize_t len = read(fd, server->request, sizeof server->request - 1);

	server->request[len > 0 ? len : 0] = 0;
	if (server->answer && write(fd, server->answer, strlen(server->answer)) < 0)
		perror("write");
	if (!server->answer) /* until the caller has given up */
		len = read(fd, server->request + len, 1);
	close(fd);
	return NULL;
}

static void server_start(struct server *server, const char *answer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(server, 0, sizeof *server);
	server->answer = answer;
	snprintf(server->dir, sizeof server->dir, "/tmp/hythe-test-XXXXXX");
	CHECK(mkdtemp(server->dir) != NULL);
	snprintf(server->path, sizeof server->path, "%s/s", server->dir);
	memcpy(address.sun_path, server->path, strlen(server->path));
	server->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(bind(server->fd, (struct sockaddr *)&address, sizeof address), 0);
	CHECK_INT(listen(server->fd, 1), 0);
	CHECK_INT(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server_end(struct server *server)
{
	pthread_join(server->thread, NULL);
	close(server->fd);
	unlink(server->path);
	rmdir(server->dir);
}

static void test_call(void)
{
	struct server server;
	struct http_answer answer;
	struct problem problem = {0};
	struct http_call call = {.method = "POST",
				 .target = "/x?y=1",
				 .body = "{}",
				 .body_len = 2,
				 .headers = "X-A: b\r\n",
				 .answer_max = ANSWER_MAX,
				 .timeout_ms = 10000};

	server_start(&server, "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone");
	call.unix_path = server.path;
	CHECK_INT(http_call(&call, &answer, &problem), RES_OK);
	server_end(&server);
	CHECK_INT(answer.status, 201);
	CHECK_TEXT(answer.body.data, "done");
	http_answer_free(&answer);
	CHECK(strncmp(server.request, "POST /x?y=1 HTTP/1.1\r\n", 22) == 0);
	CHECK(strstr(server.request, "\r\nX-A: b\r\n") != NULL);
	CHECK(strstr(server.request, "\r\nContent-Length: 2\r\n\r\n{}") != NULL);
}

static void test_faults(void)
{
	static const struct {
		const char *answer;
		enum res res;
	} cases[] = {
		{NULL,						RES_BUSY     },
		{"",						  RES_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",    RES_MALFORMED},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhi", RES_TOO_LARGE},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct server server;
		struct http_answer answer;
		struct problem problem = {0};
		struct http_call call = {.method = "GET",
					 .target = "/",
					 .answer_max = ANSWER_MAX,
					 .timeout_ms = cases[i].answer ? 10000 : 50};

		server_start(&server, cases[i].answer);
		call.unix_path = server.path;
		CHECK_INT(http_call(&call, &answer, &problem), cases[i].res);
		server_end(&server);
		CHECK(problem.detail[0] != 0);
	}
}

static void test_nobody(void)
{
	struct http_answer answer;
	struct problem problem = {0};
	struct http_call call = {.unix_path = "/tmp/there-is-no-such-socket",
				 .method = "GET",
				 .target = "/",
				 .answer_max = 1,
				 .timeout_ms = 1000};

	CHECK_INT(http_call(&call, &answer, &problem), RES_NOT_FOUND);
	CHECK_TEXT(problem.code, "not_there");
}

TEST_MAIN(TEST(test_parse), TEST(test_byte_by_byte), TEST(test_endless_head), TEST(test_call),
	  TEST(test_faults), TEST(test_nobody))
