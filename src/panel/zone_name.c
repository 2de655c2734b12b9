#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hythe/model/period.h"
#include "hythe/util/text.h"
#include "panel.h"

static bool zone_works(const char *name)
{
	struct zone *zone = NULL;
	bool works = zone_load(name, &zone) == RES_OK;

	zone_free(zone);
	return works;
}

static bool take(char out[static 64], const char *name)
{
	return *name && text_copy(out, 64, name) && zone_works(out);
}

/* "Europe/Berlin\n" */
static bool from_file(char out[static 64])
{
	char text[64] = "";
	int fd = open("/etc/timezone", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	text[strcspn(text, "\r\n \t")] = 0;
	return take(out, text);
}

/* A link to /usr/share/zoneinfo/Europe/Berlin */
static bool from_link(char out[static 64])
{
	static const char folder[] = "/zoneinfo/";
	char target[PATH_MAX];
	ssize_t len = readlink("/etc/localtime", target, sizeof target - 1);
	const char *name;

	if (len <= 0)
		return false;
	target[len] = 0;
	name = strstr(target, folder);
	return name && take(out, name + sizeof folder - 1);
}

void system_zone_name(char out[static 64])
{
	const char *variable = getenv("TZ");

	if (variable && take(out, variable + (variable[0] == ':')))
		return;
	if (from_link(out) || from_file(out))
		return;
	text_copy(out, 64, "UTC");
}
