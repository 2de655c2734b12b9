#include "sub/servers.h"

#include "test.h"

static struct clock_fake fake;
static struct clock hands;
static struct server_lists *lists;

static void begin(void)
{
	fake = (struct clock_fake){.wall_ms = 1, .mono_ms = 1000};
	hands = clock_of_fake(&fake);
	lists = server_lists_new(&hands);
	CHECK(lists != NULL);
}

/* A list of one server, of which the port tells whose it is. */
static void keep(uint64_t generation, const int64_t *groups, size_t count, int64_t port, size_t ballast)
{
	struct servers *servers = servers_new(1 << 20);

	servers->endpoints = arena_alloc(&servers->arena, sizeof *servers->endpoints);
	servers->endpoints->port = port;
	servers->count = 1;
	if (ballast > 0)
		CHECK(arena_alloc(&servers->arena, ballast) != NULL);
	server_lists_keep(lists, servers, generation, groups, count);
	servers_give(servers);
}

/* The port of what is found, 0 if nothing. */
static int64_t find(uint64_t generation, const int64_t *groups, size_t count)
{
	struct servers *found = server_lists_find(lists, generation, groups, count);
	int64_t port = found ? found->endpoints->port : 0;

	servers_give(found);
	return port;
}

static void test_same_groups_share(void)
{
	const int64_t a[] = {1}, b[] = {1, 2}, c[] = {2};

	begin();
	keep(7, a, 1, 10, 0);
	keep(7, b, 2, 20, 0);
	CHECK_INT(find(7, a, 1), 10);
	CHECK_INT(find(7, b, 2), 20);
	CHECK_INT(find(7, c, 1), 0);
	CHECK_INT(find(7, b, 1), 10);
	server_lists_free(lists);
}

static void test_generation_and_age(void)
{
	const int64_t a[] = {1};

	begin();
	keep(7, a, 1, 10, 0);
	CHECK_INT(find(8, a, 1), 0); /* something changed since it was begun */
	CHECK_INT(find(6, a, 1), 0);
	fake.mono_ms += 9999;
	CHECK_INT(find(7, a, 1), 10);
	fake.mono_ms += 1;
	CHECK_INT(find(7, a, 1), 0);
	keep(8, a, 1, 11, 0);
	CHECK_INT(find(8, a, 1), 11);
	keep(8, a, 1, 12, 0); /* the newer one takes its place */
	CHECK_INT(find(8, a, 1), 12);
	server_lists_free(lists);
}

static void test_what_is_held_stays(void)
{
	const int64_t a[] = {1};
	struct servers *held;

	begin();
	keep(7, a, 1, 10, 0);
	held = server_lists_find(lists, 7, a, 1);
	keep(8, a, 1, 11, 0);
	CHECK_INT(held->endpoints->port, 10);
	server_lists_free(lists);
	CHECK_INT(held->endpoints->port, 10);
	servers_give(held);
}

static void test_bounds(void)
{
	begin();
	for (int64_t group = 1; group <= 100; group++)
		keep(7, &group, 1, group, 0);
	CHECK_INT(find(7, (const int64_t[]){100}, 1), 100);
	CHECK_INT(find(7, (const int64_t[]){1}, 1), 0); /* the oldest went */
	keep(7, (const int64_t[]){200}, 1, 200, 200 * 1024);
	CHECK_INT(find(7, (const int64_t[]){200}, 1), 0); /* too large to be kept for long */
	server_lists_free(lists);
}

TEST_MAIN(TEST(test_same_groups_share), TEST(test_generation_and_age), TEST(test_what_is_held_stays),
	  TEST(test_bounds))
