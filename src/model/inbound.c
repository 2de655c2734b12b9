#include "hythe/model/inbound.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <time.h>

#include "hythe/util/hash.h"

const char *const inbound_state_words[] = {"pending",     "running",  "stopped", "failed",
					   "unreachable", "external", NULL};

int64_t inbound_port(const struct inbound *inbound)
{
	return inbound->port ? inbound->port : inbound->profile_port;
}

const char *inbound_sni(const struct inbound *inbound)
{
	return *inbound->sni ? inbound->sni : inbound->profile_sni;
}

bool inbound_counts(const struct inbound *inbound)
{
	return inbound->managed && inbound->enabled && inbound->node_open;
}

/* --- Pins --- */

/* "AB:CD:..." to "ABCD..."; false when the colons do not stand between bytes. */
static bool strip_colons(const char *text, char hex[static PIN_LEN * 2])
{
	for (size_t i = 0; i < PIN_LEN; i++) {
		memcpy(hex + i * 2, text + i * 3, 2);
		if (i + 1 < PIN_LEN && text[i * 3 + 2] != ':')
			return false;
	}
	return true;
}

static bool pin_decode(const char *text, size_t len, uint8_t bytes[static PIN_LEN])
{
	char hex[PIN_LEN * 2];

	switch (len) {
	case PIN_LEN * 2:
		return hex_decode(text, len, bytes, PIN_LEN);
	case PIN_TEXT_MAX:
		return strip_colons(text, hex) && hex_decode(hex, sizeof hex, bytes, PIN_LEN);
	case BASE64_LEN(PIN_LEN): /* people also paste base64url with the padding left on */
		return base64_decode(text, len, bytes, PIN_LEN) ||
		       (text[len - 1] == '=' && base64url_decode(text, len - 1, bytes, PIN_LEN));
	case BASE64URL_LEN(PIN_LEN):
		return base64url_decode(text, len, bytes, PIN_LEN);
	default:
		return false;
	}
}

enum res pin_parse(const char *field, const char *text, struct pin *out, struct problem *problem)
{
	*out = (struct pin){0};
	if (!text || *text == '\0')
		return RES_OK;
	if (!pin_decode(text, strlen(text), out->bytes)) {
		*out = (struct pin){0};
		return problem_set(problem, RES_INVALID, "bad_pin", field,
				   "must be a SHA-256: 64 hex digits, with or without colons, or "
				   "base64 of 32 bytes");
	}
	out->known = true;
	return RES_OK;
}

void pin_print(const struct pin *pin, char out[static PIN_HEX_SIZE])
{
	out[0] = '\0';
	if (pin->known)
		hex_encode(pin->bytes, PIN_LEN, out);
}

/* --- Certificates --- */

static bool hash_der(unsigned char *der, int len, struct pin *pin)
{
	if (len <= 0)
		return false;
	hash_sha256(der, (size_t)len, pin->bytes);
	pin->known = true;
	OPENSSL_free(der);
	return true;
}

static bool facts_of(X509 *cert, struct cert_facts *out)
{
	unsigned char *der = NULL, *spki = NULL;
	struct tm end;
	int len = i2d_X509(cert, &der);

	if (!hash_der(der, len, &out->cert_pin))
		return false;
	len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &spki);
	if (!hash_der(spki, len, &out->key_pin))
		return false;
	if (!ASN1_TIME_to_tm(X509_get0_notAfter(cert), &end))
		return false;
	out->not_after_unix = (int64_t)timegm(&end);
	return true;
}

/* An encrypted block would make OpenSSL ask on the terminal. */
static int no_password(char *buffer, int size, int writing, void *ctx)
{
	(void)buffer, (void)size, (void)writing, (void)ctx;
	return -1;
}

enum res cert_read(const char *field, const char *pem, struct cert_facts *out,
		   struct problem *problem)
{
	size_t len = strlen(pem);
	BIO *bio = NULL;
	X509 *cert = NULL;
	bool ok = false;

	*out = (struct cert_facts){0};
	if (len <= CERT_PEM_MAX && (bio = BIO_new_mem_buf(pem, (int)len)))
		cert = PEM_read_bio_X509(bio, NULL, no_password, NULL);
	ok = cert && facts_of(cert, out);
	X509_free(cert);
	BIO_free(bio);
	if (ok)
		return RES_OK;
	ERR_clear_error(); /* for nobody, and would lie about the next call */
	*out = (struct cert_facts){0};
	return problem_set(problem, RES_INVALID, "bad_certificate", field,
			   "must be a certificate in PEM (-----BEGIN CERTIFICATE-----)");
}
