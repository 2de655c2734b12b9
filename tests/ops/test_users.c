#include "ops/users_test.h"

static void test_create(void)
{
	struct public_id id;
	struct secrets secrets;
	struct user user;
	uint8_t hash[32];

	world_new();
	id = add_user("{\"name\":\"Ann\",\"display_name\":\"Ann "
		      "A.\",\"note\":\"line\\nline\",\"tag\":\"x\","
		      "\"email\":\"a@b.example\",\"telegram_id\":42,\"language\":\"pt-BR\","
		      "\"meta\":{\"a\":[1,\"b\"]},"
		      "\"expires_unix\":1900000000,\"quota_bytes\":1000,\"quota_period\":\"days\","
		      "\"quota_period_days\":7,\"device_limit\":3,\"hwid_limit\":2}");
	CHECK(public_id_valid(ID_USER, id.text));
	user = get_user(id.text);
	CHECK_TEXT(user.name, "Ann");
	CHECK_TEXT(user.name_key, "ann");
	CHECK_TEXT(user.note, "line\nline");
	CHECK_TEXT(user.meta, "{\"a\":[1,\"b\"]}");
	CHECK_TEXT(user.language, "pt-BR");
	CHECK_INT(user.telegram_id, 42);
	CHECK_INT(user.created_unix, NOW);
	CHECK_INT(user.expires_unix, 1900000000);
	CHECK_INT(user.usage.period_no, 1);
	CHECK_INT(user.usage.period_start_unix, NOW);
	CHECK_INT(user.usage.period_end_unix, NOW + 7 * DAY);
	CHECK_INT(user.version, 1);
	CHECK_INT(user.state, USER_ACTIVE);
	CHECK(user.enabled && user.served);
	secrets = get_secrets(id.text);
	CHECK_INT(strlen(secrets.token), LINK_TOKEN_LEN);
	hash_sha256(secrets.token, LINK_TOKEN_LEN, hash);
	CHECK(memcmp(hash, secrets.token_hash, 32) == 0);
	hash_sha256(secrets.credential, strlen(secrets.credential), hash);
	CHECK(memcmp(hash, secrets.credential_hash, 32) == 0);
	CHECK_INT(changes(), 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM audit WHERE action = 'user.create' AND "
				    "result = 'ok'"),
		  1);
	CHECK_INT(read_i64(w.store,
			   "SELECT count(*) FROM user_search WHERE user_search MATCH '\"Ann\"'"),
		  1);
}

static const char *log_path(void)
{
	static char path[sizeof db_path + 4];

	snprintf(path, sizeof path, "%s-wal", db_path);
	return path;
}

static bool file_holds(const char *path, const char *text)
{
	FILE *file = fopen(path, "rb");
	static char data[4 << 20];
	size_t len;

	if (!file)
		return false;
	len = fread(data, 1, sizeof data, file);
	fclose(file);
	return memmem(data, len, text, strlen(text)) != NULL;
}

