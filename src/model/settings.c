#include "hythe/model/settings.h"

#include <stdio.h>
#include <string.h>

#include "hythe/model/host.h"
#include "hythe/model/name.h"
#include "hythe/model/period.h"
#include "hythe/util/addr.h"
#include "hythe/util/hash.h"
#include "hythe/util/num.h"
#include "hythe/util/text.h"

#define DAY_S 86400

/* --- The table --- */

#define INPUT(member, k, least, most)                                                              \
	{.name = #member,                                                                          \
	 .kind = k,                                                                                \
	 .offset = offsetof(struct settings_input, member),                                        \
	 .min = least,                                                                             \
	 .max = most}
#define TEXT_IN(member, least, most)   INPUT(member, JSON_IN_TEXT, least, most)
#define NUMBER_IN(member, least, most) INPUT(member, JSON_IN_I64, least, most)

/* clang-format off */
const struct json_field settings_fields[] = {
	[SETTING_PUBLIC_URL]      = TEXT_IN(public_url, 1, 255),
	[SETTING_SUB_PREFIX]      = TEXT_IN(sub_prefix, 1, SETTING_PREFIX_MAX),
	[SETTING_ADMIN_PREFIX]    = TEXT_IN(admin_prefix, 1, SETTING_PREFIX_MAX),
	[SETTING_TIME_ZONE]       = TEXT_IN(time_zone, 1, 63),
	[SETTING_NAME_TEMPLATE]   = TEXT_IN(name_template, 1, 127),
	[SETTING_TITLE]           = TEXT_IN(title, 0, 63),
	[SETTING_LANGUAGE]        = TEXT_IN(language, 2, 7),
	[SETTING_HIDE_AFTER]      = NUMBER_IN(hide_after_s, 0, 365 * DAY_S),
	[SETTING_LINK_BURST]      = NUMBER_IN(link_burst, 0, 100000),
	[SETTING_NETWORK_PER_S]   = NUMBER_IN(network_per_s, 1, 10000),
	[SETTING_NETWORK_BURST]   = NUMBER_IN(network_burst, 0, 100000),
	[SETTING_CACHE_MAX]       = NUMBER_IN(cache_max_bytes, 0, 1 << 30),
	[SETTING_UPDATE_INTERVAL] = NUMBER_IN(update_interval_h, 1, 8760),
};
/* clang-format on */
const size_t settings_fields_count = SETTINGS_INPUTS;

/* Where a row stands in struct settings. Bounds of rows that are input stand above, once. */
struct row {
	const char *name;
	size_t offset;
	size_t size; /* of the text array; 0: an int64_t */
	int64_t max; /* of numbers that are no input */
};

#define MEMBER(member) .name = #member, .offset = offsetof(struct settings, member)
#define TEXT_ROW(member)                                                                           \
	{                                                                                          \
		MEMBER(member), .size = sizeof(((struct settings *)0)->member)                     \
	}
#define NUMBER_ROW(member)                                                                         \
	{                                                                                          \
		MEMBER(member), .max = INT64_MAX                                                   \
	}

static const struct row rows[SETTINGS_ROWS] = {
	[SETTING_PUBLIC_URL] = TEXT_ROW(public_url),
	[SETTING_SUB_PREFIX] = TEXT_ROW(sub_prefix),
	[SETTING_ADMIN_PREFIX] = TEXT_ROW(admin_prefix),
	[SETTING_TIME_ZONE] = TEXT_ROW(time_zone),
	[SETTING_NAME_TEMPLATE] = TEXT_ROW(name_template),
	[SETTING_TITLE] = TEXT_ROW(title),
	[SETTING_LANGUAGE] = TEXT_ROW(language),
	[SETTING_HIDE_AFTER] = NUMBER_ROW(hide_after_s),
	[SETTING_LINK_BURST] = NUMBER_ROW(link_burst),
	[SETTING_NETWORK_PER_S] = NUMBER_ROW(network_per_s),
	[SETTING_NETWORK_BURST] = NUMBER_ROW(network_burst),
	[SETTING_CACHE_MAX] = NUMBER_ROW(cache_max_bytes),
	[SETTING_UPDATE_INTERVAL] = NUMBER_ROW(update_interval_h),
	[SETTING_OLD_SUB_PREFIX] = TEXT_ROW(old_sub_prefix),
	[SETTING_OLD_SUB_UNTIL] = NUMBER_ROW(old_sub_prefix_until_unix),
	[SETTING_OLD_ADMIN_PREFIX] = TEXT_ROW(old_admin_prefix),
	[SETTING_OLD_ADMIN_UNTIL] = NUMBER_ROW(old_admin_prefix_until_unix),
};

