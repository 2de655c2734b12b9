#!/bin/bash
# Sends the kept inputs of every fuzz target through it once. One target is one test.
objects=$1
passed=0 failed=0
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "${source%.c}")
	corpus=tests/fuzz/corpus/${name#fuzz_}
	if [ ! -d "$corpus" ] || [ -z "$(ls -A "$corpus")" ]; then
		echo "$name: no inputs in $corpus"
		failed=$((failed + 1))
	elif output=$(timeout 120 "$objects/fuzz/$name" -runs=0 "$corpus" 2>&1); then
		passed=$((passed + 1))
	else
		echo "$output" | tail -40
		failed=$((failed + 1))
	fi
done
echo "fuzz corpora: $passed passed, $failed failed"
[ $failed = 0 ]
