/* Pages of users against a recount by plain SQL: every order, direction and filter, over rows with
 * equal, missing and absurd keys. */
#include "store_test.h"

#include "hythe/store/overview.h"
#include "hythe/store/user_list.h"
#include "hythe/util/hash.h"

#define NOW   INT64_C(1800000000)
#define USERS 3000
#define LIMIT 97

static struct clock_fake fake = {NOW * 1000, 1000};
static struct clock test_clock;
static struct store *store;
static struct user_order *order;

static void run_sql(const char *sql)
{
	sqlite3 *db;
	char *error = NULL;

	CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		TEST_FAIL("%s: %.100s", error, sql);
	sqlite3_close(db);
}

static int64_t sql_int(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t value;

	CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_step(st), SQLITE_ROW);
	value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return value;
}

static const char SOME_USERS[] =
	"BEGIN;"
	"INSERT INTO group_ (public_id, name, name_key, created_unix) VALUES"
	" ('grp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'all', 'all', 1), ('grp_baaaaaaaaaaaaaaaaaaaaaaaaa', "
	"'some', 'some', 1);"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
	"INSERT INTO user (public_id, name, name_key, note, tag, telegram_id, created_unix, "
	"expires_unix, hold_s, state,"
	" served, enabled, quota_bytes, quota_period, sub_token_hash)"
	" SELECT printf('usr_%026d', i), 'N' || (i * 7919 % 3000), 'n' || (i * 7919 % 3000) || '-' "
	"|| i,"
	" CASE i % 3 WHEN 0 THEN 'Über Nacht ' || i ELSE '' END, CASE i % 50 WHEN 0 THEN 'rare' "
	"ELSE 'often' END,"
	" CASE i WHEN 77 THEN 123456 ELSE 0 END, 1700000000 + i / 500,"
	" CASE i % 5 WHEN 0 THEN 0 WHEN 1 THEN 1900000000 WHEN 2 THEN 1900000000 + i ELSE "
	"1700000000 END,"
	" 0, CASE WHEN i % 5 > 2 THEN 'expired' WHEN i % 10 = 1 THEN 'disabled' WHEN i % 7 = 0 "
	"THEN 'limited'"
	" ELSE 'active' END, i % 5 <= 2 AND i % 10 <> 1 AND i % 7 <> 0, i % 5 > 2 OR i % 10 <> 1,"
	" CASE WHEN i % 5 <= 2 AND i % 10 <> 1 AND i % 7 = 0 THEN 1 ELSE CASE i % 4 WHEN 0 THEN 0 "
	"ELSE 9000000000000000000 END END,"
	" 'none', randomblob(32) FROM n;"
	"INSERT INTO user_usage (user_id, used_up_bytes, used_down_bytes, last_seen_unix) SELECT "
	"id,"
	" CASE id % 6 WHEN 0 THEN 0 WHEN 1 THEN 4000000000000000000 ELSE id END, id % 3, CASE id % "
	"2 WHEN 0 THEN 0"
	" ELSE 1700000000 END FROM user;"
	"INSERT INTO user_group SELECT id, 1 FROM user;"
	"INSERT INTO user_group SELECT id, 2 FROM user WHERE id % 30 = 0;"
	"INSERT INTO user_search (rowid, name, display_name, note, tag, email) SELECT id, name, "
	"display_name, note, tag,"
	" email FROM user;"
	"COMMIT;";

static void begin(void)
{
	struct problem problem = {0};
	struct store_config config;

	user_order_free(order);
	store_close(store);
	dir_new();
	fake = (struct clock_fake){NOW * 1000, 1000};
	test_clock = clock_of_fake(&fake);
	config = config_of(&test_clock);
	CHECK_INT(store_open(&config, &store, &problem), RES_OK);
	run_sql(SOME_USERS);
	order = user_order_new();
}

