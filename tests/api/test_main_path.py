"""From an API call or a command to a link that a client reads; field reports by their numbers."""
import re
import threading
import urllib.parse

from harness import OWNER, PASSWORD, check, same, stub

UNRESERVED = re.compile(r"^[A-Za-z0-9_-]+$")


def auth_of(line):
    return urllib.parse.unquote(urllib.parse.urlsplit(line).username)


def test_by_api(panel):
    first, second = panel.server("Frankfurt"), panel.server("Helsinki", "2001:db8::10", obfs="salamander")
    group = panel.group("All", first, second)
    user = panel.user("anna", groups=[group["id"]], quota_bytes=10**10, expires_in_s=86400 * 30)
    lines = panel.lines(user["link"])
    same(len(lines), 2, lines)
    hosts = {urllib.parse.urlsplit(line).hostname for line in lines}
    same(hosts, {"de1.example.net", "2001:db8::10"})
    for line in lines:
        parts = urllib.parse.urlsplit(line)
        query = urllib.parse.parse_qs(parts.query)
        same(parts.scheme, "hysteria2")
        same(parts.port, 443, "one numeric port (B009)")
        same(query["insecure"], ["1"], line)
        same(query["pinSHA256"], ["ab" * 32], line)
        check(set(query) <= {"obfs", "obfs-password", "sni", "insecure", "pinSHA256", "mport"}, "B011", line)
        check(UNRESERVED.match(parts.username), "B003", line)
    plain = panel.get(user["link"] + "/plain")
    same(plain.text.splitlines(), lines, "the plain list")
    same(panel.get(user["link"] + "/nonsense").body, panel.get("/nonsense").body, "an unknown format")


def test_by_command_line(panel):
    panel.cli("profile", "add", "Main", "--port", "443", "--hop-ports", "20000-20100")
    panel.cli("node", "add", "Frankfurt", "--address", "de1.example.net", "--country", "DE", "--tags", "eu,fast")
    panel.cli("inbound", "add", "--node", "Frankfurt", "--profile", "Main", "--managed", "no", "--cert-pin",
              ":".join(["AB"] * 32))
    panel.cli("group", "add", "Europe", "--access", "Main@#eu")
    shown = panel.cli("user", "add", "anna", "--groups", "Europe", "--quota", "50GB", "--expires-in", "30d")
    check("50.00 GB" in shown and "days_left" in shown, shown)
    link = panel.cli("user", "link", "anna").strip()
    line, = panel.lines(link)
    check("mport=20000-20100" in line and "pinSHA256=" + "ab" * 32 in line, line)  # B025
    check("Europe" in panel.cli("user", "list"), "the list")
    panel.cli("user", "disable", "ANNA")
    check(stub(panel.lines(link)), "disabled")
    panel.cli("user", "enable", "anna")
    same(panel.lines(link), [line], "enabled again (B015)")
    panel.cli("user", "set", "anna", "--name", "Anna", "--note", "moved")
    panel.cli("host", "add", "--inbound", "Frankfurt/Main", "--address", "relay.example.net", "--host-name", "Relay")
    same(len(panel.lines(link)), 2, "a second host")
    panel.cli("settings", "set", "title=Our VPN", "name_template={node} {host}")
    token = panel.cli("token", "add", "script", "--rights", "users.read,users.write")
    check("hyt_" in token, token)
    panel.cli("admin", "add", "helper", "--role", "helper", "--password-file", "-", input=PASSWORD + "\n")
    check("helper" in panel.cli("admin", "list"), "admins")
    for noun, name in (("user", "anna"), ("group", "Europe"), ("inbound", "Frankfurt/Main"), ("profile", "Main"),
                       ("node", "Frankfurt"), ("token", "script"), ("admin", "helper")):
        panel.cli(noun, "rm", name)
    same(panel.get(link).status, 404, "after the end of it all")
    done = panel.run("user", "show", "anna")
    same(done.returncode, 1)
    check("anna" in done.stderr, done.stderr)


def test_json_of_commands(panel):
    import json
    user = json.loads(panel.cli("user", "add", "anna", "--json"))
    same(user["name"], "anna")
    same([one["id"] for one in json.loads(panel.cli("user", "list", "--json"))["items"]], [user["id"]])
    same(sorted(json.loads(panel.cli("status", "--json"))), ["health", "overview"])
    done = panel.run("user", "add", "ANNA", "--json")
    same(done.returncode, 1)
    same(json.loads(done.stdout)["code"], "name_taken")


def test_lookup_by_name(panel):
    for number in range(12):
        panel.user(f"user{number}")
    check("user1 " in panel.cli("user", "show", "user1").replace("\n", " \n"), "user1, not user10")
    panel.user("ab")
    check("ab" in panel.cli("user", "show", "AB"), "a short name")
    check("Größe" in panel.cli("user", "add", "Größe 東京"), "letters")
    panel.cli("user", "rm", "GRÖSSE 東京".replace("SS", "ß"))


