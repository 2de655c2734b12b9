/* Admins, their sessions, and the first owner. Hashes here are made at a low cost. */
#include "auth/auth_test.h"

#include "hythe/ops/admins.h"
#include "hythe/store/sessions.h"
#include "hythe/util/hash.h"

static struct public_id make(const struct actor *actor, const char *name, enum role role,
			     enum res want)
{
	struct admin_create create = {
		.input = {.name = name,
			  .role = (int)role,
			  .present = 1u << ADMIN_F_NAME | 1u << ADMIN_F_ROLE},
		.password_hash = "$hash of "  /* what it looks like is password.c's matter */
        };

	CHECK_INT(run_as(actor, op_admin_create, &create), want);
	return create.public_id;
}

static struct actor actor_of(const char *public_id, enum role role)
{
	struct actor actor = {.kind = ACTOR_ADMIN, .rights = role_rights(role), .role = role};
	struct admin_account account;
	struct conn *conn;

	CHECK_INT(store_read(b.store, STORE_ADMIN, 1000, &conn), RES_OK);
	CHECK_INT(admin_by_public_id(conn, public_id, &b.arena, &account), RES_OK);
	store_read_end(conn);
	actor.admin_id = account.id;
	actor.public_id = account.public_id;
	return actor;
}

static enum res patch(const struct actor *actor, const char *id, struct admin_input input)
{
	struct admin_patch change = {.target = {.public_id = id}, .input = input};

	return run_as(actor, op_admin_patch, &change);
}

static enum res delete (const struct actor *actor, const char *id, int64_t if_match) {
	struct admin_target target = {.public_id = id, .if_match = if_match}
            ;

	return run_as(actor, op_admin_delete, &target);
}

#define ENABLED(value) ((struct admin_input){.enabled = value, .present = 1u << ADMIN_F_ENABLED})
#define ROLE(value)    ((struct admin_input){.role = value, .present = 1u << ADMIN_F_ROLE})
#define NAME(value)    ((struct admin_input){.name = value, .present = 1u << ADMIN_F_NAME})

static void test_create(void)
{
	struct public_id id;

	bench_begin(NULL);
	id = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	CHECK(public_id_valid(ID_ADMIN, id.text));
	CHECK_INT(number_of("SELECT count(*) FROM admin WHERE name = 'Ann' AND role = 'owner' AND "
			    "enabled = 1"),
		  1);
	CHECK_INT(number_of("SELECT count(*) FROM audit WHERE action = 'admin.create'"), 1);
	CHECK_INT(number_of("SELECT count(*) FROM audit WHERE detail LIKE '%hash%'"), 0);
}

/* B120's kind: a name in other case, composition or width is the same name. */
static void test_b120_same_name(void)
{
	static const char *const same[] = {"ann", "ANN", "Ａｎｎ"};
	struct public_id id;

	bench_begin(NULL);
	id = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	for (size_t i = 0; i < 3; i++) {
		make(&owner_actor, same[i], ROLE_HELPER, RES_CONFLICT);
		CHECK_TEXT(b.problem.code, "name_taken");
		CHECK_TEXT(b.problem.field, "name");
	}
	CHECK_INT(patch(&owner_actor, id.text, NAME("ANN")), RES_OK); /* only its case */
	make(&owner_actor, "bad\u200bname", ROLE_HELPER, RES_INVALID);
	CHECK_TEXT(b.problem.field, "name");
}

static void test_create_needs(void)
{
	struct admin_create create = {.password_hash = "x"};

	bench_begin(NULL);
	CHECK_INT(run_as(&owner_actor, op_admin_create, &create), RES_INVALID);
	CHECK_TEXT(b.problem.field, "name");
	create.input = NAME("Ann");
	CHECK_INT(run_as(&owner_actor, op_admin_create, &create), RES_INVALID);
	CHECK_TEXT(b.problem.field, "role");
}

