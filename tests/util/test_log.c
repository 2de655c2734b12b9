#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hythe/util/clock.h"
#include "hythe/util/log.h"

static int ends[2];
static char got[65536];
static struct clock_fake fake = {.wall_ms = INT64_C(1796119200123), .mono_ms = 5000};
static struct clock fake_clock;

/* Each case starts in a second of its own, so that none meets another's counts. */
static void begin(void)
{
	if (ends[1] == 0) {
		CHECK_INT(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
		fake_clock = clock_of_fake(&fake);
		log_set_clock(&fake_clock);
	}
	fake.mono_ms += 1000;
	unsetenv("JOURNAL_STREAM");
	log_set_fd(ends[1]);
	log_set_level(LOG_LEVEL_INFO);
}

static const char *output(void)
{
	ssize_t n = read(ends[0], got, sizeof got - 1);

	got[n > 0 ? n : 0] = '\0';
	return got;
}

static int lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void test_line(void)
{
	begin();
	errno = EBADF;
	log_info("user_created", "user=%d name=%s", 7, log_quote("a b"));
	CHECK_INT(errno, EBADF);
	CHECK_TEXT(output(),
		   "2026-12-01T10:00:00.123Z level=info event=user_created user=7 name=\"a b\"\n");
	log_warn("bare", "%s", "");
	log_error("broken", "x=1");
	CHECK_TEXT(output(), "2026-12-01T10:00:00.123Z level=warn event=bare \n"
			     "2026-12-01T10:00:00.123Z level=error event=broken x=1\n");
}

static void test_level(void)
{
	begin();
	log_debug("level", "n=1");
	CHECK_TEXT(output(), "");
	log_set_level(LOG_LEVEL_ERROR);
	log_warn("level", "n=2");
	log_info("level", "n=3");
	CHECK_TEXT(output(), "");
	log_error("level", "n=4");
	CHECK_INT(lines(output()), 1);
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("level", "n=5");
	CHECK_INT(lines(output()), 1);
}

static void test_journal(void)
{
	struct stat st;
	char stream[64];

	begin();
	CHECK_INT(fstat(ends[1], &st), 0);
	snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_set_fd(ends[1]);
	log_error("e", "n=%d", 1);
	log_info("i", "n=%d", 2);
	CHECK_TEXT(output(), "<3>level=error event=e n=1\n<6>level=info event=i n=2\n");
	/* another program's stream, inherited */
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_set_fd(ends[1]);
	log_info("i", "n=%d", 3);
	CHECK(strncmp(output(), "2026-", 5) == 0);
	begin();
}

static void test_bound(void)
{
	begin();
	for (int i = 0; i < 1000; i++)
		log_info("flood", "n=%d", i);
	log_info("other", "n=1");
	CHECK_INT(lines(output()), 21);
	fake.mono_ms += 999;
	log_info("flood", "n=%d", 1000);
	CHECK_TEXT(output(), "");
	fake.mono_ms += 1;
	log_info("flood", "n=%d", 1001);
	log_info("flood", "n=%d", 1002);
	CHECK_TEXT(output(),
		   "2026-12-01T10:00:00.123Z level=info event=flood suppressed=981 n=1001\n"
		   "2026-12-01T10:00:00.123Z level=info event=flood n=1002\n");
}

/* More events than the table has rows share one bound. */
static void test_crowd(void)
{
	char event[32];
	int n;

	begin();
	for (int i = 0; i < 2000; i++) {
		snprintf(event, sizeof event, "crowd_%d", i);
		log_info(event, "n=%d", i);
	}
	n = lines(output());
	CHECK(n > 20 && n <= 128 + 20);
}

static void test_long_line(void)
{
	char text[5000];
	size_t len;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (size_t i = 0; i + 3 < sizeof text; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	for (int shift = 0; shift < 3; shift++) {
		fake.mono_ms += 1000;
		begin();
		log_info("long", "%.*s%s", shift, "abc", text);
		output();
		len = strlen(got);
		CHECK(len <= 1024 && len > 1000);
		CHECK_TEXT(got + len - 4, "...\n");
		CHECK((unsigned char)got[len - 5] == 0xac && (unsigned char)got[len - 7] == 0xe2);
		CHECK_INT(lines(got), 1);
	}
	text[2000] = '\0';
	log_info(text, "%s", "");
	CHECK_INT(lines(output()), 1);
}

static void test_one_line(void)
{
	begin();
	log_info("forged", "name=%s", "a\nlevel=error event=b\r\x1b[0m\x7f");
	CHECK_TEXT(output(), "2026-12-01T10:00:00.123Z level=info event=forged "
			     "name=a?level=error event=b??[0m?\n");
}

static void test_quote(void)
{
	static const struct {
		const char *text, *quoted;
	} rows[] = {
		{"",		      "\"\""                      },
		{NULL,                    "\"\""                      },
		{"a b=c",                 "\"a b=c\""                 },
		{"na\xc3\xafve \xd1\x84", "\"na\xc3\xafve \xd1\x84\"" },
		{"a\"b\\c",               "\"a\\x22b\\x5cc\""         },
		{"a\nb\r\t\x7f",          "\"a\\x0ab\\x0d\\x09\\x7f\""},
		{"\xff\xc3(",             "\"\\xff\\xc3(\""           },
		{"\xc2\x9b",              "\"\\xc2\\x9b\""            }, /* C1 */
		{"\xe2\x80\xae",          "\"\\xe2\\x80\\xae\""       }, /* right-to-left override */
		{"\xe2\x80\x8b",          "\"\\xe2\\x80\\x8b\""       }, /* zero width space */
		{"\xe2\x80\xa8",          "\"\\xe2\\x80\\xa8\""       }, /* line separator */
		{"\xef\xbb\xbf",          "\"\\xef\\xbb\\xbf\""       }, /* byte order mark */
		{"\xed\xa0\x80",          "\"\\xed\\xa0\\x80\""       }, /* surrogate */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_TEXT(log_quote(rows[i].text), rows[i].quoted);
}

static void test_quote_cut(void)
{
	char text[1000];
	const char *quoted;

	memset(text, 'x', sizeof text);
	text[200] = '\0';
	quoted = log_quote(text);
	CHECK_INT(strlen(quoted), 202);
	text[200] = 'x';
	text[999] = '\0';
	quoted = log_quote(text);
	CHECK_INT(strlen(quoted), 205);
	CHECK_TEXT(quoted + 200, "x\"...");
	memcpy(text + 199, "\xc3\xa9", 2);
	CHECK_INT(strlen(log_quote(text)), 204);
	memset(text, '\n', 999);
	CHECK_INT(strlen(log_quote(text)), 205);
}

static void test_quote_turns(void)
{
	const char *a = log_quote("a"), *b = log_quote("b"), *c = log_quote("c"),
		   *d = log_quote("d");

	CHECK_TEXT(a, "\"a\"");
	CHECK_TEXT(b, "\"b\"");
	CHECK_TEXT(c, "\"c\"");
	CHECK_TEXT(d, "\"d\"");
}

static void *log_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < 500; i++)
		log_info("threads", "n=%s", log_quote("x"));
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];

	begin();
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, log_often, NULL), 0);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
	CHECK_INT(lines(output()), 20);
}

static void test_no_descriptor(void)
{
	begin();
	log_set_fd(-1);
	log_info("lost", "n=1");
	log_set_fd(ends[1]);
	CHECK_TEXT(output(), "");
}

TEST_MAIN(TEST(test_line), TEST(test_level), TEST(test_journal), TEST(test_bound),
	  TEST(test_long_line), TEST(test_one_line), TEST(test_quote), TEST(test_quote_cut),
	  TEST(test_quote_turns), TEST(test_threads), TEST(test_no_descriptor), TEST(test_crowd))
