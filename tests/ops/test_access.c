/* Access records and their sums: after any change what is stored is what a recount from the rows
 * gives. */
#include "nodes_test.h"

#include "hythe/link/digest.h"

/* --- The recount --- */

struct sums {
	uint8_t hash[DIGEST_LEN];
};

static sqlite3 *outside;

static sqlite3_stmt *query(const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(outside, sql, -1, &st, NULL) != SQLITE_OK)
		TEST_FAIL("%s: %s", sql, sqlite3_errmsg(outside));
	sqlite3_bind_int64(st, 1, a);
	sqlite3_bind_int64(st, 2, b);
	return st;
}

/* Adds column 0 of each row as often as column 1 says. */
static void add_rows(const char *sql, int64_t id, struct sums *sums)
{
	sqlite3_stmt *st = query(sql, id, 0);

	while (sqlite3_step(st) == SQLITE_ROW) {
		if (sqlite3_column_bytes(st, 0) == DIGEST_LEN)
			digest_add(sums->hash, sqlite3_column_blob(st, 0),
				   sqlite3_column_int64(st, 1));
	}
	sqlite3_finalize(st);
}

static void check_blob(const char *sql, int64_t id, const struct sums *want, const char *what)
{
	sqlite3_stmt *st = query(sql, id, 0);

	if (sqlite3_step(st) != SQLITE_ROW || sqlite3_column_bytes(st, 0) != DIGEST_LEN)
		TEST_FAIL("%s of %lld is not there", what, (long long)id);
	if (memcmp(sqlite3_column_blob(st, 0), want->hash, DIGEST_LEN) != 0)
		TEST_FAIL("%s of %lld differs from the recount", what, (long long)id);
	sqlite3_finalize(st);
}

static void check_node(int64_t id)
{
	struct sums base = {0}, minus = {0};

	add_rows("SELECT record_hash, 1 FROM inbound WHERE node_id = ?1", id, &base);
	add_rows("SELECT record_hash, 1 FROM node_group WHERE node_id = ?1", id, &base);
	check_blob("SELECT base FROM node_state WHERE node_id = ?1", id, &base, "base");
	add_rows("SELECT u.record_hash, (SELECT count(*) FROM user_group m JOIN node_group a "
		 "ON a.group_id = m.group_id AND a.node_id = ?1 AND length(a.record_hash) > 0 "
		 "WHERE m.user_id = u.id) FROM user u JOIN user_node e ON e.user_id = u.id "
		 "WHERE e.node_id = ?1 AND u.served",
		 id, &minus);
	check_blob("SELECT minus FROM node_state WHERE node_id = ?1", id, &minus, "minus");
}

/* The rules, written another way than the panel does: each inbound asks for itself. */
#define OPENS                                                                                      \
	"EXISTS (SELECT 1 FROM group_access a WHERE a.group_id = ?2 AND a.profile_id = "           \
	"i.profile_id "                                                                            \
	"AND (a.scope = 'all' OR (a.scope = 'node' AND a.node_id = i.node_id) OR (a.scope = "      \
	"'tag' "                                                                                   \
	"AND a.tag IN (SELECT tag FROM node_tag WHERE node_id = i.node_id)))) AND i.enabled = 1 "  \
	"AND (SELECT enabled = 1 AND retired_unix = 0 FROM node WHERE id = i.node_id)"

static void check_pair(int64_t node, int64_t group)
{
	sqlite3_stmt *st =
		query("SELECT i.id, i.managed, EXISTS (SELECT 1 FROM node_group_inbound x WHERE "
		      "x.group_id = ?2 AND x.inbound_id = i.id), " OPENS
		      " FROM inbound i WHERE i.node_id = ?1 ORDER BY i.id",
		      node, group);
	int64_t ids[64];
	size_t count = 0, rows = 0;
	struct sums want;

	while (sqlite3_step(st) == SQLITE_ROW) {
		CHECK_INT(sqlite3_column_int(st, 2), sqlite3_column_int(st, 3));
		rows += sqlite3_column_int(st, 3) != 0;
		if (sqlite3_column_int(st, 3) && sqlite3_column_int(st, 1) && count < 64)
			ids[count++] = sqlite3_column_int64(st, 0);
	}
	sqlite3_finalize(st);
	st = query("SELECT record_hash FROM node_group WHERE node_id = ?1 AND group_id = ?2", node,
		   group);
	if (sqlite3_step(st) != SQLITE_ROW) {
		CHECK_INT(rows, 0);
	} else {
		CHECK(rows > 0);
		CHECK_INT(sqlite3_column_bytes(st, 0), count ? DIGEST_LEN : 0);
		digest_of_access(group, ids, count, want.hash);
		CHECK(count == 0 || memcmp(sqlite3_column_blob(st, 0), want.hash, DIGEST_LEN) == 0);
	}
	sqlite3_finalize(st);
}

