#include "panel/panel.h"
#include "test.h"

static enum res read_line(const char *line, struct config *config, struct problem *problem)
{
	static const struct option common[] = {
		{.name = "data-dir", .value = "DIR", .help = ""},
                {.name = NULL       }
        };
	static const struct option *const tables[] = {serve_flags, common, NULL};
	static char copy[512];
	static struct options options;
	char *argv[32];
	int argc = 0;

	snprintf(copy, sizeof copy, "%s", line);
	for (char *save = NULL, *word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	*problem = (struct problem){0};
	CHECK_INT(options_read(&options, tables, argc, argv, problem), RES_OK);
	return config_read(&options, config, problem);
}

static void test_defaults(void)
{
	struct config config;
	struct problem problem;

	CHECK_INT(read_line("", &config, &problem), RES_OK);
	CHECK_TEXT(config.listen, "127.0.0.1:8080");
	CHECK_TEXT(config.data_dir, "/var/lib/hythe");
	CHECK_TEXT(config.address_header, "X-Forwarded-For");
	CHECK_INT(config.trusted.count, 0);
	CHECK_INT(read_line("--dev", &config, &problem), RES_OK);
	CHECK_TEXT(config.data_dir, "./.data");
}

static void test_proxies(void)
{
	struct config config;
	struct problem problem;

	CHECK_INT(read_line("--trusted-proxy 127.0.0.1,10.0.0.0/8 --trusted-proxy ::1 "
			    "--client-address-header X-Real-IP",
			    &config, &problem),
		  RES_OK);
	CHECK_INT(config.trusted.count, 3);
	CHECK_TEXT(config.address_header, "X-Real-IP");
}

static void test_refused(void)
{
	static const struct {
		const char *line, *names;
	} cases[] = {
		{"--listen nowhere",                                   "--listen"               },
		{"--listen 127.0.0.1:99999",                           "--listen"               },
		{"--admin-listen 1.2.3",                               "--admin-listen"         },
		{"--trusted-proxy 10.0.0.1/8",                         "--trusted-proxy"        },
		{"--trusted-proxy 10.0.0.0/8,",                        "--trusted-proxy"        },
		{"--client-address-header X-Real-IP",                  "--trusted-proxy"        },
		{"--trusted-proxy ::1 --client-address-header a:b",    "--client-address-header"},
		{"--log-level loud",                                   "--log-level"            },
		{"--dev --listen 0.0.0.0:8080",                        "--listen"               },
		{"--dev --listen :8080",                               "--listen"               },
		{"--dev --listen 192.0.2.1:8080",                      "--listen"               },
		{"--dev --admin-listen [::]:9090",                     "--admin-listen"         },
		{"--tls-cert /etc/hostname",                           "--tls-key"              },
		{"--tls-key /etc/hostname",                            "--tls-cert"             },
		{"--tls-cert /there/is/none --tls-key /there/is/none", "--tls-cert"             },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config config;
		struct problem problem;

		CHECK_INT(read_line(cases[i].line, &config, &problem), RES_INVALID);
		if (!strstr(problem.detail, cases[i].names))
			TEST_FAIL("\"%s\": \"%s\" does not name %s", cases[i].line, problem.detail,
				  cases[i].names);
	}
}

static void test_urls(void)
{
	static const struct {
		const char *listen, *url;
		bool tls;
	} cases[] = {
		{"127.0.0.1:9090", "http://127.0.0.1:9090",  false},
		{"127.0.0.1:9090", "https://127.0.0.1:9090", true },
		{"[::1]:9090",     "https://[::1]:9090",     true },
		{":9090",          "http://127.0.0.1:9090",  false},
		{"0.0.0.0:9090",   "http://127.0.0.1:9090",  false},
		{"[::]:9090",      "http://127.0.0.1:9090",  false},
		{"192.0.2.1:80",   "http://192.0.2.1:80",    false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char url[LISTEN_URL_MAX];

		listen_url(cases[i].listen, cases[i].tls, url, sizeof url);
		CHECK_TEXT(url, cases[i].url);
	}
}

TEST_MAIN(TEST(test_defaults), TEST(test_proxies), TEST(test_refused), TEST(test_urls))
