/* The encoders and decoders go by arithmetic instead of tables and branches, because tokens and
 * keys pass through them: neither the cache nor the time taken may say which letters they hold. */
#include "hythe/util/hash.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hythe/util/log.h"

struct hash_sha256_ctx {
	EVP_MD_CTX *evp;
};

static EVP_MD *sha256; /* set once, then only read */
static pthread_key_t local_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local EVP_MD_CTX *local;

static _Noreturn void die(const char *what)
{
	log_error("fatal", "what=%s", what);
	abort();
}

static void free_local(void *ctx)
{
	EVP_MD_CTX_free(ctx);
}

static void set_up(void)
{
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!sha256)
		die("sha256_fetch");
	if (pthread_key_create(&local_key, free_local) != 0)
		die("thread_key");
}

static EVP_MD_CTX *new_ctx(void)
{
	EVP_MD_CTX *ctx;

	pthread_once(&once, set_up);
	ctx = EVP_MD_CTX_new();
	if (!ctx)
		die("out_of_memory");
	return ctx;
}

static EVP_MD_CTX *local_ctx(void)
{
	if (!local) {
		local = new_ctx();
		if (pthread_setspecific(local_key, local) != 0)
			die("out_of_memory");
	}
	return local;
}

void hash_sha256(const void *data, size_t len, uint8_t out[static SHA256_LEN])
{
	EVP_MD_CTX *ctx = local_ctx();

	if (!EVP_DigestInit_ex2(ctx, sha256, NULL) || !EVP_DigestUpdate(ctx, data, len) ||
	    !EVP_DigestFinal_ex(ctx, out, NULL))
		die("sha256");
}

struct hash_sha256_ctx *hash_sha256_new(void)
{
	struct hash_sha256_ctx *ctx = malloc(sizeof *ctx);

	if (!ctx)
		die("out_of_memory");
	ctx->evp = new_ctx();
	if (!EVP_DigestInit_ex2(ctx->evp, sha256, NULL))
		die("sha256");
	return ctx;
}

void hash_sha256_put(struct hash_sha256_ctx *ctx, const void *data, size_t len)
{
	if (!EVP_DigestUpdate(ctx->evp, data, len))
		die("sha256");
}

void hash_sha256_put_i64(struct hash_sha256_ctx *ctx, int64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)value >> (56 - 8 * i));
	hash_sha256_put(ctx, bytes, sizeof bytes);
}

void hash_sha256_put_text(struct hash_sha256_ctx *ctx, const char *text, size_t len)
{
	hash_sha256_put_i64(ctx, (int64_t)len);
	hash_sha256_put(ctx, text, len);
}

void hash_sha256_end(struct hash_sha256_ctx *ctx, uint8_t out[static SHA256_LEN])
{
	if (!EVP_DigestFinal_ex(ctx->evp, out, NULL))
		die("sha256");
	EVP_MD_CTX_free(ctx->evp);
	free(ctx);
}

void random_bytes(void *out, size_t len)
{
	uint8_t *at = out;

	while (len > 0) {
		ssize_t n = getrandom(at, len, 0);

		if (n < 0 && errno != EINTR)
			die("getrandom");
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
}

bool secret_equal(const void *a, const void *b, size_t len)
{
	return CRYPTO_memcmp(a, b, len) == 0;
}

/* --- Encodings --- */

/* All bits set if a >= b, else none; both below 2^31. */
static unsigned at_least(unsigned a, unsigned b)
{
	return ~(0u - ((a - b) >> 31));
}

static unsigned between(unsigned c, unsigned low, unsigned high)
{
	return at_least(c, low) & ~at_least(c, high + 1);
}

void hex_encode(const void *data, size_t len, char *out)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len * 2; i++) {
		unsigned v = (unsigned)bytes[i / 2] >> (i % 2 ? 0 : 4) & 15;

		out[i] = (char)('0' + v + (at_least(v, 10) & ('a' - 10 - '0')));
	}
	out[len * 2] = '\0';
}

/* The digit's value plus one, 0 for anything else. */
static unsigned hex_digit(unsigned c)
{
	return (between(c, '0', '9') & (c - '0' + 1)) | (between(c, 'a', 'f') & (c - 'a' + 11)) |
	       (between(c, 'A', 'F') & (c - 'A' + 11));
}

