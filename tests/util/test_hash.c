#include "test.h"

#include <pthread.h>

#include "hythe/util/hash.h"

static void check_sha(const void *data, size_t len, const char *want)
{
	uint8_t out[SHA256_LEN];
	char hex[HEX_LEN(SHA256_LEN) + 1];

	hash_sha256(data, len, out);
	hex_encode(out, sizeof out, hex);
	CHECK_TEXT(hex, want);
}

/* FIPS 180-4's examples */
static void test_sha256(void)
{
	check_sha("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sha(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sha("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void *hash_often(void *arg)
{
	uint8_t out[SHA256_LEN];

	for (int i = 0; i < 1000; i++)
		hash_sha256("abc", 3, out);
	memcpy(arg, out, sizeof out);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	uint8_t outs[4][SHA256_LEN];

	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, hash_often, outs[i]), 0);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
	for (int i = 1; i < 4; i++)
		CHECK(memcmp(outs[0], outs[i], SHA256_LEN) == 0);
}

static void test_pieces(void)
{
	struct hash_sha256_ctx *ctx = hash_sha256_new();
	uint8_t pieces[SHA256_LEN], whole[SHA256_LEN];

	hash_sha256_put_i64(ctx, -2);
	hash_sha256_put(ctx, "xy", 2);
	hash_sha256_put_text(ctx, "abc", 3);
	hash_sha256_end(ctx, pieces);
	hash_sha256("\xff\xff\xff\xff\xff\xff\xff\xfexy\0\0\0\0\0\0\0\3abc", 21, whole);
	CHECK(memcmp(pieces, whole, SHA256_LEN) == 0);
}

static void test_random(void)
{
	uint8_t a[300] = {0}, b[300] = {0};
	unsigned seen = 0;

	random_bytes(a, sizeof a);
	random_bytes(b, sizeof b);
	random_bytes(NULL, 0);
	CHECK(memcmp(a, b, sizeof a) != 0);
	for (size_t i = 0; i < sizeof a; i++)
		seen |= a[i];
	CHECK_INT(seen, 255);
}

static void test_secret_equal(void)
{
	CHECK(secret_equal("abc", "abc", 3));
	CHECK(secret_equal("abc", "xyz", 0));
	CHECK(!secret_equal("abc", "abd", 3));
	CHECK(!secret_equal("abc", "Abc", 3));
}

/* RFC 4648, section 10 */
static void test_vectors(void)
{
	static const struct {
		const char *plain, *base64, *base64url, *base32, *hex;
	} rows[] = {
		{"",             "",         "",         "",           ""            },
		{"f",            "Zg==",     "Zg",       "my",         "66"          },
		{"fo",           "Zm8=",     "Zm8",      "mzxq",       "666f"        },
		{"foo",          "Zm9v",     "Zm9v",     "mzxw6",      "666f6f"      },
		{"foob",         "Zm9vYg==", "Zm9vYg",   "mzxw6yq",    "666f6f62"    },
		{"fooba",        "Zm9vYmE=", "Zm9vYmE",  "mzxw6ytb",   "666f6f6261"  },
		{"foobar",       "Zm9vYmFy", "Zm9vYmFy", "mzxw6ytboi", "666f6f626172"},
		{"\xfb\xff\xbf", "+/+/",     "-_-_",     "7p736",      "fbffbf"      },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t len = strlen(rows[i].plain);
		char out[32], back[8];

		base64_encode(rows[i].plain, len, out);
		CHECK_TEXT(out, rows[i].base64);
		CHECK_INT(strlen(out), BASE64_LEN(len));
		CHECK(base64_decode(out, strlen(out), back, len));
		CHECK(memcmp(back, rows[i].plain, len) == 0);
		base64url_encode(rows[i].plain, len, out);
		CHECK_TEXT(out, rows[i].base64url);
		CHECK_INT(strlen(out), BASE64URL_LEN(len));
		CHECK(base64url_decode(out, strlen(out), back, len));
		CHECK(memcmp(back, rows[i].plain, len) == 0);
		base32_encode(rows[i].plain, len, out);
		CHECK_TEXT(out, rows[i].base32);
		CHECK_INT(strlen(out), BASE32_LEN(len));
		hex_encode(rows[i].plain, len, out);
		CHECK_TEXT(out, rows[i].hex);
		CHECK(hex_decode(out, strlen(out), back, len));
		CHECK(memcmp(back, rows[i].plain, len) == 0);
	}
}

