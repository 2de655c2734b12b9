#include "tokens.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/store/users.h"

#define PLACES_MIN 64

struct place {
	uint8_t key[STORE_TOKEN_KEY];
	int64_t user_id; /* 0: empty */
};

struct table {
	struct place *places;
	size_t size;
};

struct tokens {
	pthread_rwlock_t lock; /* leaf */
	struct table table; /* written by one thread, under the lock; that one reads without it */
	size_t count;       /* guarded by lock */
};

/* Where a key would stand: its first four bytes scaled to the table, which need not be a power of
 * two. */
static size_t home_of(const struct table *table, const uint8_t *key)
{
	uint32_t head;

	memcpy(&head, key, sizeof head);
	return (size_t)(((uint64_t)head * table->size) >> 32);
}

static size_t next_of(const struct table *table, size_t at)
{
	return at + 1 < table->size ? at + 1 : 0;
}

/* The key's place, or the empty one where it would go. The table is never full. */
static size_t seek(const struct table *table, const uint8_t *key)
{
	size_t at = home_of(table, key);

	while (table->places[at].user_id != 0 &&
	       memcmp(table->places[at].key, key, STORE_TOKEN_KEY) != 0)
		at = next_of(table, at);
	return at;
}

static bool table_make(struct table *table, size_t size)
{
	table->size = size;
	table->places = calloc(size, sizeof *table->places);
	return table->places != NULL;
}

struct tokens *tokens_new(void)
{
	struct tokens *tokens = calloc(1, sizeof *tokens);

	if (tokens && table_make(&tokens->table, PLACES_MIN) &&
	    pthread_rwlock_init(&tokens->lock, NULL) == 0)
		return tokens;
	if (tokens)
		free(tokens->table.places);
	free(tokens);
	return NULL;
}

void tokens_free(struct tokens *tokens)
{
	if (!tokens)
		return;
	pthread_rwlock_destroy(&tokens->lock);
	free(tokens->table.places);
	free(tokens);
}

int64_t tokens_find(struct tokens *tokens, const uint8_t key[STORE_TOKEN_KEY])
{
	int64_t user_id;

	pthread_rwlock_rdlock(&tokens->lock);
	user_id = tokens->table.places[seek(&tokens->table, key)].user_id;
	pthread_rwlock_unlock(&tokens->lock);
	return user_id;
}

/* The new table is filled while readers go on with the old one. */
static bool resize(struct tokens *tokens, size_t size)
{
	const struct table *old = &tokens->table;
	struct table now;

	if (!table_make(&now, size))
		return false;
	for (size_t i = 0; i < old->size; i++)
		if (old->places[i].user_id != 0)
			now.places[seek(&now, old->places[i].key)] = old->places[i];
	pthread_rwlock_wrlock(&tokens->lock);
	free(tokens->table.places);
	tokens->table = now;
	pthread_rwlock_unlock(&tokens->lock);
	return true;
}

/* Beyond 85 % the searches get long. */
static size_t room(size_t size)
{
	return size / 20 * 17;
}

bool tokens_reserve(struct tokens *tokens, size_t count)
{
	size_t size = count / 4 * 5 + PLACES_MIN; /* 80 %: some to come */

	return room(tokens->table.size) >= count || resize(tokens, size);
}

bool tokens_put(struct tokens *tokens, const uint8_t key[STORE_TOKEN_KEY], int64_t user_id)
{
	struct place *place;

	/* Without memory the searches may get long, up to the last place but one. */
	if (tokens->count + 1 > room(tokens->table.size) &&
	    !resize(tokens, tokens->table.size + tokens->table.size / 4) &&
	    tokens->count + 1 >= tokens->table.size)
		return false;
	pthread_rwlock_wrlock(&tokens->lock);
	place = &tokens->table.places[seek(&tokens->table, key)];
	tokens->count += place->user_id == 0;
	memcpy(place->key, key, STORE_TOKEN_KEY);
	place->user_id = user_id;
	pthread_rwlock_unlock(&tokens->lock);
	return true;
}

/* May what stands at `at` move to the hole? Not if its home lies behind the hole. */
static bool may_move(const struct table *table, size_t hole, size_t at)
{
	size_t home = home_of(table, table->places[at].key);

	if (hole <= at)
		return home <= hole || home > at;
	return home <= hole && home > at;
}

static void close_hole(struct table *table, size_t hole)
{
	size_t at = next_of(table, hole);

	for (; table->places[at].user_id != 0; at = next_of(table, at)) {
		if (!may_move(table, hole, at))
			continue;
		table->places[hole] = table->places[at];
		hole = at;
	}
	memset(&table->places[hole], 0, sizeof table->places[hole]);
}

void tokens_drop(struct tokens *tokens, const uint8_t key[STORE_TOKEN_KEY])
{
	size_t at;

	pthread_rwlock_wrlock(&tokens->lock);
	at = seek(&tokens->table, key);
	if (tokens->table.places[at].user_id != 0) {
		close_hole(&tokens->table, at);
		tokens->count--;
	}
	pthread_rwlock_unlock(&tokens->lock);
}

size_t tokens_count(struct tokens *tokens)
{
	size_t count;

	pthread_rwlock_rdlock(&tokens->lock);
	count = tokens->count;
	pthread_rwlock_unlock(&tokens->lock);
	return count;
}

/* --- At start --- */

/* Read into a list first, so that the index is made in its full size at once. */
struct token_list {
	struct place *places;
	size_t count, room;
	bool failed;
};

static bool list_token(void *ctx, int64_t user_id, const uint8_t key[STORE_TOKEN_KEY])
{
	struct token_list *list = ctx;

	if (list->count == list->room) {
		size_t more = list->room ? list->room * 2 : 64;
		struct place *places = realloc(list->places, more * sizeof *places);

		list->failed = !places;
		if (!places)
			return false;
		list->places = places;
		list->room = more;
	}
	list->places[list->count].user_id = user_id;
	memcpy(list->places[list->count++].key, key, STORE_TOKEN_KEY);
	return true;
}

static enum res put_list(struct tokens *tokens, const struct token_list *list)
{
	if (list->failed || !tokens_reserve(tokens, list->count))
		return RES_NOMEM;
	for (size_t i = 0; i < list->count; i++)
		if (!tokens_put(tokens, list->places[i].key, list->places[i].user_id))
			return RES_NOMEM;
	return RES_OK;
}

enum res tokens_load(struct tokens *tokens, struct conn *conn)
{
	struct token_list list = {0};
	enum res res = user_tokens_each(conn, list_token, &list);

	if (res == RES_OK)
		res = put_list(tokens, &list);
	free(list.places);
	return res;
}
