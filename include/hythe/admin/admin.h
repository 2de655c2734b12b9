/* admin/admin.h – the admin API as one thing: what panel wires and http serves.
 * Threads: new/free by the owner; the rest from event threads and workers. */
#ifndef HYTHE_ADMIN_ADMIN_H
#define HYTHE_ADMIN_ADMIN_H

#include "hythe/http/limiter.h"
#include "hythe/http/server.h"
#include "hythe/ops/ops.h"
#include "hythe/ops/settings.h"

struct admin_config {
	const struct ops *ops;
	struct http_workers *workers;
	const struct clock *clock;
	const char *version;                 /* of the program */
	/* Where the admin's pages and links begin ("http://127.0.0.1:9090") when it has an address of its
	 * own; lent. NULL: the public URL. */
	const char *admin_url;
	int64_t (*private_bytes)(void *ctx); /* for health; may be NULL */
	/* The answer to what is not ours, when only a worker can tell; NULL: a bare 404. Any thread. */
	struct reply *(*unknown)(void *ctx, const struct request *req);
	void *ctx;
};

struct admin;
enum res admin_new(const struct admin_config *config, struct admin **out);
/* Ends bulk work that is under way (its progress is lost, what it has done stays). When the
 * listeners are quiet and before the store is closed. */
void admin_stop(struct admin *admin);
void admin_free(struct admin *admin); /* after the store is closed */

/* `path` is what follows the admin prefix ("/api/v1/users", "/setup/<token>"), on the control
 * socket the whole path. `control`: no sign-in, every right. Returns a reply, reply_later(), or
 * NULL: not ours (the caller answers with the decoy). */
size_t admin_body_max(struct admin *admin, const struct request *req, const char *path,
		      size_t path_len);
/* A path of the API, whose every refusal is a problem? Anything else under the prefix looks like
 * any unknown path. */
bool admin_path_is_api(const char *path, size_t path_len);
struct reply *admin_serve(struct admin *admin, struct request *req, const char *path,
			  size_t path_len, bool control);

#endif
