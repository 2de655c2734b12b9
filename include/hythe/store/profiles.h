/* store/profiles.h – the profile table. Owns every statement that names its columns but the joins
 * of inbounds and access. Text and blobs of a struct profile live in the arena passed in; sealed
 * values are handed on sealed (obfs_password and server are "" until somebody opens them). Threads:
 * none; a connection is used by one thread at a time. */
#ifndef HYTHE_STORE_PROFILES_H
#define HYTHE_STORE_PROFILES_H

#include "hythe/model/profile.h"
#include "hythe/store/page.h"
#include "hythe/store/store.h"

enum res profile_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			      struct profile *out);
enum res profile_by_id(struct conn *conn, int64_t id, struct arena *arena, struct profile *out);
/* With inbound_count. */
enum res profile_list(struct conn *conn, const struct page *page, struct arena *arena,
		      struct profile **list, size_t *count);
enum res profile_total(struct conn *conn, const struct page *page, int64_t *total);
/* Another row than `except` has this key. */
enum res profile_name_taken(struct conn *conn, const char *name_key, int64_t except, bool *taken);
enum res profile_insert(struct conn *conn, const struct profile *profile, int64_t *id);
/* All but ids and created_unix. */
enum res profile_update(struct conn *conn, const struct profile *profile);
/* Rules of groups for it go too, and those groups get a new version. */
enum res profile_remove(struct conn *conn, int64_t id);

#endif
