#!/bin/sh
# Makes testdata/macho/rust/: sorts.rs as dylibs for macOS, and SHA256SUMS, which
# ties them to their source. Run it after a change of sorts.rs or of this script:
#
#	apt-get install rustc-web rust-web-src lld-19 xz-utils
#	sh testdata/macho/rust.sh
#
# No package has Rust's library for macOS. The program uses no more than core, and
# Debian has the source of that; it must be of the compiler's own version. RUSTC
# and RUST_LIBRARY name another compiler and its source.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rustc=${RUSTC:-/usr/bin/rustc}
library=${RUST_LIBRARY:-/usr/src/rustc-$("$rustc" --version | cut -d' ' -f2)/library}
[ -d "$library/core" ] || { echo "no source of Rust's library in $library"; exit 1; }
# core uses features that only the library may use.
export RUSTC_BOOTSTRAP=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The compiler wants this crate. Its functions come from the process that loads the dylib.
cat >"$tmp/builtins.rs" <<'END'
#![feature(compiler_builtins)]
#![allow(internal_features)]
#![compiler_builtins]
#![no_std]
END

rm -rf "$here/rust"
mkdir "$here/rust"
for machine in x86_64 arm64; do
	target=$machine-apple-darwin
	[ $machine = arm64 ] && target=aarch64-apple-darwin
	out=$tmp/$machine
	common="--target $target -L $out -Cforce-unwind-tables=yes --remap-path-prefix $library=library --remap-path-prefix $here=macho"
	mkdir "$out"
	"$rustc" $common --edition 2024 --crate-type rlib --crate-name core -Copt-level=3 -Awarnings --out-dir "$out" "$library/core/src/lib.rs"
	"$rustc" $common --edition 2024 --crate-type rlib --crate-name compiler_builtins --out-dir "$out" "$tmp/builtins.rs"
	for level in 0 2 s; do
		"$rustc" $common --edition 2021 -Cpanic=abort -Coverflow-checks=off -Copt-level=$level -o "$out/sorts.a" "$here/sorts.rs"
		ld64.lld-19 -arch $machine -platform_version macos 11 11 -undefined dynamic_lookup -dylib -install_name @rpath/sorts.dylib \
			-u _run -u _finish -dead_strip -o "$out/sorts.dylib" "$out/sorts.a"
		xz -9e --threads=1 --stdout "$out/sorts.dylib" >"$here/rust/sorts-$machine-O$level.dylib.xz"
	done
done
cd "$here"
sha256sum sorts.rs rust.sh rust/*.xz >"$tmp/sums"
mv "$tmp/sums" rust/SHA256SUMS
