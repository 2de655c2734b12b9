/* The parser goes once over the text and down at most JSON_DEPTH calls. Containers learn their
 * number of children, their skip and their last child when they close, so the array of nodes may
 * move while it grows: nothing but indexes is kept across an append. */
#include "hythe/util/json_read.h"

#include <stdlib.h>
#include <string.h>

#include "hythe/util/json_write.h"
#include "hythe/util/num.h"
#include "hythe/util/text.h"

#define FEW_MEMBERS 16 /* compared pair by pair; more are sorted */

struct json_doc {
	struct json *nodes;
	size_t count, cap;
};

struct parser {
	char *base, *at, *end;
	struct json_doc *doc;
	const char **names; /* of the object that is closing */
	size_t names_cap;
	struct problem *problem;
	unsigned depth;
};

static enum res fail_at(const struct parser *p, const char *at, const char *what)
{
	return problem_set(p->problem, RES_MALFORMED, "bad_json", NULL, "%s at byte %zu", what,
			   (size_t)(at - p->base));
}

static enum res fail(const struct parser *p, const char *what)
{
	return fail_at(p, p->at, p->at < p->end ? what : "the text ends too early");
}

static enum res out_of_memory(const struct parser *p)
{
	return problem_set(p->problem, RES_NOMEM, "out_of_memory", NULL,
			   "not enough memory to read the JSON");
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end &&
	       (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
		p->at++;
}

static bool next_is(const struct parser *p, char c)
{
	return p->at < p->end && *p->at == c;
}

static bool take(struct parser *p, char c)
{
	if (!next_is(p, c))
		return false;
	p->at++;
	return true;
}

/* --- Nodes --- */

static enum res add_node(struct parser *p, enum json_type type, const char *name, size_t *index)
{
	struct json_doc *doc = p->doc;

	if (doc->count == JSON_NODES_MAX)
		return problem_set(p->problem, RES_TOO_LARGE, "json_too_large", NULL,
				   "more than %d values", JSON_NODES_MAX);
	if (doc->count == doc->cap) {
		size_t cap = doc->cap ? doc->cap * 2 : 32;
		struct json *nodes = realloc(doc->nodes, cap * sizeof *nodes);

		if (!nodes)
			return out_of_memory(p);
		doc->nodes = nodes;
		doc->cap = cap;
	}
	*index = doc->count++;
	doc->nodes[*index] = (struct json){.type = type, .name = name, .skip = 1};
	return RES_OK;
}

/* --- Strings --- */

static bool hex4(struct parser *p, uint32_t *unit)
{
	*unit = 0;
	if (p->end - p->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = p->at[i];
		uint32_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return false;
		*unit = *unit << 4 | digit;
	}
	p->at += 4;
	return true;
}

static char *put_utf8(char *out, uint32_t code)
{
	if (code < 0x80) {
		*out++ = (char)code;
		return out;
	}
	if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*out++ = (char)(0xe0 | code >> 12);
		} else {
			*out++ = (char)(0xf0 | code >> 18);
			*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*out++ = (char)(0x80 | (code & 0x3f));
	return out;
}

/* Behind "\u": one code point, of which the second half may be an escape of its own. */
static enum res unicode_escape(struct parser *p, char **out)
{
	const char *start = p->at - 2;
	uint32_t code, low;

