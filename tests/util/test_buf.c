#include "test.h"

#include <stdint.h>

#include "hythe/util/buf.h"

static void test_append(void)
{
	struct buf buf;

	buf_init(&buf, 100);
	CHECK(buf.data == NULL);
	CHECK(buf_str(&buf, "one"));
	CHECK(buf_char(&buf, ' '));
	CHECK(buf_put(&buf, "two\0three", 3));
	CHECK(buf_printf(&buf, " %d %s", 3, "four"));
	CHECK_TEXT(buf.data, "one two 3 four");
	CHECK_INT(buf.len, 14);
	buf_free(&buf);
	CHECK(buf.data == NULL && buf.len == 0);
}

static void test_empty(void)
{
	struct buf buf;

	buf_init(&buf, 0);
	CHECK(buf_put(&buf, NULL, 0));
	CHECK_TEXT(buf.data, "");
	CHECK(buf_printf(&buf, "%s", ""));
	CHECK(!buf_char(&buf, 'x'));
	buf_free(&buf);
}

/* Every way of appending, at the cap and one byte over it. */
static void test_cap(void)
{
	static const struct {
		size_t max;
		bool ok;
	} rows[] = {
		{10, true },
                {9,  false},
                {1,  false},
                {0,  false}
        };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (int way = 0; way < 4; way++) {
			struct buf buf;
			bool ok = true;

			buf_init(&buf, rows[i].max);
			if (way == 0)
				ok = buf_put(&buf, "0123456789", 10);
			else if (way == 1)
				ok = buf_str(&buf, "0123456789");
			else if (way == 2)
				ok = buf_printf(&buf, "%s%d", "01234", 56789);
			for (int c = 0; way == 3 && c < 10; c++)
				ok = buf_char(&buf, (char)('0' + c));
			CHECK_INT(ok, rows[i].ok);
			CHECK_INT(buf.failed, !rows[i].ok);
			CHECK(buf.len <= rows[i].max);
			buf_free(&buf);
		}
	}
}

static void test_failure_sticks(void)
{
	struct buf buf;
	size_t len = 7;

	buf_init(&buf, 5);
	CHECK(buf_str(&buf, "abc"));
	CHECK(!buf_printf(&buf, "%s", "defg"));
	CHECK_TEXT(buf.data, "abc");
	CHECK(!buf_char(&buf, 'd'));
	CHECK(!buf_reserve(&buf, 0));
	CHECK_INT(buf.len, 3);
	CHECK(buf_take(&buf, &len) == NULL);
	CHECK_INT(len, 0);
	CHECK(!buf.failed && buf.data == NULL);
}

static void test_reset(void)
{
	struct buf buf;

	buf_init(&buf, 5);
	buf_reset(&buf);
	buf_str(&buf, "abcdef");
	CHECK(buf.failed);
	buf_reset(&buf);
	CHECK(buf_str(&buf, "xy"));
	CHECK_TEXT(buf.data, "xy");
	buf_reset(&buf);
	CHECK_TEXT(buf.data, "");
	buf_free(&buf);
}

static void test_growth(void)
{
	struct buf buf;
	size_t moves = 0, cap = 0;

	buf_init(&buf, 1000000);
	for (size_t i = 0; i < 1000000; i++) {
		CHECK(buf_char(&buf, (char)('a' + i % 26)));
		moves += buf.cap != cap;
		cap = buf.cap;
	}
	CHECK(moves < 20);
	CHECK_INT(buf.cap, 1000000);
	for (size_t i = 0; i < 1000000; i++)
		CHECK_INT(buf.data[i], (char)('a' + i % 26));
	CHECK(!buf_char(&buf, 'x'));
	buf_free(&buf);
}

static void test_huge(void)
{
	struct buf buf;

	buf_init(&buf, SIZE_MAX);
	CHECK(buf_str(&buf, "a"));
	CHECK(!buf_reserve(&buf, SIZE_MAX));
	CHECK_TEXT(buf.data, "a");
	buf_free(&buf);
}

static void test_take(void)
{
	struct buf buf;
	size_t len;
	char *data;

	buf_init(&buf, 10);
	data = buf_take(&buf, &len);
	CHECK_TEXT(data, "");
	CHECK_INT(len, 0);
	free(data);
	buf_str(&buf, "abc");
	data = buf_take(&buf, NULL);
	CHECK_TEXT(data, "abc");
	CHECK(buf.data == NULL && buf.len == 0);
	free(data);
	CHECK(buf_str(&buf, "0123456789"));
	buf_free_secret(&buf);
	buf_free_secret(&buf);
}

TEST_MAIN(TEST(test_append), TEST(test_empty), TEST(test_cap), TEST(test_failure_sticks),
	  TEST(test_reset), TEST(test_growth), TEST(test_huge), TEST(test_take))
