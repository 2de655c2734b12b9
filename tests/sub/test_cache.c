/* The render cache: how long, for whom, how much; and that an answered change is never overtaken.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "sub/cache.h"
#include "test.h"

static const struct sub_variant plain = {.format = 1};

struct bench {
	struct clock_fake fake;
	struct clock clock;
	struct cache *cache;
};

static void start(struct bench *bench, size_t max_bytes)
{
	bench->fake = (struct clock_fake){.wall_ms = 1796000000000, .mono_ms = 1000};
	bench->clock = clock_of_fake(&bench->fake);
	bench->cache = cache_new(max_bytes, &bench->clock);
	CHECK(bench->cache != NULL);
}

static struct cache_answer answer_of(const char *text)
{
	struct cache_answer answer = {.etag = "W/\"x\""};
	struct buf body;

	buf_init(&body, 1 << 20);
	buf_str(&body, text);
	answer.reply = reply_body_take(200, "text/plain", &body);
	return answer;
}

/* What a request does: the kept text, or a render of `text`. True: it was kept. */
static bool ask(struct bench *bench, int64_t user, struct sub_variant variant, const char *text,
		int64_t until_unix, char *got, size_t size)
{
	struct cache_answer answer;
	struct cache_ticket ticket;
	bool hit = cache_find(bench->cache, user, variant, &answer, &ticket);
	const char *body;
	size_t len;

	if (!hit) {
		answer = answer_of(text);
		cache_done(bench->cache, &ticket, &answer, until_unix);
	}
	body = reply_body(answer.reply, &len);
	snprintf(got, size, "%.*s", (int)len, body);
	reply_unref(answer.reply);
	return hit;
}

static void check_ask(struct bench *bench, int64_t user, const char *text, bool want_hit,
		      const char *want)
{
	char got[64];
	bool hit = ask(bench, user, plain, text, 0, got, sizeof got);

	CHECK_INT(hit, want_hit);
	CHECK_TEXT(got, want);
}

static void test_ten_seconds(void)
{
	struct bench bench;

	start(&bench, 1 << 20);
	check_ask(&bench, 1, "a", false, "a");
	check_ask(&bench, 1, "b", true, "a");
	bench.fake.mono_ms += 9999;
	check_ask(&bench, 1, "b", true, "a");
	bench.fake.mono_ms += 1;
	check_ask(&bench, 1, "b", false, "b");
	cache_free(bench.cache);
}

static void test_until_a_figure_changes(void)
{
	struct bench bench;
	char got[8];

	start(&bench, 1 << 20);
	CHECK(!ask(&bench, 1, plain, "a", 1796000003, got, sizeof got));
	bench.fake.wall_ms += 2999;
	CHECK(ask(&bench, 1, plain, "b", 0, got, sizeof got));
	bench.fake.wall_ms += 1; /* the second has come: the user has expired, say */
	CHECK(!ask(&bench, 1, plain, "b", 0, got, sizeof got));
	CHECK_TEXT(got, "b");
	cache_free(bench.cache);
}

static void test_keys(void)
{
	struct bench bench;
	char got[8];

	start(&bench, 1 << 20);
	check_ask(&bench, 1, "a", false, "a");
	check_ask(&bench, 2, "b", false, "b");
	check_ask(&bench, 1 + 1024, "c", false, "c");
	for (size_t i = 0; i < 5; i++) {
		struct sub_variant other = plain;

		((uint8_t *)&other)[i] += 1; /* every member counts */
		CHECK(!ask(&bench, 1, other, "d", 0, got, sizeof got));
	}
	check_ask(&bench, 1, "x", true, "a");
	check_ask(&bench, 2, "x", true, "b");
	cache_free(bench.cache);
}

