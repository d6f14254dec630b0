package session_test

import (
	"fmt"
	"math/rand/v2"
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

// passing is a program whose functions pass on what they were passed, and keep little of it: most of their variables are known only from
// their callers, some of them from their callers' callers.
const passing = `
#include <stdlib.h>
struct box { long a, b; };
volatile long sink;
#define N __attribute__((noinline, noclone))
#define PASS(name, next) N long name(struct box *p, long n, char *s) { long r = next(p, n + 1, s + 1); sink = r; return r + 1; }
N long last(struct box *p, long n, char *s) { sink = n; abort(); }
PASS(f9, last) PASS(f8, f9) PASS(f7, f8) PASS(f6, f7)
N long f5(struct box *p, long n, char *s) { long r = f6(p, n, s); sink = r; return r + p->a; }
PASS(f4, f5) PASS(f3, f4)
N long again(struct box *p, long n, char *s, int depth) {
	if (depth == 0) return f3(p, n, s) + 1;
	long r = again(p, n, s, depth - 1);
	sink = r;
	return r + 1;
}
N long f1(struct box *p, long n, char *s) { return again(p, n * 2, s, 20) + p->b; }
int main(int argc, char **argv) { struct box b = { 7, 8 }; return f1(&b, argc * 45, argv[0]); }
`

// passed is what the functions of passing are passed as n: whatever is said of it must be this.
var passed = map[string]int{"f1": 45, "again": 90, "f3": 90, "f4": 91, "f5": 92, "f6": 92, "f7": 93, "f8": 94, "f9": 95, "last": 96}

// TestOrderOfQuestions: what is said of a frame does not depend on what was asked before. Each answer is compared with that of a session
// that was asked nothing else.
func TestOrderOfQuestions(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "gdb")
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "passing.c"), filepath.Join(dir, "passing")
	if err := os.WriteFile(source, []byte(passing), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O2", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	core := fixture.Core(t, exe)
	type question struct {
		level int
		name  string
	}
	ask := func(s *session.Session, q question) string {
		thread, _ := s.Selected()
		v, err := s.Evaluate(thread, q.level, q.name)
		if err != nil {
			return err.Error()
		}
		opt := eval.DefaultOptions()
		opt.Inner = true
		return s.Format(v, opt)
	}
	var questions []question
	functions := map[int]string{}
	for _, f := range walkOf(t, openCore(t, core, exe), 0).Frames {
		if f.Function == nil || f.Module.Path != exe {
			continue
		}
		functions[f.Level] = f.FunctionName
		for _, name := range []string{"p", "n", "depth"} {
			questions = append(questions, question{f.Level, name})
		}
	}
	fresh := map[question]string{}
	known := 0
	for _, q := range questions {
		s := openCore(t, core, exe)
		fresh[q] = ask(s, q)
		s.Close()
		if n, err := strconv.Atoi(fresh[q]); q.name == "n" && err == nil && n != passed[functions[q.level]] {
			t.Errorf("n in %s, frame %d, is %d; it is %d", functions[q.level], q.level, n, passed[functions[q.level]])
		}
		if q.name == "p" && strings.Contains(fresh[q], "0x7ff") {
			known++
		}
	}
	if known < 10 {
		t.Errorf("p is known in %d frames only: %v", known, fresh)
	}
	// Whole backtraces, with and without evidence, in one go and in parts.
	backtrace := func(s *session.Session, evidence bool, from, count int) (wrong string) {
		thread, _ := s.Selected()
		n := 0
		_, err := s.EachFrameView(thread, from, session.ViewOptions{Evidence: evidence, Format: eval.DefaultOptions()}, func(v *session.FrameView) bool {
			for _, a := range v.Args {
				if want, ok := fresh[question{v.Level, a.Name}]; ok && a.Value != want {
					wrong = fmt.Sprintf("%s in frame %d is %q; asked alone it is %q", a.Name, v.Level, a.Value, want)
				}
			}
			n++
			return n != count && wrong == ""
		})
		if err != nil {
			t.Error(err)
		}
		return wrong
	}
	orders := 30
	if fixture.All() {
		orders = 10_000
	}
	s := openCore(t, core, exe)
	r := rand.New(rand.NewPCG(1, 2))
	for order := range orders {
		if r.IntN(3) == 0 {
			s.Close()
			s = openCore(t, core, exe)
		}
		var said []string
		for range 1 + r.IntN(8) {
			switch r.IntN(5) {
			case 0:
				from, count, evidence := r.IntN(30), r.IntN(20), r.IntN(2) == 0
				said = append(said, fmt.Sprintf("backtrace of %d from %d, %t", count, from, evidence))
				if wrong := backtrace(s, evidence, from, count); wrong != "" {
					t.Fatalf("order %d, %v: %s", order, said, wrong)
				}
			default:
				q := questions[r.IntN(len(questions))]
				said = append(said, fmt.Sprintf("%s of %d", q.name, q.level))
				if got := ask(s, q); got != fresh[q] {
					t.Fatalf("order %d, after %v: %s in frame %d is %q; asked alone it is %q", order, said, q.name, q.level, got, fresh[q])
				}
			}
		}
	}
}
