package repl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
)

func breakpointCommands() []*command {
	const g = "breakpoints"
	return []*command{
		{name: "break", aliases: []string{"b", "br", "bre", "brea"}, usage: "[LOCATION] [thread N] [if CONDITION]", group: g, help: "stop at FUNCTION, LINE, FILE:LINE or *ADDRESS", words: functionWords, run: setBreak(false)},
		{name: "tbreak", aliases: []string{"tb", "tbr"}, usage: "[LOCATION] [if CONDITION]", group: g, help: "stop there once", words: functionWords, run: setBreak(true)},
		{name: "hbreak", aliases: []string{"hb"}, usage: "[LOCATION] [if CONDITION]", group: g, help: "stop there, with a debug register", words: functionWords, run: setBreakWith(session.BreakpointSpec{Hardware: true})},
		{name: "thbreak", aliases: []string{"thb"}, usage: "[LOCATION] [if CONDITION]", group: g, help: "stop there once, with a debug register", words: functionWords, run: setBreakWith(session.BreakpointSpec{Hardware: true, Temporary: true})},
		{name: "rbreak", usage: "[FILE:]REGEX", group: g, help: "stop at all functions whose names match", run: breakRegex},
		{name: "dprintf", usage: "LOCATION,\"FORMAT\",EXPR...", group: g, help: "print at a location instead of stopping", words: functionWords, run: setPrintf},
		{name: "save", usage: "breakpoints FILE", group: g, once: true, help: "write commands that set the breakpoints again", words: fixedWords("breakpoints", "tracepoints"), run: saveBreakpoints},
		{name: "delete", aliases: []string{"d"}, usage: "[N...]", group: g, once: true, help: "remove breakpoints, or all if no N is given", run: deleteBreak},
		{name: "clear", aliases: []string{"cl"}, usage: "[LOCATION]", group: g, once: true, help: "remove the breakpoints at a location", words: functionWords, run: clearBreak},
		{name: "enable", aliases: []string{"en"}, usage: "[N...]", group: g, help: "enable breakpoints, or all if no N is given", run: enableBreak(true)},
		{name: "disable", aliases: []string{"dis"}, usage: "[N...]", group: g, help: "disable breakpoints, or all if no N is given", run: enableBreak(false)},
		{name: "condition", aliases: []string{"cond"}, usage: "N [EXPR]", group: g, help: "stop at breakpoint N only if EXPR is not 0", run: condition},
		{name: "ignore", usage: "N COUNT", group: g, help: "ignore the next COUNT hits of breakpoint N", run: ignoreBreak},
	}
}

func setBreak(temporary bool) func(*shell, string) error {
	return setBreakWith(session.BreakpointSpec{Temporary: temporary})
}

// setBreakWith sets a breakpoint that is otherwise as with.
func setBreakWith(with session.BreakpointSpec) func(*shell, string) error {
	return func(sh *shell, args string) error {
		spec, err := sh.sess.ParseBreakpoint(args)
		if err != nil {
			return err
		}
		spec.Temporary, spec.Hardware, spec.LogFormat = with.Temporary, with.Hardware, with.LogFormat
		spec.Trace = with.Trace
		if spec.Text == "" {
			spec.Text = args
		}
		b, err := sh.sess.SetBreakpoint(spec, sh.settings.pending == "on")
		var none *session.NoLocationError
		if errors.As(err, &none) && sh.settings.pending == "auto" && sh.asking() {
			fmt.Fprintln(sh.out, none)
			if !sh.ask("Make breakpoint pending on future shared library load? (y or [n]) ") {
				return nil
			}
			b, err = sh.sess.SetBreakpoint(spec, true)
		}
		if err != nil {
			return err
		}
		sh.noteNewest(b.ID)
		sh.printSet(b)
		return nil
	}
}

// printSet prints where a breakpoint was set.
func (sh *shell) printSet(b session.Breakpoint) {
	word := "Breakpoint"
	switch {
	case b.Spec.Trace != nil:
		word = "Tracepoint"
	case b.Spec.LogFormat != nil:
		word = "Dprintf"
	case b.Spec.Hardware && b.Spec.Temporary:
		word = "Temporary hardware breakpoint" // gdb's capital is in the first word only
	case b.Spec.Hardware:
		word = "Hardware assisted breakpoint"
	case b.Spec.Temporary:
		word = "Temporary breakpoint"
	}
	at := ""
	if len(b.Places) > 0 && !sh.settings.print.NoAddresses {
		at = " at " + b.Places[0].Addr.String()
	}
	switch {
	case len(b.Places) == 0:
		fmt.Fprintf(sh.out, "%s %d (%s) pending.\n", word, b.ID, b.Spec.Text)
	case len(b.Places) > 1:
		fmt.Fprintf(sh.out, "%s %d%s: %s. (%d locations)\n", word, b.ID, at, b.Spec.Text, len(b.Places))
	case b.Places[0].Position.Line == 0:
		fmt.Fprintf(sh.out, "%s %d at %s\n", word, b.ID, b.Places[0].Addr)
	default:
		p := b.Places[0]
		fmt.Fprintf(sh.out, "%s %d%s: file %s, line %d.\n", word, b.ID, at, sh.names().source(p.Position.File), p.Position.Line)
	}
}

