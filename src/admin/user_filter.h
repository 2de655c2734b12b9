/* admin/user_filter.h – what lists and bulk share: filters by their words, input of actions. */
#ifndef HYTHE_ADMIN_USER_FILTER_H
#define HYTHE_ADMIN_USER_FILTER_H

#include "call.h"
#include "hythe/store/user_list.h"

/* Words (NULL: any) to a filter; an unknown one is refused by name. Texts are borrowed. */
bool user_filter_read(struct call *call, struct conn *conn, const char *status, const char *group,
		      const char *tag, const char *q, struct user_filter *out);

#define USER_EXTEND_FIELDS 3
#define USER_ROTATE_FIELDS 1
/* They fill struct user_extend and struct user_rotate. */
extern const struct json_field user_extend_fields[USER_EXTEND_FIELDS];
extern const struct json_field user_rotate_fields[USER_ROTATE_FIELDS];

#endif
