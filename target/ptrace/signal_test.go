package ptrace

import (
	"testing"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// A signal that arrives while the thread stands at a breakpoint is given after
// the breakpoint has been passed, once.
func TestSignalAtABreakpoint(t *testing.T) {
	t.Parallel()
	for _, policy := range []target.SignalPolicy{{Pass: true}, {Stop: true, Pass: true}, {Stop: true}, {}} {
		d := launch(t, "usr1")
		d.SetSignalPolicy(10, policy)
		a := d.insert("place")
		e := d.cont()
		d.wantStop(e, target.Breakpoint)
		if err := unix.Tgkill(d.PID(), d.PID(), unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		stops := 0
		for e = d.cont(); e.Kind == target.Stopped; e = d.cont() {
			if e.Reason == target.Breakpoint {
				t.Fatalf("%+v: the breakpoint was hit twice", policy)
			}
			d.wantStop(e, target.Signalled)
			if stops == 0 && d.pc(e.Thread) != a {
				t.Errorf("%+v: the signal came at %v, want %v", policy, d.pc(e.Thread), a)
			}
			stops++
		}
		want := 0
		if policy.Pass {
			want = 2 // the one sent here and the program's own
		}
		d.wantExit(e, want)
		if policy.Stop != (stops == 2) {
			t.Errorf("%+v: %d stops", policy, stops)
		}
	}
}

// A step with a signal that was reported enters its handler, and executes
// nothing else.
func TestStepIntoAHandler(t *testing.T) {
	t.Parallel()
	d := launch(t, "usr1")
	e := d.cont()
	d.wantStop(e, target.Signalled)
	e = d.resume(target.Resume{Thread: e.Thread, Step: true})
	d.wantStop(e, target.Stepped)
	if pc := d.pc(e.Thread); pc != symbol(t, "on_signal") {
		t.Errorf("PC %v, want on_signal at %v", pc, symbol(t, "on_signal"))
	}
	d.wantExit(d.cont(), 1)
}

// The signal's own description survives being held back.
func TestHeldBackSignalKeepsItsSender(t *testing.T) {
	t.Parallel()
	d := launch(t, "raise", "12")
	e := d.cont()
	d.wantStop(e, target.Signalled)
	if e = d.cont(); e.Kind != target.Killed || e.Signal.Number != 12 || e.Signal.SenderPID != d.PID() {
		t.Errorf("got %+v %+v", e, e.Signal)
	}
}

// All threads of a large process are found by Attach, and go on.
func TestAttachToManyThreads(t *testing.T) {
	t.Parallel()
	d := launch(t, "many", "300")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	if err := d.Detach(); err != nil {
		t.Fatal(err)
	}
	for range d.Events() {
	}
}
