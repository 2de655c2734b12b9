/* panel/serve.c – `hythe serve`: builds the panel from its parts, waits for signals, takes it apart
 * in the order that loses nobody's answer. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hythe/admin/admin.h"
#include "hythe/sub/sub.h"
#include "panel.h"

#define EVENT_THREADS_MAX 4
#define WORKERS           2
#define WORK_QUEUE        256
#define NETWORK_BUCKETS   8192
#define CONTROL_MAX       64 /* connections to the control socket */
#define CONNECTIONS_MAX   4096
#define FILES_RESERVED    64 /* what the panel itself has open: database, sockets, event threads */
#define FILES_NEEDED      128
#define STOP_S            5
#define DRAIN_MS          1000

/* --- Building --- */

static unsigned event_threads(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus > EVENT_THREADS_MAX ? EVENT_THREADS_MAX : (unsigned)cpus;
}

/* All of the burst comes back in this time, so that one token comes back every 1/network_per_s. */
static void set_network_limit(void *ctx, const struct settings *settings)
{
	limiter_set(ctx, (uint32_t)settings->network_burst,
		    (uint32_t)(settings->network_burst * 1000 / settings->network_per_s));
}

static enum res build_limits(struct panel *panel)
{
	struct settings_snapshot *snapshot;

	panel->networks = limiter_new(NETWORK_BUCKETS, panel->clock);
	if (!panel->networks)
		return RES_NOMEM;
	settings_observe(panel->instance.settings, set_network_limit, panel->networks);
	snapshot = settings_take(panel->instance.settings);
	set_network_limit(panel->networks, &snapshot->settings);
	settings_give(panel->instance.settings, snapshot);
	return RES_OK;
}

static enum res build_sub(struct panel *panel, struct problem *problem)
{
	struct sub_config config = {
		.store = panel->instance.store,
		.vault = panel->instance.vault,
		.settings = panel->instance.settings,
		.decoy = decoy_box_lend(panel->decoy),
		.clock = panel->clock,
	};
	enum res res = sub_new(&config, &panel->sub, problem);

	if (res == RES_OK)
		sub_observe(panel->sub);
	return res;
}

static enum res build_admin(struct panel *panel)
{
	struct admin_config config = {
		.ops = &panel->instance.ops,
		.clock = panel->clock,
		.version = HYTHE_VERSION,
		.private_bytes = process_private_bytes,
		.unknown = public_unknown,
		.ctx = panel,
	};
	enum res res = http_workers_new(WORKERS, WORK_QUEUE, &panel->workers);

	if (res != RES_OK)
		return res;
	if (panel->config->admin_listen) {
		listen_url(panel->config->admin_listen, panel->config->tls_cert != NULL,
			   panel->admin_url, sizeof panel->admin_url);
		config.admin_url = panel->admin_url;
	}
	config.workers = panel->workers;
	return admin_new(&config, &panel->admin);
}

/* --- Listening --- */

/* The library spins on a connection for which there is no descriptor left, so it never gets there:
 * what the limit allows beyond our own files is shared by the listeners. */
static unsigned control_connections(void)
{
	unsigned spare = (process_files() - FILES_RESERVED) / 4;

	return spare < CONTROL_MAX ? spare : CONTROL_MAX;
}

static unsigned connections(const struct panel *panel)
{
	unsigned spare = process_files() - FILES_RESERVED - control_connections();
	unsigned share = spare / (panel->config->admin_listen ? 2 : 1);

	return share < CONNECTIONS_MAX ? share : CONNECTIONS_MAX;
}

static enum res check_files(const struct panel *panel, struct problem *problem)
{
	if (process_files() < FILES_NEEDED)
		return problem_set(
			problem, RES_IO, "too_few_files", NULL,
			"this process may have %u files open, and needs %d at least: raise "
			"it (ulimit -n, LimitNOFILE=)",
			process_files(), FILES_NEEDED);
	if (connections(panel) < CONNECTIONS_MAX)
		log_warn("few_connections", "connections=%u files=%u usual=%d", connections(panel),
			 process_files(), CONNECTIONS_MAX);
	return RES_OK;
}

/* The modules below know files and addresses; who reads the message knows flags. */
static enum res by_flag(enum res res, const char *flag, struct problem *problem)
{
	struct problem why = *problem;