/* Until his limits are built he could only sign in. */
static void test_no_resellers_yet(void)
{
	struct public_id id;

	bench_begin(NULL);
	make(&owner_actor, "Res", ROLE_RESELLER, RES_INVALID);
	CHECK_TEXT(b.problem.code, "not_supported");
	CHECK_TEXT(b.problem.field, "role");
	id = make(&owner_actor, "Ann", ROLE_HELPER, RES_OK);
	CHECK_INT(patch(&owner_actor, id.text, ROLE(ROLE_RESELLER)), RES_INVALID);
	CHECK_TEXT(b.problem.code, "not_supported");
	CHECK_INT(number_of("SELECT count(*) FROM admin WHERE role = 'reseller'"), 0);
}

static void test_last_owner_stays(void)
{
	struct public_id ann, bob;

	bench_begin(NULL);
	ann = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	CHECK_INT(patch(&owner_actor, ann.text, ENABLED(false)), RES_CONFLICT);
	CHECK_TEXT(b.problem.code, "last_owner");
	CHECK_INT(patch(&owner_actor, ann.text, ROLE(ROLE_HELPER)), RES_CONFLICT);
	CHECK_INT(delete (&owner_actor, ann.text, 0), RES_CONFLICT);
	CHECK_INT(patch(&owner_actor, ann.text, NAME("Anna")), RES_OK);
	bob = make(&owner_actor, "Bob", ROLE_OWNER, RES_OK);
	CHECK_INT(patch(&owner_actor, bob.text, ENABLED(false)), RES_OK);
	CHECK_INT(delete (&owner_actor, ann.text, 0),
		  RES_CONFLICT); /* a disabled owner does not count */
	CHECK_INT(patch(&owner_actor, bob.text, ENABLED(true)), RES_OK);
	CHECK_INT(delete (&owner_actor, ann.text, 0), RES_OK);
	CHECK_INT(delete (&owner_actor, ann.text, 0), RES_NOT_FOUND);
}

static void test_nobody_above_himself(void)
{
	struct actor lesser = owner_actor;
	struct admin_password password = {.password_hash = "new"};
	struct public_id ann, eve;

	bench_begin(NULL);
	ann = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	lesser.kind = ACTOR_TOKEN;
	lesser.rights = RIGHT_SIGNED_IN | RIGHT_ADMINS | RIGHT_USERS_READ | RIGHT_NODES_READ |
			RIGHT_METRICS;
	make(&lesser, "Mallory", ROLE_OWNER, RES_FORBIDDEN);
	CHECK_TEXT(b.problem.code, "more_rights_than_own");
	eve = make(&lesser, "Eve", ROLE_READONLY, RES_OK);
	CHECK_INT(patch(&lesser, eve.text, ROLE(ROLE_OWNER)), RES_FORBIDDEN);
	CHECK_INT(patch(&lesser, ann.text, ENABLED(false)), RES_FORBIDDEN);
	CHECK_INT(delete (&lesser, ann.text, 0), RES_FORBIDDEN);
	password.target.public_id = ann.text;
	CHECK_INT(run_as(&lesser, op_admin_password, &password), RES_FORBIDDEN);
	password.target.public_id = eve.text;
	CHECK_INT(run_as(&lesser, op_admin_password, &password), RES_OK);
}

static void test_versions(void)
{
	struct admin_patch change = {.input = NAME("Anna")};
	struct public_id ann;

	bench_begin(NULL);
	ann = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	change.target = (struct admin_target){.public_id = ann.text, .if_match = 1};
	CHECK_INT(run_as(&owner_actor, op_admin_patch, &change), RES_OK);
	CHECK_INT(run_as(&owner_actor, op_admin_patch, &change), RES_PRECONDITION);
	CHECK_INT(delete (&owner_actor, ann.text, 1), RES_PRECONDITION);
}

static enum res sign_in(const struct actor *actor, const char *seen_hash, struct sign_in *in)
{
	*in = (struct sign_in){.admin_id = actor->admin_id,
			       .seen_hash = seen_hash,
			       .address = "",
			       .user_agent = ""};
	return run_as(actor, op_sign_in, in);
}

