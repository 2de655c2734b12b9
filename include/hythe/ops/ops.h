/* ops/ops.h – how a change is made: one operation inside one write job.
 *
 * An operation is a function `enum res op_user_create(struct op *op, ...)`. It runs on the writer's
 * connection and does everything that belongs to the change: rules, token, sealing, rows, audit,
 * change record, digests. API, control socket, bulk, demo data and timers call the same functions.
 * op_run() wraps one in a job with idempotency, dry run and the refusal's audit.
 * Threads: op_run from a worker or timer thread; operations only inside a job. */
#ifndef HYTHE_OPS_OPS_H
#define HYTHE_OPS_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "hythe/auth/rights.h"
#include "hythe/auth/vault.h"
#include "hythe/model/period.h"
#include "hythe/model/settings.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"
#include "hythe/util/result.h"

/* What operations need of the panel; made once, lent to admin and timers. */
struct ops {
	struct store *store;
	const struct vault *vault;
	/* ops/settings.h; NULL before the first set-up: defaults, UTC. */
	struct settings_box *settings;
	unsigned write_wait_ms; /* how long a job may wait to begin; 0: 250. Tests bear a slow disk */
};

struct op_job; /* ops/run.c */

struct op {
	struct txn *txn;
	struct conn *conn; /* txn_conn(txn) */
	const struct vault *vault;
	const struct actor *actor;
	const struct settings *settings; /* as of the job's start */
	const struct zone *zone;
	int64_t now_unix;
	struct arena *arena; /* lives as long as the job */
	struct problem *problem;
	bool dry_run;       /* only for what cannot be undone; the job undoes the rest */
	struct op_job *job; /* op_run()'s own */
};

typedef enum res (*op_fn)(struct op *op, void *arg);

#define OP_RESOURCE_MAX 32768 /* public ids of a bulk call of 1,000 */

struct op_call {
	const struct actor *actor;
	const char *idempotency_key; /* NULL: none; 1 to 128 printable ASCII characters */
	const uint8_t *request_hash; /* SHA-256 of method, path, query, body; with a key only */
	bool dry_run;
	enum store_source source;
	int status; /* of the answer when it succeeds: 200, 201, 204 */
	/* For the audit of a refusal: "user.create" or "POST /users"; NULL: unknown. */
	const char *action, *target;
};

struct op_outcome {
	int64_t revision;
	int status;      /* the stored one when repeated */
	bool repeated;   /* an Idempotency-Key said so: nothing was done now */
	char *resources; /* when repeated: public ids of the first answer, one a line; in the arena */
};

/* Runs fn(op, arg) as a job and waits for the commit. `problem` is filled unless RES_OK; nothing is
 * changed then. With a key used before for the same request: RES_OK, repeated. For another request:
 * RES_INVALID, code idempotency_key_reused. */
enum res op_run(const struct ops *ops, const struct op_call *call, op_fn fn, void *arg,
		struct arena *arena, struct op_outcome *out, struct problem *problem);

/* The audit row of a refusal that came before an operation could run (a wrong password); op_run()
 * does it by itself. Nobody waits for it. */
void op_audit_refusal(const struct ops *ops, const struct op_call *call,
		      const struct problem *problem);

/* For operations: the audit row of a success; `detail` is a JSON object without secrets, or NULL. */
enum res op_audit(struct op *op, const char *action, const char *target, const char *detail);
/* For operations that make something: its public id becomes part of what a repeat answers. */
enum res op_made(struct op *op, const char *public_id);
enum res op_event(struct op *op, const char *kind, const char *severity, const char *subject,
		  const char *data);

/* `If-Match`: 0 asks for nothing. RES_PRECONDITION, code version_mismatch, names the present one. */
enum res op_check_version(struct op *op, int64_t if_match, int64_t version);

#endif
