package ptrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
)

// note records a status in its thread. It returns the thread if it is stopped now. It continues
// only a thread that is ending, or one that has a trap of ours to take.
func (p *Process) note(tid int, ws unix.WaitStatus) *thread {
	if q := p.tracer.owner(tid); q != p && !p.owns(tid) {
		if q != nil {
			q.deferred = append(q.deferred, status{tid, ws})
		} else {
			p.tracer.takeStray(tid, ws)
		}
		return nil
	}
	if g := p.guests[tid]; g != nil {
		return p.noteGuest(g, ws)
	}
	if ws.Exited() || ws.Signaled() {
		p.noteEnd(tid, ws)
		return nil
	}
	if !ws.Stopped() || p.over {
		return nil
	}
	t := p.threads[tid]
	if kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXEC {
		t = p.noteExec(tid)
	}
	if t == nil {
		p.tracer.takeStray(tid, ws)
		return nil
	}
	if t.settling && kernel.StopEvent(ws) == unix.PTRACE_EVENT_STOP {
		p.settled(t, ws)
		return nil
	}
	p.stopped(t)
	switch kernel.StopEvent(ws) {
	case 0:
		if ws.StopSignal() == unix.SIGTRAP|0x80 {
			p.noteSyscall(t)
		} else {
			p.noteSignal(t, int(ws.StopSignal()))
		}
	case unix.PTRACE_EVENT_STOP:
		t.groupStop = ws.StopSignal() != unix.SIGTRAP
		if t.fresh {
			t.fresh = false
			p.trim(t)
			if p.catches.events.ThreadStart && !t.groupStop {
				t.notify(notice{reason: target.ThreadCreated})
			}
		}
		if p.takesTrap(t) {
			return nil
		}
	case unix.PTRACE_EVENT_CLONE, unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK:
		p.noteChild(t, kernel.StopEvent(ws))
	case unix.PTRACE_EVENT_VFORK_DONE:
		p.awaitExec(t)
		if q := t.heir; q != nil {
			t.heir = nil
			t.notify(notice{reason: target.ChildCreated, child: q.pid, heir: q, vfork: true})
		}
	case unix.PTRACE_EVENT_EXEC:
		t.why = execed
	case unix.PTRACE_EVENT_EXIT:
		if t.tid == p.pid {
			t.zombie = true
			p.moved(t)
		}
		_ = kernel.Ptrace(unix.PTRACE_CONT, t.tid, 0, 0)
		if t.zombie {
			p.stepperGone(t)
			return nil
		}
		p.inMotion++
		t.running = true
		return nil
	}
	if t.why.matters() {
		p.arrived(t)
	}
	return t
}

// arrived records that a thread has stopped for a reason that may end the run.
func (p *Process) arrived(t *thread) {
	p.arrivals++
	t.arrival = p.arrivals
	p.pending = append(p.pending, t)
}

// takesTrap lets a thread take a pending SIGTRAP of a breakpoint, of a watch or of a step, if it was
// interrupted before it took it. The kernel looks for interruptions before it looks for signals.
// Without this, a breakpoint might be removed whose trap is still pending, with the PC after it.
// No instruction is executed in between.
func (p *Process) takesTrap(t *thread) bool {
	if !t.owed && t.armed == 0 && !p.trappedAt(t.regs.PC()-1) || !kernel.TrapPending(t.tid) {
		return false
	}
	t.regs.Flush() // comeBack may have put the PC right
	t.running = true
	if !t.guest {
		p.inMotion++
	}
	_ = kernel.Ptrace(unix.PTRACE_CONT, t.tid, 0, 0)
	return true
}

// trappedAt reports whether a trap whose instruction is at addr may be one of ours.
func (p *Process) trappedAt(addr target.Addr) bool {
	return p.mem.Inserted(addr) || p.mem.Removed(addr)
}

