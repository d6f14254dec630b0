package repl

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/arch"
	"dbg/frames"
	"dbg/session"
	"dbg/symbols"
	"dbg/symbols/types"
	"dbg/target"
)

func statusCommands() []*command {
	return []*command{
		{name: "info", aliases: []string{"i", "inf"}, usage: "SUBJECT", group: "status", help: "show information about a subject: " + strings.Join(infoNames(), ", "), words: infoWords, run: info},
	}
}

// infoCommands returns the subjects of info.
func infoCommands() []*command {
	return append([]*command{
		{name: "breakpoints", aliases: []string{"b", "br", "break"}, run: infoBreakpoints},
		{name: "watchpoints", aliases: []string{"wat"}, run: infoWatchpoints},
		{name: "skip", run: infoSkip},
		{name: "threads", aliases: []string{"t"}, run: infoThreads},
		{name: "registers", aliases: []string{"r", "reg"}, run: infoRegisters},
		{name: "all-registers", run: infoRegisters},
		{name: "locals", aliases: []string{"lo"}, run: infoVariables(session.ScopeLocals)},
		{name: "args", run: infoVariables(session.ScopeArguments)},
		{name: "frame", aliases: []string{"f"}, run: infoFrame},
		{name: "source", run: infoSource},
		{name: "sources", run: infoSources},
		{name: "line", run: infoLine},
		{name: "symbol", run: infoSymbol},
		{name: "sharedlibrary", aliases: []string{"dll", "shared"}, run: infoSharedLibrary},
		{name: "signals", aliases: []string{"handle"}, run: infoSignals},
		{name: "program", run: infoProgram},
		{name: "inferiors", run: infoInferiors},
		{name: "checkpoints", run: infoCheckpoints},
		{name: "tracepoints", aliases: []string{"tp", "trace"}, run: infoTrace},
		{name: "display", run: infoDisplay},
		{name: "functions", run: infoSearch("functions", symbols.SearchFunctions)},
		{name: "variables", run: infoSearch("variables", symbols.SearchVariables)},
		{name: "types", run: infoSearch("types", symbols.SearchTypes)},
		{name: "vtbl", run: infoVtbl},
		{name: "why", run: infoWhy},
		{name: "scope", run: infoScope},
	}, append(infoProcessCommands(), infoLockCommands()...)...)
}

func infoNames() []string {
	var out []string
	for _, c := range infoCommands() {
		out = append(out, c.name)
	}
	return out
}

func info(sh *shell, args string) error {
	word, rest := cutWord(args)
	if word == "" {
		for _, n := range infoNames() {
			fmt.Fprintf(sh.out, "info %s\n", n)
		}
		return nil
	}
	c, err := lookup(infoCommands(), word, "info ")
	if err != nil {
		return err
	}
	return c.run(sh, rest)
}

var errNoFrameSelected = userErrorf("No frame selected.")

// infoRegisters prints registers of the selected frame.
func infoRegisters(sh *shell, args string) error {
	if sh.stack() != nil {
		return userErrorf("The program has no registers now.")
	}
	t, level := sh.sess.Selected()
	regs, err := sh.sess.Registers(t, level)
	if err != nil {
		return err
	}
	if args == "" {
		for _, r := range regs {
			sh.printRegister(r)
		}
		return nil
	}
next:
	for _, want := range strings.Fields(args) {
		want = strings.TrimPrefix(want, "$")
		for _, r := range regs {
			if r.Name == want || r.Name == registerAlias[want] {
				sh.printRegister(r)
				continue next
			}
		}
		v, err := sh.evaluate("$" + want)
		if err != nil || v.Type == nil || v.Type.Strip().Kind == types.Void { // an unset convenience variable

			return userErrorf("Invalid register `%s'", want)
		}
		fmt.Fprintf(sh.out, "%-15s%s\n", want, sh.sess.Format(v, sh.settings.print.Options))
	}
	return nil
}

var registerAlias = map[string]string{"pc": "rip", "sp": "rsp", "fp": "rbp"}