static void test_generations(void)
{
	struct bench bench;

	start(&bench, 1 << 20);
	check_ask(&bench, 1, "a", false, "a");
	check_ask(&bench, 2, "b", false, "b");
	cache_user_changed(bench.cache, 1);
	check_ask(&bench, 2, "x", true, "b");
	check_ask(&bench, 1, "a2", false, "a2");
	check_ask(&bench, 1, "x", true, "a2");
	cache_all_changed(bench.cache);
	check_ask(&bench, 1, "a3", false, "a3");
	check_ask(&bench, 2, "b2", false, "b2");
	cache_free(bench.cache);
}

/* A render that began before a change is not kept, whether the change came before or after it
 * ended. */
static void test_overtaken_render(void)
{
	struct cache_answer answer, old = {0};
	struct cache_ticket ticket;
	struct bench bench;

	start(&bench, 1 << 20);
	CHECK(!cache_find(bench.cache, 1, plain, &answer, &ticket));
	old = answer_of("before");
	cache_user_changed(bench.cache, 1); /* committed and answered meanwhile */
	cache_done(bench.cache, &ticket, &old, 0);
	reply_unref(old.reply);
	check_ask(&bench, 1, "after", false, "after");
	cache_free(bench.cache);
}

static void test_failed_render(void)
{
	struct cache_answer answer;
	struct cache_ticket ticket;
	struct cache_counters counters;
	struct bench bench;

	start(&bench, 1 << 20);
	CHECK(!cache_find(bench.cache, 1, plain, &answer, &ticket));
	cache_done(bench.cache, &ticket, NULL, 0);
	cache_count(bench.cache, &counters);
	CHECK_INT(counters.entries, 0);
	CHECK_INT(counters.bytes, 0);
	check_ask(&bench, 1, "a", false, "a");
	cache_free(bench.cache);
}

/* Memory does not grow with the people who have fetched: the oldest goes. */
static void test_b144_bounded(void)
{
	struct cache_counters counters;
	struct bench bench;
	char got[8];

	start(&bench, 64 * 1024);
	for (int64_t user = 1; user <= 10000; user++)
		ask(&bench, user, plain, "some body", 0, got, sizeof got);
	cache_count(bench.cache, &counters);
	CHECK(counters.bytes <= 64 * 1024);
	CHECK(counters.entries > 10 && counters.entries < 64);
	check_ask(&bench, 10000, "x", true, "some body");
	check_ask(&bench, 1, "y", false, "y");
	cache_set_max(bench.cache, 0);
	cache_count(bench.cache, &counters);
	CHECK_INT(counters.entries, 0);
	check_ask(&bench, 1, "z", false, "z"); /* larger than all the room: served, not kept */
	check_ask(&bench, 1, "z", false, "z");
	cache_free(bench.cache);
}

static void test_old_ones_make_room(void)
{
	struct cache_counters counters;
	struct bench bench;
	char got[8];

	start(&bench, 1 << 20);
	for (int64_t user = 1; user <= 20; user++)
		ask(&bench, user, plain, "a", 0, got, sizeof got);
	bench.fake.mono_ms += 10000;
	ask(&bench, 21, plain, "a", 0, got, sizeof got);
	cache_count(bench.cache, &counters);
	CHECK_INT(counters.entries, 1);
	cache_free(bench.cache);
}

struct waiter {
	struct bench *bench;
	atomic_uint *renders;
	char got[8];
};

static void *wait_and_ask(void *arg)
{
	struct waiter *waiter = arg;
	struct cache_answer answer;
	struct cache_ticket ticket;
	const char *body;
	size_t len;

	if (!cache_find(waiter->bench->cache, 1, plain, &answer, &ticket)) {
		atomic_fetch_add(waiter->renders, 1);
		answer = answer_of("own");
		cache_done(waiter->bench->cache, &ticket, &answer, 0);
	}
	body = reply_body(answer.reply, &len);
	snprintf(waiter->got, sizeof waiter->got, "%.*s", (int)len, body);
	reply_unref(answer.reply);
	return NULL;
}

