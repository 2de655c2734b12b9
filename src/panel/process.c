/* panel/process.c – what the process may and may not, what it weighs, and its word to the
 * supervisor. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "hythe/util/num.h"
#include "panel.h"

#define THREAD_STACK ((size_t)256 * 1024)
#define FILES_WANTED 16384

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	if (limit.rlim_cur < FILES_WANTED)
		limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
	setrlimit(RLIMIT_NOFILE, &limit);
}

unsigned process_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return FILES_WANTED;
	return limit.rlim_cur > 1u << 20 ? 1u << 20 : (unsigned)limit.rlim_cur;
}

/* Keys and passwords stand in memory: no core file, no other process of the same user at it. */
static void close_memory(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!SANITIZED) /* the leak check at exit looks at the process as a debugger does */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void process_harden(void)
{
	pthread_attr_t attr;

	umask(077);
	raise_files();
	close_memory();
	signal(SIGPIPE, SIG_IGN);
	/* A file that may not grow is an error of that write, not the end. */
	signal(SIGXFSZ, SIG_IGN);
	/* One arena a thread would cost a page table's worth each; ours allocate little, and seldom
	 * at once. */
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
	mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	if (!SANITIZED && pthread_attr_init(&attr) == 0) {
		pthread_attr_setstacksize(&attr, THREAD_STACK);
		pthread_setattr_default_np(&attr);
		pthread_attr_destroy(&attr);
	}
}

/* "Private_Clean:        12 kB" */
static int64_t line_kib(const char *line)
{
	const char *digits = line + strcspn(line, "0123456789");
	int64_t kib;

	return num_i64(digits, strspn(digits, "0123456789"), 0, INT64_MAX / 1024, &kib) == RES_OK
		       ? kib
		       : 0;
}

int64_t process_private_bytes(void *unused)
{
	char text[4096], *line, *end;
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	int64_t kib = 0;

	(void)unused;
	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return -1;
	text[len] = 0;
	for (line = text; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		if (strncmp(line, "Private_Clean:", 14) == 0 ||
		    strncmp(line, "Private_Dirty:", 14) == 0)
			kib += line_kib(line);
	}
	return kib * 1024;
}

/* The protocol is one datagram to a unix socket; a leading '@' stands for the abstract name space.
 */
void process_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size;
	int fd;

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
		return;
	memcpy(address.sun_path, path, strlen(path));
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size) < 0)
		log_warn("notify_failed", "error=%s", log_quote(strerror(errno)));
	close(fd);
}
