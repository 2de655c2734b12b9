#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hythe/util/decoy.h"

static char dir[] = "/tmp/hythe_decoy_XXXXXX";
static const char *const names[] = {"index.html", "404.html", "429.html", "other.html"};

static char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void clean(void)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		unlink(path_of(names[i]));
		rmdir(path_of(names[i]));
	}
}

static void put(const char *name, size_t len, char fill)
{
	FILE *file = fopen(path_of(name), "w");

	CHECK(file != NULL);
	for (size_t i = 0; i < len; i++)
		fputc(fill, file);
	fclose(file);
}

static void check_page(const struct decoy_page *page, size_t len, char fill)
{
	CHECK_INT(page->len, len);
	for (size_t i = 0; i < len; i++)
		CHECK_INT(page->body[i], fill);
}

static void check_neutral(const struct decoy_page *page)
{
	CHECK_INT(strlen(page->body), page->len);
	CHECK(strncmp(page->body, "<!DOCTYPE html>", 15) == 0);
	for (size_t i = 0; i < page->len; i++)
		CHECK(page->body[i] == '\n' || (page->body[i] >= ' ' && page->body[i] <= '~'));
	CHECK(!strcasestr(page->body, "hythe") && !strcasestr(page->body, "hysteria") &&
	      !strcasestr(page->body, "vpn"));
}

static void test_builtin(void)
{
	struct decoy *decoy;

	CHECK_INT(decoy_load(NULL, &decoy, NULL), RES_OK);
	check_neutral(decoy_404(decoy));
	check_neutral(decoy_429(decoy));
	check_neutral(decoy_index(decoy));
	CHECK(strstr(decoy_404(decoy)->body, "404"));
	CHECK(strstr(decoy_429(decoy)->body, "429"));
	decoy_free(decoy);
	decoy_free(NULL);
}

static void test_dir(void)
{
	struct decoy *decoy;

	clean();
	put("index.html", 10, 'i');
	put("404.html", 256 * 1024, '4');
	put("429.html", 0, '9');
	CHECK_INT(decoy_load(dir, &decoy, NULL), RES_OK);
	check_page(decoy_index(decoy), 10, 'i');
	check_page(decoy_404(decoy), 256 * 1024, '4');
	check_page(decoy_429(decoy), 0, '9');
	decoy_free(decoy);
}

static void test_missing_files(void)
{
	struct decoy *decoy;

	clean();
	put("index.html", 10, 'i');
	CHECK_INT(decoy_load(dir, &decoy, NULL), RES_OK);
	check_page(decoy_index(decoy), 10, 'i');
	check_neutral(decoy_404(decoy));
	check_neutral(decoy_429(decoy));
	decoy_free(decoy);
}

static void test_refused(void)
{
	struct decoy *decoy;
	struct problem problem = {0};

	clean();
	put("other.html", 1, 'x');
	CHECK_INT(decoy_load(dir, &decoy, &problem), RES_INVALID);
	CHECK_TEXT(problem.code, "decoy_empty");
	CHECK(decoy == NULL);

	problem = (struct problem){0};
	CHECK_INT(decoy_load("/nonexistent/decoy", &decoy, &problem), RES_IO);
	CHECK_TEXT(problem.code, "decoy_unreadable");
	CHECK(decoy == NULL);

	problem = (struct problem){0};
	CHECK_INT(decoy_load(path_of("other.html"), &decoy, &problem), RES_IO);

	problem = (struct problem){0};
	put("index.html", 10, 'i');
	put("404.html", 256 * 1024 + 1, '4');
	CHECK_INT(decoy_load(dir, &decoy, &problem), RES_TOO_LARGE);
	CHECK_TEXT(problem.code, "decoy_too_large");
	CHECK_TEXT(problem.detail, "404.html must be at most 262144 bytes");
	CHECK(decoy == NULL);
}

static void test_not_a_file(void)
{
	struct decoy *decoy;
	struct problem problem = {0};

	clean();
	CHECK_INT(mkdir(path_of("429.html"), 0700), 0);
	CHECK_INT(decoy_load(dir, &decoy, &problem), RES_INVALID);
	CHECK_TEXT(problem.code, "decoy_not_a_file");
	clean();
	CHECK_INT(mkfifo(path_of("index.html"), 0600), 0);
	CHECK_INT(decoy_load(dir, &decoy, NULL), RES_INVALID);
	clean();
	CHECK_INT(symlink("loop.html", path_of("index.html")), 0);
	CHECK_INT(decoy_load(dir, &decoy, NULL), RES_INVALID); /* a link to nothing is no file */
}

static void test_begin(void)
{
	CHECK(mkdtemp(dir) != NULL);
}

static void test_end(void)
{
	clean();
	CHECK_INT(rmdir(dir), 0);
}

TEST_MAIN(TEST(test_begin), TEST(test_builtin), TEST(test_dir), TEST(test_missing_files),
	  TEST(test_refused), TEST(test_not_a_file), TEST(test_end))
