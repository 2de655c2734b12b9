#include "hythe/util/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hythe/util/text.h"

struct result_row {
	const char *code, *text;
	int status;
};

static const struct result_row rows[] = {
#define X(name, code, text, status) [name] = {code, text, status},
	RESULTS(X)
#undef X
};

static const struct result_row *row_of(enum res res)
{
	size_t at = (size_t)res;

	return &rows[at < sizeof rows / sizeof *rows ? at : (size_t)RES_INTERNAL];
}

const char *res_code(enum res res)
{
	return row_of(res)->code;
}

const char *res_text(enum res res)
{
	return row_of(res)->text;
}

int res_status(enum res res)
{
	return row_of(res)->status;
}

/* The first bytes of a letter whose others did not fit. */
static bool is_cut_letter(const char *text, size_t len)
{
	unsigned char lead = (unsigned char)text[0];
	size_t want = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	if (lead < 0xc2 || lead > 0xf4 || len >= want)
		return false;
	for (size_t i = 1; i < len; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Both field and detail may quote what an outsider sent: they are made fit for one line of a log.
 */
static void make_plain(char *text)
{
	size_t len = strlen(text), at = 0;

	while (at < len) {
		uint32_t code;
		size_t step = text_utf8_next(text + at, len - at, &code);

		if (step && !text_has_control(text + at, step)) {
			at += step;
			continue;
		}
		if (is_cut_letter(text + at, len - at)) {
			text[at] = '\0';
			return;
		}
		step = step ? step : 1;
		memset(text + at, '?', step);
		at += step;
	}
}

static void copy_cut(char *out, size_t size, const char *text)
{
	size_t len = strnlen(text, size - 1);

	memcpy(out, text, len);
	out[len] = '\0';
	make_plain(out);
}

enum res problem_set(struct problem *problem, enum res res, const char *code, const char *field,
		     const char *format, ...)
{
	va_list args;

	if (!problem || problem->res != RES_OK || problem->code[0])
		return res;
	problem->res = res;
	copy_cut(problem->code, sizeof problem->code, code);
	copy_cut(problem->field, sizeof problem->field, field ? field : "");
	va_start(args, format);
	if (vsnprintf(problem->detail, sizeof problem->detail, format, args) < 0)
		problem->detail[0] = '\0';
	va_end(args);
	make_plain(problem->detail);
	return res;
}
