#include "hythe/model/inbound.h"

#include "hythe/util/hash.h"
#include "sample_cert.h"
#include "test.h"

#define HEX "c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b2f48"
#define COLONS                                                                                     \
	"C0:D2:8C:04:08:85:E5:A8:D9:E4:41:E4:66:31:6C:09:17:98:BF:1E:42:D6:C3:91:51:13:8C:AD:99:"  \
	"9B:2F:48"

static void test_b025_one_pin_however_written(void)
{
	static const char *const same[] = {
		HEX,
		"C0D28C040885E5A8D9E441E466316C091798BF1E42D6C39151138CAD999B2F48",
		COLONS,
		"wNKMBAiF5ajZ5EHkZjFsCReYvx5C1sORUROMrZmbL0g=",
		"wNKMBAiF5ajZ5EHkZjFsCReYvx5C1sORUROMrZmbL0g",
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		char hex[PIN_HEX_SIZE];
		struct pin pin;

		CHECK_INT(pin_parse("cert_pin", same[i], &pin, NULL), RES_OK);
		CHECK(pin.known);
		pin_print(&pin, hex);
		CHECK_TEXT(hex, HEX);
	}
}

static void test_b025_both_alphabets(void)
{
	struct pin a, b;
	char text[BASE64_LEN(PIN_LEN) + 1];

	memset(&b, 0xfb, sizeof b); /* gives '+' and '-', '/' and '_' */
	base64_encode(b.bytes, PIN_LEN, text);
	CHECK_INT(pin_parse("p", text, &a, NULL), RES_OK);
	CHECK(memcmp(a.bytes, b.bytes, PIN_LEN) == 0);
	base64url_encode(b.bytes, PIN_LEN, text);
	CHECK_INT(pin_parse("p", text, &a, NULL), RES_OK);
	CHECK(memcmp(a.bytes, b.bytes, PIN_LEN) == 0);
	text[BASE64URL_LEN(PIN_LEN)] = '='; /* base64url with padding */
	text[BASE64URL_LEN(PIN_LEN) + 1] = '\0';
	CHECK_INT(pin_parse("p", text, &a, NULL), RES_OK);
}

static void test_b025_refused_by_name(void)
{
	static const char *const bad[] = {
		"c0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b", /* 60 digits */
		"g0d28c040885e5a8d9e441e466316c091798bf1e42d6c39151138cad999b2f48",
		HEX "00",
		" " HEX,
		"C0-D2:8C:04:08:85:E5:A8:D9:E4:41:E4:66:31:6C:09:17:98:BF:1E:42:D6:C3:91:51:13:8C:"
		"AD:"
		"99:9B:2F:48",
		"wNKMBAiF5ajZ5EHkZjFsCReYvx5C1sORUROMrZmbL0",
		"wNKMBAiF5ajZ5EHkZjFsCReYvx5C1sORUROMrZmbL0!=",
		"x",
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct problem problem = {0};
		struct pin pin;

		CHECK_INT(pin_parse("cert_pin", bad[i], &pin, &problem), RES_INVALID);
		CHECK(!pin.known);
		CHECK_TEXT(problem.field, "cert_pin");
		CHECK_TEXT(problem.code, "bad_pin");
	}
}

static void test_no_pin(void)
{
	char hex[PIN_HEX_SIZE] = "x";
	struct pin pin = {.known = true};

	CHECK_INT(pin_parse("p", "", &pin, NULL), RES_OK);
	CHECK(!pin.known);
	pin_print(&pin, hex);
	CHECK_TEXT(hex, "");
	CHECK_INT(pin_parse("p", NULL, &pin, NULL), RES_OK);
}

static void test_certificate(void)
{
	char hex[PIN_HEX_SIZE];
	struct cert_facts facts;

	CHECK_INT(cert_read("cert_pem", SAMPLE_CERT_PEM, &facts, NULL), RES_OK);
	pin_print(&facts.cert_pin, hex);
	CHECK_TEXT(hex, SAMPLE_CERT_PIN);
	pin_print(&facts.key_pin, hex);
	CHECK_TEXT(hex, SAMPLE_KEY_PIN);
	CHECK_INT(facts.not_after_unix, SAMPLE_CERT_END);
}

static void test_bad_certificates(void)
{
	static const char *const bad[] = {
		"",
		"hello",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n",
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct problem problem = {0};
		struct cert_facts facts;

		CHECK_INT(cert_read("cert_pem", bad[i], &facts, &problem), RES_INVALID);
		CHECK(!facts.cert_pin.known);
		CHECK_TEXT(problem.field, "cert_pem");
	}
}

static void test_effective(void)
{
	struct inbound inbound = {.sni = "", .profile_port = 443, .profile_sni = "a.net"};

	CHECK_INT(inbound_port(&inbound), 443);
	CHECK_TEXT(inbound_sni(&inbound), "a.net");
	inbound.port = 8443;
	inbound.sni = "b.net";
	CHECK_INT(inbound_port(&inbound), 8443);
	CHECK_TEXT(inbound_sni(&inbound), "b.net");
}

static void test_counts(void)
{
	for (int bits = 0; bits < 8; bits++) {
		const struct inbound inbound = {
			.managed = bits & 1, .enabled = bits & 2, .node_open = bits & 4};

		CHECK_INT(inbound_counts(&inbound), bits == 7);
	}
}

TEST_MAIN(TEST(test_b025_one_pin_however_written), TEST(test_b025_both_alphabets),
	  TEST(test_b025_refused_by_name), TEST(test_no_pin), TEST(test_certificate),
	  TEST(test_bad_certificates), TEST(test_effective), TEST(test_counts))
