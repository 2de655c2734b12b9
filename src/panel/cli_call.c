/* panel/cli_call.c – a command that is one call of the admin API: names become ids, flags become
 * the body or the query, the answer becomes lines. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "hythe/model/ids.h"
#include "hythe/model/name.h"
#include "hythe/model/settings.h"
#include "hythe/net/http_client.h"
#include "hythe/util/json_write.h"
#include "hythe/util/num.h"
#include "hythe/util/text.h"

#define API        "/api/v1"
#define ANSWER_MAX ((size_t)8 * 1024 * 1024)
#define BODY_MAX   ((size_t)1024 * 1024)
#define TARGET_MAX 8192
#define TIMEOUT_MS 30000
#define PAGE       "500"
#define PAGES_MAX  1000 /* half a million names: then something is wrong */

/* One command at work. */
struct talk {
	const struct options *options;
	char socket[4096];
	struct arena arena;
	struct problem problem;
	struct http_answer answer;
	struct json_doc *doc; /* of the answer; NULL when it has no body */
};

static void talk_clear(struct talk *talk)
{
	json_free(talk->doc);
	talk->doc = NULL;
	http_answer_free(&talk->answer);
}

static bool talk_start(struct talk *talk, const struct options *options)
{
	memset(talk, 0, sizeof *talk);
	talk->options = options;
	arena_init(&talk->arena, ANSWER_MAX);
	return (size_t)snprintf(talk->socket, sizeof talk->socket, "%s/%s", cli_data_dir(options),
				CONTROL_SOCKET_NAME) < sizeof talk->socket;
}

static void talk_end(struct talk *talk)
{
	talk_clear(talk);
	arena_free(&talk->arena);
}

/* --- One call --- */

static const char *text_of(const struct json *root, const char *member, const char *otherwise)
{
	const struct json *value = cli_member(root, member);

	return value && value->type == JSON_STRING ? value->text : otherwise;
}

static enum res not_running(struct talk *talk)
{
	const char *data_dir = cli_data_dir(talk->options);
	struct problem problem = {0};
	struct stat st;
	char path[4096];

	snprintf(path, sizeof path, "%s/hythe.db", data_dir);
	if (stat(path, &st) != 0)
		problem_set(
			&problem, RES_NOT_FOUND, "not_set_up", NULL,
			"no panel is set up in %.120s; set one up with `hythe setup`, or name its "
			"directory with --data-dir",
			data_dir);
	else
		problem_set(
			&problem, RES_NOT_FOUND, "not_running", NULL,
			"the panel of %.120s does not run; start it with `hythe serve --data-dir "
			"%.120s`%s",
			data_dir, data_dir,
			strcmp(data_dir, DATA_DIR_DEFAULT) == 0 ? " or `systemctl start hythe`"
								: "");
	talk->problem = problem;
	return RES_NOT_FOUND;
}

static enum res not_allowed(struct talk *talk)
{
	talk->problem = (struct problem){0};
	return problem_set(&talk->problem, RES_FORBIDDEN, "not_allowed", NULL,
			   "%.160s: permission denied; run this as root, or as the user that the "
			   "panel runs as",
			   talk->socket);
}

/* The flag that filled the body's member `field`, which may go on with .NAME or [N]; else NULL. */
static const char *flag_of(const struct options *options, const char *field)
{
	size_t len = strcspn(field, ".[");

	for (size_t i = 0; i < options->given_count; i++) {
		const struct option *option = options->given[i].option;

		if (option->member && strlen(option->member) == len &&
		    memcmp(option->member, field, len) == 0)
			return option->name;
	}
	return NULL;
}

/* What the panel says went wrong, in its own words; a field by the flag that was typed for it. */
static enum res refused(struct talk *talk)
{
	const struct json *root = talk->doc ? json_root(talk->doc) : NULL;
	const char *detail = text_of(root, "detail", "the panel refused");
	const char *code = text_of(root, "code", "refused"), *field = text_of(root, "field", "");
	const char *flag = flag_of(talk->options, field), *rest = field + strcspn(field, ".[");

	if (strcmp(code, "body_missing") == 0)
		return problem_set(&talk->problem, RES_INVALID, "missing_flag", NULL,
				   "give at least one flag; --help lists them");
	if (flag)
		return problem_set(&talk->problem, RES_INVALID, code, NULL, "--%s: %s%s%.200s",
				   flag, *rest ? field : "", *rest ? ": " : "", detail);
	if (strncmp(detail, field, strlen(field)) == 0) /* it names the field itself */
		field = "";
	return problem_set(&talk->problem, RES_INVALID, code, NULL, "%s%s%.200s", field,
			   *field ? ": " : "", detail);
}