/* B003, B140: ours need no escaping, are never alike, and lie nowhere in clear. */
static void test_b003_b140_secrets(void)
{
	char seen[64][64];

	world_new();
	for (int i = 0; i < 32; i++) {
		struct secrets secrets;
		char json[64];

		snprintf(json, sizeof json, "{\"name\":\"user %d\"}", i);
		secrets = get_secrets(add_user(json).text);
		CHECK_INT(strlen(secrets.credential), 24);
		CHECK(strspn(secrets.credential,
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
		      24);
		CHECK(strchr(secrets.credential, '-') != NULL);
		strcpy(seen[2 * i], secrets.credential);
		strcpy(seen[2 * i + 1], secrets.token);
		for (int k = 0; k < 2 * i; k++)
			CHECK(strncmp(seen[k], seen[2 * i], 6) != 0 &&
			      strncmp(seen[k], seen[2 * i + 1], 6) != 0);
	}
	CHECK(file_holds(db_path, "user 31") || file_holds(log_path(), "user 31"));
	for (int i = 0; i < 64; i++)
		CHECK(!file_holds(db_path, seen[i]) && !file_holds(log_path(), seen[i]));
}

/* B082 and its kind: refused with the field's name, nothing stored. */
static void test_b082_refused(void)
{
	static const struct {
		const char *json, *code, *field;
	} rows[] = {
		{"{}",								       "missing_field", "name"             },
		{"{\"name\":\"\"}",							  "out_of_range",  "name"             },
		{"{\"name\":\" a\"}",							"bad_name",      "name"             },
		{"{\"name\":\"a\\u200bb\"}",						 "bad_name",      "name"             },
		{"{\"name\":\"a\\tb\"}",						     "bad_value",     "name"             },
		{"{\"name\":7}",							     "wrong_type",    "name"             },
		{"{\"name\":\"a\",\"nmae\":1}",                                              "unknown_field", "nmae"             },
		{"{\"name\":\"a\",\"expires_unix\":-1}",                                     "out_of_range",  "expires_unix"     },
		{"{\"name\":\"a\",\"expires_unix\":1.5}",                                    "wrong_type",    "expires_unix"     },
		{"{\"name\":\"a\",\"expires_unix\":1e308}",                                  "wrong_type",    "expires_unix"     },
		{"{\"name\":\"a\",\"expires_unix\":253402300800}",                           "out_of_range",  "expires_unix"     },
		{"{\"name\":\"a\",\"expires_unix\":9223372036854775807}",                    "out_of_range",
		 "expires_unix"												  },
		{"{\"name\":\"a\",\"expires_unix\":9223372036854775808}",                    "out_of_range",
		 "expires_unix"												  },
		{"{\"name\":\"a\",\"expires_unix\":\"2026-01-01\"}",                         "wrong_type",    "expires_unix"     },
		{"{\"name\":\"a\",\"expires_unix\":true}",                                   "wrong_type",    "expires_unix"     },
		{"{\"name\":\"a\",\"hold_s\":-1}",                                           "out_of_range",  "hold_s"           },
		{"{\"name\":\"a\",\"hold_s\":315360001}",                                    "out_of_range",  "hold_s"           },
		{"{\"name\":\"a\",\"hold_s\":9223372036854775808}",                          "out_of_range",  "hold_s"           },
		{"{\"name\":\"a\",\"hold_s\":true}",                                         "wrong_type",    "hold_s"           },
		{"{\"name\":\"a\",\"hold_s\":60,\"expires_unix\":1900000000}",               "bad_value",
		 "hold_s"													},
		{"{\"name\":\"a\",\"hold_deadline_unix\":1900000000}",                       "bad_value",
		 "hold_deadline_unix"											    },
		{"{\"name\":\"a\",\"expires_unix\":1900000000,\"expires_in_s\":5}",          "bad_value",
		 "expires_in_s"												  },
		{"{\"name\":\"a\",\"expires_in_s\":0}",                                      "out_of_range",  "expires_in_s"     },
		{"{\"name\":\"a\",\"expires_in_s\":253402300799}",                           "bad_value",     "expires_in_s"     },
		{"{\"name\":\"a\",\"quota_bytes\":-1}",                                      "out_of_range",  "quota_bytes"      },
		{"{\"name\":\"a\",\"quota_bytes\":4611686018427387905}",                     "out_of_range",
		 "quota_bytes"												   },
		{"{\"name\":\"a\",\"quota_period\":\"hour\"}",                               "bad_value",     "quota_period"     },
		{"{\"name\":\"a\",\"quota_period\":\"days\"}",                               "bad_value",     "quota_period_days"},
		{"{\"name\":\"a\",\"quota_period\":\"month\",\"quota_period_days\":3}",      "bad_value",
		 "quota_period_days"											     },
		{"{\"name\":\"a\",\"quota_period_days\":3}",                                 "bad_value",     "quota_period_days"},
		{"{\"name\":\"a\",\"quota_period_days\":3651}",                              "out_of_range",
		 "quota_period_days"											     },
		{"{\"name\":\"a\",\"device_limit\":257}",                                    "out_of_range",  "device_limit"     },
		{"{\"name\":\"a\",\"hwid_limit\":-2}",                                       "out_of_range",  "hwid_limit"       },
		{"{\"name\":\"a\",\"telegram_id\":4503599627370497}",                        "out_of_range",
		 "telegram_id"												   },
		{"{\"name\":\"a\",\"email\":\"nobody\"}",                                    "bad_value",     "email"            },
		{"{\"name\":\"a\",\"email\":\"a@b@c\"}",                                     "bad_value",     "email"            },
		{"{\"name\":\"a\",\"language\":\"EN\"}",                                     "bad_value",     "language"         },
		{"{\"name\":\"a\",\"language\":\"en-\"}",                                    "bad_value",     "language"         },
		{"{\"name\":\"a\",\"meta\":[]}",                                             "wrong_type",    "meta"             },
		{"{\"name\":\"a\",\"groups\":{}}",                                           "wrong_type",    "groups"           },
		{"{\"name\":\"a\",\"groups\":[1]}",                                          "wrong_type",    "groups[0]"        },
		{"{\"name\":\"a\",\"groups\":[\"nobody\"]}",                                 "unknown_id",    "groups[0]"        },
		{"{\"name\":\"a\",\"groups\":[\"grp_aaaaaaaaaaaaaaaaaaaaaaaaaa\"]}",         "unknown_id",
		 "groups[0]"												     },
		{"{\"name\":\"a\",\"excluded_nodes\":[\"nod_aaaaaaaaaaaaaaaaaaaaaaaaaa\"]}",
		 "unknown_id",										"excluded_nodes[0]"},
		{"{\"name\":\"a\",\"credential\":\"\"}",                                     "out_of_range",  "credential"       },
		{"{\"name\":\"a\",\"credential\":\"a\\u0007\"}",                             "bad_value",     "credential"       },
	};

	world_new();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct user_create create = {0};
		enum res res = read_input(rows[i].json, user_fields, USER_FIELDS, &create.input,
					  &create.input.present);

		if (res == RES_OK)
			res = run(op_user_create, &create);
		if (res != RES_INVALID || strcmp(w.problem.field, rows[i].field) != 0 ||
		    strcmp(w.problem.code, rows[i].code) != 0)
			TEST_FAIL("%s: %s, %s %s (%s)", rows[i].json, res_text(res), w.problem.code,
				  w.problem.field, w.problem.detail);
	}
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user"), 0);
	CHECK_INT(read_i64(w.store,
			   "SELECT count(*) FROM user_search WHERE user_search MATCH '\"aaa\"'"),
		  0);
	CHECK_INT(changes(), 0);
}

