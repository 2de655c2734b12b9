/* store/nodes.h – the node and node_tag tables, and what goes with a node when it is deleted.
 * Text of a struct node lives in the arena passed in.
 * Threads: none; a connection is used by one thread at a time. */
#ifndef HYTHE_STORE_NODES_H
#define HYTHE_STORE_NODES_H

#include "hythe/model/node.h"
#include "hythe/store/page.h"
#include "hythe/store/store.h"

enum res node_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			   struct node *out);
enum res node_list(struct conn *conn, const struct page *page, struct arena *arena,
		   struct node **list, size_t *count);
enum res node_total(struct conn *conn, const struct page *page, int64_t *total);
enum res node_name_taken(struct conn *conn, const char *name_key, int64_t except, bool *taken);
/* With tags and node_state. */
enum res node_insert(struct conn *conn, const struct node *node, int64_t *id);
/* What operators set, and tags. */
enum res node_update(struct conn *conn, const struct node *node);
/* Its inbounds must be gone. Rules of groups for it go too, and those groups get a new version. */
enum res node_remove(struct conn *conn, int64_t id);

#endif
