/* The hashes wanted here were made by another program from the layout as the header states it. */
#include "hythe/link/digest.h"

#include "hythe/util/hash.h"
#include "test.h"

static void check_hash(const uint8_t hash[static DIGEST_LEN], const char *want)
{
	char hex[HEX_LEN(DIGEST_LEN) + 1];

	hex_encode(hash, DIGEST_LEN, hex);
	CHECK_TEXT(hex, want);
}

static const struct digest_inbound sample = {
	.id = 7,
	.core = "hysteria",
	.kind = "hysteria2",
	.port = 443,
	.hop_ports = "20000-29999",
	.sni = "de1.example.net",
	.obfs = "salamander",
	.obfs_password = "Rain-Forest_42",
	.cert_mode = "self_signed",
	.server = "{\"quic\":{\"max_idle_timeout_s\":20}}",
};

static void test_inbound(void)
{
	uint8_t hash[DIGEST_LEN];

	digest_of_inbound(&sample, hash);
	check_hash(hash, "ed411b4fcc6ce968c44e896e6ec490950b60f6d1da6da81aa5f52c3f9e1161a5");
}

static void test_access(void)
{
	const int64_t inbounds[] = {7, 9};
	uint8_t hash[DIGEST_LEN];

	digest_of_access(3, inbounds, 2, hash);
	check_hash(hash, "84ee47c7805caf27ae45fb7d3ad56d343ed88a1ea11bcf9cac7b21b7e1f630ee");
	digest_of_access(3, NULL, 0, hash);
	check_hash(hash, "c2e6198b175954f4c21cf5f85de9a925f5c0014a64186d1164a02d90312ccf8c");
}

static void test_user(void)
{
	const int64_t groups[] = {1, 4};
	struct digest_credential credential = {.not_after_unix = 0};
	struct digest_user user = {
		.id = 12,
		.expires_unix = 1800000000,
		.hold_no = 0,
		.device_limit = 3,
		.period_no = 5,
		.period_start_unix = 1790000000,
		.period_end_unix = 1792000000,
		.quota_counts = true,
		.groups = groups,
		.group_count = 2,
		.credentials = &credential,
		.credential_count = 1,
	};
	uint8_t hash[DIGEST_LEN];

	for (size_t i = 0; i < sizeof credential.hash; i++)
		credential.hash[i] = (uint8_t)i;
	digest_of_user(&user, hash);
	check_hash(hash, "dd69ca20910eb85b82afd1cfd580c3f6ec2859c0435f3aa27b18fea1be963280");
	user = (struct digest_user){.id = 1, .hold_s = -1, .period_no = 1};
	digest_of_user(&user, hash);
	check_hash(hash, "00fd3fe910ab51e13c3a25747b9636879582e5eb79bda96ce1dc4283372a3de1");
}

/* No two members may run into each other: moving a byte over a border is another record. */
static void test_borders(void)
{
	struct digest_inbound other = sample;
	uint8_t a[DIGEST_LEN], b[DIGEST_LEN];

	digest_of_inbound(&sample, a);
	other.core = "hysteriah";
	other.kind = "ysteria2";
	digest_of_inbound(&other, b);
	CHECK(memcmp(a, b, DIGEST_LEN) != 0);
}

static void test_sums(void)
{
	static const uint8_t zero[DIGEST_LEN];
	uint8_t one[DIGEST_LEN] = {0}, ones[DIGEST_LEN], sum[DIGEST_LEN] = {0};

	one[DIGEST_LEN - 1] = 1;
	memset(ones, 0xff, sizeof ones);
	digest_add(sum, one, -1); /* 0 - 1 mod 2^256 */
	CHECK(memcmp(sum, ones, DIGEST_LEN) == 0);
	digest_add(sum, one, 1);
	CHECK(memcmp(sum, zero, DIGEST_LEN) == 0);
	digest_add(sum, ones, 3); /* 3 x -1 */
	digest_add(sum, one, 3);
	CHECK(memcmp(sum, zero, DIGEST_LEN) == 0);
	digest_add(sum, ones, 0);
	CHECK(memcmp(sum, zero, DIGEST_LEN) == 0);
}

/* n at once is n times one, and what is taken away again leaves nothing. */
static void test_sum_of_many(void)
{
	uint8_t hash[DIGEST_LEN], at_once[DIGEST_LEN] = {0}, singly[DIGEST_LEN] = {0};

	digest_of_inbound(&sample, hash);
	digest_add(at_once, hash, 1000);
	for (int i = 0; i < 1000; i++)
		digest_add(singly, hash, 1);
	CHECK(memcmp(at_once, singly, DIGEST_LEN) == 0);
	digest_add(at_once, hash, -999);
	CHECK(memcmp(at_once, hash, DIGEST_LEN) == 0);
	digest_add(at_once, hash, 1000000000000);
	digest_add(at_once, hash, -1000000000000);
	CHECK(memcmp(at_once, hash, DIGEST_LEN) == 0);
}

TEST_MAIN(TEST(test_inbound), TEST(test_access), TEST(test_user), TEST(test_borders),
	  TEST(test_sums), TEST(test_sum_of_many))
