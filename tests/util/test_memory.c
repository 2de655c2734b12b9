/* Memory that runs out on purpose: the files under test are compiled in with an allocator whose
 * n-th call fails; n goes up until the whole act succeeds, and nothing may leak (make asan). */
#include "test.h"

#include <stdbool.h>

static long calls_left = -1; /* -1: no limit */
static long held;

static bool refuse(void)
{
	if (calls_left == 0)
		return true;
	if (calls_left > 0)
		calls_left--;
	return false;
}

static void *counted(void *place)
{
	held += place != NULL;
	return place;
}

static void *test_malloc(size_t size)
{
	return refuse() ? NULL : counted(malloc(size));
}

static void *test_calloc(size_t count, size_t size)
{
	return refuse() ? NULL : counted(calloc(count, size));
}

static void *test_realloc(void *old, size_t size)
{
	if (refuse())
		return NULL;
	return old ? realloc(old, size) : counted(malloc(size));
}

static void test_free(void *place)
{
	held -= place != NULL;
	free(place);
}

#define malloc  test_malloc
#define calloc  test_calloc
#define realloc test_realloc
#define free    test_free
#include "util/arena.c"
#include "util/buf.c"
#include "util/decoy.c"
#include "util/json_read.c"

/* Runs the act with the first n allocations granted, n = 0, 1, ... until it succeeds. */
static void run_out(bool (*act)(void))
{
	bool done = false;

	for (long n = 0; !done; n++) {
		CHECK(n < 10000);
		calls_left = n;
		done = act();
		calls_left = -1;
		CHECK_INT(held, 0);
	}
}

static bool act_buf(void)
{
	struct buf buf;
	bool ok;
	char *data;

	buf_init(&buf, 10000);
	for (int i = 0; i < 1000; i++)
		buf_printf(&buf, "%d,", i);
	ok = !buf.failed;
	data = buf_take(&buf, NULL);
	CHECK_INT(data != NULL, ok);
	free(data);
	buf_free(&buf);
	return ok;
}

static bool act_arena(void)
{
	struct arena arena;
	bool ok = true;

	arena_init(&arena, 1 << 20);
	for (int i = 0; i < 1000; i++)
		ok &= arena_printf(&arena, "%d %050d", i, i) != NULL;
	arena_free(&arena);
	return ok;
}

static bool act_json(void)
{
	struct problem problem = {0};
	struct json_doc *doc = NULL;
	char text[4000] = "[{", *at = text + 2;
	enum res res;

	for (int i = 0; i < 100; i++)
		at += sprintf(at, "%s\"m%d\":[%d,\"x\"]", i ? "," : "", i, i);
	at = stpcpy(at, "},{}]");
	res = json_parse(text, (size_t)(at - text), &doc, &problem);
	CHECK(res == RES_OK || res == RES_NOMEM);
	CHECK_INT(problem.res, res);
	CHECK_INT(doc != NULL, res == RES_OK);
	json_free(doc);
	return res == RES_OK;
}

static bool act_word(void)
{
	static const char *const words[] = {"a", "b", NULL};
	static const struct json_field fields[] = {
		{.name = "w", .kind = JSON_IN_WORD, .words = words}
        };
	struct problem problem = {0};
	struct json value = {.type = JSON_STRING, .text = "c", .len = 1, .last = true, .name = "w"};
	struct json object[2] = {
		{.type = JSON_OBJECT, .len = 1, .skip = 2, .last = true},
                value
        };
	int word;

	CHECK_INT(json_read(object, fields, 1, &word, NULL, &problem), RES_INVALID);
	CHECK_TEXT(problem.code, "bad_value");
	return strcmp(problem.detail, "must be one of: a, b") == 0;
}

static bool act_decoy(void)
{
	struct decoy *decoy;
	enum res res = decoy_load(NULL, &decoy, NULL);

	CHECK(res == RES_OK || res == RES_NOMEM);
	decoy_free(decoy);
	return res == RES_OK;
}

static void test_buf(void)
{
	run_out(act_buf);
}

static void test_arena(void)
{
	run_out(act_arena);
}

static void test_json(void)
{
	run_out(act_json);
}

static void test_word(void)
{
	run_out(act_word);
}

static void test_decoy(void)
{
	run_out(act_decoy);
}

TEST_MAIN(TEST(test_buf), TEST(test_arena), TEST(test_json), TEST(test_word), TEST(test_decoy))
