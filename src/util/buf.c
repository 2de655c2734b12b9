#include "hythe/util/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 255

void buf_init(struct buf *buf, size_t max)
{
	/* One byte more is allocated than counted, so the largest size must not wrap. */
	*buf = (struct buf){.max = max < SIZE_MAX ? max : SIZE_MAX - 1};
}

static void set_empty(struct buf *buf)
{
	buf_init(buf, buf->max);
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	set_empty(buf);
}

void buf_free_secret(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->cap + 1);
	buf_free(buf);
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

static size_t next_cap(const struct buf *buf, size_t need)
{
	size_t cap = FIRST_CAP;

	if (buf->cap)
		cap = buf->cap > buf->max / 2 ? buf->max : buf->cap * 2 + 1;
	if (cap < need)
		cap = need;
	return cap < buf->max ? cap : buf->max;
}

/* Not realloc(): the old place may hold a secret, which buf_free_secret() could not reach any more.
 */
static bool grow(struct buf *buf, size_t need)
{
	size_t cap = next_cap(buf, need);
	char *data = malloc(cap + 1);

	if (!data)
		return false;
	if (buf->data) {
		memcpy(data, buf->data, buf->len);
		explicit_bzero(buf->data, buf->len);
		free(buf->data);
	}
	data[buf->len] = '\0';
	buf->data = data;
	buf->cap = cap;
	return true;
}

bool buf_reserve(struct buf *buf, size_t more)
{
	if (buf->failed)
		return false;
	if (more > buf->max - buf->len ||
	    ((!buf->data || more > buf->cap - buf->len) && !grow(buf, buf->len + more)))
		buf->failed = true;
	return !buf->failed;
}

bool buf_put(struct buf *buf, const void *data, size_t len)
{
	if (!buf_reserve(buf, len))
		return false;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return true;
}

bool buf_str(struct buf *buf, const char *text)
{
	return buf_put(buf, text, strlen(text));
}

bool buf_char(struct buf *buf, char c)
{
	return buf_put(buf, &c, 1);
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	bool ok;

	va_start(args, format);
	ok = buf_vprintf(buf, format, args);
	va_end(args);
	return ok;
}

bool buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int n;

	if (!buf_reserve(buf, 0))
		return false;
	va_copy(again, args);
	room = buf->cap - buf->len + 1;
	n = vsnprintf(buf->data + buf->len, room, format, args);
	if (n < 0) {
		buf->failed = true;
	} else if ((size_t)n >= room) {
		buf->data[buf->len] = '\0';
		if (buf_reserve(buf, (size_t)n))
			vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
	}
	va_end(again);
	if (buf->failed) {
		buf->data[buf->len] = '\0';
		return false;
	}
	buf->len += (size_t)n;
	return true;
}

char *buf_take(struct buf *buf, size_t *len)
{
	char *data = NULL;

	if (buf_reserve(buf, 0)) {
		data = buf->data;
		if (len)
			*len = buf->len;
		buf->data = NULL;
	} else if (len) {
		*len = 0;
	}
	buf_free(buf);
	return data;
}
