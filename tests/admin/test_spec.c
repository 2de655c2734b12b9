/* The description against the program: every route is in it and it has no other; every member that
 * a table of inputs knows is named in it. */
#include "test.h"

#include <ctype.h>

#include "admin/routes.h"
#include "hythe/model/settings.h"
#include "hythe/ops/admins.h"
#include "hythe/ops/groups.h"
#include "hythe/ops/hosts.h"
#include "hythe/ops/inbounds.h"
#include "hythe/ops/nodes.h"
#include "hythe/ops/profiles.h"
#include "hythe/ops/tokens.h"
#include "hythe/ops/users.h"
#include "hythe/util/embedded.h"

#define PATHS_MAX 100

static const char *const methods[] = {[HTTP_GET] = "get",
				      [HTTP_POST] = "post",
				      [HTTP_PUT] = "put",
				      [HTTP_PATCH] = "patch",
				      [HTTP_DELETE] = "delete"};
#define METHODS 6

/* What stands under `paths:`: "  /path:" and, below, "    get:". */
static struct described {
	char pattern[100];
	enum http_method method;
	const char *text; /* what is said of it, up to the next one */
} described[PATHS_MAX];
static size_t described_count;

static const char *spec_text(void)
{
	const struct embedded_file *file = embedded_find("web/openapi.yaml");

	CHECK(file != NULL);
	return file->data;
}

/* "{id}" of the description is ":id" of the table. */
static void pattern_of(const char *line, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++) {
		if (line[i] == '{')
			out[n++] = ':';
		else if (line[i] != '}')
			out[n++] = line[i];
	}
	out[n] = '\0';
}

static void take_line(const char *line, size_t len, char path[100])
{
	if (len > 4 && strncmp(line, "  /", 3) == 0 && line[len - 1] == ':') {
		pattern_of(line + 2, len - 3, path, 100);
		return;
	}
	for (size_t m = 0; m < METHODS; m++) {
		if (!methods[m] || len != strlen(methods[m]) + 5 || strncmp(line, "    ", 4) != 0 ||
		    strncmp(line + 4, methods[m], len - 5) != 0 || line[len - 1] != ':')
			continue;
		CHECK(described_count < PATHS_MAX);
		snprintf(described[described_count].pattern, 100, "%s", path);
		described[described_count].text = line;
		described[described_count++].method = (enum http_method)m;
	}
}

static void read_paths(void)
{
	const char *at = strstr(spec_text(), "\npaths:\n");
	char path[100] = "";

	CHECK(at != NULL);
	described_count = 0;
	for (at += 8; *at == ' ';) {
		size_t len = strcspn(at, "\n");

		take_line(at, len, path);
		at += len + (at[len] == '\n');
	}
	CHECK(described_count > 50);
}

static void test_every_route_is_described(void)
{
	size_t missing = 0;

	read_paths();
	for (const struct route *route = routes; route->pattern; route++) {
		bool found = false;

		for (size_t i = 0; i < described_count; i++)
			found |= described[i].method == route->method &&
				 strcmp(described[i].pattern, route->pattern) == 0;
		if (!found)
			printf("not described: %s %s\n", methods[route->method], route->pattern);
		missing += !found;
	}
	CHECK_INT(missing, 0);
}

static size_t section_len(size_t i)
{
	const char *end = i + 1 < described_count ? described[i + 1].text
						  : strstr(described[i].text, "\ncomponents:\n");

	CHECK(end != NULL);
	return (size_t)(end - described[i].text);
}

/* The description promises a key exactly where the table keeps one. */
static void test_keys_are_described(void)
{
	static const char parameter[] = "parameters/IdempotencyKey";

	read_paths();
	for (size_t i = 0; i < described_count; i++) {
		bool says = memmem(described[i].text, section_len(i), parameter,
				   strlen(parameter)) != NULL;

		for (const struct route *route = routes; route->pattern; route++)
			if (described[i].method == route->method &&
			    strcmp(described[i].pattern, route->pattern) == 0 &&
			    says != !!(route->flags & ROUTE_KEY))
				TEST_FAIL("%s %s: Idempotency-Key described: %d",
					  methods[route->method], route->pattern, says);
	}
}

