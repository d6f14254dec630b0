package frames

import (
	"context"
	"iter"

	"dbg/arch"
	"dbg/target"
)

// Unwinder finds the callers of a thread's frames.
type Unwinder struct {
	arch  *arch.Arch
	space Space
	// DepthLimit bounds the number of frames of a walk.
	DepthLimit int
}

// New makes an unwinder for one address space.
func New(a *arch.Arch, space Space) *Unwinder {
	return &Unwinder{arch: a, space: space, DepthLimit: 10_000_000}
}

// Walk is one walk along the frames of a thread.
type Walk struct {
	u     *Unwinder
	frame Frame
	end   End
}

// Walk prepares a walk from these registers.
func (u *Unwinder) Walk(regs *arch.Registers) *Walk {
	w := &Walk{u: u}
	w.frame.Regs = *regs
	pc, _ := regs.PC()
	w.frame.PC = target.Addr(pc)
	return w
}

// Frames yields the frames, innermost first.
func (w *Walk) Frames(ctx context.Context) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		yield(&w.frame, ctx.Err())
	}
}

// End is the verdict of the walk.
func (w *Walk) End() End { return w.end }
