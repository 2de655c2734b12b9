/* admin/setup_page.c – an owner's one-time page: a form without script, spent by POST.
 *
 * Looking at it changes nothing, so a link preview or a second look costs nothing. Who has no live
 * token never gets here: he sees what any other path shows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auth_internal.h"
#include "form.h"
#include "handlers_auth.h"
#include "hythe/model/name.h"
#include "hythe/ops/admins.h"
#include "hythe/ops/settings.h"
#include "hythe/util/embedded.h"
#include "hythe/util/log.h"
#include "hythe/util/text.h"

#define PAGE         "web/setup.html"
#define CONTENT_MARK "<!--content-->"
#define PAGE_MAX     65536
#define READ_WAIT_MS 250

/* --- The page --- */

/* The page's own style is allowed by its hash; nothing else is loaded and nothing runs. */
static bool policy(const struct embedded_file *page, struct buf *out)
{
	const char *style = strstr(page->data, "<style>"), *end = strstr(page->data, "</style>");
	char hash_text[BASE64_LEN(SHA256_LEN) + 1] = "";
	uint8_t hash[SHA256_LEN];

	if (style && end) {
		style += strlen("<style>");
		hash_sha256(style, (size_t)(end - style), hash);
		base64_encode(hash, sizeof hash, hash_text);
	}
	return buf_printf(out,
			  "default-src 'none'; style-src 'sha256-%s'; form-action 'self'; "
			  "frame-ancestors 'none'; "
			  "base-uri 'none'",
			  hash_text);
}

static struct reply *no_memory(void)
{
	struct problem problem = {0};

	problem_set(&problem, RES_NOMEM, "out_of_memory", NULL, "Out of memory.");
	return reply_problem(&problem);
}

/* The skeleton around `content`, which is freed. */
static struct reply *page_reply(int status, struct buf *content)
{
	const struct embedded_file *page = embedded_find(PAGE);
	const char *mark = page ? strstr(page->data, CONTENT_MARK) : NULL;
	struct reply *reply;
	struct buf html, csp;

	buf_init(&html, PAGE_MAX);
	buf_init(&csp, 512);
	if (!mark || content->failed || !buf_put(&html, page->data, (size_t)(mark - page->data)) ||
	    !buf_put(&html, content->data, content->len) ||
	    !buf_str(&html, mark + strlen(CONTENT_MARK)) || !policy(page, &csp)) {
		reply = no_memory();
		goto out;
	}
	reply = reply_body_take(status, "text/html; charset=utf-8", &html);
	reply_header(reply, "Content-Security-Policy", csp.data);
	reply_header(reply, "Cache-Control", "no-store");
	/* Not no-referrer: under it browsers say "Origin: null" of the page's own form. */
	reply_header(reply, "Referrer-Policy", "same-origin");
	reply_header(reply, "X-Content-Type-Options", "nosniff");
out:
	buf_free(&html);
	buf_free(&csp);
	buf_free(content);
	return reply;
}

/* `fault` NULL: none. The name is given back so that it need not be typed again; passwords are not.
 */
static struct reply *form_reply(int status, const char *name, const char *fault)
{
	struct buf content;

	buf_init(&content, PAGE_MAX / 2);
	buf_str(&content, "<h1>Make an owner</h1>\n"
			  "<p>An owner may do everything in this panel.</p>\n");
	if (fault) {
		buf_str(&content, "<p class=\"fault\" role=\"alert\">");
		text_html(&content, fault);
		buf_str(&content, "</p>\n");
	}
	buf_str(&content, "<form method=\"post\" accept-charset=\"utf-8\">\n"
			  "<label for=\"name\">Name</label>\n"
			  "<input id=\"name\" name=\"name\" required maxlength=\"64\" "
			  "autocomplete=\"username\" "
			  "autocapitalize=\"none\" spellcheck=\"false\" value=\"");
	text_html(&content, name);
	buf_str(&content,
		"\">\n"
		"<label for=\"password\">Password</label>\n"
		"<input id=\"password\" name=\"password\" type=\"password\" required "
		"minlength=\"10\" "
		"maxlength=\"256\" autocomplete=\"new-password\">\n"
		"<p class=\"hint\">10 characters or more; best made by a password manager.</p>\n"
		"<label for=\"again\">Password again</label>\n"
		"<input id=\"again\" name=\"again\" type=\"password\" required minlength=\"10\" "
		"maxlength=\"256\" autocomplete=\"new-password\">\n"
		"<button>Make the owner</button>\n</form>");
	return page_reply(status, &content);
}

static struct reply *done_reply(struct admin *admin, const char *name)
{
	const struct ops *ops = admin_ops_of(admin);
	struct settings_snapshot *snapshot = settings_take(ops->settings);
	const struct settings *settings = &snapshot->settings;
	struct buf content, base;

	buf_init(&base, 1024);
	buf_init(&content, PAGE_MAX / 2);
	buf_str(&content, "<h1>Done</h1>\n<p>The owner <strong>");
	text_html(&content, name);
	buf_str(&content,
		"</strong> was made. This page's link is spent and opens nothing any more.</p>\n"
		"<p>What is next: the API of this panel is at</p>\n<p><code>");
	admin_base_write(admin, settings, &base);
	text_html(&content, base.data ? base.data : "");
	buf_free(&base);
	buf_str(&content, "/api/v1</code></p>\n"
			  "<p>Keep this address to yourself: without it nobody sees that a panel "
			  "is here. Sign in "
			  "there with <code>POST /auth/sign-in</code>, or use the command line on "
			  "the server: "
			  "<code>hythe --help</code> lists what it can do, and <code>hythe token "
			  "add</code> makes a "
			  "token for scripts.</p>");
	settings_give(ops->settings, snapshot);
	return page_reply(200, &content);
}

