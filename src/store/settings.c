#include "hythe/store/settings.h"

#include <string.h>

#include "hythe/store/conn.h"

enum { SETTING_GET, SETTING_PUT, SETTING_DROP };

static const char *const SQL[] = {
	[SETTING_GET] = "SELECT value FROM setting WHERE key = ?1",
	[SETTING_PUT] = ("INSERT INTO setting (key, value) VALUES (?1, ?2)"
			 " ON CONFLICT (key) DO UPDATE SET value = excluded.value"),
	[SETTING_DROP] = "DELETE FROM setting WHERE key = ?1",
};

static enum res get(struct conn *conn, const char *key, sqlite3_stmt **st)
{
	*st = conn_stmt(conn, SQL[SETTING_GET]);
	bind_text(*st, 1, key);
	return stmt_row(conn, *st);
}

enum res setting_text(struct conn *conn, const char *key, struct arena *arena, const char **value)
{
	sqlite3_stmt *st;
	enum res res = get(conn, key, &st);

	*value = NULL;
	if (res == RES_OK && !(*value = column_text(st, 0, arena)))
		res = RES_NOMEM;
	stmt_end(conn, st);
	return res;
}

enum res setting_i64(struct conn *conn, const char *key, int64_t *value)
{
	sqlite3_stmt *st;
	enum res res = get(conn, key, &st);

	*value = res == RES_OK ? column_i64(st, 0) : 0;
	stmt_end(conn, st);
	return res;
}

enum res setting_blob(struct conn *conn, const char *key, struct buf *value)
{
	sqlite3_stmt *st;
	enum res res = get(conn, key, &st);

	buf_reset(value);
	if (res == RES_OK &&
	    !buf_put(value, sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0)))
		res = RES_NOMEM;
	stmt_end(conn, st);
	return res;
}

enum res setting_put_text(struct conn *conn, const char *key, const char *value)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SETTING_PUT]);

	bind_text(st, 1, key);
	bind_text(st, 2, value);
	return stmt_run(conn, st);
}

enum res setting_put_i64(struct conn *conn, const char *key, int64_t value)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SETTING_PUT]);

	bind_text(st, 1, key);
	bind_i64(st, 2, value);
	return stmt_run(conn, st);
}

enum res setting_put_blob(struct conn *conn, const char *key, const void *value, size_t len)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SETTING_PUT]);

	bind_text(st, 1, key);
	bind_blob(st, 2, value, len);
	return stmt_run(conn, st);
}

enum res setting_drop(struct conn *conn, const char *key)
{
	sqlite3_stmt *st = conn_stmt(conn, SQL[SETTING_DROP]);

	bind_text(st, 1, key);
	return stmt_run(conn, st);
}

#define VERSION_KEY "settings_version"

enum res settings_load(struct conn *conn, struct settings *settings, int64_t *version,
		       struct problem *problem)
{
	struct arena arena;
	enum res res;

	arena_init(&arena, 16384);
	res = setting_i64(conn, VERSION_KEY, version);
	for (size_t row = 0; res == RES_OK && row < SETTINGS_ROWS; row++) {
		const char *name = settings_name(row), *text;

		res = setting_text(conn, name, &arena, &text);
		/* Not there: it is newer than the program that wrote last, and the default holds. */
		if (res == RES_NOT_FOUND)
			res = RES_OK;
		else if (res == RES_OK && settings_parse(settings, row, text, NULL) != RES_OK)
			res = problem_set(problem, RES_CORRUPT, "bad_setting", name,
					  "the stored setting %s is damaged", name);
	}
	arena_free(&arena);
	return res == RES_NOT_FOUND ? RES_OK : res;
}

enum res settings_store(struct conn *conn, const struct settings *settings, int64_t version)
{
	enum res res = setting_put_i64(conn, VERSION_KEY, version);

	for (size_t row = 0; res == RES_OK && row < SETTINGS_ROWS; row++) {
		char text[sizeof settings->public_url];

		res = settings_print(settings, row, text, sizeof text);
		if (res == RES_OK)
			res = setting_put_text(conn, settings_name(row), text);
	}
	return res;
}