static void test_sessions(void)
{
	struct public_id id;
	struct actor ann;
	struct sign_in first, second;

	bench_begin(NULL);
	id = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	ann = actor_of(id.text, ROLE_OWNER);
	CHECK_INT(sign_in(&ann, "$hash of ", &first), RES_OK);
	CHECK_INT(sign_in(&ann, "$hash of ", &second), RES_OK);
	CHECK_INT(sign_in(&ann, "an older hash", &(struct sign_in){0}), RES_UNAUTHORIZED);
	CHECK_INT(number_of("SELECT count(*) FROM admin_session"), 2);
	CHECK_INT(number_of("SELECT signed_in_unix FROM admin"), T0_UNIX);
	ann.session_id = first.session.id;
	CHECK_INT(run_as(&ann, op_session_delete, second.session.public_id.text), RES_OK);
	CHECK_INT(run_as(&ann, op_session_delete, second.session.public_id.text), RES_NOT_FOUND);
	CHECK_INT(run_as(&ann, op_sign_out, NULL), RES_OK);
	CHECK_INT(run_as(&ann, op_sign_out, NULL), RES_OK); /* gone already: what was wanted */
	CHECK_INT(number_of("SELECT count(*) FROM admin_session"), 0);
	CHECK_INT(run_as(&owner_actor, op_sign_out, NULL), RES_CONFLICT);
}

static void test_sessions_of_others(void)
{
	struct public_id ann_id, bob_id;
	struct actor ann, bob;
	struct sign_in in;

	bench_begin(NULL);
	ann_id = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	bob_id = make(&owner_actor, "Bob", ROLE_HELPER, RES_OK);
	ann = actor_of(ann_id.text, ROLE_OWNER);
	bob = actor_of(bob_id.text, ROLE_HELPER);
	CHECK_INT(sign_in(&ann, "$hash of ", &in), RES_OK);
	CHECK_INT(run_as(&bob, op_session_delete, in.session.public_id.text), RES_NOT_FOUND);
	CHECK_INT(sign_in(&bob, "$hash of ", &in), RES_OK);
	CHECK_INT(patch(&owner_actor, bob_id.text, ENABLED(false)), RES_OK);
	CHECK_INT(number_of("SELECT count(*) FROM admin_session"), 1);
	CHECK_INT(sign_in(&bob, "$hash of ", &in), RES_UNAUTHORIZED);
	CHECK_INT(patch(&owner_actor, bob_id.text, ENABLED(true)), RES_OK);
	CHECK_INT(sign_in(&bob, "$hash of ", &in), RES_OK);
	CHECK_INT(delete (&owner_actor, bob_id.text, 0), RES_OK);
	CHECK_INT(number_of("SELECT count(*) FROM admin_session"), 1);
}

static void test_password(void)
{
	struct admin_password change = {.password_hash = "newer"};
	struct public_id id;
	struct actor ann;
	struct sign_in mine, other;

	bench_begin(NULL);
	id = make(&owner_actor, "Ann", ROLE_OWNER, RES_OK);
	ann = actor_of(id.text, ROLE_OWNER);
	CHECK_INT(sign_in(&ann, "$hash of ", &mine), RES_OK);
	CHECK_INT(sign_in(&ann, "$hash of ", &other), RES_OK);
	change.target.public_id = id.text;
	change.seen_hash = "an older hash";
	CHECK_INT(run_as(&ann, op_admin_password, &change), RES_CONFLICT);
	change.seen_hash = "$hash of ";
	change.keep_session_id = mine.session.id;
	CHECK_INT(run_as(&ann, op_admin_password, &change), RES_OK);
	CHECK_INT(number_of("SELECT id FROM admin_session"), mine.session.id);
	CHECK_INT(number_of("SELECT count(*) FROM admin_session"), 1);
	CHECK_INT(sign_in(&ann, "$hash of ", &other), RES_UNAUTHORIZED);
	CHECK_INT(sign_in(&ann, "newer", &other), RES_OK);
}

/* --- The first owner --- */

static enum res live(const char *token)
{
	struct conn *conn;
	enum res res;

	CHECK_INT(store_read(b.store, STORE_ADMIN, 1000, &conn), RES_OK);
	res = owner_link_live(conn, token, strlen(token), clock_unix(&b.clock));
	store_read_end(conn);
	return res;
}

