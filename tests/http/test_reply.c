/* Replies by themselves: problems as JSON, header values, counting, 304. */
#include "http/edge.h"
#include "hythe/http/reply.h"
#include "hythe/util/log.h"
#include "test.h"

static void test_problem(void)
{
	struct problem problem = {0};
	struct reply *reply;
	const char *body;
	size_t len;

	problem_set(&problem, RES_INVALID, "bad", "name", "is \"odd\"");
	reply = reply_problem(&problem);
	body = reply_body(reply, &len);
	CHECK_INT(reply_status(reply), 422);
	CHECK(strstr(body, "\"code\":\"bad\",\"field\":\"name\"}") != NULL);
	CHECK(strstr(body, "\"detail\":\"is \\\"odd\\\"\"") != NULL);
	reply_unref(reply);
	problem = (struct problem){0};
	problem_set(&problem, RES_BUSY, "bad", NULL, "x");
	reply = reply_problem(&problem);
	body = reply_body(reply, &len);
	CHECK_TEXT(body,
		   "{\"type\":\"about:blank\",\"title\":\"busy\",\"status\":503,\"detail\":\"x\","
		   "\"code\":\"bad\"}");
	CHECK_INT(len, strlen(body));
	reply_unref(reply);
}

struct seen {
	unsigned count;
	char text[512];
};

static enum MHD_Result see(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);

	(void)kind;
	seen->count++;
	snprintf(seen->text + n, sizeof seen->text - n, "%s=%s;", name, value);
	return MHD_YES;
}

static void headers_of(const struct reply *reply, struct seen *seen)
{
	*seen = (struct seen){0};
	reply_headers_each(reply, see, seen);
}

static void test_header_values(void)
{
	static const char *const bad[] = {"a\rb", "a\nb",        "a\r\nX: 1", "\x01",
					  "\x7f", "caf\xc3\xa9", "a\tb"};
	struct reply *reply = reply_static(200, "text/plain", "x", 1);
	struct seen seen;

	log_set_fd(-1); /* each is logged as our fault */
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		reply_header(reply, "X-Test", bad[i]);
	log_set_fd(2);
	reply_header(reply, "X-Test", "good; value=\"~\"");
	headers_of(reply, &seen);
	CHECK_TEXT(seen.text, "Content-Type=text/plain;X-Test=good; value=\"~\";");
	reply_unref(reply);
}

static void test_not_modified(void)
{
	struct reply *full = reply_static(200, "text/plain", "body", 4), *reply;
	struct seen a, b;
	size_t len;

	reply_header(full, "ETag", "W/\"1\"");
	reply_header(full, "Vary", "Accept");
	reply = reply_not_modified(full);
	CHECK_INT(reply_status(reply), 304);
	reply_body(reply, &len);
	CHECK_INT(len, 0);
	headers_of(full, &a);
	headers_of(reply, &b);
	CHECK_TEXT(b.text, a.text);
	reply_unref(full);
	reply_unref(reply);
}

static void test_body_is_taken(void)
{
	struct reply *reply, *more;
	struct buf body;
	size_t len;

	buf_init(&body, 100);
	buf_str(&body, "hello");
	reply = reply_body_take(201, "text/plain", &body);
	CHECK(body.data == NULL);
	CHECK_INT(body.len, 0);
	more = reply_ref(reply);
	reply_unref(reply);
	CHECK_TEXT(reply_body(more, &len), "hello");
	CHECK_INT(len, 5);
	CHECK_INT(reply_status(more), 201);
	reply_unref(more);
}

/* A body that did not fit its cap is no answer: 503 without allocation. */
static void test_failed_body(void)
{
	struct reply *reply;
	struct buf body;

	buf_init(&body, 4);
	buf_str(&body, "too long");
	reply = reply_body_take(200, "text/plain", &body);
	CHECK_INT(reply_status(reply), 503);
	reply_header(reply, "X", "y");
	reply_unref(reply);
	reply_unref(reply_ref(reply)); /* a static one is never counted away */
	CHECK_INT(reply_status(reply), 503);
	CHECK(reply_later() == reply_later());
	reply_unref(reply_later());
	reply_unref(NULL);
	buf_init(&body, 4);
	reply = reply_body_take(204, NULL, &body); /* nothing was written: an empty body */
	CHECK_INT(reply_status(reply), 204);
	reply_unref(reply);
}

TEST_MAIN(TEST(test_problem), TEST(test_header_values), TEST(test_not_modified),
	  TEST(test_body_is_taken), TEST(test_failed_body))
