/* sub/names.h – what a server is called in people's lists, by the operator's template.
 *
 * Pieces: {flag} {country} {node} {profile} {host} {city} of the server, {user} {days_left}
 * {data_left} of the person. What is in braces and no piece stays as written. Threads: any. */
#ifndef HYTHE_SUB_NAMES_H
#define HYTHE_SUB_NAMES_H

#include <stdint.h>

#include "hythe/model/host.h"
#include "hythe/model/user.h"
#include "hythe/util/arena.h"

#define SUB_NAME_MAX 96 /* bytes; longer ones are cut between characters */

struct names;
/* `template` and `user` are lent for the object's life, which is the arena's. NULL: out of memory.
 */
struct names *names_new(struct arena *arena, const char *template, const struct user *user,
			int64_t now_unix, size_t servers_max);
/* The next server's name: blanks collapsed and trimmed, no control characters, never empty, and
 * equal to none before it (" 2", " 3" are added). NULL: out of memory. */
const char *names_next(struct names *names, const struct endpoint *endpoint);

#endif
