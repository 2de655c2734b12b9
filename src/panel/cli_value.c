#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "hythe/util/json_write.h"
#include "hythe/util/num.h"

#define TIME_LAST    253402300799 /* 9999-12-31T23:59:59Z */
#define PASSWORD_MAX 1024
#define VALUE_MAX    ((size_t)1024 * 1024)

/* --- Times --- */

/* "2026-12-31", with or without "T14:00:00Z" behind it; UTC. */
static bool read_date(const char *text, int64_t *unix_s)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
	size_t len = strlen(text);
	struct tm tm = {0}, back;
	time_t at;

	if (len != 10 && len != sizeof shape - 1)
		return false;
	for (size_t i = 0; i < len; i++)
		if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
			return false;
#define TWO(i) ((text[i] - '0') * 10 + text[(i) + 1] - '0')
	tm.tm_year = TWO(0) * 100 + TWO(2) - 1900;
	tm.tm_mon = TWO(5) - 1;
	tm.tm_mday = TWO(8);
	if (len > 10) {
		tm.tm_hour = TWO(11);
		tm.tm_min = TWO(14);
		tm.tm_sec = TWO(17);
	}
#undef TWO
	back = tm;
	at = timegm(&tm);
	/* timegm() turns 31 February into March; that is a typing error here. */
	if (tm.tm_mon != back.tm_mon || tm.tm_mday != back.tm_mday || tm.tm_hour != back.tm_hour ||
	    tm.tm_min != back.tm_min || tm.tm_sec != back.tm_sec)
		return false;
	*unix_s = at;
	return true;
}

enum res cli_time(const char *text, int64_t *unix_s)
{
	if (strcmp(text, "never") == 0) {
		*unix_s = 0;
		return RES_OK;
	}
	if (text[0] == '@')
		return num_i64(text + 1, strlen(text + 1), 0, TIME_LAST, unix_s);
	return read_date(text, unix_s) ? RES_OK : RES_INVALID;
}

/* --- Files and passwords --- */

static enum res read_fd(int fd, size_t max, struct buf *out)
{
	char piece[4096];
	ssize_t got;

	while ((got = read(fd, piece, sizeof piece)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return RES_IO;
		if (out->len + (size_t)got > max || !buf_put(out, piece, (size_t)got)) {
			explicit_bzero(piece, sizeof piece);
			return RES_TOO_LARGE;
		}
	}
	explicit_bzero(piece, sizeof piece);
	return RES_OK;
}

enum res cli_file(const char *flag, const char *path, size_t max, struct buf *out,
		  struct problem *problem)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	enum res res;

	if (fd < 0)
		return problem_set(problem, RES_INVALID, "file", flag, "--%s: %.100s: %s", flag,
				   path, strerror(errno));
	res = read_fd(fd, max, out);
	if (res != RES_OK)
		problem_set(problem, res, "file", flag, "--%s: %.100s: %s", flag, path,
			    res == RES_TOO_LARGE ? "too large" : strerror(errno));
	if (!standard)
		close(fd);
	return res;
}

static void cut_line(struct buf *buf)
{
	while (buf->len && (buf->data[buf->len - 1] == '\n' || buf->data[buf->len - 1] == '\r'))
		buf->data[--buf->len] = 0;
}

/* One line from the terminal, unseen. The terminal is put back even when reading fails. */
static bool ask(const char *prompt, struct buf *out)
{
	struct termios old, quiet;
	char line[PASSWORD_MAX];
	bool ok;

	if (tcgetattr(STDIN_FILENO, &old) != 0)
		return false;
	quiet = old;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	fputs(prompt, stderr);
	ok = fgets(line, sizeof line, stdin) != NULL;
	fputc('\n', stderr);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
	ok = ok && buf_str(out, line);
	explicit_bzero(line, sizeof line);
	if (ok)
		cut_line(out);
	return ok;
}

static enum res ask_twice(struct buf *out, struct problem *problem)
{
	struct buf again;
	enum res res = RES_OK;

	buf_init(&again, PASSWORD_MAX);
	if (!ask("New password: ", out) || !ask("Again: ", &again))
		res = problem_set(problem, RES_IO, "terminal", NULL, "no password was typed");
	else if (out->len != again.len || memcmp(out->data, again.data, out->len) != 0)
		res = problem_set(problem, RES_INVALID, "password", NULL,
				  "the two passwords differ");
	buf_free_secret(&again);
	return res;
}

enum res cli_password(const char *file, struct buf *out, struct problem *problem)
{
	enum res res;

