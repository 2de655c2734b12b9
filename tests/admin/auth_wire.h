/* auth_wire.h – the admin API over TCP, where clients have addresses and headers of their own
 * choice. */
#ifndef HYTHE_ADMIN_AUTH_WIRE_H
#define HYTHE_ADMIN_AUTH_WIRE_H

#include "admin_test.h"
#include "http/wire.h"

static struct http_listener *tcp;
static struct answer got; /* to the last request */
static char cookie[256];  /* "Cookie: ...\r\n" of the last sign-in */

static void tcp_end(void)
{
	if (!tcp)
		return;
	http_listener_quiesce(tcp);
	http_listener_free(tcp);
	tcp = NULL;
}

static void tcp_begin(void)
{
	struct http_config config = {
		.name = "tcp", .listen = "127.0.0.1:0", .threads = 1, .clock = &clock_system};
	struct http_site site = {.ctx = &tcp, .body_max = fix_body_max_ctx, .serve = fix_serve};
	struct problem problem = {0};

	tcp_end();
	fix_begin();
	atexit(tcp_end); /* before the panel it serves */
	if (http_listener_new(&config, &site, &tcp, &problem) != RES_OK)
		TEST_FAIL("listener: %s", problem.detail);
}

/* `path` as the admin sees it; `headers` each with its end of line. */
static int send_raw(const char *method, const char *path, const char *headers, const char *body)
{
	char request[16384], length[64] = "";

	if (body)
		snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
	snprintf(request, sizeof request,
		 "%s %s HTTP/1.1\r\nHost: panel.example\r\nConnection: close\r\n%s%s\r\n%s", method,
		 path, headers ? headers : "", length, body ? body : "");
	wire_ask(http_listener_address(tcp), request, &got);
	return got.status;
}

__attribute__((unused)) static int send_api(const char *method, const char *target,
					    const char *headers, const char *body)
{
	char path[1024], all[2048];

	snprintf(path, sizeof path, "/api/v1%s", target);
	snprintf(all, sizeof all, "%s%s", headers ? headers : "",
		 body ? "Content-Type: application/json\r\n" : "");
	return send_raw(method, path, all, body);
}

__attribute__((unused)) static bool said(const char *text)
{
	return strstr(wire_body(&got), text) != NULL;
}

#define CHECK_SENT(want, method, target, headers, body)                                            \
	do {                                                                                       \
		int status_ = send_api(method, target, headers, body);                             \
		if (status_ != (want))                                                             \
			TEST_FAIL("%s %s: %d, want %d: %.300s", method, target, status_, want,     \
				  wire_body(&got));                                                \
	} while (0)
#define CHECK_CODE(code)                                                                           \
	do {                                                                                       \
		if (!said("\"code\":\"" code "\""))                                                \
			TEST_FAIL("want code %s: %.300s", code, wire_body(&got));                  \
	} while (0)

/* A text member of the last answer, by its bare name. */
__attribute__((unused)) static const char *copy_member(const char *name, char *out, size_t size)
{
	char mark[64];
	const char *start;

	snprintf(mark, sizeof mark, "\"%s\":\"", name);
	start = strstr(wire_body(&got), mark);
	if (!start)
		TEST_FAIL("no %s in %.300s", name, wire_body(&got));
	start += strlen(mark);
	snprintf(out, size, "%.*s", (int)strcspn(start, "\""), start);
	return out;
}

static int sign_in(const char *name, const char *password)
{
	char body[512], header[512];
	int status;

	snprintf(body, sizeof body, "{\"name\": \"%s\", \"password\": \"%s\"}", name, password);
	status = send_api("POST", "/auth/sign-in", NULL, body);
	if (status == 200 && wire_header(&got, "Set-Cookie", header, sizeof header))
		snprintf(cookie, sizeof cookie, "Cookie: %.*s\r\n", (int)strcspn(header, ";"),
			 header);
	return status;
}

static char admin_id[40];

__attribute__((unused)) static void make_admin(const char *name, const char *role)
{
	char body[256];

	snprintf(body, sizeof body,
		 "{\"name\": \"%s\", \"role\": \"%s\", \"password\": \"correct horse\"}", name,
		 role);
	CHECK_ASK(201, "POST", "/admins", body);
	keep_at("id", admin_id, sizeof admin_id);
}

__attribute__((unused)) static void pass_s(int64_t seconds)
{
	fix.fake.wall_ms += seconds * 1000;
	fix.fake.mono_ms += seconds * 1000;
}

#endif
