/* What comes with a call: parameters, cursors, headers, bodies in every broken form. */
#include "admin_test.h"

#include "admin/routes.h"

static void test_params(void)
{
	static const struct {
		const char *query;
		int status;
		const char *field;
	} rows[] = {
		{"",							200, NULL     },
		{"?limit=1",						200, NULL     },
		{"?limit=500&total=1&sort=-used&status=active&tag=x&q=abc", 200, NULL     },
		{"?q=&status=&tag=&group=&cursor=",                         200, NULL     },
		{"?limit=0",						422, "limit"  },
		{"?limit=501",					      422, "limit"  },
		{"?limit=+1",					       422, "limit"  },
		{"?limit=01",					       422, "limit"  },
		{"?limit=1&limit=1",					422, "limit"  },
		{"?limit",						  422, "limit"  },
		{"?total=2",						422, "total"  },
		{"?total=yes",					      422, "total"  },
		{"?sort=id",						422, "sort"   },
		{"?sort=--name",					    422, "sort"   },
		{"?sort=",						  422, "sort"   },
		{"?status=Active",					  422, "status" },
		{"?group=grp_aaaaaaaaaaaaaaaaaaaaaaaaaa",                   422, "group"  },
		{"?group=x",						422, "group"  },
		{"?cursor=x",					       422, "cursor" },
		{"?cursor=AQAAAAAAAAAAAAAAAAAAAAAAAAAA",                    422, "cursor" },
		{"?q=%00",						  422, "q"      },
		{"?q=%ff",						  422, "q"      },
		{"?q=%0a",						  422, "q"      },
		{"?q=%zz",						  422, "q"      },
		{"?limits=1",					       422, "limits" },
		{"?dry_run=1",					      422, "dry_run"},
		{"?%6cimit=1",					      422, "%6cimit"},
		{"?a%22b=1",						422, "a%22b"  },
		{"?=1",						     422, "query"  },
		{"?&&",						     200, NULL     },
	};

	fix_begin();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char target[200];

		snprintf(target, sizeof target, "/users%s", rows[i].query);
		CHECK_ASK(rows[i].status, "GET", target, NULL);
		if (rows[i].field)
			CHECK_TEXT(text_at("field"), rows[i].field);
	}
	CHECK_ASK(422, "GET", "/health?x=1", NULL);
	CHECK_TEXT(text_at("code"), "unknown_parameter");
}

static void test_cursor_belongs_to_its_list(void)
{
	static const char *const others[] = {"&sort=-name", "&sort=created", "&q=n",
					     "&status=active", "&tag=x"};
	char cursor[200], target[400];

	fix_begin();
	for (int i = 0; i < 3; i++) {
		snprintf(target, sizeof target, "{\"name\": \"n%d\"}", i);
		CHECK_ASK(201, "POST", "/users", target);
		snprintf(target, sizeof target, "{\"name\": \"g%d\"}", i);
		CHECK_ASK(201, "POST", "/groups", target);
	}
	CHECK_ASK(200, "GET", "/users?limit=2", NULL);
	keep_at("next_cursor", cursor, sizeof cursor);
	snprintf(target, sizeof target, "/users?limit=2&cursor=%s", cursor);
	CHECK_ASK(200, "GET", target, NULL);
	CHECK_INT(count_at("items"), 1);
	CHECK(at("next_cursor")->type == JSON_NULL);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		snprintf(target, sizeof target, "/users?limit=2&cursor=%s%s", cursor, others[i]);
		CHECK_ASK(422, "GET", target, NULL);
		CHECK_TEXT(text_at("code"), "bad_cursor");
	}
	snprintf(target, sizeof target, "/groups?limit=2&cursor=%s", cursor);
	CHECK_ASK(422, "GET", target, NULL);
	cursor[3] ^= 1;
	snprintf(target, sizeof target, "/users?limit=2&cursor=%s", cursor);
	CHECK_ASK(422, "GET", target, NULL);
}

