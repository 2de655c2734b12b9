#include "hythe/auth/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hythe/util/hash.h"

#define KEY_LEN    32
#define KEY_ID_LEN 4
#define NONCE_LEN  12
#define TAG_LEN    16
#define VERSION    1
#define HEAD_LEN   (1 + KEY_ID_LEN + NONCE_LEN)
#define PLACE_MAX  512
#define IDLE_MAX   8

/* Contexts that have the key's schedule in them already: making one costs more than opening a
 * credential with it. As many as threads have ever opened at once, IDLE_MAX at most. */
struct ready {
	pthread_mutex_t lock;           /* leaf: nothing else is locked while it is held */
	EVP_CIPHER_CTX *idle[IDLE_MAX]; /* guarded by lock */
	size_t count;                   /* guarded by lock */
};

struct vault {
	struct ready *ready;
	EVP_CIPHER *cipher; /* fetched once: a fetch costs more than opening a credential */
	uint8_t key[KEY_LEN];
	uint8_t key_id[KEY_ID_LEN]; /* says which key sealed a value, and nothing about the key */
};

/* --- The key file --- */

static enum res refuse(struct problem *problem, const char *code, const char *path,
		       const char *what)
{
	return problem_set(problem, RES_CONFLICT, code, NULL, "the master key %s %s", path, what);
}

static enum res key_file_check(int fd, const char *path, struct problem *problem)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return problem_set(problem, RES_IO, "key_unreadable", NULL,
				   "cannot read the master key %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(problem, "key_bad_file", path, "is not a regular file");
	if (st.st_uid != geteuid())
		return refuse(problem, "key_bad_owner", path,
			      "belongs to another user than the one that runs this");
	if (st.st_mode & 0177)
		return refuse(problem, "key_bad_mode", path,
			      "can be reached by others; its mode must be 0600");
	if (st.st_size != KEY_LEN)
		return refuse(problem, "key_bad_size", path, "is not 32 bytes long");
	return RES_OK;
}

static enum res key_read(const char *path, uint8_t key[static KEY_LEN], struct problem *problem)
{
	/* O_NONBLOCK: a FIFO put in its place must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	enum res res;

	if (fd < 0 && errno == ENOENT)
		return problem_set(
			problem, RES_NOT_FOUND, "key_missing", NULL,
			"the master key %s is missing; put back the one that belongs to this data",
			path);
	if (fd < 0 && errno == ELOOP)
		return refuse(problem, "key_bad_file", path, "is a symbolic link");
	if (fd < 0)
		return problem_set(problem, RES_IO, "key_unreadable", NULL,
				   "cannot open the master key %s: %s", path, strerror(errno));
	res = key_file_check(fd, path, problem);
	if (res == RES_OK && read(fd, key, KEY_LEN) != KEY_LEN)
		res = problem_set(problem, RES_IO, "key_unreadable", NULL,
				  "cannot read the master key %s", path);
	close(fd);
	return res;
}

/* The name must be on disk too, or a crash leaves a database whose key is gone. */
static bool sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool done = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return done;
}

static bool key_write(int fd)
{
	uint8_t key[KEY_LEN];
	bool done;

	random_bytes(key, sizeof key);
	done = fchmod(fd, 0600) == 0 && write(fd, key, sizeof key) == (ssize_t)sizeof key &&
	       fsync(fd) == 0;
	explicit_bzero(key, sizeof key);
	return done;
}

/* Written whole under another name, and only then linked to its own if nothing is there: an existing
 * key is never lost, and a crash leaves a whole key or none. */
static enum res key_create(const char *path, struct problem *problem)
{
	char made[PATH_MAX];
	int fd, error = 0;
	bool done;

	if (access(path, F_OK) == 0)
		return RES_OK;
	if ((size_t)snprintf(made, sizeof made, "%s.new", path) >= sizeof made)
		return problem_set(problem, RES_INVALID, "key_not_made", NULL,
				   "the path of the master key is too long");
	unlink(made); /* of a try that was interrupted */
	fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	done = fd >= 0 && key_write(fd);
	if (fd >= 0 && close(fd) != 0)
		done = false;
	if (!done || (link(made, path) != 0 && errno != EEXIST))
		error = errno ? errno : EIO;
	unlink(made);
	if (!error && !sync_directory(path))
		error = errno ? errno : EIO;
	if (!error)
		return RES_OK;
	return problem_set(problem, error == ENOSPC || error == EDQUOT ? RES_FULL : RES_IO,
			   "key_not_made", NULL, "cannot make the master key %s: %s", path,
			   strerror(error));
}

