package session

import (
	"dbg/arch"
	"dbg/eval"
	"dbg/expr"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// Tail-call frames: if a function was reached through tail calls, call sites may tell how. Each
// tail-call frame is a level of the machine frame to which it led, as an inlined call is a level of
// the machine frame that contains it.

// tailLink is the position of a frame in a chain of tail calls.
type tailLink struct {
	chain  []*symbols.CallSite
	before int // the number of tail calls before this one, which is chain[before]
	module *Module
}

// tailKey is a call, and the function that it led to.
type tailKey struct{ call, function place }

// tailAnswer is the debug information's answer for a tailKey.
type tailAnswer struct {
	site  *symbols.CallSite // an indirect call: the rest depends on the frame's registers
	chain []*symbols.CallSite
}

// tailChain returns the tail calls between a caller and the function of f, the first one first.
// There are none if the caller called that function itself, or if it is not certain which tail
// calls were made.
func (s *Session) tailChain(f, caller *Frame) []*symbols.CallSite {
	if f.Machine.Signal || caller.Machine.Signal || !caller.Machine.PCIsReturnAddress ||
		f.Module == nil || f.Module.Symbols == nil || caller.Module == nil || caller.Module.Symbols == nil {
		return nil
	}
	calls := s.callsAt(place{f.Module.Symbols, f.lookup})
	if len(calls) == 0 || calls[len(calls)-1].Function.FromSymbolTable {
		return nil
	}
	callee := calls[len(calls)-1].Function
	key := tailKey{place{caller.Module.Symbols, caller.Module.fileAddr(caller.PC)}, place{f.Module.Symbols, callee.Lo}}
	answer, ok := s.cache.tails[key]
	if !ok {
		answer = s.findTailChain(key, caller.PC, f.Module, callee)
		if s.cache.tails == nil || len(s.cache.tails) > 10_000 {
			s.cache.tails = map[tailKey]tailAnswer{}
		}
		s.cache.tails[key] = answer
	}
	if answer.site == nil {
		return answer.chain
	}
	at, _ := answer.site.Indirect()
	mf := caller.Machine
	fc := &eval.FrameContext{Mem: memoryFunc(s.readMemory), Regs: &mf.Regs, CFA: mf.CFA, HasCFA: mf.HasCFA, PC: caller.lookup, Bias: caller.Module.Bias, Arch: s.tgt.Arch()}
	a, err := fc.Evaluate(&at)
	if err != nil {
		return nil
	}
	m := s.modules.find(target.Addr(a))
	if m == nil || m.Symbols == nil {
		return nil
	}
	start := m.fileAddr(target.Addr(a))
	if fn := m.Symbols.FunctionAt(start); fn == nil || fn.Lo != start || m == f.Module && start == callee.Lo {
		return nil
	}
	return m.Symbols.TailCalls(start, f.Module.Symbols, callee)
}

// findTailChain finds the part of the answer that does not depend on the frame.
func (s *Session) findTailChain(key tailKey, ret target.Addr, m *Module, callee *symbols.Function) tailAnswer {
	to, direct := s.callTarget(ret)
	if direct && to == m.processAddr(callee.Lo) {
		return tailAnswer{}
	}
	site := key.call.sym.CallSiteAt(key.call.addr)
	if site == nil {
		return tailAnswer{}
	}
	if _, ok := site.Indirect(); ok {
		return tailAnswer{site: site}
	}
	in, start, ok := site.Target(m.Symbols)
	if !ok && direct {
		// The function has several instances: the instruction tells which one is called.
		if cm := s.modules.find(to); cm != nil && cm.Symbols == key.call.sym {
			in, start = cm.Symbols, cm.fileAddr(to)
			if fn := in.FunctionAt(start); fn != nil && fn.Lo == start {
				ok, _ = site.Direct(in, fn)
			}
		}
	}
	if !ok {
		return tailAnswer{}
	}
	return tailAnswer{chain: in.TailCalls(start, m.Symbols, callee)}
}

// tailFrames returns the levels between a machine frame, whose outermost level is inner, and its
// caller.
func (s *Session) tailFrames(inner, caller *Frame) (out []Frame) {
	chain := s.tailChain(inner, caller)
	for i := len(chain) - 1; i >= 0; i-- {
		m := caller.Module
		if chain[i].Module() != m.Symbols {
			m = inner.Module
		}
		pc, lookup := chain[i].Place()
		base := Frame{Level: inner.Level + 1 + len(out), Machine: inner.Machine, PC: m.processAddr(pc), Module: m, lookup: lookup,
			Strategy: "tailcall", Trust: inner.Trust, ShowPC: true, TailCall: true, tail: &tailLink{chain, i, m}}
		out = append(out, s.expandCalls(base, false)...)
	}
	return out
}

// tailContext returns the context for reading the variables of a frame that ended in a tail call:
// its registers and its stack are lost.
func (s *Session) tailContext(l *tailLink, t target.ThreadID, entry func(expr.EntryParameter) (uint64, error)) *eval.FrameContext {
	_, lookup := l.chain[l.before].Place()
	return &eval.FrameContext{Mem: memoryFunc(s.readMemory), Regs: &arch.Registers{Arch: s.tgt.Arch()}, PC: image.Addr(lookup),
		Bias: l.module.Bias, Arch: s.tgt.Arch(), TLS: s.tlsOf(l.module, t), EntryValue: entry}
}

// passed finds the value that was passed to the function reached by the first n tail calls of a
// chain.
func (s *Session) passed(n int, chain []*symbols.CallSite, caller *Frame, t target.ThreadID, p expr.EntryParameter, depth int) (uint64, error) {
	if depth+n >= maxEntryDepth {
		return 0, errNoEntryValue
	}
	site := caller.Module.Symbols.CallSiteAt(caller.Module.fileAddr(caller.PC))
	if n > 0 {
		site = chain[n-1]
	}
	if site == nil {
		return 0, errNoEntryValue
	}
	at, ok := site.Parameter(p)
	if !ok {
		return 0, errNoEntryValue
	}
	if n == 0 {
		return s.callerContext(site, caller, t, depth).Evaluate(&at)
	}
	m := caller.Module
	for _, o := range s.modules.all {
		if o.Symbols == site.Module() {
			m = o
		}
	}
	return s.tailContext(&tailLink{chain, n - 1, m}, t, func(p expr.EntryParameter) (uint64, error) {
		return s.passed(n-1, chain, caller, t, p, depth+1)
	}).Evaluate(&at)
}
