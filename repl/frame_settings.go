package repl

import (
	"slices"
	"strings"

	"dbg/session"
)

// frameSettings are the settings of "set print" for the lines of frames.
type frameSettings struct {
	arguments string // frame-arguments: one of argumentWords; "" means scalars
	entries   string // entry-values: one of entryWords; "" means default
	noAddress bool   // print address off
}

// The words of the settings, in the order of gdb's messages.
var (
	argumentWords = []string{"all", "scalars", "none", "presence"}
	entryWords    = []string{"no", "only", "preferred", "if-needed", "both", "compact", "default"}
)

// lost is the value of a parameter that is not known.
const lost = "<optimized out>"

// list returns the parameters of a frame as its line shows them.
func (s frameSettings) list(n *names, args []session.Argument) string {
	if s.arguments == "presence" {
		if len(args) == 0 {
			return ""
		}
		return "..."
	}
	var parts []string
	for i := range args {
		parts = append(parts, s.argument(n, &args[i]))
	}
	return strings.Join(parts, ", ")
}

// argument returns a parameter with its value now, its value when the function was entered, or both.
func (s frameSettings) argument(n *names, a *session.Argument) string {
	name := n.paint(colorName, a.Name)
	value, entry := s.value(a.Value), s.value(a.AtEntry)
	now, before := name+"="+value, name+"@entry="+entry
	if s.arguments == "none" {
		now, before = name+"=...", name+"@entry=..."
	}
	same := name + "=" + before
	known := a.Value != lost
	switch s.entries {
	case "no":
		return now
	case "only", "both":
		if a.AtEntry == "" {
			before = name + "@entry=" + lost
		}
		if s.entries == "only" {
			return before
		}
		return now + ", " + before
	case "preferred":
		if a.AtEntry != "" {
			return before
		}
		return now
	case "if-needed":
		if a.AtEntry != "" && !known {
			return before
		}
		return now
	case "compact":
		switch {
		case a.AtEntry != "" && a.Unchanged:
			return same
		case a.AtEntry != "" && !known:
			return before
		}
		return now
	}
	switch {
	case a.AtEntry == "":
		return now
	case a.Unchanged:
		return same
	}
	return now + ", " + before
}

// value shortens a value as the setting wants it.
func (s frameSettings) value(v string) string {
	if s.arguments == "all" {
		return v
	}
	return shortValue(v)
}

// wordSetting is a setting of "set print" whose value is one of some words.
type wordSetting struct {
	says  string // the sentence of "show"
	words []string
	usual string // the value at the start
	of    func(*printOptions) *string
}

var wordSettings = map[string]wordSetting{
	"frame-arguments": {"Printing of non-scalar frame arguments is \"%s\".", argumentWords, "scalars",
		func(o *printOptions) *string { return &o.frame.arguments }},
	"entry-values": {"Printing of function arguments at function entry is \"%s\".", entryWords, "default",
		func(o *printOptions) *string { return &o.frame.entries }},
}

// set changes the setting in o; an unambiguous beginning of a word suffices.
func (s *wordSetting) set(o *printOptions, value string) error {
	found := ""
	for _, w := range s.words {
		if w == value {
			found = w
			break
		}
		if value != "" && strings.HasPrefix(w, value) {
			if found != "" {
				return userErrorf("Ambiguous item \"%s\".", value)
			}
			found = w
		}
	}
	switch {
	case value == "":
		return userErrorf("Requires an argument. Valid arguments are %s.", strings.Join(s.words, ", "))
	case found == "":
		return userErrorf("Undefined item: \"%s\".", value)
	}
	*s.of(o) = found
	return nil
}

func (s *wordSetting) value(o *printOptions) string {
	if v := *s.of(o); slices.Contains(s.words, v) {
		return v
	}
	return s.usual
}
