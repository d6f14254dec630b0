package session_test

import (
	"dbg/image"
	"dbg/session"
	"dbg/symbols"
)

// A difference at the border of an inlined call is explained by a model of gdb's step. The program
// is stepped by instructions from the place where both debuggers were, and the model decides at
// each instruction from the line table and from the inlined calls, by gdb's rules or by gdb's rules
// without one of them. If the first ends where gdb has ended, and the second does not, that rule is
// the cause of the difference.

// stepFrame is a frame of the model: the machine frame and the inlined call in it.
type stepFrame struct {
	cfa   uint64
	depth int // the number of functions from the outermost one to this one
	fn    *symbols.Function
}

func (f *stepFrame) is(g *stepFrame) bool {
	return f.cfa == g.cfa && f.depth == g.depth && f.fn.Is(g.fn)
}

// stepModel makes gdb's decisions for one command.
type stepModel struct {
	sym  *symbols.Module
	into bool // the command is step

	// A call begins where its code begins, for gdb: at the start of each of its ranges. With
	// once, a call begins only once.
	once    bool
	entered []*symbols.Function

	// The range of the step is one in all frames, for gdb. With framed, it is in one frame.
	framed bool

	// Code of line 0 belongs to the row before it, for gdb. With zero, it belongs to no line.
	zero bool

	// ownHi is the end of the first range in the line table. gdb may take a later one.
	ownHi image.Addr

	frame  stepFrame
	file   string
	line   int
	lo, hi image.Addr
}

// gdbRow is the row of an address in gdb's line table, which has no rows of line 0.
func gdbRow(sym *symbols.Module, a image.Addr) (symbols.LineRange, bool) {
	row, ok := sym.LineAt(a)
	for ok && row.Line == 0 {
		hi := row.Hi
		row, ok = sym.LineAt(row.Lo - 1)
		row.Hi = hi
	}
	for ok {
		next, more := sym.LineAt(row.Hi)
		if !more || next.Line != 0 || next.Hi <= row.Hi {
			break
		}
		row.Hi = next.Hi
	}
	return row, ok
}

func hasFunction(list []*symbols.Function, fn *symbols.Function) bool {
	for _, f := range list {
		if f.Is(fn) {
			return true
		}
	}
	return false
}

// starting returns how many inlined calls begin at an address.
func (m *stepModel) starting(a image.Addr, calls []symbols.Call) (n int) {
	var before []*symbols.Function
	for _, k := range m.sym.CallsAt(a - 1) {
		before = append(before, k.Function)
	}
	for n < len(calls)-1 {
		fn := calls[n].Function
		inside := hasFunction(before, fn)
		if begins := fn.Lo == a || !inside; !begins {
			break
		}
		if m.once && hasFunction(m.entered, fn) && (inside || fn.Lo != a) {
			break
		}
		n++
	}
	return n
}

// newStepModel returns the model of a command at an address, where the innermost hidden calls are
// not shown. ok is false if it is none of a step over lines.
// gdbHi is the end of gdb's range at that address.
func newStepModel(sym *symbols.Module, word string, a, gdbHi image.Addr, cfa uint64, hidden int) (m *stepModel, ok bool) {
	m = &stepModel{sym: sym, into: word == "step"}
	calls := sym.CallsAt(a)
	row, known := gdbRow(sym, a)
	if hidden >= len(calls) || !known || m.into && hidden > 0 {
		return nil, false
	}
	for _, k := range calls[hidden:] {
		m.entered = append(m.entered, k.Function)
	}
	m.file, m.line, m.lo, m.hi = row.File, row.Line, row.Lo, row.Hi
	if hidden > 0 {
		m.file, m.line = calls[hidden].Position.File, calls[hidden].Position.Line
	}
	switch word {
	case "finish":
		if !calls[hidden].Inlined {
			return nil, false
		}
		hidden++
		m.file, m.line, m.lo, m.hi = "", 0, 0, 0
	case "until":
		if fn := sym.FunctionAt(a); fn != nil {
			m.lo = fn.Lo
		}
		for {
			next, more := gdbRow(sym, m.hi)
			if !more || next.Lo != m.hi || next.IsStmt || next.Line != row.Line || next.File != row.File {
				break
			}
			m.hi = next.Hi
		}
	}
	m.ownHi = m.hi
	if m.hi != 0 {
		m.hi = max(m.hi, gdbHi)
	}
	m.frame = stepFrame{cfa, len(calls) - hidden, calls[hidden].Function}
	return m, true
}