/* Walks all pages; counts how often each id comes. Returns how many came. */
static size_t walk(const struct user_list_query *first, int64_t now, unsigned char *seen,
		   void (*between)(int page))
{
	struct user_list_query query = *first;
	char text[300] = "";
	size_t total = 0;

	for (int pages = 0; pages < 200; pages++) {
		struct user_page page;
		struct arena arena;
		struct conn *conn;

		arena_init(&arena, 8u << 20);
		CHECK_INT(store_read(store, STORE_ADMIN, 1000, &conn), RES_OK);
		CHECK_INT(user_list(conn, order, &query, now, &arena, &page), RES_OK);
		for (size_t i = 0; i < page.count; i++) {
			CHECK(page.users[i].id > 0 && page.users[i].id < 2 * USERS);
			seen[page.users[i].id]++;
		}
		total += page.count;
		query.after = page.next;
		snprintf(text, sizeof text, "%s", page.next.text ? page.next.text : "");
		query.after.text = text;
		store_read_end(conn);
		arena_free(&arena);
		if (!page.more)
			return total;
		CHECK_INT(page.count, query.limit);
		if (between)
			between(pages);
	}
	TEST_FAIL("no end");
	return 0;
}

static const struct {
	struct user_filter filter;
	const char *where; /* over u */
} filters[] = {
	{{.status = -1},					 "1"				 },
	{{.status = USER_ACTIVE},                                "state = 'active'"                  },
	{{.status = USER_EXPIRED},                               "state = 'expired'"                 },
	{{.status = USER_LIMITED},                               "state = 'limited'"                 },
	{{.status = USER_ON_HOLD},                               "state = 'on_hold'"                 },
	{{.status = -1, .group_id = 1},                          "1"                                 },
	{{.status = -1, .group_id = 2},                          "id % 30 = 0"                       },
	{{.status = -1, .tag = "often"},                         "tag = 'often'"                     },
	{{.status = -1, .tag = "rare"},                          "tag = 'rare'"                      },
	{{.status = -1, .tag = "none"},                          "0"                                 },
	{{.status = USER_ACTIVE, .group_id = 1, .tag = "often"},
	 "state = 'active' AND tag = 'often'"							},
	{{.status = USER_EXPIRED, .group_id = 2, .tag = "rare"},
	 "state = 'expired' AND id % 30 = 0 AND tag = 'rare'"                                        },
	{{.status = -1, .q = "ÜBER nacht"},                     "note <> ''"                        },
	{{.status = -1, .q = "nacht 29"},                        "note LIKE '%nacht 29%'"            },
	{{.status = -1, .q = "often"},                           "tag = 'often'"                     },
	{{.status = USER_ACTIVE, .q = "often"},                  "tag = 'often' AND state = 'active'"},
	{{.status = -1, .group_id = 2, .q = "often"},            "tag = 'often' AND id % 30 = 0"     },
	{{.status = -1, .q = "N1"},                              "name_key LIKE 'n1%'"               },
	{{.status = USER_LIMITED, .q = "n"},                     "state = 'limited'"                 },
	{{.status = -1, .q = "\"quoted\" OR x"},                 "0"                                 },
	{{.status = -1, .q = "123456"},                          "id = 77"                           },
	{{.status = -1, .q = "usr_00000000000000000000000005"},
	 "0"											 }, /* no id: 0 and 1 are no base32 */
	{{.status = -1, .q = "12.3"},                            "id = 12"                           },
	{{.status = USER_DISABLED, .q = "12.3"},                 "id = 12 AND state = 'disabled'"    },
};

static void check_walk(size_t f, enum user_sort sort, bool down)
{
	struct user_list_query query = {
		.filter = filters[f].filter, .sort = sort, .descending = down, .limit = LIMIT};
	unsigned char *seen = calloc(2 * USERS, 1);
	char sql[300];
	size_t total = walk(&query, NOW, seen, NULL);

	snprintf(sql, sizeof sql, "SELECT count(*) FROM user WHERE deleted_unix = 0 AND (%s)",
		 filters[f].where);
	if ((int64_t)total != sql_int(sql))
		TEST_FAIL("filter %zu sort %d%s: %zu, want %lld", f, (int)sort, down ? " down" : "",
			  total, (long long)sql_int(sql));
	for (int i = 0; i < 2 * USERS; i++)
		CHECK(seen[i] <= 1);
	free(seen);
}

static void test_b126_every_sort_and_filter(void)
{
	begin();
	for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
		for (int sort = 0; sort < USER_SORTS; sort++)
			for (int down = 0; down < 2; down++)
				check_walk(f, (enum user_sort)sort, down);
}

