package ptrace

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"dbg/arch"
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
	v := startCommand(t, "manyidle", "1000")
	for range 3 {
		d := attach(t, v.pid)
		if n := len(d.Threads()); n != 1001 {
			t.Errorf("%d threads, want 1001", n)
		}
		if err := d.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
		_ = d.Interrupt()
		d.wantStop(d.next(), target.Interrupted)
		if err := d.Detach(); err != nil {
			t.Fatal(err)
		}
	}
}

// Memory that the program itself may not touch can be read and written.
func TestProtectedMemory(t *testing.T) {
	t.Parallel()
	d := launch(t, "protnone")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	a := target.Addr(d.word(symbol(t, "counter")))
	b := make([]byte, 6)
	if _, err := d.ReadMemory(a, b); err != nil || string(b) != "hidden" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := d.WriteMemory(a, []byte("H")); err != nil {
		t.Error(err)
	}
	if _, _ = d.ReadMemory(a, b); string(b) != "Hidden" {
		t.Errorf("%q", b)
	}
	d.wantExit(d.cont(), 0)
}

// Moving the PC out of a system call that waits leaves it for good.
func TestSetPCInASystemCall(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	d := launchWith(t, LaunchOptions{Path: program(t), Args: []string{"read"}, Stdin: r})
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	_ = d.Resume(target.Resume{})
	for state(d.PID()) != "S" {
	}
	_ = d.Interrupt()
	d.wantStop(d.next(), target.Interrupted)
	place := symbol(t, "place")
	d.insert("place")
	if err := d.SetRegister(main(d), arch.RIP, uint64(place)); err != nil {
		t.Fatal(err)
	}
	e := d.cont()
	d.wantStop(e, target.Breakpoint)
	if e.Addr != place {
		t.Errorf("stopped at %v", e.Addr)
	}
}
