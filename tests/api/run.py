#!/usr/bin/env python3
"""Runs the black-box tests: every function test_* of the modules test_*.py here, each with a panel of its
own. `run.py [--quick] [NAME...]`: those whose names hold one of the words; --quick leaves out what is slow
under a sanitizer (functions with `slow` set)."""
import importlib
import inspect
import pathlib
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import harness  # noqa: E402


def provide(name):
    panel = harness.Panel()
    if name == "panel":
        panel.setup().start().loose()
    return panel


def run(function):
    panels = []
    try:
        for name in inspect.signature(function).parameters:
            panels.append(provide(name))
        function(*panels)
        for panel in panels:
            if panel.process and panel.process.poll() is None:
                harness.same(panel.stop(), 0, "exit code at the end;", panel.log.read_text()[-3000:])
            log = panel.log.read_text(errors="replace") if panel.log.exists() else ""
            harness.check("Sanitizer" not in log and "runtime error" not in log, log[-5000:])
        return "passed"
    except harness.Skip as reason:
        print(f"SKIP {function.__module__}.{function.__name__}: {reason}")
        return "skipped"
    except Exception as error:  # noqa: BLE001: a test may fail in any way
        print(f"{function.__module__}.{function.__name__}: {error}")
        if not isinstance(error, harness.Failure):
            traceback.print_exc()
        for panel in panels:
            if panel.log.exists():
                print("  log:", panel.log.read_text(errors="replace")[-1500:].replace("\n", "\n  "))
        return "failed"
    finally:
        for panel in panels:
            panel.end()


def main():
    quick, words = "--quick" in sys.argv, [word for word in sys.argv[1:] if not word.startswith("--")]
    count = {"passed": 0, "failed": 0, "skipped": 0}
    begun = time.monotonic()
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("test_") or function.__module__ != path.stem:
                continue
            if words and not any(word in f"{path.stem}.{name}" for word in words):
                continue
            if quick and getattr(function, "slow", False):
                continue
            count[run(function)] += 1
    print(f"black box of {harness.PROGRAM}, {time.monotonic() - begun:.0f} s: "
          f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return count["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
