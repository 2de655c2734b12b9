#include "hythe/ops/bulk.h"

#include <stdio.h>
#include <string.h>

#include "hythe/store/store.h"

/* To name every failing item each one needs a savepoint of its own, which makes the search index
 * write what it holds; so savepoints come only when it is known that nothing will be kept, and not
 * for long. */
#define DIAGNOSE_MS 40

static void name_field(const struct bulk *bulk, size_t index, struct problem *problem)
{
	char field[sizeof problem->field];

	snprintf(field, sizeof field, "%s[%zu]%s%.60s", bulk->field, index,
		 problem->field[0] ? "." : "", problem->field);
	memcpy(problem->field, field, sizeof field);
}

/* What the item's own op is told stands in a problem of its own. */
static enum res run_item(struct op *op, const struct bulk *bulk, size_t index,
			 struct problem *problem)
{
	struct op inner = *op;
	enum res res;

	*problem = (struct problem){0};
	inner.problem = problem;
	res = bulk->items[index].fn(&inner, bulk->items[index].arg);
	if (res == RES_OK || (res == RES_NOT_FOUND && bulk->skip_gone))
		return res;
	problem_set(problem, res, res_code(res), NULL, "%s", res_text(res));
	name_field(bulk, index, problem);
	return res;
}

/* Our own failures end the whole; refusals are the item's. */
static bool is_refusal(enum res res)
{
	return res_status(res) < 500;
}

static void note(struct bulk *bulk, size_t index, const struct problem *problem)
{
	bulk->failed++;
	if (bulk->error_count == BULK_ERRORS_MAX)
		return;
	bulk->errors[bulk->error_count].index = index;
	bulk->errors[bulk->error_count++].problem = *problem;
}

static enum res run_alone(struct op *op, struct bulk *bulk, size_t index)
{
	struct problem problem;
	enum res res = txn_nest(op->txn), ended;

	if (res != RES_OK)
		return res;
	res = run_item(op, bulk, index, &problem);
	ended = txn_nest_end(op->txn, res == RES_OK);
	if (ended != RES_OK)
		return ended;
	if (res == RES_OK)
		return RES_OK;
	if (res == RES_NOT_FOUND && bulk->skip_gone) {
		bulk->skipped++;
		return RES_OK;
	}
	if (!is_refusal(res))
		return problem_set(op->problem, res, problem.code, problem.field, "%s",
				   problem.detail);
	note(bulk, index, &problem);
	return RES_OK;
}

static enum res run_each_alone(struct op *op, struct bulk *bulk)
{
	enum res res = RES_OK;

	for (size_t i = 0; res == RES_OK && i < bulk->count; i++)
		res = run_alone(op, bulk, i);
	return res;
}

/* Everything was undone; runs again to find what else is wrong. */
static void diagnose(struct op *op, struct bulk *bulk, size_t first, const struct problem *problem)
{
	int64_t until = clock_mono_ms(bulk->clock) + DIAGNOSE_MS;
	struct op rehearsal = *op;

	rehearsal.job = NULL; /* what is made now is no part of the answer */
	for (size_t i = 0; i < bulk->count && clock_mono_ms(bulk->clock) < until; i++) {
		size_t before = bulk->failed;

		if (run_alone(&rehearsal, bulk, i) != RES_OK)
			break;
		/* what failed the first time fails again, or depended on what came before it */
		if (i == first && bulk->failed == before)
			note(bulk, i, problem);
	}
	if (bulk->failed == 0)
		note(bulk, first, problem);
}

static enum res run_all_or_none(struct op *op, struct bulk *bulk)
{
	struct problem problem = {0};
	enum res res = txn_nest(op->txn), ended;
	size_t i = 0;

	if (res != RES_OK)
		return res;
	for (; i < bulk->count; i++) {
		res = run_item(op, bulk, i, &problem);
		if (res == RES_NOT_FOUND && bulk->skip_gone) {
			bulk->skipped++;
			res = RES_OK;
		}
		if (res != RES_OK)
			break;
	}
	ended = txn_nest_end(op->txn, res == RES_OK);
	if (res == RES_OK || ended != RES_OK)
		return ended;
	if (is_refusal(res)) {
		diagnose(op, bulk, i, &problem);
		problem = bulk->errors[0].problem;
		res = problem.res;
	}
	return problem_set(op->problem, res, problem.code, problem.field, "%s", problem.detail);
}

enum res op_bulk(struct op *op, void *arg)
{
	struct bulk *bulk = arg;

	bulk->error_count = bulk->failed = bulk->skipped = 0;
	return bulk->each_alone ? run_each_alone(op, bulk) : run_all_or_none(op, bulk);
}