def test_b045_link_lives_on(panel):
    group = panel.group("All", panel.server())
    renewals = (
        lambda id_: panel.api("PATCH", f"/users/{id_}", {"expires_in_s": 86400}, status=200),
        lambda id_: panel.api("POST", f"/users/{id_}/extend", {"add_s": 86400}, status=200),
        lambda id_: panel.api("POST", "/users/bulk", {"operations": [{"op": "extend", "id": id_, "add_s": 86400}]}),
        lambda id_: panel.cli("user", "extend", "anna", "--by", "1d"),
    )
    for renew in renewals:
        user = panel.user("anna", groups=[group["id"]], expires_in_s=86400)
        servers = panel.lines(user["link"])
        check(not stub(servers), servers)
        panel.api("PATCH", f"/users/{user['id']}", {"expires_unix": 1000000000}, status=200)
        check(stub(panel.lines(user["link"])), "expired")
        renew(user["id"])
        same(panel.lines(user["link"]), servers, "the very next answer")
        panel.api("DELETE", f"/users/{user['id']}", status=200)


def test_next_answer_shows_the_change(panel):
    server = panel.server()
    group = panel.group("All", server)
    user = panel.user("anna", groups=[group["id"]])
    link, target = user["link"], f"/users/{user['id']}"
    for number in range(20):
        panel.api("PATCH", f"/nodes/{server['node']['id']}", {"address": f"n{number}.example.net"}, status=200)
        check(f"@n{number}.example.net:" in panel.lines(link)[0], number)
        panel.api("PATCH", target, {"groups": []}, status=200)
        check(stub(panel.lines(link)), "no groups")
        panel.api("PATCH", target, {"groups": [group["id"]]}, status=200)
        check(not stub(panel.lines(link)), "groups")


def test_b120_case_only_rename(panel):
    user, other = panel.user("test"), panel.user("test2")
    renamed = panel.api("PATCH", f"/users/{user['id']}", {"name": "Test"}, status=200).json
    same((renamed["id"], renamed["name"]), (user["id"], "Test"))
    refused = panel.api("PATCH", f"/users/{other['id']}", {"name": "TEST"}, status=409).json
    same(refused["code"], "name_taken")
    same(panel.api("GET", f"/users/{other['id']}").json["name"], "test2", "nothing changed")
    same(len(panel.api("GET", "/users").json["items"]), 2)


def test_b122_deleted_name_is_free(panel):
    links = set()
    for _ in range(100):
        user = panel.user("anna")
        links.add(user["link"])
        panel.api("DELETE", f"/users/{user['id']}", status=200)
    same(len(links), 100, "links")
    user = panel.user("anna")
    answer = panel.api("POST", "/users/bulk", {"operations": [
        {"op": "delete", "id": user["id"]}, {"op": "create", "name": "anna"}]})
    check(answer.status in (200, 201), answer)


def test_b128_bulk_is_all_or_nothing(panel):
    good = [{"op": "create", "name": f"u{number}"} for number in range(1000)]
    bad = [*good[:499], {"op": "create", "name": ""}, *good[500:]]
    refused = panel.api("POST", "/users/bulk", {"operations": bad})
    check(400 <= refused.status < 500 and "499" in refused.text, refused)
    same(panel.api("GET", "/users?total=1").json["total"], 0, "nothing changed")
    answer = panel.api("POST", "/users/bulk", {"operations": good})
    check(answer.status in (200, 201), answer)
    same(panel.api("GET", "/users?total=1").json["total"], 1000)


def test_b134_nothing_tells_the_panel(panel):
    """A stranger sees one page; links of nobody and wrong prefixes are like any other path."""
    settings = panel.settings()
    user = panel.user("anna")
    token = user["link"].rsplit("/", 1)[1]
    wrong = ("A" if token[0] != "A" else "B") + token[1:]
    paths = ["/", "/login", "/panel", "/api/v1/health", "/metrics", "/x" * 200, "/%00", "/%2f", "/..", "/.git/config",
             f"/{settings['sub_prefix']}", f"/{settings['sub_prefix']}/", f"/{settings['sub_prefix']}/{wrong}",
             f"/{settings['sub_prefix']}/{token}x", f"/{settings['sub_prefix']}/{token[:-1]}",
             f"/{settings['sub_prefix'][:-1]}/{token}", f"/{settings['admin_prefix'][:-1]}/api/v1/health",
             f"/{settings['admin_prefix']}x/api/v1/health", f"/{settings['sub_prefix'].swapcase()}/{token}"]
    for method in ("GET", "HEAD", "POST", "DELETE"):
        want = panel.get("/some/page", method)
        for path in paths:
            answer = panel.get(path, method)
            same((answer.status, answer.body), (want.status, want.body), method, path)
            same([name for name, _ in answer.headers], [name for name, _ in want.headers], method, path)
    same(panel.get("/some/page").status, 404)
    for path in ("/", "/some/page", f"/{settings['sub_prefix']}/{wrong}"):
        check(b"hythe" not in panel.get(path).body.lower(), "the name")
        check(panel.get(path).header("Server") is None, "a server header")


