#include "hythe/util/num.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits without a leading zero; the whole of them is looked at before the first is added up, so
 * that "too large" is said of numbers only. */
static enum res digits(const char *text, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t sum = 0;

	if (len == 0 || (len > 1 && text[0] == '0'))
		return RES_INVALID;
	for (size_t i = 0; i < len; i++)
		if (!is_digit(text[i]))
			return RES_INVALID;
	for (size_t i = 0; i < len; i++) {
		if (__builtin_mul_overflow(sum, 10u, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(text[i] - '0'), &sum) || sum > max)
			return RES_TOO_LARGE;
	}
	*out = sum;
	return RES_OK;
}

enum res num_u64(const char *text, size_t len, uint64_t max, uint64_t *out)
{
	return digits(text, len, max, out);
}

enum res num_i64(const char *text, size_t len, int64_t min, int64_t max, int64_t *out)
{
	bool negative = min < 0 && len > 0 && text[0] == '-';
	uint64_t size;
	int64_t value;
	enum res res;

	if (negative && len > 1 && text[1] == '0') /* -0 has no place among integers */
		return RES_INVALID;
	res = digits(text + negative, len - negative, (uint64_t)INT64_MAX + negative, &size);
	if (res != RES_OK)
		return res;
	value = negative ? -(int64_t)(size - 1) - 1 : (int64_t)size;
	if (value < min || value > max)
		return RES_TOO_LARGE;
	*out = value;
	return RES_OK;
}

/* "", "b", or one of k, m, g, t, p with an optional b behind it; 0: something else */
static uint64_t unit_bytes(const char *unit)
{
	static const char letters[] = "kmgtp";
	uint64_t size = 1;
	const char *at;

	if (unit[0] == '\0' || strcasecmp(unit, "b") == 0)
		return 1;
	at = strchr(letters, tolower((unsigned char)unit[0]));
	if (!at || (unit[1] != '\0' && strcasecmp(unit + 1, "b") != 0))
		return 0;
	for (const char *l = letters; l <= at; l++)
		size *= 1000;
	return size;
}

/* The digits behind the point, as bytes of `unit`; they must come out whole. */
static enum res fraction(const char *text, size_t len, uint64_t unit, uint64_t *out)
{
	uint64_t sum = 0;

	if (len == 0)
		return RES_INVALID;
	for (size_t i = 0; i < len; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (unit % 10 == 0)
			unit /= 10;
		else if (digit != 0)
			return RES_INVALID;
		else
			continue;
		sum += digit * unit;
	}
	*out = sum;
	return RES_OK;
}

enum res num_bytes(const char *text, int64_t *bytes)
{
	size_t whole = strspn(text, "0123456789"), part = 0;
	const char *unit = text + whole;
	uint64_t size, sum, rest = 0;
	enum res res;

	if (*unit == '.') {
		part = strspn(unit + 1, "0123456789");
		unit += 1 + part;
	}
	if (*unit == ' ' && unit[1] != '\0')
		unit++;
	size = unit_bytes(unit);
	if (size == 0)
		return RES_INVALID;
	if (text[whole] == '.') {
		res = fraction(text + whole + 1, part, size, &rest);
		if (res != RES_OK)
			return res;
	}
	res = digits(text, whole, INT64_MAX, &sum);
	if (res != RES_OK)
		return res;
	if (__builtin_mul_overflow(sum, size, &sum) || __builtin_add_overflow(sum, rest, &sum) ||
	    sum > INT64_MAX)
		return RES_TOO_LARGE;
	*bytes = (int64_t)sum;
	return RES_OK;
}

enum res num_duration(const char *text, int64_t *seconds)
{
	size_t len = strlen(text);
	uint64_t unit = 1, sum;
	enum res res;

	switch (len ? text[len - 1] : '\0') {
	case 'd':
		unit = 86400;
		len--;
		break;
	case 'h':
		unit = 3600;
		len--;
		break;
	case 'm':
		unit = 60;
		len--;
		break;
	case 's':
		len--;
		break;
	}
	res = digits(text, len, INT64_MAX, &sum);
	if (res != RES_OK)
		return res;
	if (__builtin_mul_overflow(sum, unit, &sum) || sum > INT64_MAX)
		return RES_TOO_LARGE;
	*seconds = (int64_t)sum;
	return RES_OK;
}

int64_t num_add_sat(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}