func (sh *shell) printRegister(r session.RegisterValue) {
	if !r.Known {
		fmt.Fprintf(sh.out, "%-15s<not saved>\n", r.Name)
		return
	}
	natural := fmt.Sprint(int64(r.Value))
	switch r.Name {
	case "rip":
		natural = strings.TrimSpace(fmt.Sprintf("0x%x %s", r.Value, sh.symbol(target.Addr(r.Value))))
	case "rsp", "rbp":
		natural = fmt.Sprintf("0x%x", r.Value)
	case "eflags":
		natural = flagNames(r.Value)
	}
	fmt.Fprintf(sh.out, "%-15s%-20s%s\n", r.Name, fmt.Sprintf("0x%x", r.Value), natural)
}

// flagNames lists the flags that are set: Intel SDM volume 1, 3.4.3.
func flagNames(v uint64) string {
	out := "["
	for _, f := range []struct {
		bit  uint
		name string
	}{{0, "CF"}, {1, ""}, {2, "PF"}, {4, "AF"}, {6, "ZF"}, {7, "SF"}, {8, "TF"}, {9, "IF"}, {10, "DF"}, {11, "OF"}, {14, "NT"}, {16, "RF"}, {17, "VM"}, {18, "AC"}, {21, "ID"}} {
		if f.name != "" && v&(1<<f.bit) != 0 {
			out += " " + f.name
		}
	}
	return out + " ]"
}

func infoVariables(kind session.ScopeKind) func(*shell, string) error {
	return func(sh *shell, args string) error {
		if sh.stack() != nil {
			return errNoFrameSelected
		}
		v, err := sh.selectedView(true)
		if err != nil {
			return err
		}
		t, level := sh.sess.Selected()
		list, err := sh.sess.Variables(t, level, kind)
		if err != nil {
			return err
		}
		switch {
		case v.Function == nil || v.Function.FromSymbolTable:
			fmt.Fprintln(sh.out, "No symbol table info available.")
		case len(list) == 0 && kind == session.ScopeLocals:
			fmt.Fprintln(sh.out, "No locals.")
		case len(list) == 0:
			fmt.Fprintln(sh.out, "No arguments.")
		}
		for _, x := range list {
			fmt.Fprintf(sh.out, "%s = %s\n", x.Name, sh.sess.Format(x, sh.argumentFormat()))
		}
		return nil
	}
}

// infoFrame prints everything about the selected frame, including how it was found.
func infoFrame(sh *shell, args string) error {
	if err := sh.stack(); err != nil {
		return err
	}
	f, err := sh.sess.SelectedFrame()
	if err != nil {
		return err
	}
	if args = strings.TrimSpace(strings.TrimPrefix(args, "level")); args != "" {
		level, err := strconv.Atoi(args)
		if err != nil || level < 0 {
			return userErrorf("Invalid number \"%s\".", args)
		}
		t, _ := sh.sess.Selected()
		if f, err = sh.sess.Frame(t, level); err != nil {
			return userErrorf("No frame at level %d.", level)
		}
	}
	m := f.Machine
	if m.HasCFA {
		fmt.Fprintf(sh.out, "Stack level %d, frame at %s:\n", f.Level, m.CFA)
	} else {
		fmt.Fprintf(sh.out, "Stack level %d, frame at an unknown address:\n", f.Level)
	}
	where := ""
	if f.FunctionName != "" {
		where = " in " + f.FunctionName
	}
	if f.HasSource() {
		where += fmt.Sprintf(" (%s:%d)", sh.names().source(f.Position.File), f.Position.Line)
	}
	caller, err := sh.callerOf(&f)
	saved := "<not saved>"
	if err == nil {
		saved = caller.PC.String()
	}
	fmt.Fprintf(sh.out, " rip = %s%s; saved rip = %s\n", f.PC, where, saved)
	if f.Inlined {
		fmt.Fprintln(sh.out, " inlined into the next frame")
	}
	if f.TailCall {
		fmt.Fprintln(sh.out, " tail call frame: its stack frame was reused by the previous frame")
	}
	if err != nil {
		fmt.Fprintln(sh.out, " outermost")
	} else if caller.Machine.HasCFA {
		fmt.Fprintf(sh.out, " called by frame at %s\n", caller.Machine.CFA)
	}
	fmt.Fprintf(sh.out, " found by %s, trust %s\n", f.Strategy, f.Trust)
	for _, a := range f.Attempts {
		fmt.Fprintf(sh.out, "  %s: %s\n", a.Strategy, a.Why)
	}
	sh.infoExceptions(&f)
	if m.HasCFA {
		fmt.Fprintf(sh.out, " Previous frame's sp is %s\n", m.CFA)
	}
	if err != nil {
		return nil
	}
	var places []string
	for r := arch.Reg(0); r < arch.MaxRegs; r++ {
		name := m.Regs.Arch.RegName(r)
		was, wasAt := m.Where(r)
		if place, at := caller.Machine.Where(r); place == frames.InMemory && (was != place || wasAt != at) {
			places = append(places, fmt.Sprintf("%s at %s", name, at))
		}
	}
	if len(places) > 0 {
		fmt.Fprintf(sh.out, " Saved registers:\n  %s\n", strings.Join(places, ", "))
	}
	return nil
}

