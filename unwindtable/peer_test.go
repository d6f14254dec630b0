package unwindtable_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// cross lists the compilers of other machines, as far as they are installed.
var cross = []string{"gcc", "gcc -m32", "gcc -mx32", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "riscv64-linux-gnu-gcc", "clang-19"}

// targets lists machines that clang compiles for and dbg can't debug. lld links for those with "+".
var targets = []string{"+mips-linux-gnu", "+mipsel-linux-gnu", "+mips64-linux-gnuabi64", "+mips64el-linux-gnuabi64", "+mips64el-linux-gnuabin32",
	"+powerpc-linux-gnu", "+powerpc64-linux-gnu", "+powerpc64le-linux-gnu", "+s390x-linux-gnu", "+loongarch64-linux-gnu", "+sparcv9-linux-gnu",
	"sparc-linux-gnu", "m68k-linux-gnu", "+armeb-linux-gnueabi", "+aarch64_be-linux-gnu", "+riscv32-linux-gnu"}

// files are some of this machine, of other machines, linked and not, and with .debug_frame.
func files(t *testing.T) (out []string) {
	for _, pattern := range []string{
		"/bin/true", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib32/libc.so.6", "/usr/*-linux-gnu*/lib/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/crt1.o", "/usr/*-linux-gnu*/lib/crt1.o", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	} {
		found, _ := filepath.Glob(pattern)
		out = append(out, found...)
	}
	src := filepath.Join(fixture.Root(), "testdata/cfi/table.c")
	for i, cc := range cross {
		words := strings.Fields(cc)
		if !fixture.Has(t, words[0]) {
			continue
		}
		for _, flags := range []string{"-c -O2 -ffunction-sections", "-c -O1 -g -fno-asynchronous-unwind-tables", "-shared -nostdlib -O2 -fPIC"} {
			o := filepath.Join(t.TempDir(), "table"+string(rune('0'+i))+".o")
			args := append(append(words[1:], strings.Fields(flags)...), "-o", o, src)
			if msg, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
				t.Logf("%s %v: %v\n%s", words[0], args, err, msg)
				continue
			}
			out = append(out, o)
		}
	}
	for _, target := range targets {
		name, link := strings.CutPrefix(target, "+")
		if !fixture.Has(t, "clang-19") || link && !fixture.Has(t, "ld.lld-19") {
			continue
		}
		source := "cfi/table.c"
		if name == "m68k-linux-gnu" { // the compiler has no number for the return address
			source = "unwind/m68k.s"
		}
		args := []string{"cc=clang-19", "--target=" + name, "-O2", "-g", "-fno-stack-protector", "-fforce-dwarf-frame", "-fasynchronous-unwind-tables"}
		if link {
			args = append(args, "-shared", "-nostdlib", "-fPIC", "-fuse-ld=lld-19")
		} else {
			args = append(args, "-c")
		}
		out = append(out, fixture.Build(t, source, args...))
	}
	if fixture.Has(t, "go") { // .debug_frame, compressed and not
		for _, flags := range []string{"", "-ldflags=-compressdwarf=false"} {
			o := filepath.Join(t.TempDir(), "hello")
			args := []string{"build"}
			if flags != "" {
				args = append(args, flags)
			}
			if msg, err := exec.Command("go", append(args, "-o", o, filepath.Join(fixture.Root(), "testdata/cfi/hello.go"))...).CombinedOutput(); err != nil {
				t.Errorf("go build: %v\n%s", err, msg)
			}
			out = append(out, o)
		}
	}
	return out
}

// lines are the lines of a listing without blanks at the end, and without empty ones.
func lines(text []byte) (out []string) {
	for _, l := range strings.Split(string(text), "\n") {
		if i := strings.Index(l, " (loaded from "); i > 0 {
			l = l[:i] + " section:"
			l = strings.Replace(l, " section section:", " section:", 1)
		}
		if l = strings.TrimRight(l, " "); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// TestRaw holds --raw against readelf --debug-dump=frames.
func TestRaw(t *testing.T) {
	fixture.Need(t, "readelf")
	for _, path := range files(t) {
		cmd := exec.Command("readelf", "-W", "--debug-dump=frames,no-follow-links", path)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		peer, _ := cmd.Output() // it fails where a debug file is missing
		want := lines(peer)
		var b bytes.Buffer
		err := unwindtable.Print(context.Background(), &b, path, unwindtable.Options{Raw: true})
		frames, _, _ := bytes.Cut(b.Bytes(), []byte("\nUnwind section '.ARM.exidx'")) // TestExidxRaw has the rest
		got := lines(frames)
		if err != nil && len(want) > 2 {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: line %d:\n got %s\nwant %s", path, i, got[i], want[i])
				break
			}
		}
		if len(got) != len(want) && err == nil {
			t.Errorf("%s: %d lines, readelf has %d", path, len(got), len(want))
		}
		t.Logf("%s: %d lines", path, len(got))
	}
}

// TestRows: every form prints every file to its end.
func TestRows(t *testing.T) {
	for _, path := range files(t) {
		for _, opt := range []unwindtable.Options{{}, {JSON: true}} {
			var b bytes.Buffer
			err := unwindtable.Print(context.Background(), &b, path, opt)
			if err != nil && !strings.Contains(err.Error(), "no entries") && !strings.Contains(err.Error(), "no unwind tables") {
				t.Errorf("%s: %v", path, err)
			}
			if bytes.Contains(b.Bytes(), []byte("error")) && bytes.Contains(b.Bytes(), []byte("entry at")) {
				t.Errorf("%s: has errors", path)
			}
		}
	}
}
