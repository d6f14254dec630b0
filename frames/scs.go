package frames

import (
	"dbg/arch"
	"dbg/target"
)

// scs takes the return address from a shadow call stack: clang's ShadowCallStack keeps return addresses
// on a second stack that grows up, whose pointer is X18 on AArch64 and GP (X3) on RISC-V. It
// says nothing of the ordinary stack: SP is unknown in the caller, and so is everything
// else.
func (w *Walk) scs() bool {
	a, c := w.u.arch, &w.caller
	var reg arch.Reg
	switch a {
	case arch.ARM64:
		reg = 18
	case arch.RISCV64:
		reg = 3
	default:
		return false
	}
	at, known := w.frame.Regs.Get(reg)
	switch {
	case !known:
		return w.failed(SCS, a.RegName(reg)+" is not known")
	case at < page || at%8 != 0:
		return w.failed(SCS, a.RegName(reg)+" does not point to a shadow call stack")
	}
	v, err := w.words.Word(target.Addr(at-8), 8)
	if err != nil {
		return w.unreadable(SCS, err)
	}
	c.Start(arch.RegSet{})
	c.SetComputed(reg, at-8)
	c.SetPC(a, w.code64(v), target.Addr(at-8), true)
	if w.site(target.Addr(c.PC), false).after != yes {
		return w.failed(SCS, "the word on top of the shadow call stack does not follow a call")
	}
	return w.judge(SCS)
}
