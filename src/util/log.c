/* The one state of the process that is not handed down: level, descriptor and the table of events.
 * A line is made and written outside the lock; the lock covers the counting only. */
#include "hythe/util/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hythe/util/clock.h"
#include "hythe/util/text.h"

#define LINE_MAX_BYTES 1024
#define PER_SECOND     20
#define EVENT_MAX      48
#define ROWS           128 /* a power of two */
#define QUOTE_MAX      200
#define QUOTE_BUFFERS  4

struct event_row {
	char name[EVENT_MAX]; /* "" is free */
	int64_t second;       /* the one that `lines` counts */
	uint32_t lines;
	uint64_t suppressed; /* since the last line that was written */
};

static atomic_int max_level = LOG_LEVEL_INFO;
static atomic_int log_fd = STDERR_FILENO;
static atomic_int journal = -1; /* 0 no, 1 yes, -1 not looked yet */
static _Atomic(const struct clock *) log_clock = &clock_system;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* leaf */
static struct event_row rows[ROWS];                      /* guarded by lock */
static struct event_row crowd; /* guarded by lock; all events that found no row */

static const struct {
	const char *name;
	int priority; /* as syslog counts */
} levels[] = {
	[LOG_LEVEL_ERROR] = {"error", 3},
	[LOG_LEVEL_WARN] = {"warn",  4},
	[LOG_LEVEL_INFO] = {"info",  6},
	[LOG_LEVEL_DEBUG] = {"debug", 7},
};

void log_set_level(enum log_level level)
{
	atomic_store(&max_level, (int)level);
}

void log_set_fd(int fd)
{
	atomic_store(&log_fd, fd);
	atomic_store(&journal, -1);
}

void log_set_clock(const struct clock *clock)
{
	atomic_store(&log_clock, clock);
}

/* JOURNAL_STREAM is inherited by every child, so it counts only if it names our very descriptor. */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char ours[64];
	struct stat st;

	if (!stream || fstat(fd, &st) != 0)
		return false;
	snprintf(ours, sizeof ours, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return strcmp(ours, stream) == 0;
}

static bool under_journal(int fd)
{
	int known = atomic_load(&journal);

	if (known < 0) {
		known = is_journal(fd);
		atomic_store(&journal, known);
	}
	return known;
}

static struct event_row *find_row(const char *event)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; event[i] && i < EVENT_MAX - 1; i++)
		hash = (hash ^ (unsigned char)event[i]) * 16777619u;
	for (uint32_t i = 0; i < ROWS; i++) {
		struct event_row *row = &rows[(hash + i) % ROWS];

		if (row->name[0] == '\0') {
			snprintf(row->name, sizeof row->name, "%s", event);
			return row;
		}
		if (strncmp(row->name, event, EVENT_MAX - 1) == 0)
			return row;
	}
	return &crowd;
}

/* False: this line is one too many. `suppressed` is what the line has to say of those before it. */
static bool admit(const char *event, int64_t second, uint64_t *suppressed)
{
	struct event_row *row;
	bool ok;

	pthread_mutex_lock(&lock);
	row = find_row(event);
	if (row->second != second) {
		row->second = second;
		row->lines = 0;
	}
	ok = row->lines < PER_SECOND;
	if (ok) {
		row->lines++;
		*suppressed = row->suppressed;
		row->suppressed = 0;
	} else {
		row->suppressed++;
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

struct line {
	char text[LINE_MAX_BYTES];
	size_t len; /* below the size, with room for the newline */
	bool cut;
};

static void line_vadd(struct line *line, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static void line_vadd(struct line *line, const char *format, va_list args)
{
	size_t room = sizeof line->text - line->len;
	int n = vsnprintf(line->text + line->len, room, format, args);

	if (n < 0)
		return;
	line->cut |= (size_t)n >= room;
	line->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void line_add(struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void line_add(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line_vadd(line, format, args);
	va_end(args);
}

static void add_time(struct line *line, int64_t wall_ms)
{
	char text[TEXT_TIME_MAX];
	int64_t ms = (wall_ms % 1000 + 1000) % 1000;

	text_time((wall_ms - ms) / 1000, text);
	text[strcspn(text, "Z")] = '\0';
	line_add(line, "%s.%03dZ ", text, (int)ms);
}

/* Whatever a value holds, it cannot begin a second line. */
static void line_end(struct line *line)
{
	static const char mark[] = "...";

	if (line->cut) {
		line->len -= sizeof mark - 1;
		while (line->len > 0 && ((unsigned char)line->text[line->len] & 0xc0) == 0x80)
			line->len--;
		memcpy(line->text + line->len, mark, sizeof mark - 1);
		line->len += sizeof mark - 1;
	}
	for (size_t i = 0; i < line->len; i++)
		if ((unsigned char)line->text[i] < 0x20 || line->text[i] == 0x7f)
			line->text[i] = '?';
	line->text[line->len++] = '\n';
}

static void write_line(int fd, const struct line *line)
{
	while (write(fd, line->text, line->len) < 0 && errno == EINTR)
		;
}

void log_at(enum log_level level, const char *event, const char *format, ...)
{
	const struct clock *clock = atomic_load(&log_clock);
	int saved = errno, fd = atomic_load(&log_fd);
	struct line line = {.len = 0};
	uint64_t suppressed = 0;
	int64_t now = 0;
	va_list args;

	if ((int)level > atomic_load(&max_level))
		return;
	if (!admit(event, clock_mono_ms(clock) / 1000, &suppressed))
		return;
	now = clock_wall_ms(clock);
	if (under_journal(fd))
		line_add(&line, "<%d>", levels[level].priority);
	else
		add_time(&line, now);
	line_add(&line, "level=%s event=%s", levels[level].name, event);
	if (suppressed)
		line_add(&line, " suppressed=%" PRIu64, suppressed);
	if (format[0])
		line_add(&line, " ");
	va_start(args, format);
	line_vadd(&line, format, args);
	va_end(args);
	line_end(&line);
	write_line(fd, &line);
	errno = saved;
}

/* Letters of any script stay; what is invisible or turns the direction of a line does not. */
static bool is_shown(uint32_t code)
{
	if (code < 0x80)
		return code >= 0x20 && code < 0x7f && code != '"' && code != '\\';
	return !(code < 0xa0 || code == 0xad || (code >= 0x200b && code <= 0x200f) ||
		 (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
		 code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
		 (code >= 0xe0000 && code <= 0xe0fff));
}

const char *log_quote(const char *text)
{
	static _Thread_local char buffers[QUOTE_BUFFERS][QUOTE_MAX + 8];
	static _Thread_local unsigned turn;
	char *out = buffers[turn++ % QUOTE_BUFFERS];
	size_t len = text ? strnlen(text, QUOTE_MAX + 4) : 0, n = 0, at = 0;

	out[n++] = '"';
	while (at < len) {
		uint32_t code;
		size_t step = text_utf8_next(text + at, len - at, &code);
		bool shown = step > 0 && is_shown(code);
		size_t more;

		step = step ? step : 1;
		more = shown ? step : step * 4;
		if (n + more > QUOTE_MAX + 1)
			break;
		if (shown)
			memcpy(out + n, text + at, step);
		for (size_t i = 0; !shown && i < step; i++)
			snprintf(out + n + i * 4, 5, "\\x%02x", (unsigned char)text[at + i]);
		n += more;
		at += step;
	}
	memcpy(out + n, at < len ? "\"..." : "\"", at < len ? 5 : 2);
	return out;
}
