package unwindcheck

import "dbg/arch"

// Sample is a place where another unwinder can be asked the same question.
type Sample struct {
	Regs *arch.Registers // valid until the function returns
	// The address to which the thread's innermost function will return, and the stack pointer then.
	ReturnAddress, CFA uint64
	Right              bool // the unwinder's answer was correct
}

// sample calls opts.Sample if it is due and the truth is known. right is the number of correct
// answers before this one.
func (c *checker) sample(th *checked, right uint64) {
	if c.opts.Sample == nil || c.opts.SampleEvery == 0 || c.report.Instructions%c.opts.SampleEvery != 0 {
		return
	}
	a := th.stack.top()
	if a == nil || a.kind != called || a.popped || th.transit != nil {
		return
	}
	c.opts.Sample(&Sample{Regs: &th.regs, ReturnAddress: a.ra, CFA: a.cfa, Right: c.report.Correct > right})
}
