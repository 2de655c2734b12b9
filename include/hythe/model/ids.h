/* model/ids.h – public ids: a prefix and 26 base32 characters from 128 random bits. Threads: any. */
#ifndef HYTHE_MODEL_IDS_H
#define HYTHE_MODEL_IDS_H

#include <stdbool.h>

#define PUBLIC_ID_LEN 30 /* "usr_" + 26 */

struct public_id {
	char text[PUBLIC_ID_LEN + 1];
};

enum id_kind { ID_USER, ID_GROUP, ID_PROFILE, ID_NODE, ID_INBOUND, ID_HOST, ID_ADMIN, ID_TOKEN, ID_SESSION, ID_JOB };
/* usr_ grp_ prf_ nod_ inb_ hst_ adm_ tok_ ses_ job_ */
void public_id_new(enum id_kind kind, struct public_id *out);
bool public_id_valid(enum id_kind kind, const char *text);

#endif
