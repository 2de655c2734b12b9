/* The link list, byte for byte: vectors of the fact sheet, and what people's apps stumbled over. */
#include "hythe/util/hash.h"
#include "sub/formats.h"
#include "test.h"

#define AUTH  "u7Kq-3VnX9aT2mB8sLw4e"
#define PIN_B "c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b2f48"

static struct endpoint endpoint_a(void)
{
	return (struct endpoint){.address = "de1.example.net",
				 .port = 443,
				 .hop_ports = "20000-29999",
				 .sni = "de1.example.net",
				 .obfs = "salamander",
				 .obfs_password = "Rain-Forest_42",
				 .cert_mode = "acme",
				 .formats = ""};
}

static struct endpoint endpoint_b(void)
{
	struct endpoint b = {.address = "2001:db8::10",
			     .port = 8443,
			     .hop_ports = "",
			     .sni = "hel.example.net",
			     .obfs = "none",
			     .cert_mode = "self_signed",
			     .pinned = true,
			     .formats = ""};

	CHECK(hex_decode(PIN_B, 64, b.cert_pin, sizeof b.cert_pin));
	return b;
}

#define NAME_A "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa Frankfurt 1"
#define NAME_B "\xf0\x9f\x87\xab\xf0\x9f\x87\xae Helsinki"
#define LINK_A                                                                                     \
	"hysteria2://" AUTH "@de1.example.net:443/?obfs=salamander&obfs-password=Rain-Forest_42&"  \
	"sni=de1.example.net&mport=20000-29999#%F0%9F%87%A9%F0%9F%87%AA%20Frankfurt%201"
#define LINK_B                                                                                     \
	"hysteria2://" AUTH                                                                        \
	"@[2001:db8::10]:8443/?sni=hel.example.net&insecure=1&pinSHA256=" PIN_B                    \
	"#%F0%9F%87%AB%F0%9F%87%AE%20Helsinki"

static void render(const char *format, const struct sub_page *page, struct buf *out)
{
	int row = sub_format_find(format, strlen(format));

	CHECK(row >= 0);
	buf_init(out, SUB_BODY_MAX);
	CHECK(sub_format_render(&sub_formats[row], page, out));
}

static void render_one(const struct endpoint *endpoint, const char *credential, const char *name,
		       struct buf *out)
{
	struct sub_server server = {endpoint, name};
	struct sub_page page = {credential, &server, 1};

	render("plain", &page, out);
}

static void test_vectors(void)
{
	struct endpoint a = endpoint_a(), b = endpoint_b();
	struct sub_server servers[] = {
		{&a, NAME_A},
                {&b, NAME_B}
        };
	struct sub_page page = {AUTH, servers, 2};
	struct buf plain, base64;
	char decoded[2048];

	render("plain", &page, &plain);
	CHECK_TEXT(plain.data, LINK_A "\n" LINK_B "\n");
	render("base64", &page, &base64);
	CHECK_INT(base64.len, BASE64_LEN(plain.len));
	CHECK(base64_decode(base64.data, base64.len, decoded, plain.len));
	CHECK(memcmp(decoded, plain.data, plain.len) == 0);
	buf_free(&plain);
	buf_free(&base64);
}

/* Percent-escapes in the auth part: only where an imported credential needs them. */
static void test_b003_credentials(void)
{
	static const struct {
		const char *credential, *want;
	} rows[] = {
		{"abc-DEF_1.2~3", "hysteria2://abc-DEF_1.2~3@"   },
		{"a/b+c=d",       "hysteria2://a%2Fb%2Bc%3Dd@"   },
		{"p@ss:w#?",      "hysteria2://p%40ss%3Aw%23%3F@"},
		{"100%",          "hysteria2://100%25@"          },
		{"\xc3\xa9 x",    "hysteria2://%C3%A9%20x@"      },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint a = endpoint_a();
		struct buf out;

		render_one(&a, rows[i].credential, "n", &out);
		CHECK(strncmp(out.data, rows[i].want, strlen(rows[i].want)) == 0);
		buf_free(&out);
	}
}

static void test_b006_ipv6_has_brackets(void)
{
	struct endpoint b = endpoint_b();
	struct buf out;

	render_one(&b, AUTH, "n", &out);
	CHECK(strstr(out.data, "@[2001:db8::10]:8443/?") != NULL);
	buf_free(&out);
}

static void test_b009_one_numeric_port(void)
{
	struct endpoint a = endpoint_a();
	struct buf out;

	a.hop_ports = "20000-20100,31000";
	render_one(&a, AUTH, "n", &out);
	CHECK(strstr(out.data, "@de1.example.net:443/?") != NULL);
	CHECK(strstr(out.data, "&mport=20000-20100,31000#") != NULL);
	buf_free(&out);
}

/* Keys of the published scheme and mport only, each once, none empty, over the whole matrix. */
static void check_query(const char *link)
{
	static const char *const known[] = {"obfs",     "obfs-password", "sni",
					    "insecure", "pinSHA256",     "mport"};
	const char *at = strchr(link, '?'), *end = strchr(link, '#');
	unsigned seen = 0;

	CHECK(end != NULL);
	if (!at || at > end)
		return;
	while (at < end) {
		size_t len = strcspn(++at, "&#"), key = strcspn(at, "=");
		bool found = false;

		CHECK(key < len && key + 1 < len);
		CHECK(memchr(at + key + 1, '=', len - key - 1) == NULL);
		for (unsigned i = 0; i < 6; i++) {
			if (strlen(known[i]) != key || memcmp(known[i], at, key) != 0)
				continue;
			CHECK(!(seen & 1u << i));
			seen |= 1u << i;
			found = true;
		}
		CHECK(found);
		at += len;
	}
}

