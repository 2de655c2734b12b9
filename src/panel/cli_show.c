#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uniwidth.h>

#include "cli.h"
#include "hythe/util/buf.h"
#include "hythe/util/text.h"

#define SHOW_ARENA_MAX ((size_t)16 * 1024 * 1024)
#define COLUMNS_MAX    16

size_t cli_width(const char *text)
{
	int width = u8_width((const uint8_t *)text, strlen(text), "UTF-8");

	return width > 0 ? (size_t)width : 0;
}

const struct json *cli_member(const struct json *object, const char *path)
{
	char name[64];

	while (object && object->type == JSON_OBJECT) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof name)
			return NULL;
		memcpy(name, path, len);
		name[len] = 0;
		object = json_member(object, name);
		if (!path[len])
			return object;
		path += len + 1;
	}
	return NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

enum unit cli_unit(const char *member)
{
	if (ends_with(member, "_unix"))
		return UNIT_TIME;
	if (ends_with(member, "_bytes"))
		return UNIT_BYTES;
	return ends_with(member, "_s") && !ends_with(member, "per_s") ? UNIT_SPAN : UNIT_NONE;
}

/* Limits of which 0 means that there is none. */
static bool is_open_ended(const char *member)
{
	return strcmp(member, "quota_bytes") == 0 || strcmp(member, "traffic_allowance_bytes") == 0;
}

