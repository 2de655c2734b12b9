/* panel/setup.c – `hythe setup`: makes what is missing, keeps what is there, says which is which.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hythe/auth/password.h"
#include "hythe/fleet/ca.h"
#include "hythe/ops/admins.h"
#include "panel.h"

/* What was asked for, and what became of it; one write job. */
struct setup {
	struct settings settings;
	bool first;        /* no settings were stored before */
	const char *owner; /* NULL: a link */
	char password_hash[PASSWORD_HASH_MAX];
	bool force_link;
	/* out: */
	bool ca_made, owner_made, owner_there, link_made;
	struct owner_link link;
};

/* An owner who is there is no fault: set-up may be run again. */
static enum res owner_settled(struct setup *setup, enum res res, struct problem *problem,
			      bool *made)
{
	if (res == RES_OK)
		*made = true;
	if (res != RES_CONFLICT || strcmp(problem->code, "owner_exists") != 0)
		return res;
	*problem = (struct problem){0};
	setup->owner_there = true;
	return RES_OK;
}

static enum res op_setup(struct op *op, void *arg)
{
	struct setup *setup = arg;
	struct owner_make make = {.name = setup->owner, .password_hash = setup->password_hash};
	enum res res;

	if (setup->first && (res = op_settings_init(op, &setup->settings)) != RES_OK)
		return res;
	if ((res = op_ca_init(op, &setup->ca_made)) != RES_OK)
		return res;
	if (setup->owner)
		return owner_settled(setup, op_owner_make(op, &make), op->problem,
				     &setup->owner_made);
	setup->link.force = setup->force_link;
	return owner_settled(setup, op_owner_link_create(op, &setup->link), op->problem,
			     &setup->link_made);
}

/* --- What is asked --- */

/* An empty answer keeps what stands in `out`. */
static void ask(const char *question, char *out, size_t size)
{
	char line[512];

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return;
	printf(out[0] ? "%s [%s]: " : "%s: ", question, out);
	fflush(stdout);
	if (!fgets(line, sizeof line, stdin))
		return;
	line[strcspn(line, "\r\n")] = 0;
	if (line[0] && strlen(line) < size)
		memcpy(out, line, strlen(line) + 1);
}

/* Up to three times, until the answer is good as the setting `field`; what is wrong is said. */
static void ask_setting(const char *question, const struct settings *settings, const char *field,
			char *out, size_t size)
{
	char first[512]; /* as long as any setting */

	snprintf(first, sizeof first, "%s", out);
	for (int tries = 0; tries < 3; tries++) {
		struct problem why = {0};

		ask(question, out, size);
		if (!isatty(STDIN_FILENO) || settings_check(settings, &why) == RES_OK ||
		    strcmp(why.field, field) != 0)
			return;
		printf("  %s\n", why.detail);
		if (tries < 2)
			memcpy(out, first, size < sizeof first ? size : sizeof first);
	}
}

static enum res take_flag(const char *flag, const char *text, char *out, size_t size,
			  struct problem *problem)
{
	if (strlen(text) >= size)
		return problem_set(problem, RES_INVALID, "bad_flag", flag, "--%s is too long",
				   flag);
	memcpy(out, text, strlen(text) + 1);
	return RES_OK;
}

static enum res first_settings(const struct options *options, struct settings *settings,
			       struct problem *problem)
{
	const char *url = option_text(options, "public-url"),
		   *zone = option_text(options, "time-zone");
	struct problem why = {0};
	enum res res = RES_OK;

	settings_default(settings);
	settings->public_url[0] = 0;
	system_zone_name(settings->time_zone);
	if (url)
		res = take_flag("public-url", url, settings->public_url,
				sizeof settings->public_url, problem);
	else
		ask_setting("Public URL, what people's links begin with", settings, "public_url",
			    settings->public_url, sizeof settings->public_url);
	if (res != RES_OK)
		return res;
	if (!settings->public_url[0])
		return problem_set(
			problem, RES_INVALID, "missing_flag", "public-url",
			"--public-url is needed: what people's links begin with, such as "
			"https://sub.example.net");
	if (!zone)
		ask_setting("Time zone, for the borders of days and months", settings, "time_zone",
			    settings->time_zone, sizeof settings->time_zone);
	else if ((res = take_flag("time-zone", zone, settings->time_zone,
				  sizeof settings->time_zone, problem)) != RES_OK)
		return res;
	if ((res = settings_check(settings, &why)) == RES_OK)
		return RES_OK;
	return problem_set(problem, res, "bad_flag", why.field, "--%s: %.200s",
			   strcmp(why.field, "time_zone") == 0 ? "time-zone" : "public-url",
			   why.detail);
}

static enum res hash_password(const char *file, struct setup *setup, struct problem *problem)
{
	struct hasher *hasher = NULL;
	struct buf password;
	enum res res;

	buf_init(&password, 4096);
	if ((res = cli_password(file, &password, problem)) != RES_OK)
		goto out;
	if ((res = password_check("password", password.data, problem)) != RES_OK)
		goto out;
	if ((res = hasher_new(NULL, &hasher)) != RES_OK)
		goto out;
	res = password_hash(hasher, password.data, setup->password_hash);
out:
	hasher_free(hasher);
	buf_free_secret(&password);
	return res;
}

