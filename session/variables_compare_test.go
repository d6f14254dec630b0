package session_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// place is where values are compared.
type place struct {
	level    int
	outer    bool // an outer frame, of which not all registers are known
	atEntry  bool // at a function's first instruction
	inlined  bool
	gcc      bool // has compiled the program
	function string
	// tail says that the frame is one of a tail call, or was entered by one.
	tail bool
	// viaRegister says that the frame was called through a register that the callee may change.
	viaRegister bool
	number      func(expr string) (uint64, bool) // evaluates in the frame
}

func newPlace(t *testing.T, s *session.Session, frames []session.Frame, i int) *place {
	thread, _ := s.Selected()
	f := &frames[i]
	p := &place{level: i, outer: f.Machine.Index > 0 || f.TailCall, atEntry: i == 0 && f.Offset == 0 && !f.Inlined, inlined: f.Inlined}
	p.tail = f.TailCall || i+1 < len(frames) && frames[i+1].TailCall
	p.number = func(expr string) (uint64, bool) {
		v, err := s.Evaluate(thread, i, expr)
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseUint(s.FormatIn(thread, i, v, eval.Options{Format: 'u'}), 10, 64)
		return n, err == nil
	}
	for _, caller := range frames[i:] {
		if caller.Machine.Index != f.Machine.Index+1 {
			continue
		}
		// CALL r64 is FF /2; RBX, RSP and RBP are kept by the callee, and so are R12 to R15.
		var b [3]byte
		if _, err := s.ReadMemory(caller.PC-3, b[:]); err == nil && b[1] == 0xff && b[2]&^7 == 0xd0 {
			low := b[2]&7 < 4
			p.viaRegister = low && b[2]&7 != 3 && b[0] != 0x41 || low && b[0] == 0x41 || b[2]&7 > 5 && b[0] != 0x41
		}
		break
	}
	return p
}

// excuse says why a variable of that place may differ; "" if it does not, or if only the values can tell.
func (p *place) excuse(name, got, want string) string {
	switch {
	case got == want:
		return ""
	case p.outer && lostRegister(got, want):
		return "gdb shows what a register has now that the callee may have changed"
	case name == "this" && want == "0x0" && strings.HasPrefix(got, "0x"):
		// No object is at 0.
		return "gdb takes DW_OP_fbreg in the value that a caller passed for the wrong function's"
	case name == "maps" && p.function == "_dl_fini" && got == "<optimized out>":
		return "an array whose length is lost: gdb shows where it begins"
	case p.tail && p.function == "D::~D" && want == "<optimized out>" &&
		(name == "__in_chrg" && got == "2" || name == "__vtt_parm" && got == "0x0" || name == "this" && strings.HasPrefix(got, "0x7fff")):
		// The complete object's destructor jumps to the one that all share with just these.
		return "gdb does not find what a tail call passes"
	case name == "__al" && p.function == "std::__new_allocator<int>::allocate" && got == "<no such variable>" && want == "<optimized out>":
		return "gdb lists what is declared in a block that has no code"
	case want == `""` && strings.HasPrefix(got, `"`) && p.cutLength(name):
		return "gdb takes 32 bits of a string's length"
	case name == "restart" && p.function == "__run_exit_handlers":
		return "a label, which gdb takes for a variable"
	case p.atEntry && p.gcc && known(got) && known(want):
		// DWARF 5 (section 2.6.2) excludes it: what the variable has before that instruction's later views.
		return "gdb takes a range of no length for valid at a function's first instruction"
	}
	return ""
}

// cutLength reports whether a &str is longer than an int of gdb's can say, and is none in its low 32 bits.
func (p *place) cutLength(name string) bool {
	n, ok := p.number(name + ".length")
	return ok && n > 1<<31-1 && int32(n) <= 0
}

func compareLists(t *testing.T, s *session.Session, context *place, kind session.ScopeKind, want []gdbpeer.Variable, where string, sum *tally) {
	level := context.level
	thread, _ := s.Selected()
	values, err := s.Variables(thread, level, kind)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, v := range slices.Backward(values) {
		got[v.Name] = append(got[v.Name], s.FormatIn(thread, level, v, variablesFormat()))
	}
	seen := map[string]bool{}
	for _, w := range want {
		g := "<no such variable>"
		if list := got[w.Name]; len(list) > 0 {
			// Of several of one name in blocks of one another the order is not what is compared.
			at := max(slices.Index(list, w.Value), 0)
			g = list[at]
			got[w.Name] = slices.Delete(list, at, at+1)
		}
		sum.values++
		why := context.compare(w.Name, g, w.Value)
		if why == unexplained && g == "<no such variable>" && w.Value == "<optimized out>" && seen[w.Name] {
			why = "gdb lists it twice"
		}
		judge(t, where+", "+w.Name, g, w.Value, why, sum)
		seen[w.Name] = true
	}
	for name, list := range got {
		for _, g := range list {
			sum.values++
			judge(t, where+", "+name, g, "<no such variable>", unexplained, sum)
		}
	}
}

func variablesFormat() eval.Options {
	opt := eval.DefaultOptions()
	opt.Inner, opt.Raw = true, true
	return opt
}

