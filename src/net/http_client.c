#include "hythe/net/http_client.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hythe/util/clock.h"
#include "hythe/util/num.h"

/* --- Reading an answer --- */

struct head {
	int status;
	bool chunked, has_length;
	size_t length; /* of the body, with has_length */
	size_t size;   /* of the head itself, with its empty line */
};

struct span {
	const char *text;
	size_t len;
};

/* Takes the next line off `rest`, without its CRLF (a bare LF is taken too). */
static bool span_line(struct span *rest, struct span *line)
{
	const char *end = rest->len ? memchr(rest->text, '\n', rest->len) : NULL;

	if (!end)
		return false;
	line->text = rest->text;
	line->len = (size_t)(end - rest->text);
	rest->text += line->len + 1;
	rest->len -= line->len + 1;
	if (line->len && line->text[line->len - 1] == '\r')
		line->len--;
	return true;
}

static struct span span_trim(struct span span)
{
	while (span.len && (*span.text == ' ' || *span.text == '\t')) {
		span.text++;
		span.len--;
	}
	while (span.len && (span.text[span.len - 1] == ' ' || span.text[span.len - 1] == '\t'))
		span.len--;
	return span;
}

static bool span_is(struct span span, const char *word)
{
	return span.len == strlen(word) && strncasecmp(span.text, word, span.len) == 0;
}

static void span_keep(struct span span, char *out, size_t size)
{
	size_t len = span.len < size ? span.len : 0; /* too long: as if it were not there */

	memcpy(out, span.text, len);
	out[len] = 0;
}

static enum res read_status(struct span line, struct head *head)
{
	uint64_t status;

	if (line.len < 12 || memcmp(line.text, "HTTP/1.", 7) != 0 || line.text[8] != ' ')
		return RES_MALFORMED;
	if (line.len > 12 && line.text[12] != ' ')
		return RES_MALFORMED;
	if (num_u64(line.text + 9, 3, 999, &status) != RES_OK || status < 100)
		return RES_MALFORMED;
	head->status = (int)status;
	return RES_OK;
}

static enum res read_length(struct span value, struct head *head)
{
	uint64_t length;

	if (num_u64(value.text, value.len, SIZE_MAX / 2, &length) != RES_OK)
		return RES_MALFORMED;
	if (head->has_length && head->length != length)
		return RES_MALFORMED; /* two lengths: whom to believe? */
	head->has_length = true;
	head->length = (size_t)length;
	return RES_OK;
}

static enum res read_header(struct span line, struct head *head, struct http_answer *out)
{
	const char *colon = memchr(line.text, ':', line.len);
	struct span name, value;

	if (!colon || colon == line.text)
		return RES_MALFORMED;
	name = (struct span){line.text, (size_t)(colon - line.text)};
	value = span_trim((struct span){colon + 1, line.len - name.len - 1});
	if (span_is(name, "content-length"))
		return read_length(value, head);
	if (span_is(name, "transfer-encoding")) {
		head->chunked = span_is(value, "chunked");
		return head->chunked ? RES_OK : RES_MALFORMED;
	}
	if (span_is(name, "content-type"))
		span_keep(value, out->content_type, sizeof out->content_type);
	if (span_is(name, "etag"))
		span_keep(value, out->etag, sizeof out->etag);
	return RES_OK;
}

/* RES_BUSY: the head is not whole yet. */
static enum res read_head(const char *text, size_t len, struct head *head, struct http_answer *out)
{
	struct span rest = {text, len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX}, line;
	enum res res;

	*head = (struct head){0};
	if (!span_line(&rest, &line))
		goto more;
	if ((res = read_status(line, head)) != RES_OK)
		return res;
	for (;;) {
		if (!span_line(&rest, &line))
			goto more;
		if (line.len == 0)
			break;
		if ((res = read_header(line, head, out)) != RES_OK)
			return res;
	}
	head->size = (size_t)(rest.text - text);
	out->status = head->status;
	return RES_OK;
more:
	return len < HTTP_HEAD_MAX ? RES_BUSY : RES_TOO_LARGE;
}

