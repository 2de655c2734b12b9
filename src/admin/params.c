/* admin/params.c – the query string of a call: known names only, each once, typed and bounded. */
#include "call.h"

#include <stdio.h>
#include <string.h>

#include "hythe/util/num.h"
#include "hythe/util/text.h"

#define CURSOR_MAX 1400 /* printed: a name key of a kilobyte and its head */

static bool named(const char *const *names, const char *text, size_t len)
{
	for (; names && *names; names++)
		if (strlen(*names) == len && memcmp(*names, text, len) == 0)
			return true;
	return false;
}

/* A name is shown back only when it is plain; anything else is called by its place. */
static const char *shown(struct call *call, const char *text, size_t len)
{
	if (len == 0 || len > 40)
		return "query";
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f || strchr("\"\\<>&", text[i]))
			return "query";
	text = arena_dup(call->arena, text, len);
	return text ? text : "query";
}

/* `names` and `more` are two lists so that a list's own words need no copy. */
static bool params_within(struct call *call, const char *const *names, const char *const *more)
{
	size_t len;
	const char *at = request_query(call->req, &len), *end = at + len;

	while (at < end) {
		const char *amp = memchr(at, '&', (size_t)(end - at)), *stop = amp ? amp : end;
		const char *equals = memchr(at, '=', (size_t)(stop - at));
		size_t name_len = (size_t)((equals ? equals : stop) - at);

		if (stop != at && !named(names, at, name_len) && !named(more, at, name_len)) {
			problem_set(&call->problem, RES_INVALID, "unknown_parameter",
				    shown(call, at, name_len), "This call has no such parameter.");
			return false;
		}
		at = amp ? amp + 1 : end;
	}
	return true;
}

bool call_params_only(struct call *call, const char *const *names)
{
	return params_within(call, names, NULL);
}

bool call_param_text(struct call *call, const char *name, size_t max, const char **out)
{
	bool bad = false;
	const char *value = request_param(call->req, name, &bad);

	*out = NULL;
	if (bad) {
		problem_set(&call->problem, RES_INVALID, "bad_value", name,
			    "Given twice, or badly escaped.");
		return false;
	}
	if (!value)
		return true;
	if (strlen(value) > max) {
		problem_set(&call->problem, RES_INVALID, "out_of_range", name, "At most %zu bytes.",
			    max);
		return false;
	}
	if (*value &&
	    (!text_utf8_valid(value, strlen(value)) || text_has_control(value, strlen(value)))) {
		problem_set(&call->problem, RES_INVALID, "bad_value", name,
			    "Must be UTF-8 without control characters.");
		return false;
	}
	*out = value;
	return true;
}

bool call_param_i64(struct call *call, const char *name, int64_t min, int64_t max, int64_t absent,
		    int64_t *out)
{
	const char *text;

	*out = absent;
	if (!call_param_text(call, name, 32, &text))
		return false;
	if (!text || num_i64(text, strlen(text), min, max, out) == RES_OK)
		return true;
	*out = absent;
	problem_set(&call->problem, RES_INVALID, "out_of_range", name,
		    "Must be a whole number from %lld to %lld.", (long long)min, (long long)max);
	return false;
}

bool call_param_flag(struct call *call, const char *name, bool *out)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{"1",     true },
		{"true",  true },
		{"0",     false},
		{"false", false},
	};
	const char *text;

	*out = false;
	if (!call_param_text(call, name, 8, &text))
		return false;
	if (!text)
		return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i].word) == 0) {
			*out = words[i].value;
			return true;
		}
	problem_set(&call->problem, RES_INVALID, "bad_value", name, "Must be 1 or 0.");
	return false;
}

/* "name" or "-name", with the word from the resource's own list. */
static bool sort_known(const char *const *sorts, const char *sort)
{
	return named(sorts, sort + (*sort == '-'), strlen(sort + (*sort == '-')));
}

static bool sort_read(struct call *call, const char *const *sorts, const char **out)
{
	char words[160] = "";
	size_t len = 0;

	if (!call_param_text(call, "sort", 40, out))
		return false;
	if (!*out)
		*out = sorts[0];
	if (sort_known(sorts, *out))
		return true;
	for (size_t i = 0; sorts[i] && len + strlen(sorts[i]) + 3 < sizeof words; i++)
		len += (size_t)snprintf(words + len, sizeof words - len, "%s%s", i ? ", " : "",
					sorts[i]);
	problem_set(&call->problem, RES_INVALID, "bad_value", "sort",
		    "This list is sorted by %s, with a leading - the other way round.", words);
	return false;
}

/* An empty filter is as good as none: forms send them. */
static void none_if_empty(const char **text)
{
	if (*text && !**text)
		*text = NULL;
}

bool call_list_query(struct call *call, const char *const *sorts, const char *const *extra,
		     struct list_query *out)
{
	static const char *const always[] = {"limit", "cursor", "sort", "q", "total", NULL};

	memset(out, 0, sizeof *out);
	if (!params_within(call, always, extra) ||
	    !call_param_i64(call, "limit", 1, LIST_LIMIT_MAX, 50, &out->limit) ||
	    !call_param_text(call, "cursor", CURSOR_MAX, &out->cursor) ||
	    !call_param_text(call, "q", LIST_Q_MAX, &out->q) ||
	    !call_param_text(call, "status", 64, &out->status) ||
	    !call_param_text(call, "group", 64, &out->group) ||
	    !call_param_text(call, "tag", 256, &out->tag) || !sort_read(call, sorts, &out->sort) ||
	    !call_param_flag(call, "total", &out->total))
		return false;
	none_if_empty(&out->cursor);
	none_if_empty(&out->q);
	none_if_empty(&out->status);
	none_if_empty(&out->group);
	none_if_empty(&out->tag);
	return true;
}
