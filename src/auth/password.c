#include "hythe/auth/password.h"

#include <argon2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hythe/util/hash.h"
#include "hythe/util/num.h"
#include "hythe/util/text.h"

#define SALT_LEN 16
#define HASH_LEN 32
#define HEAD     "$argon2id$v=19$"

/* What a stored hash may ask for: a row changed by hand must not eat the machine. */
#define MEMORY_KIB_MAX 262144
#define PASSES_MAX     16

const struct hasher_cost hasher_cost_usual = {.memory_kib = 19456, .passes = 2};

struct hasher {
	pthread_mutex_t lock;    /* held while a hash is computed: one at a time, by design */
	struct hasher_cost cost; /* only read */
	uint8_t salt[SALT_LEN];  /* only read; of the work done for a login that does not exist */
};

/* A PHC string taken apart. */
struct encoded {
	struct hasher_cost cost;
	uint8_t salt[SALT_LEN], hash[HASH_LEN];
};

enum res hasher_new(const struct hasher_cost *cost, struct hasher **out)
{
	struct hasher *hasher = calloc(1, sizeof *hasher);

	*out = hasher;
	if (!hasher)
		return RES_NOMEM;
	pthread_mutex_init(&hasher->lock, NULL);
	hasher->cost = cost ? *cost : hasher_cost_usual;
	random_bytes(hasher->salt, sizeof hasher->salt);
	return RES_OK;
}

void hasher_free(struct hasher *hasher)
{
	if (!hasher)
		return;
	pthread_mutex_destroy(&hasher->lock);
	free(hasher);
}

enum res password_check(const char *field, const char *password, struct problem *problem)
{
	size_t len = strlen(password);

	if (len < PASSWORD_MIN_BYTES || len > PASSWORD_MAX_BYTES)
		return problem_set(problem, RES_INVALID, "bad_password", field,
				   "A password has %d to %d bytes.", PASSWORD_MIN_BYTES,
				   PASSWORD_MAX_BYTES);
	if (!text_utf8_valid(password, len) || text_has_control(password, len))
		return problem_set(problem, RES_INVALID, "bad_password", field,
				   "A password is UTF-8 text without control characters.");
	return RES_OK;
}

/* --- Argon2 --- */

static int take_memory(uint8_t **memory, size_t bytes)
{
	void *got = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*memory = got == MAP_FAILED ? NULL : got;
	return *memory ? ARGON2_OK : ARGON2_MEMORY_ALLOCATION_ERROR;
}

static void give_memory(uint8_t *memory, size_t bytes)
{
	munmap(memory, bytes);
}

static enum res derive(struct hasher *hasher, const char *password, struct encoded *encoded)
{
	char copy[PASSWORD_MAX_BYTES]; /* the library wants bytes that it may write to */
	size_t len = strnlen(password, sizeof copy);
	argon2_context ctx = {
		.out = encoded->hash,
		.outlen = HASH_LEN,
		.pwd = (uint8_t *)copy,
		.pwdlen = (uint32_t)len,
		.salt = encoded->salt,
		.saltlen = SALT_LEN,
		.t_cost = encoded->cost.passes,
		.m_cost = encoded->cost.memory_kib,
		.lanes = 1,
		.threads = 1,
		.version = ARGON2_VERSION_13,
		.allocate_cbk = take_memory,
		.free_cbk = give_memory,
		.flags = ARGON2_FLAG_CLEAR_PASSWORD,
	};
	int result;

	memcpy(copy, password, len);
	pthread_mutex_lock(&hasher->lock);
	result = argon2_ctx(&ctx, Argon2_id);
	pthread_mutex_unlock(&hasher->lock);
	explicit_bzero(copy, sizeof copy);
	if (result == ARGON2_OK)
		return RES_OK;
	return result == ARGON2_MEMORY_ALLOCATION_ERROR ? RES_NOMEM : RES_INTERNAL;
}

/* --- PHC strings --- */