static void test_every_description_is_a_route(void)
{
	size_t odd = 0;

	read_paths();
	for (size_t i = 0; i < described_count; i++) {
		bool found = false;

		for (const struct route *route = routes; route->pattern; route++)
			found |= described[i].method == route->method &&
				 strcmp(described[i].pattern, route->pattern) == 0;
		if (!found)
			printf("no such route: %s %s\n", methods[described[i].method],
			       described[i].pattern);
		odd += !found;
	}
	CHECK_INT(odd, 0);
}

/* The part of the description that is the schema of that name. */
static void schema_of(const char *name, const char **begin, const char **end)
{
	char head[80];
	const char *at;

	snprintf(head, sizeof head, "\n    %s:\n", name);
	at = strstr(strstr(spec_text(), "\n  schemas:\n"), head);
	if (!at)
		TEST_FAIL("no schema %s", name);
	*begin = at += strlen(head);
	while (strncmp(at, "     ", 5) == 0)
		at += strcspn(at, "\n") + 1;
	*end = at;
}

static void test_every_member_is_described(void)
{
	const struct {
		const char *schema;
		const struct json_field *fields;
		size_t count;
	} tables[] = {
		{"UserCreate",    user_fields,     USER_FIELDS          },
		{"GroupCreate",   group_fields,    GROUP_FIELDS         },
		{"ProfileCreate", profile_fields,  PROFILE_FIELDS       },
		{"NodeCreate",    node_fields,     NODE_FIELDS          },
		{"InboundCreate", inbound_fields,  INBOUND_FIELDS       },
		{"HostCreate",    host_fields,     HOST_FIELDS          },
		{"AdminCreate",   admin_fields,    ADMIN_FIELDS         },
		{"TokenCreate",   token_fields,    TOKEN_FIELDS         },
		{"SettingsPatch", settings_fields, settings_fields_count},
	};

	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
		const char *begin, *end;

		schema_of(tables[t].schema, &begin, &end);
		for (size_t i = 0; i < tables[t].count; i++) {
			char member[80];
			const char *at;

			snprintf(member, sizeof member, "\n        %s:", tables[t].fields[i].name);
			at = strstr(begin - 1, member);
			if (!at || at >= end)
				TEST_FAIL("%s lacks %s", tables[t].schema,
					  tables[t].fields[i].name);
		}
	}
}

static void test_routes_are_found(void)
{
	static const struct {
		enum http_method method;
		const char *path;
		bool known, found;
		const char *pattern;
	} rows[] = {
		{HTTP_GET,  "/users",                                true,  true,  "/users"     },
		{HTTP_HEAD, "/users",                                true,  true,  "/users"     },
		{HTTP_PUT,  "/users",                                true,  false, NULL         },
		{HTTP_GET,  "/users/",                               false, false, NULL         },
		{HTTP_GET,  "/users/usr_aaaaaaaaaaaaaaaaaaaaaaaaaa", true,  true,  "/users/:id" },
		{HTTP_GET,  "/users/usr_aaaaaaaaaaaaaaaaaaaaaaaaa",  false, false, NULL         },
		{HTTP_GET,  "/users/usr_aaaaaaaaaaaaaaaaaaaaaaaaa1", false, false, NULL         },
		{HTTP_POST, "/users/bulk",                           true,  true,  "/users/bulk"},
		{HTTP_GET,  "/users/bulk",                           true,  false, NULL         },
		{HTTP_GET,  "/users%2f",                             false, false, NULL         },
		{HTTP_GET,  "",				      false, false, NULL         },
		{HTTP_GET,  "/",				     false, false, NULL         },
		{HTTP_GET,  "//users",                               false, false, NULL         },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct route_match match;

		route_find(rows[i].method, rows[i].path, strlen(rows[i].path), &match);
		CHECK_INT(match.known, rows[i].known);
		CHECK_INT(match.route != NULL, rows[i].found);
		if (rows[i].pattern)
			CHECK_TEXT(match.route->pattern, rows[i].pattern);
	}
}

TEST_MAIN(TEST(test_every_route_is_described), TEST(test_every_description_is_a_route),
	  TEST(test_keys_are_described), TEST(test_every_member_is_described),
	  TEST(test_routes_are_found))
