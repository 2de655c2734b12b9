#!/bin/bash
# Runs every unit test under $1/tests; each prints its failing checks and `name: N passed, N failed`.
# A program that dies counts as one failure. Ends with the sum.
objects=$1
passed=0 failed=0
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1"
for source in tests/*/test_*.c; do
	program=$objects/${source%.c}
	if [ ! -x "$program" ]; then
		echo "$program: not built"
		failed=$((failed + 1))
		continue
	fi
	output=$(timeout 300 "$program" 2>&1)
	status=$?
	if [[ $output =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
		[ $status != 0 ] && echo "$output"
	else
		echo "$output" | tail -60
		echo "$program: ended with $status"
		failed=$((failed + 1))
	fi
done
echo "unit tests of $objects: $passed passed, $failed failed"
[ $failed = 0 ]
