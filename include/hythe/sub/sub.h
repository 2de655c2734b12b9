/* sub/sub.h – the subscription endpoint: GET|HEAD /<sub-prefix>/<token>[/<format>].
 *
 * An unknown or refused link never touches the store: the index of tokens stands in memory. What is
 * rendered is kept by user and variant, under generations that the writer raises before it answers.
 * Threads: sub_serve from any event thread; the observer from the writer. */
#ifndef HYTHE_SUB_SUB_H
#define HYTHE_SUB_SUB_H

#include "hythe/auth/vault.h"
#include "hythe/http/server.h"
#include "hythe/ops/settings.h"
#include "hythe/store/store.h"
#include "hythe/util/decoy.h"

struct sub_config {
	struct store *store;
	const struct vault *vault;
	struct settings_box *settings;
	const struct clock *clock;
	const struct decoy *decoy; /* for the 429 of a link; copied. NULL: an empty one */
};

struct sub;
enum res sub_new(const struct sub_config *config, struct sub **out,
		 struct problem *problem); /* loads the index */
void sub_free(struct sub *sub);
/* A reloaded decoy (SIGHUP): its 429 is copied. Any thread. */
void sub_set_decoy(struct sub *sub, const struct decoy *decoy);
/* Registers with the writer (token index, render cache); before the first write. */
void sub_observe(struct sub *sub);
/* `rest` is what follows "/<sub-prefix>/" in the raw path; NULL for every other path, which is to
 * cost the same. The answer NULL: not a link of ours (the caller answers with the decoy). Over the link's limit: the
 * decoy's 429; no reader free within 250 ms: 503; both with Retry-After. */
struct reply *sub_serve(struct sub *sub, struct request *req, const char *rest, size_t rest_len);

struct sub_counters {
	uint64_t hits, misses, refused, unknown;
	size_t cache_bytes, cache_entries, tokens;
};
void sub_count(struct sub *sub, struct sub_counters *out);

/* The whole link as shown to people: "<public url>/<prefix>/<token>". */
bool sub_link(const struct settings *settings, const char *token, struct buf *out);

#endif
