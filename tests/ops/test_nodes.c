#include "nodes_test.h"

static void test_defaults(void)
{
	struct public_id id;
	struct node n;

	world_new();
	CHECK_OK(create_node("{\"name\":\"Frankfurt\",\"address\":\"DE1.example.net\"}", &id));
	n = get_node(id.text);
	CHECK_TEXT(n.address, "de1.example.net");
	CHECK(n.enabled);
	CHECK_INT(n.usage_factor_percent, 100);
	CHECK_INT(n.traffic_reset_day, 1);
	CHECK_TEXT(n.tags, "");
	CHECK_INT(read_i64(w.store,
			   "SELECT base = zeroblob(32) AND minus = zeroblob(32) FROM node_state"),
		  1);
}

static void test_refused(void)
{
	static const struct {
		const char *json;
		enum res res;
		const char *code, *field;
	} rows[] = {
		{"{}",								     RES_INVALID,  "missing_field", "name"                   },
		{"{\"name\":\"x\"}",						       RES_INVALID,  "missing_field", "address"                },
		{"{\"name\":\"ann\",\"address\":\"a.net\"}",                               RES_CONFLICT, "name_taken",    "name"                   },
 /* the same name by another composition */
		{"{\"name\":\"u\\u0308ber\",\"address\":\"a.net\"}",                       RES_CONFLICT, "name_taken",
		 "name"															    },
		{"{\"name\":\"x\",\"address\":\"a_b.net\"}",                               RES_INVALID,  "bad_address",   "address"                },
		{"{\"name\":\"x\",\"address\":\"[::1]\"}",                                 RES_INVALID,  "bad_address",   "address"                },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"country\":\"D1\"}",              RES_INVALID,
		 "bad_country",											   "country"                },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"country\":\"DEU\"}",             RES_INVALID,
		 "out_of_range",											  "country"                },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"tags\":[\"A\"]}",                RES_INVALID,  "bad_tag",
		 "tags[0]"															 },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"tags\":\"a\"}",                  RES_INVALID,  "wrong_type",
		 "tags"															    },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"usage_factor_percent\":10001}",
		 RES_INVALID,									    "out_of_range",  "usage_factor_percent"   },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"usage_factor_percent\":-1}",     RES_INVALID,
		 "out_of_range",											  "usage_factor_percent"   },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"traffic_allowance_bytes\":1e3}",
		 RES_INVALID,									    "wrong_type",    "traffic_allowance_bytes"},
		{"{\"name\":\"x\",\"address\":\"a.net\",\"traffic_reset_day\":32}",        RES_INVALID,
		 "out_of_range",											  "traffic_reset_day"      },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"city\":\"a\\nb\"}",              RES_INVALID,
		 "bad_value",											     "city"                   },
		{"{\"name\":\"x\",\"address\":\"a.net\",\"enabled\":1}",                   RES_INVALID,  "wrong_type",
		 "enabled"															 },
	};

	world_new();
	add_node("{\"name\":\"Ann\",\"address\":\"a.net\"}");
	add_node("{\"name\":\"\xc3\xbc"
		 "ber\",\"address\":\"a.net\"}");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum res res = create_node(rows[i].json, NULL);

		if (res != rows[i].res || strcmp(w.problem.code, rows[i].code) != 0 ||
		    strcmp(w.problem.field, rows[i].field) != 0)
			TEST_FAIL("%s: %s, %s, %s", rows[i].json, res_text(res), w.problem.code,
				  w.problem.field);
	}
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node"), 2);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_state"), 2);
}