static void change_between(int page)
{
	char sql[500];

	snprintf(sql, sizeof sql,
		 "DELETE FROM user_search WHERE 0; UPDATE user SET deleted_unix = 1, name_key = "
		 "NULL, state = 'deleted'"
		 " WHERE id = %d; INSERT INTO user (public_id, name, name_key, created_unix, "
		 "state, sub_token_hash) VALUES"
		 " ('new%d', 'n', 'n%d-new', 1700000003, 'active', randomblob(32));"
		 "INSERT INTO user_usage (user_id) SELECT max(id) FROM user;",
		 page * 31 + 5, page, page * 50);
	run_sql(sql);
}

/* Whoever was there from the first page to the last comes exactly once; nobody twice. */
static void test_b126_changes_during_the_walk(void)
{
	for (int sort = 0; sort < USER_SORTS; sort++) {
		struct user_list_query query = {
			.filter = {.status = -1}, .sort = (enum user_sort)sort, .limit = LIMIT};
		unsigned char seen[2 * USERS] = {0};

		begin();
		walk(&query, NOW, seen, change_between);
		for (int id = 1; id < 2 * USERS; id++) {
			bool changed = id > USERS || (id % 31 == 5 && id <= 32 * 31);

			if (seen[id] > 1 || (!changed && seen[id] != 1))
				TEST_FAIL("sort %d: id %d came %d times", sort, id, seen[id]);
		}
	}
}

/* The order itself, not only who is in it. */
static void test_order(void)
{
	static const struct {
		enum user_sort sort;
		bool down;
		const char *sql;
	} rows[] = {
		{USER_SORT_NAME,      false, "ORDER BY name_key"                                     },
		{USER_SORT_NAME,      true,  "ORDER BY name_key DESC"                                },
		{USER_SORT_CREATED,   true,  "ORDER BY created_unix DESC, id DESC"                   },
		{USER_SORT_EXPIRY,    false, "ORDER BY expires_unix = 0, expires_unix, id"           },
		{USER_SORT_EXPIRY,    true,
		 "ORDER BY expires_unix = 0 DESC, expires_unix DESC, id DESC"                        },
		{USER_SORT_USED,      true,  "ORDER BY used_up_bytes + used_down_bytes DESC, id DESC"},
		{USER_SORT_LAST_SEEN, false, "ORDER BY last_seen_unix, id"                           },
		{USER_SORT_REMAINING, false,
		 "ORDER BY quota_bytes = 0, max(0, quota_bytes - used_up_bytes - used_down_bytes), "
		 "id"										},
	};

	begin();
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct user_list_query query = {.filter = {.status = -1},
						.sort = rows[r].sort,
						.descending = rows[r].down,
						.limit = 200};
		struct user_page page;
		struct arena arena;
		struct conn *conn;
		char sql[300];

		arena_init(&arena, 8u << 20);
		CHECK_INT(store_read(store, STORE_ADMIN, 1000, &conn), RES_OK);
		CHECK_INT(user_list(conn, order, &query, NOW, &arena, &page), RES_OK);
		for (size_t i = 0; i < page.count; i += 13) {
			snprintf(sql, sizeof sql,
				 "SELECT id FROM user JOIN user_usage ON user_id = id %s LIMIT 1 "
				 "OFFSET %zu",
				 rows[r].sql, i);
			CHECK_INT(page.users[i].id, sql_int(sql));
		}
		store_read_end(conn);
		arena_free(&arena);
	}
}

static struct user_page one_page(struct user_list_query *query, int64_t now, struct arena *arena)
{
	struct user_page page;
	struct conn *conn;

	CHECK_INT(store_read(store, STORE_ADMIN, 1000, &conn), RES_OK);
	CHECK_INT(user_list(conn, order, query, now, arena, &page), RES_OK);
	store_read_end(conn);
	return page;
}

