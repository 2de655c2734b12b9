"""What an operator does with the running panel: the README's lines as they stand, every command of the command line,
a password that was forgotten, searches by what can be pasted, a panel that moves to another address."""
import http.client
import json
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import socket
import sqlite3
import stat
import threading
import time
import urllib.parse

from harness import OWNER, PASSWORD, PATIENCE, PROGRAM, ROOT, SANITIZED, check, same, stub, until


def sign_in(panel, name, password):
    return panel.admin("POST", "/auth/sign-in", {"name": name, "password": password})


# --- The README ---

def readme_block(title):
    text = (ROOT / "README.md").read_text()
    return re.search(r"^## " + re.escape(title) + r"\n(.*?)(?=^## )", text, re.M | re.S)[1]


def test_first_steps_of_the_readme(panel):
    """The commands of "First steps" and what they promise, word for word."""
    commands = re.search(r"```\n(hythe profile.*?)```", readme_block("First steps"), re.S)[1]
    check(len(commands.splitlines()) >= 5, commands)
    for line in commands.splitlines():
        words = shlex.split(line.replace("SHA256-OF-ITS-CERTIFICATE", "ab" * 32))
        same(words[0], "hythe", line)
        out = panel.cli(*words[1:])
    link = out.strip()
    line, = panel.lines(link)
    check("@de1.example.net:443/" in line and "obfs=salamander" in line and "pinSHA256=" + "ab" * 32 in line, line)
    # By the API: the token of the README's line, and its two calls.
    calls = re.search(r"```\n(hythe token.*?)```", readme_block("First steps"), re.S)[1]
    shown = panel.cli(*shlex.split(calls.splitlines()[0])[1:])
    token = re.search(r"hyt_\S+", shown)[0]
    bodies = re.findall(r"-d '([^']*)'", calls)
    queries = re.findall(r'\$API(/[^"\s]*)', calls)
    bearer = {"Authorization": "Bearer " + token}
    made = panel.admin("POST", "/users", bodies[0], bearer)
    same(made.status, 201, made)
    check(made.json["link"].startswith(panel.url), "with the right to secrets the link is told")
    listed = panel.admin("GET", queries[-1], headers=bearer)
    same([user["name"] for user in listed.json["items"]], ["bert", "anna"], queries[-1])


def test_flags_of_the_readme(fresh):
    """Every flag of `hythe serve` stands in the README's table and in the manual, and no other."""
    flags = set(re.findall(r"^  (--[a-z-]+)", fresh.run("serve", "--help", data_dir=False).stdout, re.M)) - {"--help"}
    check(len(flags) > 8, flags)
    table = re.findall(r"`(--[a-z-]+)", "".join(line for line in readme_block("`hythe serve`").splitlines(True)
                                                if line.startswith("|")))
    same(set(table), flags, "README")
    manual = (ROOT / "packaging/man/hythe.1").read_text().replace("\\", "")
    for flag in sorted(flags):
        check(flag in manual, "the manual lacks", flag)
    rows = fresh.run("--help", data_dir=False).stdout
    for noun, verb in re.findall(r"^  ([a-z]+) ([a-z-]+) ", rows, re.M):
        check(re.search(rf"^\.BR? \"?{noun} .*\b{verb}\b", manual, re.M), "the manual lacks", noun, verb)


def test_map_of_the_source(fresh):
    """Every file and function that src/README.md sends a reader to is there."""
    text = (ROOT / "src/README.md").read_text()
    files = {path.name for path in (ROOT / "src").rglob("*.[ch]")} | {path.name for path in (ROOT / "include").rglob("*.h")}
    for name in set(re.findall(r"`(?:[\w/]+/)?(\w+\.[ch])(?::|`)", text)):
        check(name in files, "no such file:", name)
    for path in set(re.findall(r"`((?:\w+/)+\w+\.[ch])", text)):
        check((ROOT / "src" / path).exists() or (ROOT / path).exists() or path == "http/reply.c", "no such file:", path)
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.c"))
    for name in set(re.findall(r"(\w+)\(\)", text)):
        check(re.search(rf"^[\w *]*\b{name}\(", source, re.M), "no such function:", name)
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    same(set(re.findall(r"^\| `(\w+)/`", text, re.M)), folders, "the folders of the map")


