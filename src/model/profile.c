#include "hythe/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hythe/util/hash.h"
#include "hythe/util/num.h"

const char *const obfs_words[] = {"none", "salamander", "gecko", NULL};
const char *const cert_mode_words[] = {"self_signed", "acme", "file", NULL};

/* --- Ports --- */

static bool range_parse(const char *text, size_t len, struct port_range *out)
{
	const char *dash = memchr(text, '-', len);
	size_t from_len = dash ? (size_t)(dash - text) : len;
	int64_t from, to;

	if (num_i64(text, from_len, 1, UINT16_MAX, &from) != RES_OK)
		return false;
	to = from;
	if (dash && num_i64(dash + 1, len - from_len - 1, from, UINT16_MAX, &to) != RES_OK)
		return false;
	*out = (struct port_range){(uint16_t)from, (uint16_t)to};
	return true;
}

static int range_compare(const void *a, const void *b)
{
	const struct port_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* The ranges as written; RES_INVALID at the first that is none. */
static enum res ranges_parse(const char *text, struct port_set *set, const char *field,
			     struct problem *problem)
{
	set->count = 0;
	for (const char *at = text;;) {
		size_t len = strcspn(at, ",");

		if (set->count == HOP_RANGES_MAX)
			return problem_set(problem, RES_INVALID, "bad_hop_ports", field,
					   "takes %d ranges at most", HOP_RANGES_MAX);
		if (!range_parse(at, len, &set->ranges[set->count++]))
			return problem_set(problem, RES_INVALID, "bad_hop_ports", field,
					   "must be ports and ranges such as 20000-29999,31000");
		if (at[len] == '\0')
			return RES_OK;
		at += len + 1;
	}
}

static enum res ranges_order(struct port_set *set, const char *field, struct problem *problem)
{
	size_t last = 0;

	qsort(set->ranges, set->count, sizeof *set->ranges, range_compare);
	for (size_t i = 1; i < set->count; i++) {
		if (set->ranges[i].from <= set->ranges[last].to)
			return problem_set(problem, RES_INVALID, "bad_hop_ports", field,
					   "names port %u twice", set->ranges[i].from);
		if (set->ranges[i].from == set->ranges[last].to + 1)
			set->ranges[last].to = set->ranges[i].to;
		else
			set->ranges[++last] = set->ranges[i];
	}
	set->count = last + 1;
	return RES_OK;
}

static const char *ranges_print(const struct port_set *set, struct arena *arena)
{
	char text[HOP_TEXT_MAX] = "";
	size_t len = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct port_range *r = &set->ranges[i];

		len += (size_t)snprintf(text + len, sizeof text - len, "%s%u", i ? "," : "",
					r->from);
		if (r->to > r->from)
			len += (size_t)snprintf(text + len, sizeof text - len, "-%u", r->to);
	}
	return arena_dup(arena, text, len);
}

enum res hop_ports_check(struct arena *arena, const char *field, const char *text, const char **out,
			 struct problem *problem)
{
	struct port_set set;
	enum res res;

	if (!text || *text == '\0') {
		*out = "";
		return RES_OK;
	}
	if ((res = ranges_parse(text, &set, field, problem)) != RES_OK ||
	    (res = ranges_order(&set, field, problem)) != RES_OK)
		return res;
	*out = ranges_print(&set, arena);
	return *out ? RES_OK : RES_NOMEM;
}

void port_set_of(int64_t port, const char *hop_ports, struct port_set *out)
{
	if (*hop_ports == '\0' || ranges_parse(hop_ports, out, NULL, NULL) != RES_OK)
		out->count = 0;
	out->ranges[out->count++] = (struct port_range){(uint16_t)port, (uint16_t)port};
}

uint16_t port_set_common(const struct port_set *a, const struct port_set *b)
{
	uint16_t lowest = 0;

	/* At most 29 ranges each: comparing all pairs is cheaper than keeping them sorted. */
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			const struct port_range *x = &a->ranges[i], *y = &b->ranges[k];
			uint16_t from = x->from > y->from ? x->from : y->from;

			if (from > x->to || from > y->to)
				continue;
			if (!lowest || from < lowest)
				lowest = from;
		}
	}
	return lowest;
}

/* --- Obfuscation --- */

void obfs_password_random(char out[static OBFS_PASSWORD_RANDOM + 1])
{
	uint8_t bytes[OBFS_PASSWORD_RANDOM / 4 * 3];

	/* base64url is just the alphabet that needs no escape in any format. */
	random_bytes(bytes, sizeof bytes);
	base64url_encode(bytes, sizeof bytes, out);
	explicit_bzero(bytes, sizeof bytes);
}

static enum res obfs_check(const struct profile *profile, struct problem *problem)
{
	int64_t min = profile->obfs_min_packet_bytes, max = profile->obfs_max_packet_bytes;

	if (profile->obfs == OBFS_NONE && *profile->obfs_password)
		return problem_set(problem, RES_INVALID, "bad_value", "obfs_password",
				   "is of no use while obfs is none");
	if (profile->obfs != OBFS_GECKO && (min || max))
		return problem_set(problem, RES_INVALID, "bad_value",
				   min ? "obfs_min_packet_bytes" : "obfs_max_packet_bytes",
				   "is only for gecko");
	if (profile->obfs == OBFS_GECKO && (min < 1 || min > max))
		return problem_set(problem, RES_INVALID, "out_of_range", "obfs_min_packet_bytes",
				   "must be at least 1 and not above obfs_max_packet_bytes");
	if (profile->obfs == OBFS_GECKO && max > OBFS_PACKET_MAX)
		return problem_set(problem, RES_INVALID, "out_of_range", "obfs_max_packet_bytes",
				   "must be %d at most", OBFS_PACKET_MAX);
	return RES_OK;
}

/* --- The whole --- */

/* What the server needs for the way its certificate is had. */
static enum res cert_check(enum cert_mode mode, const struct json *server, struct problem *problem)
{
	switch (mode) {
	case CERT_SELF_SIGNED:
		return RES_OK;
	case CERT_ACME:
		if (json_member(server, "acme"))
			return RES_OK;
		return problem_set(problem, RES_INVALID, "missing_field", "server.acme",
				   "is needed while cert_mode is acme");
	case CERT_FILE:
		if (json_member(server, "tls"))
			return RES_OK;
		return problem_set(problem, RES_INVALID, "missing_field", "server.tls",
				   "is needed while cert_mode is file");
	}
	return RES_INTERNAL;
}

enum res profile_check(const struct profile *profile, struct problem *problem)
{
	char *text = NULL;
	struct json_doc *doc = NULL;
	enum res res = obfs_check(profile, problem);

	if (res != RES_OK)
		return res;
	text = strdup(profile->server);
	if (!text)
		return RES_NOMEM;
	if ((res = json_parse(text, strlen(text), &doc, problem)) == RES_OK)
		res = cert_check(profile->cert_mode, json_root(doc), problem);
	json_free(doc);
	explicit_bzero(text, strlen(text));
	free(text);
	return res;
}
