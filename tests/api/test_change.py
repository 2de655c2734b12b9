"""A change that was acknowledged is in the very next answer, and survives the end of the process."""
import base64
import http.client
import json
import threading
import time
import urllib.parse

from harness import PATIENCE, PASSWORD, SANITIZED, UnixConnection, ask, check, same, until
from kill import Writer

ROUNDS = 200 if SANITIZED else 2000
SECONDS = 60  # a slow disk ends the loop sooner, with fewer rounds


class Kept:
    """One connection for many calls."""

    def __init__(self, connection):
        self.connection = connection

    def __call__(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None,
                                {"Content-Type": "application/json"} if body is not None else {})
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()


class Fetchers:
    """People's apps that ask for the same link all the time, so that a render is under way or kept whenever
    something changes."""

    def __init__(self, panel, link):
        self.panel, self.link, self.over = panel, link, False
        self.threads = [threading.Thread(target=self.run) for _ in range(2)]
        for thread in self.threads:
            thread.start()

    def run(self):
        fetch = Kept(http.client.HTTPConnection("127.0.0.1", self.panel.port, timeout=PATIENCE))
        while not self.over:
            fetch("GET", urllib.parse.urlsplit(self.link).path)

    def end(self):
        self.over = True
        for thread in self.threads:
            thread.join()


