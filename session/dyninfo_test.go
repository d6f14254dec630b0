package session_test

import (
	"encoding/binary"
	"fmt"
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

// dynKinds are the descriptions that testdata/dyninfo/host.c can make of its function.
var dynKinds = []string{"sp", "fp", "pop", "alias", "realias", "table", "offsets"}

func dynHost(t testing.TB) string {
	return fixture.Build(t, "dyninfo/host.c", "-g", "-O1", "-fomit-frame-pointer", "-fcf-protection=none")
}

// startDyn runs the fixture to its first stop at a function.
func startDyn(t *testing.T, exe, function string, args ...string) (*session.Session, <-chan session.Event) {
	t.Helper()
	return startDynTo(t, exe, null(t), function, args...)
}

// startDynTo is startDyn with the program's output in a file.
func startDynTo(t *testing.T, exe string, out *os.File, function string, args ...string) (*session.Session,
	<-chan session.Event) {
	t.Helper()
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: args, Stdin: null(t), Stdout: out, Stderr: out}); err != nil {
		t.Fatal(err)
	}
	spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: function}}
	if _, err := s.SetBreakpoint(spec, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if ev, ok := next(t, events).(session.Stopped); !ok || ev.Reason != session.StopBreakpoint {
		t.Fatalf("the program did not stop at %s: %+v", function, ev)
	}
	return s, events
}

// madeFrame returns the index of the frame of registered code, or -1.
func madeFrame(bt session.Backtrace) int {
	return slices.IndexFunc(bt.Frames, func(f session.Frame) bool {
		return f.FunctionName == "made_function" || f.FunctionName == "second"
	})
}

// activation is what is known of a call of the made function, from its first instruction.
type activation struct {
	cfa, ra, rbx, rbp uint64
}

// check compares the caller of frame i with the truth.
func (x *activation) check(t *testing.T, bt session.Backtrace, i int) {
	t.Helper()
	if i+1 >= len(bt.Frames) {
		t.Fatalf("frame %d at %s has no caller: %+v", i, bt.Frames[i].PC, bt.End)
	}
	made, caller := bt.Frames[i], bt.Frames[i+1]
	rbx, _ := caller.Machine.Regs.Get(3)
	rbp, _ := caller.Machine.Regs.Get(6)
	got := activation{uint64(made.Machine.CFA), uint64(caller.PC), rbx, rbp}
	if got != *x || caller.Strategy != "dyninfo" {
		t.Errorf("%s+%d has the caller %x, found by %s; want %x, found by dyninfo (%+v)", made.FunctionName, made.Offset,
			got, caller.Strategy, *x, caller.Attempts)
	}
}

// TestDynInfoSteps steps through code that only libunwind's dynamic information describes, and through what
// it calls. At each instruction its caller must be the one that it had at its first instruction.
func TestDynInfoSteps(t *testing.T) {
	for _, kind := range dynKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, events := startDyn(t, dynHost(t), "call", kind)
			for _, want := range []int{14, 15} { // the instructions on the way to each of the two exits
				if n := stepThroughMade(t, s, events); n != want {
					t.Errorf("%d instructions of the made function were seen; want %d", n, want)
				}
				s.Continue(0)
				next(t, events)
			}
		})
	}
}

// stepThroughMade steps from the call of the made function to its return, and counts its instructions.
func stepThroughMade(t *testing.T, s *session.Session, events <-chan session.Event) (steps int) {
	t.Helper()
	var truth *activation
	for range 2000 {
		bt := walkOf(t, s, 0)
		top := bt.Frames[0]
		i := madeFrame(bt)
		switch {
		case truth == nil && i == 0:
			if top.Offset != 0 {
				t.Fatalf("the first stop is at offset %d", top.Offset)
			}
			regs := &top.Machine.Regs
			sp, _ := regs.Get(arch.AMD64.SP)
			rbx, _ := regs.Get(3)
			rbp, _ := regs.Get(6)
			ra := make([]byte, 8)
			if _, err := s.ReadMemory(target.Addr(sp), ra); err != nil {
				t.Fatal(err)
			}
			truth = &activation{sp + 8, binary.LittleEndian.Uint64(ra), rbx, rbp}
		case truth != nil && uint64(top.PC) == truth.ra:
			return steps
		case truth != nil && i < 0:
			t.Fatalf("the made function is missing in %v", describeFrames(bt))
		}
		if truth != nil {
			truth.check(t, bt, i)
			if i == 0 {
				steps++
			}
		}
		if _, ok := nextStep(t, s, events); !ok {
			t.Fatal("the program ended")
		}
	}
	t.Fatal("the made function did not return")
	return 0
}

