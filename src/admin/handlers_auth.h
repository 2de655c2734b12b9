/* admin/handlers_auth.h – handlers around signing in, admins, tokens, settings, and the setup page.
 * Rights stand in routes.c; what is more than a right (own things, the last owner) is checked here
 * or in the operation. */
#ifndef HYTHE_ADMIN_HANDLERS_AUTH_H
#define HYTHE_ADMIN_HANDLERS_AUTH_H

#include "admin/call.h"

/* right, method and path of each as routes.c shall have them */
struct reply *
auth_sign_in(struct call *call); /* none       POST   /auth/sign-in; no actor needed */
struct reply *auth_sign_out(struct call *call); /* signed in  POST   /auth/sign-out; 204, no body */
struct reply *auth_session_get(struct call *call); /* signed in  GET    /auth/session */
struct reply *sessions_list(struct call *call);    /* signed in  GET    /auth/sessions: one's own */
struct reply *sessions_delete(struct call *call);  /* signed in  DELETE /auth/sessions/:id */

struct reply *admins_list(struct call *call);     /* admins     GET    /admins */
struct reply *admins_create(struct call *call);   /* admins     POST   /admins */
struct reply *admins_get(struct call *call);      /* admins     GET    /admins/:id */
struct reply *admins_patch(struct call *call);    /* admins     PATCH  /admins/:id */
struct reply *admins_delete(struct call *call);   /* admins     DELETE /admins/:id */
struct reply *admins_password(struct call *call); /* signed in  POST   /admins/:id/password */
struct reply *
admins_owner_link(struct call *call); /* admins, control socket only: POST /admins/owner-link */

struct reply *tokens_list(struct call *call); /* signed in  GET    /tokens: own; all with admins */
struct reply *tokens_create(struct call *call); /* signed in  POST   /tokens */
struct reply *tokens_get(struct call *call);    /* signed in  GET    /tokens/:id */
struct reply *tokens_delete(struct call *call); /* signed in  DELETE /tokens/:id */

struct reply *settings_get(struct call *call);   /* settings   GET    /settings */
struct reply *settings_patch(struct call *call); /* settings   PATCH  /settings */

/* --- The one-time page of the first owner: <admin-prefix>/setup/<token>, outside /api/v1, no
 * sign-in. On the event thread: setup_page_live() false means the decoy (return NULL from
 * admin_serve), for every method and token. Then GET and HEAD are answered by setup_page_get() at
 * once, POST by setup_page_post() on a worker (it hashes a password); other methods: the decoy. */
#define SETUP_BODY_MAX 4096
bool setup_page_live(struct admin *admin, const char *token, size_t token_len);
struct reply *setup_page_get(struct admin *admin, struct request *req);
struct reply *setup_page_post(struct admin *admin, struct request *req, const char *token,
			      size_t token_len);

#endif
