package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func catchCommands() []*command {
	const g = "breakpoints"
	return []*command{
		{name: "catch", usage: "EVENT [ARGUMENTS]", group: g, help: "stop at an event: throw, catch, rethrow, panic, abort, assert, fork, vfork, exec, load, unload, signal, syscall, thread-start, thread-exit", run: setCatch(false)},
		{name: "tcatch", usage: "EVENT [ARGUMENTS]", group: g, help: "stop at an event once", run: setCatch(true)},
	}
}

// catchEvent is an event that can be caught: the command's word, and gdb's words for it at a stop
// and in the table of breakpoints.
type catchEvent struct {
	kind             session.CatchKind
	name, stop, what string
}

var catchEvents = []catchEvent{
	{session.CatchThrow, "throw", "exception thrown", "exception throw"},
	{session.CatchCatch, "catch", "exception caught", "exception catch"},
	{session.CatchRethrow, "rethrow", "exception rethrown", "exception rethrow"},
	{session.CatchPanic, "panic", "panic", "panic"},
	{session.CatchAbort, "abort", "call to abort", "abort"},
	{session.CatchAssert, "assert", "failed assertion", "failed assertion"},
	{session.CatchFork, "fork", "forked process", "fork"},
	{session.CatchVfork, "vfork", "vforked process", "vfork"},
	{session.CatchExec, "exec", "exec'd", "exec"},
	{session.CatchLoad, "load", "loaded", "load of library"},
	{session.CatchUnload, "unload", "unloaded", "unload of library"},
	{session.CatchSignal, "signal", "signal", "signal"},
	{session.CatchSyscall, "syscall", "", "syscall"},
	{session.CatchThreadStart, "thread-start", "started thread", "thread start"},
	{session.CatchThreadExit, "thread-exit", "ended thread", "thread exit"},
}

func eventOf(kind session.CatchKind) *catchEvent {
	for i := range catchEvents {
		if catchEvents[i].kind == kind {
			return &catchEvents[i]
		}
	}
	return &catchEvent{kind: kind}
}

func setCatch(temporary bool) func(*shell, string) error {
	return func(sh *shell, args string) error {
		word, rest := cutWord(args)
		if word == "" {
			return userErrorf("Argument required (event to catch): %s.", strings.Join(catchNames(), ", "))
		}
		var all []*command
		for i := range catchEvents {
			all = append(all, &command{name: catchEvents[i].name})
		}
		c, err := lookup(all, word, "catch ")
		if err != nil {
			return err
		}
		e := &catchEvents[slices.Index(all, c)]
		catch := session.CatchSpec{Kind: e.kind}
		spec := session.BreakpointSpec{Catch: &catch, Temporary: temporary}
		if err := sh.sess.ParseCatch(&spec, rest); err != nil {
			return err
		}
		words := strings.Fields(catch.Match)
		switch e.kind {
		case session.CatchFork, session.CatchVfork, session.CatchExec, session.CatchAbort, session.CatchAssert, session.CatchThreadStart, session.CatchThreadExit:
			if catch.Match != "" {
				return userErrorf("Junk at end of arguments.")
			}
		case session.CatchSignal:
			catch.Match = ""
			if err := parseCaughtSignals(&catch, words); err != nil {
				return err
			}
		case session.CatchSyscall:
			catch.Match = ""
			if catch.Syscalls, err = session.ParseSyscalls(words); err != nil {
				return err
			}
		}
		b, err := sh.sess.SetBreakpoint(spec, true)
		if err != nil {
			return err
		}
		kind := "Catchpoint"
		if temporary && e.kind <= session.CatchRethrow {
			kind = "Temporary catchpoint " // with gdb's second blank
		}
		fmt.Fprintf(sh.out, "%s %d (%s)\n", kind, b.ID, catchMention(e, &catch))
		return nil
	}
}

func catchNames() []string {
	var out []string
	for i := range catchEvents {
		out = append(out, catchEvents[i].name)
	}
	return out
}

// parseCaughtSignals parses the arguments of "catch signal": names and numbers, or "all".
func parseCaughtSignals(c *session.CatchSpec, words []string) error {
	for _, w := range words {
		if w == "all" {
			if len(words) > 1 {
				return userErrorf("'all' cannot be caught with other signals")
			}
			c.AllSignals = true
			return nil
		}
		n := target.SignalByName(w)
		if n == 0 {
			// gdb's numbers 1 to 15 are the traditional ones, which are Linux's, too.
			if v, err := strconv.Atoi(w); err == nil && v >= 1 && v <= 15 {
				n = v
			} else if err == nil {
				return userErrorf("Only signals 1-15 are valid as numeric signals.\nUse \"info signals\" for a list of symbolic signals.")
			}
		}
		if n == 0 {
			return userErrorf("Unknown signal name '%s'.", w)
		}
		c.Signals = append(c.Signals, n)
	}
	return nil
}

// signalNames lists signals by name.
func signalNames(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, target.SignalName(n))
	}
	return strings.Join(out, " ")
}