// infoExceptions prints where an exception lands that leaves the frame's call.
func (sh *shell) infoExceptions(f *session.Frame) {
	x, err := sh.sess.ExceptionsOf(f)
	switch {
	case err != nil:
		fmt.Fprintf(sh.out, " exceptions: not known: %v\n", err)
	case x == nil || !x.Known:
	case x.Ends:
		fmt.Fprintln(sh.out, " exceptions from this call end the program")
	case x.Pad == 0:
		fmt.Fprintln(sh.out, " exceptions from this call pass to the caller")
	default:
		where := ""
		if x.Position.Line != 0 {
			where = fmt.Sprintf(" (%s:%d)", sh.names().source(x.Position.File), x.Position.Line)
		}
		fmt.Fprintf(sh.out, " exceptions from this call land at %s%s: %s\n", x.Pad, where, strings.Join(x.Actions, "; "))
	}
}

// callerOf returns the next outer machine frame.
func (sh *shell) callerOf(f *session.Frame) (session.Frame, error) {
	t, _ := sh.sess.Selected()
	for level := f.Level + 1; ; level++ {
		c, err := sh.sess.Frame(t, level)
		if err != nil || c.Machine.Index != f.Machine.Index {
			return c, err
		}
	}
}

func infoProgram(sh *shell, args string) error {
	t, ok := sh.sess.Target()
	if !ok {
		fmt.Fprintln(sh.out, "The program being debugged is not being run.")
		return nil
	}
	if t.Kind == target.Core {
		fmt.Fprintf(sh.out, "\tCore of process %d, program %s.\n", t.PID, t.Exe)
		return nil
	}
	how := "started by dbg"
	if t.Kind == target.Attached {
		how = "attached"
	}
	fmt.Fprintf(sh.out, "\tProcess %d, program %s, %s.\n", t.PID, t.Exe, how)
	if f, err := sh.sess.Frame(selectedThread(sh), 0); err == nil {
		fmt.Fprintf(sh.out, "Program stopped at %s.\n", f.PC)
	}
	st := sh.sess.LastStop()
	switch st.Reason {
	case session.StopBreakpoint:
		for _, id := range st.Breakpoints {
			fmt.Fprintf(sh.out, "It stopped at breakpoint %d.\n", id)
		}
	case session.StopStep, session.StopFinish:
		fmt.Fprintln(sh.out, "It stopped after being stepped.")
	case session.StopSignal:
		if st.Signal != nil {
			fmt.Fprintf(sh.out, "It stopped at signal %s, %s.\n", target.SignalName(st.Signal.Number), target.SignalDescription(st.Signal.Number))
		}
	}
	return nil
}

func infoDisplay(sh *shell, args string) error {
	if len(sh.displays) == 0 {
		fmt.Fprintln(sh.out, "There are no auto-display expressions now.")
		return nil
	}
	fmt.Fprintln(sh.out, "Auto-display expressions now in effect:\nNum Enb Expression")
	for _, d := range sh.displays {
		f := ""
		if d.format != "" {
			f = "/" + d.format + " "
		}
		enabled := "y"
		if d.off {
			enabled = "n"
		}
		fmt.Fprintf(sh.out, "%d:   %s  %s%s\n", d.number, enabled, f, d.expr)
	}
	return nil
}
