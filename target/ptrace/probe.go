package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/code/emulate"
	"dbg/target"
)

// While the client has a probe, the threads run one instruction at a time, and the probe is called
// after each. Only one thread moves at a time (its turn), so a change of memory is the work of the
// thread that has just moved, or of the kernel. A thread that enters a system call gives up its turn:
// the call may take long.

var _ target.Prober = (*Process)(nil)

// probing is the state of a process with a probe.
type probing struct {
	probe *target.Probe // nil: there is none
	turn  *thread       // the thread whose turn it is
	steps int           // how often it has moved in its turn
	regs  arch.Registers

	code struct { // the page of code where the thread is, since its last real step
		page target.Addr
		n    int
		data [4096]byte
	}
	ops map[target.Addr]*probedOp
}

// turnSteps is the number of steps of a turn. It is small, so that a thread does not spin for a lock
// for long.
const turnSteps = 1000

// SetProbe implements target.Prober.
func (p *Process) SetProbe(probe *target.Probe) error {
	return p.do(func() error {
		before := p.probing.probe
		if p.running && (before == nil) != (probe == nil) {
			p.halt() // the threads continue in another way
			p.probing.probe, p.probing.turn = probe, nil
			p.settle()
			return nil
		}
		p.probing.probe = probe
		if probe == nil {
			p.probing.turn = nil
		}
		return nil
	})
}

// probed reports whether a thread is stepped for the probe.
func (p *Process) probed(t *thread) bool { return p.probing.probe != nil && !t.guest }

// outOfTurn reports whether a thread must wait for its turn.
func (p *Process) outOfTurn(t *thread) bool { return p.probed(t) && p.probing.turn != t }

// nextTurn gives a thread its turn, if none has it that can use it.
func (p *Process) nextTurn() {
	q := &p.probing
	if q.probe == nil || !p.running || p.over || p.busy > 0 {
		return
	}
	for range len(p.threads) {
		if t := q.turn; t != nil && p.known(t) && t.running && t.step != fromSyscall && !t.away {
			return
		}
		next := p.afterTurn()
		if next == nil {
			return
		}
		q.turn, q.steps = next, 0
		p.pass(next)
		if !p.running || p.over {
			return
		}
	}
}

// afterTurn returns the stopped thread whose turn comes next, by thread id, or nil.
func (p *Process) afterTurn() *thread {
	last := 0
	if p.probing.turn != nil {
		last = p.probing.turn.tid
	}
	var after, first *thread
	for _, t := range p.threads {
		if t.running || t.parked || t.zombie || t.settling || t.why.matters() || (p.alone || t.icy) && t != p.stepper {
			continue
		}
		if t.tid > last && (after == nil || t.tid < after.tid) {
			after = t
		}
		if first == nil || t.tid < first.tid {
			first = t
		}
	}
	if after != nil {
		return after
	}
	return first
}

// endTurn ends a thread's turn when it has moved often enough.
func (p *Process) endTurn(t *thread) {
	q := &p.probing
	if q.turn != t {
		return
	}
	if q.steps++; q.steps < turnSteps {
		return
	}
	q.steps = 0
	if next := p.afterTurn(); next != nil {
		q.turn = next
	}
}

// probeOn executes one instruction of a thread that is probed. Unlike in a step of the user's, a
// signal is delivered.
func (p *Process) probeOn(t *thread) {
	kind := plainStep
	switch in := p.instructionAt(t); {
	case t.call.atEntry, t.forked != 0, t.step == fromSyscall && !t.restarting() && t.inject == 0:
		kind = fromSyscall
	case t.inject != 0 && t.restarting():
		kind = slowStep
	case t.inject != 0:
	case t.restarting(), in == insnSyscall:
		kind = toSyscall
	case in == insnPushf:
		t.wasPushf = !p.trapFlag(t)
	}
	sig := p.signalFor(t)
	p.moved(t)
	t.step = kind
	request := unix.PTRACE_SINGLESTEP
	if kind == toSyscall || kind == fromSyscall {
		request = unix.PTRACE_SYSCALL
	} else {
		t.owed = true
	}
	if kind == plainStep && sig == 0 && !t.wasPushf && p.watches.version == 0 {
		p.probeFast(t)
		return
	}
	p.hot = t.tid
	p.resumeWith(t, request, sig)
}

// probeSlow lets a thread execute one instruction, whose status the tracer's loop handles.
func (p *Process) probeSlow(t *thread) {
	p.hot = t.tid
	request := unix.PTRACE_SINGLESTEP
	switch p.instructionAt(t) {
	case insnSyscall:
		t.step, t.owed, request = toSyscall, false, unix.PTRACE_SYSCALL
	case insnPushf:
		t.wasPushf = !p.trapFlag(t)
	}
	p.resumeWith(t, request, 0)
}