def test_b139_one_valid_link(panel):
    group = panel.group("All", panel.server())
    user = panel.user("anna", groups=[group["id"]])
    target = f"/users/{user['id']}"
    shown = {panel.api("GET", target + "/link", status=200).json["link"] for _ in range(100)}
    same(shown, {user["link"]}, "showing it does not change it")
    links, lock = [user["link"]], threading.Lock()

    def rotate():
        for _ in range(5):
            link = panel.api("POST", target + "/rotate-link", status=200).json["link"]
            with lock:
                links.append(link)

    threads = [threading.Thread(target=rotate) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    now = panel.api("GET", target + "/link").json["link"]
    alive = [link for link in set(links) if panel.get(link).status == 200]
    same(alive, [now], "alive")


def test_b140_token_says_nothing(panel):
    first = panel.user("anna")
    panel.api("DELETE", f"/users/{first['id']}", status=200)
    second = panel.user("anna")
    check(first["link"] != second["link"], "the same link for the same name")
    same(panel.get(first["link"]).status, 404, "the old link")
    token = second["link"].rsplit("/", 1)[1].encode()
    panel.stop()
    for path in panel.data.glob("hythe.db*"):
        check(token not in path.read_bytes(), "the token lies open in", path.name)
    panel.start()
    same(panel.get(second["link"]).status, 200, "after a restart")
    check(token not in panel.log.read_bytes(), "the token stands in the log")


def test_prefix_that_goes_on(panel):
    user = panel.user("anna")
    old = panel.settings()
    panel.api("PATCH", "/settings", {"sub_prefix": "new-links", "old_prefix_keep_s": 3600}, status=200)
    new = panel.api("GET", f"/users/{user['id']}/link").json["link"]
    check("/new-links/" in new, new)
    same([panel.get(link).status for link in (user["link"], new)], [200, 200])
    refused = panel.api("PATCH", "/settings", {"sub_prefix": "newer-links", "old_prefix_keep_s": 0}, status=409)
    same((refused.json["code"], refused.json["field"]), ("old_prefix_in_force", "sub_prefix"), "what was promised is kept")
    panel.cli("settings", "set", "--old-prefix-keep", "0")
    panel.api("PATCH", "/settings", {"sub_prefix": "newer-links", "old_prefix_keep_s": 0}, status=200)
    same(panel.get(new).status, 404, "ended at once")
    check(old["sub_prefix"] != "newer-links", "")


def test_sign_in_and_tokens(panel):
    wrong = panel.admin("POST", "/auth/sign-in", {"name": OWNER, "password": "wrong horse battery"})
    nobody = panel.admin("POST", "/auth/sign-in", {"name": "nobody", "password": "wrong horse battery"})
    same((wrong.status, nobody.status), (401, 401))
    same(wrong.json["code"], nobody.json["code"], "who is there is not told")
    answer = panel.admin("POST", "/auth/sign-in", {"name": OWNER, "password": PASSWORD})
    same(answer.status, 200, answer)
    cookie = answer.header("Set-Cookie")
    check("HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
    cookie = {"Cookie": cookie.split(";")[0]}
    same(panel.admin("GET", "/users", headers=cookie).status, 200)
    same(panel.admin("POST", "/users", {"name": "x"}, cookie).status, 403, "without an origin")
    same(panel.admin("POST", "/users", {"name": "x"}, {**cookie, "Origin": "https://evil.example"}).status, 403)
    same(panel.admin("POST", "/users", {"name": "x"}, {**cookie, "Origin": panel.url}).status, 201)
    same(panel.admin("GET", "/users").status, 401)
    token = panel.make("/tokens", {"name": "reader", "rights": ["users.read"]})["token"]
    bearer = {"Authorization": "Bearer " + token}
    seen = panel.admin("GET", "/users", headers=bearer)
    same(seen.status, 200)
    check("link" not in seen.json["items"][0], "a link without the right to secrets")
    same(panel.admin("POST", "/users", {"name": "y"}, bearer).status, 403)
    check(token not in panel.log.read_text() and PASSWORD not in panel.log.read_text(), "a secret in the log")


def test_b006_public_url_with_ipv6(fresh):
    done = fresh.run("setup", "--public-url", f"http://[::1]:{fresh.port}", "--owner", OWNER, "--password-file", "-",
                     input=PASSWORD)
    same(done.returncode, 0, done.stderr)
    fresh.start().loose()
    group = fresh.group("All", fresh.server("Six", "2001:db8::10"))
    user = fresh.user("anna", groups=[group["id"]])
    check(user["link"].startswith(f"http://[::1]:{fresh.port}/"), user["link"])
    check("@[2001:db8::10]:443/" in fresh.lines(user["link"])[0], "brackets")


def test_restart_keeps_everything(panel):
    group = panel.group("All", panel.server())
    users = [panel.user(f"u{number}", groups=[group["id"]]) for number in range(20)]
    lines = [panel.lines(user["link"]) for user in users]
    for _ in range(3):
        same(panel.stop(), 0)
        panel.start()
        same([panel.lines(user["link"]) for user in users], lines)