static void key_id_of(const uint8_t key[static KEY_LEN], uint8_t id[static KEY_ID_LEN])
{
	static const char label[] = "hythe vault key id";
	uint8_t text[sizeof label + KEY_LEN], hash[SHA256_LEN];

	memcpy(text, label, sizeof label);
	memcpy(text + sizeof label, key, KEY_LEN);
	hash_sha256(text, sizeof text, hash);
	memcpy(id, hash, KEY_ID_LEN);
	explicit_bzero(text, sizeof text);
	explicit_bzero(hash, sizeof hash);
}

static struct ready *ready_new(void)
{
	struct ready *ready = calloc(1, sizeof *ready);

	if (ready)
		pthread_mutex_init(&ready->lock, NULL);
	return ready;
}

static void ready_free(struct ready *ready)
{
	if (!ready)
		return;
	while (ready->count > 0)
		EVP_CIPHER_CTX_free(ready->idle[--ready->count]); /* clears the key in it */
	pthread_mutex_destroy(&ready->lock);
	free(ready);
}

enum res vault_open(const char *path, bool create, struct vault **out, struct problem *problem)
{
	struct vault *vault = calloc(1, sizeof *vault);
	enum res res = RES_NOMEM;

	*out = NULL;
	if (!vault || !(vault->ready = ready_new())) {
		vault_free(vault);
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	}
	if (create && (res = key_create(path, problem)) != RES_OK)
		goto out;
	if ((res = key_read(path, vault->key, problem)) != RES_OK)
		goto out;
	key_id_of(vault->key, vault->key_id);
	vault->cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	if (!vault->cipher)
		res = problem_set(problem, RES_INTERNAL, "no_cipher", NULL,
				  "the crypto library offers no AES-256-GCM");
out:
	if (res != RES_OK)
		vault_free(vault);
	else
		*out = vault;
	return res;
}

void vault_free(struct vault *vault)
{
	if (!vault)
		return;
	ready_free(vault->ready);
	EVP_CIPHER_free(vault->cipher);
	explicit_bzero(vault, sizeof *vault);
	free(vault);
}

/* --- Sealing --- */

/* What a value is bound to, as bytes: its own head, table, column, id and extra. Lengths stand in
 * front, so that no two places give the same bytes. */
struct place_bytes {
	uint8_t bytes[PLACE_MAX];
	size_t len;
};

static bool place_put(struct place_bytes *out, const void *data, size_t len)
{
	if (len > UINT16_MAX || sizeof out->bytes - out->len < len + 2)
		return false;
	out->bytes[out->len++] = (uint8_t)(len >> 8);
	out->bytes[out->len++] = (uint8_t)len;
	if (len > 0)
		memcpy(out->bytes + out->len, data, len);
	out->len += len;
	return true;
}

static bool place_of(const struct seal_place *place, const uint8_t head[static HEAD_LEN],
		     struct place_bytes *out)
{
	out->len = 0;
	return place_put(out, head, 1 + KEY_ID_LEN) &&
	       place_put(out, place->table, strlen(place->table)) &&
	       place_put(out, place->column, strlen(place->column)) &&
	       place_put(out, place->public_id, strlen(place->public_id)) &&
	       place_put(out, place->extra, place->extra ? place->extra_len : 0);
}

/* Takes nonce and place in; the context has the key and its direction. */
static bool begin(EVP_CIPHER_CTX *ctx, const struct seal_place *place,
		  const uint8_t head[static HEAD_LEN], bool seal)
{
	struct place_bytes bound;
	int done;

	return place_of(place, head, &bound) &&
	       EVP_CipherInit_ex2(ctx, NULL, NULL, head + 1 + KEY_ID_LEN, seal, NULL) == 1 &&
	       EVP_CipherUpdate(ctx, NULL, &done, bound.bytes, (int)bound.len) == 1;
}

static EVP_CIPHER_CTX *keyed_context(const struct vault *vault, bool seal)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (ctx && EVP_CipherInit_ex2(ctx, vault->cipher, vault->key, NULL, seal, NULL) == 1)
		return ctx;
	EVP_CIPHER_CTX_free(ctx);
	return NULL;
}

