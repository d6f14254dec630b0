package session

import (
	"errors"
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/eval"
	"dbg/expr"
	"dbg/symbols"
	"dbg/symbols/types"
	"dbg/target"
)

// placeWords describes a location in words.
func placeWords(code []byte, a *arch.Arch) string {
	text := expr.Dump(code, a)
	register, simple := strings.CutPrefix(text, "reg")
	switch {
	case len(code) == 0:
		return "nowhere"
	case simple && !strings.ContainsAny(text, ";+"):
		if _, name, ok := strings.Cut(register, "("); ok {
			return "in register " + strings.TrimSuffix(name, ")")
		}
		return "in " + text
	case strings.Contains(text, "piece"):
		return "in pieces (" + text + ")"
	case strings.Contains(text, "implicit_pointer"):
		return "a pointer that the compiler has removed (" + text + ")"
	case strings.HasSuffix(text, "stack_value"):
		return "computed (" + text + ")"
	case strings.HasPrefix(text, "implicit_value"):
		return "a constant"
	}
	return "in memory (" + text + ")"
}

// placeOf returns "0x1139 (main+4, a.c:5)".
func (e *env) placeOf(a target.Addr, p symbols.Position) string {
	where := a.String()
	var inside []string
	if name, off, ok := e.s.symbolize(a); ok {
		inside = append(inside, strings.Trim(symbolText(name, off), "<>"))
	}
	if p.Line > 0 {
		inside = append(inside, fmt.Sprintf("%s:%d", baseOf(p.File), p.Line))
	}
	if len(inside) == 0 {
		return where
	}
	return where + " (" + strings.Join(inside, ", ") + ")"
}

func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// say adds a sentence to the reasons.
func (w *VariableWhy) say(format string, args ...any) {
	w.Reasons = append(w.Reasons, fmt.Sprintf(format, args...))
}

// whyNowhere explains a location list without an entry for the PC.
func (e *env) whyNowhere(w *VariableWhy, entries int) {
	what := "The only entry of its location list does"
	if entries > 1 {
		what = fmt.Sprintf("The %d entries of its location list do", entries)
	}
	if entries == 0 {
		what = "Its location list is empty, so it does"
	}
	w.say("%s not cover the PC %s.", what, e.placeOf(w.PC, e.at().Position))
	e.whyNear(w)
}

// whyNear tells the nearest PCs at which the variable is known.
func (e *env) whyNear(w *VariableWhy) {
	if b := w.Before; b != nil {
		w.say("The nearest entry before ends at %s: up to there it is %s.", e.placeOf(b.Hi, b.Until), b.Location)
	}
	if a := w.After; a != nil {
		w.say("It is known from %s on: %s.", e.placeOf(a.Lo, a.From), a.Location)
	}
	if w.Before == nil && w.After == nil && w.Place == nil && !w.always {
		w.say("It is known at no PC of this function.")
	}
}

// whyPlace explains the location that applies.
func (e *env) whyPlace(w *VariableWhy, at *symbols.Place, v Value, fc *eval.FrameContext, tries []entryTry) {
	words := placeWords(at.Expr, e.Arch())
	switch p := w.Place; {
	case p == nil && w.list:
		w.say("No entry of its location list covers this PC, so the default location applies: it is %s.", words)
	case p != nil:
		w.say("From %s up to %s it is %s.", e.placeOf(p.Lo, p.From), p.Hi, words)
	default:
		w.say("In the whole scope it is %s.", words)
	}
	for _, t := range tries {
		if t.err != nil {
			w.Reasons = append(w.Reasons, e.whyEntry(t)...)
		}
	}
	switch v.Avail {
	case eval.NotSaved:
		e.whyLost(w, at, fc)
	case eval.Synthetic:
		w.Reasons = append(w.Reasons, e.whySynthetic(w.Name, v)...)
	case eval.Unreadable:
		w.Reasons = append(w.Reasons, e.whyError(v.Err)...)
	case eval.Available:
		if v.HasAddr {
			w.say("That is the memory at %s.", v.Addr)
		}
	case eval.Partial:
		w.say("Some of its pieces have no value here.")
		if _, lost := e.lostIn(at, fc); lost {
			e.whyLost(w, at, fc)
		}
	case eval.OptimizedOut:
		if len(tries) == 0 {
			w.say("That location gives no value here.")
		}
		e.whyNear(w)
	}
}

// whyEntry explains a value at the entry of the function that the caller does not tell.
func (e *env) whyEntry(t entryTry) []string {
	name := fmt.Sprintf("register %d", t.p.Reg)
	if r := e.Arch().RegName(arch.Reg(t.p.Reg)); r != "" && t.p.Reg < arch.MaxRegs {
		name = "register " + r
	}
	if t.p.OnStack {
		name = "an argument on the stack"
	}
	f := e.at()
	out := []string{fmt.Sprintf("This needs what %s held when %s was entered, which only the caller can tell.",
		name, f.FunctionName)}
	caller := e.s.callerOf(f, e.thread)
	switch {
	case caller == nil || caller.Function == nil || caller.Module == nil || caller.Module.Symbols == nil:
		return append(out, "The caller has no debug information, or there is no caller.")
	case errors.Is(t.err, errEnteredAgain):
		return append(out, fmt.Sprintf("%s may have been entered again by a tail call since, so the call in %s does not tell it.",
			f.FunctionName, caller.FunctionName))
	}
	site := caller.Module.Symbols.CallSiteAt(caller.Module.fileAddr(caller.PC))
	where := "The call in " + caller.FunctionName + ", which returns to " + e.placeOf(caller.PC, caller.Position) + ","
	if site == nil {
		return append(out, where+" has no entry in the debug information.")
	}
	if _, ok := site.Parameter(t.p); !ok {
		return append(out, where+" has an entry in the debug information, but it does not describe "+name+".")
	}
	return append(out, where+" describes "+name+", but that can't be evaluated: "+t.err.Error()+".")
}

