package flow

import (
	"math/bits"

	"dbg/arch"
	"dbg/code"
)

// Ahead follows code forward from an instruction, and describes the later values of registers in
// terms of the current values of registers and stack. At a function's return that is the caller's
// frame: the code restores the registers that it saved, wherever they are. It is a value: a copy
// is independent.
type Ahead struct {
	m      *machine
	regs   [32 + 8]content // the general registers, and D8 to D15 of arm64
	stored [maxStored]storedWord
	n      int
}

// maxStored limits the number of tracked words that the code itself writes to the stack.
const maxStored = 24

// content is the value of a register.
type content struct {
	kind contentKind
	base uint8 // register, as the index in Ahead.regs
	word int32 // for wordNow
	off  int32
}

type contentKind uint8

const (
	unknown  contentKind = iota
	valueNow             // the current value of register base, plus off
	wordNow              // the current word at base+word, plus off
	constant             // off
)

// storedWord is a word that the code has written, at an offset from the current stack pointer.
type storedWord struct {
	off  int32
	what content
}

func (c content) plus(n int64) content {
	if c.kind == unknown {
		return c
	}
	sum := int64(c.off) + n
	if c.off = int32(sum); int64(c.off) != sum {
		return content{}
	}
	return c
}

// NewAhead returns the current state. The architecture must be Supported.
func NewAhead(a *arch.Arch) Ahead {
	s := Ahead{m: machineOf(a)}
	for i := range s.regs {
		s.regs[i] = content{kind: valueNow, base: uint8(i)}
	}
	return s
}

// index returns the index in Ahead.regs of a register of an instruction, or -1 if it is not
// tracked.
func (s *Ahead) index(n uint8) int {
	switch {
	case n < 32:
		return int(n)
	case code.D0+8 <= n && n < code.D0+16 && s.m == arm64:
		return 32 + int(n-code.D0-8)
	}
	return -1
}

func (s *Ahead) get(n uint8) content {
	if i := s.index(n); i >= 0 {
		return s.regs[i]
	}
	return content{}
}

func (s *Ahead) set(n uint8, c content) {
	if i := s.index(n); i >= 0 {
		s.regs[i] = c
	}
}

// Moved reports whether the stack pointer has a known value that differs from the current one.
func (s *Ahead) Moved() bool {
	sp := s.regs[s.m.sp]
	return sp.kind != unknown && sp != content{kind: valueNow, base: s.m.sp}
}

// Apply applies one instruction.
func (s *Ahead) Apply(in *code.Insn) {
	s.op(in)
	for n, k := uint8(0), in.Kills; k != 0; n, k = n+1, k>>1 {
		if k&1 != 0 {
			s.regs[n] = content{}
		}
	}
	for i := range 8 {
		if in.KillD&(1<<i) != 0 {
			s.regs[32+i] = content{}
		}
	}
}

func (s *Ahead) op(in *code.Insn) {
	sp, word := s.m.sp, int64(s.m.arch.PtrSize)
	switch in.Op {
	case code.Push:
		s.regs[sp] = s.regs[sp].plus(-word)
		s.store(s.regs[sp], s.get(in.Src))
	case code.Pop:
		from := s.regs[sp]
		s.regs[sp] = from.plus(word)
		s.set(in.Dst, s.load(from))
	case code.Leave:
		from := s.regs[s.m.fp]
		s.regs[sp] = from.plus(word)
		s.regs[s.m.fp] = s.load(from)
	case code.Add:
		s.set(in.Dst, s.get(in.Src).plus(int64(in.Imm)))
	case code.AddReg:
		a, b := s.get(in.Src), s.get(in.Base)
		if a.kind == constant {
			a, b = b, a
		}
		if b.kind != constant {
			a = content{}
		}
		s.set(in.Dst, a.plus(int64(b.off)))
	case code.SubReg:
		a, b := s.get(in.Src), s.get(in.Base)
		if b.kind != constant {
			a = content{}
		}
		s.set(in.Dst, a.plus(-int64(b.off)))
	case code.Const:
		s.set(in.Dst, content{kind: constant, off: in.Imm})
	case code.ConstPart:
		c := s.get(in.Dst)
		if c.kind != constant || in.Shift > 16 || in.Shift == 16 && in.Imm >= 0x8000 {
			c = content{}
		} else {
			c.off = c.off&^(0xffff<<in.Shift) | in.Imm<<in.Shift
		}
		s.set(in.Dst, c)
	case code.Load, code.Store:
		s.memory(in)
	case code.StoreMany, code.LoadMany:
		s.many(in)
	}
}

