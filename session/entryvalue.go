package session

import (
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/eval"
	"dbg/expr"
	"dbg/frames"
	"dbg/symbols"
	"dbg/symbols/types"
	"dbg/target"
)

// maxEntryDepth bounds how many callers are asked for one entry value: what a caller passed
// may be what it was passed itself.
const maxEntryDepth = 64

// errNoEntryValue says that the caller does not tell what it passed.
var errNoEntryValue = errors.New("the caller's call site does not describe the argument")

// errEnteredAgain says that a function may have been left and entered anew.
var errEnteredAgain = fmt.Errorf("%w: the function may have been entered again by a tail call", errNoEntryValue)

// frameContext is what a variable of the frame is read with. depth is how many callers
// have been asked already.
func (s *Session) frameContext(f *Frame, t target.ThreadID, depth int) *eval.FrameContext {
	if f.TailCall {
		return s.tailContext(f.tail, t, func(p expr.EntryParameter) (uint64, error) { return s.entryValue(f, t, p, depth) })
	}
	mf := f.Machine
	sp, _ := mf.Regs.SP()
	fc := &eval.FrameContext{
		Mem: frameMemory{s, target.Addr(sp)}, Regs: &mf.Regs, CFA: mf.CFA, HasCFA: mf.HasCFA, PC: f.lookup,
		Bias: f.Module.Bias, Arch: s.tgt.Arch(),
		TLS: s.tlsOf(f.Module, t),
	}
	if mf.Index == 0 {
		fc.Wide = func(r arch.Reg) ([]byte, error) { return s.tgt.WideRegister(t, r) }
	}
	fc.EntryValue = func(p expr.EntryParameter) (uint64, error) { return s.entryValue(f, t, p, depth) }
	return fc
}

// entryValue finds what the frame's function was passed, at the place in its caller that says
// so. It is an error unless it is certain that the caller called this very function, and that the function has not been entered
// again since by a tail call.
func (s *Session) entryValue(f *Frame, t target.ThreadID, p expr.EntryParameter, depth int) (uint64, error) {
	if depth >= maxEntryDepth {
		return 0, errNoEntryValue
	}
	caller := s.callerOf(f, t)
	if caller == nil || caller.Machine.Signal || f.Machine.Signal || !caller.Machine.PCIsReturnAddress ||
		f.Module == nil || f.Module.Symbols == nil || caller.Module == nil || caller.Module.Symbols == nil {
		return 0, errNoEntryValue
	}
	if f.TailCall {
		return s.passed(f.tail.before, f.tail.chain, caller, t, p, depth)
	}
	if chain := s.tailChain(f, caller); len(chain) > 0 {
		if f.Module.Symbols.MayTailCallItself(f.Module.Symbols.FunctionAt(f.lookup)) {
			return 0, errEnteredAgain
		}
		return s.passed(len(chain), chain, caller, t, p, depth)
	}
	site := caller.Module.Symbols.CallSiteAt(caller.Module.fileAddr(caller.PC))
	if site == nil {
		return 0, errNoEntryValue
	}
	at, ok := site.Parameter(p)
	if !ok {
		return 0, errNoEntryValue
	}
	fc := s.callerContext(site, caller, t, depth)
	callee := f.Module.Symbols.FunctionAt(f.lookup)
	if err := s.certainCall(site, caller, fc, f.Module, callee); err != nil {
		return 0, err
	}
	return fc.Evaluate(&at)
}

// callerContext is what the expressions of a call site are evaluated with.
func (s *Session) callerContext(site *symbols.CallSite, caller *Frame, t target.ThreadID, depth int) *eval.FrameContext {
	fc := s.frameContext(caller, t, depth+1)
	if site.Survivors() {
		s.addSurvivors(fc, caller, t)
	}
	return fc
}

// survivors are the registers that a machine frame has lost, as they are now: no frame inside of it has saved them.
type survivors struct {
	regs  *arch.Registers // shared by the frames that have lost the same ones; nil: there are none
	whole bool            // vector registers are as they are now, too
}

// outward returns the survivors of the frame that called in, whose own are these. There are none past a frame that was
// found by a guess (which registers are saved there, nobody knows), and none past one that was interrupted by a signal: all of
// its registers are known.
func (v survivors) outward(in, caller *frames.Frame) survivors {
	if caller.Signal || in.Signal || caller.Trust > frames.Table {
		return survivors{}
	}
	same := v.regs != nil
	var now arch.Registers
	any := false
	for r := range arch.Reg(arch.MaxRegs) {
		if _, have := caller.Regs.Get(r); have {
			if same {
				_, was := v.regs.Get(r)
				same = !was
			}
			continue
		}
		if x, ok := in.Regs.Get(r); ok {
			now.Set(r, x)
			any, same = true, false
		} else if v.regs != nil {
			if x, ok := v.regs.Get(r); ok {
				now.Set(r, x)
				any = true
			}
		}
	}
	out := survivors{whole: v.whole}
	switch {
	case same:
		out.regs = v.regs
	case any:
		now.Arch = caller.Regs.Arch
		out.regs = &now
	}
	return out
}