# --- Every command ---

def test_every_command(panel):
    """Each row of `hythe --help` that talks to the panel is run and shows in the API."""
    ran = set()

    def run(line, *more, input=None):
        words = shlex.split(line)
        ran.add(next(row for row in (" ".join(words[:2]), words[0]) if row in rows))
        return panel.cli(*words, *more, input=input)

    def shows(line, *more, **kwargs):
        return json.loads(run(line, *more, "--json", **kwargs))

    text = panel.run("--help", data_dir=False).stdout.split("While the panel runs:")[1]
    rows = {match[1].strip() for match in re.finditer(r"^  ((?:[a-z-]+ ?){1,2})", text, re.M)}
    check(len(rows) > 40, rows)
    run("profile add Main --port 443 --obfs salamander --note first")
    same(shows("profile show main")["note"], "first")
    run("profile set Main --note second --hop-ports 20000-20010 --hop-interval 45s")
    same([shows("profile show Main")[key] for key in ("note", "hop_ports", "hop_interval_s")], ["second", "20000-20010", 45])
    check("20000-20010" in run("profile list"), "profiles")
    run("node add Frankfurt --address de1.example.net --tags eu,fast --country DE")
    run("node set frankfurt --city Main-Stadt --usage-factor-percent 150 --tags eu")
    same([shows("node show Frankfurt")[key] for key in ("city", "usage_factor_percent", "tags")], ["Main-Stadt", 150, ["eu"]])
    check("de1.example.net" in run("node list"), "nodes")
    run("inbound add --node Frankfurt --profile Main --managed no --cert-pin", "cd" * 32)
    run("inbound set Frankfurt/Main --port 8443 --sni x.example.net")
    same([shows("inbound show Frankfurt/Main")[key] for key in ("effective_port", "effective_sni")], [8443, "x.example.net"])
    check("8443" in run("inbound list"), "inbounds")
    run("group add Europe --access Main@#eu --access Main@Frankfurt --note g")
    run("group set europe --access Main --note h")
    same(shows("group show Europe")["access"][0]["nodes"], "all")
    check("Europe" in run("group list"), "groups")
    user = shows("user add anna --groups Europe --quota 50GB --expires-in 30d --meta", '{"a": [1, 2]}')
    same([user["quota_bytes"], user["meta"]], [50 * 10**9, {"a": [1, 2]}])
    link = run("user link anna").strip()
    same(link, user["link"])
    run("user disable anna")
    check(stub(panel.lines(link)), "disabled")
    run("user enable anna")
    same(len(panel.lines(link)), 1)
    run("user set anna --tag vip --quota-period month --excluded-nodes Frankfurt")
    check(stub(panel.lines(link)), "his only node was taken away")
    run("user set anna --excluded-nodes", "")
    same(len(panel.lines(link)), 1, "given back")
    same(shows("user extend anna --by 10d --bytes 5GB")["expires_unix"], user["expires_unix"] + 864000)
    same(shows("user show anna")["quota_bytes"], 55 * 10**9)
    number = shows("user show anna")["usage"]["period_no"]
    run("user reset anna")
    same(shows("user show anna")["usage"]["period_no"], number + 1)
    before = panel.lines(link)
    run("user rotate anna --credential --keep 1h")
    check(panel.lines(link) != before, "the same credential")
    new = shows("user rotate anna")["link"]
    same((panel.get(link).status, panel.get(new).status), (404, 200), "the old link and the new")
    for filters in ("--status active", "--group Europe", "--tag vip", "--q ann", "--sort -created --limit 5"):
        check("anna" in run("user list " + filters), filters)
    check("anna" not in run("user list --status expired"), "a status")
    run("host add --inbound Frankfurt/Main --address relay.example.net --port 444 --host-name Relay --sort-order 5")
    same(len(panel.lines(new)), 2)
    run("host set Relay --hidden yes")
    same(len(panel.lines(new)), 1, "hidden")
    run("host set Relay --hidden no --formats plain")
    same(shows("host show Relay")["formats"], ["plain"])
    same((len(panel.lines(new)), len(panel.get(new + "/plain").text.splitlines())), (1, 2), "in one format only")
    check("relay.example.net" in run("host list"), "hosts")
    run("admin add helper --role helper --password-file -", input=PASSWORD + "\n")
    run("admin set helper --language de --role readonly")
    same(shows("admin show helper")["role"], "readonly")
    run("admin password helper --password-file -", input="another good password\n")
    check("helper" in run("admin list"), "admins")
    check("/setup/" in run("admin owner-link"), "the owner's link")
    token = shows("token add script --rights users.read --expires-in 1h --rate-per-s 5")
    same(token["rights"], ["users.read"])
    check("script" in run("token list"), "tokens")
    check(token["token"] not in run("token list"), "a token is shown once")
    run("settings set", "title=Our VPN", "update_interval_h=6")
    check("Our VPN" in run("settings show"), "settings")
    check("version" in run("status"), "status")
    for line in ("user rm anna", "host rm Relay", "group rm Europe", "inbound rm Frankfurt/Main", "profile rm Main",
                 "node rm Frankfurt", "token rm script", "admin rm helper"):
        run(line)
    same(rows - ran, set(), "commands that no line here runs")
    counts = panel.api("GET", "/users?total=1").json["total"], len(panel.api("GET", "/nodes").json["items"])
    same(counts, (0, 0))