// memory applies a load or a store of one or two registers.
func (s *Ahead) memory(in *code.Insn) {
	at, base := s.get(in.Base), s.get(in.Base).plus(int64(in.Imm))
	if in.Wrap != code.Post {
		at = base
	}
	if in.Op == code.Store {
		s.store(at, s.get(in.Src))
		if in.Dst != code.None {
			s.store(at.plus(int64(in.Size)), s.get(in.Dst))
		}
	}
	if in.Wrap != code.Keep {
		s.set(in.Base, base)
	}
	if in.Op == code.Load {
		first := s.load(at)
		if in.Src != code.None {
			s.set(in.Src, s.load(at.plus(int64(in.Size))))
		}
		s.set(in.Dst, first)
	}
}

// many applies a load or a store of several registers.
func (s *Ahead) many(in *code.Insn) {
	n := int64(bits.OnesCount16(in.List)) * 4
	base := s.get(in.Base)
	at, end := base, base.plus(n)
	if in.Op == code.StoreMany {
		at, end = base.plus(-n), base.plus(-n)
	}
	for reg := range uint8(16) {
		if in.List&(1<<reg) == 0 {
			continue
		}
		if in.Op == code.StoreMany {
			s.store(at, s.get(reg))
		} else {
			s.set(reg, s.load(at))
		}
		at = at.plus(4)
	}
	if in.Op == code.StoreMany || in.List&(1<<in.Base) == 0 {
		s.set(in.Base, end)
	}
}

// onStack reports whether an address is on the stack, relative to the current stack pointer.
func (s *Ahead) onStack(at content) bool { return at.kind == valueNow && at.base == s.m.sp }

// store records a write to the stack.
func (s *Ahead) store(to, what content) {
	if !s.onStack(to) {
		return
	}
	for i := range s.n {
		if s.stored[i].off == to.off {
			s.stored[i].what = what
			return
		}
	}
	if s.n < maxStored {
		s.stored[s.n] = storedWord{to.off, what}
		s.n++
	}
}

// load returns the value of a word on the stack: the word that the code itself wrote there, or
// the earlier word. Below the current stack pointer there was no word.
func (s *Ahead) load(from content) content {
	if s.onStack(from) {
		for i := range s.n {
			if s.stored[i].off == from.off {
				return s.stored[i].what
			}
		}
		if from.off < 0 {
			return content{}
		}
	}
	if from.kind != valueNow || from.base >= 32 || s.m.keeps&(1<<from.base) == 0 { // not of a frame
		return content{}
	}
	return content{kind: wordNow, base: from.base, word: from.off}
}

// Return sets f to the caller's frame at a return instruction, which must not have been applied
// yet. Slots that are neither saved nor lost have their current values. It returns false if the
// stack pointer at the return is unknown.
func (s *Ahead) Return(in *code.Insn, f *Frame) bool {
	m := s.m
	*f = Frame{m: m, CFA: Place{Base: arch.NoReg}}
	s.Apply(in)
	cfa := s.regs[m.sp]
	if m.link == code.None {
		cfa = cfa.plus(int64(m.arch.PtrSize))
	}
	switch {
	case cfa.kind == valueNow:
		f.CFA = Place{Base: s.reg(cfa.base), Off: cfa.off}
	case cfa.kind == wordNow && (cfa.base == m.sp || cfa.base == m.fp): // elsewhere it is a context: another stack's
		f.CFA = Place{Base: s.reg(cfa.base), Through: true, Word: cfa.word, Off: cfa.off}
	default:
		return false
	}
	for slot, reg := range m.saved[:m.nslots] {
		i := s.slotIndex(slot, reg)
		c := s.regs[i]
		if m.link != code.None && slot == int(m.link) && in.LoadsPC() {
			c = s.regs[armPC]
		}
		switch {
		case c == content{kind: valueNow, base: uint8(i)}:
		case c.kind == wordNow && c.off == 0 && s.reg(c.base) != arch.NoReg:
			f.Saved |= 1 << slot
			f.At[slot] = Slot{s.reg(c.base), c.word}
		default:
			f.Lost |= 1 << slot
		}
	}
	return f.CFA.Known()
}

// armPC is the number of ARM's program counter.
const armPC = 15

// reg returns the DWARF number for an index in Ahead.regs.
func (s *Ahead) reg(i uint8) arch.Reg {
	if i < 32 {
		return s.m.regs[i]
	}
	return arch.NoReg
}

// slotIndex returns the index in Ahead.regs of the register of a slot.
func (s *Ahead) slotIndex(slot int, reg arch.Reg) int {
	if s.m == arm64 && slot >= 12 {
		return 32 + slot - 12
	}
	for n := range s.m.nregs {
		if s.m.regs[n] == reg {
			return n
		}
	}
	return int(s.m.sp)
}