static void *member_of(struct settings *settings, size_t row)
{
	return (char *)settings + rows[row].offset;
}

static const void *member_in(const struct settings *settings, size_t row)
{
	return (const char *)settings + rows[row].offset;
}

const char *settings_name(size_t row)
{
	return row < SETTINGS_ROWS ? rows[row].name : NULL;
}

bool settings_is_text(size_t row)
{
	return row < SETTINGS_ROWS && rows[row].size > 0;
}

/* --- Values --- */

void settings_random_prefix(char out[static SETTING_PREFIX_LEN + 1])
{
	uint8_t bits[16];

	random_bytes(bits, sizeof bits);
	base64url_encode(bits, sizeof bits, out);
}

void settings_default(struct settings *settings)
{
	*settings = (struct settings){
		.public_url = "http://127.0.0.1:8080",
		.time_zone = "UTC",
		.name_template = "{flag} {node}",
		.title = "Hythe",
		.language = "en",
		.hide_after_s = 600,
		.link_burst = 60,
		.network_per_s = 10,
		.network_burst = 60,
		.cache_max_bytes = 2 << 20,
		.update_interval_h = 12,
	};
	settings_random_prefix(settings->sub_prefix);
	settings_random_prefix(settings->admin_prefix);
}

enum res settings_print(const struct settings *settings, size_t row, char *out, size_t size)
{
	int64_t number;
	int len;

	if (row >= SETTINGS_ROWS)
		return RES_NOT_FOUND;
	if (settings_is_text(row))
		return text_copy(out, size, member_in(settings, row)) ? RES_OK : RES_TOO_LARGE;
	memcpy(&number, member_in(settings, row), sizeof number);
	len = snprintf(out, size, "%lld", (long long)number);
	return len > 0 && (size_t)len < size ? RES_OK : RES_TOO_LARGE;
}

static enum res set_text(struct settings *settings, size_t row, const char *text,
			 struct problem *problem)
{
	size_t len = strlen(text);

	if (len < rows[row].size && !text_has_control(text, len) && text_utf8_valid(text, len)) {
		memcpy(member_of(settings, row), text, len + 1);
		return RES_OK;
	}
	return problem_set(problem, RES_INVALID, "bad_value", rows[row].name,
			   "%s must be text of at most %zu bytes without control characters",
			   rows[row].name, rows[row].size - 1);
}

enum res settings_parse(struct settings *settings, size_t row, const char *text,
			struct problem *problem)
{
	int64_t least = 0, most, number;

	if (row >= SETTINGS_ROWS)
		return RES_NOT_FOUND;
	if (settings_is_text(row))
		return set_text(settings, row, text, problem);
	most = rows[row].max;
	if (row < SETTINGS_INPUTS) {
		least = settings_fields[row].min;
		most = settings_fields[row].max;
	}
	if (num_i64(text, strlen(text), least, most, &number) != RES_OK)
		return problem_set(problem, RES_INVALID, "out_of_range", rows[row].name,
				   "%s must be a whole number from %lld to %lld", rows[row].name,
				   (long long)least, (long long)most);
	memcpy(member_of(settings, row), &number, sizeof number);
	return RES_OK;
}

enum res settings_apply(struct settings *settings, const struct settings_input *input,
			uint64_t present, struct problem *problem)
{
	for (size_t row = 0; row < SETTINGS_INPUTS; row++) {
		const char *from = (const char *)input + settings_fields[row].offset;
		const char *text;
		enum res res;

		if (!(present & (UINT64_C(1) << row)))
			continue;
		if (!settings_is_text(row)) {
			memcpy(member_of(settings, row), from, sizeof(int64_t));
			continue;
		}
		memcpy(&text, from, sizeof text);
		if ((res = set_text(settings, row, text, problem)) != RES_OK)
			return res;
	}
	return RES_OK;
}

