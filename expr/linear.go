package expr

import (
	"dbg/arch"
	"dbg/internal/bytecursor"
)

// LinearOp is an operation of a Linear expression.
type LinearOp uint8

const (
	LinearConst    LinearOp = iota // push N
	LinearRegister                 // push the value of Reg, plus N
	LinearAdd                      // add N to the top
	LinearLoad                     // replace the top by the N-byte number at that address
	LinearUnary                    // DWARF's unary operation Op
	LinearBinary                   // DWARF's binary operation Op
	LinearDup                      // push the top again
	LinearDrop                     // remove the top
	LinearOver                     // push the entry below the top
	LinearSwap                     // exchange the two topmost entries
)

// Operations of a LinearStep. Their operands have 64 bits.
const (
	OpAnd, OpOr, OpXor, OpPlus, OpMinus, OpMul, OpShl, OpShr, OpShra, OpNeg, OpNot = opAnd, opOr, opXor, opPlus, opMinus, opMul, opShl, opShr, opShra, opNeg, opNot
)

// LinearStep is one step of a Linear expression.
type LinearStep struct {
	Do  LinearOp
	Reg arch.Reg
	N   int64
	Op  byte // for LinearUnary and LinearBinary
}

// Linear is a location description without branches, typed values, calls and pieces. It needs only
// registers and memory, so a compiler can translate it.
//
// Kind InMemory: the steps compute the address. InRegister: there are no steps, and Reg holds the
// value. Implicit: the steps compute the value, or Bytes is the value. Undefined: optimised out.
type Linear struct {
	Kind  PieceKind
	Reg   arch.Reg
	Bytes []byte
	Steps []LinearStep
}

// LinearContext holds the inputs of a linear expression that are known before it runs.
type LinearContext struct {
	Arch      *arch.Arch
	Bias      uint64
	FrameBase []byte                                     // the frame base's expression, or nil
	CFA       func() (r arch.Reg, offset int64, ok bool) // the canonical frame address; may be nil
	AddrIndex func(index uint64) (uint64, error)         // DW_OP_addrx; may be nil
	Object    bool                                       // the stack begins with an address, as for the location of a member
}

// LinearPiece is one part of a composite location, of Size bytes. Kind Undefined means that the
// part is optimised out.
type LinearPiece struct {
	Linear
	Size int64
}

// LinearizePieces decodes a composite location (DWARF 5, section 2.6.1.2) whose parts are linear.
// ok is false if the location is not composite, or has pieces of bits.
func LinearizePieces(code []byte, c *LinearContext) (out []LinearPiece, ok bool) {
	if c.Arch == nil || c.Arch.PtrSize != 8 {
		return nil, false
	}
	r := operands(code, c.Arch)
	for r.More() {
		d := linearizer{c: c}
		var p LinearPiece
		for r.More() && r.Data[r.Pos] != opPiece {
			if !d.next(&r, &p.Linear, 0) {
				return nil, false
			}
		}
		if !r.More() || len(out) >= maxLinear {
			return nil, false
		}
		r.U8()
		n := r.ULEB()
		if r.Err() != nil || n > 1<<20 || d.depth > 1 {
			return nil, false
		}
		if p.Kind == Undefined && d.depth > 0 {
			p.Kind = InMemory
		}
		p.Size, p.Steps = int64(n), d.steps
		out = append(out, p)
	}
	return out, len(out) > 0
}

// Linearize decodes a location description. ok is false if it is malformed or not linear: Locate
// supports more. Only targets with addresses of 8 bytes are supported.
func Linearize(code []byte, c *LinearContext) (l Linear, ok bool) {
	if c.Arch == nil || c.Arch.PtrSize != 8 {
		return Linear{}, false
	}
	d := linearizer{c: c}
	if c.Object {
		d.depth = 1
	}
	if !d.run(code, &l, 0) {
		return Linear{}, false
	}
	if l.Kind == Undefined && d.depth > 0 {
		l.Kind = InMemory
	}
	l.Steps = d.steps
	return l, true
}

// linearizer translates operations into steps.
type linearizer struct {
	c     *LinearContext
	steps []LinearStep
	depth int
}

const maxLinear = 64 // steps or pieces; compilers emit a handful

// run translates code. nested is not 0 in a frame base.
func (d *linearizer) run(code []byte, l *Linear, nested int) bool {
	r := operands(code, d.c.Arch)
	for r.More() {
		if !d.next(&r, l, nested) {
			return false
		}
	}
	return true
}

// next translates one operation.
func (d *linearizer) next(r *bytecursor.Cursor, l *Linear, nested int) bool {
	op := r.U8()
	if l.Kind != Undefined && op != opNop && op != opGNUUninit {
		return false // a piece, or malformed
	}
	return d.step(op, r, l, nested) && r.Err() == nil && len(d.steps) <= maxLinear
}

// push adds a step that pushes one entry.
func (d *linearizer) push(s LinearStep) bool {
	d.steps, d.depth = append(d.steps, s), d.depth+1
	return d.depth < 16
}

