/* util/log.h – one event a line, key=value, on standard error.
 *
 *   log_info("user_created", "user=%" PRId64 " name=%s", id, log_quote(name));
 * gives `2026-12-01T10:00:00.123Z level=info event=user_created user=7 name="a b"`.
 * Under a journal (JOURNAL_STREAM) the time is left out and a syslog priority `<6>` stands in front.
 * Untrusted text goes through log_quote(). Never a value: tokens, credentials, keys, whole links.
 * The volume is bounded whatever outsiders send: more than 20 lines of one event in a second are
 * counted and said in one line `suppressed=N` afterwards (field report B146).
 * Threads: any; a line is one write(2). */
#ifndef HYTHE_UTIL_LOG_H
#define HYTHE_UTIL_LOG_H

#include "hythe/util/result.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
void log_set_fd(int fd); /* tests */
struct clock;
void log_set_clock(const struct clock *clock); /* tests; lent for good */
void log_at(enum log_level level, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define log_error(event, ...) log_at(LOG_LEVEL_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...)  log_at(LOG_LEVEL_WARN, event, __VA_ARGS__)
#define log_info(event, ...)  log_at(LOG_LEVEL_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) log_at(LOG_LEVEL_DEBUG, event, __VA_ARGS__)

/* Text as "…" with \xNN for everything outside printable ASCII (UTF-8 letters stay), cut at 200
 * bytes. Valid until the thread's fourth call after this one. */
const char *log_quote(const char *text);

#endif
