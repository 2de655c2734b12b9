#include "ops/users_test.h"

static struct public_id profile, node;

static void world_with_node(void)
{
	world_new();
	profile = add_profile("{\"name\":\"p\",\"port\":443}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.example.net\",\"tags\":[\"eu\"]}");
	add_inbound(node.text, profile.text);
}

static enum res patch_group(const char *public_id, const char *json)
{
	struct group_patch patch = {.target = {.public_id = public_id}};
	enum res res =
		read_input(json, group_fields, GROUP_FIELDS, &patch.input, &patch.input.present);

	return res == RES_OK ? run(op_group_patch, &patch) : res;
}

static void test_access_gives_records(void)
{
	struct public_id group;
	char json[300];

	world_with_node();
	snprintf(
		json, sizeof json,
		"{\"name\":\"g\",\"note\":\"n\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"},"
		"{\"profile\":\"%s\",\"tag\":\"eu\"},{\"profile\":\"%s\",\"node\":\"%s\"}]}",
		profile.text, profile.text, profile.text, node.text);
	group = add_group(json);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM group_access"), 3);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group_inbound"), 1);
	CHECK_INT(
		read_i64(w.store, "SELECT count(*) FROM change_log WHERE kind = 3 AND gained = 1"),
		1);
	snprintf(json, sizeof json, "{\"access\":[{\"profile\":\"%s\",\"tag\":\"us\"}]}",
		 profile.text);
	CHECK_INT(patch_group(group.text, json), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group_inbound"), 0);
	CHECK_INT(read_i64(w.store, "SELECT version FROM group_"), 2);
}

static void test_patch_unchanged(void)
{
	struct public_id group;
	char json[300];
	int64_t before;

	world_with_node();
	snprintf(json, sizeof json,
		 "{\"name\":\"g\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}",
		 profile.text);
	group = add_group(json);
	before = changes();
	CHECK_INT(patch_group(group.text, json), RES_OK);
	CHECK_INT(patch_group(group.text, "{}"), RES_OK);
	CHECK_INT(read_i64(w.store, "SELECT version FROM group_"), 1);
	CHECK_INT(changes(), before);
	CHECK_INT(patch_group(group.text, "{\"name\":\"G\"}"), RES_OK); /* B120 */
	CHECK_INT(read_i64(w.store, "SELECT version FROM group_ WHERE name = 'G'"), 2);
}

static void test_rules_refused(void)
{
	static const struct {
		const char *rules, *code, *field; /* %p, %n: the ids that are there */
	} rows[] = {
		{"{}",								"wrong_type",    "access"           },
		{"[1]",							       "wrong_type",    "access[0]"        },
		{"[{}]",							      "missing_field", "access[0].profile"},
		{"[{\"profile\":\"P\"}]",					     "bad_value",     "access[0]"        },
		{"[{\"profile\":\"P\",\"nodes\":\"all\",\"tag\":\"x\"}]",             "bad_value",     "access[0]"        },
		{"[{\"profile\":\"P\",\"nodes\":\"some\"}]",                          "bad_value",     "access[0].nodes"  },
		{"[{\"profile\":\"P\",\"nodes\":1}]",                                 "wrong_type",    "access[0].nodes"  },
		{"[{\"profile\":\"P\",\"where\":\"all\"}]",                           "unknown_field", "access[0].where"  },
		{"[{\"profile\":\"P\",\"tag\":\"\"}]",                                "bad_value",     "access[0].tag"    },
		{"[{\"profile\":\"P\",\"tag\":\"EU\"}]",                              "bad_value",     "access[0].tag"    },
		{"[{\"profile\":\"prf_x\",\"nodes\":\"all\"}]",                       "unknown_id",    "access[0].profile"},
		{"[{\"profile\":\"P\",\"node\":\"nod_aaaaaaaaaaaaaaaaaaaaaaaaaa\"}]", "unknown_id",
		 "access[0].node"											 },
		{"[{\"profile\":\"P\",\"tag\":\"a\"},{\"profile\":\"P\",\"nodes\":\"all\"},{"
		 "\"profile\":\"P\",\"tag\":\"a\"}]",                "duplicate",     "access[2].profile"},
	};

	world_with_node();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct group_create create = {0};
		char json[600] = "{\"name\":\"g\",\"access\":";

		for (const char *c = rows[i].rules; *c; c++)
			strncat(json, *c == 'P' ? profile.text : c,
				*c == 'P' ? sizeof profile.text : 1);
		strcat(json, "}");
		INPUT(create.input, json, group_fields, GROUP_FIELDS);
		CHECK_REFUSED(op_group_create, &create, RES_INVALID, rows[i].code, rows[i].field);
	}
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM group_"), 0);
}

