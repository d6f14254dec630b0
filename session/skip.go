package session

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dbg/symbols"
	"dbg/target"
)

// SkipSpec selects functions that a step does not enter: those of a file, those of a name, or those
// that have both.
type SkipSpec struct {
	File          string // "": any file
	FileGlob      bool   // File is a pattern
	Function      string // "": any function
	FunctionRegex bool   // Function is a regular expression
}

// Skip is an entry of the list of functions that a step does not enter.
type Skip struct {
	SkipSpec
	Number  int
	Enabled bool

	regex *regexp.Regexp
}

// skipList holds the entries by rising number.
type skipList struct {
	all  []Skip
	next int
}

// AddSkip adds an entry and returns its number.
func (s *Session) AddSkip(spec SkipSpec) (int, error) {
	k := Skip{SkipSpec: spec, Enabled: true}
	if spec.FunctionRegex {
		re, err := regexp.Compile(spec.Function)
		if err != nil {
			return 0, fmt.Errorf("regexp: %w", err)
		}
		k.regex = re
	}
	if spec.FileGlob {
		if _, err := path.Match(spec.File, ""); err != nil {
			return 0, fmt.Errorf("%q: %w", spec.File, err)
		}
	}
	return ask(s, func() (int, error) {
		s.skips.next++
		k.Number = s.skips.next
		s.skips.all = append(s.skips.all, k)
		return k.Number, nil
	})
}

// Skips lists the entries by number.
func (s *Session) Skips() []Skip {
	out, _ := ask(s, func() ([]Skip, error) { return slices.Clone(s.skips.all), nil })
	return out
}

// DeleteSkip removes an entry. It returns false if there is none with that number.
func (s *Session) DeleteSkip(number int) (found bool) {
	_ = s.do(func() {
		before := len(s.skips.all)
		s.skips.all = slices.DeleteFunc(s.skips.all, func(k Skip) bool { return k.Number == number })
		found = len(s.skips.all) < before
	})
	return found
}

// EnableSkip enables or disables an entry. It returns false if there is none with that number.
func (s *Session) EnableSkip(number int, on bool) (found bool) {
	_ = s.do(func() {
		for i := range s.skips.all {
			if s.skips.all[i].Number == number {
				s.skips.all[i].Enabled, found = on, true
			}
		}
	})
	return found
}

// FunctionHere returns the name and the file of the selected frame's function. They are empty if
// they are unknown.
func (s *Session) FunctionHere() (function, file string) {
	_ = s.do(func() {
		if f, err := s.frame(s.selected, s.level); err == nil {
			function, file = f.FunctionName, f.Position.File
		}
	})
	return function, file
}

// skipped reports whether a step must not enter the code at an address.
func (s *Session) skipped(a target.Addr) bool {
	if !slices.ContainsFunc(s.skips.all, func(k Skip) bool { return k.Enabled }) {
		return false
	}
	m := s.modules.find(a)
	if m == nil || m.Symbols == nil {
		return false
	}
	fn := m.Symbols.FunctionAt(m.fileAddr(a))
	if fn == nil {
		return false
	}
	file := fn.File
	if lr, ok := m.Symbols.LineAt(m.fileAddr(a)); ok && lr.File != "" {
		file = lr.File
	}
	return s.skips.matches(fn, file, func() string { return m.Symbols.Signature(m.fileAddr(a)) })
}

// skippedCall reports whether a step must not enter one of the inlined calls.
func (s *Session) skippedCall(calls []symbols.Call) bool {
	for i := range calls {
		if fn := calls[i].Function; fn != nil && s.skips.matches(fn, fn.File, func() string { return "" }) {
			return true
		}
	}
	return false
}

// matches reports whether an enabled entry selects a function. signature returns its name with
// parameters, or "".
func (l *skipList) matches(fn *symbols.Function, file string, signature func() string) bool {
	for i := range l.all {
		if k := &l.all[i]; k.Enabled && k.matchesFile(file) && k.matchesFunction(fn.Name, signature) {
			return true
		}
	}
	return false
}

func (k *Skip) matchesFile(file string) bool {
	switch {
	case k.File == "":
		return true
	case file == "":
		return false
	case !k.FileGlob:
		return sameFile(file, k.File)
	}
	if ok, _ := path.Match(k.File, file); ok {
		return true
	}
	ok, _ := path.Match(k.File, filepath.Base(file))
	return ok && !strings.Contains(k.File, "/")
}

func (k *Skip) matchesFunction(name string, signature func() string) bool {
	switch {
	case k.Function == "":
		return true
	case k.regex != nil:
		return k.regex.MatchString(name)
	case k.Function == name:
		return true
	case strings.Contains(k.Function, "("):
		return withoutBlanks(k.Function) == withoutBlanks(signature())
	}
	return false
}

func withoutBlanks(s string) string { return strings.ReplaceAll(s, " ", "") }
