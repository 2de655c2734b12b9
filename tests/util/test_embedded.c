#include "test.h"

#include "hythe/util/embedded.h"

static void test_find(void)
{
	static const char *const absent[] = {"",
					     "/",
					     "migrations",
					     "migrations/",
					     "no/such/file",
					     "./migrations/0001_panel.sql"};

	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
		CHECK(embedded_find(absent[i]) == NULL);
	for (const struct embedded_file *file = embedded_files; file->path; file++) {
		CHECK(embedded_find(file->path) == file);
		CHECK_INT(file->data[file->len], 0);
	}
}

static void test_sorted(void)
{
	for (const struct embedded_file *file = embedded_files; file->path && file[1].path; file++)
		CHECK(strcmp(file->path, file[1].path) < 0);
}

TEST_MAIN(TEST(test_find), TEST(test_sorted))
