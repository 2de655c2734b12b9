/* zone.h – a time zone as read from a file of the tz database (RFC 8536, version 2 and later). */
#ifndef HYTHE_MODEL_ZONE_H
#define HYTHE_MODEL_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "hythe/model/period.h"

#define ZONE_FILE_MAX (64 * 1024)

/* RES_MALFORMED: not such a file; RES_NOMEM. */
enum res zone_parse(const uint8_t *data, size_t len, struct zone **out);
int64_t zone_offset(const struct zone *zone, int64_t unix_s); /* seconds east of UTC */

/* The proleptic Gregorian calendar, days since 1970-01-01. */
int64_t civil_days(int64_t year, int month, int day);
void civil_of_days(int64_t days, int64_t *year, int *month, int *day);
int month_days(int64_t year, int month);

#endif
