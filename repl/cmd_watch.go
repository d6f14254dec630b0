package repl

import (
	"fmt"

	"dbg/session"
)

func watchCommands() []*command {
	const g = "breakpoints"
	return []*command{
		{name: "watch", aliases: []string{"wa"}, usage: "[-location] EXPR [thread N] [if CONDITION]", group: g, help: "stop when the value of EXPR changes", words: functionWords, run: setWatch(session.WatchChange)},
		{name: "rwatch", usage: "[-location] EXPR [thread N] [if CONDITION]", group: g, help: "stop when EXPR is read", words: functionWords, run: setWatch(session.WatchRead)},
		{name: "awatch", usage: "[-location] EXPR [thread N] [if CONDITION]", group: g, help: "stop when EXPR is read or written", words: functionWords, run: setWatch(session.WatchAccess)},
	}
}

// watchWords are gdb's names of the kinds of watchpoints, and of their types in a table.
var watchWords = map[session.WatchKind][2]string{
	session.WatchChange: {"Hardware watchpoint", "hw watchpoint"},
	session.WatchRead:   {"Hardware read watchpoint", "read watchpoint"},
	session.WatchAccess: {"Hardware access (read/write) watchpoint", "acc watchpoint"},
}

// watchWord is gdb's name of a watchpoint.
func watchWord(kind session.WatchKind, software bool) string {
	if software {
		return "Watchpoint"
	}
	return watchWords[kind][0]
}

func setWatch(kind session.WatchKind) func(*shell, string) error {
	return func(sh *shell, args string) error {
		w := session.WatchSpec{Kind: kind}
		spec := session.BreakpointSpec{Watch: &w}
		for _, flag := range []string{"-location", "-l"} {
			if word, rest := cutWord(args); word == flag {
				w.Location, args = true, rest
			}
		}
		if err := sh.sess.ParseWatch(&spec, args); err != nil {
			return err
		}
		if w.Expr == "" {
			return userErrorf("Argument required (expression to compute).")
		}
		b, err := sh.sess.SetBreakpoint(spec, false)
		if err != nil {
			return err
		}
		sh.noteNewest(b.ID)
		fmt.Fprintf(sh.out, "%s %d: %s\n", watchWord(kind, b.Software), b.ID, watchText(&w))
		if b.Software {
			sh.announce("The processor can't watch this. The program is stepped, which makes it thousands of times slower.\n")
		}
		return nil
	}
}

// watchText is a watchpoint's expression as gdb shows it.
func watchText(w *session.WatchSpec) string {
	if w.Location {
		return "-location " + w.Expr
	}
	return w.Expr
}

// printWatches prints what watchpoints saw, and those whose frame is gone.
func (sh *shell) printWatches(st *session.Stop, who string, many bool) {
	for i := range st.Watches {
		h := &st.Watches[i]
		if many {
			fmt.Fprintf(sh.out, "\n%s hit %s %d: %s\n\n", who, watchWord(h.Spec.Kind, h.Software), h.ID, watchText(&h.Spec))
		} else {
			fmt.Fprintf(sh.out, "\n%s %d: %s\n\n", watchWord(h.Spec.Kind, h.Software), h.ID, watchText(&h.Spec))
		}
		opt := sh.settings.print.Options
		if h.Changed && h.Spec.Kind != session.WatchRead {
			fmt.Fprintf(sh.out, "Old value = %s\nNew value = %s\n", sh.sess.Format(h.Old, opt), sh.sess.Format(h.New, opt))
		} else {
			fmt.Fprintf(sh.out, "Value = %s\n", sh.sess.Format(h.New, opt))
		}
	}
	for i := range st.EndedWatches {
		fmt.Fprintf(sh.out, "\nWatchpoint %d deleted because the program has left the block in\nwhich its expression is valid.\n", st.EndedWatches[i].ID)
	}
}

// infoWatchpoints prints the table of breakpoints with only the watchpoints.
func infoWatchpoints(sh *shell, args string) error {
	var list []session.Breakpoint
	for _, b := range sh.sess.Breakpoints() {
		if b.Spec.Watch != nil {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No watchpoints.")
		return nil
	}
	sh.printBreakpoints(list)
	return nil
}

// kindOf returns the type of a breakpoint for the table.
func kindOf(b *session.Breakpoint) string {
	if b.Spec.Watch != nil {
		if b.Software {
			return "watchpoint"
		}
		return watchWords[b.Spec.Watch.Kind][1]
	}
	switch {
	case b.Spec.Catch != nil:
		return "catchpoint"
	case b.Spec.LogFormat != nil:
		return "dprintf"
	case b.Spec.Trace != nil:
		return "tracepoint"
	case b.Spec.Hardware:
		return "hw breakpoint"
	}
	return "breakpoint"
}