/* No timer has run: the status is right at the very second all the same. */
static void test_status_by_the_clock(void)
{
	static const struct {
		int64_t now;
		int status;
		int64_t want;
	} rows[] = {
		{INT64_C(1900000000) - 1, USER_EXPIRED, 1200},
		{INT64_C(1900000000),     USER_EXPIRED, 1500},
		{INT64_C(1900000000) - 1, USER_LIMITED, 214 },
		{INT64_C(1900000000),     USER_LIMITED, 171 },
	};
	struct arena arena;

	begin();
	arena_init(&arena, 8u << 20);
	/* 300 of i % 5 = 1 are even (i % 10 = 6), so not disabled */
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct user_list_query query = {
			.filter = {.status = rows[r].status}, .limit = 1, .total = true};
		struct user_page page = one_page(&query, rows[r].now, &arena);
		struct overview overview;
		struct conn *conn;
		size_t count = 0;
		int64_t *ids;

		CHECK_INT(store_read(store, STORE_ADMIN, 1000, &conn), RES_OK);
		CHECK_INT(overview_read(conn, rows[r].now, &overview), RES_OK);
		CHECK_INT(page.total, overview.users_by_status[rows[r].status]);
		CHECK_INT(user_filter_ids(conn, &query.filter, rows[r].now, &ids, &count), RES_OK);
		CHECK_INT(count, page.total);
		CHECK_INT(overview.users, USERS);
		free(ids);
		store_read_end(conn);
		CHECK_INT(page.total, rows[r].want);
	}
	arena_free(&arena);
}

static void test_many_hits_come_by_id(void)
{
	struct user_list_query query = {
		.filter = {.status = -1, .q = "often"},
                  .limit = 10, .total = true
        };
	struct arena arena;
	struct user_page page;

	begin();
	arena_init(&arena, 1u << 20);
	page = one_page(&query, NOW, &arena);
	CHECK(page.by_id);
	CHECK_INT(page.total, 2940);
	for (size_t i = 1; i < page.count; i++)
		CHECK(page.users[i - 1].id < page.users[i].id);
	query.filter.q = "rare";
	page = one_page(&query, NOW, &arena);
	CHECK(!page.by_id);
	CHECK_INT(page.total, 60);
	arena_free(&arena);
}

/* What an operator can paste finds its user. */
static void test_search_by_link(void)
{
	static const char token[] = "AbCdEfGhIjKlMnOpQrStUv";
	static const char *const pastes[] = {
		"AbCdEfGhIjKlMnOpQrStUv", "https://x.example/AbCdEfGhIjKlMnOpQrStUv",
		"https://x.example/prefix-of-22-character/AbCdEfGhIjKlMnOpQrStUv/plain?x=1#y"};
	char hex[65], sql[200];
	uint8_t hash[SHA256_LEN];
	struct arena arena;

	begin();
	hash_sha256(token, strlen(token), hash);
	hex_encode(hash, sizeof hash, hex);
	snprintf(sql, sizeof sql,
		 "UPDATE user SET sub_token_hash = x'%s' WHERE id = 9;"
		 "INSERT INTO credential (user_id, hash, sealed, created_unix) VALUES (10, x'",
		 hex);
	hash_sha256("p@ss word", 9, hash);
	hex_encode(hash, sizeof hash, hex);
	char more[400];
	snprintf(more, sizeof more, "%s%s', x'00', 1)", sql, hex);
	run_sql(more);
	arena_init(&arena, 1u << 20);
	for (size_t i = 0; i < sizeof pastes / sizeof *pastes; i++) {
		struct user_list_query query = {
			.filter = {.status = -1, .q = pastes[i]},
                          .limit = 10
                };
		struct user_page page = one_page(&query, NOW, &arena);

		CHECK_INT(page.count, 1);
		CHECK_INT(page.users[0].id, 9);
	}
	static const char *const credentials[] = {"p@ss word",
						  "hysteria2://p%40ss%20word@host:1/?sni=x#n"};
	for (size_t i = 0; i < 2; i++) {
		struct user_list_query query = {
			.filter = {.status = -1, .q = credentials[i]},
                          .limit = 10
                };
		struct user_page page = one_page(&query, NOW, &arena);

		CHECK_INT(page.count, 1);
		CHECK_INT(page.users[0].id, 10);
	}
	arena_free(&arena);
}

static void test_end(void)
{
	user_order_free(order);
	store_close(store);
	store = NULL;
	order = NULL;
}

TEST_MAIN(TEST(test_b126_every_sort_and_filter), TEST(test_b126_changes_during_the_walk),
	  TEST(test_order), TEST(test_status_by_the_clock), TEST(test_many_hits_come_by_id),
	  TEST(test_search_by_link), TEST(test_end))