	if (res == RES_OK || !why.detail[0])
		return res;
	*problem = (struct problem){0};
	return problem_set(problem, res, why.code, flag, "--%s: %.400s", flag, why.detail);
}

static const char *listener_flag(const struct problem *problem, const char *listen)
{
	return strcmp(problem->field, "tls_cert") == 0  ? "tls-cert"
	       : strcmp(problem->field, "tls_key") == 0 ? "tls-key"
							: listen;
}

static enum res listen_public(struct panel *panel, struct problem *problem)
{
	const struct config *config = panel->config;
	struct http_config http = {
		.name = "public",
		.listen = config->listen,
		.threads = event_threads(),
		.trusted_proxies = &config->trusted,
		.address_header = config->address_header,
		.tls_cert = config->tls_cert,
		.tls_key = config->tls_key,
		.clock = panel->clock,
		.max_connections = connections(panel),
	};
	struct http_site site = public_site(panel);
	enum res res = http_listener_new(&http, &site, &panel->public, problem);

	return by_flag(res, listener_flag(problem, "listen"), problem);
}

static enum res listen_admin(struct panel *panel, struct problem *problem)
{
	const struct config *config = panel->config;
	struct http_config http = {
		.name = "admin",
		.listen = config->admin_listen,
		.threads = 1,
		.trusted_proxies = &config->trusted,
		.address_header = config->address_header,
		.tls_cert = config->tls_cert,
		.tls_key = config->tls_key,
		.clock = panel->clock,
		.max_connections = connections(panel),
	};
	struct http_site site = admin_site(panel);
	char url[LISTEN_URL_MAX];
	enum res res;

	if (!config->admin_listen)
		return RES_OK;
	res = http_listener_new(&http, &site, &panel->admin_listener, problem);
	if (res != RES_OK)
		return by_flag(res, listener_flag(problem, "admin-listen"), problem);
	/* Another only when any free port was asked for, which nobody but us knows yet. */
	listen_url(http_listener_address(panel->admin_listener), config->tls_cert != NULL, url,
		   sizeof url);
	if (strcmp(url, panel->admin_url) != 0)
		memcpy(panel->admin_url, url, sizeof url);
	return RES_OK;
}

static enum res listen_control(struct panel *panel, struct problem *problem)
{
	char path[DATA_PATH_MAX];
	struct http_config http = {
		.name = "control",
		.unix_path = path,
		.threads = 1,
		.clock = panel->clock,
		.max_connections = control_connections(),
	};
	struct http_site site = control_site(panel);

	if (!instance_path(&panel->instance, CONTROL_SOCKET_NAME, path))
		return RES_INVALID;
	return by_flag(http_listener_new(&http, &site, &panel->control, problem), "data-dir",
		       problem);
}

/* The store before all, then what requests need, then those who bring them: the public listener
 * first, because people's apps retry and operators can wait a millisecond. */
static enum res build(struct panel *panel, struct problem *problem)
{
	const struct config *config = panel->config;
	enum instance_mode mode = config->dev ? INSTANCE_CREATE : INSTANCE_USE;
	enum res res;

	if ((res = check_files(panel, problem)) != RES_OK)
		return res;
	if ((res = instance_open(&panel->instance, config->data_dir, mode, event_threads(),
				 problem)) != RES_OK)
		return res;
	if (config->dev &&
	    (res = dev_prepare(&panel->instance, config, panel->dev_password, problem)) != RES_OK)
		return res;
	res = decoy_box_new(config->decoy_dir, &panel->decoy, problem);
	if ((res = by_flag(res, "decoy-dir", problem)) != RES_OK ||
	    (res = build_limits(panel)) != RES_OK || (res = build_sub(panel, problem)) != RES_OK ||
	    (res = build_admin(panel)) != RES_OK ||
	    (res = listen_public(panel, problem)) != RES_OK ||
	    (res = listen_admin(panel, problem)) != RES_OK ||
	    (res = listen_control(panel, problem)) != RES_OK)
		return res;
	return timers_start(panel, &panel->timers);
}

/* --- Taking apart --- */

static void quiesce(struct panel *panel)
{
	struct http_listener *const listeners[] = {panel->public, panel->admin_listener,
						   panel->control};

	for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++)
		if (listeners[i])
			http_listener_quiesce(listeners[i]);
}