// chosen returns the breakpoints that args lists, or all if args is empty.
func (sh *shell) chosen(args string) ([]int, error) {
	if args != "" {
		return numbers(sh.bpnum(args))
	}
	var ids []int
	for _, b := range sh.sess.Breakpoints() {
		ids = append(ids, b.ID)
	}
	return ids, nil
}

func deleteBreak(sh *shell, args string) error {
	if w, rest := cutWord(args); w == "display" {
		return undisplay(sh, rest)
	} else if handled, err := sh.onCheckpoints(args, false); handled {
		return err
	} else if w == "breakpoints" {
		args = rest
	} else if strings.HasPrefix(w, "tr") && strings.HasPrefix("tracepoints", w) {
		if args = rest; args == "" {
			return sh.deleteTraces()
		}
	}
	ids, err := sh.chosen(args)
	if err != nil {
		return err
	}
	if args == "" && len(ids) > 0 && !sh.ask("Delete all breakpoints? (y or n) ") {
		return nil
	}
	return sh.each(ids, sh.sess.DeleteBreakpoint)
}

// deleteTraces removes all tracepoints.
func (sh *shell) deleteTraces() error {
	list, err := sh.traces("")
	if err != nil || len(list) == 0 || !sh.ask("Delete all tracepoints? (y or n) ") {
		return err
	}
	var ids []int
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return sh.each(ids, sh.sess.DeleteBreakpoint)
}

// each calls do for all ids, and returns the first error at the end.
func (sh *shell) each(ids []int, do func(int) error) error {
	var first error
	for _, id := range ids {
		if err := do(id); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func clearBreak(sh *shell, args string) error {
	spec, err := sh.sess.ParseLocation(args)
	if err != nil {
		return err
	}
	gone, err := sh.sess.BreakpointsAt(spec)
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		return userErrorf("No breakpoint at %s.", args)
	}
	fmt.Fprint(sh.out, "Deleted breakpoint")
	if len(gone) > 1 {
		fmt.Fprint(sh.out, "s")
	}
	for _, id := range gone {
		fmt.Fprintf(sh.out, " %d", id)
	}
	fmt.Fprintln(sh.out)
	return sh.each(gone, sh.sess.DeleteBreakpoint)
}

func enableBreak(on bool) func(*shell, string) error {
	return func(sh *shell, args string) error {
		switch w, rest := cutWord(args); w {
		case "breakpoints":
			args = rest
		case "display":
			return enableDisplay(sh, rest, on)
		}
		if how, rest := cutWord(args); on && (how == "once" || how == "delete" || how == "count") {
			return enableFor(sh, how, rest)
		}
		ids, err := sh.chosen(args)
		if err != nil {
			return err
		}
		return sh.each(ids, func(id int) error { return sh.sess.EnableBreakpoint(id, on) })
	}
}

// enableFor is enable once, enable delete and enable count N.
func enableFor(sh *shell, how, args string) error {
	n := 0
	if how == "count" {
		word, rest := cutWord(args)
		var err error
		if n, err = strconv.Atoi(word); err != nil || n < 1 {
			return userErrorf("Argument required (hit count).")
		}
		args = rest
	}
	ids, err := sh.chosen(args)
	if err != nil {
		return err
	}
	return sh.each(ids, func(id int) error { return sh.sess.EnableFor(id, how == "once", how == "delete", n) })
}

func condition(sh *shell, args string) error {
	word, cond := cutWord(args)
	word = sh.bpnum(word)
	if word == "" {
		return userErrorf("Argument required (breakpoint number).")
	}
	id, err := strconv.Atoi(word)
	if err != nil {
		return userErrorf("Bad breakpoint argument: '%s'", word)
	}
	if err := sh.sess.SetCondition(id, cond); err != nil {
		return err
	}
	if cond == "" {
		fmt.Fprintf(sh.out, "Breakpoint %d now unconditional.\n", id)
	}
	return nil
}

func ignoreBreak(sh *shell, args string) error {
	word, rest := cutWord(args)
	id, err := strconv.Atoi(sh.bpnum(word))
	if err != nil {
		return userErrorf("Argument required (a breakpoint number).")
	}
	if rest == "" {
		return userErrorf("Second argument (specified ignore-count) is missing.")
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return fmt.Errorf("expected a number, not %q", rest)
	}
	n = max(0, n)
	if err := sh.sess.SetIgnore(id, n); err != nil {
		return err
	}
	sh.printIgnored(id, n)
	return nil
}

// printIgnored prints how many hits of a breakpoint will be ignored.
func (sh *shell) printIgnored(id, n int) {
	switch n {
	case 0:
		fmt.Fprintf(sh.out, "Will stop next time breakpoint %d is reached.\n", id)
	case 1:
		fmt.Fprintf(sh.out, "Will ignore next crossing of breakpoint %d.\n", id)
	default:
		fmt.Fprintf(sh.out, "Will ignore next %d crossings of breakpoint %d.\n", n, id)
	}
}

// infoBreakpoints prints the table of breakpoints.
func infoBreakpoints(sh *shell, args string) error {
	list := sh.sess.Breakpoints()
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No breakpoints or watchpoints.")
		return nil
	}
	sh.printBreakpoints(list)
	for i := len(list) - 1; i >= 0; i-- {
		if n := len(list[i].Places); n > 0 { // the last address that is shown becomes $_
			sh.sess.NoteAddress(list[i].Places[n-1].Addr)
			break
		}
	}
	return nil
}