static enum res talk_call(struct talk *talk, const char *method, const char *target,
			  const struct buf *body)
{
	struct http_call call = {
		.unix_path = talk->socket,
		.method = method,
		.target = target,
		.body = body ? body->data : NULL,
		.body_len = body ? body->len : 0,
		.answer_max = ANSWER_MAX,
		.timeout_ms = TIMEOUT_MS,
	};
	char *copy;
	enum res res;

	talk_clear(talk);
	res = http_call(&call, &talk->answer, &talk->problem);
	if (res == RES_NOT_FOUND)
		return not_running(talk);
	if (res == RES_IO && access(talk->socket, W_OK) != 0 && errno == EACCES)
		return not_allowed(talk);
	if (res != RES_OK)
		return res;
	/* The tree unescapes in place; --json prints the bytes as they came. */
	copy = talk->answer.body.len
		       ? arena_dup(&talk->arena, talk->answer.body.data, talk->answer.body.len)
		       : NULL;
	if (copy && (res = json_parse(copy, talk->answer.body.len, &talk->doc, NULL)) != RES_OK)
		return problem_set(&talk->problem, res, "bad_answer", NULL,
				   "the answer is no JSON");
	return talk->answer.status >= 400 ? refused(talk) : RES_OK;
}

/* --- Names become ids --- */

static bool is_id(const char *text)
{
	if (strlen(text) != PUBLIC_ID_LEN || text[3] != '_')
		return false;
	return strspn(text, "abcdefghijklmnopqrstuvwxyz_234567") == PUBLIC_ID_LEN;
}

static bool text_is(const struct json *value, const char *text)
{
	return value && value->type == JSON_STRING && strcmp(value->text, text) == 0;
}

/* An inbound has no name of its own: NODE/PROFILE. */
static bool is_inbound(const struct json *item, const char *text)
{
	const struct json *node = cli_member(item, "node.name"),
			  *profile = cli_member(item, "profile.name");

	return node && profile && node->type == JSON_STRING &&
	       strncmp(text, node->text, node->len) == 0 && text[node->len] == '/' &&
	       text_is(profile, text + node->len + 1);
}

static bool is_named(struct talk *talk, const struct json *item, const char *text, const char *key)
{
	const struct json *name = json_member(item, "name");
	const char *its_name, *its_key;

	if (text_is(name, text))
		return true;
	return key && name && name->type == JSON_STRING &&
	       name_check(&talk->arena, "name", name->text, &its_name, &its_key, NULL) == RES_OK &&
	       strcmp(its_key, key) == 0;
}

struct lookup {
	const char *resource, *text, *key;
	const char *id; /* found; in the arena */
	unsigned matches;
};

static void lookup_page(struct talk *talk, struct lookup *lookup)
{
	const struct json *items = cli_member(json_root(talk->doc), "items");
	bool inbounds = strcmp(lookup->resource, "inbounds") == 0;

	if (!items || items->type != JSON_ARRAY)
		return;
	for (const struct json *item = json_first(items); item; item = json_next(item)) {
		const struct json *id = cli_member(item, "id");

		if (!(inbounds ? is_inbound(item, lookup->text)
			       : is_named(talk, item, lookup->text, lookup->key)))
			continue;
		if (!id || id->type != JSON_STRING)
			continue;
		lookup->id = arena_dup(&talk->arena, id->text, id->len);
		lookup->matches++;
	}
}

static bool page_target(const struct lookup *lookup, const char *cursor, struct buf *target)
{
	buf_reset(target);
	buf_printf(target, API "/%s?limit=" PAGE, lookup->resource);
	if (strcmp(lookup->resource, "users") == 0) {
		buf_str(target, "&q=");
		text_percent(target, lookup->text, strlen(lookup->text));
	}
	if (cursor) {
		buf_str(target, "&cursor=");
		text_percent(target, cursor, strlen(cursor));
	}
	return !target->failed;
}

static enum res lookup_pages(struct talk *talk, struct lookup *lookup)
{
	const char *cursor = NULL;
	struct buf target;
	enum res res = RES_OK;

