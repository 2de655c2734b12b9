"""The public listener against strangers: floods, slow requests, forged addresses, a full disk."""
import http.client
import resource
import socket
import threading
import time

from harness import PATIENCE, SANITIZED, check, free_port, same, until


def connect(panel):
    return socket.create_connection(("127.0.0.1", panel.port), timeout=PATIENCE)


def test_network_bucket(fresh):
    fresh.setup().start("--trusted-proxy", "127.0.0.1")
    fresh.api("PATCH", "/settings", {"network_burst": 5, "network_per_s": 1}, status=200)

    def ask(address, path="/x"):
        return fresh.get(path, headers={"X-Forwarded-For": address})

    answers = [ask("198.51.100.7") for _ in range(20)]
    statuses = [answer.status for answer in answers]
    same(set(statuses), {404, 429}, statuses)
    limited = next(answer for answer in answers if answer.status == 429)
    check(int(limited.header("Retry-After")) >= 1, limited.headers)
    same(limited.header("Content-Type"), answers[0].header("Content-Type"), "in the decoy's style")
    same(ask("198.51.100.8").status, 404, "another network")
    same([ask(f"2001:db8:1:2::{n}").status for n in range(9)][-1], 429, "one IPv6 /64")
    same(ask("2001:db8:1:3::1").status, 404, "another /64")
    # Whoever forges addresses in front of the proxy's own is counted by the one that the proxy saw.
    forged = [fresh.get("/x", headers={"X-Forwarded-For": f"203.0.113.{n}, 198.51.100.9"}).status for n in range(20)]
    check(429 in forged, forged)
    # Guessing prefixes is not faster under the right one: an empty bucket closes that too.
    prefix = fresh.settings()["admin_prefix"]
    same(ask("198.51.100.9", f"/{prefix}/api/v1/health").status, 429, "the admin's address")
    same(ask("198.51.100.10", f"/{prefix}/api/v1/health").status, 200, "from elsewhere")


def test_header_without_proxy_is_nothing(fresh):
    fresh.setup().start()
    fresh.api("PATCH", "/settings", {"network_burst": 5, "network_per_s": 1}, status=200)
    statuses = [fresh.get("/x", headers={"X-Forwarded-For": f"203.0.113.{n}"}).status for n in range(20)]
    check(429 in statuses, statuses)


