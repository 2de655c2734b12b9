/* Token buckets under a clock that only the test moves. */
#include <pthread.h>

#include "hythe/http/limiter.h"
#include "test.h"

static void key_of(unsigned n, uint8_t key[16])
{
	memset(key, 0, 16);
	memcpy(key, &n, sizeof n);
}

struct bench {
	struct clock_fake fake;
	struct clock clock;
	struct limiter *limiter;
};

static void start(struct bench *bench, size_t buckets, uint32_t burst, uint32_t refill_ms)
{
	bench->fake = (struct clock_fake){.wall_ms = 1000000, .mono_ms = 5000};
	bench->clock = clock_of_fake(&bench->fake);
	bench->limiter = limiter_new(buckets, &bench->clock);
	CHECK(bench->limiter != NULL);
	limiter_set(bench->limiter, burst, refill_ms);
}

static unsigned take_all(struct bench *bench, const uint8_t key[16], unsigned most)
{
	unsigned got = 0;

	while (got < most && limiter_take(bench->limiter, key, NULL))
		got++;
	return got;
}

static void test_burst_and_refill(void)
{
	struct bench bench;
	unsigned retry_s = 0;
	uint8_t key[16];

	key_of(1, key);
	start(&bench, 64, 60, 3600000); /* a link: one token a minute */
	CHECK_INT(take_all(&bench, key, 1000), 60);
	CHECK(!limiter_take(bench.limiter, key, &retry_s));
	CHECK_INT(retry_s, 60);
	CHECK(!limiter_look(bench.limiter, key));
	bench.fake.mono_ms += 59999;
	CHECK(!limiter_take(bench.limiter, key, &retry_s));
	CHECK_INT(retry_s, 1);
	bench.fake.mono_ms += 1;
	CHECK(limiter_look(bench.limiter, key)); /* looking takes nothing */
	CHECK_INT(take_all(&bench, key, 1000), 1);
	bench.fake.mono_ms += 10 * 60000;
	CHECK_INT(take_all(&bench, key, 1000), 10);
	bench.fake.mono_ms += 100 * 3600000;
	CHECK_INT(take_all(&bench, key, 1000), 60);
	limiter_free(bench.limiter);
}

static void test_keys_are_apart(void)
{
	struct bench bench;
	uint8_t one[16], two[16];

	key_of(1, one);
	key_of(2, two);
	start(&bench, 64, 3, 3000);
	CHECK_INT(take_all(&bench, one, 10), 3);
	CHECK_INT(take_all(&bench, two, 10), 3);
	CHECK_INT(take_all(&bench, one, 10), 0);
	limiter_free(bench.limiter);
}

static void test_limits_change(void)
{
	struct bench bench;
	uint8_t key[16];

	key_of(7, key);
	start(&bench, 64, 0, 0);
	CHECK_INT(take_all(&bench, key, 500), 500); /* 0: no limit */
	limiter_set(bench.limiter, 5, 5000);
	CHECK_INT(take_all(&bench, key, 500), 5);
	limiter_set(bench.limiter, 10, 10000); /* five more at once */
	CHECK_INT(take_all(&bench, key, 500), 5);
	limiter_set(bench.limiter, 0, 0);
	CHECK_INT(take_all(&bench, key, 500), 500);
	limiter_free(bench.limiter);
}

/* What was taken stays taken, one for one, though a token of the new limit takes another time. */
static void test_taken_tokens_stay(void)
{
	struct bench bench;
	unsigned retry_s = 0;
	uint8_t key[16];

	key_of(9, key);
	start(&bench, 64, 60, 3600000);
	CHECK_INT(take_all(&bench, key, 500), 60);
	limiter_set(bench.limiter, 600, 3600000); /* the same hour for ten times as many */
	CHECK_INT(take_all(&bench, key, 1000), 540);
	limiter_set(bench.limiter, 10, 3600000); /* nobody waits for more than a bucket holds */
	CHECK(!limiter_take(bench.limiter, key, &retry_s));
	CHECK_INT(retry_s, 360);
	bench.fake.mono_ms += 3600000;
	CHECK_INT(take_all(&bench, key, 500), 10);
	bench.fake.mono_ms += 3600000;
	CHECK_INT(take_all(&bench, key, 4), 4);
	limiter_set(bench.limiter, 6, 3600000);
	CHECK_INT(take_all(&bench, key, 500), 2);
	limiter_free(bench.limiter);
}

/* The table keeps its size; the idlest bucket goes, so a fresh flood does not open the busy ones.
 */
static void test_idlest_goes(void)
{
	struct bench bench;
	uint8_t busy[16], other[16];

	key_of(0xffff, busy);
	start(&bench, 8, 4, 4000); /* one set of eight */
	CHECK_INT(take_all(&bench, busy, 10), 4);
	for (unsigned i = 0; i < 1000; i++) {
		key_of(i, other);
		CHECK(limiter_take(bench.limiter, other, NULL));
	}
	CHECK(!limiter_look(bench.limiter, busy));
	limiter_free(bench.limiter);
}

static void test_networks(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{"192.0.2.1",        "192.0.2.1",            true },
		{"192.0.2.1",        "192.0.2.2",            false},
		{"2001:db8:1:2::1",  "2001:db8:1:2:ffff::9", true },
		{"2001:db8:1:2::1",  "2001:db8:1:3::1",      false},
		{"::ffff:192.0.2.1", "192.0.2.1",            true },
		{"0.0.0.0",          "::",                   false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t key_a[16], key_b[16];
		struct addr a, b;

		CHECK(addr_parse(rows[i].a, strlen(rows[i].a), &a));
		CHECK(addr_parse(rows[i].b, strlen(rows[i].b), &b));
		limiter_key_of_network(&a, key_a);
		limiter_key_of_network(&b, key_b);
		if ((memcmp(key_a, key_b, 16) == 0) != rows[i].same)
			TEST_FAIL("%s and %s", rows[i].a, rows[i].b);
	}
}

static void *take_many(void *arg)
{
	struct bench *bench = arg;
	uintptr_t got = 0;
	uint8_t key[16];

	for (unsigned i = 0; i < 2000; i++) {
		key_of(9, key);
		got += limiter_take(bench->limiter, key, NULL);
		key_of(i, key);
		limiter_take(bench->limiter, key, NULL);
	}
	return (void *)got;
}

static void test_threads_share_one_bucket(void)
{
	pthread_t threads[4];
	struct bench bench;
	uintptr_t sum = 0;

	start(&bench, 4096, 1000, 1000000);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, take_many, &bench), 0);
	for (size_t i = 0; i < 4; i++) {
		void *got;

		pthread_join(threads[i], &got);
		sum += (uintptr_t)got;
	}
	CHECK(sum <= 1000 && sum >= 1000 - 4); /* each thread also took 9 once by its loop */
	limiter_free(bench.limiter);
}

TEST_MAIN(TEST(test_burst_and_refill), TEST(test_keys_are_apart), TEST(test_limits_change), TEST(test_taken_tokens_stay),
	  TEST(test_idlest_goes), TEST(test_networks), TEST(test_threads_share_one_bucket))