	if (!file && isatty(STDIN_FILENO))
		return ask_twice(out, problem);
	res = cli_file("password-file", file ? file : "-", PASSWORD_MAX, out, problem);
	if (res == RES_OK && out->len == 0)
		res = problem_set(problem, RES_INVALID, "password", "password-file",
				  "the password is empty");
	if (res == RES_OK)
		cut_line(out);
	return res;
}

/* --- Values by kind --- */

static enum res bad(struct problem *problem, const struct option *option, const char *text,
		    const char *want)
{
	return problem_set(problem, RES_INVALID, "bad_flag", option->name,
			   "--%s: \"%.60s\" is not %s", option->name, text, want);
}

static enum res write_yesno(struct json_writer *w, const struct option *option, const char *text,
			    struct problem *problem)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{"yes",   true },
                {"no",    false},
                {"true",  true },
		{"false", false},
                {"1",     true },
                {"0",     false}
        };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i].word) == 0) {
			json_flag(w, option->member, words[i].value);
			return RES_OK;
		}
	return bad(problem, option, text, "yes or no");
}

static void write_list(struct json_writer *w, const char *member, const char *text)
{
	json_array(w, member);
	while (*text) {
		size_t len = strcspn(text, ",");

		if (len)
			json_text_n(w, NULL, text, len);
		text += len + (text[len] == ',');
	}
	json_end(w);
}

static enum res write_json(struct json_writer *w, const struct option *option, const char *text,
			   struct problem *problem)
{
	struct json_doc *doc = NULL;
	struct buf source, print;
	struct problem why = {0};
	enum res res = RES_OK;

	buf_init(&source, VALUE_MAX);
	buf_init(&print, VALUE_MAX * 2);
	if (text[0] == '@')
		res = cli_file(option->name, text + 1, VALUE_MAX, &source, problem);
	else
		buf_str(&source, text);
	if (res != RES_OK)
		goto out;
	res = json_parse(source.data ? source.data : (char[]){""}, source.len, &doc, &why);
	if (res != RES_OK) {
		problem_set(problem, RES_INVALID, "bad_flag", option->name, "--%s: %.200s",
			    option->name, why.detail);
		goto out;
	}
	if (json_print(json_root(doc), &print))
		json_raw(w, option->member, print.data, print.len);
out:
	json_free(doc);
	buf_free_secret(&source);
	buf_free_secret(&print);
	return res;
}

static enum res write_file(struct json_writer *w, const struct option *option, const char *path,
			   struct problem *problem)
{
	struct buf text;
	enum res res;

	buf_init(&text, VALUE_MAX);
	res = cli_file(option->name, path, VALUE_MAX, &text, problem);
	/* Secrets come as one line; certificates end with a newline of their own. */
	if (res == RES_OK && text.len &&
	    memchr(text.data, '\n', text.len) == text.data + text.len - 1)
		cut_line(&text);
	if (res == RES_OK)
		json_text_n(w, option->member, text.data ? text.data : "", text.len);
	buf_free_secret(&text);
	return res;
}

enum res cli_value_write(struct json_writer *w, const struct option *option, const char *text,
			 struct problem *problem)
{
	int64_t number;

	switch (option->kind) {
	case OPTION_SWITCH:
		json_flag(w, option->member, strcmp(text, "no") != 0);
		return RES_OK;
	case OPTION_TEXT:
	case OPTION_REF:
		json_text(w, option->member, text);
		return RES_OK;
	case OPTION_NUMBER:
		if (num_i64(text, strlen(text), INT64_MIN, INT64_MAX, &number) != RES_OK)
			return bad(problem, option, text, "a whole number");
		break;
	case OPTION_BYTES:
		if (num_bytes(text, &number) != RES_OK)
			return bad(problem, option, text,
				   "an amount of data such as 500MB, 10GB or 0");
		break;
	case OPTION_DURATION:
		if (num_duration(text, &number) != RES_OK)
			return bad(problem, option, text,
				   "a span of time such as 30d, 12h, 90m or 45s");
		break;
	case OPTION_TIME:
		if (cli_time(text, &number) != RES_OK)
			return bad(problem, option, text,
				   "a time: 2026-12-31, 2026-12-31T14:00:00Z (UTC) or never");
		break;
	case OPTION_YESNO:
		return write_yesno(w, option, text, problem);
	case OPTION_REFS:
	case OPTION_LIST:
		write_list(w, option->member, text);
		return RES_OK;
	case OPTION_JSON:
		return write_json(w, option, text, problem);
	case OPTION_FILE:
		return write_file(w, option, text, problem);
	case OPTION_ACCESS: /* cli_call.c writes these: they need names looked up */
		return RES_INTERNAL;
	}
	json_int(w, option->member, number);
	return RES_OK;
}