static struct reply *spent_reply(void)
{
	struct buf content;

	buf_init(&content, PAGE_MAX / 2);
	buf_str(&content, "<h1>This link is no longer valid</h1>\n"
			  "<p>It was used, or its half hour is over. <code>hythe admin "
			  "owner-link</code> on the server prints a new one.</p>");
	return page_reply(410, &content);
}

/* --- GET --- */

enum res setup_page_live(struct admin *admin, const char *token, size_t token_len)
{
	const struct ops *ops = admin_ops_of(admin);
	struct session_secret secret;
	struct conn *conn;
	enum res res;

	/* What has not even the form of a token costs no read. */
	if (!session_secret_of_text(token, token_len, &secret))
		return RES_NOT_FOUND;
	if ((res = store_read(ops->store, STORE_ADMIN, READ_WAIT_MS, &conn)) != RES_OK)
		return res;
	res = owner_link_live(conn, token, token_len, clock_unix(store_clock(ops->store)));
	store_read_end(conn);
	return res;
}

struct reply *setup_page_get(void)
{
	return form_reply(200, "", NULL);
}

/* --- POST --- */

struct setup_form {
	char name[NAME_MAX_BYTES + 1], password[PASSWORD_MAX_BYTES + 1],
		again[PASSWORD_MAX_BYTES + 1];
};

static bool is_form(const struct request *req)
{
	static const char type[] = "application/x-www-form-urlencoded";
	const char *header = request_header(req, "Content-Type", NULL);
	size_t len = sizeof type - 1;

	if (!header || strncasecmp(header, type, len) != 0)
		return false;
	header += len;
	header += strspn(header, " \t");
	return *header == '\0' || *header == ';';
}

static enum res read_form(struct request *req, struct setup_form *form, struct problem *problem)
{
	const struct form_field fields[] = {
		{"name",     form->name,     sizeof form->name    },
		{"password", form->password, sizeof form->password},
		{"again",    form->again,    sizeof form->again   }
        };
	const char *name, *key;
	enum res res;
	size_t len;
	char *body = request_body(req, &len);

	if (!is_form(req) || !body)
		return problem_set(problem, RES_MALFORMED, "bad_form", NULL,
				   "The form was not sent as the page sends it.");
	res = form_read(body, len, fields, 3, problem);
	explicit_bzero(body, len);
	if (res != RES_OK)
		return res;
	if ((res = name_check(request_arena(req), "name", form->name, &name, &key, problem)) !=
		    RES_OK ||
	    (res = password_check("password", form->password, problem)) != RES_OK)
		return res;
	if (strcmp(form->password, form->again) != 0)
		return problem_set(problem, RES_INVALID, "bad_password", "again",
				   "The two passwords differ.");
	return RES_OK;
}

static enum res claim(struct admin *admin, struct request *req, const char *token, size_t token_len,
		      const struct setup_form *form, struct problem *problem)
{
	struct hasher *hasher = auth_hasher(admin_auth_of(admin));
	struct actor actor = {.public_id = {"setup"}};
	struct op_call call = {.actor = &actor,
			       .source = STORE_FROM_ADMIN,
			       .status = 200,
			       .action = "owner_link.claim"};
	struct owner_claim claim = {.token = token, .token_len = token_len, .name = form->name};
	char hash[PASSWORD_HASH_MAX];
	enum res res;

	if (request_client(req))
		actor.address = *request_client(req);
	if ((res = password_hash(hasher, form->password, hash)) != RES_OK)
		return problem_set(problem, res, "failed", NULL,
				   "The password could not be hashed: try again.");
	claim.password_hash = hash;
	res = op_run(admin_ops_of(admin), &call, op_owner_claim, &claim, request_arena(req), NULL,
		     problem);
	if (res == RES_OK)
		log_info("owner_claimed", "req=%08x admin=%s", request_id(req),
			 claim.public_id.text);
	return res;
}

/* A page elsewhere that knows the link must not fill the form in for whoever visits it. */
static enum res check_origin(struct admin *admin, const struct request *req,
			     struct problem *problem)
{
	struct problem why = {0};
	enum res res = auth_not_cross_origin(admin_auth_of(admin), req, &why);

	if (res == RES_OK)
		return res;
	return problem_set(problem, res, why.code, why.field,
			   "The form was sent from another page: open the link itself, and send it "
			   "from there.");
}

/* What is wrong, by the field's label where the sentence does not name it itself. */
static const char *fault_text(const struct problem *problem, char *out, size_t size)
{
	static const char *const labels[][2] = {
		{"name",     "Name"          },
                {"password", "Password"      },
                {"again",    "Password again"}
        };

	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strcmp(problem->field, labels[i][0]) == 0 &&
		    strncmp(problem->detail, labels[i][0], strlen(labels[i][0])) != 0) {
			snprintf(out, size, "%s: %s", labels[i][1], problem->detail);
			return out;
		}
	return problem->detail;
}

struct reply *setup_page_post(struct admin *admin, struct request *req, const char *token,
			      size_t token_len)
{
	struct problem problem = {0};
	struct setup_form form = {0};
	char fault[sizeof problem.detail + 32];
	struct reply *reply;
	enum res res;

	if ((res = check_origin(admin, req, &problem)) == RES_OK)
		res = read_form(req, &form, &problem);
	if (res == RES_OK)
		res = claim(admin, req, token, token_len, &form, &problem);
	if (res == RES_OK)
		reply = done_reply(admin, form.name);
	else if (res == RES_NOT_FOUND) /* somebody else was first, just now */
		reply = spent_reply();
	else
		reply = form_reply(res_status(res), form.name,
				   fault_text(&problem, fault, sizeof fault));
	explicit_bzero(&form, sizeof form);
	return reply;
}
