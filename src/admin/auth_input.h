/* admin/auth_input.h – the bodies of signing in and of a new password, as tables. Their texts are
 * borrowed from the body, which holds a password: call_wipe_body() when they have been read. */
#ifndef HYTHE_ADMIN_AUTH_INPUT_H
#define HYTHE_ADMIN_AUTH_INPUT_H

#include "hythe/util/json_read.h"

struct sign_in_input {
	const char *name, *password;
};
#define SIGN_IN_FIELDS 2
extern const struct json_field sign_in_fields[SIGN_IN_FIELDS];

struct password_input {
	const char *password, *current_password;
};
#define PASSWORD_FIELDS 2
extern const struct json_field password_fields[PASSWORD_FIELDS];

#endif
