/* store/audit.h – what was done and by whom, and what happened (events, the outbox of notify).
 * Owns the tables audit and event. Threads: those of the connection. */
#ifndef HYTHE_STORE_AUDIT_H
#define HYTHE_STORE_AUDIT_H

#include "hythe/store/store.h"

struct audit_row {
	int64_t at_unix;
	const char *actor, *address, *action, *target;
	const char *detail; /* a JSON object without secrets */
	const char *result; /* "ok" or the code of the refusal */
};
enum res audit_insert(struct conn *conn, const struct audit_row *row);

struct event_row {
	int64_t at_unix;
	const char *kind, *severity; /* severity: info, warning, error */
	const char *subject, *data;  /* data: a JSON object without secrets */
};
enum res event_insert(struct conn *conn, const struct event_row *row);

#endif