/* Equal misses at the same moment render once; who waits too long renders for himself. */
static void test_equal_misses(void)
{
	struct waiter waiters[4];
	pthread_t threads[4];
	struct cache_answer answer;
	struct cache_ticket ticket;
	atomic_uint renders = 0;
	struct bench bench;

	start(&bench, 1 << 20);
	CHECK(!cache_find(bench.cache, 1, plain, &answer, &ticket));
	CHECK(ticket.owner);
	for (size_t i = 0; i < 4; i++) {
		waiters[i] = (struct waiter){.bench = &bench, .renders = &renders};
		CHECK_INT(pthread_create(&threads[i], NULL, wait_and_ask, &waiters[i]), 0);
	}
	answer = answer_of("first");
	cache_done(bench.cache, &ticket, &answer, 0);
	reply_unref(answer.reply);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		CHECK_TEXT(waiters[i].got, "first");
	}
	CHECK_INT(atomic_load(&renders), 0);
	cache_free(bench.cache);
}

static void test_slow_render_holds_up_nobody_for_long(void)
{
	struct cache_answer answer, own;
	struct cache_ticket slow, second;
	struct bench bench;

	start(&bench, 1 << 20);
	CHECK(!cache_find(bench.cache, 1, plain, &answer, &slow));
	CHECK(!cache_find(bench.cache, 1, plain, &answer, &second)); /* after the bound */
	CHECK(!second.owner);
	own = answer_of("second");
	cache_done(bench.cache, &second, &own, 0); /* keeps nothing */
	reply_unref(own.reply);
	own = answer_of("slow");
	cache_done(bench.cache, &slow, &own, 0);
	reply_unref(own.reply);
	check_ask(&bench, 1, "x", true, "slow");
	cache_free(bench.cache);
}

struct storm {
	struct bench *bench;
	_Atomic int64_t stored;   /* what a reader of the store sees */
	_Atomic int64_t answered; /* what somebody was told is done */
	atomic_bool stop;
	atomic_uint stale;
};

static void *fetch_all_the_time(void *arg)
{
	struct storm *storm = arg;

	while (!atomic_load(&storm->stop)) {
		int64_t known = atomic_load(&storm->answered);
		char text[24], got[24];
		struct cache_answer answer;
		struct cache_ticket ticket;
		const char *body;
		size_t len;

		if (!cache_find(storm->bench->cache, 1, plain, &answer, &ticket)) {
			snprintf(text, sizeof text, "%lld", (long long)atomic_load(&storm->stored));
			answer = answer_of(text);
			cache_done(storm->bench->cache, &ticket, &answer, 0);
		}
		body = reply_body(answer.reply, &len);
		snprintf(got, sizeof got, "%.*s", (int)len, body);
		if (atoll(got) < known)
			atomic_fetch_add(&storm->stale, 1);
		reply_unref(answer.reply);
	}
	return NULL;
}

/* Whoever has seen a change answered never gets an older render. */
static void test_no_stale_answer(void)
{
	struct bench bench;
	struct storm storm = {.bench = &bench};
	pthread_t threads[3];

	start(&bench, 1 << 20);
	for (size_t i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, fetch_all_the_time, &storm), 0);
	for (int64_t n = 1; n <= 3000; n++) {
		atomic_store(&storm.stored, n);     /* the commit, */
		cache_user_changed(bench.cache, 1); /* the observer, */
		atomic_store(&storm.answered, n);   /* the answer */
	}
	atomic_store(&storm.stop, true);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(atomic_load(&storm.stale), 0);
	cache_free(bench.cache);
}

TEST_MAIN(TEST(test_ten_seconds), TEST(test_until_a_figure_changes), TEST(test_keys),
	  TEST(test_generations), TEST(test_overtaken_render), TEST(test_failed_render),
	  TEST(test_b144_bounded), TEST(test_old_ones_make_room), TEST(test_equal_misses),
	  TEST(test_slow_render_holds_up_nobody_for_long), TEST(test_no_stale_answer))