bool hex_decode(const char *text, size_t text_len, void *out, size_t len)
{
	uint8_t *bytes = out;
	unsigned good = 1;

	if (text_len / 2 != len || text_len % 2)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned high = hex_digit((unsigned char)text[i * 2]);
		unsigned low = hex_digit((unsigned char)text[i * 2 + 1]);

		good &= at_least(high, 1) & at_least(low, 1);
		bytes[i] = (uint8_t)((high - 1) << 4 | ((low - 1) & 15));
	}
	return good;
}

/* RFC 4648: both alphabets differ in their last two letters only. */
struct alphabet64 {
	unsigned c62, c63;
};

static const struct alphabet64 standard = {'+', '/'}, url = {'-', '_'};

static char letter64(const struct alphabet64 *alphabet, unsigned v)
{
	unsigned c = (~at_least(v, 26) & (v + 'A')) | (between(v, 26, 51) & (v - 26 + 'a')) |
		     (between(v, 52, 61) & (v - 52 + '0')) | (between(v, 62, 62) & alphabet->c62) |
		     (between(v, 63, 63) & alphabet->c63);

	return (char)c;
}

/* The letter's value plus one, 0 for anything else. */
static unsigned value64(const struct alphabet64 *alphabet, unsigned c)
{
	return (between(c, 'A', 'Z') & (c - 'A' + 1)) | (between(c, 'a', 'z') & (c - 'a' + 27)) |
	       (between(c, '0', '9') & (c - '0' + 53)) |
	       (between(c, alphabet->c62, alphabet->c62) & 63) |
	       (between(c, alphabet->c63, alphabet->c63) & 64);
}

static size_t encode64(const struct alphabet64 *alphabet, const uint8_t *data, size_t len,
		       char *out)
{
	unsigned bits = 0, held = 0;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bits = (bits << 8 | data[i]) & 0xffff;
		held += 8;
		while (held >= 6) {
			held -= 6;
			out[n++] = letter64(alphabet, bits >> held & 63);
		}
	}
	if (held)
		out[n++] = letter64(alphabet, bits << (6 - held) & 63);
	out[n] = '\0';
	return n;
}

/* Exactly the letters that `len` bytes take, without padding. */
static bool decode64(const struct alphabet64 *alphabet, const char *text, uint8_t *out, size_t len)
{
	unsigned bits = 0, held = 0, good = 1;
	size_t n = 0;

	for (size_t i = 0; i < BASE64URL_LEN(len); i++) {
		unsigned v = value64(alphabet, (unsigned char)text[i]);

		good &= at_least(v, 1);
		bits = (bits << 6 | ((v - 1) & 63)) & 0xffff;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[n++] = (uint8_t)(bits >> held);
		}
	}
	return good & ((bits & ((1u << held) - 1)) == 0);
}

void base64url_encode(const void *data, size_t len, char *out)
{
	encode64(&url, data, len, out);
}

bool base64url_decode(const char *text, size_t text_len, void *out, size_t len)
{
	return text_len == BASE64URL_LEN(len) && decode64(&url, text, out, len);
}

void base64_encode(const void *data, size_t len, char *out)
{
	size_t n = encode64(&standard, data, len, out);

	while (n < BASE64_LEN(len))
		out[n++] = '=';
	out[n] = '\0';
}

bool base64_decode(const char *text, size_t text_len, void *out, size_t len)
{
	if (text_len != BASE64_LEN(len))
		return false;
	for (size_t i = BASE64URL_LEN(len); i < text_len; i++)
		if (text[i] != '=')
			return false;
	return decode64(&standard, text, out, len);
}

void base32_encode(const void *data, size_t len, char *out)
{
	const uint8_t *bytes = data;
	unsigned bits = 0, held = 0;
	size_t n = 0;

	for (size_t i = 0; i < BASE32_LEN(len); i++) {
		unsigned v;

		if (held < 5) {
			bits = (bits << 8 | (n < len ? bytes[n] : 0u)) & 0xffff;
			n++;
			held += 8;
		}
		held -= 5;
		v = bits >> held & 31;
		out[i] =
			(char)((~at_least(v, 26) & (v + 'a')) | (at_least(v, 26) & (v - 26 + '2')));
	}
	out[BASE32_LEN(len)] = '\0';
}
