#!/bin/bash
# Everything that `make check` does, step by step. Each step says `N passed, N failed[, N skipped]` in its
# last such line; the last line here is the sum. What a step wrote stays in build/check/<step>.log.
cd "$(dirname "$0")/.." || exit 1
logs=build/check
mkdir -p $logs
passed=0 failed=0 skipped=0
started=$SECONDS

step() { # name, command...
	local name=$1 log=$logs/$1.log begun=$SECONDS status line p=0 f=0 s=0
	shift
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	line=$(grep -E '[0-9]+ passed, [0-9]+ failed' "$log" | tail -1)
	if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
		p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[4]:-0}
	elif [ $status = 0 ]; then
		p=1 # a build, a linter: it passed as a whole
	fi
	[ $status != 0 ] && [ $f = 0 ] && f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-14s %4d passed %3d failed %3d skipped  %4d s\n' "$name" $p $f $s $((SECONDS - begun))
	[ $f = 0 ] || { echo "--- the end of $log:"; tail -40 "$log"; echo "---"; }
	[ $f = 0 ]
}

make="make --no-print-directory -j$(nproc) WERROR=1"
manual() {
	# groff speaks of a fault only on standard error
	[ -z "$(groff -man -ww -z packaging/man/*.1 2>&1 | tee /dev/stderr)" ]
}

step source python3 tests/source.py
step manual manual
step build-gcc $make FLAVOUR=release all tests && {
	step unit $make FLAVOUR=release unit
	step api python3 tests/api/run.py
	step kill python3 tests/api/kill.py
	[ -f tests/api/schemathesis.sh ] && step schemathesis bash tests/api/schemathesis.sh
}
step asan-build $make FLAVOUR=asan build/asan/hythe tests && {
	step asan-unit $make FLAVOUR=asan unit
	step asan-api env HYTHE=build/asan/hythe python3 tests/api/run.py --quick
}
# clang compiles everything once here, so its warnings are errors too.
step tsan-build $make FLAVOUR=tsan CC=clang build/tsan/hythe tests && {
	step tsan-unit $make FLAVOUR=tsan CC=clang unit
	step tsan-api env HYTHE=build/tsan/hythe python3 tests/api/run.py --quick
}
step fuzz-build $make FLAVOUR=fuzz CC=clang fuzzers &&
	step fuzz-replay $make FLAVOUR=fuzz CC=clang replay

echo "in $((SECONDS - started)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
