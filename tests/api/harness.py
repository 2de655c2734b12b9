"""The real program on a free port with an empty data directory, and the few ways to talk to it.

Only the standard library. `HYTHE` names the program (build/hythe). A test is a function of a module
test_*.py beside this file; it gets what its parameters name: `panel` (set up and running), `fresh` (an
empty directory and the program, nothing done yet)."""
import base64
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.path.abspath(os.environ.get("HYTHE", ROOT / "build" / "hythe"))
SANITIZED = "asan" in PROGRAM or "tsan" in PROGRAM
PATIENCE = 60 if SANITIZED else 20  # seconds that a condition may take; never what is measured
OWNER, PASSWORD = "root", "correct horse battery"


class Skip(Exception):
    """Something that a test needs is not here; says what."""


class Failure(AssertionError):
    pass


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(str(part) for part in what) or "not so")


def same(got, want, *what):
    if got != want:
        raise Failure(f"{' '.join(map(str, what))}: {got!r}, want {want!r}")


def until(condition, what):
    """Waits for a condition, not for a time."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"never: {what}")
        time.sleep(0.002)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    @property
    def text(self):
        return self.body.decode()

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def __repr__(self):
        return f"<{self.status} {self.body[:200]!r}>"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


def ask(connection, method, target, body=None, headers=None):
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        if isinstance(body, str):
            body = body.encode()
        if body is not None or method in ("POST", "PATCH", "PUT"):
            headers.setdefault("Content-Length", str(len(body or b"")))
        for name, value in headers.items():
            connection.putheader(name, value)
        try:
            connection.endheaders(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of the body was read: the answer may be there
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


class Panel:
    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="hythe-test-"))
        self.data = self.folder / "data"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.log = self.folder / "log"
        self._settings = None

    # --- The program ---
    def run(self, *arguments, input=None, environment=None, data_dir=True):
        """One command to its end."""
        words = [PROGRAM, *arguments]
        if data_dir:
            words += ["--data-dir", str(self.data)]
        return subprocess.run(words, input=input, capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, **(environment or {})})

    def cli(self, *arguments, input=None):
        done = self.run(*arguments, input=input)
        check(done.returncode == 0, "hythe", *arguments, ":", done.returncode, done.stderr)
        return done.stdout

    def setup(self):
        done = self.run("setup", "--public-url", self.url, "--time-zone", "UTC", "--owner", OWNER, "--password-file", "-",
                        input=PASSWORD + "\n")
        check(done.returncode == 0, "setup:", done.stderr)
        return self

    def start(self, *flags, environment=None, limit=None, wait=True, under=()):
        """`under`: a command that runs the program."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*under, PROGRAM, "serve", "--data-dir", str(self.data), "--listen", f"127.0.0.1:{self.port}", *flags],
                stdout=log, stderr=log, env={**os.environ, **(environment or {})}, preexec_fn=limit)
        if wait:
            until(self.ready, f"started ({self.log.read_text()[-500:]})")
        return self

    def ready(self):
        if self.process.poll() is not None:
            raise Failure(f"ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")
        try:
            return self.control("GET", "/api/v1/health").status == 200
        except OSError:
            return False

    def loose(self):
        """Limits out of the way: most tests come from one address."""
        same(self.control("PATCH", "/api/v1/settings", {"network_per_s": 10000, "network_burst": 100000,
                                                        "link_burst": 100000}).status, 200, "settings")
        return self

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self):
        code = self.process.wait(timeout=PATIENCE) if self.process else None
        self.process = None
        return code

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- Talking ---
    def control(self, method, target, body=None, headers=None):
        return ask(UnixConnection(str(self.data / "hythe.sock")), method, target, body, headers)

    def api(self, method, path, body=None, headers=None, status=None):
        """The API on the control socket; `status` is checked when given."""
        answer = self.control(method, "/api/v1" + path, body, headers)
        if status is not None:
            check(answer.status == status, method, path, body, "->", answer, "want", status)
        return answer

    def get(self, target, method="GET", body=None, headers=None):
        """The public listener; a whole link will do."""
        if target.startswith("http"):
            target = "/" + target.split("/", 3)[3]
        return ask(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE), method, target, body, headers)

    def settings(self):
        return self.api("GET", "/settings", status=200).json

    def admin(self, method, path, body=None, headers=None):
        """The API under its secret prefix on the public listener."""
        return self.get(f"/{self.settings()['admin_prefix']}/api/v1{path}", method, body, headers)

    # --- Making things ---
    def make(self, path, body):
        return self.api("POST", path, body, status=201).json

    def server(self, name="Frankfurt", address="de1.example.net", **profile):
        """A node with an inbound that is run elsewhere: no agent is needed for it to be listed."""
        made = {"profile": self.make("/profiles", {"name": f"P {name}", "port": 443, **profile}),
                "node": self.make("/nodes", {"name": name, "address": address, "country": "DE"})}
        made["inbound"] = self.make("/inbounds", {
            "node": made["node"]["id"], "profile": made["profile"]["id"], "managed": False, "cert_pin": "ab" * 32})
        return made

    def group(self, name="All", *servers):
        return self.make("/groups", {"name": name, "access": [
            {"profile": server["profile"]["id"], "nodes": "all"} for server in servers]})

    def user(self, name, **more):
        return self.make("/users", {"name": name, **more})

    def lines(self, link):
        """What the link holds, decoded strictly."""
        answer = self.get(link)
        same(answer.status, 200, "link")
        return base64.b64decode(answer.body, validate=True).decode().splitlines()


def stub(lines):
    """Is this the one entry that never connects?"""
    return len(lines) == 1 and "@0.0.0.0:" in lines[0]
