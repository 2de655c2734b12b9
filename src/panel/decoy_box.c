/* panel/decoy_box.c – the decoy as answers, exchanged at SIGHUP.
 *
 * Replies have copies of the pages and are counted, so a set that was replaced goes at once, and
 * what is still on its way goes when it is sent: reloads cost no memory, however often a timer
 * asks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "panel.h"

#define HTML "text/html; charset=utf-8"

struct decoy_set {
	struct decoy *decoy;
	struct reply *not_found;
	struct reply *index; /* NULL: "/" is as unknown as any other path */
};

struct decoy_box {
	pthread_mutex_t lock; /* leaf */
	struct decoy_set set; /* guarded by lock */
};

static struct reply *page_reply(int status, const struct decoy_page *page)
{
	struct buf copy;

	buf_init(&copy, page->len + 1);
	buf_put(&copy, page->body, page->len);
	return reply_body_take(status, HTML, &copy);
}

static void set_clear(struct decoy_set *set)
{
	reply_unref(set->not_found);
	reply_unref(set->index);
	decoy_free(set->decoy);
}

static enum res set_load(const char *dir, struct decoy_set *set, struct problem *problem)
{
	const struct decoy_page *page;
	enum res res;

	*set = (struct decoy_set){0};
	if ((res = decoy_load(dir, &set->decoy, problem)) != RES_OK)
		return res;
	set->not_found = page_reply(404, decoy_404(set->decoy));
	/* The built-in page has no front: a fresh panel shows the same at "/" as anywhere (B134).
	 */
	if (dir && (page = decoy_index(set->decoy)) != NULL)
		set->index = page_reply(200, page);
	/* Out of memory a reply is a 503: not one to show to everybody from now on. */
	if (reply_status(set->not_found) == 404 && (!set->index || reply_status(set->index) == 200))
		return RES_OK;
	set_clear(set);
	return problem_set(problem, RES_NOMEM, "out_of_memory", NULL, "no memory for the decoy");
}

enum res decoy_box_new(const char *dir, struct decoy_box **out, struct problem *problem)
{
	struct decoy_box *box = calloc(1, sizeof *box);
	enum res res;

	if (!box)
		return RES_NOMEM;
	if ((res = set_load(dir, &box->set, problem)) != RES_OK) {
		free(box);
		return res;
	}
	pthread_mutex_init(&box->lock, NULL);
	*out = box;
	return RES_OK;
}

enum res decoy_box_reload(struct decoy_box *box, const char *dir, struct problem *problem)
{
	struct decoy_set fresh, old;
	enum res res = set_load(dir, &fresh, problem);

	if (res != RES_OK)
		return res;
	pthread_mutex_lock(&box->lock);
	old = box->set;
	box->set = fresh;
	pthread_mutex_unlock(&box->lock);
	set_clear(&old);
	return RES_OK;
}

const struct decoy *decoy_box_lend(struct decoy_box *box)
{
	return box->set.decoy;
}

void decoy_box_free(struct decoy_box *box)
{
	if (!box)
		return;
	set_clear(&box->set);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

struct reply *decoy_unknown(struct decoy_box *box, bool front)
{
	struct reply *reply;

	pthread_mutex_lock(&box->lock);
	reply = reply_ref(front && box->set.index ? box->set.index : box->set.not_found);
	pthread_mutex_unlock(&box->lock);
	return reply;
}

struct reply *decoy_unknown_fresh(struct decoy_box *box, bool front)
{
	struct reply *reply;

	pthread_mutex_lock(&box->lock);
	if (front && box->set.index)
		reply = page_reply(200, decoy_index(box->set.decoy));
	else
		reply = page_reply(404, decoy_404(box->set.decoy));
	pthread_mutex_unlock(&box->lock);
	return reply;
}

struct reply *decoy_limited(struct decoy_box *box, unsigned retry_s)
{
	struct reply *reply;
	char text[16];

	pthread_mutex_lock(&box->lock);
	reply = page_reply(429, decoy_429(box->set.decoy));
	pthread_mutex_unlock(&box->lock);
	snprintf(text, sizeof text, "%u", retry_s);
	reply_header(reply, "Retry-After", text);
	return reply;
}