// at decides at an address: whether the command ends there, and in which function.
func (m *stepModel) at(a image.Addr, cfa uint64) (ends bool, fn *symbols.Function) {
	calls := m.sym.CallsAt(a)
	row, ok := gdbRow(m.sym, a)
	if len(calls) == 0 || !ok {
		return true, nil
	}
	n := m.starting(a, calls)
	defer func() {
		for _, k := range calls[n:] {
			if !hasFunction(m.entered, k.Function) {
				m.entered = append(m.entered, k.Function)
			}
		}
	}()
	if (cfa == m.frame.cfa || !m.framed) && m.lo <= a && a < m.hi {
		return false, nil
	}
	if own, ok := m.sym.LineAt(a); ok && own.Line == 0 && m.zero {
		m.lo, m.hi = own.Lo, own.Hi
		return false, nil
	}
	now := stepFrame{cfa, len(calls) - n, calls[n].Function}
	same := now.is(&m.frame)
	if same && n > 0 {
		call := calls[n].Position
		equal := call.Line == m.line && call.File == m.file
		switch {
		case equal && !m.into:
			return false, nil
		case equal:
			n--
		}
		return true, calls[n].Function
	}
	if outer := len(calls) - m.frame.depth; !same && cfa == m.frame.cfa && outer > n && calls[outer].Function.Is(m.frame.fn) {
		return m.into, now.fn
	}
	refresh := true
	if row.Lo == a && (row.Line != m.line || row.File != m.file) {
		if row.IsStmt {
			return true, now.fn
		}
		refresh = !same
	}
	if m.lo, m.hi = row.Lo, row.Hi; refresh {
		m.frame, m.file, m.line = now, row.File, row.Line
	}
	return false, nil
}

// mostModelSteps bounds the instructions of one command in the model.
const mostModelSteps = 5000

// modelRules are the rules of gdb that dbg does not have, by the reason that docs/gdb.md gives.
var modelRules = []struct {
	reason string
	leave  func(m *stepModel)
}{
	{"an inlined call begins again for gdb, at a further part of its code", func(m *stepModel) { m.once = true }},
	{"gdb takes code of line 0 for the line before it", func(m *stepModel) { m.zero = true }},
	{"gdb's range of a line goes on over rows of other files", func(m *stepModel) { m.hi = m.ownHi }},
	{"gdb's until goes on in the caller, which is the same function", func(m *stepModel) { m.framed = true }},
}

// modelReason returns the reason for which gdb's step of number i has ended where it did, or "".
// hidden is the number of calls that were not shown where the step began.
func (w *walker) modelReason(i, hidden int) string {
	w.t.Helper()
	want := &w.places[i]
	if want.Ended || !w.replay(i-1, nil) {
		return ""
	}
	var gdb *stepModel
	without := make([]*stepModel, len(modelRules)) // nil if it has ended
	for range mostModelSteps {
		f, err := w.s.Frame(w.thread, 0)
		if err != nil || f.Module == nil || f.Module.Symbols == nil {
			return ""
		}
		a, cfa := image.Addr(uint64(f.PC)-f.Module.Bias), uint64(f.Machine.CFA)
		if gdb == nil {
			word, ok := w.way.Commands[i-1], false
			gdbHi := image.Addr(w.places[i-1].RangeEnd - f.Module.Bias)
			if w.places[i-1].RangeEnd == 0 {
				gdbHi = 0
			}
			if gdb, ok = newStepModel(f.Module.Symbols, word, a, gdbHi, cfa, hidden); !ok {
				return ""
			}
			for j := range modelRules {
				without[j], _ = newStepModel(f.Module.Symbols, word, a, gdbHi, cfa, hidden)
				modelRules[j].leave(without[j])
			}
		} else {
			ends, fn := gdb.at(a, cfa)
			reason := ""
			for j, m := range without {
				if m == nil {
					reason = modelRules[j].reason
				} else if other, otherFn := m.at(a, cfa); other != ends || !otherFn.Is(fn) {
					reason = modelRules[j].reason
					without[j] = nil
				}
			}
			if ends {
				if fn == nil || uint64(f.PC) != want.PC || lastName(fn.Name) != lastName(want.Func) {
					return ""
				}
				return reason
			}
		}
		if err := w.s.Step(session.NextInstruction, 1); err != nil {
			return ""
		}
		if w.arrive(); w.ended {
			return ""
		}
	}
	return ""
}

// hiddenAt returns the number of inlined calls at a frame's PC that are not shown.
func hiddenAt(f *session.Frame) int {
	if f.Module == nil || f.Module.Symbols == nil {
		return 0
	}
	for i, k := range f.Module.Symbols.CallsAt(image.Addr(uint64(f.PC) - f.Module.Bias)) {
		if k.Function.Is(f.Function) {
			return i
		}
	}
	return 0
}

// afterPrologue reports whether a frame is at the end of a function's prologue.
func afterPrologue(f *session.Frame) bool {
	if f.Module == nil || f.Module.Symbols == nil {
		return false
	}
	a := image.Addr(uint64(f.PC) - f.Module.Bias)
	fn := f.Module.Symbols.FunctionAt(a)
	return fn != nil && !fn.FromSymbolTable && f.Module.Symbols.AfterPrologue(fn).Addr == a
}
