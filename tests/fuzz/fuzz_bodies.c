/* Every typed body of the API: the scanner, then each table of members, then a bulk call's items.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "admin/auth_input.h"
#include "admin/bulk.h"
#include "admin/user_filter.h"
#include "hythe/model/settings.h"
#include "hythe/ops/admins.h"
#include "hythe/ops/groups.h"
#include "hythe/ops/hosts.h"
#include "hythe/ops/inbounds.h"
#include "hythe/ops/nodes.h"
#include "hythe/ops/profiles.h"
#include "hythe/ops/tokens.h"
#include "hythe/ops/users.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union input {
	struct user_input user;
	struct group_input group;
	struct profile_input profile;
	struct node_input node;
	struct inbound_input inbound;
	struct host_input host;
	struct admin_input admin;
	struct token_input token;
	struct settings_input settings;
	struct user_extend extend;
	struct user_rotate rotate;
	struct sign_in_input sign_in;
	struct password_input password;
};

static void read_by(const struct json *root, const struct json_field *fields, size_t count)
{
	union input input;
	struct problem problem = {0};
	uint64_t present = 0;
	enum res res;

	memset(&input, 0, sizeof input);
	res = json_read(root, fields, count, &input, &present, &problem);
	/* A refusal says why; what was read is known to be given. */
	if (res != RES_OK && !problem.code[0])
		abort();
	if (count < 64 && present >> count)
		abort();
}

static void read_bulk(const struct json *root)
{
	const struct json *list = json_member(root, "operations");
	struct bulk_filter_input filter;
	struct problem problem = {0};
	struct bulk_slot slot;
	int64_t total;

	if (list && list->type == JSON_ARRAY)
		for (const struct json *at = json_first(list); at; at = json_next(at)) {
			problem = (struct problem){0};
			if (bulk_slot_read(at, true, &slot, &problem) != RES_OK && !problem.code[0])
				abort();
		}
	problem = (struct problem){0};
	if (bulk_slot_read(root, false, &slot, &problem) == RES_OK)
		bulk_filter_read(root, &filter, &total, &problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct json_doc *doc = NULL;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (json_parse(text, size, &doc, NULL) == RES_OK && json_root(doc)->type == JSON_OBJECT) {
		const struct json *root = json_root(doc);

		read_by(root, user_fields, USER_FIELDS);
		read_by(root, group_fields, GROUP_FIELDS);
		read_by(root, profile_fields, PROFILE_FIELDS);
		read_by(root, node_fields, NODE_FIELDS);
		read_by(root, inbound_fields, INBOUND_FIELDS);
		read_by(root, host_fields, HOST_FIELDS);
		read_by(root, admin_fields, ADMIN_FIELDS);
		read_by(root, token_fields, TOKEN_FIELDS);
		read_by(root, settings_fields, settings_fields_count);
		read_by(root, user_extend_fields, USER_EXTEND_FIELDS);
		read_by(root, user_rotate_fields, USER_ROTATE_FIELDS);
		read_by(root, sign_in_fields, SIGN_IN_FIELDS);
		read_by(root, password_fields, PASSWORD_FIELDS);
		read_bulk(root);
	}
	json_free(doc);
	free(text);
	return 0;
}