	buf_init(&target, TARGET_MAX);
	for (int page = 0; page < PAGES_MAX; page++) {
		const struct json *next;

		if (!page_target(lookup, cursor, &target)) {
			res = problem_set(&talk->problem, RES_INVALID, "too_long", NULL,
					  "the name is too long");
			break;
		}
		if ((res = talk_call(talk, "GET", target.data, NULL)) != RES_OK || !talk->doc)
			break;
		lookup_page(talk, lookup);
		next = cli_member(json_root(talk->doc), "next_cursor");
		if (!next || next->type != JSON_STRING)
			break;
		if (!(cursor = arena_dup(&talk->arena, next->text, next->len)))
			break;
	}
	buf_free(&target);
	return res;
}

/* The id of the thing that `text` names; it may be the id itself. */
static enum res look_up(struct talk *talk, const char *resource, const char *text, const char **id)
{
	struct lookup lookup = {.resource = resource, .text = text};
	const char *name;
	enum res res;

	if (is_id(text)) {
		*id = text;
		return RES_OK;
	}
	if (name_check(&talk->arena, "name", text, &name, &lookup.key, NULL) != RES_OK)
		lookup.key = NULL;
	if ((res = lookup_pages(talk, &lookup)) != RES_OK)
		return res;
	if (lookup.matches > 1)
		return problem_set(&talk->problem, RES_CONFLICT, "ambiguous", NULL,
				   "several %s are called %.80s; use the id", resource, text);
	if (!lookup.id)
		return problem_set(&talk->problem, RES_NOT_FOUND, "not_found", NULL,
				   "there is no %.80s among the %s", text, resource);
	*id = lookup.id;
	return RES_OK;
}

/* --- Flags become the body --- */

static enum res write_refs(struct talk *talk, struct json_writer *w, const struct option *option,
			   const char *text)
{
	const char *id;
	enum res res = RES_OK;

	json_array(w, option->member);
	while (*text && res == RES_OK) {
		size_t len = strcspn(text, ",");
		const char *name = arena_dup(&talk->arena, text, len);

		if (!name)
			return RES_NOMEM;
		if (len && (res = look_up(talk, option->resource, name, &id)) == RES_OK)
			json_text(w, NULL, id);
		text += len + (text[len] == ',');
	}
	json_end(w);
	return res;
}

/* PROFILE, PROFILE@NODE, PROFILE@#TAG */
static enum res write_access(struct talk *talk, struct json_writer *w, const char *rule)
{
	const char *at = strrchr(rule, '@'), *id;
	const char *profile =
		arena_dup(&talk->arena, rule, at ? (size_t)(at - rule) : strlen(rule));
	enum res res;

	if (!profile)
		return RES_NOMEM;
	if ((res = look_up(talk, "profiles", profile, &id)) != RES_OK)
		return res;
	json_object(w, NULL);
	json_text(w, "profile", id);
	if (!at)
		json_text(w, "nodes", "all");
	else if (at[1] == '#')
		json_text(w, "tag", at + 2);
	else if ((res = look_up(talk, "nodes", at + 1, &id)) == RES_OK)
		json_text(w, "node", id);
	json_end(w);
	return res;
}

static enum res write_accesses(struct talk *talk, struct json_writer *w,
			       const struct option *option)
{
	enum res res = RES_OK;

	json_array(w, option->member);
	for (size_t i = 0; i < talk->options->given_count && res == RES_OK; i++) {
		const struct option_given *given = &talk->options->given[i];

		if (given->option == option && given->text[0]) /* --access "" takes all away */
			res = write_access(talk, w, given->text);
	}
	json_end(w);
	return res;
}

static enum res write_flag(struct talk *talk, struct json_writer *w, size_t index)
{
	const struct option_given *given = &talk->options->given[index];
	const struct option *option = given->option;
	const char *id;
	enum res res;

	switch ((int)option->kind) {
	case OPTION_REFS:
		return write_refs(talk, w, option, given->text);
	case OPTION_REF:
		if ((res = look_up(talk, option->resource, given->text, &id)) == RES_OK)
			json_text(w, option->member, id);
		return res;
	case OPTION_ACCESS:
		for (size_t i = 0; i < index; i++)
			if (talk->options->given[i].option == option)
				return RES_OK; /* written with the first of them */
		return write_accesses(talk, w, option);
	default:
		return cli_value_write(w, option, given->text, &talk->problem);
	}
}

static enum res write_password(struct talk *talk, struct json_writer *w, const char *member)
{
	struct buf password;
	enum res res;

	buf_init(&password, 4096);
	res = cli_password(option_text(talk->options, "password-file"), &password, &talk->problem);
	if (res == RES_OK)
		json_text_n(w, member, password.data ? password.data : "", password.len);
	buf_free_secret(&password);
	return res;
}

