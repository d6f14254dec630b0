package ptrace

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// runner is a program that has stopped at its first instruction, where the tests put code.
type runner struct {
	*Process
	t      *testing.T
	thread target.ThreadID
	at, sp uint64
}

func newRunner(t *testing.T, code ...byte) *runner {
	t.Helper()
	d := launch(t, "exit", "0")
	r := &runner{Process: d.Process, t: t, thread: target.ThreadID(d.PID())}
	regs, err := d.Registers(r.thread)
	if err != nil {
		t.Fatal(err)
	}
	r.at, _ = regs.PC()
	r.sp, _ = regs.SP()
	if _, err := d.WriteMemory(target.Addr(r.at), code); err != nil {
		t.Fatal(err)
	}
	return r
}

// back is where the code returns to.
func (r *runner) back() target.Addr { return target.Addr(r.at + 64) }

// call runs the code as a function.
func (r *runner) call() (*target.RunTo, bool, error) {
	r.t.Helper()
	if err := r.InsertBreakpoint(r.back()); err != nil && !errors.Is(err, target.ErrGone) {
		r.t.Fatal(err)
	}
	sp := r.sp - 256
	word := binary.LittleEndian.AppendUint64(nil, uint64(r.back()))
	run := &target.RunTo{
		Resume: target.Resume{Thread: r.thread}, Back: r.back(), SP: sp,
		Writes: []target.Write{{Addr: target.Addr(sp - 8), Data: word}},
		Edit: func(s *target.SavedState) (*target.SavedState, error) {
			n := s.Clone()
			n.SetGeneral(arch.RIP, r.at)
			n.SetGeneral(arch.RSP, sp-8)
			return n, nil
		},
	}
	returned, err := r.RunTo(run)
	return run, returned, err
}

// event returns the next event, or a zero one if there is none that the tracer has sent.
func (r *runner) event() target.Event {
	r.t.Helper()
	select {
	case e := <-r.Events():
		return e
	case <-time.After(time.Minute):
		r.t.Fatal("no event")
	}
	return target.Event{}
}

// TestRunTo calls a function in one request, without an event, and the thread is as before.
func TestRunTo(t *testing.T) {
	r := newRunner(t, 0xb8, 42, 0, 0, 0, 0xc3) // mov $42, %eax; ret
	before, err := r.SaveState(r.thread)
	if err != nil {
		t.Fatal(err)
	}
	quick, requests := 0, int64(0)
	for range 100 {
		now := kernel.Requests()
		run, returned, err := r.call()
		if err != nil {
			t.Fatal(err)
		}
		if !returned { // a busy machine
			if e := r.event(); e.Addr != r.back() {
				t.Fatalf("%+v", e)
			}
			if err := r.RestoreState(r.thread, run.Saved); err != nil {
				t.Fatal(err)
			}
			continue
		}
		quick++
		requests += int64(kernel.Requests() - now)
		regs := arch.Registers{Arch: arch.AMD64}
		target.SetUser(&regs, run.After.General)
		if v, _ := regs.Get(arch.RAX); v != 42 {
			t.Fatalf("rax is %d", v)
		}
		if !reflect.DeepEqual(run.Saved, before) {
			t.Fatal("what was saved is not what the thread had")
		}
	}
	// Twice the state, twice to set it, the run and its stop.
	if each := float64(requests) / float64(quick); quick == 0 || each > 14 {
		t.Errorf("%d calls were quick; each takes %.1f requests", quick, each)
	}
	t.Logf("%d calls, %.1f requests", quick, float64(requests)/float64(quick))
	if after, err := r.SaveState(r.thread); err != nil || !reflect.DeepEqual(after, before) {
		t.Fatal("the state has changed", err)
	}
	select {
	case e := <-r.Events():
		t.Errorf("an event: %+v", e)
	default:
	}
}

// TestRunToStops: what else can stop a call becomes an event as after Resume.
func TestRunToStops(t *testing.T) {
	t.Run("another breakpoint", func(t *testing.T) {
		r := newRunner(t, 0x90, 0x90, 0xc3)
		if err := r.InsertBreakpoint(target.Addr(r.at + 1)); err != nil {
			t.Fatal(err)
		}
		if _, returned, err := r.call(); returned || err != nil {
			t.Fatal(returned, err)
		}
		if e := r.event(); e.Reason != target.Breakpoint || e.Addr != target.Addr(r.at+1) {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("another stack pointer", func(t *testing.T) {
		r := newRunner(t, 0xc2, 8, 0) // ret $8
		if _, returned, err := r.call(); returned || err != nil {
			t.Fatal(returned, err)
		}
		if e := r.event(); e.Reason != target.Breakpoint || e.Addr != r.back() {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("a fault", func(t *testing.T) {
		r := newRunner(t, 0x0f, 0x0b) // ud2
		if _, returned, err := r.call(); returned || err != nil {
			t.Fatal(returned, err)
		}
		if e := r.event(); e.Reason != target.Signalled {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("a function that does not return", func(t *testing.T) {
		r := newRunner(t, 0xeb, 0xfe) // jmp .
		if _, returned, err := r.call(); returned || err != nil {
			t.Fatal(returned, err)
		}
		if err := r.Interrupt(); err != nil {
			t.Fatal(err)
		}
		if e := r.event(); e.Reason != target.Interrupted {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("its end", func(t *testing.T) {
		r := newRunner(t, 0xb8, 60, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x0f, 0x05) // exit(7)
		if _, returned, err := r.call(); returned || err != nil {
			t.Fatal(returned, err)
		}
		if e := r.event(); e.Kind != target.Exited || e.ExitCode != 7 {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("a stack that is not there", func(t *testing.T) {
		r := newRunner(t, 0xc3)
		r.sp = 4096
		if _, returned, err := r.call(); returned || err == nil {
			t.Fatal(returned, err)
		}
	})
}
