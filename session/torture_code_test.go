package session_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// A call of data: nothing of it has run, so that the caller is on top of the stack.
func tortureData(t *testing.T) {
	for _, b := range builds[:4] {
		bt := checkEnd(t, openCore(t, fixture.Core(t, b.make(t, "torture/odd.c"), "data"), ""), 0)
		if all := names(bt); !strings.Contains(all, "call main") || bt.Frames[1].FunctionName != "call" || bt.Frames[1].Strategy != "prologue" {
			t.Errorf("%s: %s", b.name, all)
		}
	}
}

// Each instruction from the stub through the dynamic linker to the library's function.
func torturePLT(t *testing.T) {
	for _, flags := range [][]string{{"-Wl,-z,lazy"}, {"-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"}} {
		exe := fixture.Build(t, "c/plt.c", append([]string{"-g", "-O1"}, flags...)...)
		s, events, stop := run(t, exe, nil, "caller")
		inStub, steps, byTable := 0, 0, 0
		for ; steps < 20_000; steps++ {
			bt := walkOf(t, s, stop.Thread)
			if all := names(bt); !strings.Contains(all, "caller main") || !bt.End.Outermost {
				t.Fatalf("after %d instructions: %s, %+v", steps, all, bt.End)
			}
			if strings.Contains(bt.Frames[0].FunctionName, "@plt") {
				inStub++
				if bt.Frames[1].Strategy == "cfi" {
					byTable++
				}
			}
			if n := bt.Frames[0].FunctionName; n == "puts" || n == "_IO_puts" || n == "__GI__IO_puts" {
				break
			}
			stop = stepi(t, s, events)
		}
		if inStub < 2 || steps < 200 || byTable == 0 {
			t.Errorf("%v: %d instructions, %d in the stub, %d of them by the table", flags, steps, inStub, byTable)
		}
	}
}

// Up to its last jump glibc's __longjmp says where it will go: the walk is in its caller or in setjmp's.
func tortureLongjmp(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O1"}, {"-g", "-O1", "-static"}} {
		exe := fixture.Build(t, "torture/odd.c", flags...)
		s, events, stop := run(t, exe, []string{"jump"}, "jumper")
		seen := map[string]int{}
		for range 5000 {
			bt := walkOf(t, s, stop.Thread)
			f := bt.Frames[0]
			if f.FunctionName == "main" {
				break
			}
			all := names(bt)
			switch {
			case !bt.End.Outermost || !strings.HasSuffix(all, "_start") || !strings.Contains(all, "main"):
				t.Fatalf("in %s: %s, %+v", f.FunctionName, all, bt.End)
			case !strings.Contains(f.FunctionName, "__longjmp"):
			case bt.Frames[1].FunctionName == "main":
				seen["where it goes"]++
				if p, _ := bt.Frames[1].Machine.Where(arch.RIP); p != frames.Nowhere {
					t.Errorf("the PC that is in a register is said to be in %v", p)
				}
			default:
				seen["where it came from"]++
			}
			stop = stepi(t, s, events)
		}
		if seen["where it goes"] == 0 {
			t.Errorf("%v: %v", flags, seen)
		}
	}
}

// tortureBignum stops in every function of libcrypto whose CFA is computed from what a register points to, as far as the
// program comes through one.
func tortureBignum(t *testing.T) {
	const lib = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"
	if _, err := os.Stat(lib); err != nil {
		fixture.Missing(t, err)
	}
	reached := map[string]bool{}
	for _, args := range [][]string{nil, {"short"}} {
		exe := fixture.Build(t, "torture/bignum.c", "-g", "-O1", lib)
		s, events, _ := run(t, exe, args, "exponentiate")
		modules, err := s.Modules()
		if err != nil {
			t.Fatal(err)
		}
		var places []target.Addr
		for _, m := range modules {
			if m.Symbols == nil || !strings.Contains(m.Path, "libcrypto") {
				continue
			}
			_, table := frames.ModuleOf(m.Symbols.File(), nil).Tables(arch.AMD64)
			for fde, err := range table.FDEs() {
				if err != nil {
					continue
				}
				n := 0
				for r, err := range table.Rows(fde) {
					if err != nil {
						break
					}
					if r.CFAString(arch.AMD64) == "exp" && r.Hi-r.Lo > 16 && fde.Hi-fde.Lo > 200 && n < 2 {
						places = append(places, target.Addr(r.Lo+m.Bias), target.Addr(r.Hi+m.Bias))
						n++
					}
				}
			}
		}
		if len(places) < 10 {
			fixture.Missing(t, fmt.Sprintf("this libcrypto has only %d such places", len(places)))
		}
		for _, a := range places {
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: a, HasAddr: true}, Temporary: true}, false); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			if err := s.Continue(0); err != nil {
				t.Fatal(err)
			}
			stop, ok := next(t, events).(session.Stopped)
			if !ok {
				break
			}
			for range 40 {
				bt := walkOf(t, s, stop.Thread)
				if all := names(bt); !bt.End.Outermost || !strings.Contains(all, "BN_mod_exp") || !strings.Contains(all, "exponentiate main") {
					t.Fatalf("at %x: %s, %+v", uint64(bt.Frames[0].PC), all, bt.End)
				}
				for _, f := range bt.Frames[1:] {
					if f.Strategy != "cfi" {
						t.Errorf("at %x: frame %d by %s", uint64(bt.Frames[0].PC), f.Level, f.Strategy)
					}
				}
				if w, err := s.Why(stop.Thread, 1); err == nil && len(w.Evidence.Tries) > 0 {
					if try := w.Evidence.Tries[0]; try.HasRow && try.Origin.Row.CFAString(arch.AMD64) == "exp" {
						reached[fmt.Sprintf("%x", try.Origin.Row.Source)] = true
					}
				}
				if stop, ok = nextStep(t, s, events); !ok {
					break
				}
			}
		}
	}
	t.Logf("in %d functions with such rows", len(reached))
	if len(reached) == 0 {
		t.Error("the program came through no function with such a row")
	}
}

func nextStep(t testing.TB, s *session.Session, events <-chan session.Event) (session.Stopped, bool) {
	if err := s.Step(session.StepInstruction, 1); err != nil {
		t.Fatal(err)
	}
	stop, ok := next(t, events).(session.Stopped)
	return stop, ok
}

func tortureRealigned(t *testing.T) {
	for _, b := range []build{{flags: []string{"-g", "-O0"}}, {flags: []string{"-g", "-O2", "-fomit-frame-pointer"}}, {flags: []string{"cc=clang-19", "-g", "-O2"}},
		{flags: []string{"-g", "-O2", "-mavx2", "-mstackrealign"}}} {
		fixture.Need(t, "gdb")
		exe := b.make(t, "torture/chain.c")
		core := fixture.Core(t, exe)
		compareCore(t, core, exe)
		bt := checkEnd(t, openCore(t, core, ""), 0)
		if all := names(bt); !strings.Contains(all, "aligned many wide") {
			t.Errorf("%v: %s", b.flags, all)
		}
	}
}
