/* Cookie and Authorization headers: what is found has the form, and is found again in a header of
 * its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/auth/session.h"
#include "hythe/auth/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void try_cookie(const char *header, const char *name)
{
	struct session_secret secret, again;
	char own[128];

	if (!session_cookie_find(header, name, &secret))
		return;
	must(strlen(secret.text) == SESSION_TOKEN_LEN);
	must(strstr(header, secret.text) != NULL);
	snprintf(own, sizeof own, "a=b; %s=%s", name, secret.text);
	must(session_cookie_find(own, name, &again));
	must(memcmp(secret.hash, again.hash, sizeof secret.hash) == 0);
}

static void try_bearer(const char *header)
{
	struct token_secret secret, again;

	if (!token_of_authorization(header, &secret))
		return;
	must(strlen(secret.text) == TOKEN_TEXT_LEN);
	must(token_secret_of_text(secret.text, TOKEN_TEXT_LEN, &again));
	must(memcmp(secret.hash, again.hash, sizeof secret.hash) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_cookie(text, "hythe");
	try_cookie(text, "__Host-hythe");
	try_bearer(text);
	free(text);
	return 0;
}
