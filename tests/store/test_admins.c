/* Rows of admins, sessions and tokens: what is written reads back, and who goes takes his own with
 * him. */
#include "auth/auth_test.h"

#include "hythe/store/admins.h"
#include "hythe/store/prune.h"
#include "hythe/store/sessions.h"
#include "hythe/store/tokens.h"

static void in_job(store_job job)
{
	bench_dir();
	bench_store();
	CHECK_INT(store_write(b.store, STORE_FROM_ADMIN, job, NULL, 5000, NULL), RES_OK);
}

static struct admin_account account(const char *name)
{
	struct admin_account made = {.name = name,
				     .name_key = name,
				     .role = "owner",
				     .password_hash = "$hash",
				     .language = "en",
				     .created_unix = T0_UNIX,
				     .enabled = true};

	public_id_new(ID_ADMIN, &made.public_id);
	return made;
}

/* Checks end the case by a jump, which must not leave the writer thread: a job says false instead.
 */
#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);             \
			return RES_INTERNAL;                                                       \
		}                                                                                  \
	} while (0)

static enum res admins_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	struct admin_account ann = account("ann"), bob = account("bob"), twin = account("ann"),
			     *page, got;
	int64_t count;
	size_t n;

	(void)arg;
	NEED(admin_insert(conn, &ann) == RES_OK && ann.id > 0);
	NEED(admin_insert(conn, &bob) == RES_OK && bob.id > ann.id);
	NEED(admin_insert(conn, &twin) == RES_CONFLICT);
	NEED(admin_by_name_key(conn, "ann", &b.arena, &got) == RES_OK && got.id == ann.id);
	NEED(admin_by_public_id(conn, bob.public_id.text, &b.arena, &got) == RES_OK &&
	     got.id == bob.id);
	NEED(strcmp(got.role, "owner") == 0 && got.enabled && got.version == 1 &&
	     got.created_unix == T0_UNIX);
	NEED(admin_by_id(conn, 999, &b.arena, &got) == RES_NOT_FOUND);
	bob.role = "helper";
	bob.enabled = false;
	NEED(admin_update(conn, &bob) == RES_OK);
	NEED(admin_by_id(conn, bob.id, &b.arena, &got) == RES_OK && got.version == 2 &&
	     !got.enabled);
	NEED(admins_count_owners(conn, &count) == RES_OK && count == 1);
	NEED(admins_count(conn, &count) == RES_OK && count == 2);
	NEED(admins_page(conn, 0, 1, &b.arena, &page, &n) == RES_OK && n == 1 &&
	     page[0].id == ann.id);
	NEED(admins_page(conn, ann.id, 10, &b.arena, &page, &n) == RES_OK && n == 1 &&
	     page[0].id == bob.id);
	bob.role = "root"; /* the table itself refuses what is no role */
	NEED(admin_update(conn, &bob) == RES_CONFLICT);
	return RES_OK;
}

static void test_admins(void)
{
	in_job(admins_job);
}

