/* util/buf.h – a growing byte buffer that is born with its cap.
 *
 * The data is always followed by a NUL that `len` does not count. After a failed append (cap or
 * memory) the buffer keeps what it had, `failed` stays set and every later append fails too, so a
 * writer may check once at the end.
 * Threads: one owner at a time. */
#ifndef HYTHE_UTIL_BUF_H
#define HYTHE_UTIL_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* NULL until the first append */
	size_t len;
	size_t cap; /* allocated, less the NUL */
	size_t max; /* `len` never passes this */
	bool failed;
};

void buf_init(struct buf *buf, size_t max);
void buf_free(struct buf *buf);             /* wiped? no: see buf_free_secret; empty afterwards */
void buf_free_secret(struct buf *buf);      /* cleared before it is given back */
void buf_reset(struct buf *buf);            /* length 0, memory kept, `failed` cleared */
bool buf_reserve(struct buf *buf, size_t more);
bool buf_put(struct buf *buf, const void *data, size_t len);
bool buf_str(struct buf *buf, const char *text);
bool buf_char(struct buf *buf, char c);
bool buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buf_vprintf(struct buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Gives the bytes away (free() them); the buffer is empty afterwards. NULL when it failed. */
char *buf_take(struct buf *buf, size_t *len);

#endif