static void test_names(void)
{
	struct group_create create = {0};

	world_new();
	add_group("{\"name\":\"Family\"}");
	INPUT(create.input, "{\"name\":\"FAMILY\"}", group_fields, GROUP_FIELDS);
	CHECK_REFUSED(op_group_create, &create, RES_CONFLICT, "name_taken", "name");
	create.input.present = 0;
	CHECK_REFUSED(op_group_create, &create, RES_INVALID, "missing_field", "name");
}

/* Access ends with the first transaction, members leave in short jobs, the name is free at once. */
static void test_delete_in_pieces(void)
{
	struct group_target target = {0};
	struct users_tick tick = {.limit = 100};
	struct public_id group;
	char json[300];
	int64_t version;

	world_with_node();
	snprintf(json, sizeof json,
		 "{\"name\":\"g\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}",
		 profile.text);
	group = add_group(json);
	for (int i = 0; i < 250; i++) {
		snprintf(json, sizeof json, "{\"name\":\"u%d\",\"groups\":[\"%s\"]}", i,
			 group.text);
		add_user(json);
	}
	target.public_id = group.text;
	version = changes();
	CHECK_RUN(op_group_delete, &target);
	CHECK_INT(changes(), version + 101); /* one access record, a hundred users */
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group_inbound"), 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user_group"), 150);
	CHECK_REFUSED(op_group_delete, &target, RES_NOT_FOUND, "not_found", "");
	add_group("{\"name\":\"g\"}");
	for (int i = 0; i < 3; i++)
		CHECK_RUN(op_users_tick, &tick);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM user_group"), 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM group_"), 1);
	CHECK_INT(read_i64(w.store,
			   "SELECT count(*) FROM user WHERE state = 'active' AND version = 1"),
		  250);
}

static bool collect(void *ctx, int64_t user_id, const uint8_t key[STORE_TOKEN_KEY])
{
	(void)key;
	*(int64_t *)ctx += user_id;
	return true;
}

static void test_readers(void)
{
	struct public_id id, group;
	struct user_ref *groups;
	struct user_ref *nodes;
	struct group *list;
	struct conn *conn;
	char json[300];
	size_t count;
	int64_t sum = 0;

	world_with_node();
	add_group("{\"name\":\"beta\"}");
	group = add_group("{\"name\":\"Alpha\"}");
	snprintf(json, sizeof json,
		 "{\"name\":\"u\",\"groups\":[\"%s\"],\"excluded_nodes\":[\"%s\"]}", group.text,
		 node.text);
	id = add_user(json);
	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	CHECK_INT(user_groups(conn, 1, &w.arena, &groups, &count), RES_OK);
	CHECK_INT(count, 1);
	CHECK_TEXT(groups[0].name, "Alpha");
	CHECK_TEXT(groups[0].public_id.text, group.text);
	CHECK_INT(user_excluded_nodes(conn, 1, &w.arena, &nodes, &count), RES_OK);
	CHECK_INT(count, 1);
	CHECK_TEXT(nodes[0].name, "n");
	CHECK_INT(user_tokens_each(conn, collect, &sum), RES_OK);
	CHECK_INT(sum, 1);
	CHECK_INT(group_list(conn, NULL, NULL, 1, &w.arena, &list, &count), RES_OK);
	CHECK_INT(count, 1);
	CHECK_TEXT(list[0].name, "Alpha");
	CHECK_INT(group_list(conn, list[0].name_key, NULL, 5, &w.arena, &list, &count), RES_OK);
	CHECK_INT(count, 1);
	CHECK_TEXT(list[0].name, "beta");
	CHECK_INT(group_list(conn, NULL, "et", 5, &w.arena, &list, &count), RES_OK);
	CHECK_INT(count, 1);
	store_read_end(conn);
	CHECK(id.text[0]);
}

TEST_MAIN(TEST(test_access_gives_records), TEST(test_patch_unchanged), TEST(test_rules_refused),
	  TEST(test_names), TEST(test_delete_in_pieces), TEST(test_readers))
