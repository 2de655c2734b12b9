#include "store_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "hythe/util/log.h"

/* SQLite names file, line and errno here, and nowhere else. What is every day's business (a name
 * that is taken, a lock, a schema read again) is left out. */
static void sqlite_says(void *ctx, int code, const char *text)
{
	int error = errno; /* SQLite asks for it later */

	(void)ctx;
	switch (code & 0xff) {
	case SQLITE_CONSTRAINT:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_INTERRUPT:
	case SQLITE_SCHEMA:
		break;
	case SQLITE_NOTICE:
		log_info("sqlite", "code=%d text=%s", code, log_quote(text));
		break;
	default:
		log_warn("sqlite", "code=%d text=%s", code, log_quote(text));
	}
	errno = error;
}

static void sqlite_setup_once(void)
{
	/* A connection is used by one thread at a time; nobody reads SQLite's memory counters,
	 * which cost a lock at every allocation; and 20 pages set aside for each connection, used
	 * or not, would be 0.6 MiB with seven of them. */
	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_config(SQLITE_CONFIG_URI, 0);
	sqlite3_config(SQLITE_CONFIG_LOG, sqlite_says, NULL);
}

void sqlite_setup(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, sqlite_setup_once);
}

/* Asked every 4,000 steps of SQLite's machine, some 100 us. */
static int reader_is_late(void *arg)
{
	const struct conn *conn = arg;

	return conn->deadline_ms && clock_mono_ms(conn->store->clock) >= conn->deadline_ms;
}

/* The file may have been written by anybody. Functions and virtual tables in its schema get no
 * trust, triggers and views do not run (our schema has none; a migration that brings one changes
 * this, too), cells are checked before they are followed, shadow tables are closed to SQL, and no
 * row makes us allocate more than ROW_MAX. */
#define ROW_MAX (16 * 1024 * 1024)

static const char READER_PRAGMAS[] = "PRAGMA cell_size_check = ON;"
				     "PRAGMA query_only = ON;"
				     "PRAGMA cache_size = -256;"
				     /* Mapped pages count as memory of ours: 47 MiB of them
				      * stood at 100,000 users with all of the file mapped. */
				     "PRAGMA mmap_size = 8388608;";
static const char WRITER_PRAGMAS[] = "PRAGMA cell_size_check = ON;"
				     "PRAGMA synchronous = FULL;"
				     "PRAGMA wal_autocheckpoint = 0;"
				     "PRAGMA cache_size = -1024;"
				     /* A log that grew once is cut when it starts anew. */
				     "PRAGMA journal_size_limit = 16777216;"
				     /* Zeros over deleted rows only where the page is written
				      * anyway: Debian's default of ON would double the pruning. */
				     "PRAGMA secure_delete = FAST;";

static enum res conn_configure(struct conn *conn, enum conn_mode mode)
{
	/* The planner must not look at bound values: with partial indexes it would compile a
	 * statement anew whenever another value is bound, a fifth of a render. */
	static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_FKEY,
				 SQLITE_DBCONFIG_ENABLE_QPSG};
	static const int off[] = {
		SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_DQS_DML,
		SQLITE_DBCONFIG_DQS_DDL,        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
		SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW};
	int code = SQLITE_OK;

	sqlite3_extended_result_codes(conn->db, 1);
	sqlite3_limit(conn->db, SQLITE_LIMIT_LENGTH, ROW_MAX);
	for (size_t i = 0; code == SQLITE_OK && i < sizeof on / sizeof *on; i++)
		code = sqlite3_db_config(conn->db, on[i], 1, NULL);
	for (size_t i = 0; code == SQLITE_OK && i < sizeof off / sizeof *off; i++)
		code = sqlite3_db_config(conn->db, off[i], 0, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(conn->db, mode == CONN_READER ? READER_PRAGMAS : WRITER_PRAGMAS,
				    NULL, NULL, NULL);
	if (mode == CONN_READER) {
		/* Only while another process recovers or truncates the log. */
		sqlite3_busy_timeout(conn->db, 100);
		sqlite3_progress_handler(conn->db, 4000, reader_is_late, conn);
	}
	return code == SQLITE_OK ? RES_OK : conn_error(conn, code);
}

enum res conn_open(const char *path, enum conn_mode mode, struct conn **out,
		   struct problem *problem)
{
	/* Three more for the reader's own BEGIN, first look and END. */
	unsigned slots = mode == CONN_READER ? READER_STATEMENTS + 3 : WRITER_STATEMENTS;
	int flags = mode == CONN_READER ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	struct conn *conn = calloc(1, sizeof *conn + slots * sizeof *conn->slots);
	enum res res = RES_NOMEM;
	int code;

	*out = NULL;
	if (!conn)
		goto out;
	conn->slots_max = slots;
	code = sqlite3_open_v2(path, &conn->db,
			       flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
	if (!conn->db)
		goto out;
	res = code == SQLITE_OK ? conn_configure(conn, mode) : conn_error(conn, code);
	if (res != RES_OK)
		goto out;
	conn_enlist(conn);
	*out = conn;
	return RES_OK;
out:
	problem_set(problem, res, res == RES_CORRUPT ? "database_damaged" : "cannot_open_database",
		    NULL, "The database %.120s cannot be opened: %.60s.%s", path,
		    conn && conn->db && res != RES_FULL ? sqlite3_errmsg(conn->db) : res_text(res),
		    res == RES_CORRUPT ? " Restore a backup." : "");
	if (conn)
		sqlite3_close_v2(conn->db);
	free(conn);
	return res;
}

void conn_close(struct conn *conn)
{
	if (!conn)
		return;
	conn_delist(conn);
	conn_forget_statements(conn);
	sqlite3_close_v2(conn->db);
	free(conn);
}
