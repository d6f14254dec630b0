package frames

import (
	"fmt"

	"dbg/arch"
	"dbg/frames/machine"
	"dbg/target"
)

const whyNotMoved = "the frame did not move"

// stackSwitch is a step of the walk on which the stack pointer did not rise: from a signal frame to
// the interrupted code, or to another stack.
type stackSwitch struct {
	pc, sp uint64
}

// maxStackSwitches limits the switches that a walk remembers. Every cycle has at least one. A cycle
// with more than that ends at the depth limit.
const maxStackSwitches = 1024

// judge decides whether the caller that a strategy found is plausible, and how far it is trusted.
// All strategies use it.
func (w *Walk) judge(how Strategy) bool {
	f, c := &w.frame, &w.caller
	if w.u.arch.PtrSize == 4 {
		c.CFA &= 0xffffffff // the address space wraps around
	}
	w.stripCaller()
	if c.PC == 0 && !f.Signal && !w.precise {
		return w.zero(how) // after a signal, zero is valid: the code may have called a null pointer
	}
	if w.returnsToItself() {
		return w.failed(how, "the return address is in "+w.u.arch.RegName(w.u.arch.LR)+", but the call before PC has overwritten it")
	}
	if !w.moved(how) {
		w.stuck = true
		return w.failed(how, whyNotMoved)
	}
	w.guard("the caller's stack pointer is plausible")
	next := w.site(target.Addr(c.PC), f.Signal || w.precise)
	if w.landing == atPad || w.landing == anywhere && next.after != machine.Yes {
		w.precise = true
		next = w.site(target.Addr(c.PC), true)
	}
	switch {
	case f.Signal, w.precise && w.landing == notLanding:
		// Code can be interrupted anywhere, even outside of executable memory.
	case !next.exec && !next.sigcode:
		return w.failed(how, fmt.Sprintf("the return address 0x%x is not in executable memory", c.PC))
	case how == GoSched:
		w.guard("the goroutine, its thread and the scheduler's stack refer to each other")
	case w.landing != notLanding:
		w.guard("executing the code up to its jump leads to the caller")
	case next.sigcode:
		w.guard("the return address is a signal trampoline")
	case next.after == machine.Yes:
		w.guard("the return address follows a call")
	case how.ByTable() && w.borrowed:
		return w.failed(how, fmt.Sprintf("the frame's address depends on %s, whose value is not known", w.u.arch.RegName(w.pinned.plan.Row().CFA.Reg)))
	case how.ByTable():
		w.guard("the return address is in executable memory")
	case next.after == machine.No:
		return w.failed(how, fmt.Sprintf("the return address 0x%x does not follow a call", c.PC))
	}
	trust := Table
	switch {
	case w.landing != notLanding && how != GoSched:
		trust = Exact
	case how == EHABI:
		if w.borrowed || w.pinned.unrefined {
			trust = Heuristic
		}
	case how == Prologue && w.pinned.isRefined():
		if trust = Heuristic; w.confirmedByTable(w.pinned) {
			trust = Table
			w.guard("the table has the same frame by " + w.u.arch.RegName(w.pinned.table.Row().CFA.Reg))
		}
	case how.ByTable(), how == Prologue && w.pinned.table != nil:
		if w.borrowed {
			trust = Heuristic
		} else if !f.Signal && f.Trust == Exact && w.u.Prove && w.proven(w.pinned, next, c.CFA, c.SP) {
			trust = Exact
			w.guard("the call targets this function, and its code agrees with the table")
		}
	case PLT <= how && how < Scan:
		trust = Heuristic
	case how == Scan:
		trust = Guess
	}
	w.how, w.trust, w.next = how, max(trust, f.Trust), next
	if w.caller.Has(w.u.arch.SP) { // otherwise the frame's address is unknown
		f.CFA, f.HasCFA = target.Addr(c.CFA), true
	}
	w.found(how)
	return true
}

// zero is judge for a return address of zero. Zero ends the stack in the first function of a thread
// or of a context: makecontext makes a stack whose function returns to a function that was never
// called. Anywhere else the word was overwritten, or the return address is not there: the walk
// tries the next strategy.
func (w *Walk) zero(how Strategy) bool {
	f, c := &w.frame, &w.caller
	if how.ByTable() && (w.pinned.byHand || w.atEntry() || f.Module != nil && f.Module.IsThreadStart(w.pinned.filePC())) {
		f.CFA, f.HasCFA = target.Addr(c.CFA), true
		w.finish(End{Outermost: true, Reason: EntryPoint})
		return false
	}
	e := End{Reason: ZeroReturnAddress}
	if at, ok := c.SavedPC(w.u.arch); ok {
		e.Addr = at
	} else {
		e.Register = w.u.arch.RegName(w.u.arch.LR)
	}
	if how <= Prologue && w.zeroed.Reason == NotEnded { // frame pointers and searches may lead to any zero
		w.zeroed = e
	}
	return w.failed(how, "the "+e.Message())
}

// returnsToItself reports whether a frame that has made a call would return, by the link register,
// to the instruction after that call: the call has overwritten the link register.
func (w *Walk) returnsToItself() bool {
	f, c := &w.frame, &w.caller
	if w.u.arch.LR == arch.NoReg || !f.PCIsReturnAddress || f.Signal || c.PC != uint64(f.PC) {
		return false
	}
	_, saved := c.SavedPC(w.u.arch)
	return !saved
}

// moved reports whether the caller's stack pointer is plausible: above this frame's. It may be
// equal if an expression yields the return address. It may be anywhere across a signal frame
// (alternate stacks), or if the table itself switches the stack (split stacks, coroutines). The
// same switch must not occur twice.
func (w *Walk) moved(how Strategy) bool {
	f, c := &w.frame, &w.caller
	sp, known := w.lowest()
	switch {
	case !known || !c.Has(w.u.arch.SP) || c.SP > sp:
		return true
	case c.SP == sp && !f.PCIsReturnAddress && !f.Signal && c.PC != uint64(f.PC) && (w.u.arch.LR != arch.NoReg || w.inRegister):
		return true // a leaf function of a machine with a link register; one that has popped its return address
	case c.SP == sp && how.ByTable() && w.byExpr: // the return address is elsewhere: the frame uses no stack
	case !f.Signal && w.landing == notLanding && !(how.ByTable() && w.switches):
		return false
	}
	t := stackSwitch{c.PC, c.SP}
	for _, old := range w.stackSwitches {
		if old == t {
			return false
		}
	}
	if len(w.stackSwitches) < maxStackSwitches {
		w.stackSwitches = append(w.stackSwitches, t)
	} else {
		w.stackSwitches[w.nextSwitch%maxStackSwitches] = t
		w.nextSwitch++
	}
	return true
}
