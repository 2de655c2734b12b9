/* What nodes tell of their inbounds: states, pins, first run. */
#include "hythe/ops/inbounds.h"

#include <string.h>

#include "hythe/store/inbounds.h"
#include "hythe/util/json_write.h"
#include "op_parts.h"

static bool is_down(enum inbound_state state)
{
	return state == INBOUND_FAILED || state == INBOUND_UNREACHABLE;
}

/* Foreign text: cut to its bound between characters, control characters made blanks. */
static const char *error_text(struct op *op, const char *error)
{
	size_t len = strlen(error);
	char *text;

	if (len > STATE_ERROR_MAX)
		len = STATE_ERROR_MAX;
	while (len > 0 && ((unsigned char)error[len] & 0xc0) == 0x80)
		len--;
	text = arena_dup(op->arena, error, len);
	for (size_t i = 0; text && i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = ' ';
	return text;
}

static enum res take_cert(struct op *op, const struct inbound_report *report,
			  struct inbound *inbound)
{
	struct cert_facts facts;
	enum res res;

	if (!report->cert_pem) {
		if (report->cert_pin.known)
			inbound->cert_pin = report->cert_pin;
		if (report->key_pin.known)
			inbound->key_pin = report->key_pin;
		return RES_OK;
	}
	if ((res = cert_read("cert_pem", report->cert_pem, &facts, op->problem)) != RES_OK)
		return res;
	inbound->cert_pem = report->cert_pem;
	inbound->cert_pin = facts.cert_pin;
	inbound->key_pin = facts.key_pin;
	inbound->cert_not_after_unix = facts.not_after_unix;
	return RES_OK;
}

static enum res take_state(struct op *op, const struct inbound_report *report,
			   struct inbound *inbound)
{
	if (inbound->state != report->state)
		inbound->state_since_unix = op->now_unix;
	/* It was well until now: from here counts how long it is hidden after. */
	if (report->state == INBOUND_RUNNING || inbound->state == INBOUND_RUNNING)
		inbound->last_ok_unix = op->now_unix;
	if (report->state == INBOUND_RUNNING && inbound->first_run_unix == 0)
		inbound->first_run_unix = op->now_unix;
	inbound->state = report->state;
	inbound->state_error =
		error_text(op, is_down(report->state) && report->error ? report->error : "");
	return inbound->state_error ? RES_OK : RES_NOMEM;
}

static enum res tell(struct op *op, const struct inbound *before, const struct inbound *after)
{
	bool down = is_down(after->state);
	struct json_writer w;
	struct buf data;
	enum res res = RES_NOMEM;

	if (is_down(before->state) == down)
		return RES_OK;
	buf_init(&data, 8192);
	json_start(&w, &data);
	json_object(&w, NULL);
	json_text(&w, "state", inbound_state_words[after->state]);
	json_text(&w, "error", after->state_error);
	json_text(&w, "node", after->node_name);
	json_text(&w, "profile", after->profile_name);
	json_end(&w);
	if (json_finish(&w))
		res = op_event(op, down ? "inbound_failed" : "inbound_recovered",
			       down ? "error" : "info", after->public_id.text, data.data);
	buf_free(&data);
	return res;
}

static bool same_listing(const struct inbound *a, const struct inbound *b)
{
	return a->state == b->state && a->first_run_unix == b->first_run_unix &&
	       a->cert_pin.known == b->cert_pin.known && a->key_pin.known == b->key_pin.known &&
	       memcmp(a->cert_pin.bytes, b->cert_pin.bytes, PIN_LEN) == 0 &&
	       memcmp(a->key_pin.bytes, b->key_pin.bytes, PIN_LEN) == 0 &&
	       strcmp(a->cert_pem, b->cert_pem) == 0;
}

enum res op_inbound_state(struct op *op, void *inbound_report)
{
	const struct inbound_report *report = inbound_report;
	struct inbound before, after;
	enum res res = inbound_by_id(op->conn, report->id, op->arena, &before);

	if (res == RES_OK && report->node_id && report->node_id != before.node_id)
		res = RES_NOT_FOUND;
	if ((res = target_found(op, res, "inbound")) != RES_OK)
		return res;
	if (!before.managed)
		return problem_set(op->problem, RES_CONFLICT, "not_managed", NULL,
				   "no node runs this inbound");
	if (report->state == INBOUND_PENDING || report->state == INBOUND_EXTERNAL)
		return problem_set(op->problem, RES_INVALID, "bad_value", "state",
				   "is not for a node to tell");
	after = before;
	if ((res = take_cert(op, report, &after)) != RES_OK ||
	    (res = take_state(op, report, &after)) != RES_OK ||
	    (res = inbound_update(op->conn, &after)) != RES_OK ||
	    (res = tell(op, &before, &after)) != RES_OK)
		return res;
	/* Not CHANGE_INBOUND: the node's record is the same, and need not go back to where it came
	 * from. */
	if (same_listing(&before, &after))
		return RES_OK;
	return txn_change(op->txn, CHANGE_RENDER, 0, 0, false);
}
