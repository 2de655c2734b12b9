/* wire.h – the client's end for tests of listeners: bytes out, one answer in. */
#ifndef HYTHE_TEST_WIRE_H
#define HYTHE_TEST_WIRE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "hythe/util/addr.h"
#include "test.h"

struct answer {
	char text[65536]; /* header and body, NUL behind */
	size_t len, header_len;
	int status;
};

static inline int wire_open(const char *address)
{
	const struct timeval patience = {.tv_sec = 10};
	struct sockaddr_storage at;
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	socklen_t len;
	int fd;

	if (address[0] == '/') {
		snprintf(local.sun_path, sizeof local.sun_path, "%s", address);
		memcpy(&at, &local, sizeof local);
		len = sizeof local;
	} else if (!addr_listen_parse(address, &at, &len)) {
		TEST_FAIL("bad address %s", address);
	}
	fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&at, len) != 0)
		TEST_FAIL("cannot connect to %s", address);
	return fd;
}

static inline void wire_send(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n <= 0)
			return; /* the other end has hung up: what it said is read next */
		text += n;
		len -= (size_t)n;
	}
}

/* Value of a header of the answer, as a copy in `out`; false: absent. */
static inline bool wire_header(const struct answer *answer, const char *name, char *out,
			       size_t size)
{
	size_t name_len = strlen(name);
	const char *line = answer->text;

	while ((line = strstr(line, "\r\n")) && line < answer->text + answer->header_len - 2) {
		size_t value_len;

		line += 2;
		if (strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
			continue;
		line += name_len + 1;
		line += strspn(line, " ");
		value_len = strcspn(line, "\r");
		snprintf(out, size, "%.*s", (int)value_len, line);
		return true;
	}
	return false;
}

/* Reads one answer; false: the connection ended without one. `head`: it has no body. */
static inline bool wire_read(int fd, struct answer *answer, bool head)
{
	size_t want = 0;

	*answer = (struct answer){.len = 0};
	while (!answer->header_len || answer->len < want) {
		char *end, value[32];
		ssize_t n = recv(fd, answer->text + answer->len,
				 answer->header_len ? want - answer->len : 1, 0);

		if (n <= 0)
			return answer->header_len > 0;
		answer->len += (size_t)n;
		answer->text[answer->len] = '\0';
		if (answer->header_len || !(end = strstr(answer->text, "\r\n\r\n")))
			continue;
		answer->header_len = (size_t)(end + 4 - answer->text);
		answer->status = atoi(answer->text + strlen("HTTP/1.1 "));
		want = answer->header_len;
		if (!head && answer->status != 304 &&
		    wire_header(answer, "Content-Length", value, sizeof value))
			want += (size_t)atol(value);
	}
	return true;
}

static inline const char *wire_body(const struct answer *answer)
{
	return answer->text + answer->header_len;
}

/* True when the other end has closed: nothing more comes. */
static inline bool wire_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) <= 0;
}

/* One request on a connection of its own. */
static inline void wire_ask(const char *address, const char *request, struct answer *answer)
{
	int fd = wire_open(address);

	wire_send(fd, request);
	if (!wire_read(fd, answer, strncmp(request, "HEAD", 4) == 0))
		*answer = (struct answer){.status = 0};
	close(fd);
}

#endif
