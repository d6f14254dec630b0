package flow

import (
	"dbg/code"
)

// arrive handles a path that reaches an address that was reached before, and reports whether to
// continue.
func (f *Flow) arrive(u *unit, w *way, frame *uint16) bool {
	switch {
	case u.frame == *frame:
		if u.flags&weak != 0 && !w.weak {
			u.flags &^= weak
		}
		return false
	case u.flags&weak != 0 && !w.weak:
		// So far reached only by the return of a call: the jump is better evidence.
		return true
	case u.flags&(weak|wide) == 0 && w.back && f.starts == 1 && f.widen(&f.frames[u.frame-1], w):
		u.flags |= wide
		*frame = f.number(&w.State)
		return *frame != 0
	}
	f.tally.Conflicts++
	return false
}

// widen is applied only to paths from the first start: code that is followed later may not be
// code at all, such as a jump table after a function. It handles loops that move the stack
// pointer, such as those that touch each page of a large frame. Where two paths differ only in
// the stack pointer, and another register leads to the CFA, the stack pointer becomes unknown.
func (f *Flow) widen(old *Frame, w *way) bool {
	if !old.HasSP || w.regs[f.m.sp].base != cfa || w.regs[f.m.sp].off == -old.SP {
		return false
	}
	other := w.State
	other.regs[f.m.sp] = value{}
	if now, ok := other.find(value{base: cfa}); !ok || now.Through || old.Saved != w.saved || old.Lost != w.lost {
		return false
	}
	w.set(f.m.sp, value{})
	return true
}

// equal applies the knowledge after a branch that is not taken if two registers are equal.
func (s *State) equal(compared *code.Insn) {
	a, b := compared.Dst, compared.Src
	if b == s.m.sp {
		a, b = b, a
	}
	if a == s.m.sp && s.regs[b].base == cfa {
		s.regs[a] = s.regs[b]
	}
}

// leave applies an instruction that changes the flow of control, and reports whether the path
// continues.
func (f *Flow) leave(w *way, in *code.Insn, here uint32, frame uint16, compared code.Insn) bool {
	u := &f.units[here]
	switch in.Next {
	case code.Return:
		u.flags |= ends
		f.out(&w.State)
		return false
	case code.Trap:
		u.flags |= ends
		return false
	case code.Indirect:
		u.flags |= ends
		if w.entered() {
			f.tally.Returns++
		} else {
			f.tally.Lost++
		}
		f.jumps = f.seen(f.jumps, here, frame, &w.State)
		return false
	}
	to, inside := f.target(w.at, in.Imm)
	if in.Next == code.Jump {
		u.flags |= ends
		if !inside {
			f.out(&w.State)
			return false
		}
		w.at, w.weak, w.back = to, false, to < w.at
		return true
	}
	if !inside {
		f.out(&w.State)
		return true
	}
	other := way{at: to, back: to < w.at, State: w.State}
	if in.Cond == code.Equal && compared.Op == code.Compare {
		other.equal(&compared)
	}
	if t := &f.units[to]; t.frame == frame && t.flags&weak == 0 {
		return true
	}
	if len(f.ways) >= maxWays {
		f.tally.Unknown++
		return true
	}
	f.ways = append(f.ways, other)
	return true
}

// out records a return, or a jump to another function.
func (f *Flow) out(s *State) {
	if s.entered() {
		f.tally.Returns++
	} else {
		f.tally.Wrong++
	}
}

// entered reports whether the stack and the callee-saved registers are as at a function's first
// instruction.
func (s *State) entered() bool {
	return s.saved == 0 && s.lost == 0 && s.regs[s.m.sp] == (value{cfa, s.m.entrySP()})
}

// call queues the path after a call.
func (f *Flow) call(w *way, in *code.Insn, here uint32, frame uint16) {
	f.callSPs = f.seen(f.callSPs, here, frame, &w.State)
	var probe value
	if in.Next == code.Call {
		probe = f.probe(w)
	}
	w.Apply(in)
	if probe.base == number {
		w.regs[f.m.probe] = probe
	}
	w.weak = true
	stack := &f.behind
	if int(w.at) < len(f.units) && f.units[w.at].flags&target != 0 {
		stack = &f.last
	}
	if len(*stack) < maxWays {
		*stack = append(*stack, *w)
	} else {
		f.tally.Unknown++
	}
}

// probe returns the amount by which the stack pointer will be lowered, if the call touches the
// pages of a large frame (___chkstk_darwin). That function preserves the register with the size,
// which is then subtracted from the stack pointer.
func (f *Flow) probe(w *way) value {
	if f.m.probe == code.None {
		return value{}
	}
	size := w.regs[f.m.probe]
	if size.base != number || size.off < 4096>>4 || int(w.at) >= len(f.units) {
		return value{}
	}
	next := f.decode(w.at)
	if next.Op != code.SubReg || next.Dst != f.m.sp || next.Base != f.m.probe {
		return value{}
	}
	return size
}

// seen records a state, one for each frame.
func (f *Flow) seen(list []Seen, at uint32, frame uint16, s *State) []Seen {
	for i := range list {
		if list[i].frame == frame {
			list[i].Count++
			list[i].PC, list[i].Size = max(list[i].PC, f.pc(at)), int(f.units[at].n)
			return list
		}
	}
	if len(list) < maxCalls {
		list = append(list, Seen{f.pc(at), int(f.units[at].n), 1, *s, frame})
	}
	return list
}
