/* util/result.h – how every part says what became of a call.
 *
 * One list holds each result with its code, its text and its HTTP status, so a fault found deep in
 * the store reaches the API without being translated on the way. `struct problem` adds what a person
 * needs: a stable code, the field at fault and a sentence that says what would be right.
 * Threads: values only. */
#ifndef HYTHE_UTIL_RESULT_H
#define HYTHE_UTIL_RESULT_H

#include <stdbool.h>

#define RESULTS(X)                                                                                 \
	X(RES_OK, "ok", "ok", 200)                                                                 \
	X(RES_MALFORMED, "malformed", "malformed request", 400)                                    \
	X(RES_UNAUTHORIZED, "not_signed_in", "not signed in", 401)                                 \
	X(RES_FORBIDDEN, "forbidden", "not allowed", 403)                                          \
	X(RES_NOT_FOUND, "not_found", "not found", 404)                                            \
	X(RES_METHOD, "method_not_allowed", "method not allowed", 405)                             \
	X(RES_CONFLICT, "conflict", "conflict", 409)                                               \
	X(RES_PRECONDITION, "version_mismatch", "changed meanwhile", 412)                          \
	X(RES_TOO_LARGE, "too_large", "too large", 413)                                            \
	X(RES_MEDIA_TYPE, "media_type", "unsupported media type", 415)                             \
	X(RES_INVALID, "invalid", "invalid", 422)                                                  \
	X(RES_LIMITED, "too_many_requests", "too many requests", 429)                              \
	X(RES_INTERNAL, "internal", "internal error", 500)                                         \
	X(RES_IO, "io_error", "input/output error", 500)                                           \
	X(RES_CORRUPT, "damaged", "stored data damaged", 500)                                      \
	X(RES_NOMEM, "out_of_memory", "out of memory", 503)                                        \
	X(RES_BUSY, "busy", "busy", 503)                                                           \
	X(RES_FULL, "disk_full", "disk full", 507)

enum res {
#define X(name, code, text, status) name,
	RESULTS(X)
#undef X
};

struct problem {
	enum res res;
	char code[40];    /* stable, snake_case: "name_taken"; "" until set */
	char field[96];   /* dotted path into the body, or the parameter or header; "" if none */
	char detail[256]; /* one sentence, no secret, no control character */
	unsigned retry_s; /* 429 and 503: when it is worth another try; 0: in a second */
};

/* The code of a problem that nobody gave a better one: "disk_full". */
const char *res_code(enum res res);
const char *res_text(enum res res);
int res_status(enum res res); /* HTTP status */

/* Fills `problem` (NULL: nothing is kept) and returns `res`, so that a check is one line.
 * The first problem stands: a later call does not overwrite it. `field` may be NULL. */
enum res problem_set(struct problem *problem, enum res res, const char *code, const char *field,
		     const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
