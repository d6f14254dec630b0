package frames

import (
	"context"
	"iter"

	"dbg/arch"
	"dbg/expr"
	"dbg/row"
	"dbg/row/compiled"
	"dbg/target"
)

// Unwinder finds the callers of frames in one address space. It keeps what it
// has learned about code from walk to walk. It belongs to one goroutine.
//
// Walks of one Unwinder may interleave in any order: while one is between two frames, others may be started, advanced,
// explained and given up. What a walk gives does not depend on them, nor on the walks before.
// The fields are for the owner to set while no walk is under way.
type Unwinder struct {
	sites [sites]site // first: large objects begin with a page, and each of these is a cache line

	arch    *arch.Arch
	machine *machine
	space   Space

	// DepthLimit bounds the number of frames of a walk; New sets it to ten million.
	DepthLimit int

	// Use is the set of strategies that are tried; New sets it to AllStrategies. It is for
	// those who want to know what one of them is worth.
	Use StrategySet

	// Prove says whether frames are to be called exact where that can be proven, which costs
	// some microseconds for each new place; New sets it. Without it tables are taken at
	// their word, and nothing but frame 0 is better than Table.
	Prove bool

	// Audit says whether the code is held against the tables, and wins where it is certain: see audit.go. It costs some
	// microseconds for each new function. New sets it.
	Audit bool

	// CodeBits is how many bits an address of code has, where others in a return address are its signature (pointer
	// authentication on arm64) and that is the system's choice; 0: as many as the architecture has at most.
	CodeBits uint8

	epoch   uint64
	version uint64
	used    StrategySet // Use, when the rows of sites were looked up
	facts   [sites]siteFacts
	starts  starts
	audits  map[startKey]*audit
	spare   [2][]byte // blocks of the walk that ended last
	plans   [2]compiled.PlanCache
	row     row.Row
}

// New makes an unwinder for one address space.
func New(a *arch.Arch, space Space) *Unwinder {
	return &Unwinder{arch: a, machine: machineOf(a), space: space, DepthLimit: 10_000_000, Use: AllStrategies, used: AllStrategies, Prove: true, Audit: true}
}

// Walk is one walk along the frames of a thread.
type Walk struct {
	u     *Unwinder
	epoch uint64
	start arch.Registers

	// Record makes each frame carry the evidence of how it was found. It makes the walk slow.
	Record bool

	// KeepRefused makes the walk keep what a table says where that is not believed: see Refused.
	KeepRefused bool

	frame Frame
	end   End
	stack stack
	words row.Words // the stack, for the strategies
	env   row.Env
	expr  expr.Context
	code  [codeBefore + codeAfter]byte

	// The caller of frame, and how it was found.
	caller row.Caller
	how    Strategy
	trust  Trust

	// The caller that tryQuick found: plan's step. Between tryQuick and commit the frame is yielded, and another
	// walk may fill the site again that the plan is from. So nothing of a site is looked at after that.
	plan  *compiled.Plan
	step  compiled.Step
	block int  // of the stack, for step
	quick bool // the caller is step
	slow  bool // each frame is to be found in the long way

	runs uint // how often the walk was started

	// Of the search for it.
	rec      *recorder // nil but for Explain
	refused  refusal   // of frame, with KeepRefused
	pinned   *site     // of frame
	next     *site     // of the caller that was judged last
	attempts []Attempt
	done     bool        // end is set
	stuck    bool        // a strategy gave a frame that did not move
	zeroed   End         // says of a return address that it is zero
	bad      target.Addr // the first memory that could not be read
	hasBad   bool
	switches bool // the row says itself where the stack pointer is

	landing    landing // the caller is where the code is going, see leave.go
	precise    bool    // and its PC is no return address
	borrowed   bool    // the CFA rests on a register whose value is not known to be the frame's
	inRegister bool    // the row says that the return address is in a register
	byExpr     bool    // the row has an expression for the return address

	// Where a frame's stack pointer is not known: it is not below floor. above is the floor of the caller, at least.
	floor, above uint64

	stackSwitches []stackSwitch
	nextSwitch    int
}

// Walk prepares a walk from these registers, which it copies.
func (u *Unwinder) Walk(regs *arch.Registers) *Walk {
	w := &Walk{u: u, start: *regs}
	w.start.Arch = u.arch
	return w
}

// Restart makes w a walk from these registers, as Unwinder.Walk does, and keeps its buffers.
func (w *Walk) Restart(regs *arch.Registers) {
	w.start = *regs
	w.start.Arch = w.u.arch
}

// Frames yields the frames, innermost first. The frame is valid until the next one is
// asked for; Frame.Clone keeps it. An error comes only from ctx, with a nil
// frame, and ends the walk. Each use of the iterator is a walk of its own, which
// reads memory anew and ends the one before, if that is still under way: w is one walk at a time. Several walks of
// one Unwinder may be under way at once.
func (w *Walk) Frames(ctx context.Context) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		w.reset()
		run := w.runs
		defer func() {
			if w.runs == run {
				w.release()
			}
		}()
		if _, known := w.start.PC(); !known {
			w.finish(End{Reason: NoCaller})
			w.end.Attempts = []Attempt{{Context, "the program counter is not known"}}
			return
		}
		for {
			if w.frame.Index&0xff == 0 && ctx.Err() != nil {
				w.end = End{Reason: Failed, Err: ctx.Err()}
				yield(nil, ctx.Err())
				return
			}
			found := w.tryQuick() || w.find()
			if !yield(&w.frame, nil) || !found || w.runs != run {
				return
			}
			w.commit()
		}
	}
}

// End is the verdict. It is complete when the iterator of Frames has
// ended by itself.
func (w *Walk) End() End { return w.end }

// reset prepares frame 0.
func (w *Walk) reset() {
	u := w.u
	w.runs++
	if u.Use != u.used {
		u.forget()
	}
	if v, ok := u.space.(Versioned); !ok {
		u.epoch++
	} else if n := v.Version(); n != u.version || u.epoch == 0 {
		u.version = n
		u.epoch++
	}
	w.epoch = u.epoch
	w.stack.reset(u.space, u.arch.ByteOrder)
	for i := range w.stack.blocks {
		w.stack.blocks[i].buf, u.spare[i] = u.spare[i], nil
	}
	w.frame = Frame{Regs: w.start, Attempts: w.frame.Attempts[:0]}
	if w.Record && w.rec == nil {
		w.rec = &recorder{}
	}
	w.slow = w.rec != nil || u.Use != AllStrategies
	pc, _ := w.start.PC()
	w.frame.PC = target.Addr(w.startPC(pc))
	w.frame.places.Live = w.start.Known()
	w.expr.Mem = &w.stack
	w.env = row.Env{Arch: u.arch, Regs: &w.frame.Regs, Mem: &w.stack, Expr: &w.expr}
	w.words = &w.stack
	w.end = End{}
	w.floor = 0
	w.stackSwitches, w.nextSwitch, w.pinned, w.next, w.quick = w.stackSwitches[:0], 0, nil, nil, false
}

// forget makes the unwinder find out again what is known of each place: rows depend on Use.
func (u *Unwinder) forget() {
	u.used = u.Use
	clear(u.sites[:])
	clear(u.audits)
}

// release gives the blocks back for the next walk.
func (w *Walk) release() {
	for i := range w.stack.blocks {
		w.u.spare[i] = w.stack.blocks[i].buf
		w.stack.blocks[i] = block{}
	}
}
