/* The certificate of a listener: served, exchanged while connections last, and checked before it is
 * used. */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <time.h>

#include "hythe/http/server.h"
#include "wire.h"

struct bench {
	char dir[32], cert[64], key[64];
	struct http_site site;
	struct http_listener *listener;
};

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	CHECK_INT(fwrite(data, 1, len, f), len);
	fclose(f);
}

/* A self-signed pair for `name`. `cert` or `key` NULL: not written. */
static void make_pair(const char *name, const char *cert, const char *key)
{
	gnutls_x509_privkey_t private_key;
	gnutls_x509_crt_t crt;
	gnutls_datum_t pem;
	time_t now = time(NULL);

	CHECK_INT(gnutls_x509_privkey_init(&private_key), 0);
	CHECK_INT(gnutls_x509_privkey_generate(private_key, GNUTLS_PK_ECDSA,
					       GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		  0);
	CHECK_INT(gnutls_x509_crt_init(&crt), 0);
	gnutls_x509_crt_set_version(crt, 3);
	gnutls_x509_crt_set_serial(crt, "\1", 1);
	gnutls_x509_crt_set_activation_time(crt, now - 3600);
	gnutls_x509_crt_set_expiration_time(crt, now + 86400);
	gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
				      (unsigned)strlen(name));
	gnutls_x509_crt_set_key(crt, private_key);
	CHECK_INT(gnutls_x509_crt_sign2(crt, crt, private_key, GNUTLS_DIG_SHA256, 0), 0);
	if (cert) {
		CHECK_INT(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem), 0);
		write_file(cert, pem.data, pem.size);
		gnutls_free(pem.data);
	}
	if (key) {
		CHECK_INT(gnutls_x509_privkey_export2(private_key, GNUTLS_X509_FMT_PEM, &pem), 0);
		write_file(key, pem.data, pem.size);
		gnutls_free(pem.data);
	}
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(private_key);
}

static struct reply *serve(void *ctx, struct request *req)
{
	(void)ctx;
	(void)req;
	return reply_static(200, NULL, "tls", 3);
}

static size_t body_max(void *ctx, const struct request *req)
{
	(void)ctx;
	(void)req;
	return 0;
}

static void bench_files(struct bench *bench)
{
	memset(bench, 0, sizeof *bench);
	snprintf(bench->dir, sizeof bench->dir, "/tmp/hythe-tls-XXXXXX");
	CHECK(mkdtemp(bench->dir) != NULL);
	snprintf(bench->cert, sizeof bench->cert, "%s/cert.pem", bench->dir);
	snprintf(bench->key, sizeof bench->key, "%s/key.pem", bench->dir);
	bench->site = (struct http_site){NULL, body_max, serve, NULL};
}

static enum res bench_start(struct bench *bench, struct problem *problem)
{
	const struct http_config config = {.name = "test",
					   .listen = "127.0.0.1:0",
					   .threads = 1,
					   .tls_cert = bench->cert,
					   .tls_key = bench->key,
					   .clock = &clock_system};

	return http_listener_new(&config, &bench->site, &bench->listener, problem);
}

static void bench_end(struct bench *bench)
{
	http_listener_free(bench->listener);
	unlink(bench->cert);
	unlink(bench->key);
	rmdir(bench->dir);
}

struct client {
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
	int fd;
};

static void client_open(struct client *client, const char *address)
{
	gnutls_certificate_allocate_credentials(&client->credentials);
	gnutls_init(&client->session, GNUTLS_CLIENT);
	gnutls_set_default_priority(client->session);
	gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials);
	client->fd = wire_open(address);
	gnutls_transport_set_int(client->session, client->fd);
	CHECK_INT(gnutls_handshake(client->session), 0);
}

static void client_close(struct client *client)
{
	gnutls_deinit(client->session);
	gnutls_certificate_free_credentials(client->credentials);
	close(client->fd);
}

/* The name in the certificate that the server showed. */
static void client_peer_name(struct client *client, char *out, size_t size)
{
	unsigned count;
	const gnutls_datum_t *der = gnutls_certificate_get_peers(client->session, &count);
	gnutls_x509_crt_t crt;

	CHECK(der != NULL);
	gnutls_x509_crt_init(&crt);
	CHECK_INT(gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER), 0);
	CHECK_INT(gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, out, &size),
		  0);
	gnutls_x509_crt_deinit(crt);
}

static void client_ask(struct client *client)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	char text[1024] = "";
	size_t len = 0;

	CHECK_INT(gnutls_record_send(client->session, request, sizeof request - 1),
		  sizeof request - 1);
	while (!strstr(text, "\r\n\r\ntls")) {
		ssize_t n = gnutls_record_recv(client->session, text + len, sizeof text - 1 - len);

		CHECK(n > 0);
		len += (size_t)n;
		text[len] = '\0';
	}
}

static void check_name(struct bench *bench, const char *want)
{
	struct client client;
	char name[64];

	client_open(&client, http_listener_address(bench->listener));
	client_peer_name(&client, name, sizeof name);
	CHECK_TEXT(name, want);
	client_ask(&client);
	client_close(&client);
}

static void test_reload(void)
{
	struct problem problem = {0};
	struct client before;
	struct bench bench;

	bench_files(&bench);
	make_pair("first", bench.cert, bench.key);
	CHECK_INT(bench_start(&bench, &problem), RES_OK);
	check_name(&bench, "first");
	client_open(&before, http_listener_address(bench.listener));
	make_pair("second", bench.cert, bench.key);
	CHECK_INT(http_listener_reload_tls(bench.listener, &problem), RES_OK);
	check_name(&bench, "second");
	client_ask(&before); /* what is open goes on */
	client_close(&before);
	bench_end(&bench);
}

/* A reload that fails says why and keeps the old pair. */
static void test_bad_reload(void)
{
	struct problem problem = {0};
	struct bench bench;

	bench_files(&bench);
	make_pair("first", bench.cert, bench.key);
	CHECK_INT(bench_start(&bench, &problem), RES_OK);
	make_pair("other", NULL, bench.key);
	CHECK_INT(http_listener_reload_tls(bench.listener, &problem), RES_INVALID);
	CHECK_TEXT(problem.code, "tls_key_mismatch");
	check_name(&bench, "first");
	problem = (struct problem){0};
	write_file(bench.cert, "nonsense", 8);
	CHECK_INT(http_listener_reload_tls(bench.listener, &problem), RES_INVALID);
	CHECK_TEXT(problem.field, "tls_cert");
	check_name(&bench, "first");
	bench_end(&bench);
}

static void test_bad_start(void)
{
	struct problem problem = {0};
	struct bench bench;

	bench_files(&bench);
	CHECK_INT(bench_start(&bench, &problem), RES_INVALID);
	CHECK_TEXT(problem.field, "tls_cert");
	make_pair("first", bench.cert, NULL);
	problem = (struct problem){0};
	CHECK_INT(bench_start(&bench, &problem), RES_INVALID);
	CHECK_TEXT(problem.field, "tls_key");
	CHECK(bench.listener == NULL);
	bench_end(&bench);
}

TEST_MAIN(TEST(test_reload), TEST(test_bad_reload), TEST(test_bad_start))
