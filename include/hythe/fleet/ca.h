/* fleet/ca.h – certificates that the panel makes: its own CA for nodes, and self-signed ones.
 *
 * The CA is made at set-up: ECDSA P-256, 20 years, a subject that says nothing. Its key stands
 * sealed in the setting `ca_key_sealed`, the certificate in `ca_cert_pem`; nodes are told the
 * SHA-256 of the certificate (the pin) and need no name. Threads: values only; op_ca_init inside a
 * job. */
#ifndef HYTHE_FLEET_CA_H
#define HYTHE_FLEET_CA_H

#include "hythe/ops/ops.h"
#include "hythe/util/buf.h"

struct certificate_spec {
	const char *common_name;
	const char *alt_name; /* a name or an IP literal; NULL with `authority` */
	bool authority;       /* may sign others, not itself a server */
	int64_t now_unix;
	int years;
};

/* A new P-256 key and the certificate that it signs for itself. `key_der` is PKCS #8. */
enum res certificate_make(const struct certificate_spec *spec, struct buf *key_der,
			  struct buf *cert_pem);

/* Makes the CA when it is not there; does nothing otherwise. `made` (bool *, NULL allowed) says
 * which. */
enum res op_ca_init(struct op *op, void *made);

#endif
