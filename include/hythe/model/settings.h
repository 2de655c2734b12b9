/* model/settings.h – what an operator can set while the panel runs, as one plain struct.
 *
 * The table of names, types and bounds is model/settings.c: the API, the command line and the store
 * all read it. Text members are fixed arrays, so a settings value can be copied. */
#ifndef HYTHE_MODEL_SETTINGS_H
#define HYTHE_MODEL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/util/json_read.h"

#define SETTING_PREFIX_MAX 64
#define SETTING_PREFIX_LEN 22 /* of generated ones: 128 random bits */

struct settings {
	char public_url[256]; /* "https://sub.example.net", no slash at the end */
	/* First path segments of links and of the admin: [A-Za-z0-9_-]{1,64}. */
	char sub_prefix[SETTING_PREFIX_MAX + 1], admin_prefix[SETTING_PREFIX_MAX + 1];
	char old_sub_prefix[SETTING_PREFIX_MAX + 1]; /* goes on until old_sub_prefix_until_unix */
	int64_t old_sub_prefix_until_unix;
	char old_admin_prefix[SETTING_PREFIX_MAX + 1];
	int64_t old_admin_prefix_until_unix;
	char time_zone[64];        /* "Europe/Berlin" */
	char name_template[128];   /* "{flag} {node}" */
	char title[64];            /* profile title shown by apps */
	char language[8];          /* "en" */
	int64_t hide_after_s;      /* 600; 0 never */
	int64_t link_burst;        /* 60, refilled over an hour; 0 no limit */
	int64_t network_per_s;     /* 10 */
	int64_t network_burst;     /* 60; 0 no limit */
	int64_t cache_max_bytes;   /* 2 MiB */
	int64_t update_interval_h; /* 12; whole hours, at least 1 */
};

/* Rows of the table. The first SETTINGS_INPUTS can be set by an operator; the rest follow from that
 * and are only stored. */
enum setting_row {
	SETTING_PUBLIC_URL,
	SETTING_SUB_PREFIX,
	SETTING_ADMIN_PREFIX,
	SETTING_TIME_ZONE,
	SETTING_NAME_TEMPLATE,
	SETTING_TITLE,
	SETTING_LANGUAGE,
	SETTING_HIDE_AFTER,
	SETTING_LINK_BURST,
	SETTING_NETWORK_PER_S,
	SETTING_NETWORK_BURST,
	SETTING_CACHE_MAX,
	SETTING_UPDATE_INTERVAL,
	SETTINGS_INPUTS,
	SETTING_OLD_SUB_PREFIX = SETTINGS_INPUTS,
	SETTING_OLD_SUB_UNTIL,
	SETTING_OLD_ADMIN_PREFIX,
	SETTING_OLD_ADMIN_UNTIL,
	SETTINGS_ROWS
};

/* What JSON fills: text is borrowed from the document. */
struct settings_input {
	const char *public_url, *sub_prefix, *admin_prefix, *time_zone, *name_template, *title,
		*language;
	int64_t hide_after_s, link_burst, network_per_s, network_burst, cache_max_bytes,
		update_interval_h;
};

/* SETTINGS_INPUTS rows; fills struct settings_input. */
extern const struct json_field settings_fields[];
extern const size_t settings_fields_count;

/* Every member has a usable value; both prefixes are random. */
void settings_default(struct settings *settings);
void settings_random_prefix(char out[static SETTING_PREFIX_LEN + 1]);
const char *settings_name(size_t row); /* "public_url"; NULL past the last stored row */
bool settings_is_text(size_t row);
/* Text form of row i for the store and the command line; and back. */
enum res settings_print(const struct settings *settings, size_t row, char *out, size_t size);
enum res settings_parse(struct settings *settings, size_t row, const char *text,
			struct problem *problem);
/* Copies the rows of `present` over; a text that does not fit is RES_INVALID, named. */
enum res settings_apply(struct settings *settings, const struct settings_input *input,
			uint64_t present, struct problem *problem);
/* One row from another settings value. */
void settings_copy_row(struct settings *to, const struct settings *from, size_t row);
/* The rules between and beyond single fields (URL form, prefixes differ, zone exists). */
enum res settings_check(const struct settings *settings, struct problem *problem);
/* The same after a change of the rows of `sent`: what two fields have in common is said of the one
 * that was sent. */
enum res settings_check_change(const struct settings *settings, uint64_t sent,
			       struct problem *problem);

/* The origin of the public URL ("https://sub.example.net:8443"): all of it up to the path. */
size_t settings_origin_len(const char *public_url);
bool settings_url_is_https(const char *public_url);
bool settings_url_is_loopback(const char *public_url); /* http(s)://127.0.0.1, [::1], localhost */
/* Scheme, host, optional port and path; no user info, query, fragment, blank; IPv6 in brackets. */
bool settings_url_valid(const char *url);
bool settings_prefix_valid(const char *prefix);

#endif
