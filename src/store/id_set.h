/* id_set.h – a set of row ids as pages of bits: 16 KiB for 131,072 neighbours, whatever the ids
 * are. Threads: one owner. */
#ifndef HYTHE_STORE_ID_SET_H
#define HYTHE_STORE_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_page;
struct id_set {
	struct id_page **pages; /* sorted by where they begin */
	size_t page_count, page_cap, count;
	size_t last; /* the page found last: neighbours are asked for together */
};

bool id_set_add(struct id_set *set, int64_t id); /* false: out of memory */
bool id_set_has(struct id_set *set, int64_t id);
/* Ids in ascending order, those after `after`; stops when each() says false. */
void id_set_each(const struct id_set *set, int64_t after, bool (*each)(void *ctx, int64_t id),
		 void *ctx);
void id_set_free(struct id_set *set); /* empty afterwards */

#endif
