/* The master key's file and what is sealed with it. */
#include "auth_test.h"

#include "hythe/auth/vault.h"

static const struct seal_place place = {"credential", "sealed", "usr_a", "hash", 4};

static void write_key(const char *path, size_t len, mode_t mode)
{
	static const char bytes[64] = "0123456789abcdef0123456789abcdef";
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	CHECK_INT(fchmod(fd, mode), 0);
	close(fd);
}

static void expect_refusal(const char *code)
{
	struct problem problem = {0};
	struct vault *vault;

	CHECK(vault_open(b.key_path, false, &vault, &problem) != RES_OK);
	CHECK(!vault);
	CHECK_TEXT(problem.code, code);
	CHECK(problem.detail[0]);
}

static void test_key_file(void)
{
	static const struct {
		size_t len;
		mode_t mode;
		const char *code;
	} rows[] = {
		{0,  0600, "key_bad_size"},
                {31, 0600, "key_bad_size"},
                {33, 0600, "key_bad_size"},
		{32, 0640, "key_bad_mode"},
                {32, 0604, "key_bad_mode"},
                {32, 0700, "key_bad_mode"},
	};
	struct vault *vault;

	bench_dir();
	expect_refusal("key_missing");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		write_key(b.key_path, rows[i].len, rows[i].mode);
		expect_refusal(rows[i].code);
	}
	unlink(b.key_path);
	write_key(b.key_path, 32, 0400); /* stricter is fine */
	CHECK_INT(vault_open(b.key_path, false, &vault, NULL), RES_OK);
	vault_free(vault);
}

static void test_key_is_a_plain_file(void)
{
	char other[128];

	bench_dir();
	snprintf(other, sizeof other, "%s/other", b.dir);
	write_key(other, 32, 0600);
	CHECK_INT(symlink(other, b.key_path), 0);
	expect_refusal("key_bad_file");
	unlink(b.key_path);
	CHECK_INT(mkfifo(b.key_path, 0600), 0);
	expect_refusal("key_bad_file");
}

