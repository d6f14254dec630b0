#!/bin/sh
# Installs the Debian packages that the tests use, when it runs as root on a
# Debian machine; otherwise prints in one line what is missing. With CI set it
# fails when something is still missing at the end, and names it.
set -u

# check sets missing to the packages that are not installed.
check() {
	missing=
	need gcc gcc
	need g++ g++
	need gdb gdb
	need gdb-add-index gdb
	need gdb-multiarch gdb-multiarch
	need objdump binutils
	need gold binutils
	need clang-19 clang-19
	need_file /usr/lib/llvm-19/include/c++/v1/vector libc++-19-dev
	need_file /usr/lib/llvm-19/lib/libc++abi.a libc++abi-19-dev
	need ld64.lld-19 lld-19
	need llvm-objdump-19 llvm-19
	need lldb-19 lldb-19
	need eu-stack elfutils
	need musl-gcc musl-tools
	need dwz dwz
	need debuginfod-find debuginfod
	need xz xz-utils
	need lz4 lz4
	need zstd zstd
	# Signal trampolines and tables of other machines.
	need qemu-arm qemu-user
	need qemu-system-x86_64 qemu-system-x86
	need i686-linux-gnu-gcc gcc-i686-linux-gnu
	need arm-linux-gnueabihf-gcc gcc-arm-linux-gnueabihf
	need arm-linux-gnueabihf-g++ g++-arm-linux-gnueabihf
	need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
	need riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu
	need mips-linux-gnu-as binutils-mips-linux-gnu
	for a in i386 armhf arm64 riscv64; do
		need_file "/usr/share/doc/libc6-dev-$a-cross" "libc6-dev-$a-cross"
	done
	# Debian 12's rustc is 1.63. The fixtures use what 1.66 made stable; rustc-web is the compiler that Debian updates.
	rust_is_new || add rustc-web
	need openssl openssl
	need node nodejs
	need python3 python3
	need npm npm
	need_file /usr/lib/x86_64-linux-gnu/libc.a libc6-dev
	need_file /usr/lib/debug/.build-id libc6-dbg
}

need() { # COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || add "$2"
}

need_file() { # PATH PACKAGE
	[ -e "$1" ] || add "$2"
}

add() { # PACKAGE, once
	case " $missing " in
	*" $1 "*) ;;
	*) missing="$missing $1" ;;
	esac
}

rust_is_new() {
	rustc=$(command -v rustc || echo "${HOME:-}/.cargo/bin/rustc")
	minor=$("$rustc" --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')
	[ "${minor:-0}" -ge 66 ]
}

install() { # PACKAGE...
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-unsafe-io "$@" >"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=
check
if [ -z "$missing" ]; then
	:
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing:$missing"
	apt-get update -qq -o DPkg::Lock::Timeout=300 >"$log" 2>&1 || cat "$log"
	# All at once is quick. One by one tells which one can't be had.
	if ! install $missing; then
		for p in $missing; do
			install "$p" || { echo "could not install $p:"; tail -n 5 "$log"; }
		done
	fi
	check
	[ -z "$missing" ] || { echo "still not installed:$missing"; failed=1; }
else
	echo "not installed, their tests are skipped:$missing"
	failed=1
fi

# The client of the Debug Adapter Protocol that VS Code's own tests use.
client=dap/testdata/client
if [ ! -d "$client/node_modules/@vscode/debugadapter-testsupport" ] && command -v npm >/dev/null 2>&1; then
	npm ci --prefix "$client" --no-audit --no-fund --silent || { echo "could not install the test client: npm ci --prefix $client"; failed=1; }
fi
if [ -n "${CI:-}" ] && [ -n "$failed" ]; then
	exit 1
fi
exit 0
