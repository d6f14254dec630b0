package repl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dbg/session"
)

// Tracepoints collect values without stopping the program. gdb's work only on targets that have an
// agent; these work on every live program, and from the moment they are set.

func traceCommands() []*command {
	const g = "breakpoints"
	return []*command{
		{name: "trace", aliases: []string{"tp", "tr", "tra", "trac", "ftrace"}, usage: "[LOCATION] [if CONDITION] [collect EXPR,...]", group: g, help: "count the hits and collect values there without stopping; tdump shows them", words: functionWords, run: setTrace},
		{name: "actions", usage: "[N]", group: g, once: true, help: "collect EXPR,... up to end: what a tracepoint collects; $args, $locals and $regs are lists", run: outside},
		{name: "collect", usage: "EXPR,...", group: g, help: "in a block of actions: what to collect", run: outside},
		{name: "tdump", usage: "[N] [COUNT]", group: g, help: "print the last hits of tracepoint N with what was collected", run: dumpTrace},
		{name: "tsave", usage: "FILE", group: g, once: true, help: "write all hits of all tracepoints as JSON lines", run: saveTrace},
		{name: "tclear", usage: "[N]", group: g, once: true, help: "forget the hits of tracepoint N, or of all", run: clearTrace},
		{name: "tstart", group: g, once: true, help: "enable all tracepoints, and forget earlier hits", run: enableTraces(true)},
		{name: "tstop", group: g, once: true, help: "disable all tracepoints", run: enableTraces(false)},
		{name: "tstatus", group: g, help: "print how often tracepoints were hit", run: traceStatus},
	}
}

func setTrace(sh *shell, args string) error {
	var collect []string
	if rest, list, ok := strings.Cut(" "+args, " collect "); ok {
		args, collect = strings.TrimSpace(rest), session.SplitExpressions(list)
	}
	return setBreakWith(session.BreakpointSpec{Trace: &session.TraceSpec{Collect: collect}})(sh, args)
}

// setActions stores what a tracepoint collects: the one with the number in args, or the newest.
func (sh *shell) setActions(args string, body block) error {
	ids := sh.newest
	if args = strings.TrimSpace(args); args != "" {
		var err error
		if ids, err = numbers(sh.bpnum(args)); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return userErrorf("No tracepoints specified.")
	}
	var collect []string
	for i := range body {
		word, list := cutWord(body[i].text)
		if word != "collect" && word != "teval" || word == "teval" {
			return userErrorf("`%s' is not a tracepoint action, or is ambiguous.", word)
		}
		collect = append(collect, session.SplitExpressions(list)...)
	}
	for _, id := range ids {
		if err := sh.sess.SetCollect(id, collect); err != nil {
			return err
		}
	}
	return nil
}

// traces lists the tracepoints, or the one with the number in args.
func (sh *shell) traces(args string) ([]session.Breakpoint, error) {
	var out []session.Breakpoint
	for _, b := range sh.sess.Breakpoints() {
		if b.Spec.Trace != nil && (args == "" || strconv.Itoa(b.ID) == args) {
			out = append(out, b)
		}
	}
	if len(out) == 0 && args != "" {
		return nil, userErrorf("No tracepoint number %s.", args)
	}
	return out, nil
}

