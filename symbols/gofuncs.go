package symbols

import (
	"strings"

	"dbg/image"
	"dbg/image/gopclntab"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// A program of Go that was stripped has neither symbols nor debug information. The table by which its own runtime prints backtraces is still
// there: it has all functions, lines and inlined calls, and no variables.

// goTable returns that table; nil if the file has none.
func (m *Module) goTable() *gopclntab.Table {
	if !m.goTried {
		m.goTried = true
		m.goFuncs, _ = gopclntab.Open(m.file)
	}
	return m.goFuncs
}

// goFunctionWith returns the function of the table that has an address.
func (m *Module) goFunctionWith(a image.Addr) (gopclntab.Func, bool) {
	t := m.goTable()
	if t == nil {
		return gopclntab.Func{}, false
	}
	return t.Find(uint64(a))
}

func goFunction(f *gopclntab.Func) *Function {
	lo, hi := image.Addr(f.Lo), image.Addr(f.Hi)
	return &Function{Name: f.Name, Linkage: f.Name, Lo: lo, Hi: hi, Ranges: []Range{{lo, hi}}, Lang: lang.Go, FromSymbolTable: true}
}

func goPosition(p *gopclntab.Position) Position { return Position{File: p.File, Line: p.Line} }

// goCallsAt is CallsAt by the table.
func (m *Module) goCallsAt(a image.Addr) []Call {
	f, ok := m.goFunctionWith(a)
	if !ok {
		return nil
	}
	var out []Call
	for _, c := range f.Calls(uint64(a)) {
		fn := goFunction(&f)
		if c.Inlined {
			fn.Name, fn.Linkage = c.Name, c.Name
		}
		out = append(out, Call{Function: fn, Position: goPosition(&c.Position), Inlined: c.Inlined})
	}
	return out
}

// goLineAt is LineAt by the table.
func (m *Module) goLineAt(a image.Addr) (LineRange, bool) {
	f, ok := m.goFunctionWith(a)
	if !ok {
		return LineRange{}, false
	}
	p := f.Line(uint64(a))
	return LineRange{Position: goPosition(&p), Lo: image.Addr(p.Lo), Hi: image.Addr(p.Hi), IsStmt: true}, p.Line != 0
}

// goFunctionsNamed calls add for the functions of the table with a name: the whole one, or, where none has that, what follows the
// package's name.
func (m *Module) goFunctionsNamed(q spelling.Query, add func(*Function)) {
	t := m.goTable()
	if t == nil || q.Params != "" {
		return
	}
	var partly []*Function
	found := false
	for i := range t.Len() {
		f, ok := t.Func(i)
		switch {
		case !ok:
		case f.Name == q.Text:
			found = true
			add(goFunction(&f))
		case q.Plain && strings.HasSuffix(f.Name, "."+q.Text):
			partly = append(partly, goFunction(&f))
		}
	}
	for _, f := range partly {
		if !found {
			add(f)
		}
	}
}

// pastGo reports whether an address is after the end of the symbol before it, in a program whose functions are not all in its symbol table: those of
// the C library that it imports are.
func (m *Module) pastGo(s *image.Symbol, a image.Addr) bool {
	if uint64(a-s.Addr) < s.Size {
		return false
	}
	_, ok := m.goFunctionWith(a)
	return ok
}