static void each_id(const char *sql, void (*fn)(int64_t id))
{
	sqlite3_stmt *st = query(sql, 0, 0);

	while (sqlite3_step(st) == SQLITE_ROW)
		fn(sqlite3_column_int64(st, 0));
	sqlite3_finalize(st);
}

static void check_group(int64_t id)
{
	struct sums sum = {0};

	add_rows("SELECT u.record_hash, 1 FROM user u JOIN user_group m ON m.user_id = u.id "
		 "WHERE m.group_id = ?1 AND u.served",
		 id, &sum);
	check_blob("SELECT sum FROM group_ WHERE id = ?1", id, &sum, "sum");
}

static int64_t pair_node;

static void check_pair_of_node(int64_t group)
{
	check_pair(pair_node, group);
}

static void check_pairs(int64_t node)
{
	pair_node = node;
	each_id("SELECT id FROM group_", check_pair_of_node);
}

static void check_all(void)
{
	if (sqlite3_open_v2(db_path, &outside, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		TEST_FAIL("cannot look from outside");
	each_id("SELECT id FROM node", check_node);
	each_id("SELECT id FROM group_", check_group);
	each_id("SELECT id FROM node", check_pairs);
	sqlite3_close(outside);
	outside = NULL;
}

/* --- A small fleet --- */

static struct public_id profiles[3], nodes[3], groups[2], users[3];

static void fleet(void)
{
	world_new();
	for (int i = 0; i < 3; i++)
		profiles[i] = add_profile(textf("{\"name\":\"p%d\",\"port\":%d}", i, 443 + i));
	for (int i = 0; i < 3; i++)
		nodes[i] = add_node(textf(
			"{\"name\":\"n%d\",\"address\":\"n%d.example.net\",\"tags\":[\"t%d\"]}", i,
			i, i % 2));
	groups[0] = add_group(
		textf("{\"name\":\"g0\",\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"}]}",
		      profiles[0].text));
	groups[1] =
		add_group(textf("{\"name\":\"g1\",\"access\":[{\"profile\":\"%s\",\"tag\":\"t0\"},"
				"{\"profile\":\"%s\",\"node\":\"%s\"}]}",
				profiles[0].text, profiles[1].text, nodes[1].text));
	for (int i = 0; i < 3; i++)
		users[i] = add_user(textf("{\"name\":\"u%d\",\"groups\":[\"%s\"%s%s%s]}", i,
					  groups[i % 2].text, i == 2 ? ",\"" : "",
					  i == 2 ? groups[1].text : "", i == 2 ? "\"" : ""));
	check_all();
}

static int64_t change_rows(const char *where)
{
	return read_i64(w.store, textf("SELECT count(*) FROM change_log WHERE %s", where));
}

static void test_gained_and_lost(void)
{
	struct public_id inbound;
	int64_t before;

	fleet();
	before = change_rows("kind = 3 AND gained = 1");
	inbound = add_inbound(nodes[0].text, profiles[0].text);
	CHECK_INT(change_rows("kind = 3 AND gained = 1"), before + 2); /* g0 by all, g1 by t0 */
	check_all();
	before = change_rows("kind = 3 AND gained = 0");
	CHECK_OK(patch_inbound(inbound.text, "{\"enabled\":false}"));
	CHECK_INT(change_rows("kind = 3 AND gained = 0"), before + 2);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group"), 0);
	check_all();
}

static void test_more_of_it_is_not_gained(void)
{
	int64_t before;

	fleet();
	add_inbound(nodes[1].text, profiles[0].text);
	CHECK_OK(patch_group(
		groups[0].text,
		textf("{\"access\":[{\"profile\":\"%s\",\"nodes\":\"all\"},{\"profile\":\"%s\","
		      "\"nodes\":\"all\"}]}",
		      profiles[0].text, profiles[1].text)));
	before = change_rows("kind = 3 AND gained = 1");
	add_inbound(nodes[1].text, profiles[1].text); /* g0 had a record there, g1 gains one */
	CHECK_INT(change_rows("kind = 3 AND gained = 1"), before + 1);
	check_all();
}

