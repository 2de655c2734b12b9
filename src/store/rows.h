/* store/rows.h – lists of rows in an arena; private to store/. */
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
/* A blob of any length copied; false: out of memory. NULL and empty give len 0. */
bool column_bytes(sqlite3_stmt *st, int column, struct arena *arena, const void **data,
		  size_t *len);
void column_public_id(sqlite3_stmt *st, int column, struct public_id *out);

#endif
