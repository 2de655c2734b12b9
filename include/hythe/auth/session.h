/* auth/session.h – a browser's session: its secret, its cookie, how long it lives.
 *
 * The cookie holds 256 random bits (43 base64url characters); the store their SHA-256. A session
 * ends after 12 h without a request and after 30 days in any case. Threads: values only. */
#ifndef HYTHE_AUTH_SESSION_H
#define HYTHE_AUTH_SESSION_H

#include "hythe/auth/rights.h"
#include "hythe/store/sessions.h"
#include "hythe/util/buf.h"
#include "hythe/util/hash.h"

#define SESSION_TOKEN_LEN BASE64URL_LEN(32)
#define SESSION_IDLE_S    (12 * 3600)
#define SESSION_LIFE_S    (30 * 86400)
#define SESSION_TOUCH_S   60 /* last_seen is written at most that often */

struct session_secret {
	char text[SESSION_TOKEN_LEN + 1];
	uint8_t hash[SHA256_LEN];
};
void session_secret_new(struct session_secret *secret);
/* False: not of the form of one. */
bool session_secret_of_text(const char *text, size_t len, struct session_secret *secret);

bool session_alive(int64_t last_seen_unix, int64_t expires_unix, int64_t now_unix);
/* Who that is; false: the admin is disabled or his role unknown. */
bool session_actor(const struct session_found *found, struct actor *out);

/* "__Host-hythe" when the public URL is https; "hythe" when it is http on a loopback name. NULL: no
 * session may be had over such a URL. */
const char *session_cookie_name(const char *public_url);
/* The cookie of that name in a Cookie header. False: absent, given twice, or not of the form. */
bool session_cookie_find(const char *header, const char *name, struct session_secret *out);
/* Set-Cookie's value; `token` NULL ends the cookie. */
bool session_cookie_print(struct buf *out, const char *public_url, const char *token);

#endif
