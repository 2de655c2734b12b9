/* panel/options.h – flags by table: of each command, with its variable, its help and its bounds.
 *
 * A flag is `--name VALUE` or `--name=VALUE`; a switch has no value (`--name=no` takes back what a
 * variable says). Flags and words may be mixed; `--` ends the flags. What the command line leaves
 * out comes from the environment: `--data-dir` from HYTHE_DATA_DIR, a repeated flag as a list
 * separated by commas. A flag that becomes a member of a body (`member`) has no variable: what is
 * left in an environment must not change a user. Errors name the flag. Threads: none; start-up only. */
#ifndef HYTHE_PANEL_OPTIONS_H
#define HYTHE_PANEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "hythe/util/result.h"

enum option_kind {
	OPTION_SWITCH,
	OPTION_TEXT,
	OPTION_NUMBER,   /* whole number */
	OPTION_BYTES,    /* 10, 5GB, 1.5TB */
	OPTION_DURATION, /* 30d, 12h, 90m, 45s */
	OPTION_TIME,     /* 2026-12-31, 2026-12-31T14:00:00Z, @seconds, never */
	OPTION_YESNO,
	OPTION_REFS,   /* names or ids of other things, separated by commas */
	OPTION_REF,    /* one of them */
	OPTION_LIST,   /* words separated by commas */
	OPTION_ACCESS, /* PROFILE, PROFILE@NODE, PROFILE@#TAG; repeated */
	OPTION_JSON,   /* a JSON value, or @FILE */
	OPTION_FILE    /* the contents of a file */
};

struct option {
	const char *name;  /* without the dashes */
	const char *value; /* what stands for its value in the help; NULL: a switch */
	const char *help;
	enum option_kind kind;
	bool repeated;
	bool required;
	const char *member;   /* of the JSON body, for commands that are one API call */
	const char *resource; /* OPTION_REF, OPTION_REFS: "groups" */
};

#define OPTIONS_GIVEN_MAX 64
#define OPTIONS_WORDS_MAX 8

struct option_given {
	const struct option *option;
	const char *text;
};

struct options {
	const struct option *const *tables; /* NULL at the end; each ended by name NULL */
	struct option_given given[OPTIONS_GIVEN_MAX];
	size_t given_count;
	const char *words[OPTIONS_WORDS_MAX];
	size_t word_count;
	bool help; /* --help or -h was there */
};

/* Texts are borrowed from argv and the environment. RES_INVALID: `problem` names the flag. */
enum res options_read(struct options *options, const struct option *const *tables, int argc,
		      char **argv, struct problem *problem);
const char *option_text(const struct options *options, const char *name); /* NULL: not given */
bool option_on(const struct options *options, const char *name);
/* The variable of a flag: "data-dir" gives HYTHE_DATA_DIR. */
#define OPTION_VARIABLE_MAX 64
void option_variable(const char *name, char out[static OPTION_VARIABLE_MAX]);
void options_print_help(const struct option *const *tables);

#endif
