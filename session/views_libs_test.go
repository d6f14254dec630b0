package session_test

import (
	"path/filepath"
	"testing"

	"dbg/internal/fixture"
)

// library is a library whose views a program of testdata/view tests.
type library struct {
	name   string
	source string
	stops  int
	flags  func(t *testing.T) []string // for the headers and the library
}

// libraryBuilds are the compilers of the programs that use other libraries. Debian compiles those with a g++ that
// mangles names as clang 17 did.
var libraryBuilds = []struct {
	name  string
	flags []string
}{
	{"gcc-O0", []string{"-std=c++17", "-g", "-O0"}},
	{"gcc-O2", []string{"-std=c++17", "-g", "-O2"}},
	{"clang-O0", []string{"cc=clang++-19", "-std=c++17", "-g", "-O0", "-fno-limit-debug-info", "-w", "-fclang-abi-compat=17"}},
	{"clang-O2", []string{"cc=clang++-19", "-std=c++17", "-g", "-O2", "-fno-limit-debug-info", "-w", "-fclang-abi-compat=17"}},
}

// headers returns the flags for the headers of Debian's packages.
func headers(t *testing.T, suite string, packages ...string) []string {
	root := fixture.Debian(t, suite, packages...)
	return []string{"-isystem", filepath.Join(root, "usr/include")}
}

func boost(suite, version string) func(t *testing.T) []string {
	return func(t *testing.T) []string { return headers(t, suite, "libboost"+version+"-dev") }
}

// abseil links the static libraries of Abseil. The order of the libraries does not count.
func abseil(suite string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		root := fixture.Debian(t, suite, "libabsl-dev")
		libs, _ := filepath.Glob(filepath.Join(root, "usr/lib/x86_64-linux-gnu/libabsl_*.a"))
		// Libraries of a newer Debian call functions that a newer C library has.
		flags := []string{"-isystem", filepath.Join(root, "usr/include"), "-Wl,--defsym=__isoc23_strtol=strtol",
			"-Wl,--defsym=__isoc23_strtoll=strtoll", "-Wl,--defsym=__isoc23_strtoull=strtoull", "-Wl,--start-group"}
		flags = append(flags, libs...)
		return append(flags, "-Wl,--end-group")
	}
}

var libraries = []library{
	{"boost-1.74", "boost.cc", 4, boost("bookworm", "1.74")},
	{"boost-1.81", "boost.cc", 4, boost("bookworm", "1.81")},
	{"boost-1.83", "boost.cc", 4, boost("trixie", "1.83")},
	{"boost-1.88", "boost.cc", 4, boost("trixie", "1.88")},
	{"absl-20220623", "absl.cc", 2, abseil("bookworm")},
	{"absl-20240722", "absl.cc", 2, abseil("trixie")},
}

// TestLibraryViews compares what is shown with what programs tell that use other libraries than the
// standard one, in the process and in a core.
func TestLibraryViews(t *testing.T) {
	fixture.Sweep(t)
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			for _, b := range libraryBuilds {
				t.Run(b.name, func(t *testing.T) { l.views(t, b.name, b.flags) })
			}
		})
	}
}

func (l *library) views(t *testing.T, build string, flags []string) {
	t.Helper()
	flags = append(flags[:len(flags):len(flags)], l.flags(t)...)
	standardViews(t, l.source, l.stops, build, flags)
}
