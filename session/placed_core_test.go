package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// qemuCore builds the program "passing" for another machine and lets QEMU write a core of it, which names no files.
func qemuCore(t *testing.T, triple, qemu string, flags ...string) (exe, core string) {
	t.Helper()
	fixture.Need(t, triple+"-gcc")
	fixture.Need(t, qemu)
	dir := t.TempDir()
	source := filepath.Join(dir, "passing.c")
	exe = filepath.Join(dir, "passing")
	if err := os.WriteFile(source, []byte(strings.ReplaceAll(passing, "abort();", "__builtin_trap();")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(triple+"-gcc", append(flags, "-g", "-o", exe, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited; exec "+qemu+" -L /usr/"+triple+" "+exe)
	cmd.Dir = dir
	_ = cmd.Run() // it dies; that is what it is for
	found, _ := filepath.Glob(filepath.Join(dir, "qemu_*.core"))
	if len(found) != 1 {
		t.Fatalf("%s has left %d cores", qemu, len(found))
	}
	return exe, found[0]
}

// TestCoresThatNameNoFiles: the program that is given is placed by the auxiliary vector, and the libraries by the dynamic linker's list.
func TestCoresThatNameNoFiles(t *testing.T) {
	t.Parallel()
	for _, m := range []struct{ triple, qemu string }{
		{"aarch64-linux-gnu", "qemu-aarch64"}, {"arm-linux-gnueabihf", "qemu-arm"}, {"i686-linux-gnu", "qemu-i386"},
	} {
		for i, flags := range [][]string{{"-O2"}, {"-O2", "-static"}, {"-O0"}, {"-O1", "-no-pie"}} {
			if i > 1 && !fixture.All() {
				break
			}
			t.Run(m.triple+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				exe, core := qemuCore(t, m.triple, m.qemu, flags...)
				s := session.New(session.Config{Sysroot: "/usr/" + m.triple})
				defer s.Close()
				if err := s.OpenCore(core, exe); err != nil {
					t.Fatal(err)
				}
				bt := walkOf(t, s, 0)
				if got, want := names(bt), "last f9 f8 f7 f6 f5 f4 f3"+strings.Repeat(" again", 21)+" f1 main"; !strings.HasPrefix(got, want) {
					t.Errorf("the backtrace is %s; %+v", got, s.Warnings())
				}
				thread, _ := s.Selected()
				known := 0
				for _, f := range bt.Frames {
					v, err := s.Evaluate(thread, f.Level, "n")
					if err != nil {
						continue
					}
					text := s.Format(v, eval.DefaultOptions())
					if n, err := strconv.Atoi(text); err == nil {
						if known++; n != passed[f.FunctionName] {
							t.Errorf("n in %s, frame %d, is %d; it is %d", f.FunctionName, f.Level, n, passed[f.FunctionName])
						}
					}
				}
				if known == 0 {
					t.Error("n is known in no frame")
				}
				if strings.Contains(strings.Join(flags, ""), "static") {
					return
				}
				libc := false
				for _, m := range s.DescribeModules() {
					libc = libc || strings.Contains(m.Path, "libc.so")
				}
				if !libc {
					t.Errorf("the C library was not found: %v", s.Warnings())
				}
			})
		}
	}
}

// TestCoreOfAnotherProgram: a program that the core is not of is not placed, and that is said.
func TestCoreOfAnotherProgram(t *testing.T) {
	t.Parallel()
	_, core := qemuCore(t, "aarch64-linux-gnu", "qemu-aarch64", "-O2")
	other, _ := qemuCore(t, "aarch64-linux-gnu", "qemu-aarch64", "-O2", "-static")
	host, _ := passingCore(t)
	for _, exe := range []string{other, host} {
		s := session.New(session.Config{})
		defer s.Close()
		if err := s.OpenCore(core, exe); err != nil {
			t.Fatal(err)
		}
		if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "is not") || !strings.Contains(w, filepath.Base(exe)) {
			t.Errorf("it is not said that %s is not the core's: %q", exe, w)
		}
		for _, f := range walkOf(t, s, 0).Frames {
			if f.FunctionName != "" {
				t.Errorf("frame %d is %s", f.Level, f.FunctionName)
			}
		}
	}
	s := session.New(session.Config{})
	defer s.Close()
	if err := s.OpenCore(core, ""); err != nil {
		t.Fatal(err)
	}
	walkOf(t, s, 0)
}
