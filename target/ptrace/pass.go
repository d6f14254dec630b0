package ptrace

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// A thread at a site must first execute the instruction there before it continues. There are
// three ways, the fastest first:
//
//   - The instruction is emulated: only the thread's registers and memory change.
//   - It is executed out of line (displace.go): the thread steps a copy of it elsewhere.
//   - All threads stop, the original byte is restored, the thread steps, and our byte is written again.
//
// A system call is never completed that way, since it might wait for one of the stopped threads:
// PTRACE_SYSCALL takes the thread to the entry of the call, where the PC is after the
// instruction. That also keeps the trap flag out of r11, in which the syscall instruction saves
// the flags.

// siteToPass returns the site over which a stopped thread must be taken before it continues.
func (p *Process) siteToPass(t *thread) (target.Addr, bool) {
	if p.mem.Empty() || t.groupStop || t.call.AtEntry || t.forked != 0 {
		return 0, false
	}
	if pc := t.regs.PC(); t.skipping && pc == t.skip && p.mem.Inserted(pc) {
		return pc, true
	}
	// The kernel will execute the syscall instruction again. The thread has already passed it, so
	// this is not a new arrival.
	if t.regs.Restarting() && t.inject == 0 {
		if pc := t.regs.PC() - 2; p.mem.Inserted(pc) {
			return pc, true
		}
	}
	return 0, false
}

// emulate executes the instruction at the site of a thread. It returns false if that is not
// possible; then nothing has changed.
func (p *Process) emulate(t *thread, addr target.Addr) bool {
	if p.probed(t) {
		return false // the probe must see it
	}
	r, err := t.regs.Read()
	if err != nil || !p.emulator.Run(addr, r) {
		return false
	}
	t.regs.Changed()
	p.cache.Forget(t.tid)
	t.skipping, t.why, t.signal = false, passing, nil
	return true
}

// pass takes a stopped thread over its site and continues it in the mode of the run.
func (p *Process) pass(t *thread) {
	addr, ok := p.siteToPass(t)
	if !ok {
		if p.mayDump(t) && p.scratch.Busy() {
			p.halt()
			p.settle()
			return
		}
		p.goOn(t)
		return
	}
	if p.emulate(t, addr) {
		p.passed(t)
		return
	}
	if !(p.stepping && t == p.stepper) && !p.probed(t) && p.displace(t, addr) {
		return
	}
	p.slow++
	p.halt()
	p.settle()
}

// passed continues a thread that has just executed the instruction at a site.
func (p *Process) passed(t *thread) {
	if p.stepping && t == p.stepper && p.stepDone(t) {
		t.why = stepped
		p.arrived(t)
		p.react(t)
		return
	}
	p.goOn(t)
}

// passAllSlowly takes all threads at a site over it, starting with those that can be emulated.
// All threads are stopped. It reports whether the run may continue: it returns false if it found
// and reported a stop.
func (p *Process) passAllSlowly() bool {
	var all []*thread
	var lifted []target.Addr
	for t := range p.everyThread() {
		if t.running || t.parked || p.stays(t) || t.why.matters() {
			continue
		}
		a, ok := p.siteToPass(t)
		if !ok {
			continue
		}
		// The thread may have been there for a long time. A signal that arrived in the meantime
		// comes first.
		if !kernel.SignalPending(t.tid) && p.emulate(t, a) {
			if p.stepping && t == p.stepper && p.stepDone(t) {
				t.why = stepped
				p.arrived(t)
			}
			continue
		}
		all = append(all, t)
		lifted = append(lifted, a)
	}
	var asleep []*thread
	if len(all) > 0 {
		p.busy++
		p.mem.Lift(lifted)
		for _, t := range all {
			if !p.over && p.known(t) && p.running && p.stepOver(t) {
				asleep = append(asleep, t)
			}
		}
		if !p.over {
			p.mem.PutBack(lifted)
		}
		p.busy--
	}
	if p.over || p.reportPending() {
		return false
	}
	for _, t := range asleep {
		if p.known(t) && !t.running {
			p.displace(t, t.regs.PC())
		}
	}
	return true
}

