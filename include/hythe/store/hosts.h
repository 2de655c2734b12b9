/* store/hosts.h – the host table. Text of a struct host lives in the arena passed in.
 * Threads: none; a connection is used by one thread at a time. */
#ifndef HYTHE_STORE_HOSTS_H
#define HYTHE_STORE_HOSTS_H

#include "hythe/model/host.h"
#include "hythe/store/store.h"

/* A host and where it belongs, as lists show it. */
struct host_row {
	struct host host;
	struct public_id inbound_public_id;
	const char *node_name, *profile_name;
};

struct host_page {
	int64_t inbound_id; /* 0: any */
	const char *q;      /* part of name or address, in lower case; "": any */
	int64_t after_order, after_id; /* what the last page ended with; after_id 0: the first */
	bool down;
	int64_t limit;
};

enum res host_by_public_id(struct conn *conn, const char *public_id, struct arena *arena,
			   struct host_row *out);
/* By sort_order, then id. */
enum res host_list(struct conn *conn, const struct host_page *page, struct arena *arena,
		   struct host_row **list, size_t *count);
enum res host_total(struct conn *conn, const struct host_page *page, int64_t *total);
enum res host_insert(struct conn *conn, const struct host *host, int64_t *id);
enum res host_update(struct conn *conn, const struct host *host);
enum res host_remove(struct conn *conn, int64_t id);

#endif
