"""Faults that people met in other panels, each a test by its number: what a person, an app or a script would see
of the running program. Those that are told by one function's answer are unit tests beside it."""
import base64
import contextlib
import http.client
import itertools
import json
import re
import sqlite3
import threading
import time
import urllib.parse

from harness import OWNER, PASSWORD, check, same, stub, until

MONTH = 30 * 86400
NUMBER_LIKE = ("2351e1", "38e92059", "0x1f", "1e9", ".5", "+1", "0o17", "1_000", "12:30", "true", "no", "~", "null",
               "2026-01-01", "@a", "*b", "&c", "!d", "%e", "-")
SCRIPT = '"><img src=x onerror=alert(1)></script><svg/onload=alert(1)>'


def parts_of(line):
    """A link as apps take it apart; a raw escape or bracket that is none fails here."""
    split = urllib.parse.urlsplit(line)
    same(split.scheme, "hysteria2", line)
    check(re.fullmatch(r"[!-~]+", line), "ASCII only, no blank:", line)
    pairs = urllib.parse.parse_qsl(split.query, keep_blank_values=True, strict_parsing=True) if split.query else []
    same(len({key for key, _ in pairs}), len(pairs), "a parameter twice:", line)
    check(all(value for _, value in pairs), "a parameter without a value:", line)
    return {"auth": urllib.parse.unquote(split.username), "host": split.hostname, "port": split.port,
            "query": dict(pairs), "name": urllib.parse.unquote(split.fragment)}


@contextlib.contextmanager
def by_hand(panel):
    """The stopped panel's database; it goes on afterwards with what was changed in it."""
    same(panel.stop(), 0, "stop")
    database = sqlite3.connect(panel.data / "hythe.db")
    try:
        yield database
        database.commit()
    finally:
        database.close()
    panel.start()


def use(database, name, used):
    """Traffic as a node's report would have left it, with the state that its writer stores."""
    row, = database.execute("SELECT id FROM user WHERE name = ?", (name,)).fetchone()
    database.execute("UPDATE user_usage SET used_down_bytes = ?, total_down_bytes = ? WHERE user_id = ?", (used, used, row))
    database.execute("UPDATE user SET state = 'limited' WHERE id = ? AND state IN ('active', 'on_hold')"
                     " AND quota_bytes > 0 AND quota_bytes <= ?", (row, used))


def detail(panel, user):
    return panel.api("GET", f"/users/{user['id']}", status=200).json


# --- The link list ---

def test_b001_every_byte_of_an_auth_string(panel):
    group = panel.group("All", panel.server())
    texts = ["Qx4/bW+9Zr==", "a@b?c#d/e", "100%", "%41%2F", "a b", "a:b:c", "[x]", "ü€漢字", '"<>\\^`{|}', "&=;,$!'()*",
             "~._-", "x" * 128]
    for number, text in enumerate(texts):
        user = panel.user(f"u{number}", groups=[group["id"]], credential=text)
        line, = panel.lines(user["link"])
        same(parts_of(line)["auth"], text, line)
        same(parts_of(line)["host"], "de1.example.net", line)
    refused = panel.api("POST", "/users", {"name": "other", "credential": texts[0]}, status=409)
    same(refused.json["field"], "credential", refused)
    for text in ("", "a\u0000b", "a\nb", "a\u0085b", "x" * 129):
        refused = panel.api("POST", "/users", {"name": "other", "credential": text})
        check(400 <= refused.status < 500, repr(text), refused)
    same(panel.api("GET", "/users?total=1").json["total"], len(texts), "one of the refused was made")


def test_b003_own_credentials_need_no_escape(panel):
    group = panel.group("All", panel.server())
    seen = set()
    for number in range(40):
        user = panel.user(f"u{number}", groups=[group["id"]])
        for _ in range(2):
            line, = panel.lines(user["link"])
            auth = line.split("//")[1].split("@")[0]
            check(re.fullmatch(r"[A-Za-z0-9_-]{24}", auth) and "-" in auth, auth)
            seen.add(auth)
            panel.api("POST", f"/users/{user['id']}/rotate-credential", status=200)
    same(len(seen), 80, "different ones")