static enum res claim(const char *token, const char *name)
{
	struct actor nobody = {.public_id = {"setup"}};
	struct owner_claim made = {
		.token = token, .token_len = strlen(token), .name = name, .password_hash = "x"};

	return run_as(&nobody, op_owner_claim, &made);
}

/* B134: without an owner only the one-time link gives access, once, for 30 minutes. */
static void test_b134_one_time_link(void)
{
	struct owner_link link = {0}, second = {0};

	bench_begin(NULL);
	CHECK_INT(number_of("SELECT count(*) FROM admin"), 0); /* no default account */
	CHECK_INT(claim("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "Ann"), RES_NOT_FOUND);
	CHECK_INT(run_as(&owner_actor, op_owner_link_create, &link), RES_OK);
	CHECK_INT(link.expires_unix, T0_UNIX + 1800);
	for (int i = 0; i < 3; i++)
		CHECK_INT(live(link.secret.text), RES_OK); /* looking spends nothing */
	CHECK_INT(live("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), RES_NOT_FOUND);
	CHECK_INT(live(""), RES_NOT_FOUND);
	CHECK_INT(claim(link.secret.text, ""), RES_INVALID); /* a refusal does not spend it */
	CHECK_INT(claim(link.secret.text, "Ann"), RES_OK);
	CHECK_INT(claim(link.secret.text, "Bob"), RES_NOT_FOUND);
	CHECK_INT(live(link.secret.text), RES_NOT_FOUND);
	CHECK_INT(number_of("SELECT count(*) FROM admin WHERE role = 'owner'"), 1);
	CHECK_INT(run_as(&owner_actor, op_owner_link_create, &second), RES_CONFLICT);
	CHECK_TEXT(b.problem.code, "owner_exists");
}

static void test_b134_half_an_hour(void)
{
	struct owner_link link = {0};

	bench_begin(NULL);
	CHECK_INT(run_as(&owner_actor, op_owner_link_create, &link), RES_OK);
	bench_pass(1799);
	CHECK_INT(live(link.secret.text), RES_OK);
	bench_pass(1);
	CHECK_INT(live(link.secret.text), RES_NOT_FOUND);
	CHECK_INT(claim(link.secret.text, "Ann"), RES_NOT_FOUND);
	CHECK_INT(number_of("SELECT count(*) FROM admin"), 0);
}

static void test_new_link_ends_the_old(void)
{
	struct owner_link first = {0}, second = {0}, forced = {.force = true};
	struct owner_make owner = {.name = "Ann", .password_hash = "x"};

	bench_begin(NULL);
	CHECK_INT(run_as(&owner_actor, op_owner_link_create, &first), RES_OK);
	CHECK_INT(run_as(&owner_actor, op_owner_link_create, &second), RES_OK);
	CHECK_INT(live(first.secret.text), RES_NOT_FOUND);
	CHECK_INT(live(second.secret.text), RES_OK);
	/* An owner made otherwise leaves no open door. */
	CHECK_INT(run_as(&owner_actor, op_owner_make, &owner), RES_OK);
	CHECK_INT(live(second.secret.text), RES_NOT_FOUND);
	CHECK_INT(run_as(&owner_actor, op_owner_make, &owner), RES_CONFLICT);
	CHECK_INT(run_as(&owner_actor, op_owner_link_create, &forced),
		  RES_OK); /* from the machine itself */
	CHECK_INT(claim(forced.secret.text, "Bob"), RES_OK);
	CHECK_INT(number_of("SELECT count(*) FROM admin WHERE role = 'owner'"), 2);
}

TEST_MAIN(TEST(test_create), TEST(test_b120_same_name), TEST(test_create_needs),
	  TEST(test_no_resellers_yet), TEST(test_last_owner_stays), TEST(test_nobody_above_himself), TEST(test_versions),
	  TEST(test_sessions), TEST(test_sessions_of_others), TEST(test_password),
	  TEST(test_b134_one_time_link), TEST(test_b134_half_an_hour),
	  TEST(test_new_link_ends_the_old))