/* PHC's base64 has the standard alphabet and no padding. */
static void b64_encode(const uint8_t *data, size_t len, char *out)
{
	base64_encode(data, len, out);
	out[strcspn(out, "=")] = '\0';
}

static bool b64_decode(const char *text, size_t text_len, uint8_t *out, size_t len)
{
	char padded[BASE64_LEN(HASH_LEN) + 1];
	size_t full = BASE64_LEN(len);

	if (full >= sizeof padded || text_len > full || full - text_len > 2)
		return false;
	memset(padded, '=', full);
	memcpy(padded, text, text_len);
	return !memchr(text, '=', text_len) && base64_decode(padded, full, out, len);
}

static void print_encoded(const struct encoded *encoded, char out[static PASSWORD_HASH_MAX])
{
	char salt[BASE64_LEN(SALT_LEN) + 1], hash[BASE64_LEN(HASH_LEN) + 1];

	b64_encode(encoded->salt, SALT_LEN, salt);
	b64_encode(encoded->hash, HASH_LEN, hash);
	snprintf(out, PASSWORD_HASH_MAX, HEAD "m=%u,t=%u,p=1$%s$%s", encoded->cost.memory_kib,
		 encoded->cost.passes, salt, hash);
}

/* "m=19456," at *at: the number, and past its end character. */
static bool read_number(const char **at, const char *name, char end, int64_t least, int64_t most,
			uint32_t *out)
{
	size_t name_len = strlen(name), len;
	int64_t value;

	if (strncmp(*at, name, name_len) != 0)
		return false;
	*at += name_len;
	len = strspn(*at, "0123456789");
	if ((*at)[len] != end || num_i64(*at, len, least, most, &value) != RES_OK)
		return false;
	*at += len + 1;
	*out = (uint32_t)value;
	return true;
}

static bool parse_encoded(const char *text, struct encoded *out)
{
	uint32_t lanes;
	size_t len;

	if (strncmp(text, HEAD, strlen(HEAD)) != 0)
		return false;
	text += strlen(HEAD);
	if (!read_number(&text, "m=", ',', 8, MEMORY_KIB_MAX, &out->cost.memory_kib) ||
	    !read_number(&text, "t=", ',', 1, PASSES_MAX, &out->cost.passes) ||
	    !read_number(&text, "p=", '$', 1, 1, &lanes))
		return false;
	len = strcspn(text, "$");
	if (text[len] != '$' || !b64_decode(text, len, out->salt, SALT_LEN))
		return false;
	text += len + 1;
	return b64_decode(text, strlen(text), out->hash, HASH_LEN);
}

enum res password_hash(struct hasher *hasher, const char *password,
		       char out[static PASSWORD_HASH_MAX])
{
	struct encoded encoded = {.cost = hasher->cost};
	enum res res;

	random_bytes(encoded.salt, sizeof encoded.salt);
	res = derive(hasher, password, &encoded);
	if (res == RES_OK)
		print_encoded(&encoded, out);
	else
		out[0] = '\0';
	return res;
}

enum res password_verify(struct hasher *hasher, const char *password, const char *hash)
{
	struct encoded stored, computed;
	bool known = hash && hash[0];
	bool fits = strnlen(password, PASSWORD_MAX_BYTES + 1) <= PASSWORD_MAX_BYTES;
	enum res res;

	memset(&stored, 0, sizeof stored);
	stored.cost = hasher->cost;
	memcpy(stored.salt, hasher->salt, sizeof stored.salt);
	if (known && !parse_encoded(hash, &stored))
		return RES_CORRUPT;
	computed = stored;
	/* Longer than any password: the same work, and a refusal. */
	res = derive(hasher, fits ? password : "", &computed);
	if (res == RES_OK && !(secret_equal(stored.hash, computed.hash, HASH_LEN) && known && fits))
		res = RES_UNAUTHORIZED;
	explicit_bzero(&stored, sizeof stored);
	explicit_bzero(&computed, sizeof computed);
	return res;
}