// stopped sets the state that is the same for every thread that has just stopped.
func (p *Process) stopped(t *thread) {
	if t.running {
		t.running = false
		if !t.away && !t.guest {
			p.inMotion--
		}
	}
	if t.away {
		p.back(t)
	}
	t.regs.Forget()
	t.waits, t.settling = false, false
	t.why, t.signal, t.groupStop, t.sigStop, t.trapStop, t.frozen = passing, nil, false, false, false, false
	t.cameFrom = instruction.Copy{}
	t.call.AtEntry, t.stepDone, t.bySteps = false, false, false
	p.comeBack(t)
}

// goAway records that a thread is about to wait for a child of vfork. The thread can't be detached
// while it waits, and we may be asked to detach. So EXITKILL is cleared: the thread must not be
// killed when its tracer ends.
func (p *Process) goAway(t *thread) {
	_, _ = t.regs.Read()
	t.waits, t.away = false, true
	if p.kind == target.Launched && !t.guest {
		_ = kernel.Ptrace(unix.PTRACE_SETOPTIONS, t.tid, 0, uintptr(p.options(t.tid == p.pid)&^unix.PTRACE_O_EXITKILL))
	}
}

// back records that a thread no longer waits for a child of vfork.
func (p *Process) back(t *thread) {
	t.away = false
	p.cache.Forget(t.tid)
	if p.kind == target.Launched && !t.guest {
		_ = kernel.Ptrace(unix.PTRACE_SETOPTIONS, t.tid, 0, uintptr(p.options(t.tid == p.pid)))
	}
}

// moved clears the state that belonged to the place where the thread was.
func (p *Process) moved(t *thread) {
	t.skipping, t.why, t.signal = false, passing, nil
}

// noteSyscall handles the two syscall-stops of a system call: of a step over a syscall instruction,
// and of a thread whose calls are caught.
func (p *Process) noteSyscall(t *thread) {
	if kernel.AtSyscallEntry(t.tid) {
		p.noteEntry(t)
		return
	}
	// If the call was interrupted and will be executed again, the step is not done.
	if t.step == fromSyscall && !t.regs.Restarting() {
		p.noteStepped(t)
	}
	p.noteReturn(t)
}

// noteSignal handles a signal-delivery-stop.
func (p *Process) noteSignal(t *thread, sig int) {
	t.sigStop = true
	if err := kernel.GetSigInfo(t.tid, &t.info); err != nil {
		// The thread was killed, or (EINVAL) this is a group-stop.
		t.sigStop = false
		t.groupStop = err == unix.EINVAL
		return
	}
	if t.info.Code() == kernel.CodeExit {
		// The thread was killed and has already gone on to its PTRACE_EVENT_EXIT, which will be
		// reported soon. Without this check we would report a SIGTRAP that nobody sent.
		t.sigStop = false
		return
	}
	t.rectify()
	t.inject, t.fault, t.told = 0, false, false
	if sig == int(unix.SIGTRAP) {
		if _, err := t.regs.Read(); err != nil {
			return // it was killed; its end will be reported soon
		}
		owed := t.owed
		if p.noteWatches(t, t.info.Code()) {
			return
		}
		switch code := t.info.Code(); {
		case code == kernel.CodeInt3:
			pc := t.regs.PC()
			if p.mem.Inserted(pc - 1) {
				_ = t.regs.SetPC(pc - 1)
				t.why, t.addr, t.trapStop = breakpoint, pc-1, true
				return
			}
			if p.mem.Removed(pc - 1) { // the site was removed after the thread had hit it
				_ = t.regs.SetPC(pc - 1)
				t.trapStop = true
				return
			}
		case (t.step == plainStep || t.step == slowStep) && (code == kernel.CodeTrace || code == kernel.CodeBrkpt || code == kernel.CodeHandler):
			t.trapStop = true
			p.noteStepped(t)
			return
		case owed && (code == kernel.CodeTrace || code == kernel.CodeHandler):
			t.owed, t.trapStop = false, true
			return // the trap of a step that was abandoned
		}
	}
	if t.queue.Arrived(sig, &t.info) {
		t.inject = sig
		t.told, t.enter = t.enter, false
		p.interruptedCall(t)
		return
	}
	defer p.interruptedCall(t)
	policy := p.policy.Of(sig)
	if t.guest {
		policy = target.SignalPolicy{Pass: true}
	}
	if policy.Pass {
		t.inject = sig
		t.fault = target.IsFault(sig, t.info.Code())
	}
	if policy.Stop {
		t.why = signalled
		s, _ := target.DecodeSigInfo(t.info[:], binary.LittleEndian, 8)
		t.signal = &s
		t.told = true
	}
}

