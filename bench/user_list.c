/* bench/user_list.c – how long a page of users takes: every sort and direction, with filters and
 *searches, over 100,000 users. Prints the processor time of each, the median of a few runs, in
 *microseconds; exits 1 when one takes longer than the design's 20 ms (the first run, which may
 *build a snapshot, is apart).
 *
 *	user_list [users] [directory]
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hythe/store/overview.h"
#include "hythe/store/store.h"
#include "hythe/store/user_list.h"
#include "hythe/util/log.h"

#define NOW     INT64_C(1800000000)
#define PAGE_US 20000
#define RUNS    5

static void die(const char *what)
{
	fprintf(stderr, "user_list: %s\n", what);
	exit(2);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Straight into the tables: what the operations do to a row does not matter to who reads it. */
static const char FILL[] =
	"BEGIN;"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)"
	"INSERT INTO group_ (public_id, name, name_key, created_unix)"
	" SELECT printf('grp_%026d', i), 'group ' || i, 'group ' || i, 1700000000 FROM n;"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	"INSERT INTO user (public_id, name, name_key, display_name, note, tag, email, "
	"created_unix, expires_unix,"
	" state, served, quota_bytes, quota_period, sub_token_hash, sub_token_sealed, record_hash, "
	"enabled)"
	" SELECT printf('usr_%026d', i), printf('User%dx%06x', i, i * 7919 % 16777216),"
	" printf('user%dx%06x', i, i * 7919 % 16777216), 'Display ' || i,"
	" CASE WHEN i % 10 = 0 THEN 'paid until december ' || i ELSE '' END, 'tag' || (i % 20),"
	" 'user' || i || '@example.net', 1700000000 + i / 3,"
	" CASE i % 4 WHEN 0 THEN 0 ELSE CASE WHEN i % 100 BETWEEN 70 AND 79 THEN 1700000000 ELSE"
	" 1800000100 + i * 7919 % 10000000 END END,"
	" CASE WHEN i % 100 < 70 THEN 'active' WHEN i % 100 < 80 THEN 'expired' WHEN i % 100 < 85 "
	"THEN 'limited'"
	" WHEN i % 100 < 90 THEN 'on_hold' ELSE 'disabled' END, i % 100 < 70,"
	" CASE i % 3 WHEN 0 THEN 0 ELSE 100000000000 END, CASE i % 3 WHEN 0 THEN 'none' ELSE "
	"'month' END,"
	" randomblob(32), randomblob(55), randomblob(32), i % 100 < 90 FROM n;"
	"INSERT INTO user_usage (user_id, period_start_unix, period_end_unix, used_up_bytes, "
	"used_down_bytes,"
	" total_up_bytes, total_down_bytes, last_seen_unix) SELECT id, 1700000000, 1900000000,"
	" id * 7919 % 50000000000, id * 104729 % 50000000000, id * 1000, id * 3000,"
	" CASE id % 5 WHEN 0 THEN 0 ELSE 1760000000 + id % 100000 END FROM user;"
	"INSERT INTO user_group SELECT id, 1 FROM user;"
	"INSERT INTO user_group SELECT id, 2 + id % 8 FROM user WHERE id % 2 = 0;"
	"INSERT INTO user_group SELECT id, 10 FROM user ORDER BY id DESC LIMIT 100;"
	"INSERT INTO user_search (rowid, name, display_name, note, tag, email)"
	" SELECT id, name, display_name, note, tag, email FROM user;"
	"COMMIT;";

static void fill(const char *path, int users)
{
	sqlite3 *db;
	char *sql = NULL, *error = NULL, format[sizeof FILL];

	/* the one %d that is ours comes first; the others belong to SQL */
	memcpy(format, FILL, sizeof FILL);
	char *place = strstr(format, "i < %d)");
	if (!place ||
	    asprintf(&sql, "%.*s%d%s", (int)(place - format) + 4, format, users, place + 6) < 0)
		die("out of memory");
	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		die(error ? error : "cannot open");
	sqlite3_close(db);
	free(sql);
}

struct bench {
	struct store *store;
	struct user_order *order;
	int slow;
};

