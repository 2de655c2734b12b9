/* model/node.h – a server that runs the agent and Hysteria: plain data and the rules on it.
 *
 * Text members are never NULL and live where the reader put them (an arena). Threads: values. */
#ifndef HYTHE_MODEL_NODE_H
#define HYTHE_MODEL_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/model/ids.h"
#include "hythe/util/arena.h"
#include "hythe/util/json_read.h"
#include "hythe/util/result.h"

#define NODE_TAGS_MAX      16
#define NODE_TAG_MAX       32
#define NODE_TAGS_TEXT_MAX (NODE_TAGS_MAX * (NODE_TAG_MAX + 1))
#define NODE_FACTOR_MAX    10000
#define NODE_CITY_MAX      128
#define NODE_NOTE_MAX      2048
#define NODE_BYTES_MAX     INT64_C(9007199254740991) /* what JSON readers keep exact */

struct node {
	int64_t id;
	struct public_id public_id;
	const char *name, *name_key;
	const char *address; /* what clients dial: a name or an IP literal without brackets */
	const char *country; /* ISO 3166 alpha-2 in capitals, or "" */
	const char *city, *note, *cost_note;
	const char *tags; /* sorted, separated by ',' */
	bool enabled;
	int64_t usage_factor_percent;
	int64_t traffic_allowance_bytes; /* 0: none */
	int64_t traffic_reset_day;       /* 1 to 31 */
	const char *agent_version, *core_version;
	int64_t last_seen_unix, applied_revision;
	int64_t created_unix, retired_unix, version;
	int64_t inbound_count; /* filled by readers of lists */
};

/* Two letters of either case become capitals; "" stays "" (code bad_country). */
enum res country_check(struct arena *arena, const char *field, const char *text, const char **out,
		       struct problem *problem);
bool node_tag_valid(const char *tag); /* [a-z0-9-]{1,32} */
/* An array of tags; NULL or JSON null is none. Sorted, each once (codes bad_tag, too_many). */
enum res node_tags_check(struct arena *arena, const char *field, const struct json *tags,
			 const char **out, struct problem *problem);

#endif
