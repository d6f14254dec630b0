package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/session"
)

// TestCopiedVariables: a library's variable of which the program has a copy is the program's, whether the library has debug information
// or the program's declaration is all that there is. The program says where it has them.
func TestCopiedVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	library := write("lib.c", `
int shared_count = 5;
static int hidden_count = 7;
int *library_place(void) { return &shared_count; }
int library_sum(void) { return shared_count + hidden_count; }
`)
	main := write("main.c", `
#include <stdio.h>
#include <unistd.h>
extern int shared_count;
int *library_place(void); int library_sum(void);
void *places[3];
void stop_here(void) {}
int main(void) {
	shared_count = 42;
	places[0] = &shared_count; places[1] = library_place(); places[2] = &stdout;
	stop_here();
	return library_sum();
}
`)
	for _, debug := range []string{"-g", "-g0"} {
		for _, pie := range []string{"-no-pie", "-pie"} {
			t.Run(debug+pie, func(t *testing.T) {
				out := filepath.Join(dir, debug+pie)
				compile := func(args ...string) {
					t.Helper()
					if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, b)
					}
				}
				compile(debug, "-shared", "-fPIC", "-o", out+".so", library)
				if pie == "-pie" {
					compile("-g", "-fPIE", "-pie", "-o", out, main, out+".so", "-Wl,-rpath,"+dir)
				} else {
					compile("-g", "-fno-pie", "-no-pie", "-o", out, main, out+".so", "-Wl,-rpath,"+dir)
				}
				s, events := newSession(t)
				dev := null(t)
				if err := s.Load(session.Program{Path: out, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "stop_here"}}, false); err != nil {
					t.Fatal(err)
				}
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				stop, ok := next(t, events).(session.Stopped)
				if !ok {
					t.Fatal("the program has ended")
				}
				value := func(text string) string {
					v, err := s.Evaluate(stop.Thread, 0, text)
					if err != nil {
						return err.Error()
					}
					return s.Format(v, eval.DefaultOptions())
				}
				for text, want := range map[string]string{
					"shared_count":                       "42",
					"(void *)&shared_count == places[0]": "1", "(void *)&shared_count == places[1]": "1", "(void *)&stdout == places[2]": "1",
				} {
					if got := value(text); got != want {
						t.Errorf("%s is %s, want %s", text, got, want)
					}
				}
				if got := value("hidden_count"); debug == "-g" && got != "7" {
					t.Errorf("a variable of the library alone is %s", got)
				}
				if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "library_sum"}, Condition: "shared_count == 42"}, false); err != nil {
					t.Fatal(err)
				}
				if err := s.Continue(0); err != nil {
					t.Fatal(err)
				}
				stop, ok = next(t, events).(session.Stopped)
				if f, err := s.Frame(stop.Thread, 0); !ok || err != nil || !strings.Contains(f.FunctionName, "library_sum") {
					t.Errorf("the condition was not true where it is: %+v, %v", f, err)
				}
				if got := value("shared_count"); got != "42" {
					t.Errorf("in the library shared_count is %s", got)
				}
			})
		}
	}
}
