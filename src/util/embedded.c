#include "hythe/util/embedded.h"

#include <string.h>

const struct embedded_file *embedded_find(const char *path)
{
	for (const struct embedded_file *file = embedded_files; file->path; file++)
		if (strcmp(file->path, path) == 0)
			return file;
	return NULL;
}
