# Installs the Debian packages that the tests use, when it runs as root on a
# Debian machine; otherwise says in one line what is missing.
set -u
missing=
need() { # COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need gcc gcc
need g++ g++
need gdb gdb
need objdump binutils
need strip binutils
need clang-19 clang-19
need ld64.lld-19 lld-19
need llvm-objdump-19 llvm-19
need dwz dwz
need debuginfod-find debuginfod
need xz xz-utils
# Signal trampolines and tables of other machines.
need qemu-arm qemu-user
need i686-linux-gnu-gcc gcc-i686-linux-gnu
need arm-linux-gnueabihf-gcc gcc-arm-linux-gnueabihf
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
need riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu
for a in i386 armhf arm64 riscv64; do
	[ -d "/usr/share/doc/libc6-dev-$a-cross" ] || missing="$missing libc6-dev-$a-cross"
done
need rustc rustc
need openssl openssl
need node nodejs
need npm npm
[ -e /usr/lib/x86_64-linux-gnu/libc.a ] || missing="$missing libc6-dev"
[ -d /usr/lib/debug/.build-id ] || missing="$missing libc6-dbg"
if [ -z "$missing" ]; then
	:
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing:$missing"
	apt-get update -qq >/dev/null 2>&1
	for p in $missing; do
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$p" >/dev/null 2>&1 ||
			echo "could not install $p"
	done
else
	echo "not installed, their tests are skipped:$missing"
fi
# The client of the Debug Adapter Protocol that VS Code's own tests use.
client=dap/testdata/client
if [ ! -d "$client/node_modules" ] && command -v npm >/dev/null 2>&1; then
	npm ci --prefix "$client" --no-audit --no-fund --silent || echo "could not install the test client: npm ci --prefix $client"
fi
exit 0
