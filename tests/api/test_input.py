"""Bad input gets a clear error and changes nothing."""
import json

from harness import check, same

BODY_ROUTES = [("POST", path) for path in ("/users", "/groups", "/profiles", "/nodes", "/inbounds", "/hosts", "/admins",
                                           "/tokens", "/users/bulk")] + [("PATCH", "/settings")]


def problem(answer, what):
    check(400 <= answer.status < 500, what, "->", answer)
    same(answer.header("Content-Type"), "application/problem+json", what)
    body = answer.json
    check(body["code"] and body["detail"] and body["status"] == answer.status, what, "->", answer)
    return body


def state(panel):
    """What there is, to see that nothing changed."""
    return [panel.api("GET", path).json for path in ("/users", "/groups", "/profiles", "/nodes", "/inbounds", "/hosts",
                                                     "/settings", "/tokens")]


def test_b127_bodies_of_every_kind(panel):
    before = state(panel)
    bodies = [(None, "none"), (b"", "empty"), (b"{}", "an empty object"), (b"null", "null"), (b"[]", "a list"), (b"7", "7"),
              (b'"x"', "text"), (b"{", "cut"), (b'{"a":1,}', "a comma"), (b'{"name":"x"} x', "more behind it"),
              ('{"name":"x"}'.encode("utf-16"), "UTF-16"), (b"\xef\xbb\xbf{}", "a byte order mark"),
              (b"a=b&c=d", "a form"), (b'{"name":"\xff"}', "no UTF-8"), (b'{"name":"a\\u0000b"}', "NUL"),
              (b'{"name":"\\ud800"}', "half a pair"), (b'{"name":"x","name":"y"}', "a name twice"),
              (b'{"name":01}', "01"), (b'{"name":.5}', ".5"), (b'{"name":+1}', "+1"), (b'{"name":NaN}', "NaN"),
              (b"[" * 40 + b"]" * 40, "too deep"), (b'{"name":' + b"[" * 40 + b"]" * 40 + b"}", "too deep inside"),
              (b"x" * 100, "nonsense"), (b'{"a":"' + b"x" * (10 << 20) + b'"}', "10 MB")]
    for method, path in BODY_ROUTES:
        for body, what in bodies:
            if (path, what) == ("/settings", "an empty object"):
                continue  # changes nothing, and says so
            answer = panel.control(method, "/api/v1" + path, body)
            problem(answer, f"{method} {path} with {what}")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = panel.api("POST", "/users", b'{"name":"x"}', {"Content-Type": kind})
        same(answer.status, 415, kind)
    same(state(panel), before, "something changed")


def test_fields_are_named(panel):
    before = state(panel)
    cases = [
        ({"nmae": "x"}, "nmae"), ({"name": 7}, "name"), ({"name": None}, "name"), ({"name": ""}, "name"),
        ({"name": "x" * 300}, "name"), ({"name": "a\tb"}, "name"), ({"name": "a\u0007b"}, "name"),
        ({"name": "a\u200bb"}, "name"), ({"name": "a\u202eb"}, "name"), ({"name": " a"}, "name"),
        ({"name": "a", "quota_bytes": -1}, "quota_bytes"), ({"name": "a", "quota_bytes": 1.5}, "quota_bytes"),
        ({"name": "a", "quota_bytes": "1"}, "quota_bytes"), ({"name": "a", "quota_bytes": True}, "quota_bytes"),
        ({"name": "a", "quota_bytes": 2**63}, "quota_bytes"), ({"name": "a", "quota_bytes": 2**70}, "quota_bytes"),
        ({"name": "a", "enabled": "yes"}, "enabled"), ({"name": "a", "enabled": 1}, "enabled"),
        ({"name": "a", "quota_period": "fortnight"}, "quota_period"), ({"name": "a", "groups": "x"}, "groups"),
        ({"name": "a", "groups": ["grp_" + "a" * 26]}, "groups[0]"), ({"name": "a", "groups": [7]}, "groups[0]"),
        ({"name": "a", "meta": []}, "meta"), ({"name": "a", "email": "nobody"}, "email"),
        ({"name": "a", "device_limit": -1}, "device_limit"), ({"name": "a", "language": "english"}, "language"),
        ({"name": "a", "note": "x" * 70000}, None),
    ]
    for body, field in cases:
        answer = problem(panel.api("POST", "/users", body), body if len(str(body)) < 200 else field)
        if field:
            same(answer.get("field"), field, body)
    same(state(panel), before, "something changed")


def test_b082_absurd_times(panel):
    for value in ("-1", "1.5", "1e308", "253402300800", "9223372036854775807", "9223372036854775808", '"2026-01-01"',
                  "true", "1" * 400):
        for field in ("expires_unix", "hold_s"):
            body = problem(panel.api("POST", "/users", f'{{"name":"a","{field}":{value}}}'), (field, value))
            same(body["field"], field, value)
    same(panel.api("GET", "/users").json["items"], [])


