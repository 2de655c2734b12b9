#include "test.h"

#include "model/zone.h"

#define DAY 86400LL

static struct zone *load(const char *name)
{
	struct zone *zone;

	if (zone_load(name, &zone) != RES_OK)
		TEST_FAIL("no zone %s", name);
	return zone;
}

/* B078: start days 28 to 31, over two years with the February of a leap year: one reset a month, on
 * the day or the last of the month, and on the day again after a short one. */
static void test_b078_end_of_month(void)
{
	struct zone *zone = load("Europe/Berlin");

	for (int day = 28; day <= 31; day++) {
		int64_t anchor = zone_midnight(zone, 2027, 1, day) + 50000;
		struct period period = period_at(zone, PERIOD_MONTH, 0, anchor, anchor);

		for (int month = 1; month <= 24; month++) {
			int year = 2027 + month / 12, of_year = month % 12 + 1;
			int last = month_days(year, of_year);

			CHECK_INT(period.end_unix,
				  zone_midnight(zone, year, of_year, day < last ? day : last));
			CHECK_INT(period_at(zone, PERIOD_MONTH, 0, anchor, period.end_unix - 1)
					  .start_unix,
				  period.start_unix);
			period = period_at(zone, PERIOD_MONTH, 0, anchor, period.end_unix);
		}
	}
	zone_free(zone);
}

static void test_leap_day(void)
{
	struct zone *zone = load("UTC");
	int64_t anchor = civil_days(2024, 2, 29) * DAY + 5;
	struct period period = period_at(zone, PERIOD_YEAR, 0, anchor, anchor);

	CHECK_INT(period.start_unix, civil_days(2024, 2, 29) * DAY);
	CHECK_INT(period.end_unix, civil_days(2025, 2, 28) * DAY);
	period = period_at(zone, PERIOD_YEAR, 0, anchor, civil_days(2027, 6, 1) * DAY);
	CHECK_INT(period.end_unix, civil_days(2028, 2, 29) * DAY);
	zone_free(zone);
}

static void test_kinds(void)
{
	static const struct {
		enum quota_period kind;
		int64_t days;
		int from[3], to[3]; /* civil dates in UTC */
	} rows[] = {
		{PERIOD_DAY,            0, {2026, 12, 1},  {2026, 12, 2} },
		{PERIOD_WEEK,           0, {2026, 11, 30}, {2026, 12, 7} }, /* Monday */
		{PERIOD_MONTH,          0, {2026, 11, 15}, {2026, 12, 15}},
		{PERIOD_CALENDAR_MONTH, 0, {2026, 12, 1},  {2027, 1, 1}  },
		{PERIOD_YEAR,           0, {2026, 1, 15},  {2027, 1, 15} },
	};
	struct zone *zone = load("UTC");
	int64_t anchor = civil_days(2025, 1, 15) * DAY + 3600,
		now = civil_days(2026, 12, 1) * DAY + 7200;
	struct period period;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		period = period_at(zone, rows[i].kind, rows[i].days, anchor, now);
		CHECK_INT(period.start_unix,
			  civil_days(rows[i].from[0], rows[i].from[1], rows[i].from[2]) * DAY);
		CHECK_INT(period.end_unix,
			  civil_days(rows[i].to[0], rows[i].to[1], rows[i].to[2]) * DAY);
	}
	period = period_at(zone, PERIOD_NONE, 0, anchor, now);
	CHECK_INT(period.end_unix, 0);
	period = period_at(zone, PERIOD_ROLLING30, 0, anchor, anchor + 60 * DAY - 1);
	CHECK_INT(period.start_unix, anchor + 30 * DAY);
	CHECK_INT(period.end_unix, anchor + 60 * DAY);
	period = period_at(zone, PERIOD_DAYS, 7, anchor, anchor + 7 * DAY);
	CHECK_INT(period.start_unix, anchor + 7 * DAY);
	period = period_at(zone, PERIOD_DAYS, 7, anchor, anchor - 1); /* an anchor to come */
	CHECK_INT(period.end_unix, anchor);
	zone_free(zone);
}

/* Every moment lies in its period, and periods follow each other without gap or overlap: over days
 * of 23 and 25 hours, midnights that do not exist and midnights that come twice. */
static void test_periods_tile(void)
{
	static const char *const names[] = {"Europe/Berlin", "Asia/Beirut",       "America/Havana",
					    "Pacific/Apia",  "America/Sao_Paulo", "Asia/Gaza",
					    "Africa/Cairo"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct zone *zone = load(names[i]);
		int64_t anchor = civil_days(2009, 1, 31) * DAY + 80000;

		for (int kind = PERIOD_DAY; kind <= PERIOD_DAYS; kind++) {
			struct period period =
				period_at(zone, (enum quota_period)kind, 3, anchor, anchor);

			while (period.end_unix < anchor + 9 * 365 * DAY) {
				struct period next = period_at(zone, (enum quota_period)kind, 3,
							       anchor, period.end_unix);

				CHECK(period.start_unix < period.end_unix);
				CHECK_INT(next.start_unix, period.end_unix);
				CHECK_INT(period_at(zone, (enum quota_period)kind, 3, anchor,
						    period.end_unix - 1)
						  .start_unix,
					  period.start_unix);
				period = next;
			}
		}
		zone_free(zone);
	}
}

/* B080: what is shown is what the writer will do, for each kind of period. */
static void test_b080_next_reset(void)
{
	struct zone *zone = load("Europe/Berlin");

	for (int kind = PERIOD_DAY; kind <= PERIOD_DAYS; kind++) {
		struct user user = {.quota_period = (enum quota_period)kind,
				    .quota_period_days = 3,
				    .period_anchor_unix = 1800000000};
		struct period stored =
			period_at(zone, user.quota_period, 3, user.period_anchor_unix, 1800000000);
		struct period seen;

		user.usage.period_start_unix = 1800000000;
		user.usage.period_end_unix = stored.end_unix;
		seen = user_period_at(zone, &user, stored.end_unix - 1);
		CHECK_INT(seen.start_unix, 1800000000); /* as stored */
		CHECK_INT(seen.end_unix, stored.end_unix);
		seen = user_period_at(zone, &user,
				      stored.end_unix); /* before the writer has seen it */
		CHECK_INT(seen.start_unix, stored.end_unix);
		CHECK(seen.end_unix > stored.end_unix);
	}
	zone_free(zone);
}

/* The panel moved to another time zone in the middle of a day. */
static void test_zone_moved(void)
{
	struct zone *west = load("America/Los_Angeles");
	struct user user = {.quota_period = PERIOD_DAY};
	struct period period;

	user.usage.period_start_unix = 1792940400; /* midnight in Berlin */
	user.usage.period_end_unix = 1792940400 + DAY;
	period = user_period_at(west, &user, user.usage.period_end_unix + 10);
	CHECK_INT(period.start_unix, user.usage.period_end_unix);
	CHECK(period.end_unix > period.start_unix + 10);
	zone_free(west);
}

TEST_MAIN(TEST(test_b078_end_of_month), TEST(test_leap_day), TEST(test_kinds),
	  TEST(test_periods_tile), TEST(test_b080_next_reset), TEST(test_zone_moved))
