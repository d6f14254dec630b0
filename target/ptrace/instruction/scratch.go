package instruction

import (
	"dbg/code/emulate"
	"dbg/target"
	"dbg/target/ptrace/memory"
	"dbg/target/ptrace/procfs"
)

// An instruction at a site that can't be emulated is executed out of line: the thread steps a
// copy of it, and its PC is corrected afterwards. No other thread notices. The copy is in the
// unused end of the vDSO's last page, which every process has mapped as executable, and which is
// never executed. The original zeros are restored when the process stops.

// slotSize is the size of the space for one copy, in bytes.
const slotSize = 16

// slots is the number of threads that may be out of line at once.
const slots = 4

// ScratchSize is the size of a Scratch in the program's memory, in bytes.
const ScratchSize = slots * slotSize

// Scratch is the space for copies in one process. The zero value has not been searched for yet.
type Scratch struct {
	base   target.Addr // 0: none was found
	used   [slots]bool
	dirty  bool // something has been written there
	sought bool // find was called
}

// Copy is the position of a thread that executes a copy of an instruction. The zero value is a
// thread that is where it should be.
type Copy struct {
	From target.Addr // the address of the instruction
	To   target.Addr // the address of the copy

	slot   int // one more than its number; 0: not out of line
	n, out int // the lengths of the instruction and of its copy
}

// Away reports whether the thread is out of line.
func (c *Copy) Away() bool { return c.slot != 0 }

// Back returns the PC in the program that corresponds to a PC at the copy. executed reports whether
// the instruction was executed. It returns ok false for any other PC: the instruction has jumped,
// or a signal handler was entered.
func (c *Copy) Back(pc target.Addr) (back target.Addr, executed, ok bool) {
	switch pc {
	case c.To + target.Addr(c.out):
		return c.From + target.Addr(c.n), true, true
	case c.To:
		return c.From, false, true
	}
	return 0, false, false
}

// Write writes a copy of the instruction at an address. It returns false if there is no space, or
// the instruction can't be moved. The caller owns the slot of the result until Free.
func (s *Scratch) Write(p *procfs.Process, m *memory.Memory, addr target.Addr) (Copy, bool) {
	if !s.sought {
		s.sought = true
		s.find(p, m)
	}
	slot := 0
	for slot < slots && s.used[slot] {
		slot++
	}
	if s.base == 0 || slot == slots {
		return Copy{}, false
	}
	to := s.base + target.Addr(slot*slotSize)
	var text [memory.MaxInstruction]byte
	n, _ := m.Read(addr, text[:])
	out, length, ok := emulate.Displace(text[:n], uint64(addr), uint64(to))
	if !ok || len(out) > slotSize {
		return Copy{}, false
	}
	s.dirty = true
	if m.WriteRaw(to, out) != len(out) {
		return Copy{}, false
	}
	s.used[slot] = true
	return Copy{From: addr, To: to, slot: slot + 1, n: length, out: len(out)}, true
}

// find searches for the unused end of the vDSO.
func (s *Scratch) find(p *procfs.Process, m *memory.Memory) {
	const auxSysinfoEHDR = 33
	base, ok := p.Auxv(auxSysinfoEHDR)
	if !ok || base == 0 {
		return
	}
	maps, err := p.Mappings()
	if err != nil {
		return
	}
	for i := range maps {
		if maps[i].Lo == target.Addr(base) && maps[i].Exec == target.Allowed {
			var end [ScratchSize]byte
			at := maps[i].Hi - target.Addr(len(end))
			if n, _ := m.Read(at, end[:]); n == len(end) && end == [ScratchSize]byte{} {
				s.base = at
			}
			return
		}
	}
}

// Addr returns the address of the space for copies, or 0 if none was found or none was needed yet.
func (s *Scratch) Addr() target.Addr { return s.base }

// Free releases the slot of a copy, if it has one.
func (s *Scratch) Free(c *Copy) {
	if c.slot != 0 {
		s.used[c.slot-1] = false
		*c = Copy{}
	}
}

// Busy reports whether a thread is out of line.
func (s *Scratch) Busy() bool { return s.used != [slots]bool{} }

// Sweep restores the bytes that the copies replaced. No thread is out of line.
func (s *Scratch) Sweep(m *memory.Memory) {
	if s.dirty {
		s.dirty = false
		var zeros [ScratchSize]byte
		m.WriteRaw(s.base, zeros[:])
	}
}
