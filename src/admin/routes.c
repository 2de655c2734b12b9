/* admin/routes.c – every call of the API is a row here; the row says who may and what may come. */
#include "routes.h"

#include <string.h>

#include "handlers.h"

#define KIB(n)  ((size_t)(n) << 10)
#define MIB(n)  ((size_t)(n) << 20)
#define BODY    KIB(64)
#define NOTHING 0

/* Short words for the columns below. */
#define OPEN     RIGHT_NONE
#define SIGNED   RIGHT_SIGNED_IN
#define U_READ   RIGHT_USERS_READ
#define U_WRITE  RIGHT_USERS_WRITE
#define N_READ   RIGHT_NODES_READ
#define N_WRITE  RIGHT_NODES_WRITE
#define ADMINS   RIGHT_ADMINS
#define SETTINGS RIGHT_SETTINGS

/* clang-format off */
const struct route routes[] = {
{HTTP_GET,    "/health",                      OPEN,     NOTHING, ROUTE_QUICK | ROUTE_OPEN, health_get},
{HTTP_GET,    "/openapi.yaml",                OPEN,     NOTHING, ROUTE_QUICK | ROUTE_OPEN, spec_get},

{HTTP_POST,   "/auth/sign-in",                OPEN,     KIB(4),  ROUTE_BODY | ROUTE_OPEN, auth_sign_in},
{HTTP_POST,   "/auth/sign-out",               SIGNED,   KIB(4),  0,             auth_sign_out},
{HTTP_GET,    "/auth/session",                SIGNED,   NOTHING, 0,             auth_session_get},
{HTTP_GET,    "/auth/sessions",               SIGNED,   NOTHING, 0,             sessions_list},
{HTTP_DELETE, "/auth/sessions/:id",           SIGNED,   NOTHING, 0,             sessions_delete},

{HTTP_GET,    "/admins",                      ADMINS,   NOTHING, ROUTE_QUERY,   admins_list},
{HTTP_POST,   "/admins",                      ADMINS,   BODY,    ROUTE_CREATE,  admins_create},
{HTTP_GET,    "/admins/:id",                  ADMINS,   NOTHING, 0,             admins_get},
{HTTP_PATCH,  "/admins/:id",                  ADMINS,   BODY,    ROUTE_PATCH,   admins_patch},
{HTTP_DELETE, "/admins/:id",                  ADMINS,   NOTHING, ROUTE_DELETE,  admins_delete},
{HTTP_POST,   "/admins/:id/password",         SIGNED,   KIB(4),  ROUTE_DRY | ROUTE_MATCH | ROUTE_WAIT | ROUTE_BODY, admins_password},
{HTTP_POST,   "/admins/owner-link",           ADMINS,   KIB(4),  ROUTE_CONTROL, admins_owner_link},

{HTTP_GET,    "/tokens",                      SIGNED,   NOTHING, ROUTE_QUERY,   tokens_list},
{HTTP_POST,   "/tokens",                      SIGNED,   BODY,    ROUTE_CREATE,  tokens_create},
{HTTP_GET,    "/tokens/:id",                  SIGNED,   NOTHING, 0,             tokens_get},
{HTTP_DELETE, "/tokens/:id",                  SIGNED,   NOTHING, ROUTE_DRY | ROUTE_WAIT, tokens_delete},

{HTTP_GET,    "/settings",                    SETTINGS, NOTHING, 0,             settings_get},
{HTTP_PATCH,  "/settings",                    SETTINGS, BODY,    ROUTE_PATCH,   settings_patch},

{HTTP_GET,    "/users",                       U_READ,   NOTHING, ROUTE_QUERY,   users_list},
{HTTP_POST,   "/users",                       U_WRITE,  BODY,    ROUTE_CREATE,  users_create},
{HTTP_POST,   "/users/bulk",                  U_WRITE,  MIB(1),  ROUTE_CREATE,  users_bulk},
{HTTP_GET,    "/users/:id",                   U_READ,   NOTHING, 0,             users_get},
{HTTP_PATCH,  "/users/:id",                   U_WRITE,  BODY,    ROUTE_PATCH,   users_patch},
{HTTP_DELETE, "/users/:id",                   U_WRITE,  NOTHING, ROUTE_DELETE,  users_delete},
{HTTP_POST,   "/users/:id/enable",            U_WRITE,  KIB(4),  ROUTE_ACT,     users_enable},
{HTTP_POST,   "/users/:id/disable",           U_WRITE,  KIB(4),  ROUTE_ACT,     users_disable},
{HTTP_POST,   "/users/:id/extend",            U_WRITE,  KIB(4),  ROUTE_ACT | ROUTE_BODY, users_extend},
{HTTP_POST,   "/users/:id/reset-usage",       U_WRITE,  KIB(4),  ROUTE_ACT,     users_reset_usage},
{HTTP_POST,   "/users/:id/rotate-link",       U_WRITE,  KIB(4),  ROUTE_ACT,     users_rotate_link},
{HTTP_POST,   "/users/:id/rotate-credential", U_WRITE,  KIB(4),  ROUTE_ACT,     users_rotate_credential},
{HTTP_GET,    "/users/:id/link",              RIGHT_SECRETS, NOTHING, 0,        users_link},

{HTTP_GET,    "/groups",                      U_READ,   NOTHING, ROUTE_QUERY,   groups_list},
{HTTP_POST,   "/groups",                      U_WRITE,  BODY,    ROUTE_CREATE,  groups_create},
{HTTP_GET,    "/groups/:id",                  U_READ,   NOTHING, 0,             groups_get},
{HTTP_PATCH,  "/groups/:id",                  U_WRITE,  BODY,    ROUTE_PATCH,   groups_patch},
{HTTP_DELETE, "/groups/:id",                  U_WRITE,  NOTHING, ROUTE_DELETE,  groups_delete},

{HTTP_GET,    "/profiles",                    N_READ,   NOTHING, ROUTE_QUERY,   profiles_list},
{HTTP_POST,   "/profiles",                    N_WRITE,  BODY,    ROUTE_CREATE,  profiles_create},
{HTTP_GET,    "/profiles/:id",                N_READ,   NOTHING, 0,             profiles_get},
{HTTP_PATCH,  "/profiles/:id",                N_WRITE,  BODY,    ROUTE_PATCH,   profiles_patch},
{HTTP_DELETE, "/profiles/:id",                N_WRITE,  NOTHING, ROUTE_DELETE,  profiles_delete},

{HTTP_GET,    "/nodes",                       N_READ,   NOTHING, ROUTE_QUERY,   nodes_list},
{HTTP_POST,   "/nodes",                       N_WRITE,  BODY,    ROUTE_CREATE,  nodes_create},
{HTTP_GET,    "/nodes/:id",                   N_READ,   NOTHING, 0,             nodes_get},
{HTTP_PATCH,  "/nodes/:id",                   N_WRITE,  BODY,    ROUTE_PATCH,   nodes_patch},
{HTTP_DELETE, "/nodes/:id",                   N_WRITE,  NOTHING, ROUTE_DELETE,  nodes_delete},

{HTTP_GET,    "/inbounds",                    N_READ,   NOTHING, ROUTE_QUERY,   inbounds_list},
{HTTP_POST,   "/inbounds",                    N_WRITE,  BODY,    ROUTE_CREATE,  inbounds_create},
{HTTP_GET,    "/inbounds/:id",                N_READ,   NOTHING, 0,             inbounds_get},
{HTTP_PATCH,  "/inbounds/:id",                N_WRITE,  BODY,    ROUTE_PATCH,   inbounds_patch},
{HTTP_DELETE, "/inbounds/:id",                N_WRITE,  NOTHING, ROUTE_DELETE,  inbounds_delete},

{HTTP_GET,    "/hosts",                       N_READ,   NOTHING, ROUTE_QUERY,   hosts_list},
{HTTP_POST,   "/hosts",                       N_WRITE,  BODY,    ROUTE_CREATE,  hosts_create},
{HTTP_GET,    "/hosts/:id",                   N_READ,   NOTHING, 0,             hosts_get},
{HTTP_PATCH,  "/hosts/:id",                   N_WRITE,  BODY,    ROUTE_PATCH,   hosts_patch},
{HTTP_DELETE, "/hosts/:id",                   N_WRITE,  NOTHING, ROUTE_DELETE,  hosts_delete},

{HTTP_GET,    "/jobs/:id",                    U_READ,   NOTHING, 0,             jobs_get},
{HTTP_GET,    "/stats/overview",              U_READ,   NOTHING, 0,             overview_get},
{HTTP_OTHER,  NULL,                           OPEN,     NOTHING, 0,             NULL},
};
/* clang-format on */

