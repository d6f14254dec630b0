package pdata

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"dbg/arch"
	"dbg/code/disasm"
	"dbg/row"
)

// Epilogues of x64, versions 1 and 2. The table does not describe them: they are recognised by their
// instructions, which the ABI restricts ("x64 prolog and epilog"): the stack pointer is set by an
// addition or from the frame register, registers are popped, and the function returns or jumps to
// another. Version 2 tells where they are, but they can be told without.
//
// Code that runs into a return is an epilogue without doubt. A jump out of the function is either the
// end of an epilogue or a jump between parts of a function. It ends an epilogue only if the
// instructions before it have taken down the whole frame of the body.

// codedRow is the row of a range in an epilogue.
type codedRow struct {
	lo, hi uint64
	row    row.Row
}

// maxEpilogueCode is the number of bytes of an entry whose instructions are read.
const maxEpilogueCode = 1 << 20

// codedEpilogues replaces the rows of the epilogues that the instructions show.
func (b *builder) codedEpilogues(list []*unwindInfo) error {
	e := b.entry
	size := e.Hi - e.Lo
	text := b.t.config.Read(e.Lo, int(min(size, maxEpilogueCode)))
	if text == nil || size > maxEpilogueCode {
		return errors.New("the epilogues can't be told from the body, since the code can't be read")
	}
	body, err := b.amd64Row(list, 1<<30)
	if err != nil {
		return err
	}
	if b.state.ended {
		return nil // after a machine frame there is no epilogue that the ABI knows
	}
	s := scanner{text: text, lo: e.Lo, body: body, fixed: fixedSize(list)}
	prologue := uint64(list[0].prologue)
	down := uint64(1<<64 - 1) // the next instruction of an epilogue that has begun to take down the whole frame
	var found []codedRow
	for at := uint64(0); at < size; {
		n := uint64(disasm.Length(arch.AMD64, text[at:]))
		if n == 0 {
			break
		}
		if at >= prologue && mayBeEpilogue(text[at]) {
			if ok := s.run(at); ok && (s.returns || down == at || s.whole()) {
				if !s.returns {
					down = at + n
				}
				r := codedRow{lo: e.Lo + at, hi: e.Lo + at + n}
				s.fill(&r.row)
				found = append(found, r)
			}
		}
		at += n
	}
	return b.overlay(found)
}

// fixedSize returns the number of bytes that the operations put on the stack.
func fixedSize(list []*unwindInfo) (n int64) {
	for _, u := range list {
		for i := range u.operations {
			switch o := &u.operations[i]; o.code {
			case uwopPushNonvol:
				n += 8
			case uwopAllocLarge:
				n += o.n
			}
		}
	}
	return n
}

// mayBeEpilogue reports whether an instruction of an epilogue may begin with a byte.
func mayBeEpilogue(c byte) bool {
	switch {
	case c&0xf0 == 0x40, c&0xf8 == 0x58:
		return true
	}
	switch c {
	case 0xc2, 0xc3, 0xc9, 0xe9, 0xeb, 0xf2, 0xf3, 0xff:
		return true
	}
	return false
}

// scanner follows the instructions of an epilogue.
type scanner struct {
	text  []byte
	lo    uint64
	body  *row.Row // the row of the body
	fixed int64    // bytes that the prologue has put on the stack

	sp      place // after the instructions so far
	popped  []savedReg
	first   bool // no instruction has been followed yet
	returns bool // it ends with a return
	moved   bool // its first instruction changes the stack pointer or pops
}

// maxEpilogue is the number of instructions of an epilogue that are followed, jumps included.
const maxEpilogue = 32

// run follows the instructions from an offset on. It returns false if they are no epilogue.
func (s *scanner) run(at uint64) bool {
	s.sp, s.popped = place{reg: arch.RSP}, s.popped[:0]
	s.first, s.returns, s.moved = true, false, false
	for range maxEpilogue {
		if at >= uint64(len(s.text)) {
			return false
		}
		b := s.text[at:]
		n := s.stackMove(b)
		if n == 0 {
			n = s.pop(b)
		}
		if n > 0 {
			s.moved = s.moved || s.first
			s.first = false
			at += uint64(n)
			continue
		}
		to, out, ok := s.end(b, at)
		if !ok || out || s.returns {
			return ok
		}
		s.first = false
		at = to
	}
	return false
}

// pop follows a pop of a register. It returns the size of the instruction, or 0.
func (s *scanner) pop(b []byte) int {
	n, reg := 1, b[0]&7
	switch {
	case b[0] == 0xc9: // leave
		if !s.first {
			return 0
		}
		s.sp = place{arch.RBP, 8}
		s.popped = append(s.popped, savedReg{arch.RBP, place{arch.RBP, 0}})
		return 1
	case b[0]&0xf0 == 0x40 && len(b) > 1 && b[1]&0xf8 == 0x58:
		n, reg = 2, b[1]&7|b[0]&1<<3
	case b[0]&0xf8 == 0x58:
	default:
		return 0
	}
	if reg != 4 {
		s.popped = append(s.popped, savedReg{amd64Regs[reg], s.sp})
	}
	s.sp.off += 8
	if reg == 4 {
		return 0 // pop rsp
	}
	return n
}

