package repl

import (
	"fmt"
	"sort"
	"strings"

	"dbg/session"
	"dbg/target"
)

func infoSource(sh *shell, args string) error {
	file := sh.list.file
	if file == "" {
		f, _, err := sh.sess.ListPosition()
		if err != nil {
			fmt.Fprintln(sh.out, "No current source file.")
			return nil
		}
		file = f
	}
	fmt.Fprintf(sh.out, "Current source file is %s\n", sh.names().source(file))
	fmt.Fprintf(sh.out, "Located in %s\n", file)
	if lines, err := sh.sess.Source(file); err == nil {
		fmt.Fprintf(sh.out, "Contains %d lines.\n", len(lines))
	} else {
		fmt.Fprintln(sh.out, "The file can't be read.")
	}
	return nil
}

func infoSources(sh *shell, args string) error {
	files := sh.sess.SourceFiles()
	sort.Strings(files)
	for i, f := range files {
		if i == 0 || files[i-1] != f {
			fmt.Fprintln(sh.out, f)
		}
	}
	return nil
}

// infoLine prints the addresses of a line's code.
func infoLine(sh *shell, args string) error {
	var at target.Addr
	var line int
	var file string
	if args == "" {
		f, err := sh.sess.SelectedFrame()
		if err != nil || !f.HasSource() {
			return userErrorf("No line number information available.")
		}
		args = fmt.Sprint(f.Position.Line)
	}
	spec, err := sh.sess.ParseLocation(args)
	if err != nil {
		return err
	}
	places, err := sh.sess.FindLocation(spec)
	if err != nil {
		return err
	}
	at, line, file = places[0].Addr, places[0].Position.Line, places[0].Position.File
	if spec.Function != "" {
		// A function starts before the place of its breakpoint.
		if _, code, err := sh.sess.DisassembleFunction(at); err == nil && code[0].Position.Line > 0 {
			at, line = code[0].Addr, code[0].Position.Line
		}
	}
	if line == 0 {
		fmt.Fprintf(sh.out, "No line number information available for address %s %s\n", at, sh.symbol(at))
		return nil
	}
	_, code, err := sh.sess.DisassembleFunction(at)
	end := at
	if err == nil {
		for _, ins := range code {
			if ins.Addr < at {
				continue
			}
			if ins.Position.Line != line || ins.Position.File != file {
				break
			}
			end = ins.Addr + target.Addr(len(ins.Bytes))
		}
	}
	sh.sess.NoteAddress(at)
	fmt.Fprintf(sh.out, "Line %d of \"%s\" starts at address %s and ends at %s.\n", line, sh.names().source(file), sh.addressText(at), sh.addressText(end))
	return nil
}

// addressText returns an address with its symbol.
func (sh *shell) addressText(a target.Addr) string {
	return strings.TrimSpace(a.String() + " " + sh.symbol(a))
}

func infoSymbol(sh *shell, args string) error {
	if args == "" {
		return userErrorf("Argument required (address).")
	}
	a, err := sh.sess.ParseAddress(args)
	if err != nil {
		return err
	}
	name, off, ok := sh.sess.Symbolize(a)
	if !ok {
		fmt.Fprintf(sh.out, "No symbol matches %s.\n", args)
		return nil
	}
	if off > 0 {
		name += fmt.Sprintf(" + %d", off)
	}
	if mods, err := sh.sess.Modules(); err == nil {
		for _, m := range mods {
			if m.Lo <= a && a < m.Hi {
				name += " in " + m.Path
			}
		}
	}
	fmt.Fprintln(sh.out, name)
	return nil
}

func infoSharedLibrary(sh *shell, args string) error {
	t, _ := sh.sess.Target()
	shown, missing := false, false
	for _, m := range sh.sess.DescribeModules() {
		if m.Path == t.Exe || m.Path == "[vdso]" {
			continue
		}
		if !shown {
			fmt.Fprintf(sh.out, "%-18s  %-18s  %-10s  %s\n", "From", "To", "Syms Read", "Shared Object Library")
			shown = true
		}
		syms := "No"
		if m.HasSymbols {
			syms = "Yes"
			if !m.HasDebugInfo {
				syms, missing = "Yes (*)", true
			}
		}
		fmt.Fprintf(sh.out, "0x%016x  0x%016x  %-10s  %s", uint64(m.Lo), uint64(m.Hi), syms, m.Path)
		if m.Problem != "" {
			fmt.Fprintf(sh.out, " (%s)", m.Problem)
		}
		fmt.Fprintln(sh.out)
	}
	if !shown {
		fmt.Fprintln(sh.out, "No shared libraries loaded at this time.")
	}
	if missing {
		fmt.Fprintln(sh.out, "(*): Shared library is missing debugging information.")
	}
	sh.printOrigins()
	return nil
}

// printOrigins prints where each file's debug information comes from, or why there is none.
func (sh *shell) printOrigins() {
	shown := false
	for _, m := range sh.sess.DescribeModules() {
		if m.Path == "[vdso]" {
			continue
		}
		if !shown {
			fmt.Fprintln(sh.out, "Debug information:")
			shown = true
		}
		origin := m.Origin
		switch {
		case m.Problem != "":
			origin = m.Problem
		case !m.HasDebugInfo:
			origin = "none: " + origin
		}
		fmt.Fprintf(sh.out, "  %s: %s\n", m.Path, origin)
	}
}

// signalHeader is the heading of a list of signals.
const signalHeader = "Signal        Stop\tPrint\tPass to program\tDescription\n"

func infoSignals(sh *shell, args string) error {
	fmt.Fprint(sh.out, signalHeader)
	if args != "" {
		n := target.SignalByName(strings.ToUpper(args))
		if n == 0 {
			return fmt.Errorf("no signal %q", args)
		}
		sh.printSignal(n, sh.sess.Signal(n))
		return nil
	}
	fmt.Fprintln(sh.out)
	for n := 1; n < target.NumSignals; n++ {
		sh.printSignal(n, sh.sess.Signal(n))
	}
	fmt.Fprintln(sh.out, "\nUse the \"handle\" command to change these tables.")
	return nil
}

func (sh *shell) printSignal(n int, set session.SignalSetting) {
	yes := func(b bool) string {
		if b {
			return "Yes"
		}
		return "No"
	}
	fmt.Fprintf(sh.out, "%-13s %s\t%s\t%s\t\t%s\n", target.SignalName(n), yes(set.Stop), yes(set.Print), yes(set.Pass), target.SignalDescription(n))
}

// handle changes how signals are handled: handle SIGUSR1 nostop noprint.
func handle(sh *shell, args string) error {
	signals, err := sh.sess.HandleSignals(args)
	if err != nil {
		return err
	}
	fmt.Fprint(sh.out, signalHeader)
	for _, n := range signals {
		sh.printSignal(n, sh.sess.Signal(n))
	}
	return nil
}
