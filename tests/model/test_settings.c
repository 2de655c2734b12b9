/* Settings: the table, text forms, and the rules. */
#include "hythe/model/settings.h"
#include "settings_same.h"
#include "test.h"

static void expect(const struct settings *settings, const char *field)
{
	struct problem problem = {0};
	enum res res = settings_check(settings, &problem);

	CHECK_INT(res, field ? RES_INVALID : RES_OK);
	CHECK_TEXT(problem.field, field ? field : "");
}

static void test_default_is_good(void)
{
	struct settings first, second;

	settings_default(&first);
	settings_default(&second);
	expect(&first, NULL);
	CHECK_INT(strlen(first.sub_prefix), SETTING_PREFIX_LEN);
	CHECK(strcmp(first.sub_prefix, first.admin_prefix) != 0);
	CHECK(strcmp(first.sub_prefix, second.sub_prefix) != 0);
}

static void test_print_and_parse(void)
{
	struct settings from, to;

	settings_default(&from);
	settings_default(&to);
	from.old_admin_prefix_until_unix = INT64_MAX;
	strcpy(from.old_sub_prefix, "old");
	for (size_t row = 0; row < SETTINGS_ROWS; row++) {
		char text[256];

		CHECK(settings_name(row) != NULL);
		CHECK_INT(settings_print(&from, row, text, sizeof text), RES_OK);
		CHECK_INT(settings_parse(&to, row, text, NULL), RES_OK);
	}
	CHECK(settings_same(&from, &to));
	CHECK(settings_name(SETTINGS_ROWS) == NULL);
	CHECK_INT(settings_print(&from, SETTINGS_ROWS, (char[8]){0}, 8), RES_NOT_FOUND);
	CHECK_INT(settings_print(&from, SETTING_PUBLIC_URL, (char[8]){0}, 8), RES_TOO_LARGE);
}

/* B006: an IPv6 literal works as typed; and all that is no URL of ours. */
static void test_b006_public_url(void)
{
	static const struct {
		const char *url;
		bool good;
	} rows[] = {
		{"http://[::1]:8080",                 true },
		{"https://[2001:db8::10]",            true },
		{"https://[2001:db8::10]:8443/base",  true },
		{"https://sub.example.net",           true },
		{"https://sub.example.net:8443",      true },
		{"https://sub.example.net/a/b-c_d~e", true },
		{"http://127.0.0.1:8080",             true },
		{"https://xn--mnchen-3ya.example",    true },
		{"HTTP://127.0.0.1:8080",             false},
		{"ftp://127.0.0.1",                   false},
		{"https://",                          false},
		{"https:///x",                        false},
		{"//sub.example.net",                 false},
		{"sub.example.net",                   false},
		{"https://sub.example.net/",          false},
		{"https://sub.example.net/a/",        false},
		{"https://sub.example.net//a",        false},
		{"https://sub.example.net/../a",      false},
		{"https://sub.example.net?a",         false},
		{"https://sub.example.net/a?b=c",     false},
		{"https://sub.example.net#a",         false},
		{"https://user@sub.example.net",      false},
		{"https://user:pw@sub.example.net",   false},
		{"https://sub.example.net:",          false},
		{"https://sub.example.net:0",         false},
		{"https://sub.example.net:65536",     false},
		{"https://sub.example.net:080",       false},
		{"https://sub..example.net",          false},
		{"https://-sub.example.net",          false},
		{"https://sub-.example.net",          false},
		{"https://sub.example.net.",          false},
		{"https://2001:db8::10",              false},
		{"https://[2001:db8::10",             false},
		{"https://[2001:db8::zz]",            false},
		{"https://[127.0.0.1]",               false},
		{"https://[fe80::1%eth0]",            false},
		{"https://[::1]x",                    false},
		{"https://300.1.1.1",                 false},
		{"https://1.2.3",                     false},
		{"https://münchen.example",          false},
		{"https://sub example.net",           false},
		{"https://sub.example.net/a b",       false},
		{"https://sub.example.net/%2e",       false},
	};
	struct settings settings;

	settings_default(&settings);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (settings_url_valid(rows[i].url) != rows[i].good)
			TEST_FAIL("%s", rows[i].url);
		strcpy(settings.public_url, rows[i].url);
		expect(&settings, rows[i].good ? NULL : "public_url");
	}
}