static EVP_CIPHER_CTX *take_context(const struct vault *vault)
{
	struct ready *ready = vault->ready;
	EVP_CIPHER_CTX *ctx = NULL;

	pthread_mutex_lock(&ready->lock);
	if (ready->count > 0)
		ctx = ready->idle[--ready->count];
	pthread_mutex_unlock(&ready->lock);
	return ctx ? ctx : keyed_context(vault, false);
}

static void give_context(const struct vault *vault, EVP_CIPHER_CTX *ctx)
{
	struct ready *ready = vault->ready;

	pthread_mutex_lock(&ready->lock);
	if (ready->count < IDLE_MAX) {
		ready->idle[ready->count++] = ctx;
		ctx = NULL;
	}
	pthread_mutex_unlock(&ready->lock);
	EVP_CIPHER_CTX_free(ctx);
}

enum res vault_seal(const struct vault *vault, const struct seal_place *place, const void *data,
		    size_t len, struct buf *sealed)
{
	uint8_t head[HEAD_LEN] = {VERSION}, *at;
	EVP_CIPHER_CTX *ctx;
	enum res res = RES_INTERNAL;
	int done = 0;

	if (len > INT32_MAX || !buf_reserve(sealed, len + SEAL_OVERHEAD))
		return RES_NOMEM;
	memcpy(head + 1, vault->key_id, KEY_ID_LEN);
	random_bytes(head + 1 + KEY_ID_LEN, NONCE_LEN);
	if (!(ctx = keyed_context(vault, true)))
		return RES_NOMEM;
	at = (uint8_t *)sealed->data + sealed->len;
	memcpy(at, head, HEAD_LEN);
	if (!begin(ctx, place, head, true))
		goto out;
	if (len > 0 && EVP_CipherUpdate(ctx, at + HEAD_LEN, &done, data, (int)len) != 1)
		goto out;
	if (EVP_CipherFinal_ex(ctx, at + HEAD_LEN + done, &done) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, at + HEAD_LEN + len) != 1)
		goto out;
	sealed->len += len + SEAL_OVERHEAD;
	sealed->data[sealed->len] = '\0';
	res = RES_OK;
out:
	EVP_CIPHER_CTX_free(ctx);
	return res;
}

enum res vault_open_sealed(const struct vault *vault, const struct seal_place *place,
			   const void *sealed, size_t len, struct buf *plain)
{
	const uint8_t *in = sealed;
	uint8_t tag[TAG_LEN], *at;
	EVP_CIPHER_CTX *ctx;
	size_t plain_len;
	enum res res = RES_CORRUPT;
	int done = 0;

	if (len < SEAL_OVERHEAD || len > INT32_MAX || in[0] != VERSION ||
	    memcmp(in + 1, vault->key_id, KEY_ID_LEN) != 0)
		return RES_CORRUPT;
	plain_len = len - SEAL_OVERHEAD;
	if (!buf_reserve(plain, plain_len > 0 ? plain_len : 1) || !(ctx = take_context(vault)))
		return RES_NOMEM;
	memcpy(tag, in + HEAD_LEN + plain_len, TAG_LEN);
	at = (uint8_t *)plain->data + plain->len;
	if (!begin(ctx, place, in, false)) {
		res = RES_INTERNAL;
		goto out;
	}
	if (plain_len > 0 && EVP_CipherUpdate(ctx, at, &done, in + HEAD_LEN, (int)plain_len) != 1)
		goto out;
	/* Nothing that fails the tag is left behind. */
	if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG_LEN, tag) != 1 ||
	    EVP_CipherFinal_ex(ctx, at + done, &done) != 1) {
		explicit_bzero(at, plain_len);
		goto out;
	}
	plain->len += plain_len;
	plain->data[plain->len] = '\0';
	res = RES_OK;
out:
	give_context(vault, ctx);
	return res;
}

void vault_mac(const struct vault *vault, const char *purpose, const uint8_t digest[static 32],
	       uint8_t mac[static 32])
{
	uint8_t text[PLACE_MAX] = {0};
	size_t len = strnlen(purpose, sizeof text - SHA256_LEN - 1);

	/* The NUL behind the purpose keeps two purposes apart. */
	memcpy(text, purpose, len);
	memcpy(text + len + 1, digest, SHA256_LEN);
	if (!HMAC(EVP_sha256(), vault->key, sizeof vault->key, text, len + 1 + SHA256_LEN, mac, NULL))
		abort(); /* no memory for a few bytes: nothing true can be said any more */
}
