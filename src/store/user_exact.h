/* user_exact.h – private to store/: the one user that a pasted text names. */
#ifndef HYTHE_STORE_USER_EXACT_H
#define HYTHE_STORE_USER_EXACT_H

#include "hythe/store/conn.h"

/* RES_NOT_FOUND: it names nobody in particular. */
enum res user_exact(struct conn *conn, const char *q, struct arena *arena, int64_t *id);

#endif