def test_dry_run_of_commands(panel):
    panel.cli("profile", "add", "Main", "--port", "443")
    panel.user("anna")
    before = [panel.api("GET", path).json for path in ("/users", "/profiles", "/nodes", "/groups", "/settings", "/admins")]
    for line in ("user add berta", "user rm anna", "user disable anna", "user rotate anna", "user reset anna",
                 "user extend anna --by 1d", "user set anna --note x", "node add N --address 1.2.3.4", "group add G --access Main",
                 "profile set Main --port 444", "profile rm Main", "settings set title=x"):
        panel.cli(*shlex.split(line), "--dry-run")
        same([panel.api("GET", path).json for path in ("/users", "/profiles", "/nodes", "/groups", "/settings", "/admins")],
             before, line)
    done = panel.run("user", "add", "ANNA", "--dry-run")
    same(done.returncode, 1, "a dry run refuses what a real one would")


def test_names_that_look_like_something_else(panel):
    """A name is found as a name even if it could be a slot, an id, a link or a credential of somebody else."""
    first = panel.user("first", credential="Second-Name-42")
    for name in ("1.1", "2.0", "Second-Name-42", first["id"][:-1] + "0", "a" * 22, "12345", "usr_x"):
        user = panel.user(name)
        shown = panel.run("user", "show", name, "--json")
        same(shown.returncode, 0, name, shown.stderr)
        same(json.loads(shown.stdout)["id"], user["id"], name)


# --- Admins ---

def test_a_forgotten_password(panel):
    """From the shell: the new one works, the old one and its sessions are over at once."""
    cookie = sign_in(panel, OWNER, PASSWORD).header("Set-Cookie").split(";")[0]
    same(panel.admin("GET", "/users", headers={"Cookie": cookie}).status, 200)
    refused = panel.run("admin", "password", OWNER, "--password-file", "-", input="short\n")
    same(refused.returncode, 1, refused.stderr)
    same(sign_in(panel, OWNER, PASSWORD).status, 200, "a refused one changes nothing")
    panel.cli("admin", "password", OWNER, "--password-file", "-", input="tests need no brain\n")
    same(sign_in(panel, OWNER, PASSWORD).status, 401, "the old password")
    same(panel.admin("GET", "/users", headers={"Cookie": cookie}).status, 401, "a session of the old one")
    same(sign_in(panel, OWNER, "tests need no brain").status, 200, "the new password")
    for word in ("tests need no brain", PASSWORD):
        check(word not in panel.log.read_text(), "a password in the log")
    done = panel.run("admin", "password", OWNER, "--password", "tests need no brain")
    same(done.returncode, 2, "a password among the arguments")


