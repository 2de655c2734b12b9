#!/usr/bin/env python3
"""Hythe's figures, each beside something measured in the same run. `make bench`; see bench/README.md.

    bench/run.py [--only NAME[,NAME]] [--users N]

Nothing here passes or fails: the figures are for reading, and ratios travel better than times.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from panel import (Panel, ROOT, add_users, cpu_s, free_port, no_limits, private_mib, serve_something)  # noqa: E402


def say(name, text):
    print(f"{name:<28} {text}", flush=True)


def fdatasync_s(directory, rounds=100):
    """The disk's own fdatasync of a 4 KiB append, median seconds."""
    times = []
    with open(os.path.join(directory, "probe"), "wb", buffering=0) as f:
        for _ in range(rounds):
            f.write(b"x" * 4096)
            begun = time.perf_counter()
            os.fdatasync(f.fileno())
            times.append(time.perf_counter() - begun)
    os.unlink(os.path.join(directory, "probe"))
    return statistics.median(times)


def new_panel(work, name, wrap=()):
    data = os.path.join(work, name, "data")
    os.makedirs(os.path.dirname(data))
    panel = Panel(data, wrap)
    panel.setup()
    return panel


def link_of(api, number=0):
    users = api("GET", f"/users?q=user{number:06d}&limit=1")["items"]
    return api("GET", f"/users/{users[0]['id']}/link")["link"]


def bare_server(work, link):
    """A bare libmicrohttpd with the bytes and headers of the link's answer."""
    with urllib.request.urlopen(link) as answer:
        body, headers = answer.read(), answer.headers
    with open(os.path.join(work, "body"), "wb") as f:
        f.write(body)
    with open(os.path.join(work, "headers"), "w") as f:
        for key, value in headers.items():
            if key.lower() not in ("date", "content-length", "connection"):
                f.write(f"{key}: {value}\n")
    program = os.path.join(ROOT, "build", "bare_mhd")
    subprocess.run(["cc", "-O2", "-o", program, os.path.join(ROOT, "bench", "bare_mhd.c"), "-lmicrohttpd",
                    "-lpthread"], check=True)
    port = free_port()
    begun = time.perf_counter()
    process = subprocess.Popen([program, str(port), str(min(os.cpu_count() or 1, 4)), os.path.join(work, "body"),
                                os.path.join(work, "headers")])
    wait_for(port)
    return process, port, time.perf_counter() - begun


def wait_for(port):
    for _ in range(50000):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/x", timeout=2).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.0002)
    raise RuntimeError("no answer")


def nginx_server(work, link):
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.path.exists(program):
        return None, 0
    port, root = free_port(), os.path.join(work, "nginx")
    os.makedirs(root)
    shutil.copy(os.path.join(work, "body"), os.path.join(root, "x"))
    config = os.path.join(work, "nginx.conf")
    with open(config, "w") as f:
        f.write(f"""daemon off; worker_processes {min(os.cpu_count() or 1, 4)}; pid {work}/nginx.pid;
error_log {work}/nginx.log; events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 1000000; open_file_cache max=10;
server {{ listen 127.0.0.1:{port}; root {root}; }} }}
""")
    os.chmod(work, 0o755)
    process = subprocess.Popen([program, "-c", config], stderr=subprocess.DEVNULL)
    wait_for(port)
    return process, port


def load(url, seconds=4, connections=16, script=None):
    """wrk with keep-alive: requests done, and how many were not 2xx."""
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"] +
                         (["-s", script] if script else []) + [url], check=True,
                         capture_output=True, text=True).stdout
    done = int(re.search(r"(\d+) requests in", out).group(1))
    other = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    p99 = re.search(r"99%\s+(\S+)", out)
    return done, int(other.group(1)) if other else 0, p99.group(1) if p99 else "?"


def cpu_per_request(pid, url, script=None):
    """Microseconds of the server's CPU per request; nginx's workers are counted with their master."""
    pids = [pid] + [int(p) for p in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True,
                                                   text=True).stdout.split()]
    load(url, 1, script=script)
    before = sum(cpu_s(p) for p in pids)
    done, other, p99 = load(url, script=script)
    return (sum(cpu_s(p) for p in pids) - before) / done * 1e6, done, other, p99


DISTINCT = 20000  # links fetched in turn: far more than the render cache holds


