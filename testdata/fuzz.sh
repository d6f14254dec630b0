# Runs each fuzz target for a short while: sh testdata/fuzz.sh 3s
set -eu
time=${1:-3s}
for pkg in $(go list ./...); do
	for f in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		go test -run '^$' -fuzz "^$f\$" -fuzztime "$time" "$pkg"
	done
done
