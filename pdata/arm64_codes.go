package pdata

import (
	"errors"
	"fmt"

	"dbg/arch"
)

// codeKind is the kind of an ARM64 unwind code ("ARM64 exception handling", Unwind codes).
type codeKind uint8

const (
	codeAlloc codeKind = iota
	codeSave           // one register or a pair, see unwindCode
	codeSetFP          // set_fp and add_fp
	codeNop
	codeEnd
	codeEndC
	codeSaveNext
	codePAC
	codeTrapFrame
	codeMachineFrame
	codeContext
	codeECContext
	codeClear // clear_unwound_to_call
)

// unwindCode is a decoded ARM64 unwind code.
type unwindCode struct {
	kind codeKind
	pre  bool // codeSave: the address is pre-indexed: n bytes are allocated

	reg, second arch.Reg // codeSave: the registers; second is NoReg for one
	any         bool     // codeSave: save_any_reg
	vector      bool     // codeSave: q registers, of 16 bytes each
	n           int64    // codeAlloc: size; codeSave: offset; codeSetFP: distance from the stack pointer
}

// instruction reports whether the code stands for an instruction.
func (c *unwindCode) instruction() bool { return c.kind < codeTrapFrame }

var (
	errCodesEnd    = errors.New("the unwind codes have no end")
	errNextAlone   = errors.New("a save_next belongs to no pair")
	errNoRegister  = errors.New("an unwind code saves a register that does not exist")
	errTrapFrame   = errors.New("a trap frame, whose layout is not documented")
	errManySavings = errors.New("more registers are saved than there are")
)

// codeSize returns the size in bytes of the code that begins with a byte.
func codeSize(c byte) int {
	switch {
	case c < 0xc0:
		return 1
	case c < 0xe0:
		return 2
	case c == 0xe0:
		return 4
	case c == 0xe2:
		return 2
	case c == 0xe7:
		return 3
	case c >= 0xf8 && c <= 0xfb:
		return int(c-0xf8) + 2
	}
	return 1
}

// readCode decodes the code at the start of b.
func readCode(b []byte) (c unwindCode, size int, err error) {
	if len(b) == 0 || len(b) < codeSize(b[0]) {
		return c, 0, errCodesEnd
	}
	size = codeSize(b[0])
	c.second = arch.NoReg
	z := int64(b[0])
	if size == 2 {
		z = z<<8 | int64(b[1])
	}
	x := func(n int64) arch.Reg { return arch.Reg(19 + n) }
	d := func(n int64) arch.Reg { return arch.Reg(arm64D0 + 8 + n) }
	const fp, lr = 29, 30
	c.kind = codeSave
	switch op := b[0]; {
	case op < 0x20: // alloc_s
		c.kind, c.n = codeAlloc, z&31*16
	case op < 0x40: // save_r19r20_x
		c.save(19, 20, z&31*8, true)
	case op < 0x80: // save_fplr
		c.save(fp, lr, z&63*8, false)
	case op < 0xc0: // save_fplr_x
		c.save(fp, lr, (z&63+1)*8, true)
	case op < 0xc8: // alloc_m
		c.kind, c.n = codeAlloc, z&0x7ff*16
	case op < 0xcc: // save_regp
		c.save(x(z>>6&15), x(z>>6&15)+1, z&63*8, false)
	case op < 0xd0: // save_regp_x
		c.save(x(z>>6&15), x(z>>6&15)+1, (z&63+1)*8, true)
	case op < 0xd4: // save_reg
		c.save(x(z>>6&15), arch.NoReg, z&63*8, false)
	case op < 0xd6: // save_reg_x
		c.save(x(z>>5&15), arch.NoReg, (z&31+1)*8, true)
	case op < 0xd8: // save_lrpair
		c.save(x(2*(z>>6&7)), lr, z&63*8, false)
	case op < 0xda: // save_fregp
		c.save(d(z>>6&7), d(z>>6&7)+1, z&63*8, false)
	case op < 0xdc: // save_fregp_x
		c.save(d(z>>6&7), d(z>>6&7)+1, (z&63+1)*8, true)
	case op < 0xde: // save_freg
		c.save(d(z>>6&7), arch.NoReg, z&63*8, false)
	case op == 0xde: // save_freg_x
		c.save(d(z>>5&7), arch.NoReg, (z&31+1)*8, true)
	case op == 0xe0: // alloc_l
		c.kind, c.n = codeAlloc, (int64(b[1])<<16|int64(b[2])<<8|int64(b[3]))*16
	case op == 0xe1: // set_fp
		c.kind = codeSetFP
	case op == 0xe2: // add_fp
		c.kind, c.n = codeSetFP, z&255*8
	case op == 0xe7:
		err = c.saveAny(b[1], b[2])
	default:
		err = c.simple(op)
	}
	if c.kind == codeSave && err == nil {
		err = c.check()
	}
	return c, size, err
}

// arm64D0 is the number of D0 in package arch.
const arm64D0 = 64

// simple decodes a code of one byte without operands.
func (c *unwindCode) simple(op byte) error {
	switch op {
	case 0xe3:
		c.kind = codeNop
	case 0xe4:
		c.kind = codeEnd
	case 0xe5:
		c.kind = codeEndC
	case 0xe6:
		c.kind = codeSaveNext
	case 0xe8:
		c.kind = codeTrapFrame
	case 0xe9:
		c.kind = codeMachineFrame
	case 0xea:
		c.kind = codeContext
	case 0xeb:
		c.kind = codeECContext
	case 0xec:
		c.kind = codeClear
	case 0xfc:
		c.kind = codePAC
	case 0xdf:
		return errors.New("alloc_z: the size of the frame depends on the length of SVE vectors")
	default:
		return fmt.Errorf("reserved unwind code 0x%02x", op)
	}
	return nil
}

