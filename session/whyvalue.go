package session

import (
	"errors"
	"regexp"
	"strings"

	"dbg/arch"
	"dbg/eval"
	"dbg/expr"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// ValueWhy tells where the value of an expression comes from, or why there is none.
type ValueWhy struct {
	Expression string
	Value      string // as print shows it, or the error
	Known      bool   // all of the value is known
	// Reasons are sentences about the value itself, such as memory that can't be read.
	Reasons   []string
	Variables []VariableWhy // the variables that the expression names
}

// VariableWhy tells where a variable is at the PC of a frame, or why it is nowhere.
type VariableWhy struct {
	Name, Value string
	State       string // "known", "optimized out", "not saved", "unreadable", "synthetic pointer" or "partial"
	Reasons     []string
	PC          target.Addr // whose location is looked up: inside the call, for a frame that has made one
	// Place is the entry of the location list that applies, if the variable has a list and an entry
	// applies. Before and After are the nearest entries with a location, before and after the PC.
	Place, Before, After *PlaceWhy
	// Register is the register that is lost, and LostIn the function that was called and may have
	// changed it; "" if none is.
	Register, LostIn string

	always, list bool // a location holds for all PCs; it is the default of a list
}

// PlaceWhy is an entry of a location list.
type PlaceWhy struct {
	Lo, Hi      target.Addr // the PCs
	From, Until symbols.Position
	Location    string // the location in words
}

// identifier matches the names in an expression that may be variables.
var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// maxWhyVariables bounds the variables of one expression that are explained.
const maxWhyVariables = 16

// WhyValue explains the value of an expression in a frame: "info why".
func (s *Session) WhyValue(t target.ThreadID, level int, text string) (ValueWhy, error) {
	return ask(s, func() (ValueWhy, error) {
		e := s.env(t, level)
		if err := eval.Check(text); err != nil {
			return ValueWhy{}, err
		}
		w := ValueWhy{Expression: text}
		seen := map[string]bool{}
		for _, name := range identifier.FindAllString(text, -1) {
			if seen[name] || len(w.Variables) >= maxWhyVariables {
				continue
			}
			seen[name] = true
			if v := e.variableNamed(name); v != nil {
				w.Variables = append(w.Variables, e.whyVariable(v))
			}
		}
		v, err := eval.EvaluatePure(text, e)
		if err == nil {
			v = eval.Fetch(v, e)
		}
		var missing *eval.NotFoundError
		switch {
		case errors.As(err, &missing):
			return ValueWhy{}, e.suggest(err)
		case err != nil:
			w.Value = err.Error()
			w.Reasons = e.whyError(err)
		default:
			w.Value, w.Known = eval.Format(v, e, eval.DefaultOptions()), v.Avail == eval.Available
			if name, ok := strings.CutPrefix(text, "$"); ok && v.Avail == eval.NotSaved {
				w.Reasons = e.whyRegister(name)
			}
			if len(w.Variables) != 1 || w.Variables[0].Name != text {
				w.Reasons = append(w.Reasons, e.whyStored(v)...)
			}
		}
		return w, nil
	})
}

// WhyMissing tells in a few sentences why variables of a frame have no value. It has no entry for a name
// that is no variable of the frame, or that has a value. Front ends show it as a tooltip.
func (s *Session) WhyMissing(t target.ThreadID, level int, names []string) map[string]string {
	out, _ := ask(s, func() (map[string]string, error) {
		e, out := s.env(t, level), map[string]string{}
		for _, name := range names {
			if len(out) >= maxWhyMissing || s.ctx.Err() != nil {
				break
			}
			if v := e.variableNamed(name); v != nil {
				if w := e.whyVariable(v); w.State != "known" {
					out[name] = strings.Join(w.Reasons, " ")
				}
			}
		}
		return out, nil
	})
	return out
}

// maxWhyMissing bounds the variables of one answer that are explained.
const maxWhyMissing = 200

// variableNamed finds a variable of the frame, as an expression does.
func (e *env) variableNamed(name string) *symbols.Variable {
	vars := e.variables()
	for i := len(vars) - 1; i >= 0; i-- {
		if vars[i].Name == name {
			return vars[i]
		}
	}
	return nil
}

// entryTry is a question for the value that a register had when a function was entered.
type entryTry struct {
	p   expr.EntryParameter
	err error
}

// whyVariable explains a variable of the frame.
func (e *env) whyVariable(v *symbols.Variable) VariableWhy {
	f := e.at()
	fc := e.s.frameContext(f, e.thread, 0)
	if f.Machine.Index > 0 && f.Machine.PCIsReturnAddress && !f.TailCall && v.SurvivesCall(f.lookup) {
		e.s.addSurvivors(fc, f, e.thread)
	}
	var tries []entryTry
	if ask := fc.EntryValue; ask != nil {
		fc.EntryValue = func(p expr.EntryParameter) (uint64, error) {
			u, err := ask(p)
			tries = append(tries, entryTry{p, err})
			return u, err
		}
	}
	value := eval.Fetch(eval.ReadVariable(v, fc), e)
	w := VariableWhy{Name: v.Name, State: stateOf(value), PC: e.processAddr(f.lookup)}
	w.Value = eval.Format(value, e, eval.DefaultOptions())
	places, err := v.Places()
	if err != nil {
		w.say("The location list can't be read: %v.", err)
	}
	at := e.findPlaces(&w, places.List, f)
	w.always, w.list = at != nil && at.Always, len(places.List) > 1
	switch {
	case places.None:
		w.say("The debug information has no location for it: the compiler has removed it, or keeps it nowhere as a whole.")
	case places.Const:
		w.say("It has this value in the whole scope: the debug information has it as a constant.")
	case at == nil && err == nil:
		e.whyNowhere(&w, len(places.List))
	case at != nil && len(at.Expr) == 0:
		w.say("The location list has an empty location for this PC: the compiler knows that there is no value.")
		e.whyNear(&w)
	case at != nil:
		e.whyPlace(&w, at, value, fc, tries)
	}
	return w
}

// stateOf names the availability of a value.
func stateOf(v Value) string {
	switch v.Avail {
	case eval.OptimizedOut:
		return "optimized out"
	case eval.NotSaved:
		return "not saved"
	case eval.Unreadable:
		return "unreadable"
	case eval.Synthetic:
		return "synthetic pointer"
	case eval.Partial:
		return "partial"
	}
	return "known"
}

// processAddr converts an address of the frame's file.
func (e *env) processAddr(a image.Addr) target.Addr {
	if f := e.at(); f != nil && f.Module != nil {
		return f.Module.processAddr(a)
	}
	return target.Addr(a)
}

// findPlaces finds the entry of a location list for the frame's PC, and its neighbours that have a
// location.
func (e *env) findPlaces(w *VariableWhy, list []symbols.Place, f *Frame) (at *symbols.Place) {
	var before, after, fallback *symbols.Place
	for i := range list {
		p := &list[i]
		switch {
		case p.Always:
			fallback = p
		case p.Lo <= f.lookup && f.lookup < p.Hi:
			if at == nil {
				at = p
			}
		case len(p.Expr) == 0:
		case p.Hi <= f.lookup:
			if before == nil || p.Hi >= before.Hi {
				before = p
			}
		case after == nil:
			after = p
		}
	}
	if at == nil {
		at = fallback
	} else {
		w.Place = e.describePlace(at)
	}
	w.Before, w.After = e.describePlace(before), e.describePlace(after)
	return at
}

func (e *env) describePlace(p *symbols.Place) *PlaceWhy {
	if p == nil || p.Always {
		return nil
	}
	out := &PlaceWhy{Lo: e.processAddr(p.Lo), Hi: e.processAddr(p.Hi), Location: placeWords(p.Expr, e.Arch())}
	if m := e.at().Module; m != nil && m.Symbols != nil {
		if lr, ok := m.Symbols.LineAt(p.Lo); ok {
			out.From = lr.Position
		}
		if lr, ok := m.Symbols.LineAt(p.Hi - 1); ok {
			out.Until = lr.Position
		}
	}
	return out
}

// lostRegister finds the machine frame, on the way from the innermost one to f, after which a register
// is not known: the function of that frame was called by the next one.
func (e *env) lostRegister(r arch.Reg, f *Frame) (callee, caller *Frame) {
	var last *Frame
	const most = 10_000 // levels
	for level := 0; level <= f.Level && level < most; level++ {
		g, err := e.s.frame(e.thread, level)
		if err != nil {
			return nil, nil
		}
		if _, known := g.Machine.Regs.Get(r); !known {
			return last, &g
		}
		last = &g
	}
	return nil, nil
}
