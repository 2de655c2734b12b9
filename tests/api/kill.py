#!/usr/bin/env python3
"""kill -9 at random moments under load, again and again: every acknowledged write is there afterwards, and
no other but the few that were on their way. `kill.py [ROUNDS]` (200)."""
import http.client
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import Failure, Panel, UnixConnection, ask, check, same  # noqa: E402

WRITERS = 4
GONE = object()


class Writer(threading.Thread):
    """Creates, changes and deletes users of its own, one call after another, until the panel is gone."""

    def __init__(self, panel, name, seed):
        super().__init__()
        self.panel, self.prefix, self.random = panel, name, random.Random(seed)
        self.known = {}      # name -> (id, note) or GONE, as acknowledged
        self.pending = None  # (name, what it would be) of the call on its way
        self.fault = None

    def call(self, method, path, body=None):
        return ask(UnixConnection(str(self.panel.data / "hythe.sock")), method, "/api/v1" + path, body)

    def step(self):
        alive = [name for name, user in self.known.items() if user is not GONE]
        dice = self.random.random()
        if alive and dice < 0.2:
            name = self.random.choice(alive)
            self.pending = (name, GONE)
            answer, want = self.call("DELETE", f"/users/{self.known[name][0]}"), 200
        elif alive and dice < 0.5:
            name = self.random.choice(alive)
            note = f"note {self.random.random()}"
            self.pending = (name, note)
            answer, want = self.call("PATCH", f"/users/{self.known[name][0]}", {"note": note}), 200
        else:
            name = f"{self.prefix}-{len(self.known)}"
            self.pending = (name, "")
            answer, want = self.call("POST", "/users", {"name": name, "tag": self.prefix}), 201
        if answer.status == 503:
            return  # busy: nothing was done
        if answer.status != want:
            raise Failure(f"{self.pending}: {answer}")
        now = self.pending[1]
        self.known[name] = GONE if now is GONE else (answer.json["id"], now)
        self.pending = None

    def run(self):
        try:
            while True:
                self.step()
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # noqa: BLE001: told by the main thread
            self.fault = error

    def verify(self):
        found, cursor = {}, None
        while True:
            page = self.panel.api("GET", f"/users?tag={self.prefix}&limit=500" + (f"&cursor={cursor}" if cursor else ""),
                                  status=200).json
            found.update((user["name"], (user["id"], user["note"])) for user in page["items"])
            cursor = page["next_cursor"]
            if not cursor:
                break
        name, pending = self.pending or (None, None)
        for known, state in self.known.items():
            got = found.pop(known, GONE)
            if known == name:
                late = GONE if pending is GONE else pending
                check(got == state or (got is GONE and late is GONE) or (got is not GONE and got[1] == late),
                      known, got, "neither", state, "nor", late)
            else:
                same(got, state, known)
        if found and list(found) != [name]:
            raise Failure(f"nobody was told of {found}")


def one_round(panel, number, seed):
    dice = random.Random(seed)
    writers = [Writer(panel, f"r{number}w{index}", seed * 10 + index) for index in range(WRITERS)]
    panel.start()
    for writer in writers:
        writer.start()
    time.sleep(dice.random() * 0.08)
    panel.process.kill()
    panel.wait()
    for writer in writers:
        writer.join()
        if writer.fault:
            raise writer.fault
    panel.start()
    for writer in writers:
        writer.verify()
    panel.process.kill()
    panel.wait()
    return sum(len(writer.known) for writer in writers)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = random.SystemRandom().randrange(1 << 30)
    panel, passed, writes = Panel(), 0, 0
    begun = time.monotonic()
    try:
        panel.setup()
        for number in range(rounds):
            writes += one_round(panel, number, seed + number)
            passed += 1
    except Exception as error:  # noqa: BLE001
        print(f"round {passed} of seed {seed}: {error}")
        print(panel.log.read_text()[-3000:])
    finally:
        panel.end()
    print(f"kill -9: {writes} users written in {time.monotonic() - begun:.0f} s; "
          f"{passed} passed, {0 if passed == rounds else 1} failed")
    return passed != rounds


if __name__ == "__main__":
    sys.exit(main())
