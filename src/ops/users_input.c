/* users_input.c – what may be said of a user: the table of members, and the rules between them. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/model/name.h"
#include "hythe/util/json_read.h"
#include "hythe/util/num.h"
#include "op_parts.h"
#include "users_internal.h"

#define TEXT(member, low, high)   {FIELD_TEXT(user_input, member, low, high)}
#define NUMBER(member, low, high) {FIELD_I64(user_input, member, low, high)}

/* clang-format off */
const struct json_field user_fields[USER_FIELDS] = {
	[USER_F_NAME]              = TEXT(name, 1, NAME_MAX_BYTES),
	[USER_F_DISPLAY_NAME]      = TEXT(display_name, 0, 256),
	[USER_F_NOTE]              = {FIELD_LINES(user_input, note, 4096)},
	[USER_F_TAG]               = TEXT(tag, 0, 64),
	[USER_F_EMAIL]             = TEXT(email, 0, 254),
	[USER_F_TELEGRAM_ID]       = NUMBER(telegram_id, 0, INT64_C(1) << 52),
	[USER_F_LANGUAGE]          = TEXT(language, 0, 8),
	[USER_F_META]              = {FIELD_TREE(user_input, meta)},
	[USER_F_ENABLED]           = {FIELD_BOOL(user_input, enabled)},
	[USER_F_EXPIRES]           = NUMBER(expires_unix, 0, UNIX_MAX),
	[USER_F_HOLD]              = NUMBER(hold_s, 0, HOLD_MAX_S),
	[USER_F_HOLD_DEADLINE]     = NUMBER(hold_deadline_unix, 0, UNIX_MAX),
	[USER_F_QUOTA]             = NUMBER(quota_bytes, 0, QUOTA_MAX),
	[USER_F_QUOTA_PERIOD]      = {FIELD_WORD(user_input, quota_period, quota_period_words)},
	[USER_F_QUOTA_PERIOD_DAYS] = NUMBER(quota_period_days, 0, 3650),
	[USER_F_DEVICE_LIMIT]      = NUMBER(device_limit, 0, 256),
	[USER_F_HWID_LIMIT]        = NUMBER(hwid_limit, -1, 1000),
	[USER_F_GROUPS]            = {FIELD_TREE(user_input, groups)},
	[USER_F_EXCLUDED_NODES]    = {FIELD_TREE(user_input, excluded_nodes)},
	[USER_F_CREDENTIAL]        = TEXT(credential, 1, CREDENTIAL_MAX),
	[USER_F_EXPIRES_IN]        = NUMBER(expires_in_s, 1, UNIX_MAX),
};
/* clang-format on */

/* Callers fill the struct themselves too (command line, import): bounds are held here once more. */
static enum res check_bounds(const struct user_input *input, struct problem *problem)
{
	for (size_t i = 0; i < USER_FIELDS; i++) {
		const struct json_field *field = &user_fields[i];
		const char *at = (const char *)input + field->offset;
		int64_t value = 0;

		if (!(input->present >> i & 1))
			continue;
		if (field->kind == JSON_IN_I64)
			memcpy(&value, at, sizeof value);
		else if (field->kind == JSON_IN_TEXT || field->kind == JSON_IN_LINES)
			value = (int64_t)strlen(*(const char *const *)(const void *)at);
		else
			continue;
		if (value < field->min || value > field->max)
			return problem_set(problem, RES_INVALID, "out_of_range", field->name,
					   "This is between %lld and %lld%s.",
					   (long long)field->min, (long long)field->max,
					   field->kind == JSON_IN_I64 ? "" : " bytes long");
	}
	return RES_OK;
}

static enum res bad_value(struct op *op, enum user_field field, const char *what)
{
	return problem_set(op->problem, RES_INVALID, "bad_value", user_fields[field].name, "%s",
			   what);
}

static enum res apply_name(struct op *op, const struct user_input *input, struct user *user)
{
	const char *name, *key;
	int64_t holder = 0;
	enum res res;

