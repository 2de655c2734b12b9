#include "hythe/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "hythe/ops/settings.h"
#include "hythe/store/audit.h"
#include "hythe/store/idempotency.h"
#include "hythe/util/hash.h"
#include "hythe/util/json_write.h"
#include "hythe/util/log.h"
#include "hythe/util/text.h"

#define WRITE_WAIT_MS 250
#define ARENA_MAX     (8u << 20)

/* One op_run() from its caller to the writer thread and back. */
struct op_job {
	const struct ops *ops;
	const struct op_call *call;
	op_fn fn;
	void *arg;
	struct arena *arena;
	struct problem *problem;
	struct settings_snapshot *snapshot; /* of the job's start; NULL: before set-up */
	struct settings settings;           /* then these */
	struct zone *zone;
	struct buf made;
	struct op_outcome out;
	bool rehearsed; /* a dry run went well; its rows were undone */
};

/* --- Idempotency --- */

/* A body may hold a password (POST /admins): its bare hash must not lie in the database. */
#define MAC_PURPOSE "idempotency request"

/* RES_NOT_FOUND: the key is fresh, or there is none. RES_OK: the outcome is filled from the first
 * time. */
static enum res repeat(struct op_job *job, struct op *op)
{
	const struct op_call *call = job->call;
	struct idempotency_row row;
	uint8_t mac[SHA256_LEN];
	enum res res;

	if (!call->idempotency_key)
		return RES_NOT_FOUND;
	res = idempotency_find(op->conn, op->actor->public_id.text, call->idempotency_key,
			       op->now_unix - IDEMPOTENCY_KEEP_S, op->arena, &row);
	if (res != RES_OK)
		return res;
	vault_mac(op->vault, MAC_PURPOSE, call->request_hash, mac);
	if (!secret_equal(row.request_hash, mac, sizeof mac))
		return problem_set(
			op->problem, RES_INVALID, "idempotency_key_reused", "Idempotency-Key",
			"this Idempotency-Key was used for another request; choose a new one");
	job->out.repeated = true;
	job->out.status = (int)row.status;
	job->out.revision = row.revision;
	job->out.resources = arena_dup(op->arena, row.resources, strlen(row.resources));
	return job->out.resources ? RES_OK : RES_NOMEM;
}

static enum res remember(struct op_job *job, struct op *op)
{
	const struct op_call *call = job->call;
	struct idempotency_row row = {
		.actor = op->actor->public_id.text,
		.key = call->idempotency_key,
		.status = call->status,
		.revision = job->out.revision,
		.created_unix = op->now_unix,
		.resources = job->made.len ? job->made.data : "",
	};

	if (!call->idempotency_key)
		return RES_OK;
	vault_mac(op->vault, MAC_PURPOSE, call->request_hash, row.request_hash);
	return idempotency_put(op->conn, &row);
}

/* --- The job --- */

static enum res perform(struct op_job *job, struct op *op)
{
	int64_t floor;
	enum res res = repeat(job, op);

	if (res != RES_NOT_FOUND)
		return res;
	if ((res = job->fn(op, job->arg)) != RES_OK)
		return res;
	if (job->call->dry_run) {
		/* Any failure undoes the job's rows, change records and sums; this one is a
		 * success. */
		job->rehearsed = true;
		return RES_CONFLICT;
	}
	/* Not the group's last number: a repeat must say the same as the first answer. */
	if ((res = store_revision(op->conn, &job->out.revision, &floor)) != RES_OK)
		return res;
	return remember(job, op);
}

static struct op op_of(struct op_job *job, struct txn *txn)
{
	const struct settings_snapshot *snapshot = job->snapshot;

	return (struct op){
		.txn = txn,
		.conn = txn_conn(txn),
		.vault = job->ops->vault,
		.actor = job->call->actor,
		.settings = snapshot ? &snapshot->settings : &job->settings,
		.zone = snapshot ? snapshot->zone : job->zone,
		.now_unix = clock_unix(store_clock(job->ops->store)),
		.arena = job->arena,
		.problem = job->problem,
		.dry_run = job->call->dry_run,
		.job = job,
	};
}

static enum res run_job(struct txn *txn, void *arg)
{
	struct op_job *job = arg;
	struct op op;

	if (job->ops->settings) {
		settings_box_lend(job->ops->settings, txn_conn(txn));
		/* Not when the caller came: a change of settings may have been before him. */
		job->snapshot = settings_take(job->ops->settings);
	}
	op = op_of(job, txn);
	return perform(job, &op);
}

/* --- Refusals --- */

/* A refusal undoes its job, so its audit row is a job of its own. Nobody waits for it, and the
 * writer's queue bounds how many there can be. */
struct refusal {
	int64_t at_unix;
	char actor[PUBLIC_ID_LEN + 1], address[ADDR_TEXT_MAX], action[96], target[96], detail[640],
		code[40];
};

static enum res refusal_job(struct txn *txn, void *arg)
{
	const struct refusal *refusal = arg;
	struct audit_row row = {
		.at_unix = refusal->at_unix,
		.actor = refusal->actor,
		.address = refusal->address,
		.action = refusal->action,
		.target = refusal->target,
		.detail = refusal->detail,
		.result = refusal->code,
	};

	return audit_insert(txn_conn(txn), &row);
}

static void refusal_done(void *arg, enum res res, int64_t revision)
{
	(void)revision;
	if (res != RES_OK)
		log_warn("audit_lost", "result=%s", log_quote(res_text(res)));
	free(arg);
}