static enum res sessions_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	struct admin_account ann = account("ann");
	struct session first = {.created_unix = T0_UNIX,
				.last_seen_unix = T0_UNIX,
				.expires_unix = T0_UNIX + 100},
		       second = first, *list;
	struct session_found found;
	uint8_t one[SHA256_LEN] = {1}, two[SHA256_LEN] = {2};
	int64_t count;
	size_t n;

	(void)arg;
	NEED(admin_insert(conn, &ann) == RES_OK);
	first.admin_id = second.admin_id = ann.id;
	public_id_new(ID_SESSION, &first.public_id);
	public_id_new(ID_SESSION, &second.public_id);
	NEED(session_insert(conn, &first, one) == RES_OK &&
	     session_insert(conn, &second, two) == RES_OK);
	NEED(session_by_token(conn, two, &found) == RES_OK && found.id == second.id &&
	     found.admin_id == ann.id);
	NEED(strcmp(found.role, "owner") == 0 && found.enabled &&
	     strcmp(found.admin.text, ann.public_id.text) == 0);
	NEED(session_by_token(conn, (uint8_t[SHA256_LEN]){3}, &found) == RES_NOT_FOUND);
	NEED(session_touch(conn, second.id, T0_UNIX + 50) == RES_OK &&
	     session_touch(conn, second.id, 5) == RES_OK);
	NEED(session_by_token(conn, two, &found) == RES_OK && found.last_seen_unix == T0_UNIX + 50);
	NEED(sessions_of_admin(conn, ann.id, 10, &b.arena, &list, &n) == RES_OK && n == 2 &&
	     list[0].id == second.id);
	NEED(session_delete_own(conn, ann.id + 1, first.public_id.text) == RES_NOT_FOUND);
	NEED(prune_rows(conn, PRUNE_SESSION, T0_UNIX + 100, 10, &count) == RES_OK && count == 0);
	NEED(prune_rows(conn, PRUNE_SESSION, T0_UNIX + 101, 1, &count) == RES_OK && count == 1);
	NEED(prune_rows(conn, PRUNE_SESSION, T0_UNIX + 101, 9, &count) == RES_OK && count == 1);
	NEED(session_by_token(conn, one, &found) == RES_NOT_FOUND);
	NEED(session_insert(conn, &first, one) == RES_OK &&
	     session_insert(conn, &second, two) == RES_OK);
	NEED(sessions_drop(conn, ann.id, first.id) == RES_OK);
	NEED(session_by_token(conn, one, &found) == RES_OK &&
	     session_by_token(conn, two, &found) == RES_NOT_FOUND);
	NEED(admin_delete(conn, ann.id) == RES_OK &&
	     session_by_token(conn, one, &found) == RES_NOT_FOUND);
	return RES_OK;
}

static void test_sessions(void)
{
	in_job(sessions_job);
}

static enum res tokens_job(struct txn *txn, void *arg)
{
	struct conn *conn = txn_conn(txn);
	struct admin_account ann = account("ann");
	struct api_token own = {.name = "own",
				.rights = 6,
				.rate_per_s = 3,
				.created_unix = T0_UNIX,
				.expires_unix = 9},
			 control = {.name = "control", .rights = 256}, got, *page;
	uint8_t one[SHA256_LEN] = {1}, two[SHA256_LEN] = {2};
	struct token_found found;
	int64_t count;
	size_t n;

	(void)arg;
	NEED(admin_insert(conn, &ann) == RES_OK);
	own.admin_id = ann.id;
	public_id_new(ID_TOKEN, &own.public_id);
	public_id_new(ID_TOKEN, &control.public_id);
	NEED(token_insert(conn, &own, one) == RES_OK &&
	     token_insert(conn, &control, two) == RES_OK);
	NEED(token_by_hash(conn, one, &found) == RES_OK && found.rights == 6 &&
	     found.rate_per_s == 3);
	NEED(strcmp(found.role, "owner") == 0 && found.enabled && found.expires_unix == 9);
	NEED(token_by_hash(conn, two, &found) == RES_OK && found.admin_id == 0 && !found.role[0] &&
	     found.enabled);
	NEED(token_by_public_id(conn, own.public_id.text, &b.arena, &got) == RES_OK);
	NEED(strcmp(got.admin_name, "ann") == 0 && strcmp(got.admin.text, ann.public_id.text) == 0);
	NEED(api_tokens_page(conn, -1, 0, 10, &b.arena, &page, &n) == RES_OK && n == 2);
	NEED(api_tokens_page(conn, ann.id, 0, 10, &b.arena, &page, &n) == RES_OK && n == 1 &&
	     page[0].id == own.id);
	NEED(api_tokens_count(conn, -1, &count) == RES_OK && count == 2);
	NEED(token_touch(conn, own.id, 70) == RES_OK && token_touch(conn, own.id, 60) == RES_OK);
	NEED(token_by_hash(conn, one, &found) == RES_OK && found.last_used_unix == 70);
	NEED(admin_delete(conn, ann.id) == RES_OK &&
	     token_by_hash(conn, one, &found) == RES_NOT_FOUND);
	NEED(token_delete(conn, control.id) == RES_OK &&
	     token_by_hash(conn, two, &found) == RES_NOT_FOUND);
	return RES_OK;
}

static void test_tokens(void)
{
	in_job(tokens_job);
}

TEST_MAIN(TEST(test_admins), TEST(test_sessions), TEST(test_tokens))