void settings_copy_row(struct settings *to, const struct settings *from, size_t row)
{
	size_t size = settings_is_text(row) ? rows[row].size : sizeof(int64_t);

	memcpy(member_of(to, row), member_in(from, row), size);
}

/* --- Rules --- */

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool settings_prefix_valid(const char *prefix)
{
	size_t len = 0;

	for (; prefix[len]; len++)
		if (!word_char(prefix[len]) && prefix[len] != '-' && prefix[len] != '_')
			return false;
	/* "api" is what scanners ask for first. */
	return len >= 1 && len <= SETTING_PREFIX_MAX && strcasecmp(prefix, "api") != 0;
}

bool settings_url_is_https(const char *public_url)
{
	return strncmp(public_url, "https://", 8) == 0;
}

static const char *after_scheme(const char *url)
{
	if (settings_url_is_https(url))
		return url + 8;
	return strncmp(url, "http://", 7) == 0 ? url + 7 : NULL;
}

size_t settings_origin_len(const char *public_url)
{
	const char *host = after_scheme(public_url);

	return host ? (size_t)(host - public_url) + strcspn(host, "/?#") : 0;
}

/* A name of letters, digits and inner hyphens in labels; also what an IPv4 literal looks like. */
static bool host_name_valid(const char *host, size_t len)
{
	size_t label = 0;

	if (len == 0 || len > 253)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool hyphen = host[i] == '-';

		if (host[i] == '.') {
			if (label == 0 || host[i - 1] == '-')
				return false;
			label = 0;
			continue;
		}
		if ((!word_char(host[i]) && !hyphen) || (hyphen && label == 0) || ++label > 63)
			return false;
	}
	return label > 0 && host[len - 1] != '-';
}

/* What ends with a number would be read as an address by a client, so it must be one. */
static bool looks_like_ipv4(const char *host, size_t len)
{
	size_t last = len;

	while (last > 0 && host[last - 1] != '.')
		last--;
	return host_label_is_number(host + last, len - last);
}

/* Host and its length at `text`; what follows is the port, the path or the end. */
static bool host_valid(const char *text, size_t *len)
{
	struct addr addr;

	if (text[0] == '[') {
		size_t inner = strcspn(text + 1, "]");

		*len = inner + 2;
		return text[inner + 1] == ']' && memchr(text + 1, ':', inner) &&
		       addr_parse(text + 1, inner, &addr) && addr_is_host(&addr);
	}
	*len = strcspn(text, ":/");
	if (!host_name_valid(text, *len))
		return false;
	return !looks_like_ipv4(text, *len) ||
	       (addr_parse(text, *len, &addr) && addr_is_host(&addr));
}

static bool path_valid(const char *path)
{
	const char *segment = path;

	for (const char *at = path; *at; at++)
		if (!word_char(*at) && !strchr("/-_.~", *at))
			return false;
	while (*segment == '/') {
		size_t len = strcspn(++segment, "/");

		/* An empty segment includes the slash at the end, which would double in links. */
		if (len == 0 || strncmp(segment, ".", len) == 0 || strncmp(segment, "..", len) == 0)
			return false;
		segment += len;
	}
	return *segment == '\0';
}

bool settings_url_valid(const char *url)
{
	const char *at = after_scheme(url);
	size_t len;

	if (!at || !host_valid(at, &len))
		return false;
	at += len;
	if (*at == ':') {
		int64_t port;

		len = strcspn(++at, "/");
		if (num_i64(at, len, 1, 65535, &port) != RES_OK)
			return false;
		at += len;
	}
	return path_valid(at);
}

bool settings_url_is_loopback(const char *public_url)
{
	const char *host = after_scheme(public_url);
	struct addr addr;
	size_t len;

	if (!host || !host_valid(host, &len))
		return false;
	if (host[0] == '[')
		return addr_parse(host + 1, len - 2, &addr) && addr_is_loopback(&addr);
	if (len == 9 && strncasecmp(host, "localhost", 9) == 0)
		return true;
	return addr_parse(host, len, &addr) && addr_is_loopback(&addr);
}

