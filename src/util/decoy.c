#include "hythe/util/decoy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_MAX ((size_t)256 * 1024)

enum page { PAGE_INDEX, PAGE_404, PAGE_429, PAGE_COUNT };

struct decoy {
	struct decoy_page pages[PAGE_COUNT];
	char *owned[PAGE_COUNT]; /* NULL: the page is a built-in one */
};

#define PAGE(title, heading, text)                                                                 \
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                  \
	"<title>" title "</title>\n</head>\n<body>\n<h1>" heading "</h1>\n"                        \
	"<p>" text "</p>\n</body>\n</html>\n"

struct page_source {
	const char *file;
	const char *builtin;
};

static const struct page_source sources[PAGE_COUNT] = {
	[PAGE_INDEX] = {"index.html",
			PAGE("Welcome",                             "It works!",
                        "This site has no content yet. Please come back later.")},
	[PAGE_404] = {"404.html",   PAGE("404 Not Found",         "Not Found",
                        "The requested page was not found on this server.")     },
	[PAGE_429] = {"429.html",   PAGE("429 Too Many Requests", "Too Many Requests",
                        "Too many requests were sent. Please try again later.") },
};

static enum res read_all(int fd, char *data, size_t size, size_t *len)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, data + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return RES_IO;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	*len = n;
	return RES_OK;
}

static enum res read_page(int fd, const char *name, char **data, size_t *len,
			  struct problem *problem)
{
	struct stat st;
	size_t size;

	if (fstat(fd, &st) != 0)
		return problem_set(problem, RES_IO, "decoy_unreadable", "decoy_dir", "%s: %s", name,
				   strerror(errno));
	if (!S_ISREG(st.st_mode))
		return problem_set(problem, RES_INVALID, "decoy_not_a_file", "decoy_dir",
				   "%s must be a regular file", name);
	if (st.st_size > (off_t)PAGE_MAX)
		return problem_set(problem, RES_TOO_LARGE, "decoy_too_large", "decoy_dir",
				   "%s must be at most %zu bytes", name, PAGE_MAX);
	size = (size_t)st.st_size;
	*data = malloc(size + 1);
	if (!*data)
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "no memory for %s",
				   name);
	if (read_all(fd, *data, size, len) != RES_OK)
		return problem_set(problem, RES_IO, "decoy_unreadable", "decoy_dir", "%s: %s", name,
				   strerror(errno));
	(*data)[*len] = '\0';
	return RES_OK;
}

/* A file that is not there leaves the built-in page. */
static enum res load_page(struct decoy *decoy, int dir, enum page page, size_t *found,
			  struct problem *problem)
{
	const char *name = sources[page].file;
	/* O_NONBLOCK: a pipe in this place must not hold up the start */
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum res res;

	if (fd < 0 && errno == ENOENT)
		return RES_OK;
	if (fd < 0)
		return problem_set(problem, RES_IO, "decoy_unreadable", "decoy_dir", "%s: %s", name,
				   strerror(errno));
	res = read_page(fd, name, &decoy->owned[page], &decoy->pages[page].len, problem);
	close(fd);
	if (res != RES_OK)
		return res;
	decoy->pages[page].body = decoy->owned[page];
	++*found;
	return RES_OK;
}

static enum res load_dir(struct decoy *decoy, const char *path, struct problem *problem)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t found = 0;
	enum res res = RES_OK;

	if (dir < 0)
		return problem_set(problem, RES_IO, "decoy_unreadable", "decoy_dir", "%s: %s", path,
				   strerror(errno));
	for (enum page page = 0; page < PAGE_COUNT && res == RES_OK; page++)
		res = load_page(decoy, dir, page, &found, problem);
	close(dir);
	if (res == RES_OK && found == 0)
		return problem_set(problem, RES_INVALID, "decoy_empty", "decoy_dir",
				   "%s holds none of index.html, 404.html, 429.html", path);
	return res;
}

enum res decoy_load(const char *dir, struct decoy **out, struct problem *problem)
{
	struct decoy *decoy = calloc(1, sizeof *decoy);
	enum res res = RES_OK;

	*out = NULL;
	if (!decoy)
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL,
				   "no memory for the decoy pages");
	for (enum page page = 0; page < PAGE_COUNT; page++) {
		const char *body = sources[page].builtin;

		decoy->pages[page] = (struct decoy_page){.body = body, .len = strlen(body)};
	}
	if (dir)
		res = load_dir(decoy, dir, problem);
	if (res == RES_OK)
		*out = decoy;
	else
		decoy_free(decoy);
	return res;
}

void decoy_free(struct decoy *decoy)
{
	if (!decoy)
		return;
	for (enum page page = 0; page < PAGE_COUNT; page++)
		free(decoy->owned[page]);
	free(decoy);
}

const struct decoy_page *decoy_404(const struct decoy *decoy)
{
	return &decoy->pages[PAGE_404];
}

const struct decoy_page *decoy_429(const struct decoy *decoy)
{
	return &decoy->pages[PAGE_429];
}

const struct decoy_page *decoy_index(const struct decoy *decoy)
{
	return &decoy->pages[PAGE_INDEX];
}