// change adds a step that pops takes entries and pushes leaves entries.
func (d *linearizer) change(s LinearStep, takes, leaves int) bool {
	if d.depth < takes {
		return false
	}
	d.steps, d.depth = append(d.steps, s), d.depth-takes+leaves
	return d.depth < 16
}

func (d *linearizer) constant(n uint64) bool { return d.push(LinearStep{Do: LinearConst, N: int64(n)}) }

func (d *linearizer) register(n uint64, off int64) bool {
	reg, ok := d.c.Arch.FromDWARF(n)
	return ok && d.push(LinearStep{Do: LinearRegister, Reg: reg, N: off})
}

func (d *linearizer) step(op byte, r *bytecursor.Cursor, l *Linear, nested int) bool {
	switch {
	case op >= opLit0 && op < opReg0:
		return d.constant(uint64(op - opLit0))
	case op >= opBreg0 && op < opRegx:
		return d.register(uint64(op-opBreg0), r.SLEB())
	case op >= opReg0 && op < opBreg0:
		return d.inRegister(uint64(op-opReg0), l)
	}
	switch op {
	case opAddr:
		return d.constant(r.Uint(8) + d.c.Bias)
	case opAddrx, opGNUAddrIndex, opConstx, opGNUConstIndex:
		return d.indexed(op, r.ULEB())
	case opConst1u:
		return d.constant(uint64(r.U8()))
	case opConst1s:
		return d.constant(uint64(r.Int(1)))
	case opConst2u:
		return d.constant(r.Uint(2))
	case opConst2s:
		return d.constant(uint64(r.Int(2)))
	case opConst4u:
		return d.constant(r.Uint(4))
	case opConst4s:
		return d.constant(uint64(r.Int(4)))
	case opConst8u, opConst8s:
		return d.constant(r.Uint(8))
	case opConstu:
		return d.constant(r.ULEB())
	case opConsts:
		return d.constant(uint64(r.SLEB()))
	case opBregx:
		n := r.ULEB()
		return d.register(n, r.SLEB())
	case opRegx:
		return d.inRegister(r.ULEB(), l)
	case opFbreg:
		off := r.SLEB()
		return nested == 0 && d.frameBase() && d.change(LinearStep{Do: LinearAdd, N: off}, 1, 1)
	case opCallFrameCFA:
		if d.c.CFA == nil {
			return false
		}
		reg, off, ok := d.c.CFA()
		return ok && d.push(LinearStep{Do: LinearRegister, Reg: reg, N: off})
	case opDup:
		return d.change(LinearStep{Do: LinearDup}, 1, 2)
	case opDrop:
		return d.change(LinearStep{Do: LinearDrop}, 1, 0)
	case opOver:
		return d.change(LinearStep{Do: LinearOver}, 2, 3)
	case opSwap:
		return d.change(LinearStep{Do: LinearSwap}, 2, 2)
	case opDeref:
		return d.change(LinearStep{Do: LinearLoad, N: 8}, 1, 1)
	case opDerefSize:
		n := r.U8()
		return n >= 1 && n <= 8 && d.change(LinearStep{Do: LinearLoad, N: int64(n)}, 1, 1)
	case opPlusUconst:
		return d.change(LinearStep{Do: LinearAdd, N: int64(r.ULEB())}, 1, 1)
	case opAnd, opOr, opXor, opPlus, opMinus, opMul, opShl, opShr, opShra:
		return d.change(LinearStep{Do: LinearBinary, Op: op}, 2, 1)
	case opNeg, opNot:
		return d.change(LinearStep{Do: LinearUnary, Op: op}, 1, 1)
	case opStackValue:
		l.Kind = Implicit
		return d.depth > 0
	case opImplicitValue:
		l.Kind, l.Bytes = Implicit, r.Block(r.ULEB())
		return d.depth == 0 // an entry on the stack would belong to a later piece
	case opNop, opGNUUninit:
		return true
	}
	return false
}

func (d *linearizer) inRegister(n uint64, l *Linear) bool {
	reg, ok := d.c.Arch.FromDWARF(n)
	l.Kind, l.Reg = InRegister, reg
	return ok && d.depth == 0
}

func (d *linearizer) indexed(op byte, index uint64) bool {
	if d.c.AddrIndex == nil {
		return false
	}
	v, err := d.c.AddrIndex(index)
	if op == opAddrx || op == opGNUAddrIndex {
		v += d.c.Bias
	}
	return err == nil && d.constant(v)
}

// frameBase pushes the frame base. DW_OP_reg6 means the register's value, DW_OP_breg6 computes the
// address (DWARF 5, section 3.3.5).
func (d *linearizer) frameBase() bool {
	var base Linear
	depth := d.depth
	if d.c.FrameBase == nil || !d.run(d.c.FrameBase, &base, 1) {
		return false
	}
	if base.Kind == InRegister {
		return d.push(LinearStep{Do: LinearRegister, Reg: base.Reg})
	}
	return base.Bytes == nil && d.depth == depth+1
}
