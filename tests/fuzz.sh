#!/bin/bash
# Fuzzes every target of $1 for $2 seconds. New inputs and findings stay under build.
objects=$1 seconds=$2
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "${source%.c}")
	mkdir -p "$objects/found/$name"
	echo "$name"
	"$objects/fuzz/$name" -max_total_time="$seconds" -print_final_stats=0 -verbosity=0 \
		-artifact_prefix="$objects/found/$name/" "$objects/found/$name" "tests/fuzz/corpus/${name#fuzz_}" || exit 1
done