static void test_tags_move_access(void)
{
	fleet();
	add_inbound(nodes[1].text, profiles[0].text);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group"), 1);
	CHECK_OK(patch_node(nodes[1].text, "{\"tags\":[\"t0\",\"t1\"]}"));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group"), 2);
	check_all();
	CHECK_OK(patch_node(nodes[1].text, "{\"tags\":[]}"));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group"), 1);
	check_all();
}

static void test_node_off_and_on(void)
{
	fleet();
	add_inbound(nodes[0].text, profiles[0].text);
	CHECK_OK(patch_node(nodes[0].text, "{\"enabled\":false}"));
	CHECK_INT(read_i64(w.store,
			   "SELECT base = zeroblob(32) FROM node_state ORDER BY node_id LIMIT 1"),
		  1);
	check_all();
	CHECK_OK(patch_node(nodes[0].text, "{\"enabled\":true}"));
	CHECK_INT(read_i64(w.store,
			   "SELECT base = zeroblob(32) FROM node_state ORDER BY node_id LIMIT 1"),
		  0);
	check_all();
}

/* Servers that no agent runs are offered to people, and no node hears of them. */
static void test_unmanaged(void)
{
	struct public_id inbound;
	int64_t access, render;

	fleet();
	access = change_rows("kind IN (2, 3)");
	render = change_rows("kind = 4");
	CHECK_OK(create_inbound(textf("{\"node\":\"%s\",\"profile\":\"%s\",\"managed\":false}",
				      nodes[0].text, profiles[0].text),
				&inbound));
	CHECK_INT(change_rows("kind IN (2, 3)"), access);
	CHECK(change_rows("kind = 4") > render);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group_inbound"), 2);
	CHECK_INT(
		read_i64(w.store, "SELECT count(*) FROM node_group WHERE length(record_hash) > 0"),
		0);
	check_all();
	CHECK_OK(patch_inbound(inbound.text, "{\"managed\":true}"));
	CHECK_INT(
		read_i64(w.store, "SELECT count(*) FROM node_group WHERE length(record_hash) > 0"),
		2);
	check_all();
	CHECK_OK(delete_inbound(inbound.text));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group"), 0);
	check_all();
}

static void test_group_deleted(void)
{
	fleet();
	add_inbound(nodes[0].text, profiles[0].text);
	add_inbound(nodes[1].text, profiles[1].text);
	CHECK_OK(delete_group(groups[1].text));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_group"), 1);
	check_all();
}

static void test_users_taken_away(void)
{
	fleet();
	CHECK_OK(patch_user(users[2].text, textf("{\"excluded_nodes\":[\"%s\"]}", nodes[0].text)));
	add_inbound(nodes[0].text, profiles[0].text);
	check_all();
	CHECK_OK(patch_user(users[2].text, "{\"enabled\":false}"));
	check_all();
	CHECK_OK(patch_user(users[2].text, "{\"enabled\":true}"));
	CHECK_OK(patch_node(nodes[0].text, "{\"tags\":[]}"));
	check_all();
	CHECK_OK(patch_user(users[2].text, "{\"excluded_nodes\":[]}"));
	check_all();
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_state WHERE minus <> zeroblob(32)"),
		  0);
}

static void test_node_deleted(void)
{
	struct node_target target = {.public_id = NULL};

	fleet();
	add_inbound(nodes[0].text, profiles[0].text);
	add_inbound(nodes[0].text, profiles[1].text);
	CHECK_OK(patch_user(users[2].text, textf("{\"excluded_nodes\":[\"%s\"]}", nodes[0].text)));
	target.public_id = nodes[0].text;
	CHECK_INT(run_call(op_node_delete, &target, true),
		  RES_OK); /* a dry run says what would go */
	CHECK_INT(target.inbounds, 2);
	CHECK_INT(target.hosts, 2);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node"), 3);
	check_all();
	CHECK_OK(delete_node(nodes[0].text));
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node"), 2);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM inbound"), 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM host"), 0);
	CHECK_INT(read_i64(w.store, "SELECT count(*) FROM node_state"), 2);
	check_all();
}

