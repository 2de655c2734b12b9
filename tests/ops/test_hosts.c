#include "nodes_test.h"

static struct public_id inbound;

static void base(void)
{
	struct public_id profile, node;

	world_new();
	profile = add_profile("{\"name\":\"a\"}");
	node = add_node("{\"name\":\"n\",\"address\":\"n.net\"}");
	inbound = add_inbound(node.text, profile.text);
}

static void test_create(void)
{
	struct public_id id;
	struct host_row row;

	base();
	CHECK_OK(create_host(
		textf("{\"inbound\":\"%s\",\"name\":\"relay\",\"address\":\"R.net\",\"port\":8443,"
		      "\"sort_order\":5,\"hidden\":true,\"formats\":[\"plain\",\"links\"]}",
		      inbound.text),
		&id));
	row = get_host(id.text);
	CHECK_TEXT(row.host.address, "r.net");
	CHECK_TEXT(row.host.formats, "links,plain");
	CHECK_INT(row.host.sort_order, 5);
	CHECK(row.host.enabled && row.host.hidden);
	CHECK_TEXT(row.inbound_public_id.text, inbound.text);
	CHECK_TEXT(row.node_name, "n");
}

static void test_refused(void)
{
	static const struct {
		const char *member, *code, *field;
	} rows[] = {
		{"\"address\":\"a_b\"",    "bad_address",   "address"   },
		{"\"port\":0",             "out_of_range",  "port"      },
		{"\"sni\":\"1.2.3.4\"",    "bad_sni",       "sni"       },
		{"\"sort_order\":1000001", "out_of_range",  "sort_order"},
		{"\"formats\":[\"A\"]",    "bad_format",    "formats[0]"},
		{"\"formats\":\"links\"",  "wrong_type",    "formats"   },
		{"\"name\":\"a\\tb\"",     "bad_value",     "name"      },
		{"\"colour\":1",           "unknown_field", "colour"    },
	};

	base();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_NOT(
			create_host(textf("{\"inbound\":\"%s\",%s}", inbound.text, rows[i].member),
				    NULL),
			RES_INVALID, rows[i].code, rows[i].field);
	CHECK_NOT(create_host("{}", NULL), RES_INVALID, "missing_field", "inbound");
	CHECK_NOT(create_host("{\"inbound\":\"inb_x\"}", NULL), RES_INVALID, "not_found",
		  "inbound");
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM host"), 1);
}

static void test_patch(void)
{
	struct public_id id;
	int64_t before;

	base();
	CHECK_OK(create_host(
		textf("{\"inbound\":\"%s\",\"address\":\"r.net\",\"port\":8443}", inbound.text),
		&id));
	before = changes();
	CHECK_OK(patch_host(
		id.text, textf("{\"inbound\":\"%s\",\"port\":8443,\"formats\":[]}", inbound.text)));
	CHECK_INT(changes(), before);
	CHECK_OK(patch_host(id.text, "{\"address\":null,\"port\":null}"));
	CHECK_INT(changes(), before + 1);
	CHECK_TEXT(get_host(id.text).host.address, "");
	CHECK_INT(get_host(id.text).host.port, 0);
	CHECK_INT(get_host(id.text).host.version, 2);
	CHECK_NOT(patch_host(id.text, "{\"inbound\":\"inb_x\"}"), RES_INVALID, "immutable",
		  "inbound");
}

static void test_last_one_stays(void)
{
	struct public_id id;

	base();
	CHECK_OK(create_host(textf("{\"inbound\":\"%s\"}", inbound.text), &id));
	CHECK_OK(delete_host(id.text));
	CHECK_NOT(delete_host(id.text), RES_NOT_FOUND, "not_found", "");
	CHECK_OK(create_host(textf("{\"inbound\":\"%s\"}", inbound.text), &id));
	CHECK_INT(outside_i64(db_path, "DELETE FROM host WHERE id = 1 RETURNING 1"), 1);
	CHECK_NOT(delete_host(id.text), RES_CONFLICT, "last_host", "");
}

/* Equal orders are walked once, by id. */
static void test_list_walks_once(void)
{
	struct host_page page = {.q = "", .limit = 2};
	size_t count, seen = 0;
	struct host_row *list;
	struct conn *conn;

	base();
	for (int i = 0; i < 6; i++)
		CHECK_OK(create_host(
			textf("{\"inbound\":\"%s\",\"sort_order\":%d}", inbound.text, i / 3 - 1),
			NULL));
	for (int down = 0; down < 2; down++) {
		page = (struct host_page){.q = "", .limit = 2, .down = down};
		seen = 0;
		CHECK_INT(store_read(w.store, STORE_ADMIN, 2000, &conn), RES_OK);
		do {
			CHECK_INT(host_list(conn, &page, &w.arena, &list, &count), RES_OK);
			for (size_t i = 0; i < count; i++) {
				page.after_order = list[i].host.sort_order;
				page.after_id = list[i].host.id;
			}
			seen += count;
		} while (count > 0);
		store_read_end(conn);
		CHECK_INT(seen, 7);
	}
}

TEST_MAIN(TEST(test_create), TEST(test_refused), TEST(test_patch), TEST(test_last_one_stays),
	  TEST(test_list_walks_once))
