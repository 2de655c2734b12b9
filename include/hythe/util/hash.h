/* util/hash.h – SHA-256, random bytes, and the few encodings.
 *
 * Facts: base64url and base64 RFC 4648 (section 5 without padding, section 4 with), base32 RFC 4648
 * section 6 in lower case without padding. Decoders refuse what an encoder would not write
 * (padding bits, other alphabets). Encoders write a NUL. Threads: any. */
#ifndef HYTHE_UTIL_HASH_H
#define HYTHE_UTIL_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

void hash_sha256(const void *data, size_t len, uint8_t out[static SHA256_LEN]);

struct hash_sha256_ctx; /* for input in pieces; allocation failure ends the process like malloc's in log */
struct hash_sha256_ctx *hash_sha256_new(void);
void hash_sha256_put(struct hash_sha256_ctx *ctx, const void *data, size_t len);
void hash_sha256_put_i64(struct hash_sha256_ctx *ctx, int64_t value);                   /* 8 bytes, big endian */
void hash_sha256_put_text(struct hash_sha256_ctx *ctx, const char *text, size_t len);   /* length as i64, then bytes */
void hash_sha256_end(struct hash_sha256_ctx *ctx, uint8_t out[static SHA256_LEN]);      /* frees ctx */

void random_bytes(void *out, size_t len);                      /* getrandom(2); never fails after boot */
bool secret_equal(const void *a, const void *b, size_t len);   /* constant time */

#define HEX_LEN(n)       ((n) * 2)
#define BASE64URL_LEN(n) (((n) * 4 + 2) / 3)
#define BASE64_LEN(n)    (((n) + 2) / 3 * 4)
#define BASE32_LEN(n)    (((n) * 8 + 4) / 5)
void hex_encode(const void *data, size_t len, char *out);
bool hex_decode(const char *text, size_t text_len, void *out, size_t len); /* either case; exactly len bytes */
void base64url_encode(const void *data, size_t len, char *out);
bool base64url_decode(const char *text, size_t text_len, void *out, size_t len);
void base64_encode(const void *data, size_t len, char *out);
bool base64_decode(const char *text, size_t text_len, void *out, size_t len);
void base32_encode(const void *data, size_t len, char *out);

#endif
