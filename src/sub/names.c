#include "names.h"

#include <stdio.h>
#include <string.h>

#include "hythe/util/text.h"

#define NAME_DRAFT_MAX 2048 /* before cutting */
#define PIECE_MAX      32
#define SUFFIX_MAX     8
#define NO_LIMIT       "\xe2\x88\x9e" /* the sign for infinity */

struct known {
	const char *name; /* NULL: empty place */
	unsigned next;    /* the number for the next one that would be called the same */
};

struct names {
	struct arena *arena;
	const char *template;
	char user[256], days_left[24], data_left[TEXT_TIME_MAX];
	struct known *known; /* open addressing; at most half full */
	size_t places;
};

struct names *names_new(struct arena *arena, const char *template, const struct user *user,
			int64_t now_unix, size_t servers_max)
{
	struct names *names = arena_alloc(arena, sizeof *names);
	int64_t days = user_days_left(user, now_unix), bytes = user_left_bytes(user, now_unix);

	if (!names)
		return NULL;
	names->arena = arena;
	names->template = template;
	for (names->places = 16; names->places < servers_max * 2;)
		names->places *= 2;
	names->known = arena_alloc(arena, names->places * sizeof *names->known);
	snprintf(names->user, sizeof names->user, "%s",
		 *user->display_name ? user->display_name : user->name);
	snprintf(names->days_left, sizeof names->days_left, "%lld", (long long)days);
	if (days < 0)
		text_copy(names->days_left, sizeof names->days_left, NO_LIMIT);
	text_bytes(bytes < 0 ? 0 : bytes, names->data_left);
	if (bytes < 0)
		text_copy(names->data_left, sizeof names->data_left, NO_LIMIT);
	return names->known ? names : NULL;
}

/* --- Pieces --- */

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Two letters become two regional indicators, U+1F1E6 for A. */
static void put_flag(struct buf *out, const char *country)
{
	if (strlen(country) != 2 || !is_letter(country[0]) || !is_letter(country[1]))
		return;
	for (int i = 0; i < 2; i++) {
		int letter = (country[i] & ~0x20) - 'A';
		const char code[] = {'\xf0', '\x9f', '\x87', (char)(0xa6 + letter)};

		buf_put(out, code, sizeof code);
	}
}

struct piece {
	const char *name;
	const char *text;
};

static bool put_piece(struct buf *out, const struct names *names, const struct endpoint *endpoint,
		      const char *piece, size_t len)
{
	const struct piece pieces[] = {
		{"country",   endpoint->country     },
		{"node",      endpoint->node_name   },
		{"profile",   endpoint->profile_name},
		{"host",      endpoint->host_name   },
		{"city",      endpoint->city        },
		{"user",      names->user           },
		{"days_left", names->days_left      },
		{"data_left", names->data_left      },
	};

	if (len == 4 && memcmp(piece, "flag", 4) == 0) {
		put_flag(out, endpoint->country);
		return true;
	}
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		if (strlen(pieces[i].name) != len || memcmp(pieces[i].name, piece, len) != 0)
			continue;
		buf_str(out, pieces[i].text);
		return true;
	}
	return false;
}

static void expand(struct buf *out, const struct names *names, const struct endpoint *endpoint)
{
	for (const char *at = names->template; *at;) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL;

		if (end && put_piece(out, names, endpoint, at + 1, (size_t)(end - at - 1))) {
			at = end + 1;
			continue;
		}
		buf_char(out, *at++);
	}
}

/* --- Cleaning and making unique --- */

/* Characters that show nothing, or turn the text around them. */
static bool is_unwanted(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* Copies text without unwanted characters and with single blanks, none at the ends; cut at `max`
 * bytes between characters. `out` has SUB_NAME_MAX + 1 bytes. */
static size_t clean(const char *text, size_t len, size_t max, char *out)
{
	bool blank = false;
	size_t n = 0;

	for (size_t at = 0; at < len;) {
		uint32_t code;
		size_t step = text_utf8_next(text + at, len - at, &code);
		const char *from = text + at;

		at += step ? step : 1;
		if (step == 0 || (is_unwanted(code) && code != '\t'))
			continue;
		if (code == ' ' || code == '\t' || code == 0xa0) {
			blank = n > 0;
			continue;
		}
		if (n + blank + step > max)
			break;
		if (blank)
			out[n++] = ' ';
		blank = false;
		memcpy(out + n, from, step);
		n += step;
	}
	out[n] = '\0';
	return n;
}

static struct known *seek(const struct names *names, const char *name)
{
	uint32_t hash = 2166136261u;
	size_t at;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (at = hash & (names->places - 1); names->known[at].name;
	     at = (at + 1) & (names->places - 1))
		if (strcmp(names->known[at].name, name) == 0)
			break;
	return &names->known[at];
}

static const char *keep(struct names *names, struct known *place, const char *name)
{
	place->name = arena_dup(names->arena, name, strlen(name));
	place->next = 2;
	return place->name;
}

static const char *number(struct names *names, struct known *same)
{
	char name[SUB_NAME_MAX + 1], suffix[SUFFIX_MAX + 16];
	struct known *place;

	do {
		size_t room, n;

		snprintf(suffix, sizeof suffix, " %u", same->next++);
		room = SUB_NAME_MAX - strlen(suffix);
		n = clean(same->name, strlen(same->name), room, name);
		memcpy(name + n, suffix, strlen(suffix) + 1);
		place = seek(names, name);
	} while (place->name);
	return keep(names, place, name);
}

const char *names_next(struct names *names, const struct endpoint *endpoint)
{
	char name[SUB_NAME_MAX + 1];
	struct known *place;
	struct buf draft;

	buf_init(&draft, NAME_DRAFT_MAX);
	expand(&draft, names, endpoint); /* a draft over its cap is cut like any long name */
	if (draft.len == 0 || clean(draft.data, draft.len, SUB_NAME_MAX, name) == 0)
		clean(endpoint->node_name, strlen(endpoint->node_name), SUB_NAME_MAX, name);
	if (!*name)
		text_copy(name, sizeof name, "Server");
	buf_free(&draft);
	place = seek(names, name);
	return place->name ? number(names, place) : keep(names, place, name);
}