// catchMention describes a catchpoint that has just been set.
func catchMention(e *catchEvent, c *session.CatchSpec) string {
	switch {
	case e.kind == session.CatchSyscall:
		if len(c.Syscalls) == 0 {
			return "any syscall"
		}
		var list []string
		for _, n := range c.Syscalls {
			if name, ok := session.SyscallName(n); ok {
				list = append(list, fmt.Sprintf("'%s' [%d]", name, n))
			} else {
				list = append(list, strconv.Itoa(n))
			}
		}
		if len(list) == 1 {
			return "syscall " + list[0]
		}
		return "syscalls " + strings.Join(list, " ")
	case e.kind != session.CatchSignal:
		return e.name
	case c.AllSignals:
		return "any signal"
	case len(c.Signals) == 0:
		return "standard signals"
	case len(c.Signals) == 1:
		return "signal " + signalNames(c.Signals)
	}
	return "signals " + signalNames(c.Signals)
}

// catchText describes a catchpoint in the table.
func catchText(b *session.Breakpoint) string {
	c := b.Spec.Catch
	what := eventOf(c.Kind).what
	switch c.Kind {
	case session.CatchFork, session.CatchVfork:
		if b.Caught != nil {
			what += fmt.Sprintf(", process %d ", b.Caught.Child)
		}
	case session.CatchExec:
		if b.Caught != nil {
			what += fmt.Sprintf(", program \"%s\" ", b.Caught.Path)
		}
	case session.CatchLoad, session.CatchUnload:
		if c.Match != "" {
			what += " matching " + c.Match
		}
	case session.CatchSyscall:
		switch len(c.Syscalls) {
		case 0:
			what += " \"<any syscall>\" "
		case 1:
			what += fmt.Sprintf(" \"%s\" ", syscallName(c.Syscalls[0]))
		default:
			var list []string
			for _, n := range c.Syscalls {
				list = append(list, syscallName(n))
			}
			what += fmt.Sprintf("s \"%s\" ", strings.Join(list, ", "))
		}
	case session.CatchSignal:
		switch {
		case c.AllSignals:
			what += " \"<any signal>\" "
		case len(c.Signals) == 0:
			what += " \"<standard signals>\" "
		case len(c.Signals) == 1:
			what += fmt.Sprintf(" \"%s\" ", signalNames(c.Signals))
		default:
			what += fmt.Sprintf("s \"%s\" ", signalNames(c.Signals))
		}
	}
	return what
}

// syscallName is the name of a system call, or its number.
func syscallName(n int) string {
	if name, ok := session.SyscallName(n); ok {
		return name
	}
	return strconv.Itoa(n)
}

// printCaught prints what a catchpoint caught, up to the place.
func (sh *shell) printCaught(st *session.Stop, who string, many bool) {
	c := st.Caught
	word := "Catchpoint"
	if slices.Contains(st.Deleted, c.ID) {
		word = "Temporary catchpoint"
	}
	if many {
		fmt.Fprintf(sh.out, "\n%s hit %s %d", who, word, c.ID)
	} else {
		fmt.Fprintf(sh.out, "\n%s %d", word, c.ID)
	}
	words := eventOf(c.Kind).stop
	switch c.Kind {
	case session.CatchLoad, session.CatchUnload:
		fmt.Fprintf(sh.out, "\n  Inferior %s %s\n", words, strings.Join(c.Paths, "\n    "))
		return
	case session.CatchFork, session.CatchVfork:
		words = fmt.Sprintf("%s %d", words, c.Child)
	case session.CatchExec:
		words += " " + c.Path
	case session.CatchSyscall:
		if words = "call to"; c.Returned {
			words = "returned from"
		}
		words += " syscall " + syscallName(c.Syscall)
	case session.CatchSignal:
		words += " " + target.SignalName(c.Signal)
	case session.CatchThreadStart, session.CatchThreadExit:
		words += fmt.Sprintf(" %d", c.Thread)
	}
	fmt.Fprintf(sh.out, " (%s), ", words)
}

// printCaughtDetail prints the type and the message of an exception, after its place.
func (sh *shell) printCaughtDetail(c *session.Caught) {
	switch c.Kind {
	case session.CatchThrow, session.CatchCatch, session.CatchRethrow:
		switch {
		case c.Type == "":
			fmt.Fprintln(sh.out, "exception of an unknown type")
		case c.HasMessage:
			fmt.Fprintf(sh.out, "exception %s: %s\n", c.Type, strconv.Quote(c.Message))
		case c.Silent:
			fmt.Fprintf(sh.out, "exception %s, with an unknown message\n", c.Type)
		default:
			fmt.Fprintf(sh.out, "exception %s\n", c.Type)
		}
	case session.CatchPanic:
		switch {
		case c.HasMessage:
			fmt.Fprintf(sh.out, "panic: %s %s\n", c.Type, c.Message)
		case c.Type != "":
			fmt.Fprintf(sh.out, "panic: %s\n", c.Type)
		}
	case session.CatchAssert:
		text := "of an unknown expression"
		if c.HasMessage {
			text = strconv.Quote(c.Message)
		}
		if c.File != "" && c.Line != 0 {
			text += fmt.Sprintf(" at %s:%d", strings.Trim(strconv.Quote(c.File), "\""), c.Line)
		}
		if c.Function != "" {
			text += " in " + strings.Trim(strconv.Quote(c.Function), "\"")
		}
		fmt.Fprintf(sh.out, "assertion %s\n", text)
	}
}