static void test_meta_too_long(void)
{
	struct user_create create = {0};
	char json[4300] = "{\"name\":\"a\",\"meta\":{\"x\":\"", *end = json + strlen(json);

	world_new();
	memset(end, 'y', 4096);
	strcpy(end + 4096, "\"}}");
	USER_INPUT(create.input, json);
	CHECK_REFUSED(op_user_create, &create, RES_INVALID, "out_of_range", "meta");
}

/* B120: a change of case alone is his own; another's name is taken in every guise. */
static void test_b120_case_only_rename(void)
{
	static const char *const taken[] = {"{\"name\":\"TEST\"}", "{\"name\":\"test\"}",
					    ("{\"name\":\"\xef\xbc\xb4"
					     "est\"}"),
					    "{\"name\":\"te\xc5\xbft\"}"};
	struct public_id id, other;
	struct user user;

	world_new();
	id = add_user("{\"name\":\"test\"}");
	other = add_user("{\"name\":\"test2\"}");
	CHECK_INT(patch_user(id.text, "{\"name\":\"Test\"}"), RES_OK);
	user = get_user(id.text);
	CHECK_TEXT(user.name, "Test");
	CHECK_INT(user.version, 2);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user"), 2);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		int64_t before = changes();

		CHECK_INT(patch_user(other.text, taken[i]), RES_CONFLICT);
		CHECK_TEXT(w.problem.code, "name_taken");
		CHECK_TEXT(w.problem.field, "name");
		CHECK_INT(changes(), before);
		CHECK_TEXT(get_user(other.text).name, "test2");
	}
}

static void test_look_alike_composition(void)
{
	struct user_create create = {0};

	world_new();
	add_user("{\"name\":\"Ren\\u00e9\"}");
	USER_INPUT(create.input, "{\"name\":\"Rene\\u0301\"}");
	CHECK_REFUSED(op_user_create, &create, RES_CONFLICT, "name_taken", "name");
}

struct again {
	struct user_target target;
	struct user_create create;
};

static enum res delete_then_create(struct op *op, void *arg)
{
	struct again *again = arg;
	enum res res = op_user_delete(op, &again->target);

	return res == RES_OK ? op_user_create(op, &again->create) : res;
}

/* B122: a name is free at once, also within one job; so is an imported credential. */
static void test_b122_name_free_at_once(void)
{
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"Bob\",\"credential\":\"old/secret+=\"}");
	for (int i = 0; i < 100; i++) {
		struct again again = {.target = {.public_id = id.text}};

		USER_INPUT(again.create.input,
			   "{\"name\":\"bob\",\"credential\":\"old/secret+=\"}");
		CHECK_RUN(delete_then_create, &again);
		CHECK(strcmp(id.text, again.create.public_id.text) != 0);
		id = again.create.public_id;
	}
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user WHERE name_key = 'bob'"), 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM credential"), 1);
	CHECK_INT(read_i64(w.store,
			   "SELECT count(*) FROM user_search WHERE user_search MATCH '\"bob\"'"),
		  1);
}

