#include "store_internal.h"

#include "hythe/util/log.h"

static struct txn_mark mark_now(const struct txn *txn)
{
	return (struct txn_mark){.changes = txn->changes->count,
				 .undo = txn->sums->undo_count,
				 .last_seq = txn->changes->last_seq};
}

/* What is kept in memory goes back with the rows. */
static void back_to(struct txn *txn, const struct txn_mark *mark)
{
	txn->changes->count = mark->changes;
	txn->changes->last_seq = mark->last_seq;
	sums_undo_to(txn->sums, mark->undo);
}

/* A savepoint that cannot be closed leaves rows that nobody answers for: the group must go. */
static enum res must(struct conn *conn, enum res res)
{
	if (res != RES_OK && conn->sick == RES_OK)
		conn->sick = res;
	return res;
}

struct conn *txn_conn(struct txn *txn)
{
	return txn->conn;
}

enum res txn_nest(struct txn *txn)
{
	enum res res;

	if (txn->depth >= NEST_MAX) {
		log_error("store_nested_too_deep", "depth=%u", txn->depth);
		return RES_INTERNAL;
	}
	if ((res = conn_exec(txn->conn, "SAVEPOINT part")) == RES_OK)
		txn->marks[++txn->depth] = mark_now(txn);
	return res;
}

enum res txn_nest_end(struct txn *txn, bool keep)
{
	enum res res = RES_OK;

	if (txn->depth == 0) {
		log_error("store_nest_end_without_nest", "keep=%d", keep);
		return RES_INTERNAL;
	}
	if (!keep) {
		back_to(txn, &txn->marks[txn->depth]);
		res = must(txn->conn, conn_exec(txn->conn, "ROLLBACK TO part"));
	}
	if (res == RES_OK)
		res = must(txn->conn, conn_exec(txn->conn, "RELEASE part"));
	if (--txn->depth == 0)
		txn->sums->undo_count = 0; /* the whole job's sums go together from here on */
	return res;
}

/* A foreign key that is checked at COMMIT would fail the neighbours; it is this job's affair. */
static bool leaves_orphans(struct conn *conn)
{
	int now = 0, high = 0;

	sqlite3_db_status(conn->db, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &high, 0);
	return now != 0;
}

static enum res job_end(struct txn *txn)
{
	enum res res;

	if (txn->depth > 0) {
		log_error("store_job_left_nest_open", "depth=%u", txn->depth);
		return RES_INTERNAL;
	}
	if ((res = sums_flush(txn->sums, txn->conn)) != RES_OK)
		return res;
	if (leaves_orphans(txn->conn))
		return RES_CONFLICT;
	return conn_exec(txn->conn, "RELEASE job");
}

static void job_undo(struct txn *txn)
{
	txn->sums->undo_count = 0;
	txn->changes->count = txn->marks[0].changes;
	txn->changes->last_seq = txn->marks[0].last_seq;
	if (must(txn->conn, conn_exec(txn->conn, "ROLLBACK TO job")) == RES_OK)
		must(txn->conn, conn_exec(txn->conn, "RELEASE job"));
}

enum res txn_run(struct txn *txn, store_job job, void *arg)
{
	enum res res;

	sums_reset(txn->sums);
	txn->depth = 0;
	txn->marks[0] = mark_now(txn);
	if ((res = conn_exec(txn->conn, "SAVEPOINT job")) != RES_OK)
		return res;
	res = job(txn, arg);
	conn_settle(txn->conn);
	if (res == RES_OK)
		res = job_end(txn);
	if (res != RES_OK)
		job_undo(txn);
	return res;
}
