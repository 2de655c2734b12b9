"""Set-up, start, stop: what an operator does before there is anybody to serve."""
import os
import signal
import shutil
import socket
import stat
import subprocess
import time

from harness import OWNER, PASSWORD, PROGRAM, ROOT, Skip, check, free_port, same, until


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


def test_setup_killed_at_any_moment(fresh):
    """Whatever a killed set-up left, the next one finishes: key before database, each whole or not there."""
    flags = ["setup", "--public-url", "https://x.example", "--time-zone", "UTC"]
    for round_ in range(25):
        shutil.rmtree(fresh.data, ignore_errors=True)
        first = subprocess.Popen([PROGRAM, *flags, "--data-dir", str(fresh.data)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(round_ * 0.002)  # the moment of the kill, not a wait for anything
        first.kill()
        first.wait()
        left = sorted(os.listdir(fresh.data)) if fresh.data.exists() else None
        done = fresh.run(*flags)
        same(done.returncode, 0, left, done.stderr)


def test_setup_closes_no_foreign_directory(fresh):
    """--data-dir /tmp must not lock everybody else out of it."""
    fresh.data.mkdir(mode=0o755)
    other = fresh.data / "other"
    other.touch()
    flags = ["setup", "--public-url", "https://x.example", "--time-zone", "UTC"]
    done = fresh.run(*flags)
    same(done.returncode, 1, done.stderr)
    check("--data-dir" in done.stderr and "other" in done.stderr, done.stderr)
    same(mode(fresh.data), 0o755, "as it was")
    same(sorted(path.name for path in fresh.data.iterdir()), ["other"], "nothing was made")
    other.unlink()
    same(fresh.run(*flags).returncode, 0, "an empty one is taken")
    same(mode(fresh.data), 0o700, "and closed")


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


def test_timers_after_a_suspended_machine(fresh):
    """The boot clock runs on while a machine sleeps, and the clock of a waiting thread does not: they are
    28 hours apart here."""
    under = ("unshare", "--time", "--boottime", "100000")
    if subprocess.run([*under, "true"], capture_output=True).returncode != 0:
        return  # not allowed to
    fresh.setup().start(under=under)
    group = fresh.group("All")
    fresh.user("anna", groups=[group["id"]], expires_in_s=1)
    before = fresh.api("GET", "/health").json["revision"]
    until(lambda: fresh.api("GET", "/health").json["revision"] > before, "the timer noticed an expiry")


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


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def claim(panel, link, name):
    """The page behind a link, as it was printed: looked at, then sent."""
    page = panel.get(link)
    check(page.status == 200 and b"<form" in page.body, page)
    origin = "/".join(link.split("/", 3)[:3])
    word = PASSWORD.replace(" ", "+")
    return panel.get(link, "POST", f"name={name}&password={word}&again={word}", {**FORM, "Origin": origin})


def test_owner_link_leads_to_the_admin(fresh):
    """With --admin-listen the public listener knows nothing of the admin: links begin where it lives."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    done = fresh.run("setup", "--public-url", fresh.url, "--time-zone", "UTC", "--admin-listen", address)
    first = next(line.strip() for line in done.stdout.splitlines() if "/setup/" in line)
    check(first.startswith(f"http://{address}/"), first)
    fresh.start(environment={"HYTHE_ADMIN_LISTEN": address}).loose()
    public, fresh.port = fresh.port, port
    made = claim(fresh, first, "ann")
    same(made.status, 200, made)
    base = made.text.split("<code>", 1)[1].split("</code>")[0]
    check(base.startswith(f"http://{address}/") and base.endswith("/api/v1"), base)
    same(fresh.get(base + "/health").status, 200, "the API where the page says")
    again = fresh.cli("admin", "owner-link").strip()
    check(again.startswith(f"http://{address}/"), again)
    fresh.port = public
    same(fresh.get(again).body, fresh.get("/nothing").body, "on the public listener")
    fresh.port = port
    same(claim(fresh, again, "ben").status, 200, "a second owner")
    fresh.port = public
    log = fresh.log.read_text()
    same(log.count("event=owner_claimed"), 2, log)
    check(first.rsplit("/", 1)[1] not in log and again.rsplit("/", 1)[1] not in log, "a link in the log")


def test_setup_link_with_tls(fresh):
    done = fresh.run("setup", "--public-url", fresh.url, "--time-zone", "UTC", "--admin-listen", ":9090",
                     environment={"HYTHE_TLS_CERT": "/etc/hythe/cert.pem"})
    check("  https://127.0.0.1:9090/" in done.stdout, done.stdout, done.stderr)
    bad = fresh.run("setup", "--owner-link", "--admin-listen", "nowhere")
    check(bad.returncode == 2 and "--admin-listen" in bad.stderr, bad.stderr)


def test_start_faults_name_their_flag(fresh):
    fresh.setup()
    (fresh.folder / "empty").mkdir()
    (fresh.folder / "text").write_text("no certificate")
    text = str(fresh.folder / "text")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        used = f"127.0.0.1:{taken.getsockname()[1]}"
        for flags, name in ((["--decoy-dir", "/nope"], "--decoy-dir"),
                            (["--decoy-dir", str(fresh.folder / "empty")], "--decoy-dir"),
                            (["--tls-cert", text, "--tls-key", text], "--tls-cert"),
                            (["--listen", used], "--listen"), (["--admin-listen", used], "--admin-listen"),
                            (["--dev"], "--dev"), (["--dev", "--listen", "0.0.0.0:0"], "--listen")):
            if "--listen" not in flags:
                flags = ["--listen", f"127.0.0.1:{fresh.port}", *flags]
            done = fresh.run("serve", *flags)
            last = done.stderr.strip().splitlines()[-1]
            check(done.returncode in (1, 2) and last.startswith(f"hythe: {name}"), flags, done.returncode, done.stderr)
            check(not (fresh.data / "hythe.sock").exists(), "something is left of", flags)
    same(fresh.start().api("GET", "/users", status=200).json["items"], [], "demo data in a real panel")


def test_dev_leaves_a_panel_without_owner_alone(fresh):
    fresh.run("setup", "--public-url", "https://x.example", "--time-zone", "UTC")
    done = fresh.run("serve", "--dev", "--listen", f"127.0.0.1:{fresh.port}")
    check(done.returncode == 1 and "--dev" in done.stderr, done.returncode, done.stderr)
    fresh.start()
    same(fresh.api("GET", "/admins").json["items"], [], "owner")
    same(fresh.settings()["public_url"], "https://x.example")


def test_data_dir_of_another(fresh):
    """A directory that may not be looked into is not an empty one."""
    if os.geteuid() != 0:
        raise Skip("needs root, to be somebody else")
    fresh.setup()
    fresh.folder.chmod(0o755)
    program = shutil.copy(PROGRAM, fresh.folder / "hythe")  # where the checkout is, others may not look
    for command in (["serve", "--listen", f"127.0.0.1:{fresh.port}"], ["setup", "--public-url", "https://x.example"]):
        done = subprocess.run([program, *command, "--data-dir", str(fresh.data)], capture_output=True, text=True,
                              user=65534, group=65534, extra_groups=[], cwd="/")
        same(done.returncode, 1, command, done.stderr)
        check("--data-dir" in done.stderr and "permission denied" in done.stderr, done.stderr)


def test_setup_again_says_what_it_left(fresh):
    fresh.setup()
    again = fresh.run("setup", "--time-zone", "Europe/Berlin")
    check("--time-zone is left as it was" in again.stdout and "time_zone=Europe/Berlin" in again.stdout, again.stdout)
    check("systemctl" not in again.stdout, "a unit for another directory:", again.stdout)
    same(fresh.start().settings()["time_zone"], "UTC")


def test_setup_asks_again(fresh):
    """On a terminal a slip is not the end: three tries each."""
    import pty
    main, end = pty.openpty()
    process = subprocess.Popen([PROGRAM, "setup", "--data-dir", str(fresh.data)], stdin=end, stdout=end, stderr=end)
    os.close(end)
    os.write(main, b"example.net\nhttps://x.example\nMars/Base\nEurope/Berlin\n")
    said = b""
    try:
        while chunk := os.read(main, 4096):
            said += chunk
    except OSError:
        pass  # the other end was closed
    os.close(main)
    same(process.wait(20), 0, said)
    same(said.count(b"Public URL"), 2, said)
    same(said.count(b"Time zone,"), 2, said)
    settings = fresh.start().settings()
    same((settings["public_url"], settings["time_zone"]), ("https://x.example", "Europe/Berlin"))


def test_few_files(fresh):
    """More connections than descriptors: those that fit are served, the panel itself never runs short."""
    import resource
    fresh.setup()
    fresh.start(limit=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    check("event=few_connections" in fresh.log.read_text(), fresh.log.read_text())
    sockets = []
    for _ in range(300):
        client = socket.socket()
        client.settimeout(5)
        client.connect(("127.0.0.1", fresh.port))
        client.sendall(b"GET /")
        sockets.append(client)
    for _ in range(5):
        same(fresh.api("GET", "/users").status, 200, "control, meanwhile")

    def ticks():
        return sum(map(int, open(f"/proc/{fresh.process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))
    before = ticks()
    time.sleep(0.5)  # the span that is measured
    check(ticks() - before < 20, "busy while full:", ticks() - before)
    for client in sockets:
        client.close()
    same(until(lambda: fresh.get("/nothing"), "public, when they went").status, 404)
    fresh.stop()
    done = subprocess.run([PROGRAM, "serve", "--data-dir", str(fresh.data), "--listen", f"127.0.0.1:{fresh.port}"],
                          capture_output=True, text=True, timeout=20,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    check(done.returncode == 1 and "LimitNOFILE" in done.stderr, done.returncode, done.stderr)


def test_reloads_cost_nothing(fresh):
    """A timer that reloads for years: each set of pages goes when the next one comes."""
    fresh.setup()
    pages = fresh.folder / "pages"
    pages.mkdir()
    (pages / "404.html").write_text("first")
    fresh.start("--decoy-dir", str(pages)).loose()

    def weight():
        return fresh.api("GET", "/health").json["private_bytes"]

    def reload(times):
        for number in range(times):
            page = f"{times}.{number} " + "x" * 200000
            (pages / "404.html").write_text(page)
            fresh.process.send_signal(signal.SIGHUP)
            until(lambda: fresh.get("/x").text == page, "the new page")
    reload(5)
    before = weight()
    reload(60)
    if "san" not in PROGRAM:
        check(weight() - before < 4 << 20, "60 reloads cost", weight() - before)


def test_install(fresh):
    if not (ROOT / "build" / "hythe").exists():
        return  # only ever installed after it was built
    root = fresh.folder / "root"
    done = subprocess.run(["make", "-o", "all", "install", f"DESTDIR={root}", "PREFIX=/usr"], cwd=ROOT,
                          capture_output=True, text=True)
    same(done.returncode, 0, done.stderr)
    files = {str(path.relative_to(root)): mode(path) for path in root.rglob("*") if path.is_file()}
    same(files, {"usr/bin/hythe": 0o755, "usr/share/man/man1/hythe.1": 0o644,
                 "usr/lib/systemd/system/hythe.service": 0o644})
    unit = (root / "usr/lib/systemd/system/hythe.service").read_text()
    check("ExecStart=/usr/bin/hythe serve" in unit and "@PREFIX@" not in unit and str(root) not in unit, unit)
    check(subprocess.run([root / "usr/bin/hythe", "version"], capture_output=True).returncode == 0, "it runs")


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
