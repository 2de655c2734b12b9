/* util/num.h – text becomes a number here and nowhere else.
 *
 * The whole text must be one decimal integer in the stated range: no sign but a leading '-' where
 * the range has negatives, no space, no leading zero, no '+'. RES_INVALID: not a number;
 * RES_TOO_LARGE: a number out of range. Threads: any. */
#ifndef HYTHE_UTIL_NUM_H
#define HYTHE_UTIL_NUM_H

#include <stddef.h>
#include <stdint.h>

#include "hythe/util/result.h"

enum res num_i64(const char *text, size_t len, int64_t min, int64_t max, int64_t *out);
enum res num_u64(const char *text, size_t len, uint64_t max, uint64_t *out);
/* "10", "10k", "5GB", "1.5 TB" (decimal, case-insensitive) to bytes; for the command line. */
enum res num_bytes(const char *text, int64_t *bytes);
/* "30d", "12h", "90m", "45s", or seconds without a unit; for the command line. */
enum res num_duration(const char *text, int64_t *seconds);
/* Counters saturate. */
int64_t num_add_sat(int64_t a, int64_t b);

#endif
