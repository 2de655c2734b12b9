/* store/conn.h – statements on one connection; used by the files of store/ only.
 *
 * A statement is named by the address of its SQL text (a row of a domain's table), prepared at its
 * first use and kept: 32 a reader, 96 the writer, least recently used goes. The pattern:
 *
 *	sqlite3_stmt *st = conn_stmt(conn, SQL[USER_BY_ID]);   // NULL: out of memory or bad SQL
 *	bind_i64(st, 1, id);
 *	if ((res = stmt_row(conn, st)) == RES_OK)              // RES_NOT_FOUND: no (more) row
 *		...
 *	stmt_end(conn, st);                                    // reset, unbound; NULL is fine
 *
 * Errors of the binding calls are remembered by the connection and come out of stmt_row/stmt_run.
 * Results: RES_BUSY, RES_FULL, RES_IO, RES_CORRUPT, RES_NOMEM, RES_CONFLICT (a constraint),
 * RES_INTERNAL. */
#ifndef HYTHE_STORE_CONN_H
#define HYTHE_STORE_CONN_H

#include <sqlite3.h>

#include "hythe/store/store.h"
#include "hythe/util/arena.h"

sqlite3_stmt *conn_stmt(struct conn *conn, const char *sql);
sqlite3 *conn_db(struct conn *conn);
void bind_i64(sqlite3_stmt *st, int index, int64_t value);
/* NULL binds ''. Text and blobs must live until stmt_end(). */
void bind_text(sqlite3_stmt *st, int index, const char *text);
void bind_text_n(sqlite3_stmt *st, int index, const char *text, size_t len);
void bind_blob(sqlite3_stmt *st, int index, const void *data, size_t len); /* len 0: empty blob */
void bind_null(sqlite3_stmt *st, int index);
enum res stmt_row(struct conn *conn, sqlite3_stmt *st);  /* st NULL: RES_NOMEM or what preparing said */
enum res stmt_run(struct conn *conn, sqlite3_stmt *st);  /* steps to the end and stmt_end()s it */
void stmt_end(struct conn *conn, sqlite3_stmt *st);
int64_t conn_changes(struct conn *conn);   /* rows the last statement changed */
int64_t conn_insert_id(struct conn *conn);
/* Column text copied into the arena ("" for NULL); NULL only when memory is out. */
const char *column_text(sqlite3_stmt *st, int column, struct arena *arena);
int64_t column_i64(sqlite3_stmt *st, int column);
/* Copies a blob of exactly `len`; false (and zeros) for any other length. */
bool column_blob(sqlite3_stmt *st, int column, void *out, size_t len);
/* RES_CORRUPT came from a full-text index that is out of step with its rows: the rows are sound, and
 * what the job wrote before stands. conn_index_mended(): it was made anew. */
bool conn_index_damaged(struct conn *conn);
void conn_index_mended(struct conn *conn);
enum res res_of_sqlite(int code);

#endif
