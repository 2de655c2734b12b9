/* sample_cert.h – a self-signed P-256 certificate made once for the tests (its key was thrown away), and
 * what openssl says of it. */
#ifndef HYTHE_SAMPLE_CERT_H
#define HYTHE_SAMPLE_CERT_H

#define SAMPLE_CERT_PEM                                                                            \
	"-----BEGIN CERTIFICATE-----\n" \
	"MIIBpzCCAU2gAwIBAgIUUigVEG8Mg+xbGBJRpR8o5kFSKg0wCgYIKoZIzj0EAwIw\n" \
	"GjEYMBYGA1UEAwwPZGUxLmV4YW1wbGUubmV0MCAXDTI2MTIwMTE0MjI0M1oYDzIx\n" \
	"MjYxMTA3MTQyMjQzWjAaMRgwFgYDVQQDDA9kZTEuZXhhbXBsZS5uZXQwWTATBgcq\n" \
	"hkjOPQIBBggqhkjOPQMBBwNCAAQXeS+CQ7IEidjkJ4/F/yRM8tIFw5UIBdbqYg1V\n" \
	"Cj/gb+2OIQP4mWhTRL++a9zD2BtDe98wSe8QrSh1MJvZcTino28wbTAdBgNVHQ4E\n" \
	"FgQUJFJeZs447WaNq/5hWwDm98I8oBYwHwYDVR0jBBgwFoAUJFJeZs447WaNq/5h\n" \
	"WwDm98I8oBYwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgg9kZTEuZXhhbXBs\n" \
	"ZS5uZXQwCgYIKoZIzj0EAwIDSAAwRQIgC1znSUIrlmEW+3T37w14ABcz2bD6y6RJ\n" \
	"+qffL8Ph1z0CIQC7wcpIxgVKLpUfwP6XxMBupRQ8+64rX7JaFvTUAdii+Q==\n" \
	"-----END CERTIFICATE-----\n"
#define SAMPLE_CERT_PIN "6da62bedadf6af08d6f2ac12671f85090f625cdc3307922cbda55161d6fce6f2"
#define SAMPLE_KEY_PIN  "27fede79e06192ad4a3800611eb11e443c1f35cf79655741bf7d18e96c55263a"
#define SAMPLE_CERT_END INT64_C(4949734963)

#endif
