"""A panel started for measuring: a data directory of its own, the control socket, figures from /proc."""
import http.client
import json
import os
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HYTHE = os.environ.get("HYTHE_BINARY", os.path.join(ROOT, "build", "hythe"))


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Api:
    """The admin API over the control socket, on one kept connection."""

    def __init__(self, path):
        self.connection, self.last = UnixHTTP(path), time.monotonic()

    def __call__(self, method, path, body=None):
        if time.monotonic() - self.last > 5:  # the panel closes idle connections
            self.connection.close()
        self.last = time.monotonic()
        data = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        self.connection.request(method, "/api/v1" + path, data, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text) if text else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Panel:
    def __init__(self, data, wrap=()):
        self.data, self.wrap, self.process = data, list(wrap), None
        self.port = free_port()
        self.socket = os.path.join(data, "hythe.sock")

    def setup(self):
        subprocess.run([HYTHE, "setup", "--data-dir", self.data, "--time-zone", "UTC",
                        "--public-url", f"http://127.0.0.1:{self.port}"],
                       check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def start(self, path="/", want=b""):
        """Seconds from fork to the first answer on the public listener (to `path`, with `want` in its first line)."""
        log = open(os.path.join(self.data, "..", "panel.log"), "ab")
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            self.wrap + [HYTHE, "serve", "--data-dir", self.data, "--listen", f"127.0.0.1:{self.port}"],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as s:
                    s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                    answer = s.recv(16)
                    if answer and want in answer:
                        break
            except OSError:
                pass
            if self.process.poll() is not None or time.perf_counter() - begun > 60:
                raise RuntimeError("the panel did not start; see panel.log")
            time.sleep(0.0002)
        return time.perf_counter() - begun

    def api(self):
        for _ in range(600):
            if os.path.exists(self.socket):
                try:
                    api = Api(self.socket)
                    api("GET", "/health")
                    return api
                except OSError:
                    pass
            time.sleep(0.05)
        raise RuntimeError("no control socket")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        self.process = None

    def cpu_s(self):
        return cpu_s(self.process.pid)

    def private_mib(self):
        return private_mib(self.process.pid)


def cpu_s(pid):
    """CPU time of all threads in seconds, from the scheduler's nanoseconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
        except OSError:
            pass
    return total / 1e9


def private_mib(pid):
    kib = 0
    with open(f"/proc/{pid}/smaps_rollup") as f:
        for line in f:
            if line.startswith(("Private_Clean:", "Private_Dirty:", "Private_Hugetlb:")):
                kib += int(line.split()[1])
    return kib / 1024


def serve_something(api, hosts=1):
    """One profile on `hosts` servers of nobody's (unmanaged, so listed at once), one group; returns its id."""
    profile = api("POST", "/profiles", {"name": "bench", "port": 443})
    group = api("POST", "/groups", {"name": "bench", "access": [{"profile": profile["id"], "nodes": "all"}]})
    for i in range(hosts):
        node = api("POST", "/nodes", {"name": f"bench {i}", "address": f"n{i}.example.net", "country": "DE"})
        api("POST", "/inbounds", {"node": node["id"], "profile": profile["id"], "managed": False,
                                  "cert_pin": "ab" * 32, "key_pin": "cd" * 32})
    return group["id"]


def no_limits(api):
    api("PATCH", "/settings", {"network_burst": 0, "link_burst": 0})


def add_users(api, group, count, offset=0):
    links = []
    for begin in range(offset, offset + count, 1000):
        operations = [{"op": "create", "name": f"user{i:06d}", "groups": [group], "quota_bytes": 10**11}
                      for i in range(begin, min(begin + 1000, offset + count))]
        answer = api("POST", "/users/bulk", {"operations": operations})
        links.append(answer)
    return links