static bool hex_size(struct span line, size_t *out)
{
	const char *semicolon = memchr(line.text, ';', line.len); /* extensions are ignored */
	size_t value = 0, i = 0;

	if (semicolon)
		line.len = (size_t)(semicolon - line.text);
	line = span_trim(line);
	if (line.len == 0 || line.len > 8)
		return false;
	for (; i < line.len; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *at = memchr(digits, line.text[i], sizeof digits - 1);

		if (!at)
			return false;
		value = value * 16 + (size_t)(at - digits) % 16;
	}
	*out = value;
	return true;
}

static enum res read_chunks(struct span rest, struct buf *body)
{
	struct span line;
	size_t size;

	for (;;) {
		if (!span_line(&rest, &line))
			return rest.len > 1024 ? RES_MALFORMED : RES_BUSY;
		if (!hex_size(line, &size))
			return RES_MALFORMED;
		if (size == 0)
			break;
		if (body->len + size > body->max)
			return RES_TOO_LARGE;
		if (rest.len < size + 2)
			return RES_BUSY;
		if (!buf_put(body, rest.text, size))
			return RES_NOMEM;
		rest.text += size;
		rest.len -= size;
		if (!span_line(&rest, &line) || line.len != 0)
			return RES_MALFORMED;
	}
	do { /* trailers, up to the empty line */
		if (!span_line(&rest, &line))
			return rest.len > HTTP_HEAD_MAX ? RES_MALFORMED : RES_BUSY;
	} while (line.len);
	return RES_OK;
}

static enum res read_body(struct span rest, const struct head *head, bool closed, struct buf *body)
{
	if (head->chunked)
		return read_chunks(rest, body);
	if (!head->has_length && !closed)
		return rest.len > body->max ? RES_TOO_LARGE : RES_BUSY;
	if (head->has_length) {
		if (head->length > body->max)
			return RES_TOO_LARGE;
		if (rest.len < head->length)
			return RES_BUSY;
		rest.len = head->length;
	}
	if (rest.len > body->max)
		return RES_TOO_LARGE;
	return buf_put(body, rest.text, rest.len) ? RES_OK : RES_NOMEM;
}

enum res http_answer_parse(const char *text, size_t len, bool closed, bool head_only,
			   size_t answer_max, struct http_answer *out)
{
	struct head head;
	enum res res;

	*out = (struct http_answer){0};
	buf_init(&out->body, answer_max);
	/* Interim answers (100 Continue) stand before the real one. */
	do {
		if ((res = read_head(text, len, &head, out)) != RES_OK)
			goto out;
		text += head.size;
		len -= head.size;
	} while (head.status < 200);
	if (!head_only && head.status != 204 && head.status != 304)
		res = read_body((struct span){text, len}, &head, closed, &out->body);
out:
	if (res == RES_BUSY && closed)
		res = RES_MALFORMED; /* cut off in the middle */
	if (res != RES_OK)
		http_answer_free(out);
	return res;
}

void http_answer_free(struct http_answer *answer)
{
	buf_free_secret(&answer->body);
	*answer = (struct http_answer){0};
}

/* --- The connection --- */

struct wire {
	int fd;
	int64_t deadline_ms;
	struct problem *problem;
};

static enum res wire_failed(struct wire *wire, const char *what)
{
	int cause = errno;

	if (cause == ENOENT || cause == ECONNREFUSED)
		return problem_set(wire->problem, RES_NOT_FOUND, "not_there", NULL,
				   "nobody is listening there");
	return problem_set(wire->problem, RES_IO, "connection", NULL, "%s: %s", what,
			   strerror(cause));
}

static enum res wire_wait(struct wire *wire, short events)
{
	for (;;) {
		struct pollfd pollfd = {.fd = wire->fd, .events = events};
		int64_t left_ms = wire->deadline_ms - clock_mono_ms(&clock_system);
		int ready = left_ms > 0 ? poll(&pollfd, 1, (int)left_ms) : 0;

		if (ready > 0)
			return RES_OK;
		if (ready == 0)
			return problem_set(wire->problem, RES_BUSY, "timed_out", NULL,
					   "no answer in time");
		if (errno != EINTR)
			return wire_failed(wire, "poll");
	}
}

static int open_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		int cause = errno;

		close(fd);
		errno = cause;
		return -1;
	}
	return fd;
}