// noteStepped handles the end of a single step. It decides whether the step that the user requested
// is done.
func (p *Process) noteStepped(t *thread) {
	if t.wasPushf {
		p.cleanPushedFlags(t)
	}
	t.step, t.wasPushf, t.owed = noStep, false, false
	if p.noteProbed(t) {
		t.stepDone = p.stepping && t == p.stepper && p.stepDone(t)
		return
	}
	if !p.stepping || t != p.stepper {
		return // it was our own step, over a site or for the probe
	}
	if p.stepDone(t) {
		t.why = stepped
	}
}

// stepDone reports whether the stepper's PC has left the range of the step.
func (p *Process) stepDone(t *thread) bool {
	pc := t.regs.PC()
	return p.stepHi == 0 || pc < p.stepLo || pc >= p.stepHi
}

// noteEnd handles the end of a thread, or of the process if that was the last thread.
func (p *Process) noteEnd(tid int, ws unix.WaitStatus) {
	delete(p.tracer.early, tid)
	t := p.threads[tid]
	if t == nil {
		return
	}
	if t.running && !t.away {
		p.inMotion--
	}
	if t.parked {
		t.parked = false
		p.parked--
	}
	p.scratch.Free(&t.line)
	p.passHeir(t)
	t.running = false
	delete(p.threads, tid)
	if tid != p.pid && len(p.threads) > 0 {
		p.send(target.Event{Kind: target.ThreadExited, Thread: target.ThreadID(tid)})
		p.stepperGone(t)
		return
	}
	p.finish()
	e := target.Event{Kind: target.Exited, Thread: target.ThreadID(tid), ExitCode: ws.ExitStatus()}
	if ws.Signaled() {
		e = target.Event{Kind: target.Killed, Thread: target.ThreadID(tid), Signal: &target.SignalInfo{Number: int(ws.Signal())}}
		if f := p.lastFatal; f != nil && f.Number == e.Signal.Number {
			e.Signal = f
		}
	}
	p.send(e)
}

// finish clears the state of a process that has ended. Guests may still use its memory.
func (p *Process) finish() {
	p.mem.Lower()
	p.scratch.Sweep(p.mem)
	p.over, p.running, p.stepperLost = true, false, false
	p.releaseGuests()
	p.tracer.dropEarly(p)
	p.threads, p.pending, p.born, p.inMotion, p.parked = map[int]*thread{}, nil, nil, 0, 0
	p.terminal.TakeBack()
}

// vanished handles a process whose status another waiter has taken: its parent, if that is
// another thread of this program.
func (p *Process) vanished() {
	if !p.over && len(p.threads) > 0 {
		p.finish()
		p.send(target.Event{Kind: target.Killed, Thread: target.ThreadID(p.pid), Signal: &target.SignalInfo{Number: int(unix.SIGKILL)}})
	}
}

// stepperGone handles the end of the stepper. Without a judge, it also ends the run, see
// reportPending. With a judge, the event ThreadExited reports it.
func (p *Process) stepperGone(t *thread) {
	if t != p.stepper || !p.running || !p.stepping && !p.alone {
		return
	}
	if p.decide == nil || p.alone {
		p.stepperLost = true
		return
	}
	p.stepper, p.stepping = nil, false
}
