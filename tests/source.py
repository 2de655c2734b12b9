#!/usr/bin/env python3
"""What a reviewer should not have to look for: the direction of includes, calls that are banned, white
space. Sizes are told as warnings. One rule is one test; a way out is a comment that says why:
`/* allowed: <rule>, because ... */` on the line itself."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Who may include whom (the design of src/README.md, "Includes point one way").
BASE = {"util"}
RULES = {
    "util": set(),
    "model": BASE,
    "link": BASE | {"model"},
    "net": BASE,
    "store": BASE | {"model"},
    "auth": BASE | {"model", "store"},
    "ops": BASE | {"model", "store", "auth", "link"},
    "http": BASE | {"model", "store", "auth"},
    "fleet": BASE | {"model", "store", "auth", "ops", "link", "net"},
    "sub": BASE | {"model", "store", "auth", "ops", "http"},
    "import": BASE | {"model", "store", "auth", "ops"},
    "notify": BASE | {"model", "store", "auth", "ops"},
    "admin": BASE | {"model", "store", "auth", "ops", "http", "fleet", "sub", "import", "notify"},
    "agent": BASE | {"model", "link", "net"},
}
RULES["panel"] = set(RULES) | {"panel"}

BANNED = re.compile(r"(?<![\w.>])(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atoll|atof|"
                    r"sscanf|rand|srand|system|popen|tmpnam|mktemp|alloca|usleep|asctime|ctime|gmtime|localtime)\s*\(")
SQL = re.compile(r'"\s*(SELECT .|INSERT INTO|UPDATE \w+ SET|DELETE FROM|REPLACE INTO|CREATE TABLE)')
FUNCTION_LINES, FILE_LINES = 100, 900


def code_of(text):
    """The text without comments and the insides of strings, lines kept."""
    def blank(match):
        piece = match.group(0)
        return re.sub(r"[^\n]", " ", piece) if piece.startswith("/") else '""'
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def includes(path, text):
    module = path.relative_to(ROOT).parts
    own = module[1] if module[0] == "src" else module[2]
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'#include "(?:hythe/)?(\w+)/', line)
        if match and match[1] in RULES and match[1] != own and match[1] not in RULES[own] \
                and "allowed: include" not in line:
            yield number, f"{own} must not include {match[1]}"


def banned(path, text):
    for number, line in enumerate(code_of(text).splitlines(), 1):
        match = BANNED.search(line)
        if match and "allowed: call" not in text.splitlines()[number - 1]:
            yield number, f"{match[1]}() is banned"


def sql(path, text):
    if path.relative_to(ROOT).parts[1] == "store":
        return
    for number, line in enumerate(text.splitlines(), 1):
        if SQL.search(line) and "allowed: sql" not in line:
            yield number, "SQL outside store/"


def space(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip():
            yield number, "white space at the end of the line"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end"


def guards(path, text):
    if path.suffix == ".h" and not re.search(r"^#ifndef (\w+)\n#define \1\n", text, re.M):
        yield 1, "no include guard"


def sizes(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield len(lines), f"{len(lines)} lines: what is it hiding?"
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin > FUNCTION_LINES:
                yield begin, f"a function of {number - begin} lines"
            begin = None


def sources():
    for folder in ("src", "include"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            yield path


def run(name, rule, paths):
    found = [(path, number, text) for path in paths
             for number, text in rule(path, path.read_text(encoding="utf-8"))]
    for path, number, text in found:
        print(f"{path.relative_to(ROOT)}:{number}: {name}: {text}")
    return not found


def main():
    everything = list(sources())
    tests = sorted((ROOT / "tests").rglob("*.[ch]")) + sorted((ROOT / "tests").rglob("*.py")) + \
        sorted((ROOT / "tests").glob("*.sh")) + sorted((ROOT / "migrations").glob("*.sql"))
    results = [
        run("include", includes, everything),
        run("call", banned, everything),
        run("sql", sql, [path for path in everything if path.suffix == ".c"]),
        run("space", space, everything + tests),
        run("guard", guards, everything),
    ]
    run("size (a warning)", sizes, everything)
    print(f"source: {results.count(True)} passed, {results.count(False)} failed")
    return results.count(False) != 0


if __name__ == "__main__":
    sys.exit(main())
