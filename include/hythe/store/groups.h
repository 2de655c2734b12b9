/* store/groups.h – groups and their access rules.
 *
 * A group that is being deleted keeps its row until its last member has left, but is not found
 * here. Threads: a connection is used by one at a time. */
#ifndef HYTHE_STORE_GROUPS_H
#define HYTHE_STORE_GROUPS_H

#include "hythe/model/ids.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"

struct group {
	int64_t id;
	struct public_id public_id;
	const char *name, *name_key, *note;
	int64_t created_unix, version;
};

enum access_scope { ACCESS_ALL, ACCESS_NODE, ACCESS_TAG, ACCESS_SCOPES };
extern const char *const access_scope_words[]; /* "all", "node", "tag"; NULL at the end */

struct group_access {
	int64_t id, profile_id, node_id; /* node_id: ACCESS_NODE, else 0 */
	struct public_id profile_public_id, node_public_id;
	const char *profile_name, *node_name; /* "" without a node */
	enum access_scope scope;
	const char *tag; /* ACCESS_TAG, else "" */
};

enum res group_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			    struct group *out);
/* By name_key; after `after_key` (NULL: from the start); at most `limit`. `q` (NULL: all) is looked
 * for anywhere in the key. */
enum res group_list(struct conn *conn, const char *after_key, const char *q, size_t limit,
		    struct arena *arena, struct group **list, size_t *count);
enum res group_count(struct conn *conn, const char *q, int64_t *count);
enum res group_access_list(struct conn *conn, int64_t group_id, struct arena *arena,
			   struct group_access **list, size_t *count);
enum res group_member_count(struct conn *conn, int64_t group_id, int64_t *count);

/* --- Writing: the writer's connection only --- */
enum res group_id_by_name_key(struct conn *conn, const char *name_key, int64_t *id);
enum res group_insert(struct conn *conn, struct group *group); /* sets id */
enum res group_update(struct conn *conn, const struct group *group);
enum res group_access_clear(struct conn *conn, int64_t group_id);
enum res group_access_insert(struct conn *conn, int64_t group_id,
			     const struct group_access *access);
/* What a rule names: RES_NOT_FOUND. */
enum res group_profile_by_public_id(struct conn *conn, const char *public_id, int64_t *id);
/* Frees the name and takes the group out of sight. */
enum res group_bury(struct conn *conn, int64_t id, int64_t now_unix);
/* Removes buried groups without members. */
enum res groups_remove_empty(struct conn *conn);
enum res group_member_ids(struct conn *conn, int64_t group_id, int64_t *ids, size_t limit,
			  size_t *count);

#endif
