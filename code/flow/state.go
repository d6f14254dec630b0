package flow

import (
	"math/bits"

	"dbg/arch"
	"dbg/code"
	"dbg/row"
)

// value is the tracked value of a register.
type value struct {
	base space
	off  int32
}

// space is the base of a value.
type space uint8

const (
	nowhere space = iota
	cfa           // the canonical frame address
	aligned       // the stack pointer when it was last set to a value that can't be tracked: a realigned frame, or one of variable size
	number        // none: it is a constant
)

func (v value) plus(n int64) value {
	if v.base == nowhere {
		return value{}
	}
	sum := int64(v.off) + n
	if v.off = int32(sum); int64(v.off) != sum {
		return value{}
	}
	return v
}

// onStack reports whether the value is an address of the stack.
func (v value) onStack() bool { return v.base == cfa || v.base == aligned }

// State describes the machine between two instructions. It is a value: a copy is independent, and
// equal states compare equal.
type State struct {
	m      *machine
	regs   [32]value
	saved  uint32 // slots that were stored in slot and not loaded since
	lost   uint32 // slots that have another value and were not stored
	signed bool   // the return address is signed
	slot   [MaxSlots]value
	// The word of the stack at link holds the address linked. A function that realigns its frame
	// uses it to find its caller's frame.
	link, linked value
}

// Entry returns the state at a function's first instruction. The architecture must be Supported.
func Entry(a *arch.Arch) State {
	s := State{m: machineOf(a)}
	s.regs[s.m.sp] = value{cfa, s.m.entrySP()}
	return s
}

// FromRow returns the state in which a row is valid, as far as the row determines it. Registers
// without a rule still have the caller's value. It returns false if the row can't be expressed as
// a State.
func FromRow(a *arch.Arch, r *row.Row) (State, bool) {
	s := State{m: machineOf(a)}
	if s.m == nil || r.CFA.Kind != row.InReg || int64(int32(r.CFA.N)) != r.CFA.N {
		return s, false
	}
	s.regs[s.m.sp] = value{base: aligned}
	base := -1
	for n := range s.m.nregs {
		if s.m.regs[n] == r.CFA.Reg {
			base = n
		}
	}
	if base < 0 {
		return s, false
	}
	s.regs[base] = value{cfa, -int32(r.CFA.N)}
	for i, reg := range s.m.saved[:s.m.nslots] {
		switch rule := r.Rule(reg); {
		case rule.Kind == row.At && int64(int32(rule.N)) == rule.N:
			s.saved |= 1 << i
			s.slot[i] = value{cfa, int32(rule.N)}
		case rule.Kind > row.Same:
			s.lost |= 1 << i
		}
	}
	return s, true
}

// IsEntry reports whether a row is valid at a function's first instruction.
func IsEntry(a *arch.Arch, r *row.Row) bool {
	s, ok := FromRow(a, r)
	ra := r.Rule(r.RA)
	return ok && s == Entry(a) &&
		(ra.Kind == row.Unspecified && r.RA == a.LR || ra.Kind == row.At && ra.N == -int64(a.PtrSize))
}

// SetSP sets the stack pointer to its value in a frame.
func (s *State) SetSP(f *Frame) {
	if f.HasSP {
		s.forgetAligned()
		s.regs[s.m.sp] = value{cfa, -f.SP}
	}
}

// Return applies the return of a called function: the registers that it need not preserve have
// other values.
func (s *State) Return() { s.kill(s.m.call) }

// Free removes bytes from the stack.
func (s *State) Free(n int32) {
	if n != 0 {
		s.set(s.m.sp, s.regs[s.m.sp].plus(int64(n)))
	}
}

// Apply applies one instruction to the stack pointer, to addresses of the stack and to saved
// registers.
func (s *State) Apply(in *code.Insn) {
	if in.Op != code.Nothing {
		s.op(in)
	}
	if in.Kills != 0 {
		s.kill(in.Kills)
	}
	if in.KillD != 0 {
		for i := range 8 {
			if in.KillD&(1<<i) != 0 {
				s.lose(12 + i)
			}
		}
	}
}

func (s *State) kill(regs uint32) {
	for n := 0; regs != 0; n, regs = n+1, regs>>1 {
		if regs&1 != 0 {
			s.set(uint8(n), value{})
		}
	}
}

