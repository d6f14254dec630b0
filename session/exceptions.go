package session

import (
	"strings"

	"dbg/cfi/lsda"
	"dbg/symbols"
	"dbg/target"
)

// Exceptions says what happens to an exception that leaves a frame's call.
type Exceptions struct {
	Personality string      // name of the personality routine; "" if it has none
	Table       target.Addr // address of the function's language-specific data, or 0
	Known       bool        // the tables say what happens; the fields below are valid
	Ends        bool        // no call site covers the call: the exception ends the program
	Pad         target.Addr // where it lands, or 0: it passes
	Position    symbols.Position
	Actions     []string // what the landing pad does: "catch std::exception", "catch ...", "cleanup"
}

// ExceptionsOf returns what the unwind tables say of exceptions that leave the frame's call. The result
// is nil if they say nothing.
func (s *Session) ExceptionsOf(f *Frame) (*Exceptions, error) {
	return ask(s, func() (*Exceptions, error) { return s.exceptionsOf(f) })
}

func (s *Session) exceptionsOf(f *Frame) (*Exceptions, error) {
	if f.Module == nil || f.Module.unwind == nil || f.Machine == nil {
		return nil, nil
	}
	pc := uint64(f.PC)
	if f.Machine.PCIsReturnAddress {
		pc--
	}
	bias := f.Module.Bias
	a := f.Machine.Regs.Arch
	x, err := f.Module.unwind.ExceptionsAt(a, pc-bias)
	if err != nil || x.Personality == 0 && x.Sites == nil {
		return nil, err
	}
	out := &Exceptions{}
	if x.Personality != 0 {
		out.Personality = s.typeInfoName(lsda.Type{Addr: x.Personality, Indirect: x.Indirect}, bias)
	}
	if x.Sites == nil || lsda.IsSJLJ(out.Personality) {
		return out, nil
	}
	out.Table = target.Addr(x.Sites.Addr + bias)
	site, ok := x.Sites.At(pc - bias)
	switch {
	case !ok && !f.Machine.PCIsReturnAddress:
		return out, nil // the instruction is no call that throws
	case !ok:
		out.Known, out.Ends = true, true
		return out, nil
	}
	if out.Known = true; site.Pad != 0 {
		out.Pad = target.Addr(site.Pad + bias)
		if lr, _, ok := s.position(out.Pad); ok {
			out.Position = lr.Position
		}
		for i := range site.Actions {
			out.Actions = append(out.Actions, s.actionText(&site.Actions[i], bias))
		}
	}
	return out, nil
}

// actionText returns an action of a landing pad in words.
func (s *Session) actionText(a *lsda.Action, bias uint64) string {
	var types []string
	for _, t := range a.Types {
		types = append(types, s.typeInfoName(t, bias))
	}
	switch a.Kind {
	case lsda.Catch:
		return "catch " + types[0]
	case lsda.CatchAll:
		return "catch ..."
	case lsda.Only:
		return "only throw(" + strings.Join(types, ", ") + ")"
	}
	return "cleanup"
}

// typeInfoName returns the name of a type from the symbol for its information, or that of a routine.
func (s *Session) typeInfoName(t lsda.Type, bias uint64) string {
	at := target.Addr(t.Addr + bias)
	if t.Indirect {
		v, ok := s.pointerAt(at)
		if !ok {
			return "the type whose address is at " + at.String()
		}
		at = v
	}
	name, off, ok := s.symbolize(at)
	if !ok || off != 0 {
		return "the type at " + at.String()
	}
	return strings.TrimPrefix(name, "typeinfo for ")
}

// pointerAt reads a pointer of the process.
func (s *Session) pointerAt(at target.Addr) (target.Addr, bool) {
	if s.tgt == nil {
		return 0, false
	}
	a := s.tgt.Arch()
	var buf [8]byte
	b := buf[:a.PtrSize]
	if n, err := s.readMemory(at, b); err != nil || n < len(b) {
		return 0, false
	}
	if len(b) == 4 {
		return target.Addr(a.ByteOrder.Uint32(b)), true
	}
	return target.Addr(a.ByteOrder.Uint64(b)), true
}
