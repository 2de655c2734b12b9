/* What `hythe serve` was told, checked before anything is touched. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "panel.h"

#define LISTEN_DEFAULT  "127.0.0.1:8080"
#define HEADER_DEFAULT  "X-Forwarded-For"
#define DEV_DIR_DEFAULT "./.data"
#define HEADER_NAME_MAX 64

static enum res bad(struct problem *problem, const char *flag, const char *text, const char *want)
{
	return problem_set(problem, RES_INVALID, "bad_flag", flag, "--%s: \"%.80s\" is not %s",
			   flag, text, want);
}

enum res check_listen(const char *flag, const char *text, struct problem *problem)
{
	struct sockaddr_storage address;
	socklen_t len;

	if (!text || addr_listen_parse(text, &address, &len))
		return RES_OK;
	return bad(problem, flag, text,
		   "an address to listen on, such as 127.0.0.1:8080, [::]:8080 or :8080");
}

/* --dev gives whoever gets here demo data and a token that may do everything. */
static enum res check_dev_listen(const char *flag, const char *text, struct problem *problem)
{
	struct sockaddr_storage at;
	struct addr addr;
	socklen_t len;

	if (!text ||
	    (addr_listen_parse(text, &at, &len) &&
	     addr_of_sockaddr((const struct sockaddr *)&at, &addr) && addr_is_loopback(&addr)))
		return RES_OK;
	return problem_set(
		problem, RES_INVALID, "bad_flag", flag,
		"--%s: \"%.80s\" is not on loopback, and --dev is a demo for this machine "
		"alone; use 127.0.0.1:PORT, or `hythe setup` and no --dev",
		flag, text);
}

void listen_url(const char *listen, bool tls, char *out, size_t size)
{
	const char *port = strrchr(listen, ':');
	struct sockaddr_storage at;
	struct addr addr;
	socklen_t len;
	bool any = false;

	if (addr_listen_parse(listen, &at, &len) &&
	    addr_of_sockaddr((const struct sockaddr *)&at, &addr))
		any = memcmp(addr.bytes, (const uint8_t[16]){0}, sizeof addr.bytes) == 0;
	snprintf(out, size, "%s://%s%s", tls ? "https" : "http", any ? "127.0.0.1" : "",
		 any && port ? port : listen);
}

static enum res add_proxy(struct config *config, const char *text, size_t len,
			  struct problem *problem)
{
	char net[ADDR_TEXT_MAX + 8];

	if (config->trusted.count == TRUSTED_PROXIES_MAX)
		return problem_set(problem, RES_INVALID, "bad_flag", "trusted-proxy",
				   "--trusted-proxy: at most %d", TRUSTED_PROXIES_MAX);
	if (len < sizeof net) {
		memcpy(net, text, len);
		net[len] = 0;
		if (addr_net_parse(net, &config->proxies[config->trusted.count])) {
			config->trusted.count++;
			return RES_OK;
		}
	}
	return bad(problem, "trusted-proxy", text,
		   "an address or network, such as 127.0.0.1 or 10.0.0.0/8");
}

/* The flag may be repeated, and each (as in the variable) may be a list separated by commas. */
static enum res read_proxies(const struct options *options, struct config *config,
			     struct problem *problem)
{
	config->trusted.nets = config->proxies;
	for (size_t i = 0; i < options->given_count; i++) {
		const char *text = options->given[i].text;

		if (strcmp(options->given[i].option->name, "trusted-proxy") != 0)
			continue;
		for (;;) {
			size_t len = strcspn(text, ",");
			enum res res = add_proxy(config, text, len, problem);

			if (res != RES_OK)
				return res;
			if (!text[len])
				break;
			text += len + 1;
		}
	}
	return RES_OK;
}

static enum res read_header(const char *name, struct config *config, struct problem *problem)
{
	static const char token[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	config->address_header = name ? name : HEADER_DEFAULT;
	if (strlen(config->address_header) > HEADER_NAME_MAX || !*config->address_header ||
	    config->address_header[strspn(config->address_header, token)])
		return bad(problem, "client-address-header", config->address_header,
			   "the name of a header");
	/* Without a proxy to trust, whoever sends the header would be believed or not at random. */
	if (name && config->trusted.count == 0)
		return problem_set(problem, RES_INVALID, "bad_flag", "client-address-header",
				   "--client-address-header needs --trusted-proxy: whose header is "
				   "to be believed?");
	return RES_OK;
}

static enum res read_level(const char *word, struct config *config, struct problem *problem)
{
	static const char *const words[] = {"error", "warn", "info", "debug"};

	config->log_level = LOG_LEVEL_INFO;
	for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i]) == 0) {
			config->log_level = (enum log_level)i;
			return RES_OK;
		}
	return word ? bad(problem, "log-level", word, "error, warn, info or debug") : RES_OK;
}

static enum res check_file(const char *flag, const char *path, struct problem *problem)
{
	if (!path || access(path, R_OK) == 0)
		return RES_OK;
	return bad(problem, flag, path, "a file that can be read");
}

static enum res check_tls(const struct config *config, struct problem *problem)
{
	enum res res;

	if (!config->tls_cert != !config->tls_key)
		return problem_set(problem, RES_INVALID, "bad_flag",
				   config->tls_cert ? "tls-key" : "tls-cert",
				   "--tls-cert and --tls-key go together; --%s is missing",
				   config->tls_cert ? "tls-key" : "tls-cert");
	if ((res = check_file("tls-cert", config->tls_cert, problem)) != RES_OK)
		return res;
	return check_file("tls-key", config->tls_key, problem);
}

enum res config_read(const struct options *options, struct config *config, struct problem *problem)
{
	const char *listen = option_text(options, "listen"),
		   *dir = option_text(options, "data-dir");
	enum res res;

	*config = (struct config){
		.dev = option_on(options, "dev"),
		.listen = listen ? listen : LISTEN_DEFAULT,
		.admin_listen = option_text(options, "admin-listen"),
		.tls_cert = option_text(options, "tls-cert"),
		.tls_key = option_text(options, "tls-key"),
		.decoy_dir = option_text(options, "decoy-dir"),
	};
	config->data_dir = dir ? dir : config->dev ? DEV_DIR_DEFAULT : DATA_DIR_DEFAULT;
	if ((res = check_listen("listen", config->listen, problem)) != RES_OK ||
	    (res = check_listen("admin-listen", config->admin_listen, problem)) != RES_OK ||
	    (res = read_proxies(options, config, problem)) != RES_OK ||
	    (res = read_header(option_text(options, "client-address-header"), config, problem)) !=
		    RES_OK ||
	    (res = read_level(option_text(options, "log-level"), config, problem)) != RES_OK)
		return res;
	if (config->dev &&
	    ((res = check_dev_listen("listen", config->listen, problem)) != RES_OK ||
	     (res = check_dev_listen("admin-listen", config->admin_listen, problem)) != RES_OK))
		return res;
	return check_tls(config, problem);
}
