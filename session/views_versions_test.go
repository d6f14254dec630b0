package session_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// libraryVersion is a version of a standard library: the packages of one suite of Debian. The C library is that of
// the same suite, and the program is linked statically: it needs nothing that is not installed.
type libraryVersion struct {
	name     string
	suite    string
	packages []string
}

func libstdcxx(version, suite string) libraryVersion {
	packages := []string{"libstdc++-" + version + "-dev", "libgcc-" + version + "-dev"}
	return libraryVersion{"libstdc++-" + version, suite, packages}
}

func libcxx(version, suite string) libraryVersion {
	packages := []string{"libc++-" + version + "-dev", "libc++abi-" + version + "-dev", "libunwind-" + version + "-dev",
		"libgcc-12-dev"}
	return libraryVersion{"libc++-" + version, suite, packages}
}

// libraryVersions are the versions that Debian has. GCC 5 to 8 and libc++ 20 are in no suite that is still there;
// clang 19 can't compile libc++ 23.
var libraryVersions = []libraryVersion{
	libstdcxx("9", "bullseye"), libstdcxx("10", "bullseye"), libstdcxx("11", "bookworm"), libstdcxx("12", "bookworm"),
	libstdcxx("13", "trixie"), libstdcxx("14", "trixie"), libstdcxx("15", "sid"), libstdcxx("16", "sid"),
	libcxx("13", "bookworm"), libcxx("14", "bookworm"), libcxx("15", "bookworm"), libcxx("16", "bookworm"),
	libcxx("17", "trixie"), libcxx("18", "trixie"), libcxx("19", "trixie"), libcxx("21", "sid"), libcxx("22", "sid"),
}

// flags returns how clang uses the library instead of the system's.
func (v *libraryVersion) flags(t *testing.T) []string {
	root := fixture.Debian(t, v.suite, append(v.packages, "libc6-dev", "linux-libc-dev", "libcrypt-dev")...)
	flags := []string{"cc=clang++-19", "--sysroot=" + root, "-static", "-g", "-fno-limit-debug-info", "-w"}
	if version, ok := strings.CutPrefix(v.name, "libc++-"); ok {
		llvm := filepath.Join(root, "usr/lib/llvm-"+version)
		return append(flags, "-stdlib=libc++", "-nostdinc++", "-isystem", filepath.Join(llvm, "include/c++/v1"),
			"-L"+filepath.Join(llvm, "lib"),
			"--gcc-install-dir="+filepath.Join(root, "usr/lib/gcc/x86_64-linux-gnu/12"), "-lc++abi")
	}
	_, version, _ := strings.Cut(v.name, "++-")
	return append(flags, "--gcc-install-dir="+filepath.Join(root, "usr/lib/gcc/x86_64-linux-gnu", version))
}

// TestLibraryVersions is TestStandardViews with other versions of the standard libraries.
func TestLibraryVersions(t *testing.T) {
	fixture.Sweep(t)
	for _, v := range libraryVersions {
		t.Run(v.name, func(t *testing.T) {
			for _, b := range []struct{ name, level string }{{"O0", "-O0"}, {"O2", "-O2"}} {
				flags := append(slices.Clone(v.flags(t)), b.level)
				t.Run("std-"+b.name, func(t *testing.T) {
					standardViews(t, "std.cc", 4, b.name, append(slices.Clone(flags), "-std=c++20"))
				})
				t.Run("more-"+b.name, func(t *testing.T) {
					standardViews(t, "more.cc", 5, b.name, append(slices.Clone(flags), "-std=c++23"))
				})
			}
		})
	}
}
