/* The certificate of a listener, exchanged while it runs: libmicrohttpd asks for it at each
 * handshake. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "edge.h"

#define CHAIN_MAX  8
#define RETIRED_MS 60000 /* a handshake lasts HTTP_REQUEST_MS at most */

struct tls_pair {
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned chain_len;
	gnutls_privkey_t key;
	int64_t retired_ms;
	struct tls_pair *older;
};

struct tls_files {
	pthread_mutex_t lock;  /* leaf */
	struct tls_pair *pair; /* the one in force, then retired ones; guarded by lock */
	char *cert_path, *key_path;
	const struct clock *clock;
};

static void pair_free(struct tls_pair *pair)
{
	if (!pair)
		return;
	for (unsigned i = 0; i < pair->chain_len; i++)
		gnutls_pcert_deinit(&pair->chain[i]);
	if (pair->key)
		gnutls_privkey_deinit(pair->key);
	free(pair);
}

static enum res bad_file(struct problem *problem, const char *field, const char *path, int code)
{
	return problem_set(problem, RES_INVALID, "bad_tls_file", field, "cannot use %s: %s", path,
			   gnutls_strerror(code));
}

static enum res load_chain(struct tls_pair *pair, const char *path, struct problem *problem)
{
	gnutls_datum_t data = {0};
	int code = gnutls_load_file(path, &data);

	if (code >= 0) {
		pair->chain_len = CHAIN_MAX;
		code = gnutls_pcert_list_import_x509_raw(pair->chain, &pair->chain_len, &data,
							 GNUTLS_X509_FMT_PEM, 0);
		if (code < 0)
			pair->chain_len = 0;
	}
	gnutls_free(data.data);
	return code < 0 ? bad_file(problem, "tls_cert", path, code) : RES_OK;
}

static enum res load_key(struct tls_pair *pair, const char *path, struct problem *problem)
{
	gnutls_datum_t data = {0};
	int code = gnutls_load_file(path, &data);

	if (code >= 0)
		code = gnutls_privkey_init(&pair->key);
	if (code >= 0)
		code = gnutls_privkey_import_x509_raw(pair->key, &data, GNUTLS_X509_FMT_PEM, NULL,
						      0);
	if (data.data) {
		gnutls_memset(data.data, 0, data.size);
		gnutls_free(data.data);
	}
	return code < 0 ? bad_file(problem, "tls_key", path, code) : RES_OK;
}

/* A key of another certificate would fail every handshake: found here, not by clients. */
static enum res check_pair(struct tls_pair *pair, const char *key_path, struct problem *problem)
{
	unsigned char of_key[32], of_cert[32];
	size_t key_len = sizeof of_key, cert_len = sizeof of_cert;
	gnutls_pubkey_t public_key;
	int code = gnutls_pubkey_init(&public_key);

	if (code < 0)
		return bad_file(problem, "tls_key", key_path, code);
	code = gnutls_pubkey_import_privkey(public_key, pair->key, 0, 0);
	if (code >= 0)
		code = gnutls_pubkey_get_key_id(public_key, GNUTLS_KEYID_USE_SHA256, of_key,
						&key_len);
	if (code >= 0)
		code = gnutls_pubkey_get_key_id(pair->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256,
						of_cert, &cert_len);
	gnutls_pubkey_deinit(public_key);
	if (code < 0)
		return bad_file(problem, "tls_key", key_path, code);
	if (key_len != cert_len || memcmp(of_key, of_cert, key_len) != 0)
		return problem_set(problem, RES_INVALID, "tls_key_mismatch", "tls_key",
				   "%s is not the key of the certificate", key_path);
	return RES_OK;
}

static enum res pair_load(const struct tls_files *tls, struct tls_pair **out,
			  struct problem *problem)
{
	struct tls_pair *pair = calloc(1, sizeof *pair);
	enum res res;

	*out = NULL;
	if (!pair)
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	if ((res = load_chain(pair, tls->cert_path, problem)) != RES_OK ||
	    (res = load_key(pair, tls->key_path, problem)) != RES_OK ||
	    (res = check_pair(pair, tls->key_path, problem)) != RES_OK) {
		pair_free(pair);
		return res;
	}
	*out = pair;
	return RES_OK;
}

/* Drops pairs that no handshake can be using any more. */
static void drop_retired(struct tls_pair *pair, int64_t now_ms)
{
	while (pair->older) {
		struct tls_pair *old = pair->older;

		if (now_ms - old->retired_ms < RETIRED_MS) {
			pair = old;
			continue;
		}
		pair->older = old->older;
		pair_free(old);
	}
}

enum res tls_reload(struct tls_files *tls, struct problem *problem)
{
	int64_t now_ms = clock_mono_ms(tls->clock);
	struct tls_pair *pair;
	enum res res = pair_load(tls, &pair, problem);

	if (res != RES_OK)
		return res; /* the old one goes on */
	pthread_mutex_lock(&tls->lock);
	pair->older = tls->pair;
	if (pair->older)
		pair->older->retired_ms = now_ms;
	tls->pair = pair;
	drop_retired(pair, now_ms);
	pthread_mutex_unlock(&tls->lock);
	return RES_OK;
}

enum res tls_open(const char *cert, const char *key, const struct clock *clock,
		  struct tls_files **out, struct problem *problem)
{
	struct tls_files *tls;
	enum res res;

	*out = NULL;
	if (!key)
		return problem_set(problem, RES_INVALID, "missing_tls_key", "tls_key",
				   "a certificate needs its key: give --tls-key too");
	tls = calloc(1, sizeof *tls);
	if (!tls || pthread_mutex_init(&tls->lock, NULL) != 0) {
		free(tls);
		return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	}
	tls->clock = clock;
	tls->cert_path = strdup(cert);
	tls->key_path = strdup(key);
	if (!tls->cert_path || !tls->key_path)
		res = problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "out of memory");
	else
		res = tls_reload(tls, problem);
	if (res == RES_OK)
		*out = tls;
	else
		tls_free(tls);
	return res;
}

void tls_free(struct tls_files *tls)
{
	if (!tls)
		return;
	for (struct tls_pair *pair = tls->pair, *older; pair; pair = older) {
		older = pair->older;
		pair_free(pair);
	}
	pthread_mutex_destroy(&tls->lock);
	free(tls->cert_path);
	free(tls->key_path);
	free(tls);
}

static int retrieve(gnutls_session_t session, const gnutls_datum_t *ca, int ca_count,
		    const gnutls_pk_algorithm_t *algos, int algos_count, gnutls_pcert_st **chain,
		    unsigned *chain_len, gnutls_privkey_t *key)
{
	struct tls_files *tls = http_tls_of(gnutls_session_get_ptr(session));

	(void)ca;
	(void)ca_count;
	(void)algos;
	(void)algos_count;
	if (!tls)
		return -1;
	pthread_mutex_lock(&tls->lock);
	*chain = tls->pair->chain;
	*chain_len = tls->pair->chain_len;
	*key = tls->pair->key;
	pthread_mutex_unlock(&tls->lock);
	return 0;
}

void *tls_callback(void)
{
	gnutls_certificate_retrieve_function2 *function = retrieve;
	void *pointer;

	memcpy(&pointer, &function, sizeof pointer);
	return pointer;
}