static void test_b011_b013_b015_matrix(void)
{
	for (unsigned bits = 0; bits < 32; bits++) {
		struct endpoint endpoint = bits & 1 ? endpoint_a() : endpoint_b();
		struct buf out;

		endpoint.hop_ports = bits & 2 ? "100-200" : "";
		endpoint.sni = bits & 4 ? "s.example" : "";
		endpoint.obfs = bits & 8 ? "salamander" : "none";
		endpoint.obfs_password = bits & 8 ? "p w&d" : NULL;
		endpoint.cert_mode = bits & 16 ? "self_signed" : "file";
		endpoint.pinned = bits & 16;
		render_one(&endpoint, AUTH, "n", &out);
		check_query(out.data);
		CHECK(!strstr(out.data, "sni=&") && !strstr(out.data, "/?#") &&
		      !strstr(out.data, "&#"));
		CHECK((strstr(out.data, "insecure=1&pinSHA256=") != NULL) == (bits >= 16));
		CHECK((strstr(out.data, "obfs=salamander&obfs-password=p%20w%26d") != NULL) ==
		      ((bits & 8) != 0));
		for (const char *const *word = (const char *const[]){"undefined", "null", "None",
								     "nan", "%!", "(", NULL};
		     *word; word++)
			CHECK(strstr(out.data, *word) == NULL);
		buf_free(&out);
	}
}

/* Strict readers of base64: padded, one line, nothing around it, for every length mod 3. */
static void test_b037_base64(void)
{
	static const char names[] = "abcdefghijklmnop";
	struct endpoint b = endpoint_b();

	for (size_t count = 1; count <= 7; count++) {
		for (size_t cut = 0; cut < 4; cut++) {
			struct sub_server servers[7];
			struct sub_page page = {AUTH, servers, count};
			struct buf plain, base64;
			char *decoded;

			for (size_t i = 0; i < count; i++)
				servers[i] =
					(struct sub_server){&b, names + i + (i == 0 ? cut : 0)};
			render("plain", &page, &plain);
			render("base64", &page, &base64);
			CHECK_INT(base64.len % 4, 0);
			CHECK(strspn(base64.data,
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/=") == base64.len);
			decoded = malloc(plain.len);
			CHECK(base64_decode(base64.data, base64.len, decoded, plain.len));
			CHECK(memcmp(decoded, plain.data, plain.len) == 0);
			free(decoded);
			buf_free(&plain);
			buf_free(&base64);
		}
	}
}

static void test_stub(void)
{
	struct buf out;

	render_one(NULL, "abcdefghij-klmnopqrst", "Subscription expired", &out);
	CHECK_TEXT(out.data, "hysteria2://abcdefghij-klmnopqrst@0.0.0.0:1/?sni=stub.invalid"
			     "#Subscription%20expired\n");
	buf_free(&out);
}

static void test_names_are_encoded(void)
{
	struct endpoint b = endpoint_b();
	struct buf out;

	render_one(&b, AUTH, "50% off? #1 & \"more\"", &out);
	CHECK(strstr(out.data, "#50%25%20off%3F%20%231%20%26%20%22more%22\n") != NULL);
	buf_free(&out);
}

static void test_what_a_format_takes(void)
{
	static const struct {
		const char *formats, *obfs;
		bool base64, plain;
	} rows[] = {
		{"",             "none",       true,  true },
                {"",             "salamander", true,  true },
		{"",             "gecko",      false, false}, /* most readers of lists take it for salamander */
		{"links",        "none",       true,  true },
                {"mihomo,plain", "none",       false, true },
		{"base64",       "none",       true,  false},
                {"mihomo",       "none",       false, false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint endpoint = endpoint_b();

		endpoint.formats = rows[i].formats;
		endpoint.obfs = rows[i].obfs;
		CHECK(sub_format_takes(&sub_formats[sub_format_find("base64", 6)], &endpoint) ==
		      rows[i].base64);
		CHECK(sub_format_takes(&sub_formats[sub_format_find("plain", 5)], &endpoint) ==
		      rows[i].plain);
	}
}

static void test_words(void)
{
	CHECK_INT(sub_format_find("base64", 6), 0);
	CHECK(sub_format_find("plain", 5) > 0);
	CHECK_INT(sub_format_find("Plain", 5), -1);
	CHECK_INT(sub_format_find("plai", 4), -1);
	CHECK_INT(sub_format_find("plainx", 6), -1);
	CHECK_INT(sub_format_find("", 0), -1);
}

static bool is_model_word(const char *word)
{
	for (size_t i = 0; host_format_words[i]; i++)
		if (strcmp(host_format_words[i], word) == 0)
			return true;
	return false;
}

/* A host can be bound to every format that there is, and to none that is not. */
static void test_words_of_hosts(void)
{
	for (size_t i = 0; i < sub_formats_count; i++) {
		CHECK(is_model_word(sub_formats[i].name));
		CHECK(is_model_word(sub_formats[i].host_word));
	}
	for (size_t i = 0; host_format_words[i]; i++) {
		bool known = false;

		for (size_t k = 0; k < sub_formats_count; k++)
			known = known || strcmp(sub_formats[k].name, host_format_words[i]) == 0 ||
				strcmp(sub_formats[k].host_word, host_format_words[i]) == 0;
		CHECK(known);
	}
}

TEST_MAIN(TEST(test_words_of_hosts), TEST(test_vectors), TEST(test_b003_credentials), TEST(test_b006_ipv6_has_brackets),
	  TEST(test_b009_one_numeric_port), TEST(test_b011_b013_b015_matrix),
	  TEST(test_b037_base64), TEST(test_stub), TEST(test_names_are_encoded),
	  TEST(test_what_a_format_takes), TEST(test_words))
