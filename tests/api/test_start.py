"""Set-up, start, stop: what an operator does before there is anybody to serve."""
import os
import signal
import socket
import stat
import subprocess

from harness import OWNER, PASSWORD, PROGRAM, check, free_port, same, until


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_setup_twice(fresh):
    fresh.setup()
    same(mode(fresh.data), 0o700, "data directory")
    same(mode(fresh.data / "master.key"), 0o600, "master.key")
    same(mode(fresh.data / "hythe.db"), 0o600, "hythe.db")
    key = (fresh.data / "master.key").read_bytes()
    again = fresh.run("setup", "--public-url", "https://elsewhere.example.net")
    same(again.returncode, 0, again.stderr)
    check("there" in again.stdout and "made" not in again.stdout, again.stdout)
    check("left as it was" in again.stdout, again.stdout)
    same((fresh.data / "master.key").read_bytes(), key, "master.key")


def test_setup_asks_for_what_is_missing(fresh):
    for flags, names in (([], "--public-url"), (["--public-url", "ftp://x"], "--public-url"),
                         (["--public-url", "https://x.example", "--time-zone", "Mars/Base"], "--time-zone"),
                         (["--public-url", "https://x.example", "--password-file", "-"], "--owner")):
        done = fresh.run("setup", *flags)
        same(done.returncode, 2, flags, done.stderr)
        check(names in done.stderr, flags, done.stderr)
        check(not fresh.data.exists(), "something was made by", flags)
    done = fresh.run("setup", "--public-url", "https://x.example", "--owner", "ann", "--password-file", "-", input="short\n")
    same(done.returncode, 1, done.stderr)
    check(not fresh.data.exists(), "something was made with a bad password")


def test_key_and_database_belong_together(fresh):
    fresh.setup()
    key = fresh.data / "master.key"
    saved = key.read_bytes()
    key.unlink()
    for command in (["setup"], ["serve", "--listen", f"127.0.0.1:{fresh.port}"]):
        done = fresh.run(*command)
        same(done.returncode, 1, command, done.stderr)
        check("master.key" in done.stderr and "backup" in done.stderr, done.stderr)
        check(not key.exists(), "a new key was made")
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    done = fresh.run("serve", "--listen", f"127.0.0.1:{fresh.port}")
    same(done.returncode, 1, done.stderr)
    key.write_bytes(saved)
    key.chmod(0o644)
    done = fresh.run("serve", "--listen", f"127.0.0.1:{fresh.port}")
    same(done.returncode, 1, "a key that others may read:", done.stderr)
    key.chmod(0o600)
    fresh.start()


def test_key_without_database_is_used(fresh):
    fresh.setup()
    key = (fresh.data / "master.key").read_bytes()
    for path in fresh.data.glob("hythe.db*"):
        path.unlink()
    done = fresh.run("setup", "--public-url", fresh.url)
    same(done.returncode, 0, done.stderr)
    check("without a database" in done.stderr, done.stderr)
    same((fresh.data / "master.key").read_bytes(), key, "master.key")


def test_not_set_up(fresh):
    for command in (["serve"], ["status"], ["user", "list"]):
        done = fresh.run(*command)
        same(done.returncode, 78, command)
        check("hythe setup" in done.stderr, done.stderr)


def test_not_running(fresh):
    fresh.setup()
    done = fresh.run("user", "list")
    same(done.returncode, 1)
    check("does not run" in done.stderr and "hythe serve" in done.stderr, done.stderr)


def test_second_process_is_refused(panel):
    for command in (["serve", "--listen", f"127.0.0.1:{free_port()}"], ["setup"]):
        done = panel.run(*command)
        same(done.returncode, 1, command)
        check("in use" in done.stderr or "uses this data directory" in done.stderr, done.stderr)
    same(panel.api("GET", "/health").status, 200, "the first one")
    panel.stop()
    panel.start()


