/* panel/panel.h – what the files of panel/ share: the data directory opened, and the running panel.
 * Threads: every member is set before the first request and then only read, or says otherwise. */
#ifndef HYTHE_PANEL_PANEL_H
#define HYTHE_PANEL_PANEL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "cli.h"
#include "hythe/http/limiter.h"
#include "hythe/http/server.h"
#include "hythe/ops/ops.h"
#include "hythe/ops/settings.h"
#include "hythe/util/decoy.h"
#include "hythe/util/log.h"

#define HYTHE_VERSION "0.1.0"

/* --- A data directory, opened (instance.c) --- */

#define DATA_PATH_MAX 4096

struct instance {
	char dir[DATA_PATH_MAX - 64];
	struct vault *vault;
	struct store *store;
	struct settings_box *settings;
	struct ops ops;
};

enum instance_mode {
	INSTANCE_USE,   /* everything must be there: else code not_set_up */
	INSTANCE_CREATE /* what is missing is made, what is there is kept */
};

/* What a data directory held before it was opened. */
struct instance_found {
	bool key, database;
};

enum res instance_look(const char *dir, struct instance_found *found, struct problem *problem);
enum res instance_open(struct instance *instance, const char *dir, enum instance_mode mode,
		       unsigned public_readers, struct problem *problem);
void instance_close(struct instance *instance);
bool instance_path(const struct instance *instance, const char *name,
		   char out[static DATA_PATH_MAX]);
/* Runs one operation as the control socket would (`kind` ACTOR_CONTROL) or as the timer does. */
enum res instance_run(struct instance *instance, enum actor_kind kind, op_fn fn, void *arg,
		      struct problem *problem);

/* --- What serve was told (config.c) --- */

#define TRUSTED_PROXIES_MAX 64

struct config {
	const char *data_dir, *listen, *admin_listen, *tls_cert, *tls_key, *address_header,
		*decoy_dir;
	struct addr_net proxies[TRUSTED_PROXIES_MAX];
	struct addr_net_list trusted; /* over `proxies` */
	enum log_level log_level;
	bool dev;
};

/* RES_INVALID: the problem names the flag. */
enum res config_read(const struct options *options, struct config *config, struct problem *problem);
/* Is `text` (NULL: not given) an address to listen on? */
enum res check_listen(const char *flag, const char *text, struct problem *problem);
/* Where a browser on this machine finds what listens there: "https://127.0.0.1:8080". Every address of
 * the machine (":8080") is reached by loopback. */
#define LISTEN_URL_MAX 256
void listen_url(const char *listen, bool tls, char *out, size_t size);

/* --- The running panel (serve.c) --- */

#define DEV_PASSWORD_SIZE 25

struct decoy_box; /* decoy_box.c: the answers made of the decoy, exchanged at SIGHUP */

struct panel {
	const struct config *config;
	const struct clock *clock;
	struct instance instance;
	struct decoy_box *decoy;
	struct limiter *networks; /* every request of the public listener but the admin's own */
	struct sub *sub;
	struct admin *admin;
	struct http_workers *workers;
	struct http_listener *public, *admin_listener, *control;
	struct timers *timers;
	char admin_url[LISTEN_URL_MAX]; /* of the admin's own listener; "": it is public */
	char dev_password[DEV_PASSWORD_SIZE]; /* of the owner just made by --dev, until it is
						 printed; else "" */
	atomic_bool stopping;                 /* no request gets to the admin any more */
	atomic_uint inside; /* event threads that are in the admin's code just now */
};

/* public.c: what stands on each listener. */
struct http_site public_site(struct panel *panel);
struct http_site admin_site(struct panel *panel);
struct http_site control_site(struct panel *panel);
struct reply *public_unknown(void *panel, const struct request *req); /* the decoy */

/* decoy_box.c: the decoy as answers. A reply is good for as long as its holder likes. */
enum res decoy_box_new(const char *dir, struct decoy_box **out, struct problem *problem);
enum res decoy_box_reload(struct decoy_box *box, const char *dir, struct problem *problem);
/* Until the next reload, by the thread that reloads. */
const struct decoy *decoy_box_lend(struct decoy_box *box);
void decoy_box_free(struct decoy_box *box);
struct reply *decoy_unknown(struct decoy_box *box, bool front); /* `front`: of the path "/" */
/* The same as replies of their own, for headers to be added. */
struct reply *decoy_unknown_fresh(struct decoy_box *box, bool front);
struct reply *decoy_limited(struct decoy_box *box, unsigned retry_s);

/* timers.c: the thread for what nobody asked for. */
enum res timers_start(struct panel *panel, struct timers **out);
void timers_stop(struct timers *timers);

/* process.c: what the process may and may not, and its word to the supervisor. */
void process_harden(void);
/* How many files it may have open, after process_harden(). */
unsigned process_files(void);
int64_t process_private_bytes(void *unused); /* -1: unknown */
void process_notify(const char *state);      /* "READY=1" to NOTIFY_SOCKET, if there is one */

/* zone_name.c: the system's time zone as a name of the tz database; "UTC" when nothing says. */
void system_zone_name(char out[static 64]);

/* dev.c: refuses a panel that `hythe setup` made. `password` is filled when the owner was made just now, else "". */
enum res dev_prepare(struct instance *instance, const struct config *config,
		     char password[static DEV_PASSWORD_SIZE], struct problem *problem);
void dev_greet(struct panel *panel);

/* Commands of their own (the rows are in cli.c). */
extern const struct option serve_flags[];
int setup_run(const struct command *command, const struct options *options);
int serve_run(const struct command *command, const struct options *options);
int version_run(const struct command *command, const struct options *options);

#endif
