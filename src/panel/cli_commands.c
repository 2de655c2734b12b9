/* panel/cli_commands.c – every command that is one call of the admin API: a row each, a table of
 * flags each, a table of columns each list. */
#include <stddef.h>

#include "cli.h"

/* clang-format off */
#define END {.name = NULL}
/* Flag rows by kind: name, what stands for the value, help, member of the body. */
#define FLAG(kind_, name_, value_, help_, member_) \
	{.name = (name_), .value = (value_), .help = (help_), .kind = (kind_), .member = (member_)}
#define TEXT(name, value, help, member) FLAG(OPTION_TEXT, name, value, help, member)
#define NUMBER(name, help, member)      FLAG(OPTION_NUMBER, name, "N", help, member)
#define BYTES(name, help, member)       FLAG(OPTION_BYTES, name, "BYTES", help, member)
#define DURATION(name, help, member)    FLAG(OPTION_DURATION, name, "SPAN", help, member)
#define TIME(name, help, member)        FLAG(OPTION_TIME, name, "TIME", help, member)
#define YESNO(name, help, member)       FLAG(OPTION_YESNO, name, "yes|no", help, member)
#define SWITCH(name, help, member)      FLAG(OPTION_SWITCH, name, NULL, help, member)
#define REFS(name_, value_, help_, member_, resource_) \
	{.name = (name_), .value = (value_), .help = (help_), .kind = OPTION_REFS, .member = (member_), \
	 .resource = (resource_)}
#define REF(name_, value_, help_, member_, resource_, required_) \
	{.name = (name_), .value = (value_), .help = (help_), .kind = OPTION_REF, .member = (member_), \
	 .resource = (resource_), .required = (required_)}

#define PASSWORD_FILE TEXT("password-file", "FILE", "read the password from FILE (- is standard input)", NULL)
#define PAGE_FLAGS \
	TEXT("q", "TEXT", "only what this text is found in", "q"), \
	TEXT("cursor", "CURSOR", "go on where the last page ended", "cursor"), \
	NUMBER("limit", "rows at most, 1 to 500", "limit")

/* --- Users --- */
#define USER_SETTINGS \
	TEXT("display-name", "TEXT", "name for people", "display_name"), \
	TEXT("note", "TEXT", "a note for operators", "note"), \
	TEXT("tag", "TAG", "a word to filter by", "tag"), \
	TEXT("email", "ADDRESS", "e-mail address", "email"), \
	NUMBER("telegram-id", "number of the Telegram account", "telegram_id"), \
	TEXT("language", "CODE", "language of what the person reads, such as en", "language"), \
	FLAG(OPTION_JSON, "meta", "JSON", "an object of your own, or @FILE", "meta"), \
	TIME("expires", "when access ends: 2026-12-31, 2026-12-31T14:00:00Z or never", "expires_unix"), \
	DURATION("expires-in", "when access ends, from now: 30d, 12h", "expires_in_s"), \
	DURATION("hold", "access lasts so long from the first use on", "hold_s"), \
	TIME("hold-deadline", "first use must come before", "hold_deadline_unix"), \
	BYTES("quota", "data allowed in a period: 100GB; 0 is unlimited", "quota_bytes"), \
	TEXT("quota-period", "WORD", "none, day, week, month, calendar_month, year, rolling30 or days", "quota_period"), \
	NUMBER("quota-period-days", "length of the period for --quota-period days", "quota_period_days"), \
	NUMBER("device-limit", "connections at once; 0 is unlimited", "device_limit"), \
	NUMBER("hwid-limit", "app installs; -1 as the setting says, 0 unlimited", "hwid_limit"), \
	REFS("groups", "GROUP,...", "the groups that open servers", "groups", "groups"), \
	REFS("excluded-nodes", "NODE,...", "nodes that this user does not get", "excluded_nodes", "nodes")

static const struct option user_add_flags[] = {
	USER_SETTINGS,
	YESNO("enabled", "whether access is on from the start", "enabled"),
	TEXT("credential", "TEXT", "an auth string brought from elsewhere", "credential"),
	END};
static const struct option user_set_flags[] = {
	TEXT("name", "NAME", "a new name", "name"),
	USER_SETTINGS,
	YESNO("enabled", "whether access is on", "enabled"),
	END};
