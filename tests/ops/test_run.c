/* op_run(): idempotency, dry runs, refusals and their audit. The operation under test writes a
 * setting. */
#include "auth/auth_test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "hythe/store/settings.h"
#include "hythe/util/hash.h"

struct note {
	const char *key, *made;
	enum res refuse; /* after the row was written */
	atomic_int runs;
};

static enum res op_note(struct op *op, void *arg)
{
	struct note *note = arg;
	enum res res;

	atomic_fetch_add(&note->runs, 1);
	if ((res = setting_put_text(op->conn, note->key, "written")) != RES_OK ||
	    (res = txn_change(op->txn, CHANGE_RENDER, 0, 0, false)) != RES_OK)
		return res;
	if (note->made && (res = op_made(op, note->made)) != RES_OK)
		return res;
	if (note->refuse != RES_OK)
		return problem_set(op->problem, note->refuse, "told_to", "the.field",
				   "as the test wants it");
	return op_audit(op, "note.write", note->key, NULL);
}

static enum res run(const struct actor *actor, const char *key, const char *request, bool dry,
		    struct note *note, struct op_outcome *out)
{
	uint8_t hash[SHA256_LEN];
	struct op_call call = {.actor = actor,
			       .idempotency_key = key,
			       .request_hash = hash,
			       .dry_run = dry,
			       .source = STORE_FROM_ADMIN,
			       .status = 201,
			       .action = "note.write",
			       .target = "aim"};

	hash_sha256(request, strlen(request), hash);
	b.problem = (struct problem){0};
	return op_run(&b.ops, &call, op_note, note, &b.arena, out, &b.problem);
}

static bool noted(const char *key)
{
	char sql[128];

	snprintf(sql, sizeof sql, "SELECT count(*) FROM setting WHERE key = '%s'", key);
	return number_of(sql) == 1;
}

static void test_success(void)
{
	struct note note = {.key = "a", .made = "x_1"};
	struct op_outcome out;

	bench_begin(NULL);
	CHECK_INT(run(&owner_actor, NULL, "r", false, &note, &out), RES_OK);
	CHECK(noted("a") && !out.repeated && out.status == 201 && !out.resources);
	CHECK_INT(out.revision, number_of("SELECT max(seq) FROM change_log"));
	CHECK_INT(number_of("SELECT count(*) FROM audit WHERE action = 'note.write' AND result = "
			    "'ok' AND "
			    "actor = 'control' AND target = 'a'"),
		  1);
}

static void test_repeat(void)
{
	struct note note = {.key = "a", .made = "x_1"}, other = {.key = "b"};
	struct op_outcome first, again;

	bench_begin(NULL);
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, &first), RES_OK);
	CHECK_INT(run(&owner_actor, NULL, "r", false, &other, NULL),
		  RES_OK); /* the revision moves on */
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, &again), RES_OK);
	CHECK_INT(note.runs, 1);
	CHECK(again.repeated);
	CHECK_INT(again.status, 201);
	CHECK_INT(again.revision, first.revision);
	CHECK_TEXT(again.resources, "x_1\n");
	CHECK_INT(number_of("SELECT count(*) FROM idempotency"), 1);
}

static void test_key_for_another_request(void)
{
	struct note note = {.key = "a"}, other = {.key = "b"};

	bench_begin(NULL);
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, NULL), RES_OK);
	CHECK_INT(run(&owner_actor, "k", "R", false, &other, NULL), RES_INVALID);
	CHECK_TEXT(b.problem.code, "idempotency_key_reused");
	CHECK_TEXT(b.problem.field, "Idempotency-Key");
	CHECK(!noted("b") && other.runs == 0);
}

static void test_keys_are_each_actors_own(void)
{
	struct actor ann = {.kind = ACTOR_ADMIN, .public_id = {"adm_a"}};
	struct note note = {.key = "a"}, other = {.key = "b"};

	bench_begin(NULL);
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, NULL), RES_OK);
	CHECK_INT(run(&ann, "k", "other", false, &other, NULL), RES_OK);
	CHECK(noted("b"));
}