bool route_id_shaped(const char *text, size_t len)
{
	if (len != PUBLIC_ID_LEN || text[3] != '_')
		return false;
	for (size_t i = 0; i < 3; i++)
		if (text[i] < 'a' || text[i] > 'z')
			return false;
	for (size_t i = 4; i < len; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '2' && text[i] <= '7')))
			return false;
	return true;
}

static size_t segment(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);

	return slash ? (size_t)(slash - text) : len;
}

/* Segment by segment; an :id takes only what is shaped like one, so "/users/bulk" is no id. */
static bool pattern_fits(const char *pattern, const char *path, size_t len, struct route_match *out)
{
	size_t left = strlen(pattern), ids = 0;

	while (left && len && *pattern == '/' && *path == '/') {
		size_t want = segment(++pattern, --left), got = segment(++path, --len);

		if (want == 3 && memcmp(pattern, ":id", 3) == 0) {
			if (ids == ROUTE_IDS || !route_id_shaped(path, got))
				return false;
			out->ids[ids] = path;
			out->id_lens[ids++] = got;
		} else if (want != got || memcmp(pattern, path, got) != 0) {
			return false;
		}
		pattern += want;
		left -= want;
		path += got;
		len -= got;
	}
	return !left && !len;
}

void route_find(enum http_method method, const char *path, size_t len, struct route_match *out)
{
	if (method == HTTP_HEAD)
		method = HTTP_GET;
	memset(out, 0, sizeof *out);
	for (const struct route *route = routes; route->pattern; route++) {
		struct route_match match = {0};

		if (!pattern_fits(route->pattern, path, len, &match))
			continue;
		out->known = true;
		out->methods |= 1u << route->method;
		if (route->method != method)
			continue;
		out->route = route;
		memcpy(out->ids, match.ids, sizeof match.ids);
		memcpy(out->id_lens, match.id_lens, sizeof match.id_lens);
	}
}