static const struct option user_list_flags[] = {
	TEXT("status", "WORD", "active, on_hold, limited, expired or disabled", "status"),
	REF("group", "GROUP", "only users of this group", "group", "groups", false),
	TEXT("tag", "TAG", "only users with this tag", "tag"),
	TEXT("sort", "WORD", "name, created, expiry, used, remaining, last_seen; -name turns it round", "sort"),
	PAGE_FLAGS,
	END};
static const struct option user_extend_flags[] = {
	DURATION("by", "so much longer: 30d", "add_s"),
	BYTES("bytes", "so much more data: 50GB", "add_bytes"),
	SWITCH("reset-usage", "begin a new period too", "reset_usage"),
	END};
static const struct option user_rotate_flags[] = {
	{.name = "credential", .help = "a new auth string instead of a new link", .kind = OPTION_SWITCH},
	DURATION("keep", "with --credential: the old one goes on so long", "keep_s"),
	END};
static const struct column user_columns[] = {
	{"NAME", "name"}, {"STATUS", "status"}, {"USED", "usage.used_bytes"}, {"QUOTA", "quota_bytes"},
	{"EXPIRES", "expires_unix"}, {"GROUPS", "groups"}, {"ID", "id"}, {NULL, NULL}};
static const struct column link_column[] = {{"LINK", "link"}, {NULL, NULL}};
static const struct column url_column[] = {{"LINK", "url"}, {NULL, NULL}};

/* --- Groups --- */
#define GROUP_SETTINGS \
	{.name = "access", .value = "RULE", .kind = OPTION_ACCESS, .repeated = true, .member = "access", \
	 .help = "what it opens: PROFILE (all nodes), PROFILE@NODE or PROFILE@#TAG"}, \
	TEXT("note", "TEXT", "a note for operators", "note")
static const struct option group_add_flags[] = {GROUP_SETTINGS, END};
static const struct option group_set_flags[] = {TEXT("name", "NAME", "a new name", "name"), GROUP_SETTINGS, END};
static const struct option page_flags[] = {PAGE_FLAGS, END};
static const struct column group_columns[] = {
	{"NAME", "name"}, {"USERS", "members"}, {"OPENS", "access"}, {"NOTE", "note"}, {"ID", "id"}, {NULL, NULL}};

/* --- Profiles --- */
#define PROFILE_SETTINGS \
	NUMBER("port", "UDP port of the server", "port"), \
	TEXT("hop-ports", "RANGES", "ports to hop over: 20000-29999,31000", "hop_ports"), \
	DURATION("hop-interval", "how long a client stays on one", "hop_interval_s"), \
	TEXT("obfs", "WORD", "none, salamander or gecko", "obfs"), \
	FLAG(OPTION_FILE, "obfs-password-file", "FILE", "its password (made at random if left out)", "obfs_password"), \
	NUMBER("obfs-min-packet-bytes", "smallest packet of gecko", "obfs_min_packet_bytes"), \
	NUMBER("obfs-max-packet-bytes", "largest packet of gecko", "obfs_max_packet_bytes"), \
	TEXT("cert-mode", "WORD", "self_signed, acme or file", "cert_mode"), \
	TEXT("sni", "NAME", "server name of the certificate", "sni"), \
	FLAG(OPTION_JSON, "server", "JSON", "what only the server reads: masquerade, acme, ...; or @FILE", "server"), \
	TEXT("note", "TEXT", "a note for operators", "note")
static const struct option profile_add_flags[] = {PROFILE_SETTINGS, END};
static const struct option profile_set_flags[] = {TEXT("name", "NAME", "a new name", "name"), PROFILE_SETTINGS, END};
static const struct column profile_columns[] = {
	{"NAME", "name"}, {"PORT", "port"}, {"HOP", "hop_ports"}, {"OBFS", "obfs"}, {"CERTIFICATE", "cert_mode"},
	{"SNI", "sni"}, {"ID", "id"}, {NULL, NULL}};

