/* store/rows.h – what the statements of every domain share: lists in an arena, single numbers, words,
 * ids. Private to store/. */
#ifndef HYTHE_STORE_ROWS_H
#define HYTHE_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/ids.h"
#include "hythe/store/conn.h"
#include "hythe/util/arena.h"

/* The place for one more item behind `count` of a list that lives in the arena and doubles when it
 * is full; NULL: out of memory. Start with *list NULL and *cap 0. */
void *rows_more(struct arena *arena, void **list, size_t count, size_t *cap, size_t size);
/* Column 0 of every row; ends the statement. */
enum res rows_ids(struct conn *conn, sqlite3_stmt *st, struct arena *arena, int64_t **ids,
		  size_t *count);
/* One integer (0 when there is no row); ends the statement. */
enum res rows_one(struct conn *conn, sqlite3_stmt *st, int64_t *value);
/* Runs a statement whose only parameter is an id. */
enum res rows_run_id(struct conn *conn, const char *sql, int64_t id);
/* Where `word` stands in a list that ends with NULL. */
int word_index(const char *const *words, const char *word, int otherwise);
/* Short text without an arena, for what is looked up at every request; false: too long, or NULL. */
bool column_copy(sqlite3_stmt *st, int column, char *out, size_t size);
/* A blob of any length copied; false: out of memory. NULL and empty give len 0. */
bool column_bytes(sqlite3_stmt *st, int column, struct arena *arena, const void **data,
		  size_t *len);
/* The version after this one; a row changed by hand may stand at the last number there is. */
#define NEXT_VERSION "iif(version < 9223372036854775807, version + 1, 1)"
void column_public_id(sqlite3_stmt *st, int column, struct public_id *out);

#endif