// TestDynInfoCancelled looks at code whose description the program has removed since the last stop.
func TestDynInfoCancelled(t *testing.T) {
	for _, ask := range []bool{true, false} { // whether the list was read before
		s, events := startDyn(t, dynHost(t), "stop_here", "sp")
		for i := range 3 {
			if ask || i == 2 {
				found := slices.ContainsFunc(walkOf(t, s, 0).Frames, func(f session.Frame) bool { return f.Strategy == "dyninfo" })
				if found != (i < 2) {
					t.Errorf("stop %d: a frame was found by dyninfo: %t", i, found)
				}
			}
			s.Continue(0)
			next(t, events)
		}
	}
}

// TestDynInfoCore looks at such code in a core, and at the evidence for its frames.
func TestDynInfoCore(t *testing.T) {
	for _, kind := range []string{"pop", "alias", "table"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := openCore(t, fixture.Core(t, dynHost(t), kind, "dies"), "")
			bt := walkOf(t, s, 0)
			i := madeFrame(bt)
			got := describeFrames(bt)
			if i < 1 || i+2 >= len(got) || !strings.HasPrefix(got[i], "made_function ") || !strings.HasPrefix(got[i+1],
				"call dyninfo ") ||
				!strings.HasPrefix(got[i+2], "main ") || !bt.End.Outermost {
				t.Fatalf("the frames are %v", got)
			}
			id, _ := s.Selected()
			why, err := s.Why(id, bt.Frames[i+1].Level)
			if err != nil {
				t.Fatal(err)
			}
			want := "_U_dyn_info_list entry 0x"
			if kind == "table" {
				want = ".eh_frame FDE 0x"
			}
			tries := why.Evidence.Tries
			if last := tries[len(tries)-1]; !last.HasRow || !strings.HasPrefix(last.Origin.String(), want) ||
				last.Strategy.String() != "dyninfo" {
				t.Errorf("the evidence is %+v", last)
			}
		})
	}
}

// TestDynInfoLibunwind holds dbg's frames against those of the real libunwind in the process. libunwind
// itself reads search tables on this machine; it has no frames for regions.
func TestDynInfoLibunwind(t *testing.T) {
	if !fixture.All() {
		t.Skip("DBG_ALL is not set: the packages come from the network")
	}
	dir := fixture.Debian(t, "bookworm", "libunwind-dev", "libunwind8", "liblzma5")
	lib := filepath.Join(dir, "usr/lib/x86_64-linux-gnu")
	exe := fixture.Build(t, "dyninfo/host.c", "-g", "-O1", "-fcf-protection=none", "-DLIBUNWIND", "-isystem",
		filepath.Join(dir, "usr/include/x86_64-linux-gnu"),
		"-L"+lib, "-Wl,-rpath,"+lib, "-Wl,-rpath-link,"+lib, "-l:libunwind.so.8", "-Wl,-z,now")
	for _, kind := range dynKinds {
		t.Run(kind, func(t *testing.T) {
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			s, _ := startDynTo(t, exe, out, "stop_here", kind)
			bt := walkOf(t, s, 0)
			i := madeFrame(bt)
			if i < 0 || i+1 >= len(bt.Frames) || bt.Frames[i+1].Strategy != "dyninfo" || !bt.End.Outermost {
				t.Fatalf("dbg's frames are %v", describeFrames(bt))
			}
			var ours []string
			for _, f := range bt.Frames[i:] {
				sp, _ := f.Machine.Regs.SP()
				ours = append(ours, fmt.Sprintf("%x %x", uint64(f.PC), sp))
			}
			text, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			theirs := strings.Split(strings.TrimSpace(string(text)), "\n")[1:] // after the callback's own frame
			if kind != "table" && kind != "offsets" {
				t.Logf("libunwind knows no regions on this machine: %d frames; dbg %d", len(theirs), len(ours))
				ours, theirs = ours[:1], theirs[:1]
			}
			if !slices.Equal(ours, theirs) {
				t.Errorf("dbg has\n\t%s\nlibunwind has\n\t%s", strings.Join(ours, "\n\t"), strings.Join(theirs, "\n\t"))
			}
		})
	}
}