static void test_credential_taken(void)
{
	struct user_create create = {0};

	world_new();
	add_user("{\"name\":\"a\",\"credential\":\"p\xc3\xa4ss w@rd/+=\"}");
	USER_INPUT(create.input, "{\"name\":\"b\",\"credential\":\"p\xc3\xa4ss w@rd/+=\"}");
	CHECK_REFUSED(op_user_create, &create, RES_CONFLICT, "credential_taken", "credential");
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user"), 1);
}

static void test_delete(void)
{
	struct public_id id, group;
	struct user_target target = {0};
	char json[128];

	world_new();
	group = add_group("{\"name\":\"g\"}");
	snprintf(json, sizeof json, "{\"name\":\"a\",\"quota_period\":\"day\",\"groups\":[\"%s\"]}",
		 group.text);
	id = add_user(json);
	target.public_id = id.text;
	CHECK_RUN(op_user_delete, &target);
	CHECK_REFUSED(op_user_delete, &target, RES_NOT_FOUND, "not_found", "");
	CHECK_INT(patch_user(id.text, "{\"note\":\"x\"}"), RES_NOT_FOUND);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user WHERE state = 'deleted' AND "
				    "deleted_unix = 1800000000"
				    " AND name_key IS NULL AND sub_token_hash IS NULL AND "
				    "sub_token_sealed IS NULL"
				    " AND served = 0 AND record_hash = x''"),
		  1);
	CHECK_INT(read_i64(w.store, "SELECT (SELECT count(*) FROM credential) + (SELECT count(*) "
				    "FROM user_group)"
				    " + (SELECT count(*) FROM user_period)"),
		  0);
	CHECK_INT(read_i64(w.store, "SELECT sum = zeroblob(32) FROM group_"), 1);
}

/* Nothing new: no version, no change record, no audit. */
static void test_patch_unchanged(void)
{
	static const char *const same[] = {"{}",
					   "{\"name\":\"a\"}",
					   "{\"note\":\"\",\"enabled\":true}",
					   "{\"quota_bytes\":5,\"quota_period\":\"none\"}",
					   "{\"groups\":[]}",
					   "{\"meta\":{ }}"};
	struct public_id id;
	int64_t before, audits;

	world_new();
	id = add_user("{\"name\":\"a\",\"quota_bytes\":5}");
	before = changes();
	audits = read_i64(w.store, "SELECT count(*) FROM audit");
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		CHECK_INT(patch_user(id.text, same[i]), RES_OK);
	CHECK_INT(changes(), before);
	CHECK_INT(get_user(id.text).version, 1);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM audit"), audits);
	CHECK_INT(patch_user(id.text, "{\"note\":\"new\"}"), RES_OK);
	CHECK_INT(get_user(id.text).version, 2);
	CHECK_INT(changes(), before + 1);
}

static void test_if_match(void)
{
	struct user_patch patch = {0};
	struct public_id id;

	world_new();
	id = add_user("{\"name\":\"a\"}");
	CHECK_INT(patch_user(id.text, "{\"note\":\"x\"}"), RES_OK);
	patch.target = (struct user_target){.public_id = id.text, .if_match = 1};
	USER_INPUT(patch.input, "{\"note\":\"y\"}");
	CHECK_INT(run(op_user_patch, &patch), RES_PRECONDITION);
	CHECK_TEXT(get_user(id.text).note, "x");
	patch.target.if_match = 2;
	CHECK_RUN(op_user_patch, &patch);
	CHECK_TEXT(get_user(id.text).note, "y");
}

