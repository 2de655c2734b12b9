/* What num_i64() takes prints back as it was written. The first byte chooses the reader. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void try_i64(const char *text, size_t len)
{
	char back[32];
	int64_t value, other;

	if (num_i64(text, len, INT64_MIN, INT64_MAX, &value) != RES_OK)
		return;
	must(snprintf(back, sizeof back, "%" PRId64, value) == (int)len);
	must(memcmp(back, text, len) == 0);
	must(num_i64(text, len, value, value, &other) == RES_OK && other == value);
	if (value < INT64_MAX)
		must(num_i64(text, len, value + 1, INT64_MAX, &other) != RES_OK);
}

static void try_u64(const char *text, size_t len)
{
	char back[32];
	uint64_t value;

	if (num_u64(text, len, UINT64_MAX, &value) != RES_OK)
		return;
	must(snprintf(back, sizeof back, "%" PRIu64, value) == (int)len);
	must(memcmp(back, text, len) == 0);
}

static void try_bytes(const char *text)
{
	int64_t value, again;
	char back[32];

	if (num_bytes(text, &value) != RES_OK)
		return;
	must(value >= 0);
	snprintf(back, sizeof back, "%" PRId64 " B", value);
	must(num_bytes(back, &again) == RES_OK && again == value);
}

static void try_duration(const char *text)
{
	int64_t value, again;
	char back[32];

	if (num_duration(text, &value) != RES_OK)
		return;
	must(value >= 0);
	snprintf(back, sizeof back, "%" PRId64 "s", value);
	must(num_duration(back, &again) == RES_OK && again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size ? size - 1 : 0;
	char *text;

	if (size == 0 || (text = malloc(len + 1)) == NULL)
		return 0;
	memcpy(text, data + 1, len);
	text[len] = '\0';
	switch (data[0] % 4) {
	case 0:
		try_i64(text, len);
		break;
	case 1:
		try_u64(text, len);
		break;
	case 2:
		try_bytes(text);
		break;
	case 3:
		try_duration(text);
		break;
	}
	free(text);
	return 0;
}