def test_port_taken(fresh):
    fresh.setup()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = fresh.run("serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    same(done.returncode, 1, done.stderr)
    check("listen" in done.stderr, done.stderr)


def test_flags_and_variables(fresh):
    fresh.setup()
    for flags, names in ((["--listen", "x"], "--listen"), (["--trusted-proxy", "10.1.1.1/8"], "--trusted-proxy"),
                         (["--nope"], "--nope"), (["--log-level", "loud"], "--log-level"),
                         (["--tls-cert", "/etc/hostname"], "--tls-key")):
        done = fresh.run("serve", *flags)
        same(done.returncode, 2, flags, done.stderr)
        check(names in done.stderr, flags, done.stderr)
    done = fresh.run("serve", environment={"HYTHE_LISTEN": "nowhere"})
    same(done.returncode, 2, done.stderr)
    check("--listen" in done.stderr, done.stderr)


def test_help_everywhere(fresh):
    lists = fresh.run("--help", data_dir=False).stdout
    rows = [line.strip() for line in lists.splitlines() if line.startswith("  ")]
    check(len(rows) > 40, lists)
    for row in rows:
        words = []
        for word in row.split("  ")[0].split():
            if word.isupper() or "=" in word or word.startswith("["):
                break
            words.append(word)
        done = fresh.run(*words, "--help", data_dir=False)
        same(done.returncode, 0, words, done.stderr)
        check(done.stdout.startswith("Usage: hythe " + " ".join(words)), words, done.stdout)


def test_one_time_owner_link(fresh):
    done = fresh.run("setup", "--public-url", fresh.url)
    same(done.returncode, 0, done.stderr)
    link = next(line.strip() for line in done.stdout.splitlines() if "/setup/" in line)
    fresh.start().loose()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for _ in range(3):  # looking does not spend it
        page = fresh.get(link)
        same(page.status, 200, "page")
        check(b"<form" in page.body and b"<script" not in page.body, page.body)
    same(fresh.get(link[:-1] + ("A" if link[-1] != "A" else "B")).body, fresh.get("/nothing").body, "a wrong token")
    body = f"name={OWNER}&password={PASSWORD.replace(' ', '+')}&again={PASSWORD.replace(' ', '+')}"
    made = fresh.get(link, "POST", body, {**form, "Origin": fresh.url})
    check(made.status in (200, 201), made)
    same(fresh.get(link).status, 404, "the spent link")
    same(fresh.get(link, "POST", body, form).status, 404, "spent twice")
    check([admin["name"] for admin in fresh.api("GET", "/admins").json["items"]] == [OWNER], "the owner")
    sign_in = fresh.admin("POST", "/auth/sign-in", {"name": OWNER, "password": PASSWORD})
    same(sign_in.status, 200, sign_in)


def test_stops_at_once(fresh):
    fresh.setup()
    for number in (signal.SIGTERM, signal.SIGINT):
        fresh.start()
        idle = [socket.create_connection(("127.0.0.1", fresh.port)) for _ in range(20)]
        idle[0].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        same(fresh.stop(number), 0, "exit code")
        for one in idle:
            one.close()
        check(not (fresh.data / "hythe.sock").exists(), "the control socket is left")


def test_sighup_reloads(fresh):
    fresh.setup()
    pages = fresh.folder / "pages"
    pages.mkdir()
    for name, text in (("index.html", "front one"), ("404.html", "none one"), ("429.html", "slow")):
        (pages / name).write_text(text)
    fresh.start("--decoy-dir", str(pages)).loose()
    same(fresh.get("/").text, "front one")
    same(fresh.get("/x").text, "none one")
    (pages / "404.html").write_text("none two")
    fresh.process.send_signal(signal.SIGHUP)
    until(lambda: fresh.get("/x").text == "none two", "the new page")
    (pages / "404.html").unlink()
    (pages / "404.html").mkdir()
    fresh.process.send_signal(signal.SIGHUP)
    until(lambda: "reload_failed" in fresh.log.read_text(), "a fault in the log")
    same(fresh.get("/x").text, "none two", "after a reload that failed")


def test_tells_the_supervisor(fresh):
    fresh.setup()
    path = str(fresh.folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(path)
        supervisor.settimeout(20)
        fresh.start(environment={"NOTIFY_SOCKET": path}, wait=False)
        same(supervisor.recv(100), b"READY=1")
        same(fresh.get("/").status, 404, "ready means ready")
        until(fresh.ready, "started")
        fresh.stop()
        same(supervisor.recv(100), b"STOPPING=1")


def test_tls_and_its_reload(fresh):
    fresh.setup()
    import ssl

    def certificate():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "30", "-subj", "/CN=localhost", "-keyout", fresh.folder / "k", "-out", fresh.folder / "c"],
                       check=True, capture_output=True)

    def seen():
        context = ssl._create_unverified_context()
        with socket.create_connection(("127.0.0.1", fresh.port)) as raw, context.wrap_socket(raw) as tls:
            return tls.getpeercert(True)

    certificate()
    fresh.start("--tls-cert", str(fresh.folder / "c"), "--tls-key", str(fresh.folder / "k"))
    before = seen()
    certificate()
    same(seen(), before, "without a signal")
    fresh.process.send_signal(signal.SIGHUP)
    until(lambda: seen() != before, "the new certificate")


def test_admin_on_its_own_address(fresh):
    fresh.setup()
    port = free_port()
    fresh.start("--admin-listen", f"127.0.0.1:{port}").loose()
    prefix = fresh.settings()["admin_prefix"]
    same(fresh.get(f"/{prefix}/api/v1/health").body, fresh.get("/nothing").body, "the admin on the public listener")
    public, fresh.port = fresh.port, port
    for path in ("/api/v1/health", f"/{prefix}/api/v1/health"):
        same(fresh.get(path).status, 200, path)
    fresh.port = public


def test_dev(fresh):
    """`make run`: what it prints works as printed, on the second start too."""
    import shlex
    printed = []
    for _ in range(2):
        fresh.log.unlink(missing_ok=True)
        fresh.start("--dev")
        until(lambda: "Ctrl-C" in fresh.log.read_text(), "the greeting")
        text = fresh.log.read_text()
        curls = [line.strip() for line in text.splitlines() if line.strip().startswith("curl")]
        check(len(curls) == 2, text)
        link = shlex.split(curls[0].split("|")[0])
        decoded = subprocess.run(curls[0], shell=True, capture_output=True, text=True, check=True).stdout
        check(decoded.startswith("hysteria2://") and "pinSHA256=" in decoded, decoded)
        answer = subprocess.run(curls[1], shell=True, capture_output=True, text=True, check=True).stdout
        check('"name":"demo"' in answer, answer)
        printed.append((link, curls[1]))
        same(fresh.stop(signal.SIGINT), 0, "Ctrl-C")
    same(printed[0], printed[1], "the second start")


def test_version(fresh):
    check(fresh.run("version", data_dir=False).stdout.startswith("hythe "), "version")
    same(subprocess.run([PROGRAM], capture_output=True).returncode, 2, "no command")