// addSurvivors gives a frame the registers that no frame inside of it has saved, as they are now. They are the
// frame's own only if nothing has changed them since: the caller must know that from the debug information.
func (s *Session) addSurvivors(fc *eval.FrameContext, f *Frame, t target.ThreadID) {
	if v := f.survivors; v.regs != nil {
		regs := f.Machine.Regs
		for r := range arch.Reg(arch.MaxRegs) {
			if x, ok := v.regs.Get(r); ok {
				regs.Set(r, x)
			}
		}
		fc.Regs = &regs
	}
	if f.survivors.whole && f.Machine.Index > 0 {
		fc.Wide = func(r arch.Reg) ([]byte, error) {
			if _, own := f.Machine.Regs.Get(r); own {
				return nil, errNoEntryValue // only this part is known
			}
			return s.tgt.WideRegister(t, r)
		}
	}
}

// atEntry reads what a parameter was when its function was entered.
func (s *Session) atEntry(v *symbols.Variable, f *Frame, t target.ThreadID) (Value, bool) {
	if f.Inlined {
		return Value{}, false
	}
	p, ok := v.AtEntry()
	if !ok {
		return Value{}, false
	}
	u, err := s.entryValue(f, t, p, 0)
	if err != nil {
		return Value{}, false
	}
	old, ok := eval.FromBits(v.Type, v.Name, u, s.tgt.Arch())
	if k := v.Type.Strip().Kind; ok && (k == types.Reference || k == types.RvalueReference) {
		// What it refers to counts, and that may have changed.
		p.Data = true
		if _, err := s.entryValue(f, t, p, 0); err != nil || p.OnStack {
			return Value{}, false
		}
	}
	return old, ok
}

// certainCall says why it is not certain that a call enters a function, and has done so last.
func (s *Session) certainCall(site *symbols.CallSite, caller *Frame, fc *eval.FrameContext, m *Module, callee *symbols.Function) error {
	if callee == nil {
		return errNoEntryValue
	}
	entry := m.processAddr(callee.Lo)
	if at, ok := site.Indirect(); ok {
		a, err := fc.Evaluate(&at)
		if err != nil {
			return err
		}
		if target.Addr(a) != entry {
			return fmt.Errorf("%w: it calls another function", errNoEntryValue)
		}
	} else {
		yes, unsure := site.Direct(m.Symbols, callee)
		if yes && unsure {
			// One of several instances: the instruction tells which.
			to, ok := s.callTarget(caller.PC)
			yes = ok && to == entry
		}
		if !yes {
			return fmt.Errorf("%w: it calls another function", errNoEntryValue)
		}
	}
	if m.Symbols.MayTailCallItself(callee) {
		return errEnteredAgain
	}
	return nil
}

// callTarget is where the direct call before a return address goes.
func (s *Session) callTarget(ret target.Addr) (target.Addr, bool) {
	var b [5]byte
	switch s.tgt.Arch() {
	case arch.AMD64:
		// CALL rel32
		if n, _ := s.readMemory(ret-5, b[:]); n == 5 && b[0] == 0xe8 {
			rel := int32(uint32(b[1]) | uint32(b[2])<<8 | uint32(b[3])<<16 | uint32(b[4])<<24)
			return ret + target.Addr(int64(rel)), true
		}
	case arch.ARM64:
		// BL imm26
		if n, _ := s.readMemory(ret-4, b[:4]); n == 4 && b[3]>>2 == 0x25 {
			imm := int32(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24) << 6 >> 6
			return ret - 4 + target.Addr(int64(imm)*4), true
		}
	}
	return 0, false
}

// callerOf returns the innermost level of the machine frame that called f's; nil if there is none. It is the same whatever
// was asked before.
func (s *Session) callerOf(f *Frame, t target.ThreadID) *Frame {
	w := f.walk
	if w == nil || w.gone {
		var err error
		if w, err = s.walkOf(t); err != nil {
			return nil
		}
	}
	if !w.ahead(f) {
		// It has gone past, and kept nothing.
		spare, err := s.newWalk(t)
		if err != nil {
			return nil
		}
		s.cache.spare.drop()
		s.cache.spare, w = spare, spare
		for w.count <= f.Level {
			if s.ctx.Err() != nil {
				return nil
			}
			if _, ok := w.pull(); !ok {
				return nil
			}
		}
	}
	return w.callerOf(f)
}

// ahead reports whether the frame that called f's is in what the walk has, or will come.
func (w *walk) ahead(f *Frame) bool {
	n := len(w.kept)
	return f.Level+1 >= w.count || w.count <= n || n > 0 && w.kept[n-1].Machine.Index > f.Machine.Index
}

// callerOf looks for the frame that called f's, and goes on with the walk if need be.
func (w *walk) callerOf(f *Frame) *Frame {
	index := f.Machine.Index + 1
	for i := f.Level + 1; i < len(w.kept); i++ {
		if w.kept[i].Machine.Index == index {
			return &w.kept[i]
		}
	}
	for at := 0; ; {
		for ; at < len(w.queue); at++ {
			switch have := w.queue[at].Machine.Index; {
			case have == index:
				return &w.queue[at]
			case have > index:
				return nil
			}
		}
		if len(w.queue) > keepFrames || !w.more() {
			return nil
		}
	}
}

// more takes one more machine frame into the queue, for those who look ahead while
// others are handed the frames.
func (w *walk) more() bool {
	if w.end != nil {
		return false
	}
	mf, err, ok := w.next()
	if !ok || err != nil {
		w.finish(err)
		return false
	}
	w.queue = append(w.queue, w.levels(mf.Clone(), w.count+len(w.queue))...)
	return true
}
