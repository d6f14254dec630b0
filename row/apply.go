package row

import (
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/expr"
	"dbg/target"
)

// Env is the frame that a row is applied to.
type Env struct {
	Arch *arch.Arch
	Regs *arch.Registers
	Mem  Words
	Bias uint64 // of the module that the row is from, for DW_OP_addr

	// Preserved are the registers that keep their value where the row says nothing of
	// them; nil means what the platform's usual ABI has. Go's functions, for one, keep none.
	Preserved *arch.RegSet

	// Expr is used for expressions, with Arch, Regs, Mem, Bias and Initial
	// filled in by Apply; the rest is the caller's. It must not be nil if rows
	// may have expressions.
	Expr *expr.Context
}

// Words is memory that is read a word at a time.
type Words interface {
	// Word reads an unsigned number of size bytes, the size of an address.
	Word(addr target.Addr, size int) (uint64, error)
}

// Errors of Apply other than those of memory and of expressions.
var (
	ErrNoCFA    = errors.New("the row does not say where the frame is")
	ErrNoReturn = errors.New("the row does not say where the return address is")
)

// NotKnownError says that the CFA or the return address depends on a register whose value is
// not known.
type NotKnownError struct {
	What string // "the frame's address", "the return address"
	Reg  string
}

func (e *NotKnownError) Error() string {
	return fmt.Sprintf("%s depends on %s, whose value is not known", e.What, e.Reg)
}

// Apply computes the caller's registers.
//
// The return address, and with it the walk, depends on few registers. So only
// the CFA and the return address make Apply fail; any other register whose saved value
// can't be read becomes unknown.
func Apply(r *Row, e *Env, c *Caller) error {
	a := e.Arch
	cfa, err := cfaOf(r, e)
	if err != nil {
		if r.Rule(r.RA).Kind == Undefined { // that there is no caller does not depend on where the frame is
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
			if rr.Reg == a.SP { // the table says that SP is not the CFA, and we can't tell what it is
				if rr.Kind == Undefined {
					continue // some assemblers write this; the CFA is still the ABI's answer
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

// value computes one register's value in the caller; ok is false when the rule says
// that it is not known.
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

// size is the number of bytes in which a register is saved: a word, save for
// the floating point registers of 32-bit ARM, which have 8.
func size(a *arch.Arch, r arch.Reg) int {
	if a == arch.ARM && r >= 64 {
		return 8
	}
	return a.PtrSize
}

// wrap keeps an address within the address space: addresses wrap around.
func wrap(a *arch.Arch, v uint64) uint64 {
	if a.PtrSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// returnAddress takes from a return address what is not address.
func returnAddress(a *arch.Arch, r *Row, v uint64) uint64 {
	switch {
	case a == arch.ARM64:
		return StripPAC(v)
	case a == arch.ARM:
		return v &^ 1 // the Thumb bit
	}
	return wrap(a, v)
}

// StripPAC takes the pointer authentication code from an AArch64 code address. Bit 55
// says which half of the address space it is in; user space has at most 48
// bits (52 with large addresses, where the code is shorter than what is cut: Linux
// gives such only on request). Signed and unsigned addresses come alike: a
// function's table may not say that it signs.
func StripPAC(v uint64) uint64 { return Strip(v, 48) }