static void test_origin(void)
{
	CHECK_INT(settings_origin_len("https://a.example:8443/b"), 22);
	CHECK_INT(settings_origin_len("http://[::1]:8080"), 17);
	CHECK(settings_url_is_loopback("http://[::1]:8080"));
	CHECK(settings_url_is_loopback("http://LOCALHOST"));
	CHECK(settings_url_is_loopback("http://127.9.9.9"));
	CHECK(!settings_url_is_loopback("http://10.0.0.1"));
	CHECK(!settings_url_is_loopback("http://127.0.0.1.example"));
	CHECK(settings_url_is_https("https://x") && !settings_url_is_https("http://x"));
}

static void test_prefixes(void)
{
	static const struct {
		const char *prefix;
		bool good;
	} rows[] = {
		{"a",     true },
                {"A-b_9", true },
                {"",      false},
                {".",     false},
                {"..",    false},
		{"a.b",   false},
                {"a/b",   false},
                {"a b",   false},
                {"api",   false},
                {"API",   false},
		{"ä",    false},
                {"a%41",  false},
                {"api2",  true },
                {"a\n",   false}
        };
	char longest[SETTING_PREFIX_MAX + 2] = {0};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (settings_prefix_valid(rows[i].prefix) != rows[i].good)
			TEST_FAIL("%s", rows[i].prefix);
	memset(longest, 'a', SETTING_PREFIX_MAX);
	CHECK(settings_prefix_valid(longest));
	longest[SETTING_PREFIX_MAX] = 'a';
	CHECK(!settings_prefix_valid(longest));
}

static void test_prefixes_differ(void)
{
	static const struct {
		const char *sub, *admin, *old_sub, *old_admin, *field;
	} rows[] = {
		{"s", "a", "",  "",  NULL          },
		{"s", "s", "",  "",  "admin_prefix"},
		{"s", "a", "a", "",  "admin_prefix"},
		{"s", "a", "",  "s", "sub_prefix"  },
		{"s", "a", "s", "a", NULL          },
		{"s", "a", "x", "x", "sub_prefix"  },
		{"s", "a", "x", "y", NULL          },
		{"s", "S", "",  "",  NULL          },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct settings settings;

		settings_default(&settings);
		strcpy(settings.sub_prefix, rows[i].sub);
		strcpy(settings.admin_prefix, rows[i].admin);
		strcpy(settings.old_sub_prefix, rows[i].old_sub);
		strcpy(settings.old_admin_prefix, rows[i].old_admin);
		expect(&settings, rows[i].field);
	}
}

/* Of two that are the same, the one that was sent is named. */
static void test_sent_prefix_is_named(void)
{
	static const struct {
		uint64_t sent;
		const char *field;
	} rows[] = {
		{UINT64_C(1) << SETTING_SUB_PREFIX,                                         "sub_prefix"  },
		{UINT64_C(1) << SETTING_ADMIN_PREFIX,                                       "admin_prefix"},
		{UINT64_C(1) << SETTING_SUB_PREFIX | UINT64_C(1) << SETTING_ADMIN_PREFIX, "admin_prefix"},
	};
	struct settings settings;

	settings_default(&settings);
	strcpy(settings.admin_prefix, settings.sub_prefix);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};

		CHECK_INT(settings_check_change(&settings, rows[i].sent, &problem), RES_INVALID);
		CHECK_TEXT(problem.field, rows[i].field);
	}
}

/* B036: whole hours, at least one. */
static void test_b036_update_interval(void)
{
	static const struct {
		const char *text;
		enum res res;
	} rows[] = {
		{"0",      RES_INVALID},
                {"0.5",    RES_INVALID},
                {"90m",    RES_INVALID},
		{"-1",     RES_INVALID},
                {"24",     RES_OK     },
                {"1",      RES_OK     },
		{"8760",   RES_OK     },
                {"8761",   RES_INVALID},
                {"100000", RES_INVALID},
		{"",       RES_INVALID},
                {" 24",    RES_INVALID},
                {"024",    RES_INVALID}
        };
	struct settings settings;

	settings_default(&settings);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem problem = {0};
		int64_t before = settings.update_interval_h;

		CHECK_INT(
			settings_parse(&settings, SETTING_UPDATE_INTERVAL, rows[i].text, &problem),
			rows[i].res);
		if (rows[i].res == RES_OK)
			continue;
		CHECK_TEXT(problem.field, "update_interval_h");
		CHECK_INT(settings.update_interval_h, before);
	}
}

