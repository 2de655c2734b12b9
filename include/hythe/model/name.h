/* model/name.h – names people type, and the key under which two of them are the same.
 *
 * A name is 1 to 64 characters (256 bytes at most) of UTF-8 without control, zero-width,
 * bidirectional override or private characters, not all blank, without blanks at its ends. Stored
 * as typed in NFC. The key is NFKC case folding (libunistring), so "Ann", "ANN" and a full-width
 * "Ａｎｎ" are one name. Threads: any. */
#ifndef HYTHE_MODEL_NAME_H
#define HYTHE_MODEL_NAME_H

#include <stddef.h>

#include "hythe/util/arena.h"
#include "hythe/util/result.h"

#define NAME_MAX_CHARS 64
#define NAME_MAX_BYTES 256

/* `field` names the input in a problem (code bad_name). Both results live in the arena. */
enum res name_check(struct arena *arena, const char *field, const char *text, const char **name,
		    const char **key, struct problem *problem);

/* Text that people are shown (a city, a title): what nobody sees, or what turns the line around, is
 * refused (code bad_value). Joiners stay, for Persian and for emoji. `text` is valid UTF-8. */
enum res shown_check(const char *field, const char *text, struct problem *problem);

#endif