def test_the_last_owner_stays(panel):
    for line in (f"admin rm {OWNER}", f"admin set {OWNER} --role helper", f"admin set {OWNER} --enabled no"):
        same(panel.run(*shlex.split(line)).returncode, 1, line)
    same(sign_in(panel, OWNER, PASSWORD).status, 200)


def test_sign_out_and_sessions(panel):
    cookies = [{"Cookie": sign_in(panel, OWNER, PASSWORD).header("Set-Cookie").split(";")[0], "Origin": panel.url}
               for _ in range(3)]
    sessions = panel.admin("GET", "/auth/sessions", headers=cookies[0]).json["items"]
    same(len(sessions), 3, sessions)
    same(panel.admin("POST", "/auth/sign-out", headers=cookies[1]).status // 100, 2)
    same([panel.admin("GET", "/auth/session", headers=one).status for one in cookies], [200, 401, 200])
    panel.stop()
    panel.start()
    same(panel.admin("GET", "/auth/session", headers=cookies[0]).status, 200, "after a restart")


# --- Lists ---

def test_what_can_be_pasted(panel):
    """A link, an auth string, an id, a slot, a Telegram id: each finds its user and nobody else."""
    group = panel.group("All", panel.server())
    for number in range(5):
        panel.user(f"other{number}", telegram_id=100 + number, groups=[group["id"]])
    user = panel.user("anna", telegram_id=777000111, note="a note", groups=[group["id"]])
    line, = panel.lines(user["link"])
    auth = urllib.parse.urlsplit(line).username
    token = user["link"].rsplit("/", 1)[1]
    for text in (user["link"], user["link"] + "/plain", token, auth, line, user["id"], "777000111", "6.0", "6.255", "a note"):
        found = panel.api("GET", "/users?q=" + urllib.parse.quote(text, safe=""), status=200).json["items"]
        same([one["name"] for one in found], ["anna"], text)
    for text in ("A" * 22, "usr_" + "a" * 26, "999999.0", "nobody at all"):
        same(panel.api("GET", "/users?q=" + urllib.parse.quote(text, safe="")).json["items"], [], text)


def test_overview_counts_what_was_written(panel):
    """A script that writes and then asks is told what it wrote, however fresh the numbers were."""
    for number in range(1, 4):
        made = panel.user(f"u{number}")
        got = panel.api("GET", "/stats/overview", status=200).json
        check(got["revision"] >= made["revision"], got)
        same(got["users"]["total"], number)


def test_not_modified(panel):
    panel.user("anna")
    for path in ("/users", "/stats/overview", "/groups"):
        first = panel.api("GET", path, status=200)
        again = panel.api("GET", path, headers={"If-None-Match": first.header("ETag")})
        same((again.status, again.body), (304, b""), path)
    panel.group("New")
    changed = panel.api("GET", "/groups", headers={"If-None-Match": first.header("ETag")})
    same(changed.status, 200, "after a change")


def test_numbers_are_exact(panel):
    """64 bits, not a double's 53: what was sent comes back, and is not rounded on the way to anybody."""
    for value in (2**53 + 1, 2**60 + 1, 9007199254740993):
        user = panel.user(f"u{value}{panel.port}", quota_bytes=value)
        same(user["quota_bytes"], value)
        same(panel.api("GET", f"/users/{user['id']}").json["usage"]["left_bytes"], value)
        check(f"total={value};" in panel.get(user["link"]).header("subscription-userinfo"), value)
        panel.api("DELETE", f"/users/{user['id']}", status=200)


# --- Moving ---

def test_moving_to_another_address(panel):
    """Public URL and prefixes change while it runs; what was given out goes on as long as was said."""
    user = panel.user("anna", groups=[panel.group("All", panel.server())["id"]])
    old = panel.settings()
    panel.cli("settings", "set", "public_url=https://new.example.net", "sub_prefix=fresh", "admin_prefix=desk",
              "--old-prefix-keep", "2h")
    now = panel.settings()
    check(abs(now["old_sub_prefix_until_unix"] - time.time() - 7200) < 120, now)
    link = panel.cli("user", "link", "anna").strip()
    token = user["link"].rsplit("/", 1)[1]
    same(link, f"https://new.example.net/fresh/{token}")
    same([panel.get(f"/{prefix}/{token}").status for prefix in ("fresh", old["sub_prefix"])], [200, 200])
    same([panel.get(f"/{prefix}/api/v1/health").status for prefix in ("desk", old["admin_prefix"])], [200, 200])
    panel.stop()
    panel.start()
    same([panel.get(f"/{prefix}/{token}").status for prefix in ("fresh", old["sub_prefix"])], [200, 200], "after a restart")
    for setting in ("public_url=ftp://x", "sub_prefix=a/b", "sub_prefix=desk", "time_zone=Mars/Base", "admin_prefix="):
        done = panel.run("settings", "set", setting)
        same(done.returncode, 1, setting)
        check(setting.split("=")[0] in done.stderr, setting, done.stderr)
    after = panel.settings()
    same({key: after[key] for key in ("public_url", "sub_prefix", "admin_prefix", "time_zone")},
         {key: now[key] for key in ("public_url", "sub_prefix", "admin_prefix", "time_zone")}, "after refusals")


# --- The process ---

def test_only_the_owner_may_speak_to_it(panel):
    for name, mode in (("", 0o700), ("hythe.sock", 0o600), ("master.key", 0o600), ("hythe.db", 0o600), ("hythe.db-wal", 0o600)):
        same(oct(stat.S_IMODE((panel.data / name).stat().st_mode)), oct(mode), name or "the directory")
    words = pathlib.Path(f"/proc/{panel.process.pid}/cmdline").read_bytes()
    key = (panel.data / "master.key").read_bytes()
    check(key not in words and panel.settings()["admin_prefix"].encode() not in words, "a secret among the arguments")


def test_stops_while_it_is_busy(panel):
    """What was begun is answered, and five seconds are enough."""
    user = panel.user("anna")
    outcomes, stop = [], threading.Event()

    def write(number):
        for turn in range(5000):
            if stop.is_set():
                return
            try:
                answer = panel.control("POST", "/api/v1/users", {"name": f"w{number}-{turn}"})
                outcomes.append((f"w{number}-{turn}", answer.status))
            except (OSError, http.client.HTTPException):
                return

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    [thread.start() for thread in threads]
    until(lambda: len(outcomes) > 50, "writes")
    begun = time.monotonic()
    code = panel.stop(signal.SIGTERM)
    took = time.monotonic() - begun
    stop.set()
    [thread.join() for thread in threads]
    same(code, 0, "exit code")
    check(took < (20 if SANITIZED else 5), "seconds:", took)
    panel.start()
    names, cursor = set(), ""
    while cursor is not None:
        page = panel.api("GET", f"/users?limit=500{'&cursor=' + cursor if cursor else ''}", status=200).json
        names |= {one["name"] for one in page["items"]}
        cursor = page["next_cursor"]
    same({name for name, status in outcomes if status == 201} - names, set(), "acknowledged and lost")
    same(panel.get(user["link"]).status, 200)


def test_format_by_query(panel):
    user = panel.user("anna", groups=[panel.group("All", panel.server())["id"]])
    plain = panel.get(user["link"] + "/plain")
    same(panel.get(user["link"] + "?format=plain").body, plain.body)
    same(panel.get(user["link"] + "?format=base64").body, panel.get(user["link"]).body)
    same(panel.get(user["link"] + "/plain?format=base64").body, plain.body, "the path goes first")
    for query in ("?format=nonsense", "?format=", "?format=plain&format=plain"):
        same(panel.get(user["link"] + query).body, panel.get("/nothing").body, query)
    same(panel.get(user["link"] + "?utm=x").status, 200, "what apps and people append")


def test_wait_ms(panel):
    """No agent is there to confirm: the answer says so and does not wait longer than was allowed."""
    user = panel.user("anna")
    begun = time.monotonic()
    answer = panel.api("PATCH", f"/users/{user['id']}?wait_ms=200", {"note": "x"}, status=200)
    check(time.monotonic() - begun < 10, "waited")
    check(answer.json["revision"] >= user["revision"], answer)
    for value in ("-1", "x", "999999999"):
        refused = panel.api("PATCH", f"/users/{user['id']}?wait_ms={value}", {"note": "y"})
        same((refused.status // 100, refused.json["field"]), (4, "wait_ms"), value)
    same(panel.api("GET", f"/users/{user['id']}").json["note"], "x", "after refusals")


# --- What the file says ---

def rows(panel, sql):
    """The database as another process reads it, beside the running panel."""
    database = sqlite3.connect(f"file:{panel.data / 'hythe.db'}?mode=ro", uri=True, timeout=10)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def test_every_change_is_in_the_audit_log(fresh):
    """Who, from where, what, and what became of it; refusals too, and no secret."""
    fresh.setup().start("--trusted-proxy", "127.0.0.1").loose()
    token = fresh.make("/tokens", {"name": "script", "rights": ["users.read", "users.write"]})["token"]
    headers = {"Authorization": "Bearer " + token, "X-Forwarded-For": "203.0.113.7"}
    made = fresh.admin("POST", "/users", {"name": "anna", "credential": "Credential-Secret-42"}, headers)
    same(made.status, 201, made)
    target = made.json["id"]
    for method, path, body, status in (("PATCH", f"/users/{target}", {"note": "x"}, 200),
                                       ("POST", f"/users/{target}/disable", None, 200),
                                       ("POST", f"/users/{target}/rotate-link", None, 200),
                                       ("POST", "/users", {"name": "ANNA"}, 409), ("DELETE", f"/users/{target}", None, 200)):
        same(fresh.admin(method, path, body, headers).status, status, method, path)
    found = rows(fresh, "SELECT actor, address, action, target, result, detail FROM audit"
                        " WHERE address = '203.0.113.7' ORDER BY id")
    same([(row[3] or target, row[4]) for row in found],
         [(target, "ok")] * 4 + [(target, "name_taken"), (target, "ok")], found)
    check(all(row[0] not in ("", "control") and row[2] for row in found), found)
    same(len({row[0] for row in found}), 1, "one actor")
    text = str(rows(fresh, "SELECT * FROM audit")) + str(rows(fresh, "SELECT * FROM event"))
    for secret in ("Credential-Secret-42", token, PASSWORD, "hyt_"):
        check(secret not in text, "a secret in the audit log")


def test_the_database_as_it_lies_there(panel):
    """Strict tables, sound references, and nothing open that is a secret."""
    server = panel.server(obfs="salamander", obfs_password="Obfs-Secret-42", server={
        "outbounds": [{"name": "a", "type": "socks5", "addr": "b.example.net:1080", "username": "u", "password": "Socks-Secret-42"}]})
    group = panel.group("All", server)
    user = panel.user("anna", groups=[group["id"]], credential="Credential-Secret-42")
    token = panel.make("/tokens", {"name": "script", "rights": ["users.read"]})["token"]
    cookie = sign_in(panel, OWNER, PASSWORD).header("Set-Cookie").split(";")[0].split("=", 1)[1]
    idempotent = panel.api("POST", "/users", {"name": "berta", "credential": "Other-Secret-42"}, {"Idempotency-Key": "k"}, status=201)
    panel.api("POST", f"/users/{user['id']}/rotate-credential", {"keep_s": 60}, status=200)
    same(rows(panel, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0"
                     " AND name NOT LIKE 'sqlite_%'"), [], "tables that are not strict")
    same(rows(panel, "PRAGMA journal_mode"), [("wal",)])
    panel.stop()
    same(rows(panel, "PRAGMA integrity_check"), [("ok",)])
    same(rows(panel, "PRAGMA foreign_key_check"), [])
    secrets = ["Obfs-Secret-42", "Socks-Secret-42", "Credential-Secret-42", "Other-Secret-42", token, cookie, PASSWORD,
               user["link"].rsplit("/", 1)[1], idempotent.json["link"].rsplit("/", 1)[1]]
    for path in panel.data.iterdir():
        if path.is_file():
            held = path.read_bytes()
            for secret in secrets:
                check(secret.encode() not in held, path.name, "holds", secret)


def test_hostile_command_lines(panel):
    """A clear refusal, exit code 2 for usage and 1 for what the panel refuses; nothing changed."""
    panel.user("anna")
    before = panel.api("GET", "/users").json
    for words, code in (("user add", 2), ("user add a b", 2), ("user frobnicate", 2), ("user add x --quota 5XB", 2),
                        ("user add x --quota -5GB", 2), ("user add x --expires-in 5y6", 2), ("user add x --expires 2026-13-01", 2),
                        ("user add x --quota 99999999999999999999GB", 2), ("user add x --meta {", 2), ("user add x --enabled maybe", 2),
                        ("user add x --groups Nobody", 1), ("user add x --quota-period fortnight", 1), ("user list --limit 0", 1),
                        ("user show nobody", 1), ("user extend anna", 2), ("token add t --rights flying", 1),
                        ("user add x --note a --note b", 2), ("user add x --quota", 2)):
        done = panel.run(*shlex.split(words))
        same(done.returncode, code, words, done.stdout, done.stderr)
        check(done.stderr.startswith("hythe: ") and len(done.stderr) < 400, words, done.stderr)
    same(panel.api("GET", "/users").json, before, "something changed")


def test_setup_on_a_terminal(fresh):
    """What is not said by flags is asked for; a password is not shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(PROGRAM, [PROGRAM, "setup", "--data-dir", str(fresh.data), "--owner", OWNER], {**os.environ, "TZ": "Europe/Berlin"})
    shown = b""

    def heard(text):
        nonlocal shown
        end = time.monotonic() + PATIENCE
        while text not in shown:
            check(time.monotonic() < end, "never asked:", text, shown)
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 4096)

    try:
        heard(b"Public URL")
        os.write(terminal, fresh.url.encode() + b"\n")
        heard(b"Time zone")
        os.write(terminal, b"Asia/Tokyo\n")
        heard(b"assword")
        os.write(terminal, PASSWORD.encode() + b"\n")
        end = time.monotonic() + PATIENCE
        again = 0
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    piece = os.read(terminal, 4096)
                except OSError:
                    break  # it has ended
                shown += piece
                if b"gain" in piece and not again:
                    again = os.write(terminal, PASSWORD.encode() + b"\n")
                if not piece:
                    break
    finally:
        status = os.waitpid(child, 0)[1]
        os.close(terminal)
    same(os.waitstatus_to_exitcode(status), 0, shown)
    check(PASSWORD.encode() not in shown, "the password was shown", shown)
    fresh.start().loose()
    same([fresh.settings()[key] for key in ("public_url", "time_zone")], [fresh.url, "Asia/Tokyo"])
    same(sign_in(fresh, OWNER, PASSWORD).status, 200)


def test_status_is_whole_or_nothing(fresh):
    """Half of an object is no JSON: when the second of its two calls fails, `status --json` prints the fault."""
    fresh.data.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(fresh.data / "hythe.sock"))
        server.listen()

        def serve():
            for answer in (b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n'
                           b'Connection: close\r\n\r\n{"status":"ok"}',
                           b'HTTP/1.1 503 Busy\r\nContent-Type: application/problem+json\r\nContent-Length: 15\r\n'
                           b'Connection: close\r\n\r\n{"code":"busy"}'):
                client, _ = server.accept()
                with client:
                    client.recv(4096)
                    client.sendall(answer)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        done = fresh.run("status", "--json")
        thread.join(20)
    check(done.returncode == 1 and "health" not in done.stdout, done.stdout, done.stderr)