def test_b009_b011_b013_b014_the_whole_matrix(panel):
    """Whatever a profile holds: one numeric port, known keys, each once, none empty, nothing internal."""
    profiles = itertools.product(("none", "salamander"), ("", "20000-20100,31000"), ("", "sni.example.net"),
                                 ("self_signed", "acme"))
    servers = []
    for number, (obfs, hop, sni, mode) in enumerate(profiles):
        profile = {"name": f"P{number}", "port": 443, "hop_ports": hop, "obfs": obfs, "sni": sni, "cert_mode": mode}
        if obfs != "none":
            profile["obfs_password"] = f"Rain-42-{number}"
        if mode == "acme":
            profile["server"] = {"acme": {"domains": ["acme.example.net"], "email": "a@example.net"}}
        made = panel.make("/profiles", profile)
        node = panel.make("/nodes", {"name": f"N{number}", "address": f"n{number}.example.net"})
        pin = {"cert_pin": f"{number:02x}" * 32} if mode == "self_signed" else {}
        panel.make("/inbounds", {"node": node["id"], "profile": made["id"], "managed": False, **pin})
        servers.append({"profile": made, "want": profile, "pin": pin.get("cert_pin")})
    user = panel.user("anna", groups=[panel.group("All", *servers)["id"]])
    found = {parts_of(line)["host"]: parts_of(line) for line in panel.lines(user["link"])}
    same(len(found), len(servers), sorted(found))
    for number, server in enumerate(servers):
        link, want = found[f"n{number}.example.net"], server["want"]
        query = link["query"]
        same(link["port"], 443, link)
        check(set(query) <= {"obfs", "obfs-password", "sni", "insecure", "pinSHA256", "mport", "ech"}, link)
        same(query.get("mport", ""), want["hop_ports"], link)
        same((query.get("obfs"), query.get("obfs-password")),
             ("salamander", want["obfs_password"]) if want["obfs"] != "none" else (None, None), link)
        same((query.get("insecure"), query.get("pinSHA256")),
             ("1", server["pin"]) if server["pin"] else (None, None), link)
        if want["sni"]:
            same(query.get("sni"), want["sni"], link)
    text = panel.get(user["link"] + "/plain").text
    check(not re.search(r"undefined|null|None|nan\b|%!|\(null\)", text), "B015", text)


def test_b015_a_detour_leaves_the_link_as_it_was(panel):
    server = panel.server(obfs="salamander")
    user = panel.user("anna", groups=[panel.group("All", server)["id"]])
    before = panel.lines(user["link"])
    target, profile = f"/users/{user['id']}", f"/profiles/{server['profile']['id']}"
    panel.api("POST", target + "/disable", status=200)
    panel.api("PATCH", profile, {"cert_mode": "acme", "server": {"acme": {"domains": ["a.example.net"]}}})
    panel.api("PATCH", profile, {"obfs": "none"}, status=200)
    panel.api("PATCH", profile, {"obfs": "salamander", "obfs_password": server["profile"]["obfs_password"],
                                 "cert_mode": "self_signed"}, status=200)
    panel.api("POST", target + "/enable", status=200)
    same(panel.lines(user["link"]), before)


def test_b017_text_that_looks_like_something_else(panel):
    """Text stays text: in JSON, in the command line's look-ups, in a link."""
    for number, text in enumerate(NUMBER_LIKE):
        server = panel.server(text, f"n{number}.example.net", obfs="salamander", obfs_password=f"{text}-pass")
        group = panel.group(text, server)
        user = panel.user(text, groups=[group["id"]], note=text, display_name=text, meta={"a": text}, credential=text)
        got = detail(panel, user)
        same([got["name"], got["note"], got["display_name"], got["meta"]], [text, text, text, {"a": text}])
        same(got["groups"][0]["name"], text)
        link = parts_of(panel.lines(user["link"])[0])
        same((link["auth"], link["query"]["obfs-password"]), (text, f"{text}-pass"))
        check(link["name"].endswith(text), link)
        if not text.startswith("-"):
            same(json.loads(panel.cli("user", "show", text, "--json"))["id"], user["id"], text)
    names = {user["name"] for user in panel.api("GET", "/users?limit=100").json["items"]}
    same(names, set(NUMBER_LIKE))


def test_b019_no_name_twice(panel):
    servers = [panel.server(f"N{number}", f"n{number}.example.net") for number in range(3)]
    user = panel.user("anna", groups=[panel.group("All", *servers)["id"]])
    for template in ("Maintenance", "VPN {user}", "x" * 120, "{flag}"):
        panel.api("PATCH", "/settings", {"name_template": template}, status=200)
        names = [parts_of(line)["name"] for line in panel.lines(user["link"])]
        same(len(names), 3, names)
        same(len(set(names)), 3, names)
        check(all(name.strip() for name in names), names)


def test_b025_one_pin_however_written(panel):
    server = panel.server()
    target = f"/inbounds/{server['inbound']['id']}"
    user = panel.user("anna", groups=[panel.group("All", server)["id"]])
    raw = bytes(range(200, 232))
    for text in (raw.hex(), raw.hex().upper(), raw.hex(":").upper(), base64.b64encode(raw).decode(),
                 base64.urlsafe_b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode().rstrip("=")):
        same(panel.api("PATCH", target, {"cert_pin": text}, status=200).json["cert_pin"], raw.hex(), text)
        same(parts_of(panel.lines(user["link"])[0])["query"]["pinSHA256"], raw.hex(), text)
    for text in (raw.hex()[:60], raw.hex() + "00", "x" * 64, raw.hex(":")[:-1]):
        same(panel.api("PATCH", target, {"cert_pin": text}, status=422).json["field"], "cert_pin", text)
    same(panel.api("GET", target).json["cert_pin"], raw.hex(), "after refusals")


