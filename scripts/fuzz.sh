#!/bin/sh
# Runs each fuzz target for a short while: sh scripts/fuzz.sh 3s
# Each package is built once. As many targets run at once as there are processors,
# with one worker each. With FUZZ_PATTERN only targets whose name matches it
# (grep -E) run.
set -eu
if [ "${1:-}" = build ]; then # PACKAGE FOLDER BINARY, for xargs
	exec go test -vet=off -ldflags="-s -w" -c -fuzz=. -o "$4" "$2"
fi
if [ "${1:-}" = run ]; then # TIME CACHE BINARY FOLDER PACKAGE TARGET, for xargs
	cd "$5"
	log=$4.$7
	tries=1
	# In so short a time inputs can't be minimized too: once each.
	until "$4" -test.run='^$' -test.fuzz="^$7\$" -test.fuzztime="$2" -test.fuzzminimizetime=1x -test.parallel=1 -test.fuzzcachedir="$3/$6" >"$log" 2>&1; do
		# When the time is over while a worker is busy, the only complaint may be this one. A finding comes with its input.
		if [ $tries = 4 ] || ! grep -q '^ *context deadline exceeded$' "$log" || grep -q 'Failing input\|panic\|terminated' "$log"; then
			cat "$log"
			echo "FAIL	$6 $7: go test -run '^\$' -fuzz '^$7\$' $6"
			exit 1
		fi
		tries=$((tries + 1))
	done
	echo "ok  	$6 $7	$(sed -n 's/^fuzz: elapsed: [^,]*, \(execs: [0-9]*\) .*/\1/p' "$log" | tail -n 1)"
	exit 0
fi

time=${1:-3s}
here=$0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
jobs=$(nproc)
cache=$(go env GOCACHE)/fuzz

go list -f '{{.ImportPath}} {{.Dir}}' ./... >"$dir/all"
: >"$dir/packages"
while read -r pkg folder; do
	if grep -qs '^func Fuzz' "$folder"/*_test.go; then
		echo "$pkg $folder $dir/$(echo "$pkg" | tr / -).test" >>"$dir/packages"
	fi
done <"$dir/all"
xargs -L 1 -P "$jobs" sh "$here" build <"$dir/packages"

: >"$dir/list"
while read -r pkg folder binary; do
	targets=$(cd "$folder" && "$binary" -test.list '^Fuzz')
	for target in $targets; do
		echo "$time $cache $binary $folder $pkg $target" >>"$dir/list"
	done
done <"$dir/packages"
grep -E "${FUZZ_PATTERN:-}" "$dir/list" >"$dir/targets"
xargs -L 1 -P "$jobs" sh "$here" run <"$dir/targets"
echo "fuzzed $(wc -l <"$dir/targets") targets for $time each"
