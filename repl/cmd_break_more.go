package repl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dbg/session"
	"dbg/symbols"
	"dbg/target"
)

// setPrintf is dprintf LOCATION,"FORMAT",EXPR...
func setPrintf(sh *shell, args string) error {
	location, format, ok := strings.Cut(args, ",")
	if !ok || strings.TrimSpace(location) == "" {
		return userErrorf("Format string required")
	}
	f, err := session.ParseFormatted(format)
	if err != nil {
		return err
	}
	return setBreakWith(session.BreakpointSpec{LogFormat: &f})(sh, strings.TrimSpace(location))
}

// formatText is a format with its arguments as it was typed.
func formatText(f *session.FormattedText) string {
	text := "\"" + f.Format + "\""
	for _, a := range f.Args {
		text += "," + a
	}
	return text
}

// maxRegexBreakpoints bounds the breakpoints that one rbreak sets.
const maxRegexBreakpoints = 10_000

// breakRegex is rbreak.
func breakRegex(sh *shell, args string) error {
	file := ""
	if f, re, ok := strings.Cut(args, ":"); ok && f != "" && !strings.HasPrefix(re, ":") && !strings.ContainsAny(f, "^$*+[(") {
		file, args = strings.TrimSpace(f), strings.TrimSpace(re)
	}
	if _, err := regexp.Compile(args); err != nil {
		return fmt.Errorf("Invalid regexp: %w", err) //lint:ignore ST1005 gdb's words
	}
	list, more, err := sh.sess.Search(symbols.SearchFunctions, args, maxRegexBreakpoints)
	if err != nil {
		return err
	}
	if more {
		return fmt.Errorf("more than %d functions match", maxRegexBreakpoints)
	}
	var ids []int
	var first error
	for _, f := range list {
		if file != "" && f.File != file && filepath.Base(f.File) != file {
			continue
		}
		spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Text: f.Name, Function: f.Name}}
		if f.Symbol {
			spec.Function, spec.Addr, spec.HasAddr = "", target.Addr(f.Addr), true
		}
		b, err := sh.sess.SetBreakpoint(spec, false)
		var none *session.NoLocationError
		if errors.As(err, &none) {
			continue // optimised out
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		ids = append(ids, b.ID)
		sh.printSet(b)
		if f.Text != "" {
			fmt.Fprintln(sh.out, f.Text)
		}
	}
	if len(ids) > 0 {
		sh.noteNewest(ids...)
	}
	return first
}

// saveBreakpoints writes a file of commands, which source runs.
func saveBreakpoints(sh *shell, args string) error {
	what, path := cutWord(args)
	traces := what != "" && strings.HasPrefix("tracepoints", what)
	if !traces && (what == "" || !strings.HasPrefix("breakpoints", what)) {
		return userErrorf("\"save\" must be followed by the name of a save command.")
	}
	if path == "" {
		return userErrorf("Argument required (file name in which to save)")
	}
	list := sh.sess.Breakpoints()
	if traces {
		list = slices.DeleteFunc(list, func(b session.Breakpoint) bool { return b.Spec.Trace == nil })
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "Nothing to save.")
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".breakpoints*") // an old file stays whole if this fails
	if err != nil {
		return fmt.Errorf("Unable to open file '%s' for saving (%w)", path, errors.Unwrap(err)) //lint:ignore ST1005 gdb's words
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	for i := range list {
		sh.saveBreakpoint(w, &list[i])
	}
	if err := errors.Join(w.Flush(), f.Chmod(0o644), f.Close(), os.Rename(f.Name(), path)); err != nil {
		return err
	}
	sh.announce("Saved to file '%s'.\n", path)
	return nil
}

func (sh *shell) saveBreakpoint(w io.Writer, b *session.Breakpoint) {
	s := &b.Spec
	switch {
	case s.Watch != nil:
		word := map[session.WatchKind]string{session.WatchChange: "watch", session.WatchRead: "rwatch", session.WatchAccess: "awatch"}[s.Watch.Kind]
		fmt.Fprintf(w, "%s %s\n", word, watchText(s.Watch))
	case s.LogFormat != nil:
		fmt.Fprintf(w, "dprintf %s,%s\n", s.Text, formatText(s.LogFormat))
	case s.Trace != nil:
		text, _, _ := strings.Cut(s.Text, " if ")
		fmt.Fprintf(w, "trace %s\n", text)
		if len(s.Trace.Collect) > 0 {
			fmt.Fprintf(w, "actions\n  collect %s\nend\n", strings.Join(s.Trace.Collect, ", "))
		}
	default:
		word := map[[2]bool]string{{false, false}: "break", {true, false}: "tbreak", {false, true}: "hbreak", {true, true}: "thbreak"}[[2]bool{s.Temporary, s.Hardware}]
		text, _, _ := strings.Cut(s.Text, " if ")
		text, _, _ = strings.Cut(text, " thread ")
		if text == "" && len(b.Places) > 0 {
			text = "*" + b.Places[0].Addr.String()
		}
		if s.Thread != 0 {
			text += fmt.Sprintf(" thread %d", sh.threadNumber(s.Thread))
		}
		fmt.Fprintf(w, "%s %s\n", word, text)
	}
	if s.Condition != "" {
		fmt.Fprintf(w, "  condition $bpnum %s\n", s.Condition)
	}
	if s.Ignore > 0 {
		fmt.Fprintf(w, "  ignore $bpnum %d\n", s.Ignore)
	}
	if body := sh.commands[b.ID]; len(body) > 0 {
		fmt.Fprintln(w, "  commands")
		writeBlock(w, body, "    ")
		fmt.Fprintln(w, "  end")
	}
	if !b.Enabled {
		fmt.Fprintln(w, "disable $bpnum")
	}
}