static int64_t one_page(struct bench *bench, const struct user_list_query *query, size_t *count)
{
	struct user_page page;
	struct arena arena;
	struct conn *conn;
	int64_t begin = now_us();

	arena_init(&arena, 16u << 20);
	if (store_read(bench->store, STORE_ADMIN, 1000, &conn) != RES_OK)
		die("no reader");
	if (user_list(conn, bench->order, query, NOW, &arena, &page) != RES_OK)
		die("the list failed");
	store_read_end(conn);
	*count = page.count;
	arena_free(&arena);
	return now_us() - begin;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void time_query(struct bench *bench, const char *name, const struct user_list_query *query)
{
	int64_t first, us[RUNS];
	size_t count = 0;

	first = one_page(bench, query, &count);
	for (int i = 0; i < RUNS; i++)
		us[i] = one_page(bench, query, &count);
	qsort(us, RUNS, sizeof *us, by_size);
	bench->slow += us[RUNS / 2] > PAGE_US;
	printf("%-44s first %7lld us, then %6lld us, %zu rows%s\n", name, (long long)first,
	       (long long)us[RUNS / 2], count, us[RUNS / 2] > PAGE_US ? "  TOO SLOW" : "");
}

static void time_filters(struct bench *bench)
{
	static const struct {
		const char *name;
		struct user_filter filter;
	} filters[] = {
		{"all",			     {.status = -1}				       },
		{"status=active",                   {.status = USER_ACTIVE}                              },
		{"status=limited",                  {.status = USER_LIMITED}                             },
		{"status=expired",                  {.status = USER_EXPIRED}                             },
		{"group of all",                    {.status = -1, .group_id = 1}                        },
		{"group of 100",                    {.status = -1, .group_id = 10}                       },
		{"tag",			     {.status = -1, .tag = "tag7"}                        },
		{"active, group, tag",              {.status = USER_ACTIVE, .group_id = 1, .tag = "tag7"}},
		{"q=user (all)",                    {.status = -1, .q = "user"}                          },
		{"q=december (10%)",                {.status = -1, .q = "december"}                      },
		{"q=paid until december 99990 (1)",
		 {.status = -1, .q = "paid until december 99990"}                                        },
		{"q=us (prefix of all)",            {.status = -1, .q = "us"}                            },
		{"q=zz (none)",                     {.status = -1, .q = "zz"}                            },
		{"q=december, limited",             {.status = USER_LIMITED, .q = "december"}            },
		{"q=user, group of 100",            {.status = -1, .group_id = 10, .q = "user"}          },
		{"q=usr_... (exact)",               {.status = -1, .q = "usr_aaaaaaaaaaaaaaaaaaaaaaaaaa"}},
	};

	for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
		for (int sort = 0; sort < USER_SORTS; sort++)
			for (int down = 0; down < 2; down++) {
				struct user_list_query query = {.filter = filters[f].filter,
								.sort = (enum user_sort)sort,
								.descending = down,
								.limit = 50,
								.total = true};
				char name[100];

				snprintf(name, sizeof name, "%s%s, %s", down ? "-" : "",
					 user_sort_words[sort], filters[f].name);
				time_query(bench, name, &query);
			}
}

static void time_overview(struct bench *bench)
{
	struct overview overview;
	struct conn *conn;
	int64_t begin = now_us();

	if (store_read(bench->store, STORE_ADMIN, 1000, &conn) != RES_OK ||
	    overview_read(conn, NOW, &overview) != RES_OK)
		die("the overview failed");
	store_read_end(conn);
	printf("overview: %lld us, %lld users\n", (long long)(now_us() - begin),
	       (long long)overview.users);
}

int main(int argc, char **argv)
{
	int users = argc > 1 ? atoi(argv[1]) : 100000;
	char dir[256], path[300];
	struct clock_fake fake = {NOW * 1000, 1000};
	struct clock clock = clock_of_fake(&fake);
	struct store_config config = {
		.path = path, .public_readers = 1, .admin_readers = 2, .clock = &clock};
	struct problem problem = {0};
	struct bench bench = {0};

	log_set_level(LOG_LEVEL_ERROR);
	snprintf(dir, sizeof dir, "%s", argc > 2 ? argv[2] : "/tmp/hythe-bench-XXXXXX");
	if (argc <= 2 && !mkdtemp(dir))
		die("no directory");
	snprintf(path, sizeof path, "%s/hythe.db", dir);
	if (access(path, F_OK) != 0) {
		if (store_open(&config, &bench.store, &problem) != RES_OK)
			die(problem.detail);
		store_close(bench.store);
		fill(path, users);
	}
	if (store_open(&config, &bench.store, &problem) != RES_OK)
		die(problem.detail);
	bench.order = user_order_new();
	time_filters(&bench);
	time_overview(&bench);
	user_order_free(bench.order);
	store_close(bench.store);
	printf("user_list: %d pages over %d us\n", bench.slow, PAGE_US);
	return bench.slow != 0;
}
