#!/bin/sh
# Rebuilds the demo program, with the same bytes from the same compiler wherever
# the checkout is, and writes down what it was built from.
set -eu
cd "$(dirname "$0")"
CC=${CC:-gcc}
OUT=${1:-demo}
$CC -g -gdwarf-5 -O0 -std=c11 -Wall -static -nostdlib -ffreestanding -fno-stack-protector \
	-fno-pie -no-pie -fcf-protection=none -fno-omit-frame-pointer -fasynchronous-unwind-tables \
	-frandom-seed=demo -fdebug-prefix-map="$PWD"=/dbg-demo -gno-record-gcc-switches \
	-Wl,--build-id=sha1 -Wl,-z,noexecstack -Wl,-z,max-page-size=4096 -o "$OUT" demo.c
if [ "$OUT" = demo ]; then
	{ sha256sum demo.c demo; printf 'compiler  %s\n' "$($CC --version | head -n 1)"; } >sums
fi