// probeFast executes instructions of a thread, as long as nothing else is to be done. Most are
// emulated: that costs a hundredth of a step. The others are stepped, and each must end with the trap
// of its step. Then the status is left for the tracer's loop.
func (p *Process) probeFast(t *thread) {
	q := &p.probing
	p.forgetRegisters(t)
	q.code.n = 0
	for ; q.steps < turnSteps && !p.tracer.wanted() && !p.mem.inserted(t.pc()); q.steps++ {
		if op := q.operation(p, t.pc()); op != nil && p.emulateOp(t, op) {
			if (p.emulation.wrote || q.probe.Registers) && p.changed(t) {
				t.why, t.fired, t.bySteps = watched, 0, true
				p.pending = append(p.pending, t)
				p.react(t)
				return
			}
			continue
		}
		if !p.plainAt(t) {
			break
		}
		if ws, ok := p.probeStep(t); !ok {
			t.running = true
			p.inMotion++
			if ws != 0 {
				p.deferred = append(p.deferred, status{t.tid, ws})
			}
			return
		}
	}
	q.steps = min(q.steps, turnSteps-1) // the next step ends the turn
	p.probeSlow(t)
}

// probeStep executes one instruction. It returns false if the tracer's loop must handle the status:
// the thread has stopped for another reason, or the probe wants it.
func (p *Process) probeStep(t *thread) (unix.WaitStatus, bool) {
	pc := t.pc()
	t.flush()
	p.probing.code.n = 0
	if ptrace(unix.PTRACE_SINGLESTEP, t.tid, 0, 0) != nil {
		return 0, false // it was killed; its end will be reported soon
	}
	ws, ok := waitFor(t.tid)
	t.haveRegs = false
	const stepTrap = unix.WaitStatus(unix.SIGTRAP)<<8 | 0x7f
	if !ok || ws != stepTrap {
		return ws, false
	}
	if r, err := t.registers(); err == nil {
		// An instruction that has not moved the PC may not have been executed.
		next := target.Addr(r.get(offRIP))
		if next != pc && !p.mem.inserted(next) && !p.changed(t) {
			return 0, true
		}
	}
	t.haveRegs = false
	return ws, false
}

// operation returns the operation at an address, or nil if it is not one that can be emulated.
func (q *probing) operation(p *Process, pc target.Addr) *emulate.Op {
	const page = target.Addr(len(q.code.data))
	at := pc & (page - 1)
	if q.code.n == 0 || q.code.page != pc-at {
		q.code.page = pc - at
		q.code.n, _ = p.mem.read(pc-at, q.code.data[:])
	}
	if int(at)+maxInstruction > q.code.n {
		return nil // across pages, or at the end of a mapping
	}
	code := [maxInstruction]byte(q.code.data[at:])
	o := q.ops[pc]
	if o == nil || o.code != code {
		const most = 1 << 16
		if len(q.ops) >= most || q.ops == nil {
			q.ops = map[target.Addr]*probedOp{}
		}
		o = &probedOp{code: code}
		o.op, o.ok = emulate.Decode(code[:], uint64(pc))
		q.ops[pc] = o
	}
	if !o.ok {
		return nil
	}
	return &o.op
}

// probedOp is a decoded instruction.
type probedOp struct {
	code [maxInstruction]byte
	op   emulate.Op
	ok   bool
}

// plainAt reports whether a thread's next instruction causes no trap of its own, and does not set the
// trap flag: then a SIGTRAP after it is that of the step.
func (p *Process) plainAt(t *thread) bool {
	var b [maxInstruction]byte
	n, _ := p.ReadMemory(t.pc(), b[:])
	if n == 0 || decode(b[:n]) != insnOther {
		return false
	}
	switch b[0] {
	case 0xcc, 0xcd, 0xce, 0xf1, 0x9d, 0xcf: // int3, int, into, int1, popf, iret
		return false
	}
	return b[0] != 0x66 && b[0] != 0x48 || n < 2 || b[1] != 0x9d && b[1] != 0xcf
}

// changed calls the probe.
func (p *Process) changed(t *thread) bool {
	q := &p.probing
	var regs *arch.Registers
	if q.probe.Registers {
		r, err := t.registers()
		if err != nil {
			return false
		}
		q.regs = arch.Registers{Arch: arch.AMD64}
		target.SetUser(&q.regs, r[:])
		regs = &q.regs
	}
	return q.probe.Check(target.ThreadID(t.tid), regs)
}

// noteProbed calls the probe after a thread has moved. It returns true if the thread stops for it.
func (p *Process) noteProbed(t *thread) bool {
	if !p.probed(t) {
		return false
	}
	p.endTurn(t)
	if !p.changed(t) {
		return false
	}
	t.why, t.fired, t.bySteps = watched, 0, true
	return true
}
