package session_test

import (
	"strings"
	"testing"

	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestTorture is the torture list of the design, as far as it takes a process, a core or a file: each case is
// named after its line. What a made-up world can show is in frames.
func TestTorture(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"PLT while lazily binding":                                       torturePLT,
		"DW_CFA_register for the RA (glibc __longjmp)":                   tortureLongjmp,
		"CFA expressions with indexed registers (libcrypto bn_mul_mont)": tortureBignum,
		"realigned stacks with alloca":                                   tortureRealigned,
		"cold splits, basic-block sections":                              tortureSections,
		"swapcontext":                                                    tortureCoroutine,
		"split stacks":                                                   tortureSplitStacks,
		"a stack page missing from a core":                               tortureMissingPage,
		"the vDSO read from memory":                                      tortureVDSO,
		"_start and clone as ends":                                       tortureEnds,
		"a million frames":                                               tortureMillion,
		"load bias where address and offset differ":                      tortureBias,
		"a mapped file that was replaced (build ids differ)":             tortureReplaced,
		"jump to data":                                                   tortureData,
		"a thread stopped in a system call":                              tortureSyscall,
		"a noreturn call as the last instruction of a module":            tortureLastOfModule,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
	// What one program does that dies, against gdb.
	for name, how := range map[string]string{
		"a signal at a function's first instruction":             "first",
		"call through NULL":                                      "null",
		"jump to garbage":                                        "garbage",
		"a noreturn call as the last instruction of a function":  "noreturn",
		"sigaltstack (SP goes down), __restore_rt (CFA = deref)": "altstack",
		"a handler interrupted by a handler":                     "nested",
		"recursion":                                              "deep",
		"after longjmp":                                          "jump",
	} {
		for _, b := range []build{builds[0], builds[1], {name: "O2-static", flags: []string{"-g", "-O2", "-static"}}, {name: "clang", flags: []string{"cc=clang-19", "-g", "-O0"}}} {
			t.Run(name+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				fixture.Need(t, "gdb")
				exe := b.make(t, "torture/odd.c")
				core := fixture.Core(t, exe, how)
				compareCore(t, core, exe)
				s := openCore(t, core, "")
				checkEnd(t, s, 0)
			})
		}
	}
}

func openCore(t *testing.T, core, exe string) *session.Session {
	t.Helper()
	s, _ := newSession(t)
	if err := s.OpenCore(core, exe); err != nil {
		t.Fatal(err)
	}
	return s
}

// walkOf is the backtrace of a thread (0: the selected one) and its verdict.
func walkOf(t *testing.T, s *session.Session, id target.ThreadID) session.Backtrace {
	t.Helper()
	if id == 0 {
		id, _ = s.Selected()
	}
	bt, err := s.Backtrace(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return bt
}

// checkEnd expects that the walk reaches the thread's first function by tables alone, except for the
// first caller of an address that is not code.
func checkEnd(t *testing.T, s *session.Session, id target.ThreadID) session.Backtrace {
	t.Helper()
	bt := walkOf(t, s, id)
	last := bt.Frames[len(bt.Frames)-1]
	if !bt.End.Outermost || last.FunctionName != "_start" && !strings.Contains(last.FunctionName, "clone") {
		t.Errorf("the walk ends at %s: %+v", last.FunctionName, *bt.End)
	}
	for _, f := range bt.Frames {
		if f.Machine.Strategy > frames.Prologue {
			t.Errorf("frame %d, %s, was found by %s: %v", f.Level, f.FunctionName, f.Strategy, f.Attempts)
		}
	}
	return bt
}

// names are the functions of a backtrace, innermost first.
func names(bt session.Backtrace) string {
	var out []string
	for _, f := range bt.Frames {
		out = append(out, orUnknown(f.FunctionName))
	}
	return strings.Join(out, " ")
}

// run starts a program that will stop where a breakpoint is set, or die.
func run(t *testing.T, exe string, args []string, at ...string) (*session.Session, <-chan session.Event, session.Stopped) {
	t.Helper()
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Args: args, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	for _, f := range at {
		if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: f}}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return s, events, until[session.Stopped](t, events)
}

// stepi makes one step of one instruction.
func stepi(t *testing.T, s *session.Session, events <-chan session.Event) session.Stopped {
	t.Helper()
	if err := s.Step(session.StepInstruction, 1); err != nil {
		t.Fatal(err)
	}
	return until[session.Stopped](t, events)
}
