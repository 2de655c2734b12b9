/* test.h – what every unit test shares: cases in a table, checks that say where and what.
 *
 *   static void test_empty(void) { CHECK_INT(buf.len, 0); }
 *   TEST_MAIN(TEST(test_empty), TEST(test_cap))
 *
 * A program prints one line for each failing check and ends with `name: N passed, N failed`;
 * its exit code is 1 when a case failed. A case ends at its first failed check. */
#ifndef HYTHE_TEST_H
#define HYTHE_TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
	const char *name;
	void (*run)(void);
};

static jmp_buf test_out;
static const char *test_name;

#define TEST_FAIL(...)                                                                             \
	do {                                                                                       \
		printf("%s:%d: %s: ", __FILE__, __LINE__, test_name);                              \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
		longjmp(test_out, 1);                                                              \
	} while (0)
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			TEST_FAIL("not so: %s", #condition);                                       \
	} while (0)
#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_)                                                                 \
			TEST_FAIL("%s is %lld, want %lld", #got, got_, want_);                     \
	} while (0)
#define CHECK_TEXT(got, want)                                                                      \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!got_ || strcmp(got_, want_) != 0)                                             \
			TEST_FAIL("%s is \"%s\", want \"%s\"", #got, got_ ? got_ : "(null)",       \
				  want_);                                                          \
	} while (0)

#define TEST(function) {#function, function}
#define TEST_MAIN(...)                                                                             \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		static const struct test_case cases[] = {__VA_ARGS__};                             \
		volatile int passed = 0, failed = 0;                                               \
		for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {               \
			if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)                       \
				continue;                                                          \
			test_name = cases[i].name;                                                 \
			if (setjmp(test_out) == 0) {                                               \
				cases[i].run();                                                    \
				passed++;                                                          \
			} else {                                                                   \
				failed++;                                                          \
			}                                                                          \
		}                                                                                  \
		printf("%s: %d passed, %d failed\n", argv[0], passed, failed);                     \
		return failed != 0;                                                                \
	}

#endif
