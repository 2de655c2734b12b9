#include "files_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *join(const char *head, size_t head_len, const char *tail)
{
	size_t tail_len = strlen(tail);
	char *name = malloc(head_len + tail_len + 1);

	if (name) {
		memcpy(name, head, head_len);
		memcpy(name + head_len, tail, tail_len + 1);
	}
	return name;
}

char *path_with(const char *path, const char *tail)
{
	return join(path, strlen(path), tail);
}

char *path_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return join(path, slash ? (size_t)(slash - path) + 1 : 0, name);
}

enum res res_of_errno(int error)
{
	switch (error) {
	case 0:
		return RES_OK;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return RES_FULL;
	case ENOMEM:
		return RES_NOMEM;
	default:
		return RES_IO;
	}
}

static enum res sync_opened(const char *path, int flags)
{
	int fd = open(path, flags | O_RDONLY | O_CLOEXEC);
	enum res res = fd < 0 || fsync(fd) != 0 ? res_of_errno(errno) : RES_OK;

	if (fd >= 0)
		close(fd);
	return res;
}

enum res file_sync(const char *path)
{
	return sync_opened(path, 0);
}

enum res dir_sync(const char *path)
{
	char *dir = path_beside(path, ".");
	enum res res = dir ? sync_opened(dir, O_DIRECTORY) : RES_NOMEM;

	free(dir);
	return res;
}