static void test_a_day_later(void)
{
	struct note note = {.key = "a"}, other = {.key = "b"};

	bench_begin(NULL);
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, NULL), RES_OK);
	bench_pass(86400);
	CHECK_INT(run(&owner_actor, "k", "R", false, &other, NULL), RES_INVALID);
	bench_pass(1);
	CHECK_INT(run(&owner_actor, "k", "R", false, &other, NULL), RES_OK);
	CHECK(noted("b"));
}

static void test_bad_keys(void)
{
	static const char *const keys[] = {"", "a b", "a\n", "\xc3\xa4"};
	struct note note = {.key = "a"};
	char longest[130] = {0};

	bench_begin(NULL);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		CHECK_INT(run(&owner_actor, keys[i], "r", false, &note, NULL), RES_INVALID);
		CHECK_TEXT(b.problem.field, "Idempotency-Key");
	}
	memset(longest, 'k', 129);
	CHECK_INT(run(&owner_actor, longest, "r", false, &note, NULL), RES_INVALID);
	longest[128] = '\0';
	CHECK_INT(note.runs, 0);
	CHECK_INT(run(&owner_actor, longest, "r", false, &note, NULL), RES_OK);
}

static void test_dry_run_leaves_nothing(void)
{
	struct note note = {.key = "a", .made = "x_1"};
	struct op_outcome out;
	int64_t changes, audits;

	bench_begin(NULL);
	changes = number_of("SELECT count(*) FROM change_log");
	audits = number_of("SELECT count(*) FROM audit");
	CHECK_INT(run(&owner_actor, "k", "r", true, &note, &out), RES_OK);
	CHECK_INT(note.runs, 1);
	CHECK_INT(out.status, 201);
	CHECK(!noted("a"));
	settle_writer();
	CHECK_INT(number_of("SELECT count(*) FROM change_log"), changes);
	CHECK_INT(number_of("SELECT count(*) FROM audit"), audits);
	CHECK_INT(number_of("SELECT count(*) FROM idempotency"), 0);
}

static void test_dry_run_refuses_too(void)
{
	struct note note = {.key = "a", .refuse = RES_CONFLICT};
	int64_t audits;

	bench_begin(NULL);
	audits = number_of("SELECT count(*) FROM audit");
	CHECK_INT(run(&owner_actor, NULL, "r", true, &note, NULL), RES_CONFLICT);
	CHECK_TEXT(b.problem.code, "told_to");
	settle_writer();
	CHECK_INT(number_of("SELECT count(*) FROM audit"), audits);
}

static void test_refusal_is_undone_and_audited(void)
{
	struct note note = {.key = "a", .refuse = RES_INVALID};

	bench_begin(NULL);
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, NULL), RES_INVALID);
	CHECK_TEXT(b.problem.field, "the.field");
	settle_writer();
	CHECK(!noted("a"));
	CHECK_INT(number_of("SELECT count(*) FROM idempotency"), 0);
	CHECK_INT(number_of("SELECT count(*) FROM audit WHERE action = 'note.write' AND target = "
			    "'aim' AND "
			    "result = 'told_to' AND json_extract(detail, '$.field') = 'the.field'"),
		  1);
	note.refuse = RES_OK; /* a refusal is not remembered under its key */
	CHECK_INT(run(&owner_actor, "k", "r", false, &note, NULL), RES_OK);
}

static void test_faults_are_not_audited(void)
{
	struct note note = {.key = "a", .refuse = RES_IO};
	struct actor timer = {.kind = ACTOR_TIMER, .public_id = {"timer"}};
	int64_t audits;

	bench_begin(NULL);
	audits = number_of("SELECT count(*) FROM audit");
	CHECK_INT(run(&owner_actor, NULL, "r", false, &note, NULL), RES_IO);
	note.refuse = RES_CONFLICT;
	CHECK_INT(run(&timer, NULL, "r", false, &note, NULL), RES_CONFLICT);
	settle_writer();
	CHECK_INT(number_of("SELECT count(*) FROM audit"), audits);
}

