#include "json_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/text.h"

enum res rules_refuse(struct rules_writer *w, const char *member, const char *code,
		      const char *format, ...)
{
	char field[sizeof w->path + 64], text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	snprintf(field, sizeof field, "%s%s%s", w->path, member ? "." : "", member ? member : "");
	return problem_set(w->problem, RES_INVALID, code, field, "%s", text);
}

/* Lengthens the path for what is read next; the caller cuts it back to what it was. */
static size_t path_push(struct rules_writer *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static size_t path_push(struct rules_writer *w, const char *format, ...)
{
	size_t len = strlen(w->path);
	va_list args;

	va_start(args, format);
	vsnprintf(w->path + len, sizeof w->path - len, format, args);
	va_end(args);
	return len;
}

static enum res wrong_type(struct rules_writer *w, const char *wants)
{
	return rules_refuse(w, NULL, "wrong_type", "must be %s", wants);
}

static enum res put_text(struct rules_writer *w, const char *name, const struct rule *rule,
			 const struct json *value)
{
	if (value->type != JSON_STRING)
		return wrong_type(w, "text");
	if ((int64_t)value->len < rule->min || (int64_t)value->len > rule->max)
		return rules_refuse(w, NULL, "out_of_range",
				    "must be %" PRId64 " to %" PRId64 " bytes long", rule->min,
				    rule->max);
	for (const char *c = value->text; *c; c++)
		if ((unsigned char)*c < 0x20 && !(rule->lines && (*c == '\n' || *c == '\t')))
			return rules_refuse(w, NULL, "bad_value",
					    "must not have control characters");
	if (!rule->lines && text_has_control(value->text, value->len))
		return rules_refuse(w, NULL, "bad_value", "must not have control characters");
	if (rule->valid && !rule->valid(value->text))
		return rules_refuse(w, NULL, "bad_value", "must be %s", rule->wants);
	json_text_n(&w->json, name, value->text, value->len);
	return RES_OK;
}

static enum res put_word(struct rules_writer *w, const struct rule *rule, const struct json *value)
{
	char list[160] = "";
	size_t len = 0;

	if (value->type != JSON_STRING)
		return wrong_type(w, "text");
	for (size_t i = 0; rule->words[i]; i++)
		if (json_is_text(value, rule->words[i])) {
			json_text(&w->json, rule->name, rule->words[i]);
			return RES_OK;
		}
	for (size_t i = 0; rule->words[i] && len < sizeof list; i++)
		len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "",
					rule->words[i]);
	return rules_refuse(w, NULL, "bad_value", "must be one of %s", list);
}

static enum res put_number(struct rules_writer *w, const struct rule *rule,
			   const struct json *value)
{
	int64_t number;

	if (value->type != JSON_INTEGER)
		return wrong_type(w, "an integer");
	if (json_i64(value, rule->min, rule->max, &number) != RES_OK)
		return rules_refuse(w, NULL, "out_of_range", "must be %" PRId64 " to %" PRId64,
				    rule->min, rule->max);
	json_int(&w->json, rule->name, number);
	return RES_OK;
}

static enum res put_list(struct rules_writer *w, const struct rule *rule, const struct json *value)
{
	static const struct rule item_size = {.min = 1, .max = 255};
	struct rule item = item_size;
	size_t index = 0;
	enum res res = RES_OK;

	if (value->type != JSON_ARRAY)
		return wrong_type(w, "an array");
	if ((int64_t)value->len < rule->min || (int64_t)value->len > rule->max)
		return rules_refuse(w, NULL, "out_of_range",
				    "must have %" PRId64 " to %" PRId64 " items", rule->min,
				    rule->max);
	item.valid = rule->valid;
	item.wants = rule->wants;
	json_array(&w->json, rule->name);
	for (const struct json *v = json_first(value); v && res == RES_OK; v = json_next(v)) {
		size_t len = path_push(w, "[%zu]", index++);

		res = rule->shape == SHAPE_TEXTS ? put_text(w, NULL, &item, v)
						 : rules_put(w, NULL, rule->object, v, NULL);
		w->path[len] = '\0';
	}
	json_end(&w->json);
	return res;
}

