#include "test.h"

#include <time.h>

#include "model/zone.h"

static struct zone *load(const char *name)
{
	struct zone *zone;

	if (zone_load(name, &zone) != RES_OK)
		TEST_FAIL("no zone %s", name);
	return zone;
}

static const char *const zones[] = {
	"UTC",          "Europe/Berlin",   "America/New_York",   "America/St_Johns",
	"Asia/Tehran",  "Asia/Kolkata",    "Asia/Shanghai",      "Australia/Lord_Howe",
	"Pacific/Apia", "Pacific/Chatham", "Africa/Casablanca",  "America/Sao_Paulo",
	"Africa/Cairo", "Asia/Beirut",     "Europe/Dublin",      "America/Havana",
	"Asia/Gaza",    "Etc/GMT+12",      "Pacific/Kiritimati", "Antarctica/Troll",
};

/* libc reads the same files by code of its own; it serves here because this process has nothing
 * else to do with its time zone. */
static void test_same_as_libc(void)
{
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		struct zone *zone = load(zones[i]);

		setenv("TZ", zones[i], 1);
		tzset();
		for (int64_t t = -2000000000; t < 6000000000; t += 1234567) {
			time_t when = (time_t)t;
			struct local_time got;
			struct tm want;

			localtime_r(&when, &want);
			zone_local(zone, t, &got);
			if (got.year != want.tm_year + 1900 || got.month != want.tm_mon + 1 ||
			    got.day != want.tm_mday || got.hour != want.tm_hour ||
			    got.minute != want.tm_min || got.second != want.tm_sec ||
			    got.weekday != (want.tm_wday + 6) % 7)
				TEST_FAIL("%s at %lld: %d-%d-%d %d:%d:%d", zones[i], (long long)t,
					  got.year, got.month, got.day, got.hour, got.minute,
					  got.second);
		}
		zone_free(zone);
	}
}

/* The first second of a day: the one before belongs to an earlier day. */
static void test_midnight(void)
{
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		struct zone *zone = load(zones[i]);

		for (int64_t day = civil_days(1970, 1, 1); day < civil_days(2045, 1, 1); day++) {
			int64_t year, midnight;
			struct local_time at, before;
			int month, of_month;

			civil_of_days(day, &year, &month, &of_month);
			midnight = zone_midnight(zone, (int)year, month, of_month);
			zone_local(zone, midnight, &at);
			zone_local(zone, midnight - 1, &before);
			if (civil_days(at.year, at.month, at.day) < day ||
			    civil_days(before.year, before.month, before.day) >= day)
				TEST_FAIL("%s %lld-%d-%d: %lld", zones[i], (long long)year, month,
					  of_month, (long long)midnight);
		}
		zone_free(zone);
	}
}

static void test_known_days(void)
{
	static const struct {
		const char *zone;
		int year, month, day;
		int64_t midnight;
	} rows[] = {
		{"UTC",               1970, 1,  1,  0         },
		{"Europe/Berlin",     2026, 3,  29, 1774738800}, /* spring forward at two */
		{"Europe/Berlin",     2026, 3,  30, 1774821600}, /* a day of 23 hours */
		{"Europe/Berlin",     2026, 10, 26, 1792969200}, /* after one of 25 */
		{"Asia/Beirut",       2026, 3,  29, 1774735200}, /* midnight does not exist: 01:00 */
		{"America/Sao_Paulo", 2018, 11, 4,  1541300400}, /* nor here */
		{"Pacific/Apia",      2011, 12, 30, 1325239200}, /* the whole day does not exist */
		{"Pacific/Apia",      2011, 12, 31, 1325239200},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct zone *zone = load(rows[i].zone);

		CHECK_INT(zone_midnight(zone, rows[i].year, rows[i].month, rows[i].day),
			  rows[i].midnight);
		zone_free(zone);
	}
}

static void test_names_refused(void)
{
	static const char *const names[] = {
		"",
		"/etc/passwd",
		"../../../etc/passwd",
		"Europe/../Europe/Berlin",
		"Europe",
		"Europe/Nowhere",
		"zone.tab",
		"tzdata.zi",
		"Europe/Berlin ",
		"Europe/Ber\nlin",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct zone *zone;

		CHECK_INT(zone_load(names[i], &zone), RES_NOT_FOUND);
		CHECK(zone == NULL);
	}
}

/* A file by hand: one type, no change, a footer. */
static size_t file_with(const char *footer, uint8_t *out)
{
	static const uint8_t header[44] = {'T', 'Z', 'i', 'f', '2', [39] = 1, [43] = 4};
	static const uint8_t body[10] = {0, 0, 0, 0, 0, 0, 'U', 'T', 'C', 0};
	size_t len = 0;

	for (int block = 0; block < 2; block++) {
		memcpy(out + len, header, sizeof header);
		len += sizeof header;
		memcpy(out + len, body, sizeof body);
		len += sizeof body;
	}
	len += (size_t)sprintf((char *)out + len, "\n%s\n", footer);
	return len;
}

static void test_footers(void)
{
	static const struct {
		const char *text;
		enum res res;
		int64_t july; /* offset in July 2026 */
	} rows[] = {
		{"",					       RES_OK,        0     },
		{"UTC0",					   RES_OK,        0     },
		{"CET-1CEST,M3.5.0,M10.5.0/3",                     RES_OK,        7200  },
		{"EST5EDT,M3.2.0,M11.1.0",                         RES_OK,        -14400},
		{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",           RES_OK,        37800 },
		{"AAA3BBB,J60/0,J300",                             RES_OK,        -7200 },
		{"AAA3BBB,59/0,299/25:30:10",                      RES_OK,        -7200 },
		{"XXX",					    RES_MALFORMED, 0     },
		{"X0",					     RES_MALFORMED, 0     },
		{"XXX999",					 RES_MALFORMED, 0     },
		{"CET-1CEST",				      RES_MALFORMED, 0     },
		{"CET-1CEST,M13.5.0,M10.5.0",                      RES_MALFORMED, 0     },
		{"CET-1CEST,M3.6.0,M10.5.0",                       RES_MALFORMED, 0     },
		{"CET-1CEST,M3.5.7,M10.5.0",                       RES_MALFORMED, 0     },
		{"CET-1CEST,J0,J10",                               RES_MALFORMED, 0     },
		{"CET-1CEST,M3.5.0,M10.5.0x",                      RES_MALFORMED, 0     },
		{"CET-1CEST,M3.5.0/999999999999999999999,M10.5.0", RES_MALFORMED, 0     },
		{"<+1-1",					  RES_MALFORMED, 0     },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t data[256];
		size_t len = file_with(rows[i].text, data);
		struct zone *zone;

		if (zone_parse(data, len, &zone) != rows[i].res)
			TEST_FAIL("row %zu: %s", i, rows[i].text);
		if (zone)
			CHECK_INT(zone_offset(zone, 1783000000), rows[i].july);
		zone_free(zone);
		CHECK_INT(zone_parse(data, len - 1, &zone), RES_MALFORMED); /* cut off */
	}
}

TEST_MAIN(TEST(test_same_as_libc), TEST(test_midnight), TEST(test_known_days),
	  TEST(test_names_refused), TEST(test_footers))