/* What others typed is shown as one line and cannot move the cursor. */
static const char *plain(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_dup(arena, text, len);

	for (char *c = copy; copy && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return copy ? copy : "";
}

static const char *span_text(struct arena *arena, int64_t seconds)
{
	static const struct {
		int64_t s;
		const char *unit;
	} units[] = {
		{86400, "d"},
                {3600,  "h"},
                {60,    "m"},
                {1,     "s"}
        };

	if (seconds == 0)
		return "0";
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (seconds % units[i].s == 0)
			return arena_printf(arena, "%" PRId64 "%s", seconds / units[i].s,
					    units[i].unit);
	return "";
}

static const char *number_text(struct arena *arena, const char *member, const struct json *value)
{
	char text[TEXT_TIME_MAX];
	int64_t number;

	if (json_i64(value, INT64_MIN, INT64_MAX, &number) != RES_OK)
		return plain(arena, value->text, value->len);
	switch (cli_unit(member)) {
	case UNIT_TIME:
		if (number == 0)
			return "-";
		text_time(number, text);
		return plain(arena, text, strlen(text));
	case UNIT_BYTES:
		if (number == 0 && is_open_ended(member))
			return "unlimited";
		text_bytes(number, text);
		return plain(arena, text, strlen(text));
	case UNIT_SPAN:
		return span_text(arena, number);
	case UNIT_NONE:
		break;
	}
	return plain(arena, value->text, value->len);
}

/* A group's rule as the command line takes it: PROFILE, PROFILE@NODE, PROFILE@#TAG. */
static bool rule_text(const struct json *rule, struct buf *text)
{
	const struct json *profile = json_member(rule, "profile_name"),
			  *node = json_member(rule, "node_name");
	const struct json *tag = json_member(rule, "tag");

	if (!profile || profile->type != JSON_STRING)
		return false;
	buf_str(text, profile->text);
	if (node && node->type == JSON_STRING)
		buf_printf(text, "@%s", node->text);
	else if (tag && tag->type == JSON_STRING)
		buf_printf(text, "@#%s", tag->text);
	return true;
}

/* References are shown by their names, other objects and lists as what they hold. */
static const char *list_text(struct arena *arena, const struct json *list)
{
	struct buf text;
	const char *copy;

	buf_init(&text, 65536);
	for (const struct json *item = json_first(list); item; item = json_next(item)) {
		const struct json *name =
			item->type == JSON_OBJECT ? json_member(item, "name") : item;

		buf_str(&text, text.len ? ", " : "");
		if (name && name->type == JSON_STRING)
			buf_put(&text, name->text, name->len);
		else if (item->type != JSON_OBJECT || !rule_text(item, &text))
			json_print(item, &text);
	}
	copy = text.len ? plain(arena, text.data, text.len) : "-";
	buf_free(&text);
	return copy;
}

static const char *object_text(struct arena *arena, const struct json *object)
{
	const struct json *name = json_member(object, "name");
	struct buf text;
	const char *copy;

	if (name && name->type == JSON_STRING)
		return plain(arena, name->text, name->len);
	buf_init(&text, 65536);
	json_print(object, &text);
	copy = plain(arena, text.data ? text.data : "", text.len);
	buf_free(&text);
	return copy;
}

const char *cli_cell(struct arena *arena, const char *member, const struct json *value)
{
	if (!value)
		return "-";
	switch (value->type) {
	case JSON_NULL:
		return "-";
	case JSON_BOOL:
		return value->truth ? "yes" : "no";
	case JSON_INTEGER:
	case JSON_REAL:
		return number_text(arena, member, value);
	case JSON_STRING:
		return value->len ? plain(arena, value->text, value->len) : "-";
	case JSON_ARRAY:
		return list_text(arena, value);
	case JSON_OBJECT:
		return object_text(arena, value);
	}
	return "";
}

/* --- Tables --- */

static void print_padded(const char *text, size_t width, bool last)
{
	size_t have = cli_width(text);

	printf("%s%*s", text, last || have >= width ? 0 : (int)(width - have), "");
	fputs(last ? "\n" : "  ", stdout);
}

static const struct json *find_list(const struct json *root)
{
	if (root->type == JSON_ARRAY)
		return root;
	for (const struct json *member = json_first(root); member; member = json_next(member))
		if (member->type == JSON_ARRAY)
			return member;
	return NULL;
}

static void print_more(const struct json *root)
{
	const struct json *cursor = cli_member(root, "next_cursor");

	if (cursor && cursor->type == JSON_STRING && cursor->len)
		printf("There is more: --cursor %.*s\n", (int)cursor->len, cursor->text);
}

static void show_table(struct arena *arena, const struct column *columns, const struct json *root)
{
	const struct json *list = find_list(root), *item;
	size_t widths[COLUMNS_MAX] = {0}, count = 0;

	for (; columns[count].title && count < COLUMNS_MAX; count++)
		widths[count] = cli_width(columns[count].title);
	for (item = list ? json_first(list) : NULL; item; item = json_next(item))
		for (size_t i = 0; i < count; i++) {
			const char *cell = cli_cell(arena, columns[i].member,
						    cli_member(item, columns[i].member));
			size_t width = cli_width(cell);

			widths[i] = width > widths[i] ? width : widths[i];
		}
	for (size_t i = 0; i < count; i++)
		print_padded(columns[i].title, widths[i], i + 1 == count);
	for (item = list ? json_first(list) : NULL; item; item = json_next(item))
		for (size_t i = 0; i < count; i++)
			print_padded(cli_cell(arena, columns[i].member,
					      cli_member(item, columns[i].member)),
				     widths[i], i + 1 == count);
	print_more(root);
}

/* --- Details --- */

static bool is_open(const struct json *value)
{
	return value->type == JSON_OBJECT && value->len && !json_member(value, "name");
}

static size_t label_width(const struct json *object, size_t depth)
{
	size_t widest = 0;

	for (const struct json *member = json_first(object); member; member = json_next(member)) {
		size_t width = is_open(member) ? label_width(member, depth + 1)
					       : cli_width(member->name) + depth * 2;

		widest = width > widest ? width : widest;
	}
	return widest;
}

static void show_members(struct arena *arena, const struct json *object, size_t depth, size_t width)
{
	for (const struct json *member = json_first(object); member; member = json_next(member)) {
		printf("%*s", (int)depth * 2, "");
		if (is_open(member)) {
			printf("%s:\n", member->name);
			show_members(arena, member, depth + 1, width);
			continue;
		}
		print_padded(member->name, width - depth * 2, false);
		printf("%s\n", cli_cell(arena, member->name, member));
	}
}

void cli_show(enum show show, const struct column *columns, const struct json *root)
{
	const struct json *value;
	struct arena arena;

	arena_init(&arena, SHOW_ARENA_MAX);
	switch (show) {
	case SHOW_NOTHING:
		break;
	case SHOW_TEXT:
		value = cli_member(root, columns[0].member);
		printf("%s\n", cli_cell(&arena, columns[0].member, value));
		break;
	case SHOW_TABLE:
		show_table(&arena, columns, root);
		break;
	case SHOW_DETAIL:
		if (root->type == JSON_OBJECT)
			show_members(&arena, root, 0, label_width(root, 0));
		break;
	}
	arena_free(&arena);
}