static int compare_names(const void *a, const void *b)
{
	const struct json *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static enum res put_map(struct rules_writer *w, const struct rule *rule, const struct json *value)
{
	static const struct rule text = {.min = 1, .max = 1024};
	const struct json *members[KEPT_MAX];
	size_t count = 0;
	enum res res = RES_OK;

	if (value->type != JSON_OBJECT)
		return wrong_type(w, "an object");
	if ((int64_t)value->len < rule->min || (int64_t)value->len > rule->max)
		return rules_refuse(w, NULL, "out_of_range",
				    "must have %" PRId64 " to %" PRId64 " members", rule->min,
				    rule->max);
	for (const struct json *m = json_first(value); m; m = json_next(m)) {
		if (!rule->valid(m->name))
			return rules_refuse(w, NULL, "bad_value", "must have names of %s",
					    rule->wants);
		members[count++] = m;
	}
	qsort(members, count, sizeof *members, compare_names);
	json_object(&w->json, rule->name);
	for (size_t i = 0; i < count && res == RES_OK; i++) {
		size_t len = path_push(w, ".%s", members[i]->name);

		res = put_text(w, members[i]->name, &text, members[i]);
		w->path[len] = '\0';
	}
	json_end(&w->json);
	return res;
}

static enum res put_value(struct rules_writer *w, const struct rule *rule, const struct json *value)
{
	switch (rule->shape) {
	case SHAPE_FLAG:
		if (value->type != JSON_BOOL)
			return wrong_type(w, "true or false");
		json_flag(&w->json, rule->name, value->truth);
		return RES_OK;
	case SHAPE_NUMBER:
		return put_number(w, rule, value);
	case SHAPE_TEXT:
		return put_text(w, rule->name, rule, value);
	case SHAPE_WORD:
		return put_word(w, rule, value);
	case SHAPE_OBJECT:
		return rules_put(w, rule->name, rule->object, value, NULL);
	case SHAPE_TEXTS:
	case SHAPE_OBJECTS:
		return put_list(w, rule, value);
	case SHAPE_MAP:
		return put_map(w, rule, value);
	}
	return RES_INTERNAL;
}

static enum res put_absent(struct rules_writer *w, const struct rule *rule)
{
	if (rule->required)
		return rules_refuse(w, NULL, "missing_field", "is needed");
	if (rule->fallback)
		json_int(&w->json, rule->name, rule->fallback);
	if (rule->always)
		return rules_put(w, rule->name, rule->object, NULL, NULL);
	return RES_OK;
}

static enum res known_check(struct rules_writer *w, const struct object_rules *rules,
			    const struct json *object)
{
	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		size_t i = 0;

		while (i < rules->count && strcmp(rules->rules[i].name, m->name) != 0)
			i++;
		if (i == rules->count)
			return rules_refuse(w, m->name, "unknown_field", "is not known here");
	}
	return RES_OK;
}

/* The member to write: the patch's word goes, and null takes away. */
static const struct json *pick(const char *name, const struct json *object, const struct json *base)
{
	const struct json *member = object ? json_member(object, name) : NULL;

	if (!member && base)
		member = json_member(base, name);
	return member && member->type != JSON_NULL ? member : NULL;
}

enum res rules_put(struct rules_writer *w, const char *name, const struct object_rules *rules,
		   const struct json *object, const struct json *base)
{
	enum res res = RES_OK;

	if (object && object->type != JSON_OBJECT)
		return wrong_type(w, "an object");
	if (object && (res = known_check(w, rules, object)) != RES_OK)
		return res;
	json_object(&w->json, name);
	for (size_t i = 0; i < rules->count && res == RES_OK; i++) {
		const struct rule *rule = &rules->rules[i];
		const struct json *member = pick(rule->name, object, base);
		size_t len;

		if (rule->secret && w->public)
			continue;
		len = path_push(w, "%s%s", *w->path ? "." : "", rule->name);
		res = member ? put_value(w, rule, member) : put_absent(w, rule);
		w->path[len] = '\0';
	}
	json_end(&w->json);
	if (res == RES_OK && object && rules->check && !w->public)
		res = rules->check(w, object);
	return res;
}

static bool object_holds_secret(const struct object_rules *rules, const struct json *object)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct json *member = json_member(object, rules->rules[i].name);

		if (member && rule_holds_secret(&rules->rules[i], member))
			return true;
	}
	return false;
}

bool rule_holds_secret(const struct rule *rule, const struct json *value)
{
	if (value->type == JSON_NULL)
		return false;
	if (rule->secret)
		return true;
	if (rule->shape == SHAPE_OBJECT)
		return object_holds_secret(rule->object, value);
	if (rule->shape != SHAPE_OBJECTS)
		return false;
	for (const struct json *item = json_first(value); item; item = json_next(item))
		if (object_holds_secret(rule->object, item))
			return true;
	return false;
}