/* `word` fills the member that the row says; NULL: there is none. */
static enum res write_body(struct talk *talk, const struct command *command, const char *word,
			   struct buf *body)
{
	struct json_writer w;
	enum res res = RES_OK;

	json_start(&w, body);
	json_object(&w, NULL);
	if (command->word_member && word)
		json_text(&w, command->word_member, word);
	for (size_t i = 0; i < talk->options->given_count && res == RES_OK; i++)
		if (talk->options->given[i].option->member)
			res = write_flag(talk, &w, i);
	if (res == RES_OK && command->password_member)
		res = write_password(talk, &w, command->password_member);
	json_end(&w);
	if (res == RES_OK && !json_finish(&w))
		res = problem_set(&talk->problem, RES_TOO_LARGE, "too_large", NULL,
				  "that is more than one call can carry");
	return res;
}

/* --- The target --- */

/* Puts the id of the next word where the path has {resource}. */
static enum res write_path(struct talk *talk, const char *path, const char *word,
			   struct buf *target)
{
	const char *brace = strchr(path, '{'), *end = brace ? strchr(brace, '}') : NULL, *id;
	enum res res;

	buf_str(target, API);
	if (!end) {
		buf_str(target, path);
		return RES_OK;
	}
	res = look_up(talk, arena_printf(&talk->arena, "%.*s", (int)(end - brace - 1), brace + 1),
		      word, &id);
	if (res != RES_OK)
		return res;
	buf_put(target, path, (size_t)(brace - path));
	buf_str(target, id);
	buf_str(target, end + 1);
	return RES_OK;
}

static enum res write_query(struct talk *talk, struct buf *target)
{
	char sign = '?';
	enum res res;

	for (size_t i = 0; i < talk->options->given_count; i++) {
		const struct option_given *given = &talk->options->given[i];
		const char *text = given->text;

		if (!given->option->member)
			continue;
		if (given->option->kind == OPTION_REF &&
		    (res = look_up(talk, given->option->resource, given->text, &text)) != RES_OK)
			return res;
		buf_printf(target, "%c%s=", sign, given->option->member);
		text_percent(target, text, strlen(text));
		sign = '&';
	}
	return RES_OK;
}

static enum res write_target(struct talk *talk, const struct command *command, const char *word,
			     struct buf *target)
{
	bool other = command->switch_name && option_on(talk->options, command->switch_name);
	enum res res = write_path(talk, other ? command->switch_path : command->path, word, target);

	if (res == RES_OK && strcmp(command->method, "GET") == 0)
		res = write_query(talk, target);
	else if (res == RES_OK && option_on(talk->options, "dry-run"))
		buf_str(target, "?dry_run=1");
	if (res == RES_OK && target->failed)
		res = problem_set(&talk->problem, RES_TOO_LARGE, "too_large", NULL,
				  "that is more than one call can carry");
	return res;
}

/* --- The command --- */

static void show_answer(struct talk *talk, const struct command *command, const char *word)
{
	if (option_on(talk->options, "json")) {
		fwrite(talk->answer.body.data ? talk->answer.body.data : "", 1,
		       talk->answer.body.len, stdout);
		if (talk->answer.body.len)
			putchar('\n');
	} else if (command->done) {
		printf("%s: %s%s\n", word ? word : "", command->done,
		       option_on(talk->options, "dry-run") ? " (dry run: nothing was changed)"
							   : "");
	} else if (talk->doc) {
		cli_show(command->show, command->columns, json_root(talk->doc));
	}
}

static int finish(struct talk *talk, enum res res)
{
	int code = EXIT_DONE;

	if (res != RES_OK) {
		if (option_on(talk->options, "json") && talk->answer.status >= 400 &&
		    talk->answer.body.len)
			printf("%s\n", talk->answer.body.data);
		problem_set(&talk->problem, res, "failed", NULL, "%s", res_text(res));
		code = cli_fail(&talk->problem);
	}
	talk_end(talk);
	return code;
}

int cli_call_run(const struct command *command, const struct options *options)
{
	const char *word = options->word_count ? options->words[0] : NULL;
	bool reads = strcmp(command->method, "GET") == 0;
	struct buf target, body;
	struct talk talk;
	enum res res;

	buf_init(&target, TARGET_MAX);
	buf_init(&body, BODY_MAX);
	talk_start(&talk, options);
	if (!reads && strcmp(command->method, "DELETE") != 0 &&
	    (res = write_body(&talk, command, word, &body)) != RES_OK)
		goto out;
	if ((res = write_target(&talk, command, word, &target)) != RES_OK)
		goto out;
	res = talk_call(&talk, command->method, target.data, body.len > 2 ? &body : NULL);
	if (res == RES_OK)
		show_answer(&talk, command, word);
out:
	buf_free(&target);
	buf_free_secret(&body);
	return finish(&talk, res);
}