def test_change_is_in_the_very_next_answer(panel):
    server = panel.server()
    group, other = panel.group("All", server), panel.group("None")
    user = panel.user("anna", groups=[group["id"]])
    api = Kept(UnixConnection(str(panel.data / "hythe.sock")))
    fetch = Kept(http.client.HTTPConnection("127.0.0.1", panel.port, timeout=PATIENCE))
    fetchers = Fetchers(panel, user["link"])

    def change(method, path, body=None):
        status, _, text = api(method, "/api/v1" + path, body)
        check(status in (200, 201), method, path, status, text)
        return json.loads(text)

    def lines():
        status, headers, body = fetch("GET", urllib.parse.urlsplit(fetchers.link).path)
        same(status, 200, "the link")
        return headers, base64.b64decode(body, validate=True).decode().splitlines()

    def is_stub():
        return "@0.0.0.0:" in lines()[1][0]

    def enabled(n):
        change("POST", f"/users/{user['id']}/disable")
        check(is_stub(), "disabled")
        change("POST", f"/users/{user['id']}/enable")
        check(not is_stub(), "enabled")

    def groups(n):
        change("PATCH", f"/users/{user['id']}", {"groups": [other["id"]]})
        check(is_stub(), "without a group that opens a server")
        change("PATCH", f"/users/{user['id']}", {"groups": [group["id"]]})
        check(not is_stub(), "with it again")

    def access(n):
        change("PATCH", f"/groups/{group['id']}", {"access": []})
        check(is_stub(), "a group without access")
        change("PATCH", f"/groups/{group['id']}", {"access": [{"profile": server["profile"]["id"], "nodes": "all"}]})
        check(not is_stub(), "a group with access")

    def link(n):
        before, fetchers.link = fetchers.link, change("POST", f"/users/{user['id']}/rotate-link")["link"]
        same(fetch("GET", urllib.parse.urlsplit(before).path)[0], 404, "the old link")
        check(not is_stub(), "the new link")

    def credential(n):
        before = lines()[1]
        change("POST", f"/users/{user['id']}/rotate-credential")
        check(lines()[1] != before, "the credential")

    def node(n):
        change("PATCH", f"/nodes/{server['node']['id']}", {"address": f"n{n}.example.net", "name": f"Node {n}"})
        line, = lines()[1]
        check(f"@n{n}.example.net:" in line and line.endswith(f"Node%20{n}"), line)

    def profile(n):
        change("PATCH", f"/profiles/{server['profile']['id']}", {"port": 1024 + n})
        check(f":{1024 + n}/" in lines()[1][0], "the port")

    def inbound(n):
        change("PATCH", f"/inbounds/{server['inbound']['id']}", {"enabled": False})
        check(is_stub(), "the inbound is off")
        change("PATCH", f"/inbounds/{server['inbound']['id']}", {"enabled": True})
        check(not is_stub(), "the inbound is on")

    def quota(n):
        change("PATCH", f"/users/{user['id']}", {"quota_bytes": 10**9 + n})
        check(f"total={10**9 + n};" in lines()[0]["subscription-userinfo"], "the quota")

    def title(n):
        change("PATCH", "/settings", {"title": f"Title {n}"})
        same(lines()[0]["profile-title"], "base64:" + base64.b64encode(f"Title {n}".encode()).decode(), "the title")

    def prefix(n):
        change("PATCH", "/settings", {"sub_prefix": f"prefix-{n:016}", "old_prefix_keep_s": 0})
        before = urllib.parse.urlsplit(fetchers.link).path
        fetchers.link = change("GET", f"/users/{user['id']}/link")["link"]
        same(fetch("GET", before)[0], 404, "the old prefix")
        check(not is_stub(), "the new prefix")

    def overview(n):
        before = change("GET", "/stats/overview")["users"]["total"]
        made = change("POST", "/users", {"name": f"guest {n}"})
        same(change("GET", "/stats/overview")["users"]["total"], before + 1, "one more in the overview")
        change("DELETE", f"/users/{made['id']}")
        same(change("GET", "/stats/overview")["users"]["total"], before, "one less in the overview")

    kinds = (enabled, groups, access, link, credential, node, profile, inbound, quota, title, prefix, overview)
    end = time.monotonic() + SECONDS
    try:
        for n in range(ROUNDS // 2):  # most rounds are two changes
            if time.monotonic() > end:
                check(n >= len(kinds), "hardly anything was tried")
                break
            kinds[n % len(kinds)](n)
    finally:
        fetchers.end()


def test_token_and_session_end_at_once(panel):
    """Who may not any more is told so by the very next answer."""
    for _ in range(40):
        made = panel.make("/tokens", {"name": "t", "rights": ["users.read"]})
        auth = {"Authorization": f"Bearer {made['token']}"}
        same(panel.admin("GET", "/users", headers=auth).status, 200, "a new token")
        panel.api("DELETE", f"/tokens/{made['id']}", status=200)
        same(panel.admin("GET", "/users", headers=auth).status, 401, "an ended token")
    helper = panel.make("/admins", {"name": "helper", "role": "helper", "password": PASSWORD})
    signed = panel.admin("POST", "/auth/sign-in", {"name": "helper", "password": PASSWORD})
    cookie = {"Cookie": signed.header("Set-Cookie").split(";")[0]}
    for _ in range(20):
        same(panel.admin("GET", "/users", headers=cookie).status, 200, "signed in")
        same(panel.admin("GET", "/settings", headers=cookie).status, 403, "a helper")
        panel.api("PATCH", f"/admins/{helper['id']}", {"role": "owner"}, status=200)
        same(panel.admin("GET", "/settings", headers=cookie).status, 200, "an owner")
        panel.api("PATCH", f"/admins/{helper['id']}", {"role": "helper"}, status=200)
    panel.api("PATCH", f"/admins/{helper['id']}", {"enabled": False}, status=200)
    same(panel.admin("GET", "/users", headers=cookie).status, 401, "disabled")


def test_stop_under_load(fresh):
    """SIGTERM among writes and fetches: it ends, and what was acknowledged is there."""
    fresh.setup()
    for number in range(3):
        fresh.start().loose()
        writers = [Writer(fresh, f"s{number}w{index}", number * 10 + index) for index in range(4)]
        over = threading.Event()

        def fetch():
            while not over.is_set():
                try:
                    fresh.get("/nothing")
                except (OSError, http.client.HTTPException, AttributeError):
                    return  # the end

        fetchers = [threading.Thread(target=fetch) for _ in range(2)]
        for thread in writers + fetchers:
            thread.start()
        until(lambda: sum(len(writer.known) for writer in writers) >= 40, "some writes")
        same(fresh.stop(), 0, "exit code")
        over.set()
        for thread in writers + fetchers:
            thread.join()
        for writer in writers:
            if writer.fault:
                raise writer.fault
        fresh.start()
        for writer in writers:
            writer.verify()
        same(fresh.stop(), 0, "exit code afterwards")
