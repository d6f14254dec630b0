package frames

import (
	"dbg/arch"
	"dbg/frames/module"
	"dbg/row"
)

// kernelHalf is the lowest address of the kernel's half of the address space on x86-64.
const kernelHalf = 1 << 63

// byORC finishes the work of a row of Linux's ORC. It returns false if the walk has ended: the stack
// pointer and the return address are those of user code, which has entered the kernel here.
func (w *Walk) byORC(s *site, r *row.Row) bool {
	if s.from.Kind() != module.KindORC {
		return true
	}
	if r.Rule(arch.RSP).Kind == row.At && w.caller.PC < kernelHalf && uint64(s.pc) >= kernelHalf {
		w.finish(End{Outermost: true, Reason: EntryPoint})
		return false
	}
	w.precise = r.Signal
	return true
}