/* --- Nodes --- */
#define NODE_SETTINGS \
	TEXT("country", "CODE", "where it stands: two letters, such as DE", "country"), \
	TEXT("city", "TEXT", "the town", "city"), \
	FLAG(OPTION_LIST, "tags", "TAG,...", "words that groups choose nodes by", "tags"), \
	TEXT("note", "TEXT", "a note for operators", "note"), \
	TEXT("cost-note", "TEXT", "what it costs", "cost_note"), \
	YESNO("enabled", "whether it serves", "enabled"), \
	NUMBER("usage-factor-percent", "how its bytes count: 100 as they are", "usage_factor_percent"), \
	BYTES("traffic-allowance", "what its provider lets it move in a month", "traffic_allowance_bytes"), \
	NUMBER("traffic-reset-day", "day on which that begins anew", "traffic_reset_day")
static const struct option node_add_flags[] = {
	{.name = "address", .value = "HOST", .help = "name or IP address that clients dial", .kind = OPTION_TEXT,
	 .member = "address", .required = true},
	NODE_SETTINGS, END};
static const struct option node_set_flags[] = {
	TEXT("name", "NAME", "a new name", "name"), TEXT("address", "HOST", "name or IP address that clients dial", "address"),
	NODE_SETTINGS, END};
static const struct column node_columns[] = {
	{"NAME", "name"}, {"ADDRESS", "address"}, {"COUNTRY", "country"}, {"TAGS", "tags"}, {"ENABLED", "enabled"},
	{"ID", "id"}, {NULL, NULL}};

/* --- Inbounds and hosts --- */
#define INBOUND_SETTINGS \
	NUMBER("port", "another port than the profile's; 0 takes it back", "port"), \
	TEXT("sni", "NAME", "another server name than the profile's", "sni"), \
	TEXT("cert-pin", "SHA256", "pin of the certificate of a server that is not managed", "cert_pin"), \
	TEXT("key-pin", "SHA256", "pin of its public key", "key_pin"), \
	FLAG(OPTION_FILE, "cert-file", "FILE", "the certificate itself (PEM)", "cert_pem"), \
	YESNO("enabled", "whether it is offered", "enabled")
static const struct option inbound_add_flags[] = {
	REF("node", "NODE", "the server", "node", "nodes", true),
	REF("profile", "PROFILE", "what runs on it", "profile", "profiles", true),
	YESNO("managed", "no: a Hysteria server that you run yourself", "managed"),
	INBOUND_SETTINGS, END};
static const struct option inbound_set_flags[] = {INBOUND_SETTINGS, END};
static const struct column inbound_columns[] = {
	{"NODE", "node"}, {"PROFILE", "profile"}, {"PORT", "effective_port"}, {"STATE", "state"}, {"ENABLED", "enabled"},
	{"ID", "id"}, {NULL, NULL}};
#define HOST_SETTINGS \
	TEXT("host-name", "TEXT", "what {host} in the name template becomes", "name"), \
	TEXT("address", "HOST", "another address than the node's", "address"), \
	NUMBER("port", "another port than the inbound's", "port"), \
	TEXT("sni", "NAME", "another server name", "sni"), \
	NUMBER("sort-order", "its place in lists, smallest first", "sort_order"), \
	YESNO("enabled", "whether it is offered", "enabled"), \
	YESNO("hidden", "yes: kept, but not offered", "hidden"), \
	FLAG(OPTION_LIST, "formats", "NAME,...", "only in these formats", "formats")
static const struct option host_add_flags[] = {
	REF("inbound", "INBOUND", "NODE/PROFILE or id", "inbound", "inbounds", true), HOST_SETTINGS, END};
static const struct option host_set_flags[] = {HOST_SETTINGS, END};
static const struct column host_columns[] = {
	{"NODE", "node_name"}, {"PROFILE", "profile_name"}, {"NAME", "name"}, {"ADDRESS", "address"}, {"PORT", "port"},
	{"ORDER", "sort_order"}, {"ENABLED", "enabled"}, {"HIDDEN", "hidden"}, {"ID", "id"}, {NULL, NULL}};

/* --- Admins and tokens --- */
static const struct option admin_add_flags[] = {
	{.name = "role", .value = "WORD", .help = "owner, helper or readonly", .kind = OPTION_TEXT,
	 .member = "role", .required = true},
	TEXT("language", "CODE", "language of the admin", "language"), PASSWORD_FILE, END};