def test_half_open_connections(panel):
    """1,100 half-sent headers stop nobody (the library alone would be full at about 1,020)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    half = []
    try:
        for _ in range(1100):
            one = connect(panel)
            one.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nX-A")
            half.append(one)
        user = panel.user("anna")
        for _ in range(50):
            same(panel.get("/x").status, 404)
            same(panel.get(user["link"]).status, 200)
    finally:
        for one in half:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    same(panel.get("/x").status, 404, "afterwards")


def test_slow_requests_are_closed(panel):
    """A byte now and then does not move the deadline (10 s)."""
    silent, dribbling, body = connect(panel), connect(panel), connect(panel)
    silent.sendall(b"GET / HTTP/1.1\r\n")
    dribbling.sendall(b"GET / HTTP/1.1\r\nX-A: ")
    prefix = panel.settings()["admin_prefix"].encode()
    body.sendall(b"POST /" + prefix + b"/api/v1/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 b"Content-Length: 100\r\n\r\n{")
    begun = time.monotonic()
    open_ones = {silent, dribbling, body}
    for one in open_ones:
        one.settimeout(0.25)
    while open_ones and time.monotonic() - begun < PATIENCE + 15:
        for one in list(open_ones):
            try:
                if one is dribbling:
                    one.sendall(b"a")
                if one.recv(4096) == b"":
                    open_ones.discard(one)
            except TimeoutError:
                pass
            except OSError:
                open_ones.discard(one)
        same(panel.get("/x").status, 404, "meanwhile")
    check(not open_ones, len(open_ones), "are still open")


test_slow_requests_are_closed.slow = True


NONE = (b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"x" * 20000 + b"\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        b"\x00" * 100, b"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n")


def rest_of(one):
    got = b""
    try:
        while piece := one.recv(65536):
            got += piece
    except OSError:
        pass  # closed on us, which is an answer too
    return got


def test_requests_that_are_none(panel):
    """Whatever is sent, the panel goes on, and no library says its name."""
    sent = []
    for text in NONE:
        one = connect(panel)
        try:
            one.sendall(text)
            one.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        sent.append((text, one))
        same(panel.get("/x").status, 404, "after", text[:60])
    for text, one in sent:
        got = rest_of(one)
        one.close()
        check(b"icrohttpd" not in got and b"ythe" not in got, text[:60], got)


def test_oversized_bodies(panel):
    prefix = panel.settings()["admin_prefix"]
    want = panel.get("/x")
    for path in ("/x", f"/{panel.settings()['sub_prefix']}/x"):
        answer = panel.get(path, "POST", b"x" * (1 << 20))
        same((answer.status, answer.body), (want.status, want.body), path)
    answer = panel.get(f"/{prefix}/api/v1/auth/sign-in", "POST", b'{"a":"' + b"x" * (5 << 20) + b'"}')
    same((answer.status, answer.json["code"]), (413, "body_too_large"), answer)


def test_keep_alive(panel):
    user = panel.user("anna")
    connection = http.client.HTTPConnection("127.0.0.1", panel.port, timeout=PATIENCE)
    connection.connect()
    first = connection.sock
    for path in ["/x", "/" + user["link"].split("/", 3)[3]] * 20:
        connection.request("GET", path)
        connection.getresponse().read()
        check(connection.sock is first, "the connection was closed after", path)
    connection.close()


def test_links_while_the_admin_is_busy(panel):
    """Requests of the public listener wait for no admin request."""
    link = panel.user("anna")["link"]
    stop = threading.Event()
    faults = []

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            answer = panel.api("POST", "/users", {"name": f"{threading.get_ident()}-{number}"})
            if answer.status not in (201, 503):
                faults.append(answer)

    threads = [threading.Thread(target=write) for _ in range(4)]
    [thread.start() for thread in threads]
    try:
        for _ in range(100 if SANITIZED else 300):
            same(panel.get(link).status, 200)
    finally:
        stop.set()
        [thread.join() for thread in threads]
    same(faults, [], "faults")


def test_disk_full(fresh):
    """Nothing is acknowledged that is not there; when there is room again, the panel goes on."""
    fresh.setup()
    fresh.start().loose()
    pid = fresh.process.pid
    unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    largest = max(path.stat().st_size for path in fresh.data.iterdir())
    # The database's log cannot grow beyond this. The error is EFBIG, an I/O error to SQLite, and not the
    # ENOSPC of a disk that is really full: that one (507) needs a file system of its own.
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + 65536, unlimited[1]))
    acknowledged, refused = [], None
    for number in range(3000):
        answer = fresh.api("POST", "/users", {"name": f"u{number}", "note": "x" * 2000})
        if answer.status == 201:
            acknowledged.append(answer.json["name"])
        else:
            refused = answer
            break
    check(refused is not None and refused.status in (500, 503, 507), "the disk never got full;", refused)
    same(fresh.api("GET", "/users?limit=1").status, 200, "reading goes on")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
    until(lambda: fresh.api("POST", "/users", {"name": "after"}).status == 201, "room again")
    fresh.process.kill()
    fresh.wait()
    fresh.start()
    same(fresh.api("GET", "/users?total=1").json["total"], len(acknowledged) + 1, "after a restart")


def test_secrets_stay_out_of_the_log(fresh):
    fresh.setup().start("--log-level", "debug").loose()
    group = fresh.group("All", fresh.server(obfs="salamander"))
    user = fresh.user("anna", groups=[group["id"]])
    settings = fresh.settings()
    for path in (user["link"], user["link"] + "?x", f"/{settings['sub_prefix']}/{'A' * 22}"):
        fresh.get(path)
    password = fresh.api("GET", "/profiles").json["items"][0]["obfs_password"]
    auth = fresh.lines(user["link"])[0].split("//")[1].split("@")[0]
    fresh.stop()
    log = fresh.log.read_text()
    for secret in (user["link"].rsplit("/", 1)[1], password, auth, settings["sub_prefix"], settings["admin_prefix"]):
        check(secret not in log, "a secret stands in the log")


def test_b146_bounded_log(panel):
    before = panel.log.stat().st_size
    for number in range(400):
        panel.get("/x" + str(number))
        panel.admin("GET", "/users", headers={"Authorization": "Bearer hyt_" + "A" * 43}) if number % 4 == 0 else None
    check(panel.log.stat().st_size - before < 40000, "bytes:", panel.log.stat().st_size - before)


def test_unknown_paths_under_the_prefix(panel):
    """Under the admin's prefix only the API answers like one: anything else is any unknown path, with a body
    of whatever length too, on the public listener and on the admin's own."""
    prefix = panel.settings()["admin_prefix"]
    decoy = panel.get("/nothing")
    for path in ("/nope", "/setup/wrong", "/setup/" + "A" * 43, "/api/v2/users", "/api/v1" + "x" * 600):
        for size in (0, 5, 5000, 100000):
            answer = panel.get(f"/{prefix}{path}", "POST", b"x" * size)
            same((answer.status, answer.body, answer.header("Content-Type")),
                 (decoy.status, decoy.body, decoy.header("Content-Type")), path, size)
    too_large = panel.get(f"/{prefix}/api/v1/users", "POST", b"x" * 100000)
    same((too_large.status, too_large.json["code"]), (413, "body_too_large"))


def test_unknown_paths_of_the_admin_listener(fresh):
    fresh.setup()
    port = free_port()
    fresh.start("--admin-listen", f"127.0.0.1:{port}").loose()
    decoy = fresh.get("/nothing")
    fresh.port = port
    for size in (0, 5, 100000):
        answer = fresh.get("/nope", "POST", b"x" * size)
        same((answer.status, answer.body), (decoy.status, decoy.body), size)
    same(fresh.get("/api/v1/users", "POST", b"x" * 100000).json["code"], "body_too_large")