struct racer {
	pthread_t thread;
	struct note *note;
	struct op_outcome out;
	struct arena arena;
	enum res res;
};

static void *race(void *arg)
{
	struct racer *racer = arg;
	uint8_t hash[SHA256_LEN] = {1};
	struct op_call call = {.actor = &owner_actor,
			       .idempotency_key = "same",
			       .request_hash = hash,
			       .source = STORE_FROM_ADMIN,
			       .status = 201};

	racer->res = op_run(&b.ops, &call, op_note, racer->note, &racer->arena, &racer->out, NULL);
	return NULL;
}

/* Equal requests at the same moment: one is done, the others are told what it did. */
static void test_one_of_many_at_once(void)
{
	struct note note = {.key = "a", .made = "x_1"};
	struct racer racers[8];
	int repeated = 0;

	bench_begin(NULL);
	for (size_t i = 0; i < 8; i++) {
		racers[i] = (struct racer){.note = &note};
		arena_init(&racers[i].arena, 65536);
		CHECK_INT(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
	}
	for (size_t i = 0; i < 8; i++)
		pthread_join(racers[i].thread, NULL);
	for (size_t i = 0; i < 8; i++) {
		CHECK_INT(racers[i].res, RES_OK);
		CHECK_INT(racers[i].out.revision, racers[0].out.revision);
		repeated += racers[i].out.repeated;
		arena_free(&racers[i].arena);
	}
	CHECK_INT(note.runs, 1);
	CHECK_INT(repeated, 7);
}

static enum res op_look(struct op *op, void *arg)
{
	CHECK(op->vault && op->settings && op->zone && op->arena && op->conn);
	CHECK_INT(op->now_unix, T0_UNIX);
	CHECK_INT(op_check_version(op, 0, 7), RES_OK);
	CHECK_INT(op_check_version(op, 7, 7), RES_OK);
	CHECK_INT(op_event(op, "test", "info", "x_1", NULL), RES_OK);
	*(bool *)arg = true;
	return op_check_version(op, 6, 7);
}

static void test_what_an_operation_has(void)
{
	bool looked = false;

	bench_begin(NULL);
	CHECK_INT(run_as(&owner_actor, op_look, &looked), RES_PRECONDITION);
	CHECK_TEXT(b.problem.code, "version_mismatch");
	CHECK_TEXT(b.problem.field, "If-Match");
	CHECK(looked);
	CHECK_INT(number_of("SELECT count(*) FROM event"), 0);
}

static enum res op_fails(struct op *op, void *arg)
{
	(void)op;
	return *(const enum res *)arg;
}

/* What nobody gave a code of its own has that of its result. */
static void test_codes_of_results(void)
{
	static const struct {
		enum res res;
		const char *code;
	} rows[] = {
		{RES_FULL,    "disk_full"    },
		{RES_CORRUPT, "damaged"      },
		{RES_NOMEM,   "out_of_memory"},
		{RES_BUSY,    "busy"         },
		{RES_IO,      "io_error"     },
	};

	bench_begin(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum res res = rows[i].res;

		CHECK_INT(run_as(&owner_actor, op_fails, &res), res);
		CHECK_TEXT(b.problem.code, rows[i].code);
	}
}

TEST_MAIN(TEST(test_success), TEST(test_codes_of_results), TEST(test_repeat), TEST(test_key_for_another_request),
	  TEST(test_keys_are_each_actors_own), TEST(test_a_day_later), TEST(test_bad_keys),
	  TEST(test_dry_run_leaves_nothing), TEST(test_dry_run_refuses_too),
	  TEST(test_refusal_is_undone_and_audited), TEST(test_faults_are_not_audited),
	  TEST(test_one_of_many_at_once), TEST(test_what_an_operation_has))
