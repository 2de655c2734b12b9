/* sub/tokens.h – the index of subscription tokens: the first 16 bytes of each one's SHA-256 to the
 * user's id.
 *
 * One open-addressing table of 24 bytes a place, 28 to 35 bytes a user. The keys are hashes
 * already, and nobody without the tokens can choose them. Threads: tokens_find from any; tokens_put
 * and tokens_drop from one (the writer's). */
#ifndef HYTHE_SUB_TOKENS_H
#define HYTHE_SUB_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hythe/store/store.h"

struct tokens;
struct tokens *tokens_new(void); /* NULL: out of memory */
void tokens_free(struct tokens *tokens);
int64_t tokens_find(struct tokens *tokens, const uint8_t key[STORE_TOKEN_KEY]); /* 0: none */
/* Room for so many in all, made at once instead of in steps. */
bool tokens_reserve(struct tokens *tokens, size_t count);
bool tokens_put(struct tokens *tokens, const uint8_t key[STORE_TOKEN_KEY], int64_t user_id);
void tokens_drop(struct tokens *tokens, const uint8_t key[STORE_TOKEN_KEY]);
/* Puts every token of the store in. */
enum res tokens_load(struct tokens *tokens, struct conn *conn);
size_t tokens_count(struct tokens *tokens);

#endif