/* Everything is asked and checked before the first file is made. */
static enum res read_setup(const struct options *options, const struct instance_found *found,
			   struct setup *setup, struct problem *problem)
{
	const char *file = option_text(options, "password-file");
	enum res res;

	*setup = (struct setup){
		.first = !found->database,
		.owner = option_text(options, "owner"),
		.force_link = option_on(options, "owner-link"),
	};
	if ((res = check_listen("admin-listen", option_text(options, "admin-listen"), problem)) !=
	    RES_OK)
		return res;
	if (file && !setup->owner)
		return problem_set(problem, RES_INVALID, "bad_flag", "password-file",
				   "--password-file goes with --owner NAME");
	if (setup->owner && setup->force_link)
		return problem_set(problem, RES_INVALID, "bad_flag", "owner-link",
				   "--owner and --owner-link are two ways of the same; choose one");
	if (setup->first && (res = first_settings(options, &setup->settings, problem)) != RES_OK)
		return res;
	return setup->owner ? hash_password(file, setup, problem) : RES_OK;
}

/* --- What is said --- */

static void say(const char *what, bool made, const char *detail)
{
	printf("  %-16s %-6s %s\n", what, made ? "made" : "there", detail);
}

static void say_link(const struct options *options, const struct setup *setup,
		     const struct settings *settings)
{
	const char *listen = option_text(options, "admin-listen");
	char url[LISTEN_URL_MAX];

	printf("\nOpen this once, within 30 minutes and while the panel runs, to make the "
	       "owner:\n\n  ");
	if (listen)
		listen_url(listen, option_text(options, "tls-cert") != NULL, url, sizeof url);
	printf("%s/%s/setup/%s\n", listen ? url : settings->public_url, settings->admin_prefix,
	       setup->link.secret.text);
}

static void report(const struct options *options, const struct setup *setup,
		   const struct instance_found *found, struct instance *instance)
{
	struct settings_snapshot *now = settings_take(instance->settings);
	const char *url = option_text(options, "public-url"),
		   *zone = option_text(options, "time-zone");

	printf("The panel in %s:\n", instance->dir);
	say("master key", !found->key,
	    "master.key; without it the database cannot be read: back it up");
	say("database", !found->database, "hythe.db");
	say("settings", setup->first, now->settings.public_url);
	say("time zone", setup->first, now->settings.time_zone);
	say("CA", setup->ca_made, "for nodes, 20 years");
	if (setup->owner_made || setup->owner_there)
		say("owner", setup->owner_made, setup->owner_made ? setup->owner : "");
	if (!setup->first && url && strcmp(url, now->settings.public_url) != 0)
		printf("\n--public-url is left as it was; change it with `hythe settings set "
		       "public_url=%s`.\n",
		       url);
	if (!setup->first && zone && strcmp(zone, now->settings.time_zone) != 0)
		printf("\n--time-zone is left as it was; change it with `hythe settings set "
		       "time_zone=%s`.\n",
		       zone);
	if (setup->link_made)
		say_link(options, setup, &now->settings);
	printf("\nNext: `hythe serve --data-dir %s`%s.\n", instance->dir,
	       strcmp(instance->dir, DATA_DIR_DEFAULT) == 0 ? ", or `systemctl start hythe`" : "");
	settings_give(instance->settings, now);
}

static bool settings_are_there(struct instance *instance)
{
	struct settings_snapshot *now = settings_take(instance->settings);
	bool there = now->version > 0;

	settings_give(instance->settings, now);
	return there;
}

int setup_run(const struct command *command, const struct options *options)
{
	const char *dir = cli_data_dir(options);
	struct instance instance = {0};
	struct instance_found found = {0};
	struct problem problem = {0};
	struct setup setup;
	enum res res;

	(void)command;
	process_harden();
	log_set_level(LOG_LEVEL_WARN);
	if ((res = instance_look(dir, &found, &problem)) != RES_OK ||
	    (res = read_setup(options, &found, &setup, &problem)) != RES_OK)
		goto out;
	if (found.key && !found.database)
		fprintf(stderr,
			"hythe: %s/master.key is there without a database; it is used for the new "
			"one\n",
			dir);
	if ((res = instance_open(&instance, dir, INSTANCE_CREATE, 1, &problem)) != RES_OK)
		goto out;
	/* A database whose set-up was cut short has no settings yet. */
	if (!setup.first && !settings_are_there(&instance)) {
		setup.first = true;
		if ((res = first_settings(options, &setup.settings, &problem)) != RES_OK)
			goto out;
	}
	if ((res = instance_run(&instance, ACTOR_CONTROL, op_setup, &setup, &problem)) == RES_OK)
		report(options, &setup, &found, &instance);
out:
	instance_close(&instance);
	explicit_bzero(&setup.link, sizeof setup.link);
	if (res == RES_OK)
		return EXIT_DONE;
	problem_set(&problem, res, "failed", NULL, "set-up failed: %s", res_text(res));
	return cli_fail(&problem);
}