// whyLost tells which register is lost, in which frame and to which function.
func (e *env) whyLost(w *VariableWhy, at *symbols.Place, fc *eval.FrameContext) {
	r, ok := e.lostIn(at, fc)
	if !ok {
		w.say("A register that it needs is not known in this frame.")
		return
	}
	w.Register = e.Arch().RegName(r)
	f := e.at()
	callee, caller := e.lostRegister(r, f)
	if callee == nil || caller == nil {
		w.say("Register %s is not known in frame %d.", w.Register, f.Level)
		return
	}
	w.LostIn = callee.FunctionName
	w.Reasons = append(w.Reasons, lostSentence(w.Register, callee, caller))
	e.whyNear(w)
}

// whyRegister tells in which frame a register of the user's expression is lost.
func (e *env) whyRegister(name string) []string {
	f := e.at()
	if f == nil {
		return nil
	}
	for r := range arch.Reg(arch.MaxRegs) {
		if e.Arch().RegName(r) != name {
			continue
		}
		if callee, caller := e.lostRegister(r, f); callee != nil && caller != nil {
			return []string{lostSentence(name, callee, caller)}
		}
	}
	return nil
}

// lostSentence tells that a register of a caller is not known, because of the function that it called.
func lostSentence(register string, callee, caller *Frame) string {
	return fmt.Sprintf("Register %s is lost: frame %d (%s) called %s, which is free to change it, "+
		"and no rule of an unwind table tells where its old value is.", register, caller.Level, caller.FunctionName, callee.FunctionName)
}

// lostIn returns the first register of a location that is not known.
func (e *env) lostIn(at *symbols.Place, fc *eval.FrameContext) (arch.Reg, bool) {
	for r := range arch.Reg(arch.MaxRegs) {
		name := e.Arch().RegName(r)
		if name == "" || fc.Regs == nil {
			continue
		}
		if _, known := fc.Regs.Get(r); !known && mentionsRegister(expr.Dump(at.Expr, e.Arch()), name) {
			return r, true
		}
	}
	return 0, false
}

// mentionsRegister reports whether the text of a location names a register, outside of entry values.
func mentionsRegister(text, name string) bool {
	for {
		i := strings.Index(text, "entry_value")
		if i < 0 {
			return strings.Contains(text, "("+name+")")
		}
		if strings.Contains(text[:i], "("+name+")") {
			return true
		}
		end := strings.IndexByte(text[i:], ';')
		if end < 0 {
			return false
		}
		text = text[i+end:]
	}
}

// whySynthetic tells what a pointer without a value points to.
func (e *env) whySynthetic(name string, v Value) []string {
	out := []string{"The pointer itself has no value: the compiler has removed it. Its target may still be known."}
	to, err := eval.Evaluate("*"+name, e)
	if err != nil || !eval.IsKnown(to) {
		return append(out, "The target is not known here either.")
	}
	return append(out, fmt.Sprintf("*%s is %s.", name, eval.Format(to, e, eval.DefaultOptions())))
}

// whyError explains an error.
func (e *env) whyError(err error) []string {
	var access *eval.AccessError
	if !errors.As(err, &access) {
		return []string{sentence(err.Error())}
	}
	text := fmt.Sprintf("The memory at %s can't be read", access.Addr)
	switch {
	case e.s.State() == IsCore:
		text += ": it is neither in the core file nor in a file that the program had mapped"
	case access.Addr < 4096:
		text += ": the first page of the address space is never mapped, so a pointer is null or nearly so"
	}
	return []string{text + "."}
}

// whyStored tells where a value is that is not a variable of the frame.
func (e *env) whyStored(v Value) []string {
	switch {
	case v.Avail == eval.Unreadable:
		return e.whyError(v.Err)
	case v.Avail == eval.OptimizedOut && v.Err != nil:
		return []string{sentence(v.Err.Error())}
	case v.Avail == eval.OptimizedOut && e.variableNamed(v.Name) == nil:
		return []string{"The debug information has no location for it: the compiler has removed it."}
	case v.Type != nil && v.Type.Strip().Kind == types.Void:
		return nil
	case v.HasAddr:
		text := "It is in memory at " + v.Addr.String()
		if name, off, ok := e.s.symbolize(v.Addr); ok {
			text += " " + symbolText(name, off)
		}
		return []string{text + "."}
	case v.InReg:
		return []string{"It is in register " + e.Arch().RegName(v.Reg) + " of this frame."}
	}
	return nil
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
