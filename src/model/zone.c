/* zone.c – the system's tz database, read without libc's TZ, which belongs to the whole process.
 *
 * A file is a list of moments at which the offset changes, and a rule for all time after the last.
 */
#include "zone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONE_DIR   "/usr/share/zoneinfo/"
#define DAY_S      86400
#define HEADER_LEN 44
#define OFFSET_MAX (26 * 3600) /* RFC 8536, section 3.2 */

struct rule_date {
	char kind; /* 'M' month, week, weekday; 'J' day 1-365 without 29 February; 'N' day 0-365 */
	int month, week, day;
	int64_t time_s;
};

struct rule { /* the footer: POSIX TZ */
	bool present, has_dst;
	int64_t std_offset, dst_offset;
	struct rule_date dst_start, dst_end;
};

struct zone {
	size_t count;
	int64_t *at;      /* rising */
	int32_t *offset;  /* from at[i] on */
	int32_t first;    /* before at[0] */
	struct rule rule; /* from the last on */
};

/* --- Calendar --- */
int64_t civil_days(int64_t year, int month, int day)
{
	/* Years begin in March here, so that the leap day is the last of its year. */
	int64_t y = month > 2 ? year : year - 1, era = (y >= 0 ? y : y - 399) / 400,
		of_era = y - era * 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void civil_of_days(int64_t days, int64_t *year, int *month, int *day)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097,
		of_era = z - era * 146097;
	int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;

	*day = (int)(of_year - (153 * m + 2) / 5 + 1);
	*month = (int)(m < 10 ? m + 3 : m - 9);
	*year = y + era * 400 + (*month <= 2);
}

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int month_days(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && is_leap(year));
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && a < 0);
}

/* --- The footer --- */
struct text {
	const char *at, *end;
};

