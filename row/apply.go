package row

import (
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/expr"
	"dbg/target"
)

// Env is the frame to which a row is applied.
type Env struct {
	Arch *arch.Arch
	Regs *arch.Registers
	Mem  Words
	Bias uint64 // load bias of the row's module, for DW_OP_addr

	// Preserved are the registers that keep their value if the row has no rule for them. nil
	// means the callee-saved registers of the platform's ABI. Go's functions preserve none.
	Preserved *arch.RegSet

	// Expr is the context of expressions. Apply fills in Arch, Regs, Bias and Initial, the caller
	// the rest. It must not be nil if rows may have expressions.
	Expr *expr.Context
}

// Words reads memory, one word at a time.
type Words interface {
	// Word reads an unsigned number of size bytes.
	Word(addr target.Addr, size int) (uint64, error)
}

// Errors of Apply. It also returns NotKnownError, and the errors of memory and of expressions.
var (
	ErrNoCFA    = errors.New("the unwind row has no rule for the CFA")
	ErrNoReturn = errors.New("the unwind row has no rule for the return address")
)

// NotKnownError reports that the CFA or the return address depends on a register whose value is not
// known.
type NotKnownError struct {
	What string // "the frame's address", "the return address"
	Reg  string
}

func (e *NotKnownError) Error() string {
	return fmt.Sprintf("%s depends on %s, whose value is not known", e.What, e.Reg)
}

// Apply computes the caller's registers.
//
// It fails only if it cannot compute the CFA, the return address or the stack pointer: the walk
// depends on these. Any other register becomes unknown if its saved value is unreadable.
func Apply(r *Row, e *Env, c *Caller) error {
	a := e.Arch
	cfa, err := cfaOf(r, e)
	if err != nil {
		if r.Rule(r.RA).Kind == Undefined { // the outermost frame; its CFA is not needed
			c.Start(arch.RegSet{})
			c.End = true
			return nil
		}
		return err
	}
	if e.Preserved != nil {
		c.Start(*e.Preserved)
	} else {
		c.Start(a.CalleeSavedSet)
	}
	c.CFA = cfa
	if e.Expr != nil {
		e.Expr.Initial = append(e.Expr.Initial[:0], cfa)
	}
	c.SetSP(a, cfa)

	var ra uint64
	var raErr error = ErrNoReturn
	raAt, raSaved, raRuled := target.Addr(0), false, false
	for i := range r.Regs {
		rr := &r.Regs[i]
		isRA := rr.Reg == r.RA
		if isRA {
			raRuled = true
			if rr.Kind == Undefined {
				c.End = true
				return nil
			}
		}
		v, place, addr, from, ok, err := value(rr, e, cfa)
		if isRA {
			ra, raErr, raAt, raSaved = v, err, addr, place == inMemory
			if !ok && err == nil {
				raErr = &NotKnownError{"the return address", name(a, rr.Reg)}
			}
		}
		if !ok || err != nil {
			if rr.Reg == a.SP { // the rule overrides the default, the CFA, but gives no value
				if rr.Kind == Undefined {
					continue // some assemblers write this; according to the ABI, SP is the CFA
				}
				if err == nil {
					err = &NotKnownError{"the caller's stack pointer", name(a, rr.Reg)}
				}
				return err
			}
			c.keep.Remove(rr.Reg)
			continue
		}
		c.add(change{rr.Reg, place, v, addr, from})
		if rr.Reg == a.SP {
			c.SP = v
		}
	}
	if !raRuled && r.RA == a.LR {
		// A leaf function of a machine with a link register: nothing was saved.
		if v, known := e.Regs.Get(r.RA); known {
			ra, raErr = v, nil
		} else {
			raErr = &NotKnownError{"the return address", name(a, r.RA)}
		}
	}
	if raErr != nil {
		return raErr
	}
	c.SetPC(a, returnAddress(a, r, ra), raAt, raSaved)
	return nil
}

// cfaOf computes the canonical frame address.
func cfaOf(r *Row, e *Env) (uint64, error) {
	switch r.CFA.Kind {
	case InReg:
		v, known := e.Regs.Get(r.CFA.Reg)
		if !known {
			return 0, &NotKnownError{"the frame's address", name(e.Arch, r.CFA.Reg)}
		}
		return wrap(e.Arch, v+uint64(r.CFA.N)), nil
	case ValExpr:
		if e.Expr == nil {
			return 0, ErrNoCFA
		}
		e.Expr.Initial = e.Expr.Initial[:0]
		return eval(e, r.CFA.Expr)
	}
	return 0, ErrNoCFA
}

// value computes the value of one register in the caller. ok is false if it is not known.
func value(rr *RegRule, e *Env, cfa uint64) (v uint64, place placeKind, addr target.Addr, from arch.Reg, ok bool, err error) {
	a := e.Arch
	switch rr.Kind {
	case Same:
		v, ok = e.Regs.Get(rr.Reg)
		return v, inRegister, 0, rr.Reg, ok, nil
	case InReg:
		v, ok = e.Regs.Get(rr.Rule.Reg)
		return v, inRegister, 0, rr.Rule.Reg, ok, nil
	case At:
		addr = target.Addr(wrap(a, cfa+uint64(rr.N)))
		v, err = e.Mem.Word(addr, size(a, rr.Reg))
		return v, inMemory, addr, 0, err == nil, err
	case Val:
		return wrap(a, cfa+uint64(rr.N)), computed, 0, 0, true, nil
	case AtExpr, ValExpr:
		if e.Expr == nil {
			return 0, computed, 0, 0, false, nil
		}
		if v, err = eval(e, rr.Expr); err != nil {
			return 0, computed, 0, 0, false, err
		}
		if rr.Kind == ValExpr {
			return v, computed, 0, 0, true, nil
		}
		addr = target.Addr(v)
		v, err = e.Mem.Word(addr, size(a, rr.Reg))
		return v, inMemory, addr, 0, err == nil, err
	}
	return 0, computed, 0, 0, false, nil // Undefined
}

func eval(e *Env, code []byte) (uint64, error) {
	e.Expr.Arch, e.Expr.Regs, e.Expr.Bias = e.Arch, e.Regs, e.Bias
	return expr.Eval(code, e.Expr)
}

// size returns the number of bytes in which a register is saved: a word, or 8 for the floating
// point registers of 32-bit ARM.
func size(a *arch.Arch, r arch.Reg) int {
	if a == arch.ARM && r >= 64 {
		return 8
	}
	return a.PtrSize
}

// wrap truncates an address to the size of an address: 32-bit addresses wrap around.
func wrap(a *arch.Arch, v uint64) uint64 {
	if a.PtrSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// returnAddress removes from a return address the bits that are not address bits.
func returnAddress(a *arch.Arch, r *Row, v uint64) uint64 {
	switch {
	case a == arch.ARM64:
		return StripPAC(v)
	case a == arch.ARM:
		return v &^ 1 // the Thumb bit
	}
	return wrap(a, v)
}