static const struct option admin_set_flags[] = {
	TEXT("name", "NAME", "a new name", "name"), TEXT("role", "WORD", "owner, helper or readonly", "role"),
	TEXT("language", "CODE", "language of the admin", "language"),
	YESNO("enabled", "whether this admin may sign in", "enabled"), END};
static const struct option password_flags[] = {PASSWORD_FILE, END};
static const struct column admin_columns[] = {
	{"NAME", "name"}, {"ROLE", "role"}, {"ENABLED", "enabled"}, {"SIGNED IN", "signed_in_unix"}, {"ID", "id"},
	{NULL, NULL}};
static const struct option token_add_flags[] = {
	{.name = "rights", .value = "RIGHT,...", .kind = OPTION_LIST, .member = "rights", .required = true,
	 .help = "users.read, users.write, secrets, nodes.read, nodes.write, settings, admins, metrics"},
	TIME("expires", "when it ends", "expires_unix"),
	DURATION("expires-in", "when it ends, from now", "expires_in_s"),
	NUMBER("rate-per-s", "requests a second at most; 0 is no limit", "rate_per_s"), END};
static const struct column token_columns[] = {
	{"NAME", "name"}, {"RIGHTS", "rights"}, {"EXPIRES", "expires_unix"}, {"LAST USED", "last_used_unix"}, {"ID", "id"},
	{NULL, NULL}};
static const struct option settings_set_flags[] = {
	DURATION("old-prefix-keep", "a replaced prefix goes on so long; alone: the end of one in force, from now",
		 "old_prefix_keep_s"), END};

#define GET    .method = "GET"
#define POST   .method = "POST"
#define PATCH  .method = "PATCH"
#define DELETE .method = "DELETE"

/* What most resources have alike. */
#define RESOURCE(noun, path_, add_flags, set_flags, columns_) \
	{noun " add", "NAME", "make a " noun, add_flags, POST, .path = "/" path_, .word_member = "name", \
	 .show = SHOW_DETAIL}, \
	{noun " list", "", "list them", page_flags, GET, .path = "/" path_, .show = SHOW_TABLE, .columns = columns_}, \
	{noun " show", "NAME", "everything about one", NULL, GET, .path = "/" path_ "/{" path_ "}", .show = SHOW_DETAIL}, \
	{noun " set", "NAME", "change what the flags say", set_flags, PATCH, .path = "/" path_ "/{" path_ "}", \
	 .show = SHOW_DETAIL}, \
	{noun " rm", "NAME", "remove it", NULL, DELETE, .path = "/" path_ "/{" path_ "}", .done = "removed"}