// infoTrace prints the table of tracepoints, or all hits as JSON lines.
func infoTrace(sh *shell, args string) error {
	list, err := sh.traces(args)
	if err != nil {
		return err
	}
	if sh.opts.JSON {
		return sh.traceLines(sh.out, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No tracepoints.")
		return nil
	}
	sh.printBreakpoints(list)
	return nil
}

// jsonTrace is a hit of a tracepoint as JSON.
type jsonTrace struct {
	Tracepoint int               `json:"tracepoint"`
	Hit        uint64            `json:"hit"`
	Time       string            `json:"time"`
	Thread     int               `json:"thread"`
	Address    string            `json:"address"`
	Function   string            `json:"function,omitempty"`
	File       string            `json:"file,omitempty"`
	Line       int               `json:"line,omitempty"`
	Values     map[string]string `json:"values,omitempty"`
	Errors     map[string]string `json:"errors,omitempty"`
}

// traceLines writes hits as JSON, one a line.
func (sh *shell) traceLines(w io.Writer, list []session.Breakpoint) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	const batch = 1000
	for _, b := range list {
		for from := uint64(1); ; {
			records, _, err := sh.sess.TraceRecords(b.ID, from, batch)
			if err != nil {
				return err
			}
			for _, r := range records {
				j := jsonTrace{Tracepoint: b.ID, Hit: r.Number, Time: r.Time.UTC().Format(time.RFC3339Nano), Thread: int(r.Thread), Address: r.Place.Addr.String(),
					Function: r.Place.Function, File: r.Place.Position.File, Line: r.Place.Position.Line}
				for _, v := range r.Values {
					into := &j.Values
					text := v.Text
					if v.Err != "" {
						into, text = &j.Errors, v.Err
					}
					if *into == nil {
						*into = map[string]string{}
					}
					(*into)[v.Name] = text
				}
				if err := e.Encode(&j); err != nil {
					return err
				}
			}
			if len(records) < batch {
				break
			}
			from = records[len(records)-1].Number + 1
		}
	}
	return nil
}

func dumpTrace(sh *shell, args string) error {
	number, rest := cutWord(args)
	list, err := sh.traces(number)
	if err != nil {
		return err
	}
	most := 10
	if rest != "" {
		if most, err = strconv.Atoi(rest); err != nil || most < 1 {
			return userErrorf("A count above 0 is expected, not \"%s\".", rest)
		}
	}
	if len(list) == 0 {
		return userErrorf("No tracepoints.")
	}
	for _, b := range list {
		from := uint64(1)
		if b.Hits > most {
			from = uint64(b.Hits-most) + 1
		}
		records, lost, err := sh.sess.TraceRecords(b.ID, from, most)
		if err != nil {
			return err
		}
		note := ""
		if lost > 0 {
			note = fmt.Sprintf("; the first %d are no longer kept", lost)
		}
		fmt.Fprintf(sh.out, "Tracepoint %d: %d hits%s.\n", b.ID, b.Hits, note)
		for _, r := range records {
			fmt.Fprintf(sh.out, "Hit %d, LWP %d, %s, %s:%d\n", r.Number, r.Thread, r.Time.Format("15:04:05.000000"), sh.names().source(r.Place.Position.File), r.Place.Position.Line)
			for _, v := range r.Values {
				text := v.Text
				if v.Err != "" {
					text = "<" + v.Err + ">"
				}
				fmt.Fprintf(sh.out, "  %s = %s\n", v.Name, text)
			}
		}
	}
	return nil
}

func saveTrace(sh *shell, args string) error {
	path := strings.TrimSpace(args)
	if path == "" {
		return userErrorf("Argument required (file in which to save trace data).")
	}
	list, err := sh.traces("")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".trace*") // an old file stays whole if this fails
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(sh.traceLines(f, list), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	sh.announce("Trace data saved to file '%s'.\n", path)
	return nil
}

func clearTrace(sh *shell, args string) error {
	list, err := sh.traces(strings.TrimSpace(args))
	if err != nil {
		return err
	}
	for _, b := range list {
		if err := sh.sess.ClearTrace(b.ID); err != nil {
			return err
		}
	}
	return nil
}

func enableTraces(on bool) func(*shell, string) error {
	return func(sh *shell, args string) error {
		list, err := sh.traces("")
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return userErrorf("No tracepoints defined, not starting trace")
		}
		for _, b := range list {
			if err := sh.sess.EnableBreakpoint(b.ID, on); err != nil {
				return err
			}
			if on {
				if err := sh.sess.ClearTrace(b.ID); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func traceStatus(sh *shell, args string) error {
	list, err := sh.traces("")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No tracepoints.")
		return nil
	}
	for _, b := range list {
		state := "collects"
		if !b.Enabled {
			state = "is disabled"
		}
		fmt.Fprintf(sh.out, "Tracepoint %d %s: %d hits.\n", b.ID, state, b.Hits)
	}
	return nil
}