	if (!hex4(p, &code))
		return fail_at(p, start, "a \\u escape without four hexadecimal digits");
	if (code == 0)
		return fail_at(p, start, "\\u0000 is not allowed");
	if (code >= 0xd800 && code <= 0xdfff) {
		if (code >= 0xdc00 || !take(p, '\\') || !take(p, 'u') || !hex4(p, &low) ||
		    low < 0xdc00 || low > 0xdfff)
			return fail_at(p, start, "half a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	*out = put_utf8(*out, code);
	return RES_OK;
}

/* At a backslash. What an escape stands for is never longer than the escape. */
static enum res escape(struct parser *p, char **out)
{
	char c = '\0';

	p->at++;
	if (p->at == p->end)
		return fail(p, "");
	switch (*p->at) {
	case '"':
	case '\\':
	case '/':
		c = *p->at;
		break;
	case 'b':
		c = '\b';
		break;
	case 'f':
		c = '\f';
		break;
	case 'n':
		c = '\n';
		break;
	case 'r':
		c = '\r';
		break;
	case 't':
		c = '\t';
		break;
	case 'u':
		p->at++;
		return unicode_escape(p, out);
	default:
		return fail_at(p, p->at - 1, "an unknown escape");
	}
	p->at++;
	*(*out)++ = c;
	return RES_OK;
}

static const char *plain_end(const char *at, const char *end)
{
	while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
	       *at != '\\')
		at++;
	return at;
}

/* At the opening quote. The text is moved together in place; the closing quote makes room for the
 * NUL. */
static enum res parse_string(struct parser *p, const char **text, uint32_t *len)
{
	char *start, *out;
	enum res res;

	if (!take(p, '"'))
		return fail(p, "a string is expected");
	start = out = p->at;
	while (p->at < p->end && *p->at != '"') {
		size_t run = (size_t)(plain_end(p->at, p->end) - p->at);

		if (run == 0 && *p->at == '\\') {
			if ((res = escape(p, &out)) != RES_OK)
				return res;
			continue;
		}
		if (run == 0) {
			uint32_t code;

			if ((unsigned char)*p->at < 0x20)
				return fail(p, "a control character in a string");
			run = text_utf8_next(p->at, (size_t)(p->end - p->at), &code);
			if (run == 0)
				return fail(p, "bytes that are not UTF-8");
		}
		if (out != p->at)
			memmove(out, p->at, run);
		out += run;
		p->at += run;
	}
	if (!take(p, '"'))
		return fail(p, "");
	*out = '\0';
	*text = start;
	*len = (uint32_t)(out - start);
	return RES_OK;
}

/* --- Numbers and words --- */

static bool digits(struct parser *p)
{
	const char *start = p->at;

	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > start;
}

static enum res parse_number(struct parser *p, size_t index)
{
	struct json *node = &p->doc->nodes[index];

	node->text = p->at;
	node->type = JSON_INTEGER;
	take(p, '-');
	if (!take(p, '0') && !digits(p))
		return fail(p, "a number without digits");
	if (take(p, '.')) {
		node->type = JSON_REAL;
		if (!digits(p))
			return fail(p, "a number without digits behind its point");
	}
	if (next_is(p, 'e') || next_is(p, 'E')) {
		node->type = JSON_REAL;
		p->at++;
		if (!take(p, '+'))
			take(p, '-');
		if (!digits(p))
			return fail(p, "a number without digits in its exponent");
	}
	node->len = (uint32_t)(p->at - node->text);
	return RES_OK;
}

static bool word(struct parser *p, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len) != 0)
		return false;
	p->at += len;
	return true;
}

/* --- Member names --- */

static int by_name(const void *a, const void *b)
{
	const char *one = *(const char *const *)a, *two = *(const char *const *)b;
	int order = strcmp(one, two);

	/* Of equal names the later one is to be named in the error. */
	return order ? order : (one > two) - (one < two);
}

static enum res collect_names(struct parser *p, const struct json *object)
{
	size_t n = 0;

	if (object->len > p->names_cap) {
		size_t cap = object->len * (size_t)2;
		const char **names = malloc(cap * sizeof *names);

		if (!names)
			return out_of_memory(p);
		free(p->names);
		p->names = names;
		p->names_cap = cap;
	}
	for (const struct json *m = json_first(object); m; m = json_next(m))
		p->names[n++] = m->name;
	return RES_OK;
}

static const char *twin_of_few(const struct json *object)
{
	for (const struct json *a = json_first(object); a; a = json_next(a))
		for (const struct json *b = json_next(a); b; b = json_next(b))
			if (strcmp(a->name, b->name) == 0)
				return b->name;
	return NULL;
}