def one_after_another(work, api, link):
    """A wrk script that asks for each user's link in turn."""
    prefix = "/" + link.split("/")[3] + "/"
    tokens, cursor = [], ""
    while len(tokens) < DISTINCT:
        page = api("GET", f"/users?limit=500{cursor}")
        tokens += [user["link"].rsplit("/", 1)[1] for user in page["items"]]
        if not page.get("next_cursor"):
            break
        cursor = "&cursor=" + page["next_cursor"]
    paths = os.path.join(work, "paths")
    with open(paths, "w") as f:
        f.write("\n".join(prefix + token for token in tokens))
    script = os.path.join(work, "links.lua")
    with open(script, "w") as f:
        f.write(f"""local paths, i = {{}}, 0
for line in io.lines("{paths}") do paths[#paths + 1] = line end
request = function() i = i % #paths + 1; return wrk.format("GET", paths[i]) end
""")
    return script


def bench_start(work, _):
    panel = new_panel(work, "start")
    panel.start()
    api = panel.api()
    no_limits(api)
    add_users(api, serve_something(api), 200)
    link = link_of(api)
    bare, _port, bare_s = bare_server(work, link)
    bare.terminate()
    bare.wait()
    panel.stop()
    times = []
    path = "/" + link.split("/", 3)[3]
    for _ in range(11):
        times.append(panel.start(path, b" 200 "))
        panel.stop()
    ours = statistics.median(times)
    say("cold start, 200 users", f"{ours * 1e3:.1f} ms to the first 200 of a link; {ours / bare_s:.1f} x a bare libmicrohttpd")


def bench_memory(work, args):
    panel = new_panel(work, "memory")
    panel.start()
    have, group = 0, serve_something(panel.api())
    for users in (0, 1000, args.users):
        api = panel.api()
        add_users(api, group, users - have, have)
        have = users
        panel.stop()
        panel.start()
        panel.api()
        say(f"memory, {users} users", f"{panel.private_mib():.2f} MiB private, idle after start")
    panel.stop()


def bench_link(work, _):
    panel = new_panel(work, "link")
    panel.start()
    api = panel.api()
    no_limits(api)
    add_users(api, serve_something(api, 5), DISTINCT)
    link = link_of(api)
    script = one_after_another(work, api, link)
    bare, bare_port, _ = bare_server(work, link)
    nginx, nginx_port = nginx_server(work, link)
    try:
        base = cpu_per_request(bare.pid, f"http://127.0.0.1:{bare_port}/x")
        ours = cpu_per_request(panel.process.pid, link)
        say("bare libmicrohttpd", f"{base[0]:.2f} us CPU a request ({base[1]} requests)")
        say("cached link", f"{ours[0]:.2f} us CPU a request ({ours[1]} requests, {ours[2]} not 200, p99 {ours[3]}): "
            f"{ours[0] / base[0]:.2f} x bare, {ours[0] - base[0]:+.2f} us")
        if nginx:
            other = cpu_per_request(nginx.pid, f"http://127.0.0.1:{nginx_port}/x")
            say("nginx, the same bytes", f"{other[0]:.2f} us CPU a request ({other[1]} requests); "
                f"the cached link is {ours[0] / other[0]:.2f} x nginx")
        fresh = cpu_per_request(panel.process.pid, link, script)
        say("uncached link", f"{fresh[0]:.2f} us CPU a request ({fresh[1]} requests over {DISTINCT} links, "
            f"{fresh[2]} not 200, p99 {fresh[3]}): {fresh[0] / base[0]:.2f} x bare")
        say("memory under that load", f"{panel.private_mib():.2f} MiB private")
        missing = cpu_per_request(panel.process.pid, f"http://127.0.0.1:{panel.port}/nothing/here")
        say("unknown path (404)", f"{missing[0]:.2f} us CPU a request: {missing[0] / base[0]:.2f} x bare")
        api("PATCH", "/settings", {"network_burst": 60})
        refused = cpu_per_request(panel.process.pid, link)
        say("refused link (429)", f"{refused[0]:.2f} us CPU a request ({refused[2]} of {refused[1]} refused): "
            f"{refused[0] / base[0]:.2f} x bare, {refused[0] - base[0]:+.2f} us")
    finally:
        for process in (bare, nginx):
            if process:
                process.terminate()
                process.wait()
        panel.stop()


