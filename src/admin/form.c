#include "form.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "hythe/util/text.h"

static enum res malformed(struct problem *problem)
{
	return problem_set(problem, RES_MALFORMED, "bad_form", NULL,
			   "The form was not sent as the page sends it.");
}

static const struct form_field *field_of(const struct form_field *fields, size_t count,
					 const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	return NULL;
}

static enum res read_value(const struct form_field *field, const char *text, size_t len,
			   struct problem *problem)
{
	size_t out_len;

	if (text_percent_decode(text, len, true, field->value, field->size, &out_len) &&
	    text_utf8_valid(field->value, out_len) && !text_has_control(field->value, out_len))
		return RES_OK;
	field->value[0] = '\0'; /* whoever shows the form again shows nothing of it */
	return problem_set(problem, RES_INVALID, "bad_value", field->name,
			   "%s is too long, or has characters that cannot be used.", field->name);
}

enum res form_read(const char *body, size_t len, const struct form_field *fields, size_t count,
		   struct problem *problem)
{
	const char *at = body, *end = body + len;
	uint64_t seen = 0;

	while (at < end) {
		const char *amp = memchr(at, '&', (size_t)(end - at)), *stop = amp ? amp : end;
		const char *equals = memchr(at, '=', (size_t)(stop - at));
		const struct form_field *field;
		enum res res;

		if (!equals || !(field = field_of(fields, count, at, (size_t)(equals - at))))
			return malformed(problem);
		if (seen & (UINT64_C(1) << (field - fields)))
			return malformed(problem);
		seen |= UINT64_C(1) << (field - fields);
		if ((res = read_value(field, equals + 1, (size_t)(stop - equals - 1), problem)) !=
		    RES_OK)
			return res;
		at = amp ? amp + 1 : end;
	}
	return seen == (UINT64_C(1) << count) - 1 ? RES_OK : malformed(problem);
}
