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

// maxEntryDepth limits the number of callers that are asked for one entry value: a caller may have
// passed on a value that was passed to itself.
const maxEntryDepth = 64

// errNoEntryValue means that the caller's debug information does not tell which value it passed.
var errNoEntryValue = errors.New("the caller's call site does not describe the argument")

// errEnteredAgain means that the function may have been left and entered again.
var errEnteredAgain = fmt.Errorf("%w: the function may have been entered again by a tail call", errNoEntryValue)

// frameContext returns the context in which a variable of the frame is read. depth is the number of
// callers that were already asked.
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

// entryValue finds the value that was passed to the frame's function, from the call site in its
// caller. It returns an error unless it is certain that the caller called this very function, and
// that the function has not been entered again since by a tail call.
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

// callerContext returns the context in which the expressions of a call site are evaluated.
func (s *Session) callerContext(site *symbols.CallSite, caller *Frame, t target.ThreadID, depth int) *eval.FrameContext {
	fc := s.frameContext(caller, t, depth+1)
	if site.Survivors() {
		s.addSurvivors(fc, caller, t)
	}
	return fc
}

// survivors holds the current values of registers that a machine frame has lost: no inner frame has
// saved them.
type survivors struct {
	regs  *arch.Registers // shared by frames with the same losses; nil if there are none
	whole bool            // vector registers still have their current values, too
}

// outward returns the survivors of the frame that called in. v holds those of in. There are none
// beyond a frame that was found by a guess (it is unknown which registers are saved there), and
// none beyond a frame that was interrupted by a signal: all of its registers are known.
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

// addSurvivors adds to a frame's context the current values of the registers that no inner frame
// has saved. They are the frame's own only if nothing has changed them since: the caller must know
// that from the debug information.
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

// atEntry reads the value that a parameter had when its function was entered.
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
		// The value is the referenced object, which may have changed.
		p.Data = true
		if _, err := s.entryValue(f, t, p, 0); err != nil || p.OnStack {
			return Value{}, false
		}
	}
	return old, ok
}

// whyNotAtEntry tells why atEntry has found no value.
func (s *Session) whyNotAtEntry(v *symbols.Variable, f *Frame, t target.ThreadID) error {
	if f.Inlined {
		return errors.New("the call is inlined")
	}
	p, ok := v.AtEntry()
	if !ok {
		return errors.New("the debug information does not tell where it was passed")
	}
	if _, err := s.entryValue(f, t, p, 0); err != nil {
		return err
	}
	return errors.New("it does not fit in a register")
}

// certainCall returns an error unless it is certain that a call enters a function, and was the last
// to do so.
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
			// The function has several instances: the instruction tells which one is called.
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

// callTarget returns the target of the direct call before a return address.
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

// callerOf returns the innermost level of the machine frame that called f's, or nil if there is
// none. The result does not depend on earlier queries.
func (s *Session) callerOf(f *Frame, t target.ThreadID) *Frame {
	w := f.walk
	if w == nil || w.gone {
		var err error
		if w, err = s.walkOf(t); err != nil {
			return nil
		}
	}
	if !w.ahead(f) {
		// The walk is already beyond that frame, and did not keep it.
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

// ahead reports whether the frame that called f's is in the walk's memory, or still to come.
func (w *walk) ahead(f *Frame) bool {
	n := len(w.kept)
	return f.Level+1 >= w.count || w.count <= n || n > 0 && w.kept[n-1].Machine.Index > f.Machine.Index
}

// callerOf finds the frame that called f's, and continues the walk if necessary.
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

// more adds one more machine frame to the queue, to look ahead of the frames that were handed out.
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
