/* panel/cli.h – the command line: a table of commands, each with its words, flags, help and what it
 * does.
 *
 * Most commands are one call of the admin API on the control socket (DATA/hythe.sock): their row
 * says method, path and how the answer is shown, and cli_call.c does the rest. The others have a
 * function. Exit codes: 0, 1 error, 2 usage, 78 not set up. Threads: none. */
#ifndef HYTHE_PANEL_CLI_H
#define HYTHE_PANEL_CLI_H

#include "hythe/util/arena.h"
#include "hythe/util/buf.h"
#include "hythe/util/json_read.h"
#include "options.h"

enum exit_code { EXIT_DONE = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NOT_SET_UP = 78 };

#define DATA_DIR_DEFAULT    "/var/lib/hythe"
#define CONTROL_SOCKET_NAME "hythe.sock"

/* How one member of an answer becomes a column: the unit in its name says how it is written. */
struct column {
	const char *title;
	const char *member; /* dotted: "usage.used_bytes"; of lists of references the names */
};

enum show {
	SHOW_DETAIL, /* every member, one a line */
	SHOW_TABLE,  /* the list by columns */
	SHOW_TEXT,   /* only the member named by the first column */
	SHOW_NOTHING
};

struct command {
	const char *name;  /* "user add" */
	const char *words; /* "NAME", shown in the help; as many are needed as stand outside [] */
	const char *help;
	const struct option *options;
	int (*run)(const struct command *command,
		   const struct options *options); /* NULL: an API call */
	/* One API call: {users} in the path is the next word, looked up by name among /users. */
	const char *method, *path;
	const char *word_member;               /* the body's member that the (last) word fills */
	const char *switch_name, *switch_path; /* with this switch another path */
	const char *password_member;           /* asked for, or from --password-file */
	enum show show;
	const struct column *columns;
	const char *done; /* what is said of the word after a call whose answer is not shown */
	bool no_dry_run;  /* the call cannot be tried without being made */
};

extern const struct command commands[];     /* without a server: setup, serve, version (cli.c) */
extern const struct command api_commands[]; /* cli_commands.c; both end with name NULL */

int cli_main(int argc, char **argv);
int cli_fail(const struct problem *problem); /* prints "hythe: ..." and gives the exit code */
const char *cli_data_dir(const struct options *options);

/* cli_call.c */
int cli_call_run(const struct command *command, const struct options *options);
int cli_status(const struct command *command, const struct options *options);
int cli_settings_set(const struct command *command, const struct options *options);

/* cli_value.c: one flag's text as a member of a JSON body. */
struct json_writer;
enum res cli_value_write(struct json_writer *w, const struct option *option, const char *text,
			 struct problem *problem);
enum res cli_time(const char *text,
		  int64_t *unix_s); /* 2026-12-31, 2026-12-31T14:00:00Z, @N, never */
/* Reads a file of at most `max` bytes; "-" is standard input. */
enum res cli_file(const char *flag, const char *path, size_t max, struct buf *out,
		  struct problem *problem);
/* A new password: from the file, else asked for twice without echo, else one line of standard
 * input. */
enum res cli_password(const char *file, struct buf *out, struct problem *problem);

/* cli_show.c */
/* The unit that a member's name says: expires_unix, quota_bytes, hold_s. */
enum unit { UNIT_NONE, UNIT_TIME, UNIT_BYTES, UNIT_SPAN };
enum unit cli_unit(const char *member);
void cli_show(enum show show, const struct column *columns, const struct json *root);
/* The value of a dotted member; NULL: absent. */
const struct json *cli_member(const struct json *object, const char *path);
/* As people read it: bytes, times and spans by the unit in the member's name. In the arena. */
const char *cli_cell(struct arena *arena, const char *member, const struct json *value);
size_t cli_width(const char *text); /* columns on a terminal */

#endif