// stackMove follows an instruction that sets the stack pointer, which only the first may do. It
// returns its size, or 0.
func (s *scanner) stackMove(b []byte) int {
	if !s.first || len(b) < 4 || b[0]&0xf8 != 0x48 {
		return 0
	}
	imm := func(at, size int) (int64, int) {
		if len(b) < at+size {
			return 0, 0
		}
		if size == 1 {
			return int64(int8(b[at])), at + size
		}
		return int64(int32(binary.LittleEndian.Uint32(b[at:]))), at + size
	}
	n, v := 0, int64(0)
	rm := amd64Regs[b[2]&7|b[0]&1<<3]
	switch {
	case b[0] == 0x48 && b[1] == 0x83 && b[2] == 0xc4: // add rsp, imm8
		v, n = imm(3, 1)
		rm = arch.RSP
	case b[0] == 0x48 && b[1] == 0x81 && b[2] == 0xc4: // add rsp, imm32
		v, n = imm(3, 4)
		rm = arch.RSP
	case b[0]&6 == 0 && b[1] == 0x8d && b[2]&0x38 == 0x20 && b[2]&7 != 4 && b[2]>>6 == 1: // lea rsp, [reg+disp8]
		v, n = imm(3, 1)
	case b[0]&6 == 0 && b[1] == 0x8d && b[2]&0x38 == 0x20 && b[2]&7 != 4 && b[2]>>6 == 2: // lea rsp, [reg+disp32]
		v, n = imm(3, 4)
	case b[0]&6 == 0 && b[1] == 0x8d && b[2] == 0x64 && b[3] == 0x24: // lea rsp, [rsp+disp8], lea rsp, [r12+disp8]
		v, n = imm(4, 1)
	case b[0]&6 == 0 && b[1] == 0x8d && b[2] == 0xa4 && b[3] == 0x24: // the same with disp32
		v, n = imm(4, 4)
	case b[0]&6 == 0 && b[1] == 0x8b && b[2]&0xf8 == 0xe0: // mov rsp, reg
		n = 3
	case b[0]&3 == 0 && b[1] == 0x89 && b[2]&0xc7 == 0xc4: // mov rsp, reg, the other encoding
		rm, n = amd64Regs[b[2]>>3&7|b[0]&4<<1], 3
	}
	if n > 0 {
		s.sp = place{rm, v}
	}
	return n
}

// end follows the instruction that ends an epilogue. out is true for a jump out of the function; a
// jump inside goes on at to.
func (s *scanner) end(b []byte, at uint64) (to uint64, out, ok bool) {
	if b[0]&0xf8 == 0x48 && len(b) > 1 && b[1] == 0xff {
		b = b[1:] // rex.W, by which compilers mark a jump at the end of an epilogue
	}
	switch {
	case b[0] == 0xc3, (b[0] == 0xf3 || b[0] == 0xf2) && len(b) > 1 && b[1] == 0xc3:
		s.returns = true
		return 0, false, true
	case b[0] == 0xeb && len(b) >= 2:
		to = at + 2 + uint64(int64(int8(b[1])))
	case b[0] == 0xe9 && len(b) >= 5:
		to = at + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:]))))
	case b[0] == 0xff && len(b) >= 2 && b[1]>>3&7 == 4: // jmp reg, jmp [memory]
		return 0, true, true
	case b[0]&0xf0 == 0x40 && len(b) > 2 && b[1] == 0xff && b[2]>>3&7 == 4:
		return 0, true, true
	default:
		return 0, false, false
	}
	// A jump to the function's start is a call of itself.
	if to == 0 || to >= uint64(len(s.text)) {
		return 0, true, true
	}
	return to, false, true
}

// whole reports whether the instructions take down the whole frame of the body.
func (s *scanner) whole() bool {
	if !s.moved {
		return false
	}
	if s.sp.reg == s.body.CFA.Reg {
		return s.sp.off+8 == s.body.CFA.N
	}
	return s.sp.reg == arch.RSP && s.sp.off == s.fixed
}

// fill makes the row at the first instruction. What is not popped from there on has been restored.
func (s *scanner) fill(r *row.Row) {
	st := state{arch: arch.AMD64, sp: s.sp, regs: s.popped, ra: arch.RIP}
	st.fill(r, 8)
}

// overlay puts rows in place of those that b has for their ranges.
func (b *builder) overlay(found []codedRow) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b codedRow) int { return cmp.Compare(a.lo, b.lo) })
	for i := 1; i < len(found); i++ {
		if found[i].lo < found[i-1].hi {
			return errors.New("two epilogues overlap")
		}
	}
	base := b.out
	b.out = nil
	k := 0
	for i := range base {
		at := base[i].Lo
		for at < base[i].Hi {
			for k < len(found) && found[k].hi <= at {
				k++
			}
			switch {
			case k < len(found) && found[k].lo <= at:
				hi := min(base[i].Hi, found[k].hi)
				b.add(at, hi, &found[k].row)
				at = hi
			case k < len(found) && found[k].lo < base[i].Hi:
				b.add(at, found[k].lo, &base[i])
				at = found[k].lo
			default:
				b.add(at, base[i].Hi, &base[i])
				at = base[i].Hi
			}
		}
	}
	return nil
}