static void test_alphabets(void)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t data[48], back[48];
	char out[80];

	CHECK(base64_decode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 64,
			    data, 48));
	base64_encode(data, 48, out);
	CHECK(memcmp(out, letters, 62) == 0);
	CHECK_TEXT(out + 62, "+/");
	base64url_encode(data, 48, out);
	CHECK(memcmp(out, letters, 62) == 0);
	CHECK_TEXT(out + 62, "-_");
	CHECK(base64url_decode(out, 64, back, 48));
	CHECK(memcmp(data, back, 48) == 0);
	for (unsigned i = 0; i < 32; i++) {
		uint8_t five[5] = {(uint8_t)(i << 3)};

		base32_encode(five, 1, out);
		CHECK_INT(out[0], "abcdefghijklmnopqrstuvwxyz234567"[i]);
	}
}

/* Every byte as one letter: exactly the alphabet is taken. */
static void test_foreign_letters(void)
{
	static const char std[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static const char url[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t out[3];

	for (int c = 0; c < 256; c++) {
		char four[4] = {'A', 'A', (char)c, 'A'}, two[2] = {'0', (char)c};

		CHECK_INT(base64_decode(four, 4, out, 3), c && strchr(std, c) != NULL);
		CHECK_INT(base64url_decode(four, 4, out, 3), c && strchr(url, c) != NULL);
		CHECK_INT(hex_decode(two, 2, out, 1), c && strchr("0123456789abcdefABCDEF", c));
	}
}

static void test_base64url_refused(void)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{"Zg==",  1},
                {"Zg=",   1},
                {"Z",     1},
		{"Zm8",   1},
                {"Zg",    2},
                {"Zh",    1}, /* padding bits */
		{"Zm9",   2},
                {" Zg",   1},
                {"Zg ",   1},
		{"",      1},
                {"Zg",    0},
                {"Z\xc3", 1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t out[8];

		if (base64url_decode(rows[i].text, strlen(rows[i].text), out, rows[i].len))
			TEST_FAIL("row %zu (%s)", i, rows[i].text);
	}
}

static void test_base64_refused(void)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{"Zg",    1},
                {"Zg=",   1},
                {"Zg===", 1},
                {"Zh==",  1},
                {"Zm9=",  2},
		{"Z===",  1},
                {"====",  1},
                {"Zg==",  2},
                {"Zm9v",  2},
                {"Zm9v",  4},
		{"=Zm9",  3},
                {"Zg=A",  1},
                {"-_-_",  3},
                {"",      1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t out[8];

		if (base64_decode(rows[i].text, strlen(rows[i].text), out, rows[i].len))
			TEST_FAIL("row %zu (%s)", i, rows[i].text);
	}
}

static void test_hex_refused(void)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{"0",    1},
                {"0",    0},
                {"000",  1},
                {"00",   2},
                {"0000", 1},
                {"0g",   1},
		{"g0",   1},
                {"0x",   1},
                {" 0",   1},
                {"-1",   1},
                {"",     1}
        };
	uint8_t out[4];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (hex_decode(rows[i].text, strlen(rows[i].text), out, rows[i].len))
			TEST_FAIL("row %zu (%s)", i, rows[i].text);
	CHECK(hex_decode("aBcDeF", 6, out, 3));
	CHECK(out[0] == 0xab && out[1] == 0xcd && out[2] == 0xef);
}

TEST_MAIN(TEST(test_sha256), TEST(test_threads), TEST(test_pieces), TEST(test_random),
	  TEST(test_secret_equal), TEST(test_vectors), TEST(test_alphabets),
	  TEST(test_foreign_letters), TEST(test_base64url_refused), TEST(test_base64_refused),
	  TEST(test_hex_refused))
