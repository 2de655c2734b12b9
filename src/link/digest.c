/* Layout 1, as the header states it. Nothing here may ever change without a new layout number:
 * panels and nodes of different age compare these bytes. */
#include "hythe/link/digest.h"

#include <string.h>

#include "hythe/util/hash.h"

enum digest_kind { KIND_INBOUND = 1, KIND_ACCESS = 2, KIND_USER = 3 };

static struct hash_sha256_ctx *begin(enum digest_kind kind)
{
	struct hash_sha256_ctx *ctx = hash_sha256_new();
	uint8_t byte = (uint8_t)kind;

	hash_sha256_put(ctx, &byte, 1);
	return ctx;
}

static void put_text(struct hash_sha256_ctx *ctx, const char *text)
{
	hash_sha256_put_text(ctx, text, strlen(text));
}

void digest_of_inbound(const struct digest_inbound *inbound, uint8_t hash[static DIGEST_LEN])
{
	struct hash_sha256_ctx *ctx = begin(KIND_INBOUND);

	hash_sha256_put_i64(ctx, inbound->id);
	put_text(ctx, inbound->core);
	put_text(ctx, inbound->kind);
	hash_sha256_put_i64(ctx, inbound->port);
	put_text(ctx, inbound->hop_ports);
	put_text(ctx, inbound->sni);
	put_text(ctx, inbound->obfs);
	put_text(ctx, inbound->obfs_password);
	hash_sha256_put_i64(ctx, inbound->obfs_min_packet_bytes);
	hash_sha256_put_i64(ctx, inbound->obfs_max_packet_bytes);
	put_text(ctx, inbound->cert_mode);
	put_text(ctx, inbound->server);
	hash_sha256_end(ctx, hash);
}

void digest_of_access(int64_t group_id, const int64_t *inbounds, size_t count,
		      uint8_t hash[static DIGEST_LEN])
{
	struct hash_sha256_ctx *ctx = begin(KIND_ACCESS);

	hash_sha256_put_i64(ctx, group_id);
	hash_sha256_put_i64(ctx, (int64_t)count);
	for (size_t i = 0; i < count; i++)
		hash_sha256_put_i64(ctx, inbounds[i]);
	hash_sha256_end(ctx, hash);
}

void digest_of_user(const struct digest_user *user, uint8_t hash[static DIGEST_LEN])
{
	struct hash_sha256_ctx *ctx = begin(KIND_USER);
	const int64_t head[] = {user->id,
				user->expires_unix,
				user->hold_s,
				user->hold_no,
				user->device_limit,
				user->period_no,
				user->period_start_unix,
				user->period_end_unix,
				user->quota_counts};

	for (size_t i = 0; i < sizeof head / sizeof *head; i++)
		hash_sha256_put_i64(ctx, head[i]);
	hash_sha256_put_i64(ctx, (int64_t)user->group_count);
	for (size_t i = 0; i < user->group_count; i++)
		hash_sha256_put_i64(ctx, user->groups[i]);
	hash_sha256_put_i64(ctx, (int64_t)user->credential_count);
	for (size_t i = 0; i < user->credential_count; i++) {
		const struct digest_credential *credential = &user->credentials[i];

		/* A hash is a blob, so its length goes before it like any other's. */
		hash_sha256_put_text(ctx, (const char *)credential->hash, DIGEST_LEN);
		hash_sha256_put_i64(ctx, credential->not_after_unix);
	}
	hash_sha256_end(ctx, hash);
}

/* One byte at a time from the least significant end: a carry is at most |times| + 1, so 64 bits do
 * for any `times` that a count of users, groups or nodes can reach. */
static void add_times(uint8_t sum[static DIGEST_LEN], const uint8_t hash[static DIGEST_LEN],
		      uint64_t times)
{
	uint64_t carry = 0;

	for (size_t i = DIGEST_LEN; i-- > 0;) {
		uint64_t digit = times * hash[i] + sum[i] + carry;

		sum[i] = (uint8_t)digit;
		carry = digit >> 8;
	}
}

static void negate(uint8_t sum[static DIGEST_LEN])
{
	unsigned carry = 1;

	for (size_t i = DIGEST_LEN; i-- > 0;) {
		unsigned digit = (uint8_t)~sum[i] + carry;

		sum[i] = (uint8_t)digit;
		carry = digit >> 8;
	}
}

void digest_add(uint8_t sum[static DIGEST_LEN], const uint8_t hash[static DIGEST_LEN],
		int64_t times)
{
	if (times >= 0) {
		add_times(sum, hash, (uint64_t)times);
		return;
	}
	/* sum - h x n = -(-sum + h x n), all mod 2^256. */
	negate(sum);
	add_times(sum, hash, 0 - (uint64_t)times);
	negate(sum);
}
