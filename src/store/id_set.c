/* store/id_set.c – see id_set.h. */
#include "id_set.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 17
#define PAGE_WORDS ((size_t)1 << (PAGE_SHIFT - 6))

struct id_page {
	int64_t high; /* id >> PAGE_SHIFT */
	uint64_t bits[PAGE_WORDS];
};

/* The first page at or behind `high`. */
static size_t page_place(const struct id_set *set, int64_t high)
{
	size_t low = 0, end = set->page_count;

	while (low < end) {
		size_t mid = low + (end - low) / 2;

		if (set->pages[mid]->high < high)
			low = mid + 1;
		else
			end = mid;
	}
	return low;
}

static struct id_page *page_find(struct id_set *set, int64_t id)
{
	int64_t high = id >> PAGE_SHIFT;

	if (set->last < set->page_count && set->pages[set->last]->high == high)
		return set->pages[set->last];
	set->last = page_place(set, high);
	if (set->last < set->page_count && set->pages[set->last]->high == high)
		return set->pages[set->last];
	return NULL;
}

static struct id_page *page_make(struct id_set *set, int64_t id)
{
	size_t place = page_place(set, id >> PAGE_SHIFT);
	struct id_page *page;

	if (set->page_count == set->page_cap) {
		size_t cap = set->page_cap ? set->page_cap * 2 : 4;
		struct id_page **pages = realloc(set->pages, cap * sizeof(struct id_page *));

		if (!pages)
			return NULL;
		set->pages = pages;
		set->page_cap = cap;
	}
	page = calloc(1, sizeof *page);
	if (!page)
		return NULL;
	page->high = id >> PAGE_SHIFT;
	memmove(set->pages + place + 1, set->pages + place,
		(set->page_count - place) * sizeof(struct id_page *));
	set->pages[place] = page;
	set->page_count++;
	set->last = place;
	return page;
}

static uint64_t *word_of(struct id_page *page, int64_t id, uint64_t *bit)
{
	uint64_t low = (uint64_t)id & (((uint64_t)1 << PAGE_SHIFT) - 1);

	*bit = (uint64_t)1 << (low & 63);
	return &page->bits[low >> 6];
}

bool id_set_add(struct id_set *set, int64_t id)
{
	struct id_page *page = page_find(set, id);
	uint64_t bit, *word;

	if (!page && !(page = page_make(set, id)))
		return false;
	word = word_of(page, id, &bit);
	set->count += !(*word & bit);
	*word |= bit;
	return true;
}

bool id_set_has(struct id_set *set, int64_t id)
{
	struct id_page *page = page_find(set, id);
	uint64_t bit, *word;

	if (!page)
		return false;
	word = word_of(page, id, &bit);
	return (*word & bit) != 0;
}

void id_set_each(const struct id_set *set, int64_t after, bool (*each)(void *ctx, int64_t id),
		 void *ctx)
{
	for (size_t p = page_place(set, after >> PAGE_SHIFT); p < set->page_count; p++) {
		const struct id_page *page = set->pages[p];
		int64_t base = (int64_t)((uint64_t)page->high << PAGE_SHIFT);

		for (size_t i = 0; i < PAGE_WORDS; i++) {
			for (uint64_t word = page->bits[i]; word; word &= word - 1) {
				int64_t id = base + (int64_t)i * 64 + __builtin_ctzll(word);

				if (id > after && !each(ctx, id))
					return;
			}
		}
	}
}

void id_set_free(struct id_set *set)
{
	for (size_t i = 0; i < set->page_count; i++)
		free(set->pages[i]);
	free(set->pages);
	memset(set, 0, sizeof *set);
}