def test_names_that_look_alike(panel):
    panel.user("Zo\u00eb")
    for name in ("zo\u00eb", "ZO\u00cb", "Zoe\u0308", "\uff3a\uff4f\u00eb"):
        same(problem(panel.api("POST", "/users", {"name": name}), name)["code"], "name_taken", name)
    for path, first in (("/groups", {"name": "All"}), ("/profiles", {"name": "Main", "port": 443}),
                        ("/nodes", {"name": "One", "address": "1.2.3.4"})):
        panel.make(path, first)
        answer = problem(panel.api("POST", path, {**first, "name": first["name"].upper()}), path)
        same((answer["code"], answer["field"]), ("name_taken", "name"), path)


def test_ids_that_are_not_there(panel):
    prefixes = {"/users": "usr_", "/groups": "grp_", "/profiles": "prf_", "/nodes": "nod_", "/inbounds": "inb_",
                "/hosts": "hst_", "/tokens": "tok_", "/admins": "adm_"}
    for path, prefix in prefixes.items():
        for id_ in (prefix + "a" * 26, prefix + "A" * 26, prefix, "x", "1", "%00", "a" * 5000, "..", "usr_" + "a" * 26):
            for method in ("GET", "DELETE"):
                answer = panel.api(method, f"{path}/{id_}")
                check(answer.status in (400, 404, 405, 414), method, path, id_[:40], answer)
                check(answer.status >= 500 or answer.body is not None, "")
    same(panel.api("GET", "/users/usr_" + "a" * 26).json["code"], "not_found")
    same(panel.api("GET", "/nothing").status, 404)
    same(panel.api("PUT", "/users", {}).status, 405)


def test_if_match_of_yesterday(panel):
    user = panel.user("anna")
    target = f"/users/{user['id']}"
    tag = panel.api("GET", target).header("ETag")
    changed = panel.api("PATCH", target, {"note": "one"}, {"If-Match": tag}, status=200)
    check(changed.header("ETag") != tag, "the tag stays")
    refused = panel.api("PATCH", target, {"note": "two"}, {"If-Match": tag}, status=412)
    same(refused.json["code"], "version_mismatch")
    same(panel.api("GET", target).json["note"], "one")
    panel.api("DELETE", target, headers={"If-Match": tag}, status=412)
    for value in ("yesterday", '"x"', '""', "1", "'1'"):
        answer = panel.api("PATCH", target, {"note": "three"}, {"If-Match": value})
        check(400 <= answer.status < 500, value, answer)
    same(panel.api("GET", target).json["note"], "one")


def test_idempotency(panel):
    key = {"Idempotency-Key": "k1"}
    first = panel.api("POST", "/users", {"name": "anna"}, key, status=201)
    again = panel.api("POST", "/users", {"name": "anna"}, key, status=201)
    same((first.json["id"], first.json["revision"]), (again.json["id"], again.json["revision"]))
    other = panel.api("POST", "/users", {"name": "bert"}, key, status=422)
    same(other.json["code"], "idempotency_key_reused")
    same(len(panel.api("GET", "/users").json["items"]), 1)


def test_dry_run_changes_nothing(panel):
    server = panel.server()
    user = panel.user("anna")
    before = state(panel)
    calls = [("POST", "/users?dry_run=1", {"name": "bert"}), ("PATCH", f"/users/{user['id']}?dry_run=1", {"note": "x"}),
             ("DELETE", f"/users/{user['id']}?dry_run=1", None), ("POST", f"/users/{user['id']}/rotate-link?dry_run=1", None),
             ("DELETE", f"/nodes/{server['node']['id']}?dry_run=1", None), ("POST", "/groups?dry_run=1", {"name": "G"}),
             ("POST", "/users/bulk?dry_run=1", {"operations": [{"op": "create", "name": "c"}]}),
             ("PATCH", "/settings?dry_run=1", {"title": "x"})]
    for method, path, body in calls:
        answer = panel.api(method, path, body)
        check(answer.status < 300, method, path, answer)
    same(state(panel), before, "something changed")
    same(panel.get(user["link"]).status, 200, "the link")


def test_queries(panel):
    for query in ("limit=0", "limit=501", "limit=x", "limit=1&limit=2", "cursor=x", "sort=size", "status=odd", "nope=1",
                  "limit=%zz", "q=%00"):
        answer = panel.api("GET", "/users?" + query)
        check(400 <= answer.status < 500, query, answer)
    for number in range(7):
        panel.user(f"u{number}")
    seen, cursor = [], ""
    while cursor is not None:
        page = panel.api("GET", f"/users?limit=2&sort=-name{'&cursor=' + cursor if cursor else ''}", status=200).json
        seen += [user["name"] for user in page["items"]]
        cursor = page["next_cursor"]
    same(seen, [f"u{number}" for number in reversed(range(7))])
    first = panel.api("GET", "/users?limit=2").json["next_cursor"]
    check(400 <= panel.api("GET", f"/users?limit=2&sort=created&cursor={first}").status < 500, "a foreign cursor")


def test_answers_are_json(panel):
    """Every list and detail is JSON that a strict reader takes, whatever was stored."""
    odd = 'a"b\\c</script><img src=x onerror=alert(1)>'
    user = panel.user(odd, note="line\nbreak\ttab", display_name=odd)
    answer = panel.api("GET", f"/users/{user['id']}", status=200)
    same(json.loads(answer.body)["name"], odd)
    check(b"<script" not in answer.body and b"<img" not in answer.body, "B131", answer)
