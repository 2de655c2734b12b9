/* API tokens: who may make which, and what is kept of them. */
#include "auth/auth_test.h"

#include "hythe/ops/admins.h"
#include "hythe/ops/tokens.h"

static struct json_doc *doc;
static char text[512];

static void with_rights(struct token_create *create, const char *rights)
{
	json_free(doc);
	snprintf(text, sizeof text, "%s", rights);
	CHECK_INT(json_parse(text, strlen(text), &doc, NULL), RES_OK);
	create->input.rights = json_root(doc);
	create->input.present |= 1u << TOKEN_F_RIGHTS;
}

static enum res make(const struct actor *actor, const char *rights, struct token_create *create)
{
	create->input.name = "ci";
	create->input.present |= 1u << TOKEN_F_NAME;
	with_rights(create, rights);
	return run_as(actor, op_token_create, create);
}

static struct actor admin(const char *name, enum role role)
{
	struct admin_create create = {
		.input = {.name = name,
			  .role = (int)role,
			  .present = 1u << ADMIN_F_NAME | 1u << ADMIN_F_ROLE},
		.password_hash = "x"
        };
	struct actor actor = {.kind = ACTOR_ADMIN, .rights = role_rights(role), .role = role};

	CHECK_INT(run_as(&owner_actor, op_admin_create, &create), RES_OK);
	actor.admin_id = create.id;
	actor.public_id = create.public_id;
	return actor;
}

static void test_rights_lists(void)
{
	static const struct {
		const char *rights, *code, *field;
	} rows[] = {
		{"[\"users.read\"]",                            "",           ""         },
		{"[\"users.read\", \"settings\", \"metrics\"]", "",           ""         },
		{"[]",					  "bad_value",  "rights"   },
		{"{}",					  "wrong_type", "rights"   },
		{"\"users.read\"",                              "wrong_type", "rights"   },
		{"[\"users.read\", \"users.read\"]",            "bad_value",  "rights[1]"},
		{"[\"users.read\", \"all\"]",                   "bad_value",  "rights[1]"},
		{"[1]",					 "bad_value",  "rights[0]"},
		{"[\"signed_in\"]",                             "bad_value",  "rights[0]"},
	};

	bench_begin(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct token_create create = {0};
		enum res res = make(&owner_actor, rows[i].rights, &create);

		CHECK_INT(res == RES_OK, rows[i].code[0] == '\0');
		CHECK_TEXT(b.problem.code, rows[i].code);
		CHECK_TEXT(b.problem.field, rows[i].field);
	}
	CHECK_INT(number_of("SELECT count(*) FROM api_token"), 2);
}

static void test_never_more_than_own(void)
{
	struct token_create create = {0};
	struct actor helper, token;

	bench_begin(NULL);
	helper = admin("Help", ROLE_HELPER);
	CHECK_INT(make(&helper, "[\"users.read\", \"secrets\"]", &create), RES_OK);
	CHECK_INT(make(&helper, "[\"users.read\", \"settings\"]", &create), RES_FORBIDDEN);
	CHECK_TEXT(b.problem.code, "more_rights_than_own");
	CHECK_TEXT(b.problem.field, "rights[1]");
	token = (struct actor){.kind = ACTOR_TOKEN,
			       .admin_id = helper.admin_id,
			       .rights = RIGHT_SIGNED_IN | RIGHT_USERS_READ,
			       .public_id = create.public_id};
	CHECK_INT(make(&token, "[\"users.read\"]", &create), RES_FORBIDDEN); /* no heirs */
}

static void test_expiry(void)
{
	static const struct {
		uint64_t present;
		int64_t at, in, want;
	} rows[] = {
		{0,						0,           0,  0           },
		{1u << TOKEN_F_EXPIRES,                            0,           0,  0           },
		{1u << TOKEN_F_EXPIRES,                            T0_UNIX + 1, 0,  T0_UNIX + 1 },
		{1u << TOKEN_F_EXPIRES_IN,                         0,           60, T0_UNIX + 60},
		{1u << TOKEN_F_EXPIRES,                            T0_UNIX,     0,  -1          },
		{1u << TOKEN_F_EXPIRES,                            1,           0,  -1          },
		{1u << TOKEN_F_EXPIRES | 1u << TOKEN_F_EXPIRES_IN, T0_UNIX + 1, 60, -1          },
	};

	bench_begin(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct token_create create = {
			.input = {.present = rows[i].present,
				  .expires_unix = rows[i].at,
				  .expires_in_s = rows[i].in}
                };

		CHECK_INT(make(&owner_actor, "[\"metrics\"]", &create),
			  rows[i].want < 0 ? RES_INVALID : RES_OK);
		if (rows[i].want >= 0)
			CHECK_INT(number_of("SELECT expires_unix FROM api_token ORDER BY id DESC "
					    "LIMIT 1"),
				  rows[i].want);
	}
}

static void test_only_the_hash_is_kept(void)
{
	struct token_create create = {0};
	char sql[256];

	bench_begin(NULL);
	CHECK_INT(make(&owner_actor, "[\"metrics\"]", &create), RES_OK);
	CHECK(strncmp(create.secret.text, "hyt_", 4) == 0);
	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM api_token, audit WHERE instr(token_hash, '%s') OR "
		 "instr(detail, '%s')",
		 create.secret.text, create.secret.text);
	CHECK_INT(number_of(sql), 0);
	CHECK_INT(number_of("SELECT length(token_hash) FROM api_token"), 32);
	CHECK_INT(number_of("SELECT count(*) FROM audit WHERE action = 'token.create'"), 1);
}

static void test_delete(void)
{
	struct token_create own = {0}, control = {0};
	struct actor helper, other;

	bench_begin(NULL);
	helper = admin("Help", ROLE_HELPER);
	other = admin("Other", ROLE_HELPER);
	CHECK_INT(make(&helper, "[\"users.read\"]", &own), RES_OK);
	CHECK_INT(make(&owner_actor, "[\"users.read\"]", &control), RES_OK);
	CHECK_INT(run_as(&other, op_token_delete, own.public_id.text), RES_NOT_FOUND);
	CHECK_INT(run_as(&helper, op_token_delete, control.public_id.text), RES_NOT_FOUND);
	CHECK_INT(run_as(&helper, op_token_delete, own.public_id.text), RES_OK);
	CHECK_INT(run_as(&helper, op_token_delete, own.public_id.text), RES_NOT_FOUND);
	CHECK_INT(run_as(&owner_actor, op_token_delete, control.public_id.text), RES_OK);
	CHECK_INT(number_of("SELECT count(*) FROM api_token"), 0);
	json_free(doc);
	doc = NULL;
}

TEST_MAIN(TEST(test_rights_lists), TEST(test_never_more_than_own), TEST(test_expiry),
	  TEST(test_only_the_hash_is_kept), TEST(test_delete))