static bool take(struct text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static bool take_number(struct text *t, int64_t max, int64_t *out)
{
	const char *start = t->at;

	for (*out = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
		*out = *out * 10 + (*t->at - '0');
		if (*out > max)
			return false;
	}
	return t->at > start;
}

static bool take_name(struct text *t)
{
	bool quoted = take(t, '<');
	size_t len = 0;

	for (; t->at < t->end; t->at++, len++) {
		char c = *t->at;
		bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

		if (!letter && !(quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-')))
			break;
	}
	return len >= 3 && (!quoted || take(t, '>'));
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct text *t, int64_t *seconds)
{
	int64_t sign = take(t, '-') ? -1 : (take(t, '+'), 1), hours, minutes = 0, rest = 0;

	if (!take_number(t, 167, &hours))
		return false;
	if (take(t, ':') && !take_number(t, 59, &minutes))
		return false;
	if (t->at < t->end && *t->at == ':' && (t->at++, !take_number(t, 59, &rest)))
		return false;
	*seconds = sign * (hours * 3600 + minutes * 60 + rest);
	return true;
}

static bool take_date(struct text *t, struct rule_date *out)
{
	int64_t month = 0, week = 0, day = 0;

	out->kind = take(t, 'M') ? 'M' : take(t, 'J') ? 'J' : 'N';
	if (out->kind == 'M') {
		if (!take_number(t, 12, &month) || month < 1 || !take(t, '.') ||
		    !take_number(t, 5, &week) || week < 1 || !take(t, '.') ||
		    !take_number(t, 6, &day))
			return false;
	} else if (!take_number(t, 365, &day) || (out->kind == 'J' && day < 1)) {
		return false;
	}
	out->month = (int)month;
	out->week = (int)week;
	out->day = (int)day;
	out->time_s = 2 * 3600;
	return !take(t, '/') || take_time(t, &out->time_s);
}

static bool parse_rule(struct text t, struct rule *rule)
{
	if (t.at == t.end)
		return true; /* no rule: the last offset holds on */
	if (!take_name(&t) || !take_time(&t, &rule->std_offset))
		return false;
	rule->present = true;
	rule->std_offset = -rule->std_offset; /* POSIX counts westward */
	if (t.at == t.end)
		return true;
	rule->has_dst = true;
	rule->dst_offset = rule->std_offset + 3600;
	if (!take_name(&t))
		return false;
	if (t.at < t.end && *t.at != ',') {
		if (!take_time(&t, &rule->dst_offset))
			return false;
		rule->dst_offset = -rule->dst_offset;
	}
	return take(&t, ',') && take_date(&t, &rule->dst_start) && take(&t, ',') &&
	       take_date(&t, &rule->dst_end) && t.at == t.end;
}

/* The date's moment in `year`, in local seconds since the epoch. */
static int64_t date_at(const struct rule_date *date, int64_t year)
{
	int64_t days = civil_days(year, 1, 1) + date->day;

	if (date->kind == 'J') {
		days -= 1;
		if (is_leap(year) && date->day >= 60)
			days++;
	} else if (date->kind == 'M') {
		int64_t first = civil_days(year, date->month, 1),
			last = first + month_days(year, date->month) - 1;
		int64_t weekday =
			((first + 4) % 7 + 7) % 7; /* 0 = Sunday; 1970-01-01 was a Thursday */

		days = first + (date->day - weekday + 7) % 7 + 7 * (date->week - 1);
		if (days > last)
			days -= 7;
	}
	return days * DAY_S + date->time_s;
}

static int64_t rule_offset(const struct rule *rule, int64_t unix_s)
{
	int64_t year, start, end;
	int month, day;
	bool dst;

	if (!rule->has_dst)
		return rule->std_offset;
	civil_of_days(floor_div(unix_s + rule->std_offset, DAY_S), &year, &month, &day);
	start = date_at(&rule->dst_start, year) - rule->std_offset;
	end = date_at(&rule->dst_end, year) - rule->dst_offset;
	/* South of the equator summer runs over the turn of the year. */
	dst = start < end ? unix_s >= start && unix_s < end : unix_s >= start || unix_s < end;
	return dst ? rule->dst_offset : rule->std_offset;
}

int64_t zone_offset(const struct zone *zone, int64_t unix_s)
{
	size_t low = 0, high = zone->count;

	while (low < high) { /* the number of changes at or before */
		size_t middle = low + (high - low) / 2;

		if (zone->at[middle] <= unix_s)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->count && zone->rule.present)
		return rule_offset(&zone->rule, unix_s);
	return low == 0 ? zone->first : zone->offset[low - 1];
}

/* --- The file --- */
struct header {
	uint32_t isut, isstd, leap, times, types, chars;
};

static uint32_t read_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t read_i64(const uint8_t *p)
{
	return (int64_t)((uint64_t)read_u32(p) << 32 | read_u32(p + 4));
}

static bool read_header(const uint8_t *data, size_t len, struct header *h)
{
	if (len < HEADER_LEN || memcmp(data, "TZif", 4) != 0 || data[4] < '2')
		return false;
	*h = (struct header){read_u32(data + 20), read_u32(data + 24), read_u32(data + 28),
			     read_u32(data + 32), read_u32(data + 36), read_u32(data + 40)};
	/* Bounds first, so that no sum below can run over. */
	return h->isut <= 256 && h->isstd <= 256 && h->leap <= 4096 && h->times <= 8192 &&
	       h->types >= 1 && h->types <= 256 && h->chars <= 4096;
}

static size_t body_len(const struct header *h, size_t time_len)
{
	return h->times * (time_len + 1) + h->types * 6u + h->chars + h->leap * (time_len + 4) +
	       h->isstd + h->isut;
}

static bool read_type(const uint8_t *types, const struct header *h, uint8_t index, int32_t *offset)
{
	if (index >= h->types)
		return false;
	*offset = (int32_t)read_u32(types + index * 6u);
	return *offset > -OFFSET_MAX && *offset < OFFSET_MAX;
}

static bool read_changes(const uint8_t *body, const struct header *h, struct zone *zone)
{
	const uint8_t *indexes = body + h->times * 8u, *types = indexes + h->times;

	for (size_t i = 0; i < h->times; i++) {
		zone->at[i] = read_i64(body + i * 8);
		if (!read_type(types, h, indexes[i], &zone->offset[i]) ||
		    (i > 0 && zone->at[i] <= zone->at[i - 1]))
			return false;
	}
	zone->count = h->times;
	return read_type(types, h, 0, &zone->first);
}

static bool read_footer(const uint8_t *data, size_t len, struct rule *rule)
{
	const uint8_t *end;

	if (len < 2 || data[0] != '\n' || !(end = memchr(data + 1, '\n', len - 1)))
		return false;
	return parse_rule((struct text){(const char *)data + 1, (const char *)end}, rule);
}

enum res zone_parse(const uint8_t *data, size_t len, struct zone **out)
{
	struct header first, second;
	struct zone *zone;
	size_t skip, size;
	bool good;

	*out = NULL;
	if (len > ZONE_FILE_MAX || !read_header(data, len, &first))
		return RES_MALFORMED;
	skip = HEADER_LEN + body_len(&first, 4); /* the old block with 32-bit times */
	if (skip > len || !read_header(data + skip, len - skip, &second))
		return RES_MALFORMED;
	skip += HEADER_LEN;
	size = body_len(&second, 8);
	if (size > len - skip)
		return RES_MALFORMED;
	if (!(zone = calloc(1, sizeof *zone)))
		return RES_NOMEM;
	zone->at = calloc(second.times + 1u, sizeof *zone->at);
	zone->offset = calloc(second.times + 1u, sizeof *zone->offset);
	good = zone->at && zone->offset;
	if (!good || !read_changes(data + skip, &second, zone) ||
	    !read_footer(data + skip + size, len - skip - size, &zone->rule)) {
		zone_free(zone);
		return good ? RES_MALFORMED : RES_NOMEM;
	}
	*out = zone;
	return RES_OK;
}

void zone_free(struct zone *zone)
{
	if (!zone)
		return;
	free(zone->at);
	free(zone->offset);
	free(zone);
}

/* Europe/Berlin, Etc/GMT+3: nothing that could leave the directory. */
static bool name_valid(const char *name)
{
	size_t len = strnlen(name, 64);

	return len >= 1 && len < 64 && name[0] != '/' && !strstr(name, "..") &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") ==
		       len;
}

static enum res read_file(int fd, uint8_t *data, size_t size, size_t *len)
{
	for (*len = 0; *len < size;) {
		ssize_t n = read(fd, data + *len, size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return RES_IO;
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	return RES_OK;
}

static enum res load_file(const char *name, struct zone **out)
{
	char path[sizeof ZONE_DIR + 64] = ZONE_DIR;
	uint8_t *data = NULL;
	struct stat st;
	size_t len;
	enum res res = RES_NOT_FOUND;
	int fd;

	strncat(path, name, 63);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		return RES_NOT_FOUND;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > ZONE_FILE_MAX)
		goto out;
	res = RES_NOMEM;
	if (!(data = malloc((size_t)st.st_size + 1)))
		goto out;
	if ((res = read_file(fd, data, (size_t)st.st_size, &len)) == RES_OK)
		res = zone_parse(data, len, out);
	if (res == RES_MALFORMED) /* zone.tab and its like stand there too */
		res = RES_NOT_FOUND;
out:
	free(data);
	close(fd);
	return res;
}

enum res zone_load(const char *name, struct zone **out)
{
	*out = NULL;
	if (!name_valid(name))
		return RES_NOT_FOUND;
	if (strcmp(name, "UTC") != 0)
		return load_file(name, out);
	return (*out = calloc(1, sizeof **out)) ? RES_OK : RES_NOMEM;
}

/* --- Local time --- */
void zone_local(const struct zone *zone, int64_t unix_s, struct local_time *out)
{
	int64_t local = unix_s + zone_offset(zone, unix_s), days = floor_div(local, DAY_S), year;
	int of_day = (int)(local - days * DAY_S);

	civil_of_days(days, &year, &out->month, &out->day);
	out->year = (int)year;
	out->hour = of_day / 3600;
	out->minute = of_day / 60 % 60;
	out->second = of_day % 60;
	out->weekday = (int)(((days + 3) % 7 + 7) % 7);
}

/* A change of offset may fall on midnight, so that the day begins at one o'clock, or midnight comes
 * twice; then the first second whose local time is not before it counts. */
int64_t zone_midnight(const struct zone *zone, int year, int month, int day)
{
	int64_t local = civil_days(year, month, day) * DAY_S;
	int64_t low = local - 2 * DAY_S, high = local + 2 * DAY_S;
	int64_t before = zone_offset(zone, low), after = zone_offset(zone, high);

	if (before == after)
		return local - before;
	while (high - low > 1) { /* the change: the first second with the later offset */
		int64_t middle = low + (high - low) / 2;

		if (zone_offset(zone, middle) == before)
			low = middle;
		else
			high = middle;
	}
	if (local - before < high)
		return local - before;
	return local - after > high ? local - after : high;
}
