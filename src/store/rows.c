#include "rows.h"

#include <string.h>

#include "hythe/util/text.h"

void *rows_more(struct arena *arena, void **list, size_t count, size_t *cap, size_t size)
{
	if (count == *cap) {
		size_t larger = *cap ? *cap * 2 : 16;
		void *copy = arena_alloc(arena, larger * size);

		if (!copy)
			return NULL;
		if (count > 0)
			memcpy(copy, *list, count * size);
		*list = copy;
		*cap = larger;
	}
	return (char *)*list + count * size;
}

enum res rows_ids(struct conn *conn, sqlite3_stmt *st, struct arena *arena, int64_t **ids,
		  size_t *count)
{
	void *list = NULL;
	size_t n = 0, cap = 0;
	enum res res;

	while ((res = stmt_row(conn, st)) == RES_OK) {
		int64_t *id = rows_more(arena, &list, n, &cap, sizeof *id);

		if (!id) {
			res = RES_NOMEM;
			break;
		}
		*id = column_i64(st, 0);
		n++;
	}
	stmt_end(conn, st);
	*ids = list;
	*count = n;
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res rows_one(struct conn *conn, sqlite3_stmt *st, int64_t *value)
{
	enum res res = stmt_row(conn, st);

	*value = res == RES_OK ? column_i64(st, 0) : 0;
	stmt_end(conn, st);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res rows_run_id(struct conn *conn, const char *sql, int64_t id)
{
	sqlite3_stmt *st = conn_stmt(conn, sql);

	bind_i64(st, 1, id);
	return stmt_run(conn, st);
}

int word_index(const char *const *words, const char *word, int otherwise)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return otherwise;
}

bool column_copy(sqlite3_stmt *st, int column, char *out, size_t size)
{
	const unsigned char *text = sqlite3_column_text(st, column);

	return text && text_copy(out, size, (const char *)text);
}

bool column_bytes(sqlite3_stmt *st, int column, struct arena *arena, const void **data, size_t *len)
{
	const void *blob = sqlite3_column_blob(st, column);
	size_t size = (size_t)sqlite3_column_bytes(st, column);
	void *copy;

	*data = NULL;
	*len = 0;
	if (!blob || size == 0)
		return true;
	copy = arena_alloc(arena, size);
	if (!copy)
		return false;
	memcpy(copy, blob, size);
	*data = copy;
	*len = size;
	return true;
}

void column_public_id(sqlite3_stmt *st, int column, struct public_id *out)
{
	const unsigned char *text = sqlite3_column_text(st, column);
	size_t len = (size_t)sqlite3_column_bytes(st, column);

	memset(out, 0, sizeof *out);
	if (text)
		memcpy(out->text, text, len < PUBLIC_ID_LEN ? len : PUBLIC_ID_LEN);
}
