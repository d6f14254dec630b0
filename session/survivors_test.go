package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
)

// TestSurvivorsPastGuesses: of a frame that was found by a guess, past a library whose file is gone, it is not known which registers the
// frames inside of it have saved. A variable that was in one of them is unknown, and not what that register has now.
func TestSurvivorsPastGuesses(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "gdb")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	library := filepath.Join(dir, "libmid.so")
	for _, args := range [][]string{
		{"-O2", "-shared", "-fPIC", "-o", library, write("mid.c", `
long mid(long (*f)(long), long v) {
	long a = v * 3, b = v * 5, c = v * 7, d = v * 11, e = v * 13;
	long r = f(v);
	return r + a * b + c * d + e; /* in rbx, rbp, r12 to r15 across the call */
}
`)},
		{"-g", "-O2", "-o", filepath.Join(dir, "prog"), write("prog.c", `
#include <stdlib.h>
long mid(long (*)(long), long);
volatile long zero;
static __attribute__((noinline)) long bottom(long v) { *(volatile long *)zero = v; return v; }
static __attribute__((noinline)) long run(long n) {
	long r = mid(bottom, n + 1);
	zero = r;
	return n + r;
}
int main(int argc, char **argv) { return run(argc > 1 ? atol(argv[1]) : 90); }
`), library, "-Wl,-rpath," + dir},
	} {
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	exe := filepath.Join(dir, "prog")
	core := fixture.Core(t, exe)
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.Remove(library); err != nil {
				t.Fatal(err)
			}
		}
		s := openCore(t, core, exe)
		bt := walkOf(t, s, 0)
		found := false
		for i := range bt.Frames {
			f := &bt.Frames[i]
			if f.FunctionName != "run" {
				continue
			}
			found = true
			thread, _ := s.Selected()
			v, err := s.Evaluate(thread, f.Level, "n")
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Format(v, eval.DefaultOptions()); got != "90" && !(gone && (got == "<optimized out>" || got == "<not saved>")) {
				t.Errorf("library gone: %t: n = %s in the frame found by %s; it is 90", gone, got, f.Strategy)
			}
		}
		if !found && !gone {
			t.Errorf("no frame of run: %s", names(bt))
		}
		if !found {
			t.Logf("the frame of run was not found: %s", names(bt))
		}
	}
}