// printBreakpoints prints the table of some breakpoints.
func (sh *shell) printBreakpoints(list []session.Breakpoint) {
	width := len("breakpoint") + 4
	for i := range list {
		width = max(width, len(kindOf(&list[i])))
	}
	column := func(addr string) string { // the address, unless "set print address off"
		if sh.settings.print.NoAddresses {
			return ""
		}
		return fmt.Sprintf("%-18s ", addr)
	}
	fmt.Fprintf(sh.out, "%-7s %-*s %-4s %-3s %s%s\n", "Num", width, "Type", "Disp", "Enb", column("Address"), "What")
	for _, b := range list {
		disp, enb := "keep", "n"
		switch {
		case b.Spec.Temporary:
			disp = "del"
		case b.Spec.Once || b.Spec.Count > 0:
			disp = "dis"
		}
		if b.Enabled {
			enb = "y"
		}
		addr, what := "<PENDING>", b.Spec.Text
		switch {
		case b.Spec.Watch != nil:
			addr, what = "", watchText(b.Spec.Watch)
		case b.Spec.Catch != nil:
			addr, what = "", catchText(&b)
		case len(b.Places) == 1:
			addr, what = fmt.Sprintf("0x%016x", uint64(b.Places[0].Addr)), sh.placeText(&b.Places[0])
		case len(b.Places) > 1:
			addr, what = "<MULTIPLE>", ""
		}
		fmt.Fprintf(sh.out, "%-7d %-*s %-4s %-3s %s%s\n", b.ID, width, kindOf(&b), disp, enb, column(addr), what)
		if c := b.Spec.Catch; c != nil && c.Match != "" && c.Kind != session.CatchLoad && c.Kind != session.CatchUnload {
			fmt.Fprintf(sh.out, "\tmatching: %s\n", c.Match)
		}
		if b.Spec.Condition != "" {
			fmt.Fprintf(sh.out, "\tstop only if %s\n", b.Spec.Condition)
		}
		if b.Spec.Thread != 0 {
			fmt.Fprintf(sh.out, "\tstop only in thread %d\n", sh.threadNumber(b.Spec.Thread))
		}
		if b.Hits > 0 {
			s := "s"
			if b.Hits == 1 {
				s = ""
			}
			word := "breakpoint"
			switch {
			case b.Spec.Catch != nil:
				word = "catchpoint"
			case b.Spec.Trace != nil:
				word = "tracepoint"
			}
			fmt.Fprintf(sh.out, "\t%s already hit %d time%s\n", word, b.Hits, s)
		}
		if b.Spec.Ignore > 0 {
			fmt.Fprintf(sh.out, "\tignore next %d hits\n", b.Spec.Ignore)
		}
		if f := b.Spec.LogFormat; f != nil {
			fmt.Fprintf(sh.out, "        printf %s\n", formatText(f))
		}
		if t := b.Spec.Trace; t != nil && len(t.Collect) > 0 {
			fmt.Fprintf(sh.out, "        collect %s\n", strings.Join(t.Collect, ", "))
		}
		writeBlock(sh.out, sh.commands[b.ID], "        ")
		if len(b.Places) > 1 && b.Spec.Catch == nil {
			for i := range b.Places {
				p := &b.Places[i]
				fmt.Fprintf(sh.out, "%-7s %-*s %-4s %-3s %s%s\n", fmt.Sprintf("%d.%d", b.ID, i+1), width, "", "", enb,
					column(fmt.Sprintf("0x%016x", uint64(p.Addr))), sh.placeText(p))
			}
		}
	}
}

func (sh *shell) placeText(p *session.BreakpointPlace) string {
	if p.Session != 0 {
		q := *p
		q.Session = 0
		return sh.placeText(&q) + fmt.Sprintf(" inf %d", p.Session)
	}
	if p.Position.Line != 0 {
		return fmt.Sprintf("in %s at %s:%d", p.Function, sh.names().source(p.Position.File), p.Position.Line)
	}
	return sh.symbol(p.Addr)
}