def test_b033_headers_are_ascii(panel):
    title = "Тест №1; \"a\\b\" 中"
    panel.api("PATCH", "/settings", {"title": title}, status=200)
    group = panel.group("All", panel.server())
    for name, groups in (("anna", [group["id"]]), ("berta", [])):
        answer = panel.get(panel.user(name, groups=groups)["link"])
        for header, value in answer.headers:
            check(re.fullmatch(r"[ -~]*", value), header, repr(value))
        same(len({header.lower() for header, _ in answer.headers}), len(answer.headers), "a header twice")
        kind, _, text = answer.header("profile-title").partition(":")
        same((kind, base64.b64decode(text, validate=True).decode()), ("base64", title))
        if not groups:
            check(answer.header("announce").startswith("base64:"), answer.headers)
    for text in ("a\r\nSet-Cookie: x=y", "a\nb"):
        same(panel.api("PATCH", "/settings", {"title": text}, status=422).json["field"], "title", repr(text))


def test_b035_head_is_get_without_a_body(panel):
    group = panel.group("All", panel.server())
    user, off = panel.user("anna", groups=[group["id"]]), panel.user("berta", enabled=False)
    link, unknown = user["link"], user["link"][:-1] + ("A" if user["link"][-1] != "A" else "B")
    for target in (link, link + "/plain", link + "/base64", link + "?format=plain", link + "/nonsense", off["link"], unknown,
                   "/", "/x"):
        got, head = panel.get(target), panel.get(target, "HEAD")
        same(head.body, b"", target)
        same([head.status, [pair for pair in head.headers if pair[0] != "Date"]],
             [got.status, [pair for pair in got.headers if pair[0] != "Date"]], target)
    tag = panel.get(link).header("ETag")
    for method in ("GET", "HEAD"):
        same(panel.get(link, method, headers={"If-None-Match": tag}).status, 304, method)
    # What HEAD costs: the same one of the link's tokens.
    panel.api("PATCH", "/settings", {"link_burst": 4}, status=200)
    fresh = panel.user("carla")["link"]
    same([panel.get(fresh, "HEAD").status for _ in range(5)], [200] * 4 + [429], "HEAD takes tokens")