static void drain(struct panel *panel)
{
	struct http_listener *const listeners[] = {panel->public, panel->admin_listener,
						   panel->control};
	int64_t until_ms = clock_mono_ms(panel->clock) + DRAIN_MS;

	for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++)
		if (listeners[i])
			http_listener_drain(listeners[i], until_ms);
}

/* Nobody new; what was handed to workers is answered, and sent; only then may the daemons stop (one
 * with a suspended request would abort the process), and the store after whoever could still read.
 */
static void take_apart(struct panel *panel)
{
	quiesce(panel);
	timers_stop(panel->timers);
	atomic_store(&panel->stopping, true);
	while (atomic_load(&panel->inside) > 0)
		sched_yield();
	if (panel->workers)
		http_workers_free(panel->workers);
	drain(panel);
	if (panel->admin)
		admin_stop(panel->admin);
	http_listener_free(panel->public);
	http_listener_free(panel->admin_listener);
	http_listener_free(panel->control);
	store_close(panel->instance.store);
	panel->instance.store = NULL;
	if (panel->admin)
		admin_free(panel->admin);
	if (panel->sub)
		sub_free(panel->sub);
	instance_close(&panel->instance);
	limiter_free(panel->networks);
	decoy_box_free(panel->decoy);
}

/* --- Running --- */

static void reload(struct panel *panel)
{
	struct http_listener *const listeners[] = {panel->public, panel->admin_listener};
	struct problem problem = {0};

	process_notify("RELOADING=1");
	if (decoy_box_reload(panel->decoy, panel->config->decoy_dir, &problem) == RES_OK)
		sub_set_decoy(panel->sub, decoy_box_lend(panel->decoy));
	else
		log_error("reload_failed", "part=decoy detail=%s", log_quote(problem.detail));
	for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++) {
		problem = (struct problem){0};
		if (listeners[i] && panel->config->tls_cert &&
		    http_listener_reload_tls(listeners[i], &problem) != RES_OK)
			log_error("reload_failed", "part=certificate detail=%s",
				  log_quote(problem.detail));
	}
	log_info("reloaded", "pid=%ld", (long)getpid());
	process_notify("READY=1");
}

static void signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

/* Until SIGTERM or SIGINT. */
static void wait_for_end(struct panel *panel, const sigset_t *set)
{
	int got = 0;

	while (got != SIGTERM && got != SIGINT) {
		if (sigwait(set, &got) != 0)
			continue;
		if (got == SIGHUP)
			reload(panel);
	}
	log_info("stopping", "signal=%s", got == SIGTERM ? "TERM" : "INT");
}

/* Whatever hangs, the promise of 5 s holds; what was acknowledged is on disk since long. */
static void stop_late(int number)
{
	static const char text[] = "hythe: could not stop in time\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(EXIT_ERROR);
	_exit(EXIT_ERROR);
}

static void announce(struct panel *panel)
{
	log_info("started", "version=%s public=%s admin=%s data_dir=%s", HYTHE_VERSION,
		 http_listener_address(panel->public),
		 panel->admin_listener ? http_listener_address(panel->admin_listener) : "public",
		 log_quote(panel->config->data_dir));
	if (panel->config->dev)
		dev_greet(panel);
	process_notify("READY=1");
}

int serve_run(const struct command *command, const struct options *options)
{
	struct problem problem = {0};
	struct config config;
	struct panel panel = {.config = &config, .clock = &clock_system};
	int code = EXIT_DONE;
	sigset_t set;
	enum res res;

	(void)command;
	if (config_read(options, &config, &problem) != RES_OK)
		return cli_fail(&problem);
	process_harden();
	log_set_level(config.log_level);
	signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL); /* before the first thread: all inherit it */
	if ((res = build(&panel, &problem)) == RES_OK) {
		announce(&panel);
		wait_for_end(&panel, &set);
		process_notify("STOPPING=1");
	} else {
		problem_set(&problem, res, "failed", NULL, "the panel cannot start: %s",
			    res_text(res));
		code = cli_fail(&problem);
	}
	signal(SIGALRM, stop_late);
	alarm(STOP_S - 1);
	take_apart(&panel);
	alarm(0);
	if (res == RES_OK)
		log_info("stopped", "pid=%ld", (long)getpid());
	return code;
}