static void test_other_rules(void)
{
	static const struct {
		enum setting_row row;
		const char *text;
		bool good;
	} rows[] = {
		{SETTING_TIME_ZONE,     "UTC",                                 true },
		{SETTING_TIME_ZONE,     "Europe/Berlin",                       true },
		{SETTING_TIME_ZONE,     "Europe/Nowhere",                      false},
		{SETTING_TIME_ZONE,     "../../etc/passwd",                    false},
		{SETTING_TIME_ZONE,     "/etc/localtime",                      false},
		{SETTING_NAME_TEMPLATE, "{flag} {node}",                       true },
		{SETTING_NAME_TEMPLATE,
		 "{country}{city}{profile}{host}{user}{days_left}{data_left}", true },
		{SETTING_NAME_TEMPLATE, "plain",                               true },
		{SETTING_NAME_TEMPLATE, "{Flag}",                              false},
		{SETTING_NAME_TEMPLATE, "{flag",                               false},
		{SETTING_NAME_TEMPLATE, "flag}",                               false},
		{SETTING_NAME_TEMPLATE, "{{flag}}",                            false},
		{SETTING_NAME_TEMPLATE, "{}",                                  false},
		{SETTING_NAME_TEMPLATE, "   ",                                 false},
		{SETTING_LANGUAGE,      "en",                                  true },
		{SETTING_LANGUAGE,      "pt-BR",                               true },
		{SETTING_LANGUAGE,      "EN",                                  false},
		{SETTING_LANGUAGE,      "e",                                   false},
		{SETTING_LANGUAGE,      "en-",                                 false},
		{SETTING_LANGUAGE,      "en-1",                                false},
		{SETTING_TITLE,         "",				    true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct settings settings;

		settings_default(&settings);
		CHECK_INT(settings_parse(&settings, rows[i].row, rows[i].text, NULL), RES_OK);
		expect(&settings, rows[i].good ? NULL : settings_name(rows[i].row));
	}
}

static void test_text_bounds(void)
{
	struct settings settings;
	char text[300];

	settings_default(&settings);
	memset(text, 'x', sizeof text);
	text[63] = '\0';
	CHECK_INT(settings_parse(&settings, SETTING_TITLE, text, NULL), RES_OK);
	text[63] = 'x';
	text[64] = '\0';
	CHECK_INT(settings_parse(&settings, SETTING_TITLE, text, NULL), RES_INVALID);
	CHECK_INT(strlen(settings.title), 63);
	CHECK_INT(settings_parse(&settings, SETTING_TITLE, "a\r\nb", NULL), RES_INVALID);
	CHECK_INT(settings_parse(&settings, SETTING_TITLE, "\xff", NULL), RES_INVALID);
}

static void test_apply(void)
{
	struct settings_input input = {.title = "New", .link_burst = 5, .language = "ru"};
	struct settings settings, before;

	settings_default(&settings);
	before = settings;
	CHECK_INT(settings_apply(&settings, &input, 1u << SETTING_TITLE | 1u << SETTING_LINK_BURST,
				 NULL),
		  RES_OK);
	CHECK_TEXT(settings.title, "New");
	CHECK_INT(settings.link_burst, 5);
	CHECK_TEXT(settings.language, "en"); /* not present */
	settings_copy_row(&settings, &before, SETTING_TITLE);
	settings_copy_row(&settings, &before, SETTING_LINK_BURST);
	CHECK(settings_same(&settings, &before));
}

TEST_MAIN(TEST(test_default_is_good), TEST(test_print_and_parse), TEST(test_b006_public_url),
	  TEST(test_origin), TEST(test_prefixes), TEST(test_prefixes_differ), TEST(test_sent_prefix_is_named),
	  TEST(test_b036_update_interval), TEST(test_other_rules), TEST(test_text_bounds),
	  TEST(test_apply))
