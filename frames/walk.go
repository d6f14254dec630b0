package frames

import (
	"context"
	"iter"

	"dbg/arch"
	"dbg/expr"
	"dbg/frames/follow"
	"dbg/frames/machine"
	"dbg/frames/module"
	"dbg/row"
	"dbg/row/compiled"
	"dbg/target"
)

// Unwinder finds the callers of frames in one address space. It caches its knowledge about code
// from walk to walk. It belongs to one goroutine.
//
// Walks of one Unwinder may interleave in any order: while one is between two frames, others may be
// started, advanced, explained and abandoned. The results of a walk do not depend on other walks.
// The owner may set the fields while no walk is under way.
type Unwinder struct {
	sites [sites]site // must be first: large objects are aligned to pages, so that each site is one cache line

	arch    *arch.Arch
	machine *machine.Machine
	space   Space

	// DepthLimit limits the number of frames of a walk; New sets it to ten million.
	DepthLimit int

	// Use is the set of strategies to try; New sets it to AllStrategies. It serves to evaluate
	// single strategies.
	Use StrategySet

	// Prove enables the proof that frames are exact, which costs some microseconds for each new
	// place; New sets it. Without it tables are trusted, and no frame but frame 0 is better than
	// Table.
	Prove bool

	// Audit enables the comparison of the code with the tables: the code wins where it is certain,
	// see overrule.go. It costs some microseconds for each new function. New sets it.
	Audit bool

	// CodeBits is the number of bits of a code address, if the other bits of a return address are
	// its signature (pointer authentication on arm64) and the system chooses the number. 0 means
	// the maximum of the architecture.
	CodeBits uint8

	epoch   uint64
	version uint64
	used    StrategySet // the value of Use for the cached sites
	facts   [sites]siteFacts
	starts  follow.Functions
	audits  map[auditKey]*follow.Audit
	spare   [2][]byte // buffers of the walk that ended last
	lookup  module.Lookup
	row     row.Row
}

// New returns an unwinder for one address space.
func New(a *arch.Arch, space Space) *Unwinder {
	return &Unwinder{arch: a, lookup: module.Lookup{Arch: a}, machine: machine.Of(a), space: space, DepthLimit: 10_000_000, Use: AllStrategies, used: AllStrategies, Prove: true, Audit: true}
}

// Walk is one walk along the frames of a thread.
type Walk struct {
	u     *Unwinder
	epoch uint64
	start arch.Registers

	// Record makes each frame carry the evidence of how it was found. It makes the walk slow.
	Record bool

	// KeepRefused makes the walk record a table's caller that it rejects: see Refused.
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

	// The caller from tryQuick: plan's step. Between tryQuick and commit the frame is yielded, and
	// another walk may reuse the site that the plan comes from. So commit must not use the site.
	plan  *compiled.Plan
	step  compiled.Step
	block int  // index of the stack's block for step
	quick bool // the caller is step
	slow  bool // tryQuick is disabled

	runs uint // number of times that the walk was started

	// State of the search for the caller.
	rec      *recorder // nil unless the walk records evidence
	refused  refusal   // rejected caller of frame, with KeepRefused
	pinned   *site     // the site of frame
	next     *site     // the site of the caller that was judged last
	attempts []Attempt
	done     bool        // end is set
	stuck    bool        // a strategy found a frame that did not move
	zeroed   End         // set if a return address is zero
	bad      target.Addr // the first unreadable address
	hasBad   bool
	switches bool // the row itself switches the stack

	landing    landing // the caller is the code's own target, see leave.go
	precise    bool    // and its PC is not a return address
	borrowed   bool    // the CFA depends on a register whose value may not be the frame's
	inRegister bool    // according to the row, the return address is in a register
	byExpr     bool    // the row has an expression for the return address

	// If a frame's stack pointer is unknown, floor is a lower bound of it. above is the minimum
	// floor of the caller.
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

// Restart makes w a walk from these registers, as Unwinder.Walk does, and reuses its buffers.
func (w *Walk) Restart(regs *arch.Registers) {
	w.start = *regs
	w.start.Arch = w.u.arch
}

// Frames yields the frames, innermost first. A frame is valid until the next iteration; Frame.Clone
// makes a lasting copy. An error comes only from ctx, with a nil frame, and ends the walk. Each use
// of the iterator is a new walk, which reads memory again and ends a previous walk of w that is
// still under way. Several Walks of one Unwinder may be under way at once.
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

// End returns the reason for the walk's end. It is complete when the iterator of Frames has ended
// by itself.
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

// forget clears the cached facts about all places: rows depend on Use.
func (u *Unwinder) forget() {
	u.used = u.Use
	for kind, how := range howByKind {
		u.lookup.Skip[kind] = !u.Use.Has(how)
	}
	clear(u.sites[:])
	clear(u.audits)
}

// release returns the buffers for use by the next walk.
func (w *Walk) release() {
	for i := range w.stack.blocks {
		w.u.spare[i] = w.stack.blocks[i].buf
		w.stack.blocks[i] = block{}
	}
}