/* The cost of a change is that of what changed: another node's rows are not even looked at. */
static void test_only_what_changed(void)
{
	int64_t before;

	fleet();
	for (int i = 0; i < 3; i++)
		add_inbound(nodes[i].text, profiles[0].text);
	before = changes();
	CHECK_OK(patch_node(nodes[1].text, "{\"note\":\"x\"}"));
	CHECK_INT(changes(), before);
	CHECK_OK(patch_node(nodes[1].text, "{\"tags\":[\"t1\",\"other\"]}"));
	CHECK_INT(changes(), before);
	CHECK_OK(patch_profile(profiles[1].text, "{\"port\":9999}")); /* placed nowhere */
	CHECK_INT(changes(), before);
}

/* --- Random changes --- */

static uint64_t seed;

static unsigned roll(unsigned sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % sides;
}

static struct public_id inbounds[9];

static void change_inbound(void)
{
	unsigned at = roll(9);
	const char *node = nodes[at / 3].text, *profile = profiles[at % 3].text;

	if (!inbounds[at].text[0]) {
		CHECK_OK(create_inbound(textf("{\"node\":\"%s\",\"profile\":\"%s\",\"managed\":%s}",
					      node, profile, roll(3) ? "true" : "false"),
					&inbounds[at]));
	} else if (roll(3) == 0) {
		CHECK_OK(delete_inbound(inbounds[at].text));
		inbounds[at].text[0] = '\0';
	} else {
		CHECK_OK(patch_inbound(inbounds[at].text,
				       textf("{\"enabled\":%s,\"managed\":%s,\"sni\":\"s%u.net\"}",
					     roll(2) ? "true" : "false", roll(3) ? "true" : "false",
					     roll(5))));
	}
}

static void change_node(void)
{
	static const char *const words[] = {"[]", "[\"t0\"]", "[\"t1\"]", "[\"t0\",\"t1\"]"};

	CHECK_OK(
		patch_node(nodes[roll(3)].text, textf("{\"tags\":%s,\"enabled\":%s}",
						      words[roll(4)], roll(4) ? "true" : "false")));
}

static void change_group(void)
{
	const char *rule[2];

	for (int i = 0; i < 2; i++) {
		const char *profile = profiles[roll(3)].text;

		switch (roll(3)) {
		case 0:
			rule[i] = textf("{\"profile\":\"%s\",\"nodes\":\"all\"}", profile);
			break;
		case 1:
			rule[i] = textf("{\"profile\":\"%s\",\"node\":\"%s\"}", profile,
					nodes[roll(3)].text);
			break;
		default:
			rule[i] = textf("{\"profile\":\"%s\",\"tag\":\"t%u\"}", profile, roll(2));
		}
	}
	if (strcmp(rule[0], rule[1]) == 0)
		rule[1] = NULL;
	CHECK_OK(patch_group(groups[roll(2)].text,
			     textf("{\"access\":[%s%s%s]}", rule[0], rule[1] ? "," : "",
				   rule[1] ? rule[1] : "")));
}

static void change_user(void)
{
	static const char *const on[] = {"true", "false"};
	const char *excluded = roll(2) ? textf("\"%s\"", nodes[roll(3)].text) : "";
	const char *member = roll(3) ? textf("\"%s\"", groups[roll(2)].text) : "";

	CHECK_OK(patch_user(users[roll(3)].text,
			    textf("{\"enabled\":%s,\"excluded_nodes\":[%s],\"groups\":[%s]}",
				  on[roll(2)], excluded, member)));
}

static void change_profile(void)
{
	unsigned at = roll(3);

	CHECK_OK(patch_profile(
		profiles[at].text,
		textf("{\"port\":%u,\"obfs\":\"%s\",\"server\":{\"udp_idle_timeout_s\":%u}}",
		      1000 * (at + 1) + roll(3), roll(2) ? "salamander" : "none", 10 + roll(3))));
}

static void test_random_changes(void)
{
	static void (*const kinds[])(void) = {change_inbound, change_node,    change_group,
					      change_user,    change_inbound, change_profile};

	for (unsigned run_no = 1; run_no <= 3; run_no++) {
		seed = run_no;
		memset(inbounds, 0, sizeof inbounds);
		fleet();
		for (int i = 0; i < 250; i++) {
			kinds[roll(6)]();
			if (i % 5 == 0)
				check_all();
		}
		check_all();
	}
}

TEST_MAIN(TEST(test_gained_and_lost), TEST(test_more_of_it_is_not_gained),
	  TEST(test_tags_move_access), TEST(test_node_off_and_on), TEST(test_unmanaged),
	  TEST(test_group_deleted), TEST(test_users_taken_away), TEST(test_node_deleted),
	  TEST(test_only_what_changed), TEST(test_random_changes))
