/* Listening sockets: made here and not by libmicrohttpd, for errors that name the address. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "edge.h"
#include "hythe/util/text.h"

#define BACKLOG 1024

static enum res bind_problem(const char *address, struct problem *problem)
{
	return problem_set(problem, errno == EADDRINUSE ? RES_CONFLICT : RES_IO, "listen_failed",
			   "listen", "cannot listen on %s: %s", address, strerror(errno));
}

static void show_address(struct http_listener *listener, const struct sockaddr_storage *given)
{
	struct sockaddr_storage at = *given;
	socklen_t len = sizeof at;
	char text[ADDR_TEXT_MAX];
	struct addr addr;
	unsigned port;

	if (getsockname(listener->listen_fd, (struct sockaddr *)&at, &len) != 0 ||
	    !addr_of_sockaddr((struct sockaddr *)&at, &addr))
		return;
	port = ntohs(at.ss_family == AF_INET ? ((struct sockaddr_in *)&at)->sin_port
					     : ((struct sockaddr_in6 *)&at)->sin6_port);
	addr_print(&addr, text);
	listener->loopback = addr_is_loopback(&addr);
	snprintf(listener->address, sizeof listener->address,
		 addr.family == 4 ? "%s:%u" : "[%s]:%u", text, port);
}

/* "[::]" serves both families; any other IPv6 address its own only. */
static bool set_options(int fd, const struct sockaddr_storage *at)
{
	const int on = 1;
	int v6only;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
		return false;
	if (at->ss_family != AF_INET6)
		return true;
	v6only = !IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)at)->sin6_addr);
	return setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof v6only) == 0;
}

static enum res open_tcp(const char *text, struct http_listener *listener, struct problem *problem)
{
	struct sockaddr_storage at;
	socklen_t len;
	int fd;

	if (!addr_listen_parse(text, &at, &len))
		return problem_set(
			problem, RES_INVALID, "bad_listen", "listen",
			"\"%s\" is no address to listen on; write 127.0.0.1:8080 or [::]:8080",
			text);
	fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 && errno == EAFNOSUPPORT && at.ss_family == AF_INET6 && text[0] == ':') {
		/* ":8080" on a machine without IPv6 */
		in_port_t port = ((struct sockaddr_in6 *)&at)->sin6_port;

		memset(&at, 0, sizeof at);
		at.ss_family = AF_INET;
		((struct sockaddr_in *)&at)->sin_port = port;
		len = sizeof(struct sockaddr_in);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	if (fd < 0)
		return bind_problem(text, problem);
	listener->listen_fd = fd;
	if (!set_options(fd, &at) || bind(fd, (struct sockaddr *)&at, len) != 0 ||
	    listen(fd, BACKLOG) != 0)
		return bind_problem(text, problem);
	show_address(listener, &at);
	return RES_OK;
}

/* Only a socket is removed: a path that names a file by mistake keeps the file. */
static enum res remove_old(const char *path, struct problem *problem)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? RES_OK : bind_problem(path, problem);
	if (!S_ISSOCK(st.st_mode))
		return problem_set(problem, RES_CONFLICT, "not_a_socket", "listen",
				   "%s is there and is no socket", path);
	return unlink(path) == 0 ? RES_OK : bind_problem(path, problem);
}

static enum res open_unix(const char *path, struct http_listener *listener, struct problem *problem)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	enum res res;

	if (!text_copy(at.sun_path, sizeof at.sun_path, path))
		return problem_set(problem, RES_INVALID, "path_too_long", "data_dir",
				   "the socket's path is longer than %zu bytes: %s",
				   sizeof at.sun_path - 1, path);
	if ((res = remove_old(path, problem)) != RES_OK)
		return res;
	listener->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The mode is set before the name exists, so nobody can connect in between. */
	if (listener->listen_fd < 0 || fchmod(listener->listen_fd, 0600) != 0 ||
	    bind(listener->listen_fd, (struct sockaddr *)&at, sizeof at) != 0)
		return bind_problem(path, problem);
	if (chmod(path, 0600) != 0 || listen(listener->listen_fd, BACKLOG) != 0)
		return bind_problem(path, problem);
	snprintf(listener->address, sizeof listener->address, "%s", path);
	return RES_OK;
}

enum res http_socket_open(const struct http_config *config, struct http_listener *listener,
			  struct problem *problem)
{
	if (config->unix_path)
		return open_unix(config->unix_path, listener, problem);
	return open_tcp(config->listen, listener, problem);
}
