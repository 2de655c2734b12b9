/* admin/handlers_auth.h – handlers around signing in, admins, tokens, settings, and the setup page.
 * Rights stand in routes.c; what is more than a right (own things, the last owner) is checked here
 * or in the operation. */
#ifndef HYTHE_ADMIN_HANDLERS_AUTH_H
#define HYTHE_ADMIN_HANDLERS_AUTH_H

#include "admin/call.h"

/* right, method and path of each as routes.c shall have them */
struct reply *auth_sign_in(struct call *call);     /* nobody     POST   /auth/sign-in */
struct reply *auth_sign_out(struct call *call);    /* signed in  POST   /auth/sign-out */
struct reply *auth_session_get(struct call *call); /* signed in  GET    /auth/session */
struct reply *sessions_list(struct call *call);    /* signed in  GET    /auth/sessions: one's own */
struct reply *sessions_delete(struct call *call);  /* signed in  DELETE /auth/sessions/:id */

struct reply *admins_list(struct call *call);     /* admins     GET    /admins */
struct reply *admins_create(struct call *call);   /* admins     POST   /admins */
struct reply *admins_get(struct call *call);      /* admins     GET    /admins/:id */
struct reply *admins_patch(struct call *call);    /* admins     PATCH  /admins/:id */
struct reply *admins_delete(struct call *call);   /* admins     DELETE /admins/:id */
struct reply *admins_password(struct call *call); /* signed in  POST   /admins/:id/password */
struct reply *admins_owner_link(struct call *call); /* control socket only: /admins/owner-link */

struct reply *tokens_list(struct call *call);   /* signed in  GET    /tokens: own; all with admins */
struct reply *tokens_create(struct call *call); /* signed in  POST   /tokens */
struct reply *tokens_get(struct call *call);    /* signed in  GET    /tokens/:id */
struct reply *tokens_delete(struct call *call); /* signed in  DELETE /tokens/:id */

struct reply *settings_get(struct call *call);   /* settings   GET    /settings */
struct reply *settings_patch(struct call *call); /* settings   PATCH  /settings */

/* --- An owner's one-time page: <admin-prefix>/setup/<token>, outside /api/v1, no
 * sign-in. All on a worker. RES_NOT_FOUND: no live link, and nobody is to see that such links exist;
 * anything else but RES_OK: it could not be looked up. --- */
#define SETUP_BODY_MAX 4096
enum res setup_page_live(struct admin *admin, const char *token, size_t token_len);
struct reply *setup_page_get(void);
struct reply *setup_page_post(struct admin *admin, struct request *req, const char *token,
			      size_t token_len);

#endif
