/* store/page.h – one page of a list that goes by name: which, from where, how many. Threads:
 * values. */
#ifndef HYTHE_STORE_PAGE_H
#define HYTHE_STORE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct page {
	const char *q;     /* text that the name's key holds; "": any */
	const char *tag;   /* nodes: has this tag; "": any */
	const char *after; /* the key that the last page ended with; "": the first page */
	bool down;         /* from the last to the first */
	int64_t limit;
};

#endif
