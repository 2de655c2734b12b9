/* ops/tokens.h – API tokens: made with rights that their maker has, shown once, ended at once.
 * Those with the right `admins` see and end all tokens, others their own. */
#ifndef HYTHE_OPS_TOKENS_H
#define HYTHE_OPS_TOKENS_H

#include "hythe/auth/token.h"
#include "hythe/ops/ops.h"
#include "hythe/util/json_read.h"

#define TOKENS_PER_ADMIN 500
#define TOKEN_RATE_MAX   100000

enum token_field {
	TOKEN_F_NAME,
	TOKEN_F_RIGHTS,
	TOKEN_F_EXPIRES,
	TOKEN_F_EXPIRES_IN,
	TOKEN_F_RATE,
	TOKEN_FIELDS
};
extern const struct json_field token_fields[TOKEN_FIELDS];

struct token_input {
	const char *name;
	const struct json *rights;          /* array of words */
	int64_t expires_unix, expires_in_s; /* the one or the other; neither: never */
	int64_t rate_per_s;                 /* 0: no limit */
	uint64_t present;
};

struct token_create {
	struct token_input input;
	/* out: */
	struct token_secret secret;
	int64_t id;
	struct public_id public_id;
};
enum res op_token_create(struct op *op, void *token_create);
/* const char *public_id; RES_NOT_FOUND unless it may be seen. */
enum res op_token_delete(struct op *op, void *public_id);

/* May this actor see this token? */
bool token_visible(const struct actor *actor, const struct api_token *token);
/* "rights": the words of `rights` as a JSON array member. */
struct json_writer;
void token_rights_write(struct json_writer *w, uint32_t rights);

#endif
