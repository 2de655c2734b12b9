#include "test.h"

#include <stddef.h>
#include <stdint.h>

#include "hythe/util/arena.h"

static void test_alloc(void)
{
	struct arena arena;
	unsigned char *last = NULL;

	arena_init(&arena, 1 << 20);
	for (size_t size = 0; size < 1000; size++) {
		unsigned char *at = arena_alloc(&arena, size);

		CHECK(at != NULL && at != last);
		CHECK_INT((uintptr_t)at % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			CHECK_INT(at[i], 0);
		memset(at, 0xff, size);
		last = at;
	}
	CHECK(arena.used <= arena.max);
	arena_free(&arena);
	CHECK_INT(arena.used, 0);
}

static void test_refused(void)
{
	static const size_t sizes[] = {4097, 8192, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX};
	struct arena arena;

	arena_init(&arena, 4096);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		CHECK(arena_alloc(&arena, sizes[i]) == NULL);
	CHECK(arena_dup(&arena, "x", SIZE_MAX) == NULL);
	CHECK(arena_alloc(&arena, 4096) != NULL);
	CHECK(arena_alloc(&arena, 1) == NULL);
	CHECK(arena_dup(&arena, "", 0) == NULL);
	CHECK(arena_printf(&arena, "%d", 1) == NULL);
	arena_free(&arena);
	CHECK(arena_alloc(&arena, 1) != NULL);
	arena_free(&arena);
	arena_free(&arena);
}

static void test_large(void)
{
	struct arena arena;
	char *small, *large;

	arena_init(&arena, 10 << 20);
	small = arena_dup(&arena, "small", 5);
	large = arena_alloc(&arena, 3 << 20);
	CHECK(small && large);
	memset(large, 'x', 3 << 20);
	CHECK_TEXT(small, "small");
	arena_free(&arena);
}

static void test_text(void)
{
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_TEXT(arena_dup(&arena, "abcdef", 3), "abc");
	CHECK_TEXT(arena_dup(&arena, NULL, 0), "");
	CHECK_TEXT(arena_printf(&arena, "%s-%05d", "usr", 42), "usr-00042");
	CHECK_INT(strlen(arena_printf(&arena, "%9000d", 1)), 9000);
	arena_free(&arena);
}

TEST_MAIN(TEST(test_alloc), TEST(test_refused), TEST(test_large), TEST(test_text))
