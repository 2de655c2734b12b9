/* store/inbounds.h – the inbound table, always read together with the names and defaults that it
 * has of its node and profile. Text of a struct inbound lives in the arena passed in. Threads:
 * none; a connection is used by one thread at a time. */
#ifndef HYTHE_STORE_INBOUNDS_H
#define HYTHE_STORE_INBOUNDS_H

#include "hythe/model/inbound.h"
#include "hythe/store/store.h"

struct inbound_page {
	int64_t node_id, profile_id; /* 0: any */
	const char *q; /* text that the key of node's or profile's name holds; "": any */
	int64_t after; /* id that the last page ended with; 0: the first page */
	bool down;
	int64_t limit;
};

enum res inbound_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			      struct inbound *out);
enum res inbound_by_id(struct conn *conn, int64_t id, struct arena *arena, struct inbound *out);
enum res inbound_list(struct conn *conn, const struct inbound_page *page, struct arena *arena,
		      struct inbound **list, size_t *count);
enum res inbound_total(struct conn *conn, const struct inbound_page *page, int64_t *total);
enum res inbounds_of_node(struct conn *conn, int64_t node_id, struct arena *arena, int64_t **ids,
			  size_t *count);
enum res inbounds_of_profile(struct conn *conn, int64_t profile_id, struct arena *arena,
			     int64_t **ids, size_t *count);
enum res inbound_exists(struct conn *conn, int64_t node_id, int64_t profile_id, bool *exists);
enum res inbound_insert(struct conn *conn, const struct inbound *inbound, int64_t *id);
enum res inbound_update(struct conn *conn,
			const struct inbound *inbound); /* settings, state and pins */
enum res inbound_record_set(struct conn *conn, int64_t id,
			    const uint8_t *hash);       /* NULL: not on the node */
enum res inbound_remove(struct conn *conn, int64_t id); /* its hosts go too */

#endif
