/* The client's reader of answers: the first byte chooses how the connection ended. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "hythe/net/http_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_answer answer;

	if (size == 0)
		return 0;
	if (http_answer_parse((const char *)data + 1, size - 1, data[0] & 1, data[0] & 2, 4096,
			      &answer) == RES_OK &&
	    (answer.status < 200 || answer.status > 999 || answer.body.len > 4096))
		abort();
	http_answer_free(&answer);
	return 0;
}
