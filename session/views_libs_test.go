package session_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	{"clang-O0", append(slices.Clone(clangFlags), "-O0")},
	{"clang-O2", append(slices.Clone(clangFlags), "-O2")},
}

var clangFlags = []string{"cc=clang++-19", "-std=c++17", "-g", "-fno-limit-debug-info", "-w", "-fclang-abi-compat=17"}

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
		flags := []string{"-isystem", filepath.Join(root, "usr/include"), "-Wl,--start-group"}
		flags = append(flags, libs...)
		return append(flags, "-Wl,--end-group")
	}
}

func eigen(suite string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		root := fixture.Debian(t, suite, "libeigen3-dev")
		return []string{"-isystem", filepath.Join(root, "usr/include/eigen3")}
	}
}

// formats are the libraries that are headers only. clang 19 can't compile rapidjson of older suites.
func formats(suite string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		return append(headers(t, suite, "libfmt-dev", "nlohmann-json3-dev"), headers(t, "trixie", "rapidjson-dev")...)
	}
}

// qt links the core library of a version of Qt with what it needs.
func qt(version string, packages ...string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		root := fixture.Debian(t, "bookworm", append(packages, "libicu72", "libdouble-conversion3", "libpcre2-16-0",
			"libzstd1", "zlib1g", "libglib2.0-0", "libb2-1", "libproxy1v5")...)
		libs := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
		include := filepath.Join(root, "usr/include/x86_64-linux-gnu/qt"+version)
		return []string{"-fPIC", "-isystem", include, "-isystem", filepath.Join(include, "QtCore"),
			filepath.Join(libs, "libQt"+version+"Core.so."+version), "-Wl,--disable-new-dtags,-rpath," + libs,
			"-Wl,-rpath-link," + libs}
	}
}

// protobuf links the library with the code that the suite's protoc makes of sample.proto.
func protobuf(suite, version string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		root := fixture.Debian(t, suite, "libprotobuf-dev", "protobuf-compiler", "libprotobuf"+version, "libprotoc"+version)
		libs := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
		made := generated(t, root, libs)
		return []string{"-isystem", filepath.Join(root, "usr/include"), "-isystem", made,
			filepath.Join(libs, "libprotobuf.so."+version), "-Wl,--disable-new-dtags,-rpath," + libs}
	}
}

// generated returns a folder with the code for sample.proto. It is kept beside protoc, by the hash of the messages.
func generated(t *testing.T, root, libs string) string {
	t.Helper()
	folder := filepath.Join(fixture.Root(), "testdata/view")
	text, err := os.ReadFile(filepath.Join(folder, "sample.proto"))
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(root, fmt.Sprintf("generated-%x", sha256.Sum256(text)))
	if err := os.MkdirAll(made, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(root, "usr/bin/protoc"), "-I", folder, "--cpp_out="+made, "sample.proto",
		"--experimental_allow_proto3_optional")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libs)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("protoc: %v %s", err, text)
	}
	return made
}

var libraries = []library{
	{"boost-1.74", "boost.cc", 4, boost("bookworm", "1.74")},
	{"boost-1.81", "boost.cc", 4, boost("bookworm", "1.81")},
	{"boost-1.83", "boost.cc", 4, boost("trixie", "1.83")},
	{"boost-1.88", "boost.cc", 4, boost("trixie", "1.88")},
	{"absl-20220623", "absl.cc", 2, abseil("bookworm")},
	{"absl-20240722", "absl.cc", 2, abseil("trixie")},
	{"eigen-3.3", "eigen.cc", 1, eigen("bullseye")},
	{"eigen-3.4", "eigen.cc", 1, eigen("bookworm")},
	{"qt-5", "qt.cc", 2, qt("5", "qtbase5-dev", "libqt5core5a")},
	{"qt-6", "qt.cc", 2, qt("6", "qt6-base-dev", "libqt6core6")},
	{"formats-2021", "formats.cc", 2, formats("bullseye")},
	{"formats-2023", "formats.cc", 2, formats("bookworm")},
	{"formats-2025", "formats.cc", 2, formats("trixie")},
	{"protobuf-3.21", "protobuf.cc", 3, protobuf("bookworm", "32")},
	{"formats-sid", "formats.cc", 2, formats("sid")},
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