static void test_create_keeps_what_is_there(void)
{
	struct stat st;
	struct vault *first, *second;
	struct buf sealed, plain;

	bench_dir();
	buf_init(&sealed, 1024);
	buf_init(&plain, 1024);
	CHECK_INT(vault_open(b.key_path, true, &first, NULL), RES_OK);
	CHECK_INT(stat(b.key_path, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(st.st_size, 32);
	CHECK_INT(vault_seal(first, &place, "abc", 3, &sealed), RES_OK);
	CHECK_INT(vault_open(b.key_path, true, &second, NULL), RES_OK);
	CHECK_INT(vault_open_sealed(second, &place, sealed.data, sealed.len, &plain), RES_OK);
	CHECK_TEXT(plain.data, "abc");
	buf_free(&sealed);
	buf_free(&plain);
	vault_free(first);
	vault_free(second);
}

static void open_vault(void)
{
	bench_dir();
	CHECK_INT(vault_open(b.key_path, true, &b.vault, NULL), RES_OK);
}

static void test_round_trip(void)
{
	static const size_t lengths[] = {0, 1, 15, 16, 17, 24, 1000, 65536};
	static char data[65536];

	open_vault();
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct buf sealed, plain;

		buf_init(&sealed, lengths[i] + SEAL_OVERHEAD + 3);
		buf_init(&plain, lengths[i] + 1);
		CHECK(buf_put(&sealed, "abc", 3)); /* it is appended */
		CHECK_INT(vault_seal(b.vault, &place, data, lengths[i], &sealed), RES_OK);
		CHECK_INT(sealed.len, 3 + lengths[i] + SEAL_OVERHEAD);
		CHECK_INT(
			vault_open_sealed(b.vault, &place, sealed.data + 3, sealed.len - 3, &plain),
			RES_OK);
		CHECK_INT(plain.len, lengths[i]);
		CHECK(memcmp(plain.data, data, plain.len) == 0 && plain.data[plain.len] == '\0');
		buf_free(&sealed);
		buf_free(&plain);
	}
}

static void test_every_bit_counts(void)
{
	struct buf sealed, plain;

	open_vault();
	buf_init(&sealed, 256);
	buf_init(&plain, 256);
	CHECK_INT(vault_seal(b.vault, &place, "secret", 6, &sealed), RES_OK);
	for (size_t bit = 0; bit < sealed.len * 8; bit++) {
		sealed.data[bit / 8] = (char)(sealed.data[bit / 8] ^ (1 << bit % 8));
		CHECK_INT(vault_open_sealed(b.vault, &place, sealed.data, sealed.len, &plain),
			  RES_CORRUPT);
		CHECK_INT(plain.len, 0);
		sealed.data[bit / 8] = (char)(sealed.data[bit / 8] ^ (1 << bit % 8));
	}
	for (size_t len = 0; len < sealed.len; len++)
		CHECK_INT(vault_open_sealed(b.vault, &place, sealed.data, len, &plain),
			  RES_CORRUPT);
	CHECK_INT(vault_open_sealed(b.vault, &place, sealed.data, sealed.len, &plain), RES_OK);
	buf_free(&sealed);
	buf_free(&plain);
}

static void test_bound_to_its_place(void)
{
	static const struct seal_place others[] = {
		{"credentials", "sealed", "usr_a",     "hash", 4},
		{"credential",  "seale",  "dusr_a",    "hash", 4},
		{"credential",  "sealed", "usr_b",     "hash", 4},
		{"credential",  "sealed", "usr_a",     "hasi", 4},
		{"credential",  "sealed", "usr_a",     "hash", 3},
		{"credential",  "sealed", "usr_a",     NULL,   0},
		{"credential",  "sealed", "usr_ahash", "",     0},
	};
	struct buf sealed, plain;

	open_vault();
	buf_init(&sealed, 256);
	buf_init(&plain, 256);
	CHECK_INT(vault_seal(b.vault, &place, "secret", 6, &sealed), RES_OK);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK_INT(vault_open_sealed(b.vault, &others[i], sealed.data, sealed.len, &plain),
			  RES_CORRUPT);
	buf_free(&sealed);
	buf_free(&plain);
}

static void test_cap(void)
{
	struct buf sealed, plain;

	open_vault();
	buf_init(&sealed, 6 + SEAL_OVERHEAD - 1);
	CHECK_INT(vault_seal(b.vault, &place, "secret", 6, &sealed), RES_NOMEM);
	buf_free(&sealed);
	buf_init(&sealed, 6 + SEAL_OVERHEAD);
	buf_init(&plain, 5);
	CHECK_INT(vault_seal(b.vault, &place, "secret", 6, &sealed), RES_OK);
	CHECK_INT(vault_open_sealed(b.vault, &place, sealed.data, sealed.len, &plain), RES_NOMEM);
	buf_free(&sealed);
	buf_free(&plain);
}

static void test_mac(void)
{
	struct vault *one, *two;
	uint8_t digest[32] = {1}, other[32] = {2}, mac[32], again[32];
	char second[600];

	bench_dir();
	snprintf(second, sizeof second, "%s.second", b.key_path);
	CHECK_INT(vault_open(b.key_path, true, &one, NULL), RES_OK);
	CHECK_INT(vault_open(second, true, &two, NULL), RES_OK);
	vault_mac(one, "x", digest, mac);
	vault_mac(one, "x", digest, again);
	CHECK(memcmp(mac, again, 32) == 0);
	vault_mac(one, "y", digest, again);
	CHECK(memcmp(mac, again, 32) != 0);
	vault_mac(one, "x", other, again);
	CHECK(memcmp(mac, again, 32) != 0);
	vault_mac(two, "x", digest, again);
	CHECK(memcmp(mac, again, 32) != 0);
	vault_free(one);
	vault_free(two);
}

TEST_MAIN(TEST(test_mac), TEST(test_key_file), TEST(test_key_is_a_plain_file),
	  TEST(test_create_keeps_what_is_there), TEST(test_round_trip), TEST(test_every_bit_counts),
	  TEST(test_bound_to_its_place), TEST(test_cap))
