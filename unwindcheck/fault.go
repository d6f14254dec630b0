package unwindcheck

import (
	"fmt"

	"dbg/arch"
	"dbg/frames"
	"dbg/row"
	"dbg/target"
)

// faultKind tells what is wrong about a caller.
type faultKind uint8

const (
	wrongCFA faultKind = iota
	wrongReturn
	wrongSP
	wrongRegister
	unknownRegister // a table gives no value, and does not mark the register as undefined
	noCaller
	beyond    // a caller of the outermost function
	notSignal // a trampoline that was not recognised
	unended   // the walk ends in the outermost function, but does not recognise it
)

// fault is one wrong claim.
type fault struct {
	exact    bool // the caller had trust exact
	kind     faultKind
	pc       uint64 // of the frame whose caller is wrong
	precise  bool   // pc is not a return address
	strategy frames.Strategy
	reg      arch.Reg // of wrongRegister and unknownRegister
	said     uint64
	truth    uint64
	cfa      uint64
	why      string
	gone     savedSet             // for wrongRegister: the unrestored registers
	regs     [arch.RIP + 1]uint64 // of the frame
}

// lookup returns the address for lookups in tables.
func (f *fault) lookup() target.Addr {
	if f.precise {
		return target.Addr(f.pc)
	}
	return target.Addr(f.pc - 1)
}

// undefined reports whether a row marks a register as undefined in the caller, or is of a format that does
// not describe it.
func undefined(o *frames.Origin, r arch.Reg) bool {
	k := o.Row.Rule(r).Kind
	return k == row.Undefined || k == row.Unspecified && o.Table == ".sframe"
}

// text describes the fault, with the row's rule if there is a row.
func (f *fault) text(r *row.Row) string {
	if !f.strategy.ByTable() && f.strategy != frames.Sigreturn && f.kind != noCaller && f.kind != unended {
		r = nil
	}
	switch f.kind {
	case wrongCFA:
		var said string
		base := arch.RSP
		switch {
		case r != nil && r.CFA.Kind == row.InReg && r.CFA.Reg <= arch.R15:
			said, base = r.CFAString(arch.AMD64), r.CFA.Reg
		case r != nil:
			said = fmt.Sprintf("%s (%s)", r.CFAString(arch.AMD64), f.relative(f.said, arch.RSP))
		default:
			said = f.relative(f.said, arch.RSP)
		}
		return fmt.Sprintf("CFA is %s, should be %s", said, f.relative(f.truth, base))
	case wrongReturn:
		return fmt.Sprintf("return address is 0x%x%s, should be 0x%x", f.said, f.rule(r, arch.RIP), f.truth)
	case wrongSP:
		return fmt.Sprintf("rsp is 0x%x%s, should be 0x%x", f.said, f.rule(r, arch.RSP), f.truth)
	case wrongRegister:
		name := arch.AMD64.RegName(f.reg)
		rule := "not changed"
		if r != nil {
			if s := r.Rule(f.reg).String(); s != "" && s != "s" {
				rule = s
			}
		}
		return fmt.Sprintf("%s is %s (0x%x), should be 0x%x", name, rule, f.said, f.truth)
	case unknownRegister:
		return fmt.Sprintf("%s is unknown, should be 0x%x", arch.AMD64.RegName(f.reg), f.truth)
	case noCaller:
		return "no caller: " + f.why
	case beyond:
		return fmt.Sprintf("found a caller beyond the outermost frame: 0x%x", f.said)
	case notSignal:
		return "the signal trampoline is not recognised"
	case unended:
		return "the outermost frame is not recognised: " + f.why
	}
	return ""
}

// relative formats an address as an offset from a register near it: base, or the stack pointer.
func (f *fault) relative(v uint64, base arch.Reg) string {
	for _, r := range []arch.Reg{base, arch.RSP} {
		if d := int64(v - f.regs[r]); -1<<20 < d && d < 1<<20 {
			return fmt.Sprintf("%s%+d", arch.AMD64.RegName(r), d)
		}
	}
	return fmt.Sprintf("0x%x", v)
}

// rule describes where a row finds a register.
func (f *fault) rule(r *row.Row, reg arch.Reg) string {
	if r == nil {
		return ""
	}
	k := r.Rule(reg)
	switch k.Kind {
	case row.At:
		return fmt.Sprintf(" (at cfa%+d)", k.N)
	case row.InReg:
		return fmt.Sprintf(" (in %s)", arch.AMD64.RegName(k.Reg))
	case row.Unspecified:
		return ""
	}
	return fmt.Sprintf(" (%s)", k)
}

// String returns the kind's name, which is also used in JSON.
func (k faultKind) String() string {
	return [...]string{"cfa", "return-address", "sp", "register", "unknown-register", "no-caller", "beyond-outermost", "signal-frame", "outermost"}[k]
}