static void test_patch(void)
{
	struct public_id id;
	struct node n;

	world_new();
	id = add_node("{\"name\":\"a\",\"address\":\"a.net\",\"country\":\"de\",\"tags\":[\"b\","
		      "\"a\"],\"note\":\"n\"}");
	CHECK_OK(patch_node(id.text,
			    "{\"tags\":[\"a\",\"b\",\"a\"],\"country\":\"DE\",\"note\":\"n\"}"));
	CHECK_INT(get_node(id.text).version, 1); /* nothing was changed */
	CHECK_OK(patch_node(
		id.text,
		"{\"tags\":null,\"country\":null,\"note\":null,\"traffic_allowance_bytes\":5}"));
	n = get_node(id.text);
	CHECK_INT(n.version, 2);
	CHECK_TEXT(n.tags, "");
	CHECK_TEXT(n.country, "");
	CHECK_TEXT(n.note, "");
	CHECK_INT(n.traffic_allowance_bytes, 5);
	CHECK_TEXT(n.address, "a.net");
	CHECK_OK(patch_node(id.text, "{\"traffic_allowance_bytes\":null}"));
	CHECK_INT(get_node(id.text).traffic_allowance_bytes, 0);
}

static void test_b120_case_only_rename(void)
{
	struct public_id id;

	world_new();
	id = add_node("{\"name\":\"frankfurt\",\"address\":\"a.net\"}");
	CHECK_OK(patch_node(id.text, "{\"name\":\"FRANKFURT\"}"));
	CHECK_TEXT(get_node(id.text).name, "FRANKFURT");
}

static void test_shown_changes_reach_renders(void)
{
	static const struct {
		const char *json;
		int rows;
	} cases[] = {
		{"{\"name\":\"b\"}",               1},
                {"{\"address\":\"b.net\"}",        1},
		{"{\"country\":\"FR\"}",           1},
                {"{\"city\":\"Paris\"}",           1},
		{"{\"note\":\"x\"}",               0},
                {"{\"usage_factor_percent\":200}", 0},
	};
	struct public_id id;

	world_new();
	id = add_node("{\"name\":\"a\",\"address\":\"a.net\"}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t before = changes();

		CHECK_OK(patch_node(id.text, cases[i].json));
		CHECK_INT(changes() - before, cases[i].rows);
	}
}

static void test_lists(void)
{
	struct page page = {.q = "", .tag = "", .after = "", .limit = 2};
	struct node *list;
	struct conn *conn;
	int64_t total;
	size_t count;

	world_new();
	for (int i = 0; i < 5; i++)
		add_node(textf("{\"name\":\"N%d\",\"address\":\"a.net\",\"tags\":[\"t%d\",\"x\"]}",
			       i, i % 2));
	CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
	CHECK_INT(node_list(conn, &page, &w.arena, &list, &count), RES_OK);
	CHECK_INT(count, 2);
	CHECK_TEXT(list[0].name, "N0");
	CHECK_TEXT(list[0].tags, "t0,x");
	page.after = list[1].name_key;
	CHECK_INT(node_list(conn, &page, &w.arena, &list, &count), RES_OK);
	CHECK_TEXT(list[0].name, "N2");
	page = (struct page){.q = "", .tag = "t1", .after = "", .down = true, .limit = 9};
	CHECK_INT(node_list(conn, &page, &w.arena, &list, &count), RES_OK);
	CHECK_INT(count, 2);
	CHECK_TEXT(list[0].name, "N3");
	CHECK_INT(node_total(conn, &page, &total), RES_OK);
	CHECK_INT(total, 2);
	page = (struct page){.q = "4", .tag = "", .after = "", .limit = 9};
	CHECK_INT(node_list(conn, &page, &w.arena, &list, &count), RES_OK);
	CHECK_INT(count, 1);
	store_read_end(conn);
}

static void test_gone(void)
{
	struct public_id id;

	world_new();
	id = add_node("{\"name\":\"a\",\"address\":\"a.net\"}");
	CHECK_OK(delete_node(id.text));
	CHECK_NOT(delete_node(id.text), RES_NOT_FOUND, "not_found", "");
	CHECK_NOT(patch_node(id.text, "{}"), RES_NOT_FOUND, "not_found", "");
	CHECK_OK(create_node("{\"name\":\"A\",\"address\":\"a.net\"}", NULL));
}

TEST_MAIN(TEST(test_defaults), TEST(test_refused), TEST(test_patch),
	  TEST(test_b120_case_only_rename), TEST(test_shown_changes_reach_renders),
	  TEST(test_lists), TEST(test_gone))