/* --- settings set --- */

static const struct json_field *find_setting(const char *name, size_t len)
{
	for (size_t i = 0; i < settings_fields_count; i++)
		if (strlen(settings_fields[i].name) == len &&
		    memcmp(settings_fields[i].name, name, len) == 0)
			return &settings_fields[i];
	return NULL;
}

/* Numbers are typed as they are shown: 10m, 4MB. */
static enum option_kind number_kind(const char *name, const char **want)
{
	switch (cli_unit(name)) {
	case UNIT_BYTES:
		*want = "an amount of data such as 500MB or 10GB";
		return OPTION_BYTES;
	case UNIT_SPAN:
		*want = "a span of time such as 30d, 12h, 90m or 45s";
		return OPTION_DURATION;
	case UNIT_TIME:
	case UNIT_NONE:
		break;
	}
	*want = "a whole number";
	return OPTION_NUMBER;
}

/* KEY=VALUE in the type that the settings' table says. */
static enum res write_setting(struct talk *talk, struct json_writer *w, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct json_field *field =
		equals ? find_setting(word, (size_t)(equals - word)) : NULL;
	struct option option = {.kind = OPTION_TEXT};
	const char *want = "yes or no";
	enum res res;

	if (!field)
		return problem_set(
			&talk->problem, RES_INVALID, "bad_setting", NULL,
			"\"%.60s\" is not KEY=VALUE of a setting; `hythe settings show` lists them",
			word);
	if (field->kind == JSON_IN_I64)
		option.kind = number_kind(field->name, &want);
	else if (field->kind == JSON_IN_BOOL)
		option.kind = OPTION_YESNO;
	option.name = option.member = field->name;
	if ((res = cli_value_write(w, &option, equals + 1, NULL)) == RES_OK)
		return RES_OK;
	return problem_set(&talk->problem, res, "bad_flag", field->name, "%s: \"%.60s\" is not %s",
			   field->name, equals + 1, want);
}

int cli_settings_set(const struct command *command, const struct options *options)
{
	struct json_writer w;
	struct buf target, body;
	struct talk talk;
	enum res res = RES_OK;

	buf_init(&target, TARGET_MAX);
	buf_init(&body, BODY_MAX);
	talk_start(&talk, options);
	json_start(&w, &body);
	json_object(&w, NULL);
	for (size_t i = 0; i < options->word_count && res == RES_OK; i++)
		res = write_setting(&talk, &w, options->words[i]);
	for (size_t i = 0; i < options->given_count && res == RES_OK; i++)
		if (options->given[i].option->member)
			res = write_flag(&talk, &w, i);
	json_end(&w);
	if (res == RES_OK && body.len <= 2)
		res = problem_set(&talk.problem, RES_INVALID, "missing_flag", NULL,
				  "nothing to change: hythe settings set KEY=VALUE..., or a flag; "
				  "--help lists them");
	if (res == RES_OK)
		res = write_target(&talk, command, NULL, &target);
	if (res == RES_OK)
		res = talk_call(&talk, command->method, target.data, &body);
	if (res == RES_OK)
		show_answer(&talk, command, NULL);
	buf_free(&target);
	buf_free(&body);
	return finish(&talk, res);
}

/* --- status --- */

int cli_status(const struct command *command, const struct options *options)
{
	static const char *const targets[] = {API "/health", API "/stats/overview"};
	const char *texts[2] = {NULL, NULL};
	struct talk talk;
	enum res res = RES_OK;
	bool json = option_on(options, "json");

	talk_start(&talk, options);
	for (size_t i = 0; i < sizeof targets / sizeof *targets && res == RES_OK; i++) {
		res = talk_call(&talk, command->method, targets[i], NULL);
		if (res != RES_OK)
			break;
		if (!json && talk.doc)
			cli_show(SHOW_DETAIL, NULL, json_root(talk.doc));
		if (talk.answer.body.len)
			texts[i] =
				arena_dup(&talk.arena, talk.answer.body.data, talk.answer.body.len);
	}
	if (json && res == RES_OK) /* all of it, or nothing but the fault */
		printf("{\"health\":%s,\"overview\":%s}\n", texts[0] ? texts[0] : "null",
		       texts[1] ? texts[1] : "null");
	return finish(&talk, res);
}
