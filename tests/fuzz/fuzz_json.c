/* What json_parse() takes and json_print() writes parses again and prints the same. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/buf.h"
#include "hythe/util/json_read.h"
#include "hythe/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *name, *note;
	int64_t quota;
	bool enabled;
	int period;
	const struct json *meta;
};

static const char *const periods[] = {"none", "day", NULL};
static const struct json_field fields[] = {
	{.name = "name",                   .kind = JSON_IN_TEXT, .offset = offsetof(struct input, name),                                                .max = 8},
	{.name = "note",				.kind = JSON_IN_LINES,                                       .offset = offsetof(struct input,                  note), .max = 9},
	{.name = "quota",                        .kind = JSON_IN_I64,                                            .offset = offsetof(struct input,                                                             quota),                                                                       .max = 100},
	{.name = "enabled",                          .kind = JSON_IN_BOOL,                                    .offset = offsetof(struct input,       enabled)},
	{.name = "period",
	 .kind = JSON_IN_WORD,
	 .offset = offsetof(struct input,   period),
	 .words = periods},
	{.name = "meta",  .kind = JSON_IN_TREE,               .offset = offsetof(struct input,                                                                        meta)															   },
};

static void must(int condition)
{
	if (!condition)
		abort();
}

static void check_problem(enum res res, const struct problem *problem)
{
	must(problem->res == res && problem->code[0]);
	must(text_utf8_valid(problem->field, strlen(problem->field)));
	must(!text_has_control(problem->field, strlen(problem->field)));
	must(!text_has_control(problem->detail, strlen(problem->detail)));
}

static size_t check_tree(const struct json *value)
{
	size_t nodes = 1, count = 0;

	for (const struct json *c = json_first(value); c; c = json_next(c)) {
		must((c->name != NULL) == (value->type == JSON_OBJECT));
		nodes += check_tree(c);
		count++;
	}
	if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
		must(count == value->len);
	if (value->type == JSON_STRING)
		must(strlen(value->text) == value->len && text_utf8_valid(value->text, value->len));
	must(nodes == value->skip);
	return nodes;
}

static void read_typed(const struct json *root)
{
	struct problem problem = {0};
	struct input in = {0};
	uint64_t present;
	enum res res =
		json_read(root, fields, sizeof fields / sizeof *fields, &in, &present, &problem);

	if (res != RES_OK)
		check_problem(res, &problem);
	else if (present & 1)
		must(strlen(in.name) <= 8 && !text_has_control(in.name, strlen(in.name)));
}

/* Prints the text's tree into `out`; false: the text was refused. */
static bool print_again(char *text, size_t len, struct buf *out)
{
	struct problem problem = {0};
	struct json_doc *doc;
	enum res res = json_parse(text, len, &doc, &problem);

	if (res != RES_OK) {
		must(doc == NULL);
		check_problem(res, &problem);
		return false;
	}
	check_tree(json_root(doc));
	read_typed(json_root(doc));
	must(json_print(json_root(doc), out));
	json_free(doc);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1);
	struct buf first, second;

	if (!text)
		return 0;
	memcpy(text, data, size);
	buf_init(&first, 16 << 20);
	buf_init(&second, 16 << 20);
	if (print_again(text, size, &first)) {
		char *copy = malloc(first.len);

		must(copy != NULL);
		memcpy(copy, first.data, first.len);
		must(print_again(copy, first.len, &second));
		must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
		free(copy);
	}
	buf_free(&first);
	buf_free(&second);
	free(text);
	return 0;
}