static void refusal_detail(const struct problem *problem, char *out, size_t size)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, size - 1);
	json_start(&w, &text);
	json_object(&w, NULL);
	if (problem->field[0])
		json_text(&w, "field", problem->field);
	json_end(&w);
	if (!json_finish(&w) || !text_copy(out, size, text.data))
		text_copy(out, size, "{}");
	buf_free(&text);
}

static void cut_copy(char *out, size_t size, const char *text)
{
	size_t len = text ? strnlen(text, size - 1) : 0;

	memcpy(out, text ? text : "", len);
	out[len] = '\0';
	while (len > 0 && !text_utf8_valid(out, len))
		out[--len] = '\0';
}

/* Refused is what the asker got wrong; a busy store or a full disk is no deed of anybody's. */
static bool is_refusal(enum res res)
{
	return res != RES_OK && res_status(res) < 500;
}

void op_audit_refusal(const struct ops *ops, const struct op_call *call,
		      const struct problem *problem)
{
	struct refusal *refusal;

	if (call->dry_run || call->actor->kind == ACTOR_TIMER || !is_refusal(problem->res))
		return;
	if (!(refusal = calloc(1, sizeof *refusal)))
		return;
	refusal->at_unix = clock_unix(store_clock(ops->store));
	cut_copy(refusal->actor, sizeof refusal->actor, call->actor->public_id.text);
	if (call->actor->address.family)
		addr_print(&call->actor->address, refusal->address);
	cut_copy(refusal->action, sizeof refusal->action, call->action ? call->action : "refused");
	cut_copy(refusal->target, sizeof refusal->target, call->target);
	cut_copy(refusal->code, sizeof refusal->code, problem->code);
	refusal_detail(problem, refusal->detail, sizeof refusal->detail);
	if (store_submit(ops->store, call->source, refusal_job, refusal_done, refusal) != RES_OK) {
		log_warn("audit_lost", "result=busy");
		free(refusal);
	}
}

/* --- The caller's side --- */

static bool key_valid(const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < len; i++)
		if (key[i] < 0x21 || key[i] > 0x7e)
			return false;
	return len >= 1 && len <= 128;
}

/* Before the first set-up there is no box to take them from. */
static enum res default_settings(struct op_job *job)
{
	settings_default(&job->settings);
	return zone_load("UTC", &job->zone);
}

static enum res settle(struct op_job *job, enum res res, struct op_outcome *out)
{
	if (job->rehearsed) {
		*out = (struct op_outcome){.status = job->call->status};
		return RES_OK;
	}
	if (res == RES_OK) {
		*out = job->out;
		return RES_OK;
	}
	problem_set(job->problem, res, res_code(res), NULL, "%s", res_text(res));
	op_audit_refusal(job->ops, job->call, job->problem);
	return res;
}

enum res op_run(const struct ops *ops, const struct op_call *call, op_fn fn, void *arg,
		struct arena *arena, struct op_outcome *out, struct problem *problem)
{
	struct op_outcome no_outcome;
	struct problem no_problem = {0};
	struct arena own;
	struct op_job job = {
		.ops = ops,
		.call = call,
		.fn = fn,
		.arg = arg,
		.arena = arena ? arena : &own,
		.problem = problem ? problem : &no_problem,
		.out = {.status = call->status},
	};
	enum res res;

	out = out ? out : &no_outcome;
	*out = (struct op_outcome){0};
	if (call->idempotency_key && !key_valid(call->idempotency_key))
		return problem_set(problem, RES_INVALID, "bad_value", "Idempotency-Key",
				   "Idempotency-Key must be 1 to 128 printable ASCII characters "
				   "without blanks");
	arena_init(&own, ARENA_MAX);
	buf_init(&job.made, OP_RESOURCE_MAX);
	if (ops->settings || (res = default_settings(&job)) == RES_OK)
		res = store_write(ops->store, call->source, run_job, &job,
				  ops->write_wait_ms ? ops->write_wait_ms : WRITE_WAIT_MS, NULL);
	res = settle(&job, res, out);
	if (job.snapshot)
		settings_give(ops->settings, job.snapshot);
	zone_free(job.zone);
	buf_free(&job.made);
	arena_free(&own);
	return res;
}

/* --- What operations call --- */

enum res op_audit(struct op *op, const char *action, const char *target, const char *detail)
{
	char address[ADDR_TEXT_MAX] = "";
	struct audit_row row = {
		.at_unix = op->now_unix,
		.actor = op->actor->public_id.text,
		.address = address,
		.action = action,
		.target = target,
		.detail = detail,
		.result = "ok",
	};

	if (op->actor->address.family)
		addr_print(&op->actor->address, address);
	return audit_insert(op->conn, &row);
}

enum res op_made(struct op *op, const char *public_id)
{
	if (!op->job)
		return RES_OK;
	if (buf_str(&op->job->made, public_id) && buf_char(&op->job->made, '\n'))
		return RES_OK;
	return problem_set(op->problem, RES_TOO_LARGE, "too_many", NULL,
			   "too many things made at once");
}

enum res op_event(struct op *op, const char *kind, const char *severity, const char *subject,
		  const char *data)
{
	struct event_row row = {.at_unix = op->now_unix,
				.kind = kind,
				.severity = severity,
				.subject = subject,
				.data = data};

	return event_insert(op->conn, &row);
}

enum res op_check_version(struct op *op, int64_t if_match, int64_t version)
{
	if (if_match == 0 || if_match == version)
		return RES_OK;
	return problem_set(op->problem, RES_PRECONDITION, "version_mismatch", "If-Match",
			   "it was changed meanwhile: its version is %lld, not %lld",
			   (long long)version, (long long)if_match);
}
