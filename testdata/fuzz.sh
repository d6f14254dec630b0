# Runs each fuzz target for a short while: sh testdata/fuzz.sh 3s
set -eu
time=${1:-3s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz PKG TARGET. Inputs are hardly minimized: in a few seconds nothing else would be done.
fuzz() {
	go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1x "$1" >"$log" 2>&1
}

for pkg in $(go list ./...); do
	for f in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		tries=1
		until fuzz "$pkg" "$f"; do
			# When the time is over while a worker is busy, go test may say just this. A finding it says otherwise: with the input.
			if [ $tries = 4 ] || ! grep -q '^ *context deadline exceeded$' "$log" || grep -q 'Failing input\|panic\|terminated' "$log"; then
				cat "$log"
				exit 1
			fi
			tries=$((tries + 1))
		done
		cat "$log"
	done
done
