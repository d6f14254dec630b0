package session_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// registeredKinds are the ways in which testdata/registered/host.c registers its call frame information.
var registeredKinds = []string{"frame", "info", "table", "sorted"}

func registeredHost(t testing.TB, flags ...string) string {
	flags = append([]string{"-g", "-O1", "-fomit-frame-pointer", "-fcf-protection=none"}, flags...)
	return fixture.Build(t, "registered/host.c", flags...)
}

// unnamed returns the index of the frame of the made function, which has no name, or -1.
func unnamed(bt session.Backtrace) int {
	return slices.IndexFunc(bt.Frames, func(f session.Frame) bool { return f.FunctionName == "" })
}

// TestRegisteredFrames walks through code that only registered call frame information describes, and again
// when the program has removed that.
func TestRegisteredFrames(t *testing.T) {
	for _, b := range []struct {
		name  string
		flags []string
	}{{"stripped library", nil}, {"static", []string{"-static"}}, {"static library", []string{"-static-libgcc"}}} {
		for _, kind := range registeredKinds {
			t.Run(b.name+" "+kind, func(t *testing.T) {
				t.Parallel()
				wantRegistered(t, registeredHost(t, b.flags...), kind)
			})
		}
	}
}

// wantRegistered expects the made function and its callers at the first stop, and no registered
// information at the second one.
func wantRegistered(t *testing.T, exe, kind string) {
	t.Helper()
	s, events := startDyn(t, exe, "stop_here", kind)
	got := describeFrames(walkOf(t, s, 0))
	if i := unnamed(walkOf(t, s, 0)); i != 2 || len(got) < 5 || !strings.HasPrefix(got[3], "call jit ") ||
		!strings.HasPrefix(got[4], "main cfi ") {
		t.Errorf("the frames are %v", got)
	}
	s.Continue(0)
	next(t, events)
	for _, f := range walkOf(t, s, 0).Frames {
		if f.Strategy == "jit" {
			t.Errorf("%s is found by the strategy jit after the information was removed", f.PC)
		}
	}
}

// TestRegisteredSteps steps through such code, and through what it calls. At each instruction its
// caller must be the one that it had at its first instruction.
func TestRegisteredSteps(t *testing.T) {
	s, events := startDyn(t, registeredHost(t), "call", "frame")
	var truth *activation
	steps := 0
	for range 500 {
		bt := walkOf(t, s, 0)
		i := unnamed(bt)
		if truth == nil && i == 0 {
			regs := &bt.Frames[0].Machine.Regs
			sp, _ := regs.Get(arch.AMD64.SP)
			rbx, _ := regs.Get(3)
			rbp, _ := regs.Get(6)
			ra := make([]byte, 8)
			if _, err := s.ReadMemory(target.Addr(sp), ra); err != nil {
				t.Fatal(err)
			}
			truth = &activation{sp + 8, binary.LittleEndian.Uint64(ra), rbx, rbp}
		}
		if truth != nil && uint64(bt.Frames[0].PC) == truth.ra {
			break
		}
		if truth != nil {
			if i < 0 || i+1 >= len(bt.Frames) {
				t.Fatalf("the frames are %v", describeFrames(bt))
			}
			caller := bt.Frames[i+1]
			rbx, _ := caller.Machine.Regs.Get(3)
			rbp, _ := caller.Machine.Regs.Get(6)
			got := activation{uint64(bt.Frames[i].Machine.CFA), uint64(caller.PC), rbx, rbp}
			if got != *truth || caller.Strategy != "jit" {
				t.Errorf("at %s the caller is %x, found by %s; want %x", bt.Frames[i].PC, got, caller.Strategy, *truth)
			}
			steps++
		}
		if _, ok := nextStep(t, s, events); !ok {
			t.Fatal("the program ended")
		}
	}
	if truth == nil || steps < 20 {
		t.Errorf("%d instructions were seen", steps)
	}
}

// TestRegisteredCore walks through such code in cores.
func TestRegisteredCore(t *testing.T) {
	for _, kind := range registeredKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := openCore(t, fixture.Core(t, registeredHost(t), kind, "dies"), "")
			bt := walkOf(t, s, 0)
			i, got := unnamed(bt), describeFrames(bt)
			if i < 1 || i+2 >= len(got) || !strings.HasPrefix(got[i+1], "call jit ") || !strings.HasPrefix(got[i+2], "main ") ||
				!bt.End.Outermost {
				t.Fatalf("the frames are %v", got)
			}
		})
	}
}

// TestRegisteredGCC14 uses a stripped libgcc with the b-tree of GCC 13 and later.
func TestRegisteredGCC14(t *testing.T) {
	if !fixture.All() {
		t.Skip("DBG_ALL is not set: the package comes from the network")
	}
	lib := filepath.Join(fixture.Debian(t, "trixie", "libgcc-s1"), "usr/lib/x86_64-linux-gnu")
	exe := registeredHost(t, "-Wl,-rpath,"+lib)
	s, _ := startDyn(t, exe, "stop_here", "frame")
	loaded, err := s.Modules()
	if err != nil || !slices.ContainsFunc(loaded, func(m *session.Module) bool { return filepath.Dir(m.Path) == lib }) {
		t.Fatal("the program did not load the library")
	}
	for _, kind := range registeredKinds {
		t.Run(kind, func(t *testing.T) { wantRegistered(t, exe, kind) })
	}
}

// TestRegisteredLLVM uses LLVM's libunwind, whole and stripped.
func TestRegisteredLLVM(t *testing.T) {
	const dir = "/usr/lib/llvm-19/lib/"
	for _, lib := range []string{"libunwind.a", "libunwind.so.1"} {
		if _, err := os.Stat(dir + lib); err != nil {
			t.Skip("libunwind-19-dev is not installed")
		}
		exe := registeredHost(t, "-DLLVM", "-Wl,--as-needed", dir+lib)
		for _, kind := range []string{"entry", "section"} {
			t.Run(lib+" "+kind, func(t *testing.T) {
				s, _ := startDyn(t, exe, "stop_here", kind)
				got := describeFrames(walkOf(t, s, 0))
				if len(got) < 5 || !strings.HasPrefix(got[3], "call jit ") || !strings.HasPrefix(got[4], "main cfi ") {
					t.Errorf("the frames are %v", got)
				}
			})
		}
	}
}
