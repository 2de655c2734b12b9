#include "hythe/fleet/ca.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "hythe/store/settings.h"
#include "hythe/util/addr.h"
#include "hythe/util/hash.h"

#define SERIAL_LEN   16
#define CA_YEARS     20
#define CA_NAME      "ca" /* who looks at the handshake learns nothing */
#define CA_KEY_KEY   "ca_key_sealed"
#define CA_CERT_KEY  "ca_cert_pem"
#define PEM_SIZE_MAX 8192

static const struct seal_place ca_place = {
	.table = "setting", .column = CA_KEY_KEY, .public_id = "ca"};

/* --- Making a certificate --- */

static bool set_serial(X509 *x509)
{
	uint8_t bytes[SERIAL_LEN];
	BIGNUM *number;
	bool ok;

	random_bytes(bytes, sizeof bytes);
	bytes[0] = (bytes[0] & 0x7f) | 0x40; /* positive, and always of the same length */
	number = BN_bin2bn(bytes, sizeof bytes, NULL);
	ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509));
	BN_free(number);
	return ok;
}

static bool set_times(X509 *x509, const struct certificate_spec *spec)
{
	/* A day back: nodes' clocks are not all right. */
	time_t from = (time_t)(spec->now_unix - 86400), now = (time_t)spec->now_unix;

	return X509_time_adj_ex(X509_getm_notBefore(x509), 0, 0, &from) &&
	       X509_time_adj_ex(X509_getm_notAfter(x509), spec->years * 365 + spec->years / 4, 0,
				&now);
}

static bool set_names(X509 *x509, const struct certificate_spec *spec)
{
	X509_NAME *name = X509_get_subject_name(x509);

	return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
					  (const unsigned char *)spec->common_name, -1, -1, 0) &&
	       X509_set_issuer_name(x509, name);
}

static bool add_extension(X509 *x509, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *extension;
	bool ok;

	X509V3_set_ctx(&ctx, x509, x509, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = extension && X509_add_ext(x509, extension, -1);
	X509_EXTENSION_free(extension);
	return ok;
}

static bool set_extensions(X509 *x509, const struct certificate_spec *spec)
{
	char alt_name[300];
	struct addr addr;

	if (spec->authority)
		return add_extension(x509, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
		       add_extension(x509, NID_key_usage, "critical,keyCertSign,cRLSign") &&
		       add_extension(x509, NID_subject_key_identifier, "hash");
	snprintf(alt_name, sizeof alt_name, "%s:%s",
		 addr_parse(spec->alt_name, strlen(spec->alt_name), &addr) ? "IP" : "DNS",
		 spec->alt_name);
	return add_extension(x509, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(x509, NID_key_usage, "critical,digitalSignature") &&
	       add_extension(x509, NID_ext_key_usage, "serverAuth") &&
	       add_extension(x509, NID_subject_alt_name, alt_name);
}

static X509 *make_x509(const struct certificate_spec *spec, EVP_PKEY *key)
{
	X509 *x509 = X509_new();

	if (x509 && X509_set_version(x509, X509_VERSION_3) && set_serial(x509) &&
	    set_times(x509, spec) && set_names(x509, spec) && X509_set_pubkey(x509, key) &&
	    set_extensions(x509, spec) && X509_sign(x509, key, EVP_sha256()))
		return x509;
	X509_free(x509);
	return NULL;
}

static bool put_key(EVP_PKEY *key, struct buf *out)
{
	PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
	unsigned char *der = NULL;
	int len = info ? i2d_PKCS8_PRIV_KEY_INFO(info, &der) : -1;
	bool ok = len > 0 && buf_put(out, der, (size_t)len);

	PKCS8_PRIV_KEY_INFO_free(info);
	OPENSSL_clear_free(der, len > 0 ? (size_t)len : 0);
	return ok;
}

static bool put_pem(X509 *x509, struct buf *out)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL;
	long len = bio && PEM_write_bio_X509(bio, x509) ? BIO_get_mem_data(bio, &text) : -1;
	bool ok = len > 0 && buf_put(out, text, (size_t)len);

	BIO_free(bio);
	return ok;
}

enum res certificate_make(const struct certificate_spec *spec, struct buf *key_der,
			  struct buf *cert_pem)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x509 = key ? make_x509(spec, key) : NULL;
	enum res res = RES_INTERNAL;

	if (x509)
		res = put_key(key, key_der) && put_pem(x509, cert_pem) ? RES_OK : RES_NOMEM;
	X509_free(x509);
	EVP_PKEY_free(key);
	return res;
}

/* --- The CA --- */

static enum res ca_store(struct op *op, const struct buf *key_der, const struct buf *cert_pem)
{
	struct buf sealed;
	enum res res;

	buf_init(&sealed, key_der->len + SEAL_OVERHEAD);
	res = vault_seal(op->vault, &ca_place, key_der->data, key_der->len, &sealed);
	if (res == RES_OK)
		res = setting_put_blob(op->conn, CA_KEY_KEY, sealed.data, sealed.len);
	if (res == RES_OK)
		res = setting_put_text(op->conn, CA_CERT_KEY, cert_pem->data);
	if (res == RES_OK)
		res = op_audit(op, "ca.create", "", NULL);
	buf_free(&sealed);
	return res;
}

enum res op_ca_init(struct op *op, void *made)
{
	struct certificate_spec spec = {
		.common_name = CA_NAME,
		.authority = true,
		.now_unix = op->now_unix,
		.years = CA_YEARS,
	};
	struct buf key_der, cert_pem;
	const char *there;
	enum res res = setting_text(op->conn, CA_CERT_KEY, op->arena, &there);

	if (made)
		*(bool *)made = res == RES_NOT_FOUND;
	if (res != RES_NOT_FOUND)
		return res;
	buf_init(&key_der, PEM_SIZE_MAX);
	buf_init(&cert_pem, PEM_SIZE_MAX);
	if ((res = certificate_make(&spec, &key_der, &cert_pem)) == RES_OK)
		res = ca_store(op, &key_der, &cert_pem);
	else
		problem_set(op->problem, res, "certificate", NULL,
			    "the certificate authority could not be made");
	buf_free_secret(&key_der);
	buf_free(&cert_pem);
	return res;
}
