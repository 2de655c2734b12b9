/* store/settings.h – the setting table: one value a key.
 *
 * Besides the rows of model/settings.c it holds what belongs to the database as a whole: store_id,
 * log_floor (store/), vault_check, settings_version, owner_link_* (here), ca_* (fleet/).
 * Threads: those of the connection. */
#ifndef HYTHE_STORE_SETTINGS_H
#define HYTHE_STORE_SETTINGS_H

#include "hythe/model/settings.h"
#include "hythe/store/store.h"
#include "hythe/util/arena.h"
#include "hythe/util/buf.h"

/* RES_NOT_FOUND: no such key. */
enum res setting_text(struct conn *conn, const char *key, struct arena *arena, const char **value);
enum res setting_i64(struct conn *conn, const char *key, int64_t *value);
/* Replaces what is in `value`. */
enum res setting_blob(struct conn *conn, const char *key, struct buf *value);
enum res setting_put_text(struct conn *conn, const char *key, const char *value);
enum res setting_put_i64(struct conn *conn, const char *key, int64_t value);
enum res setting_put_blob(struct conn *conn, const char *key, const void *value, size_t len);
enum res setting_drop(struct conn *conn, const char *key); /* none there: RES_OK */

/* All rows of struct settings, over what `settings` holds before (defaults). `version` is 0 when
 * nothing was ever stored. RES_CORRUPT names a row that does not parse. */
enum res settings_load(struct conn *conn, struct settings *settings, int64_t *version,
		       struct problem *problem);
enum res settings_store(struct conn *conn, const struct settings *settings, int64_t version);

#endif