def bench_users(work, _):
    panel = new_panel(work, "users")
    panel.start()
    api = panel.api()
    group = serve_something(api)
    sync = fdatasync_s(work)
    begun = time.perf_counter()
    for i in range(1000):
        api("POST", "/users", {"name": f"single{i}", "groups": [group]})
    one = time.perf_counter() - begun
    begun = time.perf_counter()
    add_users(api, group, 1000)
    bulk = time.perf_counter() - begun
    say("the disk's fdatasync", f"{sync * 1e6:.0f} us (4 KiB append, median)")
    say("1,000 users one by one", f"{one:.2f} s: {one / (1000 * sync):.2f} x 1,000 fdatasyncs, "
        f"{one - 1000 * sync:+.2f} s beyond them")
    say("1,000 users in one call", f"{bulk * 1e3:.0f} ms: {one / bulk:.0f} times less than one by one")
    panel.stop()


def instructions(panel, run, count):
    """Instructions a call, by callgrind: counters cleared, `count` calls, counters read."""
    control = ["callgrind_control"]
    pid = str(panel.process.pid)
    subprocess.run(control + ["-z", pid], check=True, capture_output=True)
    for i in range(count):
        run(i)
    folder = os.path.dirname(panel.data)
    known = set(os.listdir(folder))
    subprocess.run(control + ["-d", pid], check=True, capture_output=True)
    total = 0
    for name in set(os.listdir(folder)) - known:
        if name.startswith("callgrind.out"):
            with open(os.path.join(folder, name)) as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith("totals:"))
    return total / count


def bench_instructions(work, _):
    folder = os.path.join(work, "instructions")
    panel = new_panel(work, "instructions", ["valgrind", "--tool=callgrind", "-q",
                                             f"--callgrind-out-file={folder}/callgrind.out.%p"])
    panel.start()
    api = panel.api()
    no_limits(api)
    add_users(api, serve_something(api, 5), 1000)
    links = [link_of(api, i) for i in range(210)]
    users = [u["id"] for u in api("GET", "/users?limit=100")["items"]]
    import http.client
    client = http.client.HTTPConnection("127.0.0.1", panel.port)

    def get(link, want):
        client.request("GET", link.split(str(panel.port), 1)[1])
        answer = client.getresponse()
        answer.read()
        assert answer.status == want, answer.status

    get(links[0], 200)
    for i in range(200, 210):
        get(links[i], 200)
    rows = [("uncached subscription", lambda i: get(links[i + 1], 200), 150),
            ("cached subscription", lambda i: get(links[0], 200), 200)]
    for name, run, count in rows:
        run(0)
        say(name, f"{instructions(panel, run if count == 200 else lambda i: run(i + 1), count):,.0f} instructions")
    say("list page of 50 users", f"{instructions(panel, lambda i: api('GET', '/users?limit=50'), 50):,.0f} instructions")
    say("user change", f"{instructions(panel, lambda i: api('PATCH', '/users/' + users[i], {'note': f'n{i}'}), 50):,.0f}"
        " instructions")
    api("PATCH", "/settings", {"network_burst": 1, "network_per_s": 1})
    client.close()  # it was idle for too long
    client.request("GET", "/x")
    client.getresponse().read()
    say("refused subscription", f"{instructions(panel, lambda i: get(links[0], 429), 200):,.0f} instructions")
    panel.stop()


def bench_list(work, args):
    """Pages of the users' list: every sort, direction and filter, processor time of one page each."""
    program = os.path.join(ROOT, "build", "release", "bench", "user_list")
    if not os.path.exists(program):
        say("list pages", "not measured: `make bench` builds build/release/bench/user_list")
        return
    done = subprocess.run([program, str(args.users), work], capture_output=True, text=True)
    pages = sorted((int(m[2]), m[1]) for m in
                   re.finditer(r"^(.+?)\s+first\s+\d+ us, then\s+(\d+) us", done.stdout, re.M))
    over = sum(us > 20000 for us, _ in pages)
    say(f"list pages, {args.users} users", f"{len(pages)} kinds with total: median {pages[len(pages) // 2][0] / 1e3:.1f} ms, "
        f"slowest {pages[-1][0] / 1e3:.1f} ms ({pages[-1][1].strip()}), {over} over 20 ms")
    overview = re.search(r"overview: (\d+) us", done.stdout)
    say("overview", f"{int(overview[1]) / 1e3:.1f} ms when computed anew")


BENCHES = {"start": bench_start, "memory": bench_memory, "link": bench_link, "users": bench_users, "list": bench_list,
           "instructions": bench_instructions}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default=",".join(BENCHES))
    options.add_argument("--users", type=int, default=100000)
    args = options.parse_args()
    for name in args.only.split(","):
        work = tempfile.mkdtemp(prefix="hythe-bench-", dir=os.environ.get("BENCH_DIR", "/var/tmp"))
        try:
            BENCHES[name](work, args)
        finally:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