/* Sorting by the names themselves: no choice of names makes it worse than n log n. */
static const char *twin_of_many(const char **names, size_t count)
{
	qsort(names, count, sizeof *names, by_name);
	for (size_t i = 1; i < count; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			return names[i];
	return NULL;
}

static enum res check_names(struct parser *p, size_t index)
{
	const struct json *object = &p->doc->nodes[index];
	const char *twin;
	enum res res;

	if (object->len <= FEW_MEMBERS) {
		twin = twin_of_few(object);
	} else {
		if ((res = collect_names(p, object)) != RES_OK)
			return res;
		twin = twin_of_many(p->names, object->len);
	}
	return twin ? fail_at(p, twin, "a member name that the object has already") : RES_OK;
}

/* --- Values --- */

static enum res parse_value(struct parser *p, const char *name);

static enum res parse_member(struct parser *p)
{
	const char *name;
	uint32_t len;
	enum res res;

	skip_space(p);
	if ((res = parse_string(p, &name, &len)) != RES_OK)
		return res;
	skip_space(p);
	if (!take(p, ':'))
		return fail(p, "a colon is expected");
	return parse_value(p, name);
}

static enum res parse_children(struct parser *p, size_t index, char close)
{
	struct json_doc *doc = p->doc;
	size_t child;
	enum res res;

	skip_space(p);
	if (take(p, close))
		return RES_OK;
	do {
		child = doc->count;
		res = close == '}' ? parse_member(p) : parse_value(p, NULL);
		if (res != RES_OK)
			return res;
		doc->nodes[index].len++;
		skip_space(p);
	} while (take(p, ','));
	if (!take(p, close))
		return fail(p,
			    close == '}' ? "a comma or } is expected" : "a comma or ] is expected");
	doc->nodes[child].last = true;
	doc->nodes[index].skip = (uint32_t)(doc->count - index);
	return RES_OK;
}

static enum res parse_container(struct parser *p, size_t index)
{
	bool object = p->doc->nodes[index].type == JSON_OBJECT;
	enum res res;

	if (p->depth == JSON_DEPTH)
		return problem_set(p->problem, RES_TOO_LARGE, "json_too_large", NULL,
				   "nested more than %d deep", JSON_DEPTH);
	p->depth++;
	p->at++;
	res = parse_children(p, index, object ? '}' : ']');
	p->depth--;
	return res == RES_OK && object ? check_names(p, index) : res;
}

static enum res parse_scalar(struct parser *p, size_t index)
{
	struct json *node = &p->doc->nodes[index];

	if (word(p, "null")) {
		node->type = JSON_NULL;
	} else if (word(p, "true")) {
		node->type = JSON_BOOL;
		node->truth = true;
	} else if (word(p, "false")) {
		node->type = JSON_BOOL;
	} else {
		return fail(p, "a value is expected");
	}
	return RES_OK;
}

static enum res parse_value(struct parser *p, const char *name)
{
	size_t index = 0;
	enum res res;
	char c;

	skip_space(p);
	if (p->at == p->end)
		return fail(p, "");
	if ((res = add_node(p, JSON_NULL, name, &index)) != RES_OK)
		return res;
	c = *p->at;
	if (c == '{' || c == '[') {
		p->doc->nodes[index].type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
		return parse_container(p, index);
	}
	if (c == '"') {
		p->doc->nodes[index].type = JSON_STRING;
		return parse_string(p, &p->doc->nodes[index].text, &p->doc->nodes[index].len);
	}
	if (c == '-' || (c >= '0' && c <= '9'))
		return parse_number(p, index);
	return parse_scalar(p, index);
}

enum res json_parse(char *text, size_t len, struct json_doc **out, struct problem *problem)
{
	struct parser p = {.base = text, .at = text, .end = text + len, .problem = problem};
	enum res res;

	*out = NULL;
	if (len > UINT32_MAX)
		return problem_set(problem, RES_TOO_LARGE, "json_too_large", NULL,
				   "more than 4 GiB of JSON");
	p.doc = calloc(1, sizeof *p.doc);
	if (!p.doc)
		return out_of_memory(&p);
	res = parse_value(&p, NULL);
	if (res == RES_OK) {
		p.doc->nodes[0].last = true;
		skip_space(&p);
		if (p.at < p.end)
			res = fail(&p, "something behind the value");
	}
	free(p.names);
	if (res == RES_OK)
		*out = p.doc;
	else
		json_free(p.doc);
	return res;
}

void json_free(struct json_doc *doc)
{
	if (!doc)
		return;
	free(doc->nodes);
	free(doc);
}

/* --- Walking --- */

const struct json *json_root(const struct json_doc *doc)
{
	return doc->nodes;
}

const struct json *json_first(const struct json *container)
{
	bool has = container && (container->type == JSON_ARRAY || container->type == JSON_OBJECT) &&
		   container->len > 0;

	return has ? container + 1 : NULL;
}

const struct json *json_next(const struct json *value)
{
	return value->last ? NULL : value + value->skip;
}

const struct json *json_member(const struct json *object, const char *name)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (const struct json *m = json_first(object); m; m = json_next(m))
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

bool json_is_text(const struct json *value, const char *text)
{
	return value && value->type == JSON_STRING && strcmp(value->text, text) == 0;
}

enum res json_i64(const struct json *value, int64_t min, int64_t max, int64_t *out)
{
	int64_t number;
	enum res res;

	if (!value || value->type != JSON_INTEGER)
		return RES_INVALID;
	/* Read in the full range first: -1 where 0 is the least is out of range, not "no number".
	 */
	res = num_i64(value->text, value->len, INT64_MIN, INT64_MAX, &number);
	if (res != RES_OK)
		return res;
	if (number < min || number > max)
		return RES_TOO_LARGE;
	*out = number;
	return RES_OK;
}

static void print(struct json_writer *w, const char *name, const struct json *value)
{
	switch (value->type) {
	case JSON_NULL:
		json_null(w, name);
		return;
	case JSON_BOOL:
		json_flag(w, name, value->truth);
		return;
	case JSON_INTEGER:
	case JSON_REAL:
		json_raw(w, name, value->text, value->len);
		return;
	case JSON_STRING:
		json_text_n(w, name, value->text, value->len);
		return;
	case JSON_ARRAY:
		json_array(w, name);
		break;
	case JSON_OBJECT:
		json_object(w, name);
		break;
	}
	for (const struct json *c = json_first(value); c; c = json_next(c))
		print(w, c->name, c);
	json_end(w);
}

bool json_print(const struct json *value, struct buf *out)
{
	struct json_writer w;

	json_start(&w, out);
	print(&w, NULL, value);
	return json_finish(&w);
}

/* --- Typed input --- */

struct input {
	const struct json_field *field;
	const struct json *value;
	void *place; /* where the member of the caller's struct is */
	struct problem *problem;
};

static enum res wrong_type(const struct input *in, const char *want)
{
	return problem_set(in->problem, RES_INVALID, "wrong_type", in->value->name, "must be %s",
			   want);
}

static bool text_is_clean(const char *text, size_t len, bool lines)
{
	if (!lines)
		return !text_has_control(text, len);
	while (len > 0) {
		size_t piece = 0;

		while (piece < len && text[piece] != '\n' && text[piece] != '\t')
			piece++;
		if (text_has_control(text, piece))
			return false;
		piece += piece < len;
		text += piece;
		len -= piece;
	}
	return true;
}

static enum res read_text(const struct input *in)
{
	const struct json *value = in->value;
	int64_t min = in->field->min, max = in->field->max;
	bool lines = in->field->kind == JSON_IN_LINES;

	if (value->type != JSON_STRING)
		return wrong_type(in, "a string");
	if (value->len < min || value->len > max)
		return problem_set(in->problem, RES_INVALID, "out_of_range", value->name,
				   "must be %lld to %lld bytes", (long long)min, (long long)max);
	if (!text_is_clean(value->text, value->len, lines))
		return problem_set(in->problem, RES_INVALID, "bad_value", value->name,
				   lines ? "must hold no control characters but newline and tab"
					 : "must hold no control characters");
	*(const char **)in->place = value->text;
	return RES_OK;
}

static enum res read_i64(const struct input *in)
{
	int64_t min = in->field->min, max = in->field->max;

	switch (json_i64(in->value, min, max, in->place)) {
	case RES_OK:
		return RES_OK;
	case RES_TOO_LARGE:
		return problem_set(in->problem, RES_INVALID, "out_of_range", in->value->name,
				   "must be %lld to %lld", (long long)min, (long long)max);
	default:
		return wrong_type(in, "an integer");
	}
}

static enum res read_word(const struct input *in)
{
	const char *const *words = in->field->words;
	char list[200] = "";
	struct buf all;
	enum res res;

	if (in->value->type != JSON_STRING)
		return wrong_type(in, "a string");
	for (int i = 0; words[i]; i++) {
		if (json_is_text(in->value, words[i])) {
			*(int *)in->place = i;
			return RES_OK;
		}
	}
	buf_init(&all, sizeof list - 1);
	for (int i = 0; words[i]; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", words[i]);
	res = problem_set(in->problem, RES_INVALID, "bad_value", in->value->name,
			  "must be one of: %s%s", all.data ? all.data : "",
			  all.failed ? ", ..." : "");
	buf_free(&all);
	return res;
}

static enum res read_value(const struct input *in)
{
	switch (in->field->kind) {
	case JSON_IN_TEXT:
	case JSON_IN_LINES:
		return read_text(in);
	case JSON_IN_I64:
		return read_i64(in);
	case JSON_IN_WORD:
		return read_word(in);
	case JSON_IN_BOOL:
		if (in->value->type != JSON_BOOL)
			return wrong_type(in, "true or false");
		*(bool *)in->place = in->value->truth;
		return RES_OK;
	case JSON_IN_TREE:
		*(const struct json **)in->place = in->value;
		return RES_OK;
	}
	return RES_INTERNAL;
}

static void set_zero(const struct input *in)
{
	switch (in->field->kind) {
	case JSON_IN_TEXT:
	case JSON_IN_LINES:
		*(const char **)in->place = NULL;
		break;
	case JSON_IN_I64:
		*(int64_t *)in->place = 0;
		break;
	case JSON_IN_WORD:
		*(int *)in->place = 0;
		break;
	case JSON_IN_BOOL:
		*(bool *)in->place = false;
		break;
	case JSON_IN_TREE:
		*(const struct json **)in->place = NULL;
		break;
	}
}

static enum res read_member(const struct input *in)
{
	if (in->value->type != JSON_NULL)
		return read_value(in);
	if (!in->field->nullable)
		return problem_set(in->problem, RES_INVALID, "wrong_type", in->value->name,
				   "must not be null");
	set_zero(in);
	return RES_OK;
}

static enum res check_required(const struct json_field *fields, size_t count, uint64_t seen,
			       struct problem *problem)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i].required && !(seen >> i & 1))
			return problem_set(problem, RES_INVALID, "missing_field", fields[i].name,
					   "is required");
	return RES_OK;
}

enum res json_read(const struct json *object, const struct json_field *fields, size_t count,
		   void *out, uint64_t *present, struct problem *problem)
{
	uint64_t seen = 0;
	enum res res;

	if (present)
		*present = 0;
	if (count > JSON_FIELDS_MAX)
		return problem_set(problem, RES_INTERNAL, "internal", NULL, "too many fields");
	if (!object || object->type != JSON_OBJECT)
		return problem_set(problem, RES_INVALID, "wrong_type", NULL, "must be an object");
	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		size_t i = 0;

		while (i < count && strcmp(fields[i].name, m->name) != 0)
			i++;
		if (i == count)
			return problem_set(problem, RES_INVALID, "unknown_field", m->name,
					   "is not known here");
		res = read_member(&(struct input){.field = &fields[i],
						  .value = m,
						  .place = (char *)out + fields[i].offset,
						  .problem = problem});
		if (res != RES_OK)
			return res;
		seen |= UINT64_C(1) << i;
	}
	if ((res = check_required(fields, count, seen, problem)) != RES_OK)
		return res;
	if (present)
		*present = seen;
	return RES_OK;
}
