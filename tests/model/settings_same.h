/* settings_same.h – are two settings values equal, row by row? (Their bytes have holes.) */
#ifndef HYTHE_SETTINGS_SAME_H
#define HYTHE_SETTINGS_SAME_H

#include <string.h>

#include "hythe/model/settings.h"

static inline bool settings_same(const struct settings *one, const struct settings *other)
{
	char first[256], second[256];

	for (size_t row = 0; row < SETTINGS_ROWS; row++)
		if (settings_print(one, row, first, sizeof first) != RES_OK ||
		    settings_print(other, row, second, sizeof second) != RES_OK ||
		    strcmp(first, second) != 0)
			return false;
	return true;
}

#endif
