/* admin/spec.c – the API's own description, as it stands in the program. */
#include "handlers.h"
#include "hythe/util/embedded.h"

#define SPEC_PATH "web/openapi.yaml"

struct reply *spec_get(struct call *call)
{
	const struct embedded_file *file = embedded_find(SPEC_PATH);
	struct reply *reply;

	if (!file)
		return call_fail(call, RES_NOT_FOUND, NULL, NULL, "This build has no description.");
	reply = reply_static(200, "application/yaml; charset=utf-8", file->data, file->len);
	reply_header(reply, "Cache-Control", "private, no-cache");
	reply_header(reply, "X-Content-Type-Options", "nosniff");
	return reply;
}
