package repl

import (
	"fmt"
	"path/filepath"
	"strings"

	"dbg/internal/plain"
	"dbg/session"
)

// names shortens the paths of files: to a path relative to the working directory, unless the full
// path is shorter.
type names struct {
	cwd   string
	roots []string
	exe   string // the main program, which needs no "from"
	color bool
	frame frameSettings

	last struct{ path, short string } // see source
}

func (n *names) source(path string) string {
	if path != n.last.path { // in a recursion it is always the same
		n.last.path, n.last.short = path, n.shorten(path)
	}
	return n.last.short
}

func (n *names) shorten(path string) string {
	for _, r := range append([]string{n.cwd}, n.roots...) {
		if r == "" || r == "/" {
			continue
		}
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(r, "/")+"/"); ok {
			return rest
		}
	}
	if n.cwd != "" && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(n.cwd, path); err == nil && len(rel) < len(path) {
			return rel
		}
	}
	return path
}

// Colours of frame lines, the same as gdb's.
const (
	colorFunction = "33"
	colorFile     = "32"
	colorAddress  = "34"
	colorName     = "36"
)

func (n *names) paint(color, text string) string {
	text = plain.Line(text)
	if !n.color {
		return text
	}
	return plain.Paint(color, text)
}

// level returns a frame's line with its number: "#1 0x000055555555516a in bar (x=7) at a.c:6".
func (n *names) level(v *session.FrameView) string {
	return fmt.Sprintf("#%-2d ", v.Level) + n.location(v, v.ShowPC)
}

// location returns a frame's line without its number.
func (n *names) location(v *session.FrameView, address bool) string {
	if v.Dummy {
		return v.FunctionName
	}
	if v.Machine.Signal {
		return "<signal handler called>" + trustLabel(v.Frame)
	}
	var b strings.Builder
	if address && !n.frame.noAddress {
		b.WriteString(n.paint(colorAddress, fmt.Sprintf("0x%016x", uint64(v.PC))) + " in ")
	}
	name := v.FunctionName
	if name == "" {
		name = "??"
	}
	b.WriteString(n.paint(colorFunction, name) + " (")
	b.WriteString(n.frame.list(n, v.Args) + ")")
	switch {
	case v.HasSource():
		fmt.Fprintf(&b, " at %s:%d", n.paint(colorFile, n.source(v.Position.File)), v.Position.Line)
	case v.Module != nil && v.Module.Path != "" && v.Module.Path != n.exe:
		b.WriteString(" from " + n.paint(colorFile, v.Module.Path))
	}
	b.WriteString(trustLabel(v.Frame))
	return b.String()
}

// shortValue replaces aggregates by "...": a frame's line shows only scalars.
func shortValue(v string) string {
	if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "@") && strings.HasSuffix(v, "}") {
		return "..."
	}
	return v
}

// trustLabel returns how a frame was found, if its trust is heuristic or guess, and "" otherwise.
func trustLabel(f *session.Frame) string {
	if f.Trust != "heuristic" && f.Trust != "guess" {
		return ""
	}
	switch f.Machine.Strategy.String() {
	case "fp":
		return "    [frame pointer]"
	case "scs":
		return "    [shadow call stack]"
	case "scan":
		return "    [stack scan]"
	case "prologue":
		return "    [prologue analysis]"
	}
	return "    [" + f.Trust + "]"
}

// names returns the names that this shell uses.
func (sh *shell) names() *names {
	n := &names{cwd: sh.cwd, roots: sh.opts.SourceRoots, color: sh.opts.Color, frame: sh.settings.print.frame}
	if t, ok := sh.sess.Target(); ok {
		n.exe = t.Exe
	}
	return n
}