func (c *unwindCode) save(reg, second arch.Reg, n int64, pre bool) {
	c.reg, c.second, c.n, c.pre = reg, second, n, pre
}

// saveAny decodes save_any_reg: 0pxrrrrr mmoooooo. p: a pair; x: pre-indexed; mm: 0 X, 1 D, 2 Q.
func (c *unwindCode) saveAny(b1, b2 byte) error {
	if b1&0x80 != 0 || b2>>6 == 3 {
		return fmt.Errorf("reserved unwind code 0xe7%02x%02x", b1, b2)
	}
	pair, pre, o := b1&0x40 != 0, b1&0x20 != 0, int64(b2&63)
	reg := arch.Reg(b1 & 31)
	c.any, c.vector = true, b2>>6 == 2
	if b2>>6 != 0 {
		reg += arm64D0
	}
	switch {
	case pre:
		c.save(reg, arch.NoReg, 16*(o+1), true)
	case pair || c.vector:
		c.save(reg, arch.NoReg, 16*o, false)
	default:
		c.save(reg, arch.NoReg, 8*o, false)
	}
	if pair {
		c.second = reg + 1
	}
	return nil
}

// check returns an error if a register does not exist.
func (c *unwindCode) check() error {
	for _, r := range []arch.Reg{c.reg, c.second} {
		if r != arch.NoReg && r > 30 && (r < arm64D0 || r > arm64D0+31) {
			return errNoRegister
		}
	}
	return nil
}

// readCodes decodes codes up to the first end. With an error it returns those before it.
func readCodes(b []byte) ([]unwindCode, error) {
	var list []unwindCode
	for {
		c, size, err := readCode(b)
		if err != nil {
			return list, err
		}
		list = append(list, c)
		if c.kind == codeEnd {
			return list, nil
		}
		b = b[size:]
	}
}

// instructions returns the number of instructions of a prologue, or of an epilogue without its last
// one: codes after end_c are those of another part of the function.
func instructions(codes []unwindCode) (n int) {
	for i := range codes {
		switch {
		case codes[i].kind == codeEnd || codes[i].kind == codeEndC:
			return n
		case codes[i].instruction():
			n++
		}
	}
	return n
}

// undoCodes undoes codes, without those of the first skip instructions.
func (b *builder) undoCodes(codes []unwindCode, skip int) error {
	b.state.start(b.t.config.Arch)
	next := 0 // number of save_next codes that wait for their pair
	for i := range codes {
		c := &codes[i]
		if b.steps++; b.steps > maxSteps {
			return errSteps
		}
		if c.kind == codeEnd {
			break
		}
		if c.kind == codeEndC {
			skip = 0
			continue
		}
		if skip > 0 {
			if c.instruction() {
				skip--
			}
			continue
		}
		if c.kind == codeSaveNext {
			next++
			continue
		}
		if next > 0 && (c.kind != codeSave || c.second == arch.NoReg) {
			return errNextAlone
		}
		if err := b.undoCode(c, next); err != nil {
			return err
		}
		next = 0
	}
	if next > 0 {
		return errNextAlone
	}
	return nil
}

// undoCode undoes one code. next is the number of pairs that follow a pair.
func (b *builder) undoCode(c *unwindCode, next int) error {
	s := &b.state
	switch c.kind {
	case codeAlloc:
		return s.alloc(c.n)
	case codeSave:
		return s.undoSave(c, next)
	case codeSetFP:
		return s.setSP(s.arch.FP, c.n)
	case codePAC:
		s.signed = true
	case codeTrapFrame:
		return errTrapFrame
	case codeMachineFrame:
		return s.arm64Frame(machineFrameLayout)
	case codeContext:
		return s.arm64Frame(contextLayout())
	case codeECContext:
		return s.arm64Frame(ecContextLayout())
	case codeClear:
		s.precise = true
	}
	return nil
}

// undoSave undoes the saving of a register, or of a pair and the pairs that follow it.
func (s *state) undoSave(c *unwindCode, next int) error {
	off := c.n
	if c.pre {
		off = 0
	}
	size := int64(8)
	if c.vector {
		size = 16
	}
	if err := s.save(c.reg, place{s.sp.reg, s.sp.off + off}); err != nil {
		return err
	}
	if c.second != arch.NoReg {
		if err := s.save(c.second, place{s.sp.reg, s.sp.off + off + size}); err != nil {
			return err
		}
	}
	if next > 0 && c.second != c.reg+1 {
		return errNextAlone
	}
	reg := c.second
	for i := range int64(2 * next) {
		if reg = nextSaved(reg, c.any); reg > arm64D0+31 || reg == 31 {
			return errManySavings
		}
		if err := s.save(reg, place{s.sp.reg, s.sp.off + off + size*(2+i)}); err != nil {
			return err
		}
	}
	if c.pre {
		return s.alloc(c.n)
	}
	return nil
}

// nextSaved returns the register after another. Of the codes for preserved registers, x28 is followed
// by d8; of save_any_reg, by x29.
func nextSaved(reg arch.Reg, any bool) arch.Reg {
	if reg == 28 && !any {
		return arm64D0 + 8
	}
	return reg + 1
}