static bool template_valid(const char *template)
{
	static const char *const pieces[] = {"flag", "country", "city",      "node",     "profile",
					     "host", "user",    "days_left", "data_left"};

	for (const char *at = template; *at;) {
		size_t len, i;

		if (*at == '}')
			return false;
		if (*at++ != '{')
			continue;
		len = strcspn(at, "{}");
		for (i = 0; i < sizeof pieces / sizeof *pieces; i++)
			if (strlen(pieces[i]) == len && strncmp(at, pieces[i], len) == 0)
				break;
		if (i == sizeof pieces / sizeof *pieces || at[len] != '}')
			return false;
		at += len + 1;
	}
	return template[strspn(template, " ")] != '\0';
}

/* "en", "pt-BR": what an HTML lang attribute and a file name can both bear. */
static bool language_valid(const char *language)
{
	size_t len = strspn(language, "abcdefghijklmnopqrstuvwxyz");

	if (len < 2 || len > 3)
		return false;
	if (language[len] == '\0')
		return true;
	return language[len] == '-' && strlen(language + len + 1) >= 2 &&
	       strspn(language + len + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
		       strlen(language + len + 1);
}

static enum res zone_check(const char *name, struct problem *problem)
{
	struct zone *zone = NULL;
	enum res res = zone_load(name, &zone);

	zone_free(zone);
	if (res == RES_OK || res == RES_NOMEM)
		return res;
	return problem_set(
		problem, RES_INVALID, "bad_value", "time_zone",
		"time_zone must be a zone that this system knows, such as Europe/Berlin");
}

static enum res prefix_check(const char *field, const char *prefix, struct problem *problem)
{
	if (settings_prefix_valid(prefix))
		return RES_OK;
	return problem_set(problem, RES_INVALID, "bad_value", field,
			   "%s must be 1 to %d of A-Z a-z 0-9 _ - and not \"api\"", field,
			   SETTING_PREFIX_MAX);
}

/* Two prefixes in force at once lead to two places, so they must differ; an old one of the same
 * kind leads to the same place and may be taken again. */
static enum res prefixes_differ(const struct settings *settings, uint64_t sent,
				struct problem *problem)
{
	bool only_sub = (sent & UINT64_C(1) << SETTING_SUB_PREFIX) &&
			!(sent & UINT64_C(1) << SETTING_ADMIN_PREFIX);
	const char *field = NULL;

	if (strcmp(settings->sub_prefix, settings->admin_prefix) == 0)
		field = only_sub ? "sub_prefix" : "admin_prefix";
	else if (strcmp(settings->sub_prefix, settings->old_admin_prefix) == 0)
		field = "sub_prefix";
	else if (strcmp(settings->admin_prefix, settings->old_sub_prefix) == 0)
		field = "admin_prefix";
	else if (settings->old_sub_prefix[0] &&
		 strcmp(settings->old_sub_prefix, settings->old_admin_prefix) == 0)
		field = "sub_prefix";
	if (!field)
		return RES_OK;
	return problem_set(problem, RES_INVALID, "prefix_taken", field,
			   "%s is in use for the other kind of address; choose another", field);
}

enum res settings_check(const struct settings *settings, struct problem *problem)
{
	return settings_check_change(settings, 0, problem);
}

enum res settings_check_change(const struct settings *settings, uint64_t sent,
			       struct problem *problem)
{
	enum res res;

	if ((res = shown_check("title", settings->title, problem)) != RES_OK ||
	    (res = shown_check("name_template", settings->name_template, problem)) != RES_OK)
		return res;
	if (!settings_url_valid(settings->public_url))
		return problem_set(
			problem, RES_INVALID, "bad_value", "public_url",
			"public_url must be http:// or https://, a host, and at most a port "
			"and a path without a slash at its end");
	if ((res = prefix_check("sub_prefix", settings->sub_prefix, problem)) != RES_OK ||
	    (res = prefix_check("admin_prefix", settings->admin_prefix, problem)) != RES_OK ||
	    (res = prefixes_differ(settings, sent, problem)) != RES_OK ||
	    (res = zone_check(settings->time_zone, problem)) != RES_OK)
		return res;
	if (!template_valid(settings->name_template))
		return problem_set(
			problem, RES_INVALID, "bad_value", "name_template",
			"name_template may use {flag} {country} {city} {node} {profile} {host} "
			"{user} {days_left} {data_left}");
	if (!language_valid(settings->language))
		return problem_set(problem, RES_INVALID, "bad_value", "language",
				   "language must be a code such as en or pt-BR");
	return RES_OK;
}