func (s *State) op(in *code.Insn) {
	sp, word := s.m.sp, int64(s.m.arch.PtrSize)
	switch in.Op {
	case code.Push:
		copied := in.Base < 32 && s.link.onStack() && s.regs[in.Base].plus(int64(in.Imm)) == s.link
		s.set(sp, s.regs[sp].plus(-word))
		if copied {
			s.link = s.regs[sp]
		} else {
			s.store(s.regs[sp], in.Src)
		}
	case code.Pop:
		at := s.regs[sp]
		s.set(sp, at.plus(word))
		s.load(in.Dst, at)
	case code.Leave:
		at := s.regs[s.m.fp]
		s.load(s.m.fp, at)
		s.set(sp, at.plus(word))
	case code.Add:
		s.set(in.Dst, s.regs[in.Src].plus(int64(in.Imm)))
	case code.AddReg:
		a, b := s.regs[in.Src], s.regs[in.Base]
		if a.base == number {
			a, b = b, a
		}
		if b.base != number {
			a = value{}
		}
		s.set(in.Dst, a.plus(int64(b.off)))
	case code.SubReg:
		a, b := s.regs[in.Src], s.regs[in.Base]
		if b.base != number {
			a = value{}
		}
		s.set(in.Dst, a.plus(-int64(b.off)))
	case code.Const:
		s.set(in.Dst, value{number, in.Imm})
	case code.ConstPart:
		v := s.regs[in.Dst]
		if v.base != number || in.Shift > 16 || in.Shift == 16 && in.Imm >= 0x8000 {
			v = value{}
		} else {
			v.off = v.off&^(0xffff<<in.Shift) | in.Imm<<in.Shift
		}
		s.set(in.Dst, v)
	case code.Load, code.Store:
		s.memory(in)
	case code.StoreMany, code.LoadMany:
		s.many(in)
	case code.Sign:
		s.signed = !s.signed
	}
}

// many applies a store or a load of several registers.
func (s *State) many(in *code.Insn) {
	n := int64(bits.OnesCount16(in.List)) * 4
	base := s.regs[in.Base]
	at, end := base, base.plus(n)
	if in.Op == code.StoreMany {
		at, end = base.plus(-n), base.plus(-n)
		s.set(in.Base, end)
	}
	for reg := range uint8(16) {
		if in.List&(1<<reg) == 0 {
			continue
		}
		if in.Op == code.StoreMany {
			s.store(at, reg)
		} else {
			s.load(reg, at)
		}
		at = at.plus(4)
	}
	if in.Op == code.LoadMany && in.List&(1<<in.Base) == 0 {
		s.set(in.Base, end)
	}
}

// memory applies a load or a store of one or two registers.
func (s *State) memory(in *code.Insn) {
	at, base := s.regs[in.Base], s.regs[in.Base].plus(int64(in.Imm))
	if in.Wrap != code.Post {
		at = base
	}
	if in.Wrap != code.Keep {
		s.set(in.Base, base)
	}
	first, second := in.Dst, in.Src
	if in.Op == code.Store {
		first, second = second, first
		s.store(at, first)
		if second != code.None {
			s.store(at.plus(int64(in.Size)), second)
		}
		return
	}
	s.load(first, at)
	if second != code.None {
		s.load(second, at.plus(int64(in.Size)))
	}
}

// lose records that a register no longer has the caller's value.
func (s *State) lose(slot int) {
	if slot >= 0 && s.saved&(1<<slot) == 0 {
		s.lost |= 1 << slot
	}
}

// set sets a register to a value that is not the caller's.
func (s *State) set(n uint8, v value) {
	if n == s.m.sp && !v.onStack() {
		s.forgetAligned()
		v = value{base: aligned}
	}
	if n < 32 {
		s.regs[n] = v
	}
	s.lose(s.m.slotOf(n))
}

// forgetAligned handles a stack pointer that is set again to a value that can't be tracked.
func (s *State) forgetAligned() {
	for i, r := range s.regs {
		if r.base == aligned {
			s.regs[i] = value{}
		}
	}
	for i, at := range s.slot {
		if at.base == aligned {
			s.slot[i] = value{}
		}
	}
	s.link, s.linked = value{}, value{}
}

// store records a write to the stack.
func (s *State) store(to value, src uint8) {
	if !to.onStack() {
		return
	}
	if to == s.link {
		s.link, s.linked = value{}, value{}
	}
	if i := s.m.slotOf(src); i >= 0 && (s.saved|s.lost)&(1<<i) == 0 {
		s.saved |= 1 << i
		s.slot[i] = to
	}
	// The last copy counts: code that moves its frame copies the word again.
	if src < 32 && to.base == aligned && s.regs[src].base == cfa && (s.link.base == nowhere || s.linked == s.regs[src]) {
		s.link, s.linked = to, s.regs[src]
	}
}

// load handles a register that is loaded from the stack: if the word is the register's saved
// value, the register has that value again.
func (s *State) load(n uint8, from value) {
	if n == code.None {
		return
	}
	if from.onStack() && from == s.link {
		s.set(n, s.linked)
		return
	}
	i := s.m.slotOf(n)
	if i < 0 || !from.onStack() || s.saved&(1<<i) == 0 || s.slot[i] != from {
		s.set(n, value{})
		return
	}
	s.saved &^= 1 << i
	s.slot[i] = value{}
	if n < 32 {
		s.regs[n] = value{}
	}
}

// LoadsArgument reports whether an instruction, in this state, loads a word of the caller's
// frame: an argument. Functions do not save their own values there.
func (s *State) LoadsArgument(in *code.Insn) bool {
	if in.Op != code.Load || in.Base >= 32 || in.Wrap == code.Post {
		return false
	}
	at := s.regs[in.Base].plus(int64(in.Imm))
	return at.base == cfa && at.off >= 0
}
