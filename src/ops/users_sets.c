/* users_sets.c – a user's groups and the nodes taken away from him, each given as a whole set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/store/groups.h"
#include "hythe/util/json_read.h"
#include "users_internal.h"

struct set_kind {
	const char *field; /* of the input */
	const char *what;
	uint32_t max;
	enum id_kind id_kind;
	enum res (*find)(struct op *op, const char *public_id, int64_t *id);
	enum res (*read)(struct conn *conn, int64_t user_id, struct arena *arena, int64_t **ids,
			 size_t *count);
	enum res (*add)(struct conn *conn, int64_t user_id, int64_t id);
	enum res (*drop)(struct conn *conn, int64_t user_id, int64_t id);
};

static enum res find_group(struct op *op, const char *public_id, int64_t *id)
{
	struct group group;
	enum res res = group_by_public_id(op->conn, public_id, op->arena, &group);

	if (res == RES_OK)
		*id = group.id;
	return res;
}

static enum res find_node(struct op *op, const char *public_id, int64_t *id)
{
	return user_node_by_public_id(op->conn, public_id, id);
}

static const struct set_kind groups_kind = {"groups",        "group",         GROUPS_MAX,
					    ID_GROUP,        find_group,      user_group_ids,
					    user_join_group, user_leave_group};
static const struct set_kind nodes_kind = {"excluded_nodes", "node",        NODES_MAX,
					   ID_NODE,          find_node,     user_node_ids,
					   user_take_node,   user_give_node};

static int by_id(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static enum res read_item(struct op *op, const struct set_kind *kind, const struct json *item,
			  size_t index, const int64_t *seen, int64_t *id)
{
	char field[48];
	enum res res;

	snprintf(field, sizeof field, "%s[%zu]", kind->field, index);
	if (item->type != JSON_STRING)
		return problem_set(op->problem, RES_INVALID, "wrong_type", field,
				   "A %s is named by its id.", kind->what);
	res = public_id_valid(kind->id_kind, item->text) ? kind->find(op, item->text, id)
							 : RES_NOT_FOUND;
	if (res == RES_NOT_FOUND)
		return problem_set(op->problem, RES_INVALID, "unknown_id", field,
				   "There is no such %s.", kind->what);
	for (size_t i = 0; res == RES_OK && i < index; i++)
		if (seen[i] == *id)
			return problem_set(op->problem, RES_INVALID, "duplicate", field,
					   "This %s is named twice.", kind->what);
	return res;
}

static enum res read_list(struct op *op, const struct set_kind *kind, const struct json *list,
			  int64_t **ids, size_t *count)
{
	enum res res = RES_OK;

	if (list->type != JSON_ARRAY)
		return problem_set(op->problem, RES_INVALID, "wrong_type", kind->field,
				   "This is a list of ids.");
	if (list->len > kind->max)
		return problem_set(op->problem, RES_INVALID, "out_of_range", kind->field,
				   "At most %u can be named.", (unsigned)kind->max);
	*count = 0;
	if (!(*ids = arena_alloc(op->arena, (list->len + 1u) * sizeof **ids)))
		return RES_NOMEM;
	for (const struct json *item = json_first(list); res == RES_OK && item;
	     item = json_next(item)) {
		res = read_item(op, kind, item, *count, *ids, &(*ids)[*count]);
		++*count;
	}
	return res;
}

/* Both sorted: one walk finds who comes and who goes. */
static enum res move(struct op *op, const struct set_kind *kind, int64_t user_id,
		     const struct json *list, bool *changed)
{
	size_t want_count = 0, have_count = 0, w = 0, h = 0;
	int64_t *want = NULL, *have = NULL;
	enum res res = read_list(op, kind, list, &want, &want_count);

	if (res == RES_OK)
		res = kind->read(op->conn, user_id, op->arena, &have, &have_count);
	if (res != RES_OK)
		return res;
	if (want_count > 1)
		qsort(want, want_count, sizeof *want, by_id);
	while (res == RES_OK && (w < want_count || h < have_count)) {
		if (w < want_count && h < have_count && want[w] == have[h]) {
			w++;
			h++;
			continue;
		}
		*changed = true;
		if (h == have_count || (w < want_count && want[w] < have[h]))
			res = kind->add(op->conn, user_id, want[w++]);
		else
			res = kind->drop(op->conn, user_id, have[h++]);
	}
	return res;
}

enum res user_set_groups(struct op *op, int64_t user_id, const struct json *list, bool *changed)
{
	return move(op, &groups_kind, user_id, list, changed);
}

enum res user_set_nodes(struct op *op, int64_t user_id, const struct json *list, bool *changed)
{
	return move(op, &nodes_kind, user_id, list, changed);
}
