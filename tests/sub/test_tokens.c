/* The token index against a plain model, and under threads. */
#include <pthread.h>
#include <stdatomic.h>

#include "hythe/util/hash.h"
#include "sub/tokens.h"
#include "test.h"

#define USERS 5000

static void key_of(uint32_t n, uint8_t key[STORE_TOKEN_KEY])
{
	uint8_t hash[SHA256_LEN];

	hash_sha256(&n, sizeof n, hash);
	memcpy(key, hash, STORE_TOKEN_KEY);
}

static void test_empty(void)
{
	struct tokens *tokens = tokens_new();
	uint8_t key[STORE_TOKEN_KEY];

	key_of(1, key);
	CHECK_INT(tokens_find(tokens, key), 0);
	tokens_drop(tokens, key); /* not there: nothing happens */
	CHECK_INT(tokens_count(tokens), 0);
	tokens_free(tokens);
}

/* Random puts and drops; after each round the index says exactly what the model does. */
static void test_model(void)
{
	struct tokens *tokens = tokens_new();
	static int64_t model[USERS];
	uint32_t seed = 12345;
	size_t count = 0;
	uint8_t key[STORE_TOKEN_KEY];

	memset(model, 0, sizeof model);
	for (unsigned step = 0; step < 60000; step++) {
		uint32_t n;

		seed = seed * 1664525u + 1013904223u;
		n = (seed >> 8) % USERS;
		key_of(n, key);
		if (seed >> 31 || model[n] == 0) {
			count += model[n] == 0;
			model[n] = (int64_t)step + 1;
			CHECK(tokens_put(tokens, key, model[n]));
		} else {
			count--;
			model[n] = 0;
			tokens_drop(tokens, key);
		}
	}
	CHECK_INT(tokens_count(tokens), count);
	for (uint32_t n = 0; n < USERS; n++) {
		key_of(n, key);
		CHECK_INT(tokens_find(tokens, key), model[n]);
	}
	for (uint32_t n = 0; n < USERS; n++) { /* down to nothing again */
		key_of(n, key);
		tokens_drop(tokens, key);
	}
	CHECK_INT(tokens_count(tokens), 0);
	tokens_free(tokens);
}

/* Keys that all want the table's last places wrap around its end. */
static void test_wrap_around(void)
{
	struct tokens *tokens = tokens_new();
	uint8_t key[STORE_TOKEN_KEY];

	memset(key, 0xff, sizeof key);
	for (int i = 0; i < 30; i++) {
		key[15] = (uint8_t)i;
		CHECK(tokens_put(tokens, key, i + 1));
	}
	for (int i = 0; i < 30; i += 2) {
		key[15] = (uint8_t)i;
		tokens_drop(tokens, key);
	}
	for (int i = 0; i < 30; i++) {
		key[15] = (uint8_t)i;
		CHECK_INT(tokens_find(tokens, key), i % 2 ? i + 1 : 0);
	}
	tokens_free(tokens);
}

static void test_reserve(void)
{
	struct tokens *tokens = tokens_new();
	uint8_t key[STORE_TOKEN_KEY];

	key_of(1, key);
	CHECK(tokens_put(tokens, key, 1));
	CHECK(tokens_reserve(tokens, 10000));
	CHECK(tokens_reserve(tokens, 3)); /* never smaller */
	for (uint32_t n = 0; n < 12000; n++) {
		key_of(n, key);
		CHECK(tokens_put(tokens, key, n + 1));
	}
	CHECK_INT(tokens_count(tokens), 12000);
	for (uint32_t n = 0; n < 12000; n++) {
		key_of(n, key);
		CHECK_INT(tokens_find(tokens, key), n + 1);
	}
	tokens_free(tokens);
}

struct shared {
	struct tokens *tokens;
	atomic_bool stop;
	atomic_uint wrong;
};

static void *look(void *arg)
{
	struct shared *shared = arg;
	uint8_t key[STORE_TOKEN_KEY];

	while (!atomic_load(&shared->stop)) {
		for (uint32_t n = 0; n < 100; n++) { /* these are always there */
			key_of(n, key);
			if (tokens_find(shared->tokens, key) != n + 1)
				atomic_fetch_add(&shared->wrong, 1);
		}
		tokens_count(shared->tokens);
	}
	return NULL;
}

static void test_threads(void)
{
	struct shared shared = {.tokens = tokens_new()};
	pthread_t readers[3];
	uint8_t key[STORE_TOKEN_KEY];

	for (uint32_t n = 0; n < 100; n++) {
		key_of(n, key);
		CHECK(tokens_put(shared.tokens, key, n + 1));
	}
	for (size_t i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&readers[i], NULL, look, &shared), 0);
	for (uint32_t n = 1000; n < 4000; n++) { /* growing while they look */
		key_of(n, key);
		CHECK(tokens_put(shared.tokens, key, n));
		key_of(n - 500, key);
		tokens_drop(shared.tokens, key);
	}
	atomic_store(&shared.stop, true);
	for (size_t i = 0; i < 3; i++)
		pthread_join(readers[i], NULL);
	CHECK_INT(atomic_load(&shared.wrong), 0);
	tokens_free(shared.tokens);
}

TEST_MAIN(TEST(test_empty), TEST(test_model), TEST(test_wrap_around), TEST(test_reserve),
	  TEST(test_threads))
