/* store/files_internal.h – names beside the database, and making files last. Private to the store's
 * core. Returned names are the caller's to free; NULL when memory is out. */
#ifndef HYTHE_STORE_FILES_INTERNAL_H
#define HYTHE_STORE_FILES_INTERNAL_H

#include "hythe/util/result.h"

char *path_with(const char *path, const char *tail);   /* "d/hythe.db" + "-wal" */
char *path_beside(const char *path, const char *name); /* "d/hythe.db", "lock": "d/lock" */
enum res res_of_errno(int error);
/* Not for a file that SQLite has open: closing drops its locks. */
enum res file_sync(const char *path);
enum res dir_sync(const char *path); /* of the directory that `path` lies in */

#endif
