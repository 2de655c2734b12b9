/* admin/form.h – a posted HTML form (application/x-www-form-urlencoded), read strictly.
 *
 * Every field stands once, under a known name, with good escapes and UTF-8 without control
 * characters. Threads: values only. */
#ifndef HYTHE_ADMIN_FORM_H
#define HYTHE_ADMIN_FORM_H

#include <stddef.h>

#include "hythe/util/result.h"

struct form_field {
	const char *name;
	char *value; /* gets a NUL behind */
	size_t size; /* of `value` */
};

/* RES_MALFORMED: no such form, or a field of another name, twice, or missing; RES_INVALID: a value
 * that is too long or no text (the field is named). */
enum res form_read(const char *body, size_t len, const struct form_field *fields, size_t count,
		   struct problem *problem);

#endif