	if (!user_input_has(input, USER_F_NAME))
		return RES_OK;
	if ((res = name_check(op->arena, "name", input->name, &name, &key, op->problem)) != RES_OK)
		return res;
	res = user_id_by_name_key(op->conn, key, &holder);
	if (res != RES_OK && res != RES_NOT_FOUND)
		return res;
	if (res == RES_OK && holder != user->id) /* his own in another case is fine */
		return problem_set(op->problem, RES_CONFLICT, "name_taken", "name",
				   "There is a user with this name, or one that looks the same.");
	user->name = name;
	user->name_key = key;
	return RES_OK;
}

/* Light on purpose: nobody can tell a good address from a bad one but the post. */
static bool email_plausible(const char *email)
{
	const char *at = strchr(email, '@');

	return at && at > email && at[1] && !strchr(at + 1, '@') &&
	       !strpbrk(email, " \t\"<>(),;:\\");
}

/* "en", "pt-BR" */
static bool language_valid(const char *text)
{
	size_t len = strlen(text), letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	if (letters != 2)
		return false;
	return len == 2 ||
	       (text[2] == '-' && len >= 5 &&
		strspn(text + 3,
		       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") ==
			len - 3);
}

static enum res apply_texts(struct op *op, const struct user_input *input, struct user *user)
{
	if (user_input_has(input, USER_F_EMAIL) && input->email[0] &&
	    !email_plausible(input->email))
		return bad_value(op, USER_F_EMAIL,
				 "An e-mail address has a part before and one after its only @.");
	if (user_input_has(input, USER_F_LANGUAGE) && input->language[0] &&
	    !language_valid(input->language))
		return bad_value(op, USER_F_LANGUAGE,
				 "A language is two small letters, like en, or pt-BR.");
	if (user_input_has(input, USER_F_DISPLAY_NAME)) {
		enum res res = shown_check("display_name", input->display_name, op->problem);

		if (res != RES_OK)
			return res;
		user->display_name = input->display_name;
	}
	if (user_input_has(input, USER_F_NOTE))
		user->note = input->note;
	if (user_input_has(input, USER_F_TAG))
		user->tag = input->tag;
	if (user_input_has(input, USER_F_EMAIL))
		user->email = input->email;
	if (user_input_has(input, USER_F_LANGUAGE))
		user->language = input->language;
	return RES_OK;
}

/* What reads it next has doubles, and would take 1e400 for infinity or refuse the whole answer. */
static bool numbers_fit(const struct json *value)
{
	char text[META_MAX + 1];

	if (value->type == JSON_ARRAY || value->type == JSON_OBJECT) {
		for (const struct json *part = json_first(value); part; part = json_next(part))
			if (!numbers_fit(part))
				return false;
		return true;
	}
	if (value->type != JSON_INTEGER && value->type != JSON_REAL)
		return true;
	if (value->len > META_MAX)
		return false;
	memcpy(text, value->text, value->len);
	text[value->len] = '\0';
	return isfinite(strtod(text, NULL));
}

static enum res apply_meta(struct op *op, const struct user_input *input, struct user *user)
{
	struct buf text;
	enum res res = RES_OK;

	if (!user_input_has(input, USER_F_META))
		return RES_OK;
	if (input->meta->type != JSON_OBJECT)
		return problem_set(op->problem, RES_INVALID, "wrong_type", "meta",
				   "This is an object.");
	if (!numbers_fit(input->meta))
		return bad_value(op, USER_F_META, "This has a number that is too large.");
	buf_init(&text, META_MAX);
	if (!json_print(input->meta, &text))
		res = problem_set(op->problem, RES_INVALID, "out_of_range", "meta",
				  "This has %d bytes at most, written without blanks.", META_MAX);
	else if (!(user->meta = arena_dup(op->arena, text.data, text.len)))
		res = RES_NOMEM;
	buf_free(&text);
	return res;
}

/* --- The end and the hold --- */

bool user_waits_for_use(const struct user *user)
{
	return user->hold_s > 0 && user->first_use_unix == 0;
}

static void end_hold(struct user *user)
{
	user->hold_s = 0;
	user->hold_deadline_unix = 0;
}

/* A new hold has a new number: a node's word of a first use can only mean the one it saw. */
static void begin_hold(struct user *user, int64_t hold_s)
{
	user->hold_s = hold_s;
	user->hold_no = num_add_sat(user->hold_no, 1);
	user->hold_deadline_unix = 0;
	user->first_use_unix = 0;
	user->expires_unix = 0;
}

static enum res apply_end(struct op *op, const struct user_input *input, struct user *user)
{
	bool in = user_input_has(input, USER_F_EXPIRES_IN),
	     at = user_input_has(input, USER_F_EXPIRES);
	int64_t end = at ? input->expires_unix : 0;

	if (!in && !at)
		return RES_OK;
	if (in && at)
		return bad_value(op, USER_F_EXPIRES_IN,
				 "Give either expires_unix or expires_in_s.");
	if (in && input->expires_in_s > UNIX_MAX - op->now_unix)
		return bad_value(op, USER_F_EXPIRES_IN, "This is beyond the year 9999.");
	if (in)
		end = op->now_unix + input->expires_in_s;
	if (end > 0 && user_input_has(input, USER_F_HOLD) && input->hold_s > 0)
		return bad_value(
			op, USER_F_HOLD,
			"A hold sets the end at the first use; give either the end or the hold.");
	if (end > 0 && user_waits_for_use(user)) /* an end takes the place of a hold */
		end_hold(user);
	user->expires_unix = end;
	return RES_OK;
}

static enum res apply_hold(struct op *op, const struct user_input *input, struct user *user)
{
	if (user_input_has(input, USER_F_HOLD)) {
		if (input->hold_s == 0 && user_waits_for_use(user))
			end_hold(user);
		else if (input->hold_s == 0 || user_waits_for_use(user))
			user->hold_s = input->hold_s;
		else if (input->hold_s != user->hold_s) /* the same once more is no new hold */
			begin_hold(user, input->hold_s);
	}
	if (!user_input_has(input, USER_F_HOLD_DEADLINE))
		return RES_OK;
	if (input->hold_deadline_unix > 0 && !user_waits_for_use(user))
		return bad_value(op, USER_F_HOLD_DEADLINE,
				 "Only a user on hold has a deadline for his first use.");
	user->hold_deadline_unix = input->hold_deadline_unix;
	return RES_OK;
}

/* --- The quota --- */

static enum res apply_period(struct op *op, const struct user_input *input, struct user *user)
{
	bool kind_given = user_input_has(input, USER_F_QUOTA_PERIOD);
	bool days_given = user_input_has(input, USER_F_QUOTA_PERIOD_DAYS);

	if (kind_given) {
		user->quota_period = (enum quota_period)input->quota_period;
		if (user->quota_period != PERIOD_DAYS)
			user->quota_period_days = 0;
	}
	if (days_given)
		user->quota_period_days = input->quota_period_days;
	if (user->quota_period == PERIOD_DAYS && user->quota_period_days < 1)
		return bad_value(op, USER_F_QUOTA_PERIOD_DAYS,
				 "A period of days says how many: 1 to 3650.");
	if (user->quota_period != PERIOD_DAYS && user->quota_period_days > 0)
		return bad_value(op, USER_F_QUOTA_PERIOD_DAYS,
				 "Only the period \"days\" takes a number of days.");
	return RES_OK;
}

static void apply_limits(const struct user_input *input, struct user *user)
{
	if (user_input_has(input, USER_F_TELEGRAM_ID))
		user->telegram_id = input->telegram_id;
	if (user_input_has(input, USER_F_ENABLED))
		user->enabled = input->enabled;
	if (user_input_has(input, USER_F_QUOTA))
		user->quota_bytes = input->quota_bytes;
	if (user_input_has(input, USER_F_DEVICE_LIMIT))
		user->device_limit = input->device_limit;
	if (user_input_has(input, USER_F_HWID_LIMIT))
		user->hwid_limit = input->hwid_limit;
}

enum res user_input_apply(struct op *op, const struct user_input *input, struct user *user)
{
	static enum res (*const rules[])(struct op *, const struct user_input *, struct user *) = {
		apply_name, apply_texts, apply_meta, apply_end, apply_hold, apply_period};
	enum res res = check_bounds(input, op->problem);

	for (size_t i = 0; res == RES_OK && i < sizeof rules / sizeof *rules; i++)
		res = rules[i](op, input, user);
	if (res == RES_OK)
		apply_limits(input, user);
	return res;
}
