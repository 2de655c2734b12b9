#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void option_variable(const char *name, char out[static OPTION_VARIABLE_MAX])
{
	size_t len = (size_t)snprintf(out, OPTION_VARIABLE_MAX, "HYTHE_%s", name);

	for (size_t i = 0; i < len && i < OPTION_VARIABLE_MAX - 1; i++) {
		if (out[i] == '-')
			out[i] = '_';
		else if (out[i] >= 'a' && out[i] <= 'z')
			out[i] = (char)(out[i] - 'a' + 'A');
	}
}

static const struct option *find(const struct option *const *tables, const char *name, size_t len)
{
	for (; *tables; tables++)
		for (const struct option *option = *tables; option->name; option++)
			if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
				return option;
	return NULL;
}

static bool is_given(const struct options *options, const struct option *option)
{
	for (size_t i = 0; i < options->given_count; i++)
		if (options->given[i].option == option)
			return true;
	return false;
}

static enum res add(struct options *options, const struct option *option, const char *text,
		    struct problem *problem)
{
	if (!option->repeated && is_given(options, option))
		return problem_set(problem, RES_INVALID, "flag_twice", option->name,
				   "--%s is given twice", option->name);
	if (options->given_count == OPTIONS_GIVEN_MAX)
		return problem_set(problem, RES_INVALID, "too_many_flags", option->name,
				   "too many flags");
	options->given[options->given_count++] = (struct option_given){option, text};
	return RES_OK;
}

/* Returns how many of the arguments it took, 0 when the problem is set. */
static int read_flag(struct options *options, char **argv, int left, struct problem *problem)
{
	const char *name = argv[0] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option *option = find(options->tables, name, len);
	const char *text = equals ? equals + 1 : NULL;
	int taken = 1;

	if (!option) {
		problem_set(problem, RES_INVALID, "unknown_flag", NULL, "there is no flag --%.*s",
			    (int)(len < 60 ? len : 60), name);
		return 0;
	}
	if (!text && option->value) {
		if (left < 2) {
			problem_set(problem, RES_INVALID, "missing_value", option->name,
				    "--%s needs a value: --%s %s", option->name, option->name,
				    option->value);
			return 0;
		}
		text = argv[1];
		taken = 2;
	}
	return add(options, option, text ? text : "yes", problem) == RES_OK ? taken : 0;
}

static enum res read_arguments(struct options *options, int argc, char **argv,
			       struct problem *problem)
{
	bool flags = true;

	for (int i = 0; i < argc;) {
		if (flags && strcmp(argv[i], "--") == 0) {
			flags = false;
			i++;
		} else if (flags &&
			   (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
			options->help = true;
			i++;
		} else if (flags && strncmp(argv[i], "--", 2) == 0) {
			int taken = read_flag(options, argv + i, argc - i, problem);

			if (!taken)
				return RES_INVALID;
			i += taken;
		} else if (flags && argv[i][0] == '-' && argv[i][1]) {
			return problem_set(problem, RES_INVALID, "unknown_flag", NULL,
					   "there is no flag %.60s (flags begin with two dashes)",
					   argv[i]);
		} else if (options->word_count == OPTIONS_WORDS_MAX) {
			return problem_set(problem, RES_INVALID, "too_many_words", NULL,
					   "too many words");
		} else {
			options->words[options->word_count++] = argv[i++];
		}
	}
	return RES_OK;
}

static enum res read_environment(struct options *options, struct problem *problem)
{
	for (const struct option *const *table = options->tables; *table; table++)
		for (const struct option *option = *table; option->name; option++) {
			char variable[OPTION_VARIABLE_MAX];
			const char *text;
			enum res res;

			if (option->member)
				continue;
			option_variable(option->name, variable);
			text = getenv(variable);
			if (!text || !*text || is_given(options, option))
				continue;
			if ((res = add(options, option, text, problem)) != RES_OK)
				return res;
		}
	return RES_OK;
}

static enum res check_required(const struct options *options, struct problem *problem)
{
	for (const struct option *const *table = options->tables; *table; table++)
		for (const struct option *option = *table; option->name; option++)
			if (option->required && !is_given(options, option))
				return problem_set(problem, RES_INVALID, "missing_flag",
						   option->name, "--%s %s is needed", option->name,
						   option->value);
	return RES_OK;
}

enum res options_read(struct options *options, const struct option *const *tables, int argc,
		      char **argv, struct problem *problem)
{
	enum res res;

	*options = (struct options){.tables = tables};
	if ((res = read_arguments(options, argc, argv, problem)) != RES_OK || options->help)
		return res;
	if ((res = read_environment(options, problem)) != RES_OK)
		return res;
	return check_required(options, problem);
}

const char *option_text(const struct options *options, const char *name)
{
	for (size_t i = 0; i < options->given_count; i++)
		if (strcmp(options->given[i].option->name, name) == 0)
			return options->given[i].text;
	return NULL;
}

bool option_on(const struct options *options, const char *name)
{
	const char *text = option_text(options, name);

	return text && strcmp(text, "no") != 0 && strcmp(text, "0") != 0 &&
	       strcmp(text, "false") != 0;
}

void options_print_help(const struct option *const *tables)
{
	for (; *tables; tables++)
		for (const struct option *option = *tables; option->name; option++) {
			char flag[80];

			snprintf(flag, sizeof flag, "--%s%s%s", option->name,
				 option->value ? " " : "", option->value ? option->value : "");
			printf("  %-30s %s%s%s\n", flag, option->help,
			       option->required ? " (needed)" : "",
			       option->repeated ? " (may be repeated)" : "");
		}
}
