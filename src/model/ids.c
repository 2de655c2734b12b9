#include "hythe/model/ids.h"

#include <stdint.h>
#include <string.h>

#include "hythe/util/hash.h"

#define PREFIX_LEN 4
#define RANDOM_LEN 16 /* 26 base32 characters, the last of three bits */

static const char *const prefixes[] = {
	[ID_USER] = "usr_",    [ID_GROUP] = "grp_", [ID_PROFILE] = "prf_", [ID_NODE] = "nod_",
	[ID_INBOUND] = "inb_", [ID_HOST] = "hst_",  [ID_ADMIN] = "adm_",   [ID_TOKEN] = "tok_",
	[ID_SESSION] = "ses_", [ID_JOB] = "job_",
};

void public_id_new(enum id_kind kind, struct public_id *out)
{
	uint8_t random[RANDOM_LEN];

	_Static_assert(PREFIX_LEN + BASE32_LEN(RANDOM_LEN) == PUBLIC_ID_LEN,
		       "an id has one length");
	random_bytes(random, sizeof random);
	memcpy(out->text, prefixes[kind], PREFIX_LEN);
	base32_encode(random, sizeof random, out->text + PREFIX_LEN);
}

bool public_id_valid(enum id_kind kind, const char *text)
{
	if (strnlen(text, PUBLIC_ID_LEN + 1) != PUBLIC_ID_LEN ||
	    memcmp(text, prefixes[kind], PREFIX_LEN) != 0)
		return false;
	return strspn(text + PREFIX_LEN, "abcdefghijklmnopqrstuvwxyz234567") ==
	       PUBLIC_ID_LEN - PREFIX_LEN;
}
