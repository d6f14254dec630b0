#!/bin/sh
# Steps the programs that docs/unwinding.md speaks of, each on its own, and prints the reports into DIR.
#   sh scripts/check-all.sh DIR [FLAGS of dbg unwind check]
set -u
dir=$1
shift
here=$(cd "$(dirname "$0")/../testdata/check" && pwd)
mkdir -p "$dir"
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$dir/dbg" ./cmd/dbg) || exit 1
cd "$dir" || exit 1
g++ -O2 -o throws "$here/throws.cc"
rustc -O -o panics "$here/panics.rs"
go build -o routines "$here/routines.go"
gcc -O2 -o handled "$here/handled.c"
gcc -O2 -o jumps "$here/jumps.c"
gcc -O2 -pthread -o threads "$here/threads.c"
gcc -O2 -o crypto "$here/crypto.c" -l:libcrypto.so.3
check() { # NAME FLAGS... PROG ARGS...
	name=$1
	shift
	./dbg unwind check --output "$name.txt" $extra "$@" >/dev/null 2>"$name.err"
	printf '%-10s %s\n' "$name" "$(sed -n 's/^  judged *//p' "$name.txt")"
}
extra=$*
check ls --max 5000000 /bin/ls -lR /usr/share/doc
check python --max 5000000 /usr/bin/python3 -c 'for i in range(3000):
  try: raise ValueError(i) if i % 7 == 0 else KeyError(i)
  except (ValueError, KeyError) as e: str(e)'
check throws ./throws
check panics ./panics
check go ./routines
check signals --signal-every 1000 ./handled
check altstack --signal-every 1000 ./handled x
check jumps ./jumps
check threads ./threads
check linker /lib64/ld-linux-x86-64.so.2 --list /bin/ls
for a in hash bn p256 x25519 gcm ctr cbc chacha; do
	check "crypto-$a" ./crypto $a
done
# The first algorithm of the list is given up: while its seconds run, libcrypto loads its algorithms (11 million instructions).
# How many blocks were measured is in NAME.err.
check speed /usr/bin/openssl speed -seconds 3 -bytes 1024 md5 sha256 sha512 hmac ghash aes-128-cbc rsa2048 ecdsap256 ecdhx25519
check speed-gcm /usr/bin/openssl speed -seconds 15 -bytes 1024 -evp aes-128-gcm
check speed-poly /usr/bin/openssl speed -seconds 15 -bytes 1024 -evp chacha20-poly1305