def test_b036_whole_hours(panel):
    link = panel.user("anna", groups=[panel.group("All", panel.server())["id"]])["link"]
    for value in (0, 0.5, "90m", -1, 100000, None, "24", True):
        refused = panel.api("PATCH", "/settings", {"update_interval_h": value})
        same((refused.status // 100, refused.json.get("field")), (4, "update_interval_h"), value)
    for value in (1, 24, 8760):
        panel.api("PATCH", "/settings", {"update_interval_h": value}, status=200)
        same(panel.get(link).header("profile-update-interval"), str(value))
    same(panel.get(panel.user("berta")["link"]).header("profile-update-interval"), "1", "who has no access is asked soon")


def test_b037_strict_base64(panel):
    """All lengths modulo 3, from one server to seven; one line, padded, nothing around it."""
    rests, servers = set(), []
    for number, more in itertools.product(range(1, 8), range(3)):
        if more == 0:
            servers.append(panel.server(f"N{number}", f"n{number}.example.net"))
            user = panel.user(f"u{number}", groups=[panel.group(f"G{number}", *servers)["id"]])
        panel.api("PATCH", "/settings", {"name_template": "{node}" + "x" * more}, status=200)
        body, plain = panel.get(user["link"]).body, panel.get(user["link"] + "/plain").body
        check(re.fullmatch(rb"[A-Za-z0-9+/]+={0,2}", body) and len(body) % 4 == 0, body[-40:])
        same(base64.b64decode(body, validate=True), plain)
        same((plain.count(b"\n"), b"\r" in plain, plain[:12]), (number, False, b"hysteria2://"), plain)
        rests.add(len(plain) % 3)
    same(rests, {0, 1, 2}, "lengths tried")


# --- Addresses that the panel prints ---

def test_b039_every_address_keeps_the_prefix(fresh):
    done = fresh.run("setup", "--public-url", fresh.url)
    fresh.start().loose()
    link = next(line.strip() for line in done.stdout.splitlines() if "/setup/" in line)
    for number in range(2):
        prefix = fresh.settings()["admin_prefix"]
        check(link.startswith(f"{fresh.url}/{prefix}/setup/"), link)
        page = fresh.get(link)
        same(page.status, 200, link)
        for address in re.findall(r'(?:action|href|src)="([^"]*)"', page.text):
            check(urllib.parse.urljoin(link, address).startswith(f"{fresh.url}/{prefix}/"), address)
        fresh.api("PATCH", "/settings", {"admin_prefix": f"other-place-{number}", "old_prefix_keep_s": 0}, status=200)
        same(fresh.get(link).body, fresh.get("/nothing").body, "under the old prefix")
        link = fresh.cli("admin", "owner-link").strip()
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": fresh.url}
    word = PASSWORD.replace(" ", "+")
    link = fresh.cli("admin", "owner-link").strip()
    made = fresh.get(link, "POST", f"name={OWNER}&password={word}&again={word}", form)
    check(f"{fresh.url}/{fresh.settings()['admin_prefix']}/api/v1" in made.text, made)
    # A public URL below a path: links keep that too.
    fresh.api("PATCH", "/settings", {"public_url": "https://x.example.net/below/here"}, status=200)
    user = fresh.user("anna")
    check(user["link"].startswith(f"https://x.example.net/below/here/{fresh.settings()['sub_prefix']}/"), user["link"])


# --- People without access, and back ---

def test_b047_the_old_credential_is_gone(panel):
    group = panel.group("All", panel.server())
    user = panel.user("anna", groups=[group["id"]])
    target = f"/users/{user['id']}"
    old = parts_of(panel.lines(user["link"])[0])["auth"]
    panel.api("POST", target + "/rotate-credential", status=200)
    new = parts_of(panel.lines(user["link"])[0])["auth"]
    check(new != old, "the same one")
    same([one["id"] for one in panel.api("GET", "/users?q=" + new).json["items"]], [user["id"]], "found by the new one")
    same(panel.api("GET", "/users?q=" + old).json["items"], [], "the old one is nobody's")
    panel.user("berta", credential=old)  # and free
    panel.api("POST", target + "/rotate-credential", {"keep_s": 3600}, status=200)
    same([one["id"] for one in panel.api("GET", "/users?q=" + new).json["items"]], [user["id"]], "kept for an hour")
    check(parts_of(panel.lines(user["link"])[0])["auth"] not in (old, new), "the link has the newest")


def test_b059_all_ways_of_resetting(panel):
    group = panel.group("All", panel.server())
    ways = {
        "api": lambda target: panel.api("POST", target + "/reset-usage", status=200),
        "bulk": lambda target: panel.api("POST", "/users/bulk", {"operations": [
            {"op": "reset_usage", "id": target.rsplit("/", 1)[1]}]}, status=200),
        "cli": lambda target: panel.cli("user", "reset", "cli"),
        "extend": lambda target: panel.api("POST", target + "/extend", {"reset_usage": True}, status=200),
    }
    users = {way: panel.user(way, groups=[group["id"]], quota_bytes=1000000) for way in ways}
    before = {way: panel.lines(user["link"]) for way, user in users.items()}
    with by_hand(panel) as database:
        for way in ways:
            use(database, way, 1500000)
    for way, reset in ways.items():
        user = users[way]
        same(detail(panel, user)["status"], "limited", way)
        check(stub(panel.lines(user["link"])), way)
        reset(f"/users/{user['id']}")
        got = detail(panel, user)
        same((got["status"], got["usage"]["used_bytes"], got["usage"]["left_bytes"], got["usage"]["total_down_bytes"]),
             ("active", 0, 1000000, 1500000), way)
        same(panel.lines(user["link"]), before[way], way)
    panel.stop()
    panel.start()
    same({detail(panel, user)["status"] for user in users.values()}, {"active"}, "after a restart")


def test_b059_b080_the_reset_comes_when_it_was_promised(panel):
    """The end that the API tells is the one that resets; a limited user is served again without anybody's doing."""
    group, now = panel.group("All", panel.server()), int(time.time())
    longest = {"day": 1, "week": 7, "month": 31, "calendar_month": 31, "year": 366, "rolling30": 30, "days": 5}
    users = {}
    for period, days in longest.items():
        more = {"quota_period_days": 5} if period == "days" else {}
        users[period] = user = panel.user(period, groups=[group["id"]], quota_bytes=1000, quota_period=period, **more)
        check(now < user["usage"]["period_end_unix"] <= now + days * 86400 + 60, period, user["usage"])
    same(panel.user("none", quota_bytes=1000)["usage"]["period_end_unix"], 0, "never")
    refused = panel.api("POST", "/users", {"name": "x", "quota_period": "days"}, status=422)
    same(refused.json["field"], "quota_period_days", "a period of no length")
    with by_hand(panel) as database:
        for period in longest:
            use(database, period, 1000)
    for period, user in users.items():
        same((detail(panel, user)["status"], stub(panel.lines(user["link"]))), ("limited", True), period)
    with by_hand(panel) as database:  # as if the time had passed
        for table in ("user_usage", "user_period"):
            database.execute(f"UPDATE {table} SET period_end_unix = ? WHERE period_end_unix > 0", (now - 10,))
        database.execute("UPDATE user_usage SET period_start_unix = ? WHERE period_end_unix > 0", (now - 1000,))
    for period, user in users.items():
        got = detail(panel, user)
        same((got["status"], got["usage"]["used_bytes"]), ("active", 0), period)
        check(got["usage"]["period_end_unix"] > now, period, got["usage"])
        check(not stub(panel.lines(user["link"])), period)
    until(lambda: len(panel.api("GET", "/users?status=active&limit=100").json["items"]) == len(users) + 1, "stored too")


def test_b074_b075_off_and_on(panel):
    """What switches somebody off and on changes no secret, and active means that the servers are there."""
    group, other = panel.group("All", panel.server()), panel.group("Others")
    user = panel.user("anna", groups=[group["id"]], quota_bytes=10**9)
    target, lines = f"/users/{user['id']}", panel.lines(user["link"])
    for off, on in (({"enabled": False}, {"enabled": True}), ({"expires_unix": 1000000000}, {"expires_unix": 0}),
                    ({"groups": [other["id"]]}, {"groups": [group["id"]]}), ({"name": "Berta"}, {"name": "anna"})):
        for _ in range(5):
            panel.api("PATCH", target, off, status=200)
            if "name" not in off:
                check(stub(panel.lines(user["link"])), off)
            back = panel.api("PATCH", target, on, status=200).json
            same((back["status"], back["link"]), ("active", user["link"]), on)
            same(panel.lines(user["link"]), lines, on)
    for _ in range(25):
        panel.api("POST", target + "/disable", status=200)
        panel.api("POST", target + "/enable", status=200)
    same(panel.lines(user["link"]), lines)


# --- Quota, time, status ---

def test_b032_nothing_left_is_zero(panel):
    user = panel.user("anna", quota_bytes=1000000)
    with by_hand(panel) as database:
        use(database, "anna", 1500000)
    got = detail(panel, user)
    same((got["status"], got["usage"]["used_bytes"], got["usage"]["left_bytes"]), ("limited", 1500000, 0))
    same(panel.api("GET", "/stats/overview").json["users"]["limited"], 1)
    check(not re.search(r"-\d", panel.cli("user", "list").split("usr_")[0].split("anna")[1]), "below zero in the list")
    same(panel.get(user["link"]).header("subscription-userinfo"),
         "upload=0; download=1500000; total=1000000; expire=0", "used is told as it is")
    panel.api("PATCH", "/settings", {"name_template": "{data_left}"}, status=200)
    check("-" not in parts_of(panel.lines(user["link"])[0])["name"], "in a name")


def test_b090_one_status_everywhere(panel):
    want = {}
    past, future = 1000000000, 4000000000
    for number, (off, ended, over, hold) in enumerate(itertools.product((False, True), repeat=4)):
        name = f"u{number}"
        body = {"enabled": not off, "quota_bytes": 1000}
        body |= {"hold_s": 86400} if hold else {"expires_unix": past if ended else future}
        panel.user(name, **body)
        if hold and ended:
            continue  # of a hold that has not begun nothing can be over
        want[name] = "disabled" if off else "expired" if ended else "limited" if over else "on_hold" if hold else "active"
    with by_hand(panel) as database:
        for number, (_, _, over, _) in enumerate(itertools.product((False, True), repeat=4)):
            if over:
                use(database, f"u{number}", 1000)
    listed = {user["name"]: user for user in panel.api("GET", "/users?limit=100").json["items"]}
    for name, status in want.items():
        same((listed[name]["status"], detail(panel, listed[name])["status"]), (status, status), name, listed[name])
    for status in ("disabled", "expired", "limited", "on_hold", "active"):
        names = {user["name"] for user in panel.api("GET", f"/users?limit=100&status={status}").json["items"]}
        same(names & set(want), {name for name, is_ in want.items() if is_ == status}, status)
        same(panel.api("GET", "/stats/overview").json["users"][status], len(names), status)


def test_b082_one_odd_row_breaks_nothing(panel):
    """What no input lets in, but a hand or another program put there."""
    link = panel.user("odd", groups=[panel.group("All", panel.server())["id"]])["link"]
    for number in range(5):
        panel.user(f"u{number}")
    with by_hand(panel) as database:
        database.execute("UPDATE user SET expires_unix = 9223372036854775807, hold_deadline_unix = -5, created_unix = -1,"
                         " quota_bytes = -7, device_limit = -9, telegram_id = -3, language = '?', meta = '{' WHERE name = 'odd'")
        database.execute("UPDATE user_usage SET used_up_bytes = 9223372036854775807, used_down_bytes = 9223372036854775807,"
                         " period_end_unix = -1 WHERE user_id = (SELECT id FROM user WHERE name = 'odd')")
    for sort in ("name", "created", "expiry", "used", "remaining", "last_seen"):
        for sign in ("", "-"):
            page = panel.api("GET", f"/users?sort={sign}{sort}&total=1", status=200).json
            same((page["total"], len(page["items"])), (6, 6), sort)
    odd = next(user for user in page["items"] if user["name"] == "odd")
    detail(panel, odd)
    check("odd" in panel.cli("user", "list"), "the command line")
    check(panel.get(link).status in (200, 503), panel.get(link))
    panel.api("GET", "/stats/overview", status=200)
    panel.api("DELETE", f"/users/{odd['id']}", status=200)
    same(panel.api("GET", "/users?total=1").json["total"], 5)


def test_b092_thirty_days_are_thirty(panel):
    same(panel.user("a", expires_in_s=MONTH)["days_left"], 30)
    same(panel.user("b", expires_in_s=29 * 86400 + 60)["days_left"], 30, "a day that has begun")
    same(panel.user("c", expires_in_s=3600)["days_left"], 1, "never 0 while active")
    check(re.search(r"days_left +30", panel.cli("user", "add", "d", "--expires-in", "30d")), "the command line")
    panel.api("PATCH", "/settings", {"name_template": "{days_left}"}, status=200)
    user = panel.user("e", expires_in_s=MONTH, groups=[panel.group("All", panel.server())["id"]])
    check("30" in parts_of(panel.lines(user["link"])[0])["name"], panel.lines(user["link"]))


def test_b094_to_the_second(panel):
    """Over in that second, for whoever asks, whatever the timer does."""
    group = panel.group("All", panel.server())
    user = panel.user("anna", groups=[group["id"]], expires_in_s=2)
    check(not stub(panel.lines(user["link"])), "at first")

    def answers():
        return (detail(panel, user)["status"], stub(panel.lines(user["link"])),
                len(panel.api("GET", "/users?status=expired").json["items"]),
                panel.api("GET", "/stats/overview").json["users"]["expired"])

    until(lambda: detail(panel, user)["status"] == "expired", "expired")
    same(answers(), ("expired", True, 1, 1), "all of them at once")
    same(detail(panel, user)["expires_unix"], user["expires_unix"], "the second that was set")


# --- Store ---

def test_b064_locked_from_outside(panel):
    """Another program holds the database: a write waits or is told to come again, and none is lost."""
    user = panel.user("anna", groups=[panel.group("All", panel.server())["id"]])
    other = sqlite3.connect(panel.data / "hythe.db", isolation_level=None, timeout=5)
    told, size = {}, panel.log.stat().st_size
    try:
        other.execute("BEGIN IMMEDIATE")
        for number in range(5):
            answer = panel.api("POST", "/users", {"name": f"u{number}"})
            told[f"u{number}"] = answer.status
            if answer.status != 201:
                same(answer.status, 503, answer)
                check(int(answer.header("Retry-After")) >= 1, answer.headers)
                same(answer.json["code"], "busy", answer)
            check(not stub(panel.lines(user["link"])), "links go on")
            same(panel.api("GET", "/users?limit=1").status, 200, "and lists")
        other.execute("ROLLBACK")
    finally:
        other.close()
    until(lambda: panel.api("POST", "/users", {"name": "after"}).status in (201, 409), "writing goes on")
    names = {one["name"] for one in panel.api("GET", "/users?limit=100").json["items"]}
    same(names - {"anna", "after"}, {name for name, status in told.items() if status == 201}, told)
    check(panel.log.stat().st_size - size < 8000, "a storm in the log:", panel.log.read_text()[-2000:])


def test_b124_an_older_program_refuses(fresh):
    fresh.setup()
    database = sqlite3.connect(fresh.data / "hythe.db")
    version, = database.execute("PRAGMA user_version").fetchone()
    database.execute(f"PRAGMA user_version = {version + 7}")
    database.execute("INSERT INTO migration (number, name, sha256, applied_unix) VALUES (?, 'later.sql', zeroblob(32), 1)",
                     (version + 7,))
    database.commit()
    database.close()
    before = (fresh.data / "hythe.db").read_bytes()
    for command in (["serve", "--listen", f"127.0.0.1:{fresh.port}"], ["setup"]):
        done = fresh.run(*command)
        same(done.returncode, 1, command, done.stderr)
        check(str(version + 7) in done.stderr and "newer" in done.stderr, done.stderr)
        same((fresh.data / "hythe.db").read_bytes(), before, "changed by", command)


# --- The API ---

def test_b126_every_page_of_every_order(panel):
    """Each user once, whatever the order and the filter, while others come and go."""
    group = panel.group("G")
    stays = {}
    operations = [{"op": "create", "name": f"u{number:03}", "tag": ("", "red")[number % 2],
                   "groups": [group["id"]] if number % 3 == 0 else [], "quota_bytes": (0, 1000, 2**60)[number % 3],
                   "expires_unix": (0, 4000000000, 1000000000)[number % 3], "enabled": number % 5 != 0}
                  for number in range(300)]
    panel.api("POST", "/users/bulk", {"operations": operations})
    with by_hand(panel) as database:
        database.execute("UPDATE user_usage SET used_up_bytes = (user_id % 7) * 100, last_seen_unix = (user_id % 4) * 1000")
    for user in panel.api("GET", "/users?limit=500").json["items"]:
        stays[user["id"]] = user
    same(len(stays), 300)
    filters = {"": lambda user: True, "&tag=red": lambda user: user["tag"] == "red",
               f"&group={group['id']}": lambda user: user["groups"], "&q=u1": lambda user: user["name"].startswith("u1"),
               "&status=expired": lambda user: user["status"] == "expired",
               "&status=disabled&tag=red": lambda user: user["status"] == "disabled" and user["tag"] == "red"}
    number = 0
    for sort, (query, fits) in itertools.product(("name", "created", "expiry", "used", "remaining", "last_seen"),
                                                 filters.items()):
        for sign in ("", "-"):
            seen, cursor = [], ""
            while cursor is not None:
                page = panel.api("GET", f"/users?limit=67&sort={sign}{sort}{query}{'&cursor=' + cursor if cursor else ''}",
                                 status=200).json
                seen += [user["id"] for user in page["items"] if user["id"] in stays]
                cursor = page["next_cursor"]
                number += 1
                passing = panel.user(f"passing{number}", tag="red", enabled=number % 2 == 0)
                panel.api("DELETE", f"/users/{passing['id']}", status=200)
            same(len(seen), len(set(seen)), "somebody twice:", sign, sort, query)
            same(set(seen), {id_ for id_, user in stays.items() if fits(user)}, sign, sort, query)


test_b126_every_page_of_every_order.slow = True


def test_b128_killed_in_the_middle(fresh):
    """kill -9 at twelve moments of a bulk call: none of it or all of it, and all if it was acknowledged."""
    fresh.setup()
    outcomes = set()
    for turn in range(12):
        fresh.start()
        body = {"operations": [{"op": "create", "name": f"t{turn}-{number}", "tag": f"t{turn}"} for number in range(1000)]}
        told = []

        def call(body=body, told=told):
            with contextlib.suppress(OSError, http.client.HTTPException):
                told.append(fresh.control("POST", "/api/v1/users/bulk", body).status)

        thread = threading.Thread(target=call)
        thread.start()
        thread.join(0.01 + 0.01 * turn)
        fresh.process.kill()
        fresh.wait()
        thread.join()
        fresh.start()
        there = fresh.api("GET", f"/users?limit=1&total=1&tag=t{turn}", status=200).json["total"]
        check(there in (0, 1000), "half done:", there)
        check(there == 1000 or not told, "acknowledged and lost:", told)
        check(not told or told[0] in (200, 201), told)
        outcomes.add(there)
        fresh.process.kill()
        fresh.wait()
    check(outcomes, "nothing was tried")


test_b128_killed_in_the_middle.slow = True


def test_b137_no_answer_holds_a_secret_without_the_right(panel):
    """Every GET of the description, asked by those who may read but not see secrets."""
    server = panel.server(obfs="salamander", obfs_password="Obfs-Secret-42", server={
        "outbounds": [{"name": "a", "type": "socks5", "addr": "b.example.net:1080", "username": "u", "password": "Socks-Secret-42"},
                      {"name": "b", "type": "http", "url": "http://u:Proxy-Secret-42@c.example.net"}]})
    acme = {"name": "cloudflare", "config": {"cloudflare_api_token": "Dns-Secret-42"}}
    panel.make("/profiles", {"name": "DNS", "port": 8443, "cert_mode": "acme", "server": {
        "acme": {"type": "dns", "domains": ["a.example.net"], "email": "x@example.net", "dns": acme}}})
    group = panel.group("All", server)
    user = panel.user("anna", groups=[group["id"]], credential="Credential-Secret-42")
    other = panel.make("/tokens", {"name": "other", "rights": ["users.read"]})
    word = "Password-Secret-42"
    panel.cli("admin", "add", "reader", "--role", "readonly", "--password-file", "-", input=word + "\n")
    settings = panel.settings()
    link_token = user["link"].rsplit("/", 1)[1]
    secrets = ["Obfs-Secret-42", "Socks-Secret-42", "Proxy-Secret-42", "Dns-Secret-42", "Credential-Secret-42", link_token,
               other["token"], word, "$argon2"]
    ids = {"users": user["id"], "groups": group["id"], "profiles": server["profile"]["id"], "nodes": server["node"]["id"],
           "inbounds": server["inbound"]["id"], "tokens": other["id"],
           "hosts": panel.api("GET", "/hosts").json["items"][0]["id"],
           "admins": panel.api("GET", "/admins").json["items"][0]["id"]}
    spec = panel.api("GET", "/openapi.yaml", status=200).text
    paths = [path for path, methods in re.findall(r"^  (/[^:\n]*):\n((?:    .*\n|\n)*)", spec, re.M)
             if re.search(r"^    get:", methods, re.M)]
    check(len(paths) > 20, paths)
    signed = panel.admin("POST", "/auth/sign-in", {"name": "reader", "password": word})
    same(signed.status, 200, signed)
    callers = {"readonly": {"Cookie": signed.header("Set-Cookie").split(";")[0]}}
    for name, rights in (("all but secrets", ["users.read", "users.write", "nodes.read", "nodes.write", "settings", "admins",
                                              "metrics"]), ("metrics", ["metrics"])):
        token = panel.make("/tokens", {"name": name, "rights": rights})["token"]
        callers[name] = {"Authorization": "Bearer " + token}
    answered = 0
    for caller, headers in callers.items():
        for path in paths:
            filled = re.sub(r"/(\w+)/\{id\}", lambda match: f"/{match[1]}/{ids.get(match[1], 'x')}", path)
            answer = panel.admin("GET", filled, headers=headers)
            check(answer.status in (200, 403, 404), caller, path, answer)
            answered += answer.status == 200
            for secret in secrets:
                check(secret not in answer.text, caller, path, "holds", secret)
            if caller == "readonly":
                check(settings["sub_prefix"] not in answer.text, caller, path, "holds the prefix of links")
    check(answered > 20, "answers:", answered)
    changed = panel.admin("PATCH", f"/users/{user['id']}", {"note": "x"}, callers["all but secrets"])
    same(changed.status, 200, changed)
    made = panel.admin("POST", "/users", {"name": "berta"}, callers["all but secrets"])
    for answer in (changed, made):
        check("link" not in answer.json and link_token not in answer.text, answer)
    same(panel.admin("GET", f"/users/{user['id']}/link", headers=callers["all but secrets"]).status, 403)
    same(panel.admin("POST", "/tokens", {"name": "more", "rights": ["secrets"]}, callers["all but secrets"]).status // 100, 4,
         "a token with more than its maker's rights")


# --- Sign-in and strangers ---

def test_b131_foreign_text_stays_text(panel):
    for text in (SCRIPT, "x\nlevel=error event=forged", "x\r\n\x1b[31m", "a" * 1000):
        for answer in (panel.admin("POST", "/auth/sign-in", {"name": text, "password": "wrong horse battery"},
                                   {"User-Agent": SCRIPT}),
                       panel.admin("GET", "/users", headers={"Authorization": "Bearer " + SCRIPT})):
            check(answer.status in (400, 401, 422, 429), answer)
            check("<" not in answer.text, answer)
    for line in panel.log.read_text().splitlines():
        check(re.match(r"\d{4}-\d\d-\d\dT\S+ level=\w+ event=\w+", line) and "\x1b" not in line, "a line of its own:", line)
        check("event=forged" not in line or line.count("level=") == 1 or '"' in line, line)


def test_b134_no_account_but_the_owner(fresh):
    done = fresh.run("setup", "--public-url", fresh.url)
    same(done.returncode, 0, done.stderr)
    fresh.start().loose()
    same(fresh.api("GET", "/admins").json["items"], [], "an account that nobody made")
    for name, password in (("admin", "admin"), ("admin", "password"), ("root", "root"), ("hythe", "hythe"), ("admin", "")):
        answer = fresh.admin("POST", "/auth/sign-in", {"name": name, "password": password})
        check(400 <= answer.status < 500, name, answer)
        check(answer.header("Set-Cookie") is None, name, answer)
    check("/setup/" in done.stdout, done.stdout)
    token = done.stdout.split("/setup/")[1].split()[0]
    for path in fresh.data.glob("hythe.db*"):
        check(token.encode() not in path.read_bytes(), "the one-time token lies open in", path.name)
    check(token not in fresh.log.read_text(), "the one-time token stands in the log")