// judge counts what came of comparing one value.
func judge(t *testing.T, what, got, want, why string, sum *tally) {
	switch {
	case why == "":
		sum.equal++
		return
	case why != unexplained:
		sum.explain(why)
		if *variablesTell {
			t.Logf("%s: %s\n  dbg: %s\n  gdb: %s", what, why, got, want)
		}
		return
	case known(want) && !known(got):
		sum.missing++
	case known(got) && !known(want):
		sum.extra++
	default:
		sum.different++
	}
	t.Errorf("%s\n  dbg: %s\n  gdb: %s", what, got, want)
}

// known says that the text is of a value that is there.
func known(text string) bool {
	return text != "<optimized out>" && text != "<not saved>" && text != "<synthetic pointer>" && text != "<no such variable>" && !strings.HasPrefix(text, "<error")
}

// compareLine compares the arguments as a backtrace shows them: the value, and the one that was passed.
func compareLine(t *testing.T, s *session.Session, context *place, want, where string, sum *tally) {
	thread, _ := s.Selected()
	v, err := s.ViewFrame(thread, context.level, session.ViewOptions{Format: variablesFormat()})
	if err != nil {
		t.Fatal(err)
	}
	if v.Function == nil || v.Function.FromSymbolTable {
		return
	}
	sum.lines++
	theirs, ok := argumentsOf(want, v.Args)
	if !ok && (strings.Contains(want, "=warning: (Internal error: ") || strings.HasSuffix(want, ", warning: left shift count >= width of type")) {
		sum.inLine("gdb prints a warning of its own into it")
		return
	}
	if !ok {
		var args []string
		for _, a := range v.Args {
			args = append(args, a.String())
		}
		sum.linesDiffer++
		t.Errorf("%s, its line\n  dbg: %s\n  gdb: %s", where, strings.Join(args, ", "), want)
		return
	}
	differs := false
	for i, a := range v.Args {
		b := theirs[i]
		whys := []string{context.compare(a.Name, a.Value, b.Value)}
		if a.AtEntry != b.AtEntry {
			whys = append(whys, context.entry(a, b))
		}
		for _, why := range whys {
			switch {
			case why == unexplained:
				t.Errorf("%s, %s in its line\n  dbg: %s\n  gdb: %s", where, a.Name, a, b)
				differs = true
			case why != "":
				sum.inLine(why)
				if *variablesTell {
					t.Logf("%s, %s in its line: %s\n  dbg: %s\n  gdb: %s", where, a.Name, why, a, b)
				}
			}
		}
	}
	if differs {
		sum.linesDiffer++
	}
}

const unexplained = "unexplained"

// compare says why two values differ: "" if they do not.
func (p *place) compare(name, got, want string) string {
	if got == want {
		return ""
	}
	if why := explained(got, want); why != "" {
		return why
	}
	if why := p.excuse(name, got, want); why != "" {
		return why
	}
	return unexplained
}

// entry says why what was passed differs.
func (p *place) entry(got, want session.Argument) string {
	if got.AtEntry != "" && want.AtEntry != "" {
		return p.compare(got.Name, got.AtEntry, want.AtEntry)
	}
	why := p.compare(got.Name, got.Value, want.Value)
	same := why != unexplained
	switch {
	case got.AtEntry == "" && p.inlined:
		return "gdb takes for what an inlined call was passed what the function around it was"
	case got.AtEntry == "" && strings.HasPrefix(want.AtEntry, "<error"):
		return "gdb says that it can't be computed"
	case got.AtEntry == "" && same && p.viaRegister:
		return "gdb takes what a register has now that the callee may have changed for where the call went"
	case want.AtEntry == "" && got.Unchanged && why == "gdb does not find what a tail call passes":
		return why
	case want.AtEntry == "" && got.Unchanged && got.Value == want.Value:
		return "gdb does not find what was passed, which is what it is still"
	}
	return unexplained
}

// argumentsOf takes gdb's arguments out of a frame's line, which has those of the given names; false if it has others.
func argumentsOf(line string, names []session.Argument) (out []session.Argument, ok bool) {
	_, line, ok = strings.Cut(line, " (")
	if len(names) > 0 {
		_, after, found := strings.Cut(line, names[0].Name+"=")
		if line, ok = after, found; !ok {
			return nil, false
		}
	}
	for i, n := range names {
		text := ""
		if i+1 < len(names) {
			text, line, ok = strings.Cut(line, ", "+names[i+1].Name+"=")
		} else if end := strings.LastIndex(line, ") at "); end >= 0 {
			text = line[:end]
		} else {
			ok = false
		}
		if !ok {
			return nil, false
		}
		text = strings.ReplaceAll(text, "<error reading variable: ", "<error: ")
		a := session.Argument{Name: n.Name, Value: text}
		if v, old, found := strings.Cut(text, ", "+n.Name+"@entry="); found {
			a.Value, a.AtEntry = v, old
		} else if v, found := strings.CutPrefix(text, n.Name+"@entry="); found {
			a.Value, a.AtEntry, a.Unchanged = v, v, true
		}
		out = append(out, a)
	}
	return out, ok
}
