#!/bin/bash
# Holds the running panel against web/openapi.yaml: starts `hythe serve --dev` on free loopback ports with
# data of its own, and lets schemathesis (PyPI, in a virtual environment below build/) try every call.
# The admin has a listener of its own, so that a changed prefix does not take the API away.
#
#	tests/api/schemathesis.sh [path of hythe]
#
# Prints one line at its end: `schemathesis: 1 passed, 0 failed`.
set -u
version=4.32.5
hythe=${1:-build/hythe}
venv=build/schemathesis
data=$(mktemp -d)
pid=

finish() {
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	rm -rf "$data"
}
trap finish EXIT

failed() {
	echo "schemathesis: $1" >&2
	echo "schemathesis: 0 passed, 1 failed"
	exit 1
}

if [ "$("$venv/bin/schemathesis" --version 2>/dev/null)" != "schemathesis, version $version" ]; then
	{ python3 -m venv "$venv" && "$venv/bin/pip" install --quiet "schemathesis==$version"; } >&2 ||
		failed "cannot be installed from PyPI"
fi

read -r public admin < <(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for one in s: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in s))')

"$hythe" serve --dev --data-dir "$data/data" --listen "127.0.0.1:$public" \
	--admin-listen "127.0.0.1:$admin" >"$data/out" 2>"$data/log" &
pid=$!
for _ in $(seq 100); do
	[ -s "$data/data/dev-token" ] && curl -fs "http://127.0.0.1:$admin/api/v1/health" >/dev/null && break
	kill -0 "$pid" 2>/dev/null || break
	sleep 0.1
done
[ -s "$data/data/dev-token" ] || { cat "$data/log" >&2; failed "the panel did not start"; }

# It leaves a folder where it runs, so it runs where the data are.
root=$PWD
(cd "$data" && exec "$root/$venv/bin/schemathesis" --config-file "$root/tests/api/schemathesis.toml" run "$root/web/openapi.yaml" \
	--url "http://127.0.0.1:$admin/api/v1" --header "Authorization: Bearer $(cat "$data/data/dev-token")" \
	--checks all --seed "${SEED:-1}" --max-time "${SECONDS_MAX:-150}" --request-timeout 10 ${SCHEMATHESIS:-}) >"$data/report" 2>&1
status=$?
if [ $status != 0 ]; then
	cat "$data/report"
	grep -v 'level=info' "$data/log" | tail -20
	failed "found something"
fi
kill -0 "$pid" 2>/dev/null || failed "the panel died"
echo "schemathesis: 1 passed, 0 failed"
