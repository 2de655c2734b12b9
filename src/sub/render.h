/* sub/render.h – from the store to a finished answer: one user, one variant.
 *
 * Takes a public reader, reads everything in its one transaction, gives it back, and only then
 * opens secrets and writes text. Threads: any event thread. */
#ifndef HYTHE_SUB_RENDER_H
#define HYTHE_SUB_RENDER_H

#include "cache.h"
#include "hythe/sub/sub.h"
#include "servers.h"

struct sub_render {
	struct cache_answer answer; /* 200, with its headers */
	int64_t until_unix;         /* when a shown figure changes by itself; 0: never */
};

/* `lists` and `generation` (the ticket's): lists of servers shared with others of the same groups.
 * RES_NOT_FOUND: the user is gone. Anything else but RES_OK: try again later. */
enum res sub_render(const struct sub_config *config, struct server_lists *lists,
		    uint64_t generation, int64_t user_id, struct sub_variant variant,
		    struct sub_render *out);

#endif
