package flow

import (
	"dbg/arch"
	"dbg/code"
	"dbg/row"
)

// Frame is a State expressed in terms of the current registers. Equal frames compare equal.
type Frame struct {
	m      *machine
	CFA    Place
	SP     int32  // from the stack pointer to the CFA
	HasSP  bool   // SP is known
	Saved  uint32 // slots that are saved at At
	Lost   uint32 // slots whose location is unknown
	Signed bool   // the return address is signed
	At     [MaxSlots]Slot
}

// Place is an address: the value of a register plus an offset. Or it is indirect: the word on the
// stack at such an address, plus an offset.
type Place struct {
	Base    arch.Reg // NoReg: unknown
	Through bool
	Word    int32 // the word is at Base+Word
	Off     int32
}

// Slot is the location of a saved register, relative to the CFA or to the value of a register.
type Slot struct {
	Base arch.Reg // NoReg: the CFA
	Off  int32
}

// Known reports whether the place is known.
func (p Place) Known() bool { return p.Base != arch.NoReg }

// Frame expresses the state in terms of registers: of the frame pointer if it is used as one,
// else of the stack pointer, else of any suitable register. It returns false if the CFA can't be
// expressed; the information about registers is valid nevertheless.
func (s *State) Frame(f *Frame) bool {
	m := s.m
	*f = Frame{m: m, Saved: s.saved, Lost: s.lost, Signed: s.signed}
	f.CFA, _ = s.find(value{base: cfa})
	if sp := s.regs[m.sp]; sp.base == cfa {
		f.SP, f.HasSP = -sp.off, true
	}
	for i, bits := 0, s.saved; bits != 0; i, bits = i+1, bits>>1 {
		if bits&1 == 0 {
			continue
		}
		at := s.slot[i]
		if at.base == cfa {
			f.At[i] = Slot{arch.NoReg, at.off}
			continue
		}
		if p, ok := s.find(at); ok && !p.Through {
			f.At[i] = Slot{p.Base, p.Off}
		} else {
			f.Saved &^= 1 << i
			f.Lost |= 1 << i
		}
	}
	return f.CFA.Known()
}

// find expresses an address of the stack by a register, or by the word of the stack that leads to
// it.
func (s *State) find(v value) (Place, bool) {
	none := Place{Base: arch.NoReg}
	if !v.onStack() {
		return none, false
	}
	m := s.m
	if v.base == cfa && s.framed() {
		return Place{Base: m.arch.FP, Off: v.off - s.regs[m.fp].off}, true
	}
	passing := none // a register that any path may have changed; a word of the stack is preferred
	for _, n := range m.order {
		if have := s.regs[n]; have.base == v.base {
			p := Place{Base: m.regs[n], Off: v.off - have.off}
			if m.call&(1<<n) == 0 {
				return p, true
			}
			passing = p
			break
		}
	}
	if v.base == cfa && s.link.base == aligned {
		if p, ok := s.find(s.link); ok {
			return Place{Base: p.Base, Through: true, Word: p.Off, Off: v.off - s.linked.off}, true
		}
	}
	return passing, passing.Known()
}

// IsAt reports whether the CFA is a register's value plus an offset.
func (f *Frame) IsAt(r arch.Reg, off int64) bool {
	if r == f.m.arch.SP && f.HasSP {
		return int64(f.SP) == off
	}
	return f.CFA.Base == r && !f.CFA.Through && int64(f.CFA.Off) == off
}

// SavedAt returns the offset from the CFA at which a register is saved, if it is.
func (f *Frame) SavedAt(r arch.Reg) (off int32, ok bool) {
	for i, reg := range f.m.saved[:f.m.nslots] {
		if reg == r {
			return f.At[i].Off, f.Saved&(1<<i) != 0 && f.At[i].Base == arch.NoReg
		}
	}
	return 0, false
}

// framed reports whether the frame pointer is used as one: it points to the saved frame pointer
// of the caller or, on riscv64, to the CFA. Then it stays there as long as the frame does. Any
// other value in it is temporary, as in any register.
func (s *State) framed() bool {
	fp := s.regs[s.m.fp]
	i := s.m.slot[s.m.fp]
	return fp.base == cfa && s.saved&(1<<i) != 0 && (s.slot[i] == fp || s.m == riscv64 && fp.off == 0)
}

// Row writes the frame as rules into r. It does not change Lo, Hi and Source. The CFA must be
// known.
func (f *Frame) Row(r *row.Row) {
	m := f.m
	lo, hi, source := r.Lo, r.Hi, r.Source
	r.Reset()
	r.Lo, r.Hi, r.Source, r.Signed = lo, hi, source, f.Signed
	r.CFA = row.Rule{Kind: row.InReg, Reg: f.CFA.Base, N: int64(f.CFA.Off)}
	if f.CFA.Through {
		r.CFA = row.Rule{Kind: row.ValExpr, Expr: through(f.CFA)}
	}
	if m.link == code.None {
		r.RA = m.arch.PC
		r.Regs = append(r.Regs, row.RegRule{Reg: r.RA, Rule: row.Rule{Kind: row.At, N: -int64(m.arch.PtrSize)}})
	} else {
		r.RA = m.arch.LR
	}
	for i := range m.nslots {
		switch {
		case f.Saved&(1<<i) != 0:
			rule := row.Rule{Kind: row.At, N: int64(f.At[i].Off)}
			if b := f.At[i].Base; b != arch.NoReg {
				rule = row.Rule{Kind: row.AtExpr, Expr: breg(nil, b, f.At[i].Off)}
			}
			r.Regs = append(r.Regs, row.RegRule{Reg: m.saved[i], Rule: rule})
		case f.Lost&(1<<i) != 0:
			r.Regs = append(r.Regs, row.RegRule{Reg: m.saved[i], Rule: row.Rule{Kind: row.Undefined}})
		}
	}
}

// through returns the DWARF expression for a place through a word of the stack: DWARF 5, sections
// 2.5.1.2 to 2.5.1.4.
func through(p Place) []byte {
	const deref, consts, plus = 0x06, 0x11, 0x22
	e := append(breg(nil, p.Base, p.Word), deref)
	if p.Off != 0 {
		e = append(sleb(append(e, consts), p.Off), plus)
	}
	return e
}

func breg(e []byte, r arch.Reg, off int32) []byte {
	const breg0, bregx = 0x70, 0x92
	if r < 32 {
		return sleb(append(e, breg0+byte(r)), off)
	}
	return sleb(append(e, bregx, byte(r)), off) // below 96
}

func sleb(e []byte, v int32) []byte {
	for v < -64 || v >= 64 {
		e = append(e, byte(v)|0x80)
		v >>= 7
	}
	return append(e, byte(v)&0x7f)
}
