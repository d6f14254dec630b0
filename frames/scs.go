package frames

import (
	"dbg/arch"
	"dbg/frames/follow"
	"dbg/frames/machine"
	"dbg/target"
)

// scs takes the return address from a shadow call stack: clang's ShadowCallStack stores return
// addresses on a second stack that grows up. That does not describe the ordinary stack: SP and all
// other registers are unknown in the caller.
//
// A leaf function keeps its return address in the link register, as other functions do at their
// beginning and end. A function that was compiled without ShadowCallStack has it on the ordinary
// stack. So scs first follows the code from PC on.
func (w *Walk) scs() bool {
	a, c := w.u.arch, &w.caller
	reg := w.u.machine.ShadowPointer
	if reg == arch.NoReg {
		return false
	}
	at, known := w.frame.Regs.Get(reg)
	switch {
	case !known:
		return w.failed(SCS, a.RegName(reg)+" is not known")
	case at < page || at%8 != 0:
		return w.failed(SCS, a.RegName(reg)+" does not point to a shadow call stack")
	}
	e := follow.FindShadowEnd(w.reader(w.pinned.module), uint64(w.frame.PC), reg, w.frame.PCIsReturnAddress)
	switch {
	case e.Link == follow.LinkElsewhere:
		return w.failed(SCS, "the function does not take its return address from the shadow call stack")
	case e.Link == follow.LinkUnknown && !w.frame.PCIsReturnAddress:
		return w.failed(SCS, "the instructions from PC on do not show whether the return address is on the shadow call stack")
	case e.Link == follow.LinkUnknown: // such as a function that does not return; it has made a call, so it has stored one
		e.At, e.Pointer = -8, -8
	}
	c.Start(arch.RegSet{})
	c.SetComputed(reg, at+uint64(e.Pointer))
	if e.Link == follow.LinkRegister {
		lr, known := w.frame.Regs.Get(a.LR)
		if !known {
			return w.failed(SCS, a.RegName(a.LR)+" is not known")
		}
		c.SetPC(a, w.code64(lr), 0, false)
	} else {
		word := target.Addr(at + uint64(e.At))
		v, err := w.words.Word(word, 8)
		if err != nil {
			return w.unreadable(SCS, err)
		}
		c.SetPC(a, w.code64(v), word, true)
	}
	if w.site(target.Addr(c.PC), false).after != machine.Yes {
		return w.failed(SCS, "the word on top of the shadow call stack does not follow a call")
	}
	return w.judge(SCS)
}
