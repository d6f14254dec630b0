package cfi

import (
	"fmt"

	"dbg/arch"
	"dbg/row"
)

// Limits of one entry's program.
const (
	maxRemembered   = 64
	maxInstructions = 1 << 20
)

// exec runs the instructions of one FDE: DWARF 5 section 6.4.3. It goes from row
// to row; the row is complete when the next location is known.
type exec struct {
	t   *Table
	fde FDE
	cur *row.Row // the caller's

	r       reader
	initial row.Row   // the rules after the CIE's instructions, for DW_CFA_restore
	saved   []row.Row // DW_CFA_remember_state; entries above depth keep their capacity
	depth   int
	count   int
	loc     uint64 // where the current row begins
	inCIE   bool
}

// start runs the CIE's instructions into cur.
func (x *exec) start(t *Table, cur *row.Row) error {
	x.t, x.cur, x.depth, x.count = t, cur, 0, 0
	c := &x.fde.CIE
	cur.Reset()
	cur.RA, cur.Signal, cur.Source = c.RA, c.Signal, x.fde.Offset
	x.loc = x.fde.Lo
	x.inCIE = true
	x.initial.Reset()
	x.r = reader{data: t.data, pos: c.instr[0], end: c.instr[1], order: t.arch.ByteOrder}
	if _, err := x.run(); err != nil {
		return err
	}
	x.inCIE = false
	x.depth = 0
	x.initial.CopyFrom(cur)
	x.r = reader{data: t.data, pos: x.fde.instr[0], end: x.fde.instr[1], order: t.arch.ByteOrder}
	return nil
}

// next completes the next row; more says that there is one after it.
func (x *exec) next() (more bool, err error) {
	x.cur.Lo = x.loc
	at, err := x.run()
	if err != nil {
		return false, err
	}
	x.cur.Hi = min(at, x.fde.Hi)
	x.loc = at
	return at < x.fde.Hi, nil
}

// run executes instructions up to one that moves the location, and gives the new
// location; the end of the program is the end of the range.
func (x *exec) run() (uint64, error) {
	for x.r.more() {
		if x.count++; x.count > maxInstructions {
			return 0, x.fail("it has too many instructions")
		}
		at, moved, err := x.instruction()
		if err != nil {
			return 0, err
		}
		if x.r.bad != "" {
			return 0, x.fail(x.r.bad)
		}
		if !moved || at == x.loc {
			continue
		}
		if x.inCIE {
			return 0, x.fail("its CIE moves the location")
		}
		if at < x.loc {
			return 0, x.fail("its location goes backwards")
		}
		return at, nil
	}
	return x.fde.Hi, nil
}

// Call frame instructions: DWARF 5, table 7.29. The first three have an operand in
// their low six bits.
const (
	cfaAdvanceLoc = 0x40
	cfaOffset     = 0x80
	cfaRestore    = 0xc0

	cfaNop              = 0x00
	cfaSetLoc           = 0x01
	cfaAdvanceLoc1      = 0x02
	cfaAdvanceLoc2      = 0x03
	cfaAdvanceLoc4      = 0x04
	cfaOffsetExtended   = 0x05
	cfaRestoreExtended  = 0x06
	cfaUndefined        = 0x07
	cfaSameValue        = 0x08
	cfaRegister         = 0x09
	cfaRememberState    = 0x0a
	cfaRestoreState     = 0x0b
	cfaDefCFA           = 0x0c
	cfaDefCFARegister   = 0x0d
	cfaDefCFAOffset     = 0x0e
	cfaDefCFAExpression = 0x0f
	cfaExpression       = 0x10
	cfaOffsetExtendedSF = 0x11
	cfaDefCFASF         = 0x12
	cfaDefCFAOffsetSF   = 0x13
	cfaValOffset        = 0x14
	cfaValOffsetSF      = 0x15
	cfaValExpression    = 0x16

	cfaMIPSAdvanceLoc8           = 0x1d
	cfaAArch64NegateRAStatePC    = 0x2c
	cfaAArch64NegateRAState      = 0x2d // DW_CFA_GNU_window_save on SPARC
	cfaGNUArgsSize               = 0x2e
	cfaGNUNegativeOffsetExtended = 0x2f
)

// instruction executes one; moved says that it sets the location to at.
func (x *exec) instruction() (at uint64, moved bool, err error) {
	r, c := &x.r, &x.fde.CIE
	op := r.u8()
	switch op & 0xc0 {
	case cfaAdvanceLoc:
		return x.advance(uint64(op & 0x3f)), true, nil
	case cfaOffset:
		x.set(uint64(op&0x3f), row.Rule{Kind: row.At, N: int64(r.uleb()) * c.DataAlign})
		return 0, false, nil
	case cfaRestore:
		x.restore(uint64(op & 0x3f))
		return 0, false, nil
	}
	switch op {
	case cfaSetLoc:
		if x.t.debug {
			r.bytes(uint64(c.segSize))
			return r.uint(int(c.addrSize)), true, nil
		}
		b := bases{section: x.t.addr, text: x.t.text, data: x.t.dataBase, fn: x.fde.Lo}
		return r.pointer(c.ptrEnc, int(c.addrSize), &b), true, nil
	case cfaAdvanceLoc1:
		return x.advance(r.uint(1)), true, nil
	case cfaAdvanceLoc2:
		return x.advance(r.uint(2)), true, nil
	case cfaAdvanceLoc4:
		return x.advance(r.uint(4)), true, nil
	case cfaMIPSAdvanceLoc8:
		return x.advance(r.uint(8)), true, nil
	}
	return 0, false, x.rule(op)
}

// advance gives the location after a delta. One that would wrap around goes to the
// end of the address space.
func (x *exec) advance(delta uint64) uint64 {
	d := delta * x.fde.CIE.CodeAlign
	if x.fde.CIE.CodeAlign != 0 && d/x.fde.CIE.CodeAlign != delta || x.loc+d < x.loc {
		return 1<<64 - 1
	}
	return x.loc + d
}

// set gives a register, by its DWARF number, a rule. Rules for registers that the
// architecture has no slot for (AVX-512 masks, and so on) are of no use to anybody here and are left out.
func (x *exec) set(n uint64, rule row.Rule) {
	if reg, ok := x.t.arch.FromDWARF(n); ok {
		x.cur.Set(reg, rule)
	}
}

// restore gives a register the rule that the CIE gave it, which may be none: it is
// then unspecified, not undefined.
func (x *exec) restore(n uint64) {
	if reg, ok := x.t.arch.FromDWARF(n); ok {
		x.cur.Set(reg, x.initial.Rule(reg))
	}
}

// register is a register that must exist: the CFA depends on it.
func (x *exec) register(n uint64) (arch.Reg, error) {
	reg, ok := x.t.arch.FromDWARF(n)
	if !ok && x.r.bad == "" {
		return reg, x.fail(fmt.Sprintf("it uses register %d, which %s has not", n, x.t.arch.Name))
	}
	return reg, nil
}

func (x *exec) fail(what string) error { return x.t.err(x.fde.Offset, what) }
