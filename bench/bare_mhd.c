/* bare_mhd – the least that libmicrohttpd can do: the same bytes and headers for every path.
 *
 *   bare_mhd PORT THREADS BODY-FILE HEADER-FILE   (a header a line, "name: value")
 *
 * What Hythe's cached answer is held against: whatever it costs over this is ours. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char body[1 << 20], headers[1 << 16];

static size_t load(const char *path, char *into, size_t size)
{
	FILE *in = fopen(path, "rb");
	size_t len;

	if (!in) {
		perror(path);
		exit(1);
	}
	len = fread(into, 1, size - 1, in);
	into[len] = '\0';
	fclose(in);
	return len;
}

/* Queued at the second call, as Hythe does: at the first, libmicrohttpd ends keep-alive. */
static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data, size_t *len,
			      void **seen)
{
	(void)url, (void)method, (void)version, (void)data, (void)len;
	if (!*seen) {
		*seen = cls;
		return MHD_YES;
	}
	return MHD_queue_response(connection, 200, cls);
}

static void add_headers(struct MHD_Response *response)
{
	char *save = NULL;

	for (char *line = strtok_r(headers, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		char *value = strstr(line, ": ");
		if (value) {
			*value = '\0';
			MHD_add_response_header(response, line, value + 2);
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct MHD_Response *response;
	struct MHD_Daemon *daemon;
	sigset_t stop;
	int signal_no;

	if (argc != 5)
		return 2;
	at.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
	response = MHD_create_response_from_buffer(load(argv[3], body, sizeof body), body,
						   MHD_RESPMEM_PERSISTENT);
	load(argv[4], headers, sizeof headers);
	add_headers(response);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, response,
				  MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at,
				  MHD_OPTION_THREAD_POOL_SIZE, (unsigned)strtoul(argv[2], NULL, 10),
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)8192, MHD_OPTION_END);
	if (!daemon)
		return 1;
	sigwait(&stop, &signal_no);
	MHD_stop_daemon(daemon);
	MHD_destroy_response(response);
	return 0;
}
