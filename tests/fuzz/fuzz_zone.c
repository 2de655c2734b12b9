/* Time zone files: whatever the bytes, a zone that was taken has offsets in bounds, days whose
 * midnight is not after them, and periods that hold their moment. */
#include <stdlib.h>

#include "model/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t moments[] = {-62135596800, -1,         0,           1774742400,
					  1800000000,   4102444800, 253402300799};
	struct zone *zone;

	if (zone_parse(data, size, &zone) != RES_OK)
		return 0;
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
		int64_t offset = zone_offset(zone, moments[i]);
		struct local_time local;

		check(offset > -169 * 3600 && offset < 169 * 3600);
		zone_local(zone, moments[i], &local);
		check(local.month >= 1 && local.month <= 12 && local.day >= 1 && local.day <= 31);
		check(local.weekday >= 0 && local.weekday <= 6 && local.hour >= 0 &&
		      local.hour < 24);
		(void)zone_midnight(zone, local.year, local.month, local.day);
		for (int kind = PERIOD_NONE; kind <= PERIOD_DAYS; kind++) {
			struct period period =
				period_at(zone, (enum quota_period)kind, 3, 1700000000, moments[i]);

			check(kind == PERIOD_NONE ||
			      (period.start_unix <= moments[i] && moments[i] < period.end_unix));
		}
	}
	zone_free(zone);
	return 0;
}
