package ptrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"dbg/code/emulate"
	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// An instruction at a site that can't be emulated is executed out of line: the thread steps a
// copy of it, and its PC is corrected afterwards. No other thread notices. The copy is in the
// unused end of the vDSO's last page, which every process has mapped as executable, and which is
// never executed. The original zeros are restored when the process stops.

// slotSize is the size of the space for one copy, in bytes.
const slotSize = 16

// slots is the number of threads that may be out of line at once.
const slots = 4

// scratch is the memory for copies.
type scratch struct {
	base target.Addr // 0: none was found
	used [slots]bool
	dirt bool // something has been written there
}

// outOfLine is the position of a thread that executes a copy.
type outOfLine struct {
	slot     int // one more than its number; 0: the thread is where it should be
	from, to target.Addr
	n, out   int // the lengths of the instruction and of its copy
}

// findScratch searches for the unused end of the vDSO.
func (p *Process) findScratch() {
	p.scratch = scratch{}
	const auxSysinfoEHDR = 33
	base, ok := p.Auxv(auxSysinfoEHDR)
	if !ok || base == 0 {
		return
	}
	maps, err := p.Mappings()
	if err != nil {
		return
	}
	for _, m := range maps {
		if m.Lo == target.Addr(base) && m.Exec == target.Allowed {
			var end [slots * slotSize]byte
			at := m.Hi - target.Addr(len(end))
			if n, _ := p.mem.read(at, end[:]); n == len(end) && end == [slots * slotSize]byte{} {
				p.scratch.base = at
			}
			return
		}
	}
}

// displace makes a thread execute the instruction of its site out of line. It returns false if
// that is not possible; then nothing has changed.
func (p *Process) displace(t *thread, addr target.Addr) bool {
	if !p.sought {
		p.sought = true
		p.findScratch()
	}
	r, err := t.registers()
	if err != nil || p.scratch.base == 0 || t.inject != 0 || target.Addr(r.Get(kernel.RIP)) != addr ||
		r.Restarting() || r.Get(kernel.Flags)&kernel.TrapFlag != 0 {
		return false
	}
	slot := 0
	for slot < slots && p.scratch.used[slot] {
		slot++
	}
	if slot == slots {
		return false
	}
	to := p.scratch.base + target.Addr(slot*slotSize)
	var text [maxInstruction]byte
	n, _ := p.mem.read(addr, text[:])
	out, length, ok := emulate.Displace(text[:n], uint64(addr), uint64(to))
	if !ok || len(out) > slotSize {
		return false
	}
	p.scratch.dirt = true
	if p.mem.rawWrite(to, out) != len(out) {
		return false
	}
	p.scratch.used[slot] = true
	t.line = outOfLine{slot + 1, addr, to, length, len(out)}
	_ = t.setPC(to)
	t.skipping, t.why, t.signal = false, passing, nil
	t.step, t.owed = plainStep, true
	p.resumeWith(t, unix.PTRACE_SINGLESTEP, 0)
	return true
}

// comeBack corrects the PC of a thread that has stopped out of line: after the instruction if it
// was executed, else at it.
func (p *Process) comeBack(t *thread) {
	if t.line.slot == 0 {
		return
	}
	l := t.line
	p.freeSlot(t)
	r, err := t.registers()
	if err != nil {
		return // it has been killed
	}
	switch pc := target.Addr(r.Get(kernel.RIP)); pc {
	case l.to + target.Addr(l.out):
		_ = t.setPC(l.from + target.Addr(l.n))
	case l.to:
		_ = t.setPC(l.from)
		t.skip, t.skipping = l.from, true
	}
	t.cameFrom = l
}

// rectify corrects the address of the instruction in the siginfo of a fault out of line:
// sigaction(2), si_addr of SIGILL, SIGFPE and SIGTRAP.
func (t *thread) rectify() {
	l := t.cameFrom
	if l.slot != 0 && t.info.Code() > 0 && binary.LittleEndian.Uint64(t.info[16:]) == uint64(l.to) {
		binary.LittleEndian.PutUint64(t.info[16:], uint64(l.from))
	}
}

// freeSlot releases a thread's slot.
func (p *Process) freeSlot(t *thread) {
	if t.line.slot != 0 {
		p.scratch.used[t.line.slot-1] = false
		t.line = outOfLine{}
	}
}

// sweep restores the bytes that the copies replaced. No thread is out of line.
func (p *Process) sweep() {
	if p.scratch.dirt {
		p.scratch.dirt = false
		var zeros [slots * slotSize]byte
		p.mem.rawWrite(p.scratch.base, zeros[:])
	}
}