static void test_dry_run(void)
{
	struct user_create create = {0};

	world_new();
	USER_INPUT(create.input, "{\"name\":\"a\"}");
	CHECK_INT(run_call(op_user_create, &create, true), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user"), 0);
	CHECK_INT(changes(), 0);
}

static void test_sets(void)
{
	struct public_id groups[3], id;
	struct user_patch patch = {0};
	char json[256];

	world_new();
	for (int i = 0; i < 3; i++) {
		snprintf(json, sizeof json, "{\"name\":\"g%d\"}", i);
		groups[i] = add_group(json);
	}
	snprintf(json, sizeof json, "{\"name\":\"a\",\"groups\":[\"%s\",\"%s\"]}", groups[1].text,
		 groups[0].text);
	id = add_user(json);
	CHECK_INT(read_i64(w.store, "SELECT group_concat(group_id) = '1,2' FROM user_group"), 1);
	snprintf(json, sizeof json, "{\"groups\":[\"%s\",\"%s\"]}", groups[2].text, groups[1].text);
	CHECK_INT(patch_user(id.text, json), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT group_concat(group_id) = '2,3' FROM user_group"), 1);
	CHECK_INT(get_user(id.text).version, 2);
	snprintf(json, sizeof json, "{\"groups\":[\"%s\",\"%s\"]}", groups[2].text, groups[2].text);
	patch.target.public_id = id.text;
	USER_INPUT(patch.input, json);
	CHECK_REFUSED(op_user_patch, &patch, RES_INVALID, "duplicate", "groups[1]");
	CHECK_INT(patch_user(id.text, "{\"groups\":[]}"), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user_group"), 0);
}

/* Another period: what was used stays, and so does the start; the end is the new one. */
static void test_period_changed(void)
{
	struct public_id id;
	struct user user;

	world_new();
	id = add_user("{\"name\":\"a\",\"quota_bytes\":100,\"quota_period\":\"rolling30\"}");
	use_bytes(get_user(id.text).id, 60);
	go_on(DAY);
	CHECK_INT(patch_user(id.text, "{\"quota_period\":\"days\",\"quota_period_days\":3}"),
		  RES_OK);
	user = get_user(id.text);
	CHECK_INT(user.usage.period_start_unix, NOW);
	CHECK_INT(user.usage.period_end_unix, NOW + 3 * DAY);
	CHECK_INT(user_used_bytes(&user, now_unix()), 60);
	CHECK_INT(patch_user(id.text, "{\"quota_period\":\"none\"}"), RES_OK);
	user = get_user(id.text);
	CHECK_INT(user.usage.period_end_unix, 0);
	CHECK_INT(user.quota_period_days, 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user_period"), 0);
}

static void test_hold(void)
{
	struct public_id id;
	struct user user;

	world_new();
	id = add_user("{\"name\":\"a\",\"hold_s\":86400,\"hold_deadline_unix\":1800000100}");
	user = get_user(id.text);
	CHECK_INT(user.state, USER_ON_HOLD);
	CHECK_INT(user.hold_no, 1);
	CHECK(user.served);
	CHECK_INT(patch_user(id.text, "{\"hold_s\":90000}"), RES_OK); /* the same hold, longer */
	CHECK_INT(get_user(id.text).hold_no, 1);
	CHECK_INT(patch_user(id.text, "{\"expires_unix\":1900000000}"), RES_OK);
	user = get_user(id.text);
	CHECK_INT(user.hold_s, 0);
	CHECK_INT(user.hold_deadline_unix, 0);
	CHECK_INT(user.state, USER_ACTIVE);
	CHECK_INT(patch_user(id.text, "{\"hold_s\":60}"), RES_OK); /* a new one */
	user = get_user(id.text);
	CHECK_INT(user.hold_no, 2);
	CHECK_INT(user.expires_unix, 0);
	CHECK_INT(user.state, USER_ON_HOLD);
}

/* A reseller sees and moves his own users only. */
static void test_reseller(void)
{
	struct public_id mine, other;

	world_new();
	other = add_user("{\"name\":\"a\"}");
	CHECK_INT(
		outside_i64(db_path,
			    "INSERT INTO admin (id, public_id, name, name_key, role, password_hash,"
			    " created_unix) VALUES (7, 'adm_x', 'r', 'r', 'reseller', '', 1) "
			    "RETURNING 1"),
		1);
	w.actor = (struct actor){
		.kind = ACTOR_ADMIN, .admin_id = 7, .role = ROLE_RESELLER, .rights = RIGHTS_ALL};
	strcpy(w.actor.public_id.text, "adm_x");
	mine = add_user("{\"name\":\"b\"}");
	CHECK_INT(get_user(mine.text).owner_admin_id, 7);
	CHECK_INT(patch_user(mine.text, "{\"note\":\"x\"}"), RES_OK);
	CHECK_INT(patch_user(other.text, "{\"note\":\"x\"}"), RES_NOT_FOUND);
}

TEST_MAIN(TEST(test_create), TEST(test_b003_b140_secrets), TEST(test_b082_refused),
	  TEST(test_meta_too_long), TEST(test_b120_case_only_rename),
	  TEST(test_look_alike_composition), TEST(test_b122_name_free_at_once),
	  TEST(test_credential_taken), TEST(test_delete), TEST(test_patch_unchanged),
	  TEST(test_if_match), TEST(test_dry_run), TEST(test_sets), TEST(test_period_changed),
	  TEST(test_hold), TEST(test_reseller))