static void test_paths_and_methods(void)
{
	static const struct {
		const char *method, *target;
		int status;
	} rows[] = {
		{"GET",     "",				      404},
                {"GET",     "/",                                     404},
		{"GET",     "/nothing",                              404},
                {"PUT",     "/users",                                405},
		{"DELETE",  "/users",                                405},
                {"GET",     "/users/bulk",                           405},
		{"POST",    "/health",                               405},
                {"GET",     "/users/usr_aaaaaaaaaaaaaaaaaaaaaaaaaa", 404},
		{"GET",     "/users/1",                              404},
                {"GET",     "/users%2Fbulk",                         404},
		{"OPTIONS", "/users",                                405},
	};

	fix_begin();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_ASK(rows[i].status, rows[i].method, rows[i].target, NULL);
		CHECK(strcmp(fix.answer.content_type, "application/problem+json") == 0);
		CHECK(text_at("code") != NULL);
	}
}

/* Each way to send no proper body, to each call that takes one: a problem, and nothing changed. */
static void test_b127_always_a_problem(void)
{
	static char big[70000];
	static const char *const bodies[] = {
		"",
		"null",
		"[]",
		"5",
		"\"x\"",
		"{",
		"{]",
		"{\"a\": 1}x",
		"{\"a\": 01}",
		"{\"a\": 1, \"a\": 2}",
		"{\"a\\u0000b\": 1}",
		"{\"a\": \"\xff\"}",
		"{\"a\": 9007199254740993e0}",
		"\xef\xbb\xbf{}",
		"\xff\xfe{",
		"a=b&c=d",
		"{\"name\": \"x\", \"no_such_member\": 1}",
		"{\"name\": 5}",
		"{'name': 'x'}",
		"{\"name\": \"\\ud800\"}",
		"{\"name\": NaN}",
		big,
	};
	int64_t revision;

	memset(big, ' ', sizeof big - 1);
	fix_begin();
	CHECK_ASK(200, "GET", "/stats/overview", NULL);
	revision = int_at("revision");
	for (const struct route *route = routes; route->pattern; route++) {
		char target[120];

		if (!(route->flags & ROUTE_BODY) || strstr(route->pattern, ":id") ||
		    strstr(route->pattern, "sign-in"))
			continue;
		snprintf(target, sizeof target, "%s", route->pattern);
		for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
			int status = ask(route->method == HTTP_POST ? "POST" : "PATCH", target,
					 bodies[i]);

			if (status < 400 || status >= 500 || !text_at("code"))
				TEST_FAIL("%s with %.30s: %d %.100s", target, bodies[i], status,
					  fix.answer.body.data ? fix.answer.body.data : "");
		}
		CHECK_INT(
			ask_with(route->method == HTTP_POST ? "POST" : "PATCH", target, NULL, NULL),
			400);
		CHECK_TEXT(text_at("code"), "body_missing");
	}
	fix.fake.mono_ms += 5000;
	CHECK_ASK(200, "GET", "/stats/overview", NULL);
	CHECK_INT(int_at("revision"), revision);
	CHECK_INT(int_at("users.total"), 0);
}

static void test_list_is_not_modified(void)
{
	char header[120];

	fix_begin();
	CHECK_ASK(200, "GET", "/users", NULL);
	snprintf(header, sizeof header, "If-None-Match: \"x\", %s\r\n", fix.answer.etag);
	CHECK_INT(ask_with("GET", "/users", header, NULL), 304);
	CHECK_ASK(201, "POST", "/users", "{\"name\": \"new\"}");
	CHECK_INT(ask_with("GET", "/users", header, NULL), 200);
	CHECK_ASK(200, "GET", "/stats/overview", NULL);
	snprintf(header, sizeof header, "If-None-Match: %s\r\n", fix.answer.etag);
	CHECK_INT(ask_with("GET", "/stats/overview", header, NULL), 304);
}

TEST_MAIN(TEST(test_params), TEST(test_cursor_belongs_to_its_list), TEST(test_paths_and_methods),
	  TEST(test_b127_always_a_problem), TEST(test_list_is_not_modified))