// stepOver executes one instruction of a thread whose site is lifted. It returns true if the thread
// sleeps at that instruction instead, in a page fault that another thread of the process must serve
// (userfaultfd(2)).
func (p *Process) stepOver(t *thread) (asleep bool) {
	at := t.regs.PC()
	again := p.instructionAt(t) == instruction.Repeat
	if again && p.runRounds(t, at) {
		return false
	}
	for {
		if t.inject != 0 && !t.fault {
			p.holdBack(t)
		}
		kind, request := plainStep, unix.PTRACE_SINGLESTEP
		switch in := p.instructionAt(t); {
		case t.regs.Restarting(), in == instruction.Syscall && t.inject == 0:
			kind, request = toSyscall, unix.PTRACE_SYSCALL
		case in == instruction.Pushf:
			t.wasPushf = !t.regs.TrapFlag()
		}
		sig := 0
		if t.inject != 0 {
			sig = p.signalFor(t)
		}
		t.step, t.why, t.signal = kind, passing, nil
		t.owed = kind == plainStep
		p.resumeWith(t, request, sig)
		asleep = p.awaitStep(t)
		switch {
		case p.over || !p.known(t) || t.running || t.zombie || t.groupStop || t.why.matters():
			return false
		case t.why == inSyscall:
			t.skipping = false
			return false
		case t.step == noStep: // done
			if again && t.regs.PC() == at && !(p.stepping && p.stepper == t) {
				continue
			}
			t.skipping = again && t.regs.PC() == at
			return false
		case asleep && t.regs.PC() == at:
			t.skip, t.skipping = at, true
			return true
		}
		// It stopped for a signal, or for an interruption that was sent earlier: try again.
	}
}

// stepTime is the time after which awaitStep checks whether the thread sleeps.
const stepTime = 5 * time.Millisecond

// awaitStep waits until the thread that steps has stopped, while all others are stopped. If the
// thread sleeps, awaitStep interrupts it and returns true: it may wait for one of the others.
func (p *Process) awaitStep(t *thread) (asleep bool) {
	late, stop := p.tracer.thread.Alarm(stepTime)
	defer stop()
	for t.running && !p.over && p.known(t) {
		switch tid, ws := p.tracer.thread.Doze(late.Load); {
		case tid > 0:
			p.note(tid, ws)
		case tid < 0:
			p.vanished()
			return false
		case !asleep && strings.HasPrefix(procfs.StatusField(t.tid, "State"), "S"):
			asleep = true
			_ = kernel.Ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
			fallthrough
		default:
			late.Store(false)
		}
	}
	return asleep
}

// runRounds executes all rounds of a string instruction with a rep prefix, since a step executes
// only one. It inserts a temporary site at the next instruction. It returns false if the thread
// must be stepped, and true if the thread has passed the instruction, or has stopped for another
// reason.
func (p *Process) runRounds(t *thread, at target.Addr) bool {
	next := at + target.Addr(instruction.RepeatLength(p.mem, at))
	if next == at || p.stepping && p.stepper == t || t.inject != 0 || t.regs.Restarting() || p.mem.Inserted(next) {
		return false
	}
	if p.mem.Insert(next) != nil {
		return false
	}
	t.step, t.why, t.signal = noStep, passing, nil
	p.resumeWith(t, unix.PTRACE_CONT, 0)
	asleep := p.awaitStep(t)
	if p.over {
		return true
	}
	p.mem.Remove(next)
	p.mem.ForgetRemovedAt(next) // no other thread can have run into it
	if !p.known(t) || t.running {
		return true
	}
	passed := t.why == breakpoint && t.addr == next
	if passed {
		p.dropPending(t)
		t.why, t.skipping = passing, false
	}
	return passed || asleep && t.regs.PC() == at || t.zombie || t.groupStop || t.why.matters()
}

// judge asks the Judge to decide about a thread's arrival at a site.
func (p *Process) judge(t *thread) target.Verdict {
	if t.guest {
		return target.Pass
	}
	if p.decide == nil || t.why == noticed && t.notice.heir != nil {
		return target.Halt
	}
	r, err := t.regs.Read()
	if err != nil {
		return target.Pass // it has been killed
	}
	h := &p.hit
	if h.Regs == nil {
		h.Regs = &arch.Registers{}
	}
	*h.Regs = arch.Registers{Arch: arch.AMD64}
	target.SetUser(h.Regs, r[:])
	h.Thread, h.Reason, h.Addr = target.ThreadID(t.tid), target.Breakpoint, t.addr
	h.Watches, h.Syscall, h.Probed = h.Watches[:0], target.SyscallStop{}, t.bySteps && t.why == watched
	switch t.why {
	case stepped:
		h.Reason, h.Addr = target.Stepped, t.regs.PC()
	case noticed:
		h.Reason, h.Addr, h.Syscall = t.notice.reason, t.regs.PC(), t.notice.call
	case watched:
		h.Reason, h.Addr, h.Watches = target.Watched, t.regs.PC(), p.watches.List(h.Watches, t.fired)
	}
	h.Next, h.Arrival = target.Resume{Thread: h.Thread}, t.arrival
	return p.decide(h)
}

// SetJudge implements target.Process.
func (p *Process) SetJudge(j target.Judge) {
	_ = p.do(func() error { p.decide = j; return nil })
}