static int open_loopback(unsigned port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0 &&
	    errno != EINPROGRESS) {
		int cause = errno;

		close(fd);
		errno = cause;
		return -1;
	}
	return fd;
}

static enum res wire_open(struct wire *wire, const struct http_call *call)
{
	int cause = 0;
	socklen_t size = sizeof cause;
	enum res res;

	wire->fd = call->unix_path ? open_unix(call->unix_path) : open_loopback(call->port);
	if (wire->fd < 0)
		return wire_failed(wire, "connect");
	if (call->unix_path)
		return RES_OK;
	if ((res = wire_wait(wire, POLLOUT)) != RES_OK)
		return res;
	getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &cause, &size);
	errno = cause;
	return cause ? wire_failed(wire, "connect") : RES_OK;
}

static enum res wire_send(struct wire *wire, const char *data, size_t len)
{
	enum res res;

	while (len) {
		ssize_t sent = send(wire->fd, data, len, MSG_NOSIGNAL);

		if (sent > 0) {
			data += sent;
			len -= (size_t)sent;
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET)
			return RES_OK; /* refused half way (413): the answer may be there all the
					  same */
		if (errno != EAGAIN && errno != EINTR)
			return wire_failed(wire, "send");
		if ((res = wire_wait(wire, POLLOUT)) != RES_OK)
			return res;
	}
	return RES_OK;
}

/* Reads until the answer is whole; parsing starts over with each piece, which the bounds keep cheap
 * (pieces are 64 KiB, answers a few of them). */
static enum res wire_receive(struct wire *wire, const struct http_call *call,
			     struct http_answer *out)
{
	bool head_only = strcmp(call->method, "HEAD") == 0;
	struct buf text;
	enum res res;

	/* Chunk sizes may stand in the way: room for them beyond the body itself. */
	buf_init(&text, HTTP_HEAD_MAX + call->answer_max * 2 + 4096);
	do {
		ssize_t got;

		if ((res = wire_wait(wire, POLLIN)) != RES_OK)
			break;
		if (!buf_reserve(&text,
				 65536 < text.max - text.len ? 65536 : text.max - text.len) ||
		    text.len == text.max) {
			res = RES_TOO_LARGE;
			break;
		}
		got = recv(wire->fd, text.data + text.len, text.cap - text.len, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			res = RES_BUSY;
			continue;
		}
		if (got < 0 && errno != ECONNRESET) {
			res = wire_failed(wire, "receive");
			break;
		}
		text.len += got > 0 ? (size_t)got : 0;
		res = http_answer_parse(text.data ? text.data : "", text.len, got <= 0, head_only,
					call->answer_max, out);
	} while (res == RES_BUSY);
	buf_free_secret(&text);
	return res;
}

static bool write_request(const struct http_call *call, struct buf *out)
{
	buf_printf(out, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", call->method,
		   call->target);
	if (call->headers)
		buf_str(out, call->headers);
	if (call->body)
		buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			   call->body_len);
	buf_str(out, "\r\n");
	return call->body ? buf_put(out, call->body, call->body_len) : !out->failed;
}

enum res http_call(const struct http_call *call, struct http_answer *out, struct problem *problem)
{
	struct wire wire = {.fd = -1, .problem = problem};
	struct buf request;
	enum res res;

	*out = (struct http_answer){0};
	wire.deadline_ms = clock_mono_ms(&clock_system) + call->timeout_ms;
	buf_init(&request, HTTP_HEAD_MAX + call->body_len);
	if (!write_request(call, &request)) {
		res = problem_set(problem, RES_NOMEM, "no_memory", NULL,
				  "the request does not fit");
		goto out;
	}
	if ((res = wire_open(&wire, call)) != RES_OK)
		goto out;
	if ((res = wire_send(&wire, request.data, request.len)) != RES_OK)
		goto out;
	res = wire_receive(&wire, call, out);
	if (res != RES_OK)
		problem_set(problem, res, "bad_answer", NULL, "the answer cannot be read (%s)",
			    res_text(res));
out:
	if (wire.fd >= 0)
		close(wire.fd);
	buf_free_secret(&request);
	return res;
}