const struct command api_commands[] = {
	{"user add", "NAME", "create a user and print the link", user_add_flags, POST, .path = "/users",
	 .word_member = "name", .show = SHOW_DETAIL},
	{"user list", "", "list users", user_list_flags, GET, .path = "/users", .show = SHOW_TABLE,
	 .columns = user_columns},
	{"user show", "NAME", "everything about one user", NULL, GET, .path = "/users/{users}", .show = SHOW_DETAIL},
	{"user set", "NAME", "change what the flags say", user_set_flags, PATCH, .path = "/users/{users}",
	 .show = SHOW_DETAIL},
	{"user enable", "NAME", "give access back", NULL, POST, .path = "/users/{users}/enable", .done = "enabled"},
	{"user disable", "NAME", "take access away; link and credential stay", NULL, POST,
	 .path = "/users/{users}/disable", .done = "disabled"},
	{"user extend", "NAME", "more time, more data", user_extend_flags, POST, .path = "/users/{users}/extend",
	 .show = SHOW_DETAIL},
	{"user reset", "NAME", "begin a new period: nothing used", NULL, POST, .path = "/users/{users}/reset-usage",
	 .done = "usage reset"},
	{"user rotate", "NAME", "a new link; the old one is dead at once", user_rotate_flags, POST,
	 .path = "/users/{users}/rotate-link", .switch_name = "credential",
	 .switch_path = "/users/{users}/rotate-credential", .show = SHOW_DETAIL},
	{"user rm", "NAME", "delete a user: link, credential and name are free at once", NULL, DELETE,
	 .path = "/users/{users}", .done = "removed"},
	{"user link", "NAME", "print the subscription link", NULL, GET, .path = "/users/{users}/link", .show = SHOW_TEXT,
	 .columns = link_column},

	RESOURCE("group", "groups", group_add_flags, group_set_flags, group_columns),
	RESOURCE("profile", "profiles", profile_add_flags, profile_set_flags, profile_columns),
	RESOURCE("node", "nodes", node_add_flags, node_set_flags, node_columns),

	{"inbound add", "", "place a profile on a node", inbound_add_flags, POST, .path = "/inbounds", .show = SHOW_DETAIL},
	{"inbound list", "", "list them", page_flags, GET, .path = "/inbounds", .show = SHOW_TABLE,
	 .columns = inbound_columns},
	{"inbound show", "NODE/PROFILE", "everything about one", NULL, GET, .path = "/inbounds/{inbounds}",
	 .show = SHOW_DETAIL},
	{"inbound set", "NODE/PROFILE", "change what the flags say", inbound_set_flags, PATCH,
	 .path = "/inbounds/{inbounds}", .show = SHOW_DETAIL},
	{"inbound rm", "NODE/PROFILE", "remove it", NULL, DELETE, .path = "/inbounds/{inbounds}", .done = "removed"},

	{"host add", "", "offer an inbound under another address", host_add_flags, POST, .path = "/hosts",
	 .show = SHOW_DETAIL},
	{"host list", "", "list them", page_flags, GET, .path = "/hosts", .show = SHOW_TABLE, .columns = host_columns},
	{"host show", "HOST", "everything about one (name or id)", NULL, GET, .path = "/hosts/{hosts}",
	 .show = SHOW_DETAIL},
	{"host set", "HOST", "change what the flags say", host_set_flags, PATCH, .path = "/hosts/{hosts}",
	 .show = SHOW_DETAIL},
	{"host rm", "HOST", "remove it", NULL, DELETE, .path = "/hosts/{hosts}", .done = "removed"},

	{"admin add", "NAME", "a person who operates the panel", admin_add_flags, POST, .path = "/admins",
	 .word_member = "name", .password_member = "password", .show = SHOW_DETAIL},
	{"admin list", "", "list them", page_flags, GET, .path = "/admins", .show = SHOW_TABLE, .columns = admin_columns},
	{"admin show", "NAME", "everything about one", NULL, GET, .path = "/admins/{admins}", .show = SHOW_DETAIL},
	{"admin set", "NAME", "change what the flags say", admin_set_flags, PATCH, .path = "/admins/{admins}",
	 .show = SHOW_DETAIL},
	{"admin password", "NAME", "a new password", password_flags, POST, .path = "/admins/{admins}/password",
	 .password_member = "password", .done = "password changed"},
	{"admin owner-link", "", "a one-time link for a new owner (30 minutes)", NULL, POST, .path = "/admins/owner-link",
	 .show = SHOW_TEXT, .columns = url_column, .no_dry_run = true},
	{"admin rm", "NAME", "remove an admin; sessions and tokens end at once", NULL, DELETE, .path = "/admins/{admins}",
	 .done = "removed"},

	{"token add", "NAME", "make a token for scripts; it is shown once", token_add_flags, POST, .path = "/tokens",
	 .word_member = "name", .show = SHOW_DETAIL},
	{"token list", "", "list them", page_flags, GET, .path = "/tokens", .show = SHOW_TABLE, .columns = token_columns},
	{"token rm", "NAME", "end a token at once", NULL, DELETE, .path = "/tokens/{tokens}", .done = "removed"},

	{"settings show", "", "the settings in force", NULL, GET, .path = "/settings", .show = SHOW_DETAIL},
	{"settings set", "[KEY=VALUE...]", "change settings", settings_set_flags, cli_settings_set, PATCH,
	 .path = "/settings", .show = SHOW_DETAIL},
	{"status", "", "whether the panel runs, and what it holds", NULL, cli_status, GET, .path = "/health"},
	{.name = NULL}};
/* clang-format on */
