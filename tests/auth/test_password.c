/* Passwords: rules, hashes, verification. */
#include <pthread.h>

#include "hythe/auth/password.h"
#include "hythe/util/hash.h"
#include "test.h"

static const struct hasher_cost cheap = {.memory_kib = 64, .passes = 1};

static void test_rules(void)
{
	static char longest[PASSWORD_MAX_BYTES + 2];
	static const struct {
		const char *password;
		enum res res;
	} rows[] = {
		{"",			     RES_INVALID},
		{"123456789",                    RES_INVALID},
		{"1234567890",                   RES_OK     },
		{"ten char\nss",                 RES_INVALID},
		{"ten char\x7fss",               RES_INVALID},
		{"пароль",                 RES_OK     },
		{"abcdefgh\xff\xfe",             RES_INVALID},
		{"correct horse battery staple", RES_OK     },
	};
	struct problem problem;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		problem = (struct problem){0};
		CHECK_INT(password_check("password", rows[i].password, &problem), rows[i].res);
		CHECK_TEXT(problem.field, rows[i].res == RES_OK ? "" : "password");
	}
	memset(longest, 'x', PASSWORD_MAX_BYTES + 1);
	CHECK_INT(password_check("password", longest, NULL), RES_INVALID);
	longest[PASSWORD_MAX_BYTES] = '\0';
	CHECK_INT(password_check("password", longest, NULL), RES_OK);
}

static void test_hash_and_verify(void)
{
	char first[PASSWORD_HASH_MAX], second[PASSWORD_HASH_MAX],
		longest[PASSWORD_MAX_BYTES + 2] = {0};
	struct hasher *hasher;

	CHECK_INT(hasher_new(&cheap, &hasher), RES_OK);
	CHECK_INT(password_hash(hasher, "correct horse", first), RES_OK);
	CHECK_INT(password_hash(hasher, "correct horse", second), RES_OK);
	CHECK(strncmp(first, "$argon2id$v=19$m=64,t=1,p=1$", 28) == 0);
	CHECK(strcmp(first, second) != 0); /* salted */
	CHECK_INT(password_verify(hasher, "correct horse", first), RES_OK);
	CHECK_INT(password_verify(hasher, "correct horsf", first), RES_UNAUTHORIZED);
	CHECK_INT(password_verify(hasher, "", first), RES_UNAUTHORIZED);
	CHECK_INT(password_verify(hasher, "correct horse", NULL), RES_UNAUTHORIZED);
	CHECK_INT(password_verify(hasher, "correct horse", ""), RES_UNAUTHORIZED);
	memset(longest, 'x', PASSWORD_MAX_BYTES);
	CHECK_INT(password_hash(hasher, longest, first), RES_OK);
	CHECK_INT(password_verify(hasher, longest, first), RES_OK);
	longest[PASSWORD_MAX_BYTES] = 'x';
	CHECK_INT(password_verify(hasher, longest, first), RES_UNAUTHORIZED);
	hasher_free(hasher);
}

/* Other costs than ours verify too; what is damaged or asks for too much is refused. */
static void test_stored_forms(void)
{
	static const char *const bad[] = {
		"x",
		"$argon2i$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=16$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=99999999,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=0,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=1,p=2$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
		"$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		"$argon2id$v=19$m=+64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	};
	struct hasher_cost other = {.memory_kib = 128, .passes = 3};
	char hash[PASSWORD_HASH_MAX];
	struct hasher *hasher, *stronger;

	CHECK_INT(hasher_new(&cheap, &hasher), RES_OK);
	CHECK_INT(hasher_new(&other, &stronger), RES_OK);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_INT(password_verify(hasher, "correct horse", bad[i]), RES_CORRUPT);
	CHECK_INT(password_hash(stronger, "correct horse", hash), RES_OK);
	CHECK_INT(password_verify(hasher, "correct horse", hash), RES_OK);
	hasher_free(hasher);
	hasher_free(stronger);
}

/* From the library's own encoder: argon2 0123456789abcdef -id -t 2 -k 64 -p 1 -l 32 -e */
static void test_known_answer(void)
{
	struct hasher *hasher;

	CHECK_INT(hasher_new(&cheap, &hasher), RES_OK);
	CHECK_INT(password_verify(hasher, "correct horse",
				  "$argon2id$v=19$m=64,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$"
				  "dPtrHTEawLtMiR9+/XloAkXZ+EtyrY+bvmHIbiufhk0"),
		  RES_OK);
	hasher_free(hasher);
}

static void *verify_many(void *arg)
{
	char hash[PASSWORD_HASH_MAX];
	intptr_t wrong = 0;

	for (int i = 0; i < 20; i++)
		wrong += password_hash(arg, "correct horse", hash) != RES_OK ||
			 password_verify(arg, "correct horse", hash) != RES_OK;
	return (void *)wrong;
}

static void test_threads(void)
{
	pthread_t threads[4];
	struct hasher *hasher;
	void *wrong;

	CHECK_INT(hasher_new(&cheap, &hasher), RES_OK);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, verify_many, hasher), 0);
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(pthread_join(threads[i], &wrong), 0);
		CHECK(!wrong);
	}
	hasher_free(hasher);
}

static long resident_kib(void)
{
	long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	CHECK(file && fscanf(file, "%ld %ld", &pages, &resident) == 2);
	fclose(file);
	return resident * 4;
}

/* 19 MiB while a hash is computed, and nothing of them afterwards. */
static void test_memory_is_given_back(void)
{
	char hash[PASSWORD_HASH_MAX];
	struct hasher *hasher;
	long before, after;

	CHECK_INT(hasher_new(NULL, &hasher), RES_OK);
	CHECK_INT(password_hash(hasher, "correct horse", hash), RES_OK);
	before = resident_kib();
	CHECK_INT(password_hash(hasher, "correct horse", hash), RES_OK);
	CHECK_INT(password_verify(hasher, "correct horse", hash), RES_OK);
	after = resident_kib();
	CHECK(after - before < 4096);
	hasher_free(hasher);
}

TEST_MAIN(TEST(test_rules), TEST(test_hash_and_verify), TEST(test_stored_forms),
	  TEST(test_known_answer), TEST(test_threads), TEST(test_memory_is_given_back))
