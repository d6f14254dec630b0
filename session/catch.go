package session

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"dbg/symbols"
	"dbg/target"
)

// CatchKind is the kind of event that a catchpoint waits for.
type CatchKind uint8

const (
	CatchThrow       CatchKind = iota // a C++ exception is thrown
	CatchCatch                        // a C++ exception is caught
	CatchRethrow                      // a C++ exception is thrown again
	CatchPanic                        // a panic of Rust or Go
	CatchAbort                        // the program calls abort
	CatchAssert                       // an assertion has failed
	CatchFork                         // a child was forked
	CatchVfork                        // a child was created by vfork
	CatchExec                         // the process executed another program
	CatchLoad                         // a library was loaded
	CatchUnload                       // a library was unloaded
	CatchSignal                       // the process received a signal
	CatchSyscall                      // a system call began or ended
	CatchThreadStart                  // a thread was created
	CatchThreadExit                   // a thread has ended
)

// CatchSpec makes a breakpoint a catchpoint.
type CatchSpec struct {
	Kind CatchKind
	// Match is a regular expression for the type of an exception, or for the path of a library; ""
	// matches all.
	Match string
	// Signals lists the signals of CatchSignal. Without any, all are caught except those that
	// debuggers use; AllSignals includes these.
	Signals    []int
	AllSignals bool
	// Syscalls lists the numbers of CatchSyscall; without any, all are caught.
	Syscalls []int
}

// Caught describes what a catchpoint caught. Unknown parts are empty.
type Caught struct {
	ID   int // the catchpoint
	Kind CatchKind
	// Type is the type of an exception, or of a panic's value.
	Type string
	// Message is an exception's message, a panic's value, or a failed assertion, if HasMessage is
	// set.
	Message    string
	HasMessage bool
	// Silent means that the exception or the panic has a message that can't be read.
	Silent bool
	// File, Line and Function are the place of a failed assertion.
	File     string
	Line     int
	Function string

	Signal   int      // of CatchSignal
	Child    int      // the process id of a child
	Path     string   // the program of CatchExec
	Paths    []string // the libraries of CatchLoad and CatchUnload
	Thread   target.ThreadID
	Syscall  int  // the number of a system call
	Returned bool // the system call has returned
}

// catch is the state of a catchpoint.
type catch struct {
	match *regexp.Regexp // nil matches all
	found map[*symbols.Module][]catchPlace
	at    map[target.Addr]catchPlace // by address in the process
	last  *Caught                    // the latest, for Breakpoint.Caught
}

// matches reports whether a name is one that the catchpoint waits for.
func (c *catch) matches(name string) bool { return c.match == nil || c.match.MatchString(name) }

// inFunctions reports whether catchpoints of a kind have their places in functions.
func (k CatchKind) inFunctions() bool { return k <= CatchAssert }

// newCatch prepares a catchpoint.
func newCatch(spec *CatchSpec) (*catch, error) {
	c := &catch{found: map[*symbols.Module][]catchPlace{}}
	if spec.Match != "" {
		re, err := regexp.Compile(spec.Match)
		if err != nil {
			return nil, fmt.Errorf("invalid regexp: %w", err)
		}
		c.match = re
	}
	for _, n := range spec.Signals {
		if n < 1 || n >= target.NumSignals {
			return nil, fmt.Errorf("no signal %d", n)
		}
	}
	return c, nil
}

// ParseCatch parses what follows the event of a catchpoint: REGEX, "thread N", "if CONDITION". It
// sets spec.Catch.Match.
func (s *Session) ParseCatch(spec *BreakpointSpec, text string) (err error) {
	spec.Catch.Match, err = s.parseQualifiers(spec, text)
	return err
}

// resolveCatch finds a catchpoint's places in the loaded files. It has none until the library with
// its functions is loaded.
func (s *Session) resolveCatch(b *logical) ([]BreakpointPlace, error) {
	kind := b.Spec.Catch.Kind
	b.catch.at = map[target.Addr]catchPlace{}
	if !kind.inFunctions() {
		return nil, nil
	}
	var out []BreakpointPlace
	for i, f := range s.searchList() {
		list, ok := b.catch.found[f.sym]
		if !ok {
			list = catchPlaces(f.sym, kind, i == 0)
			if err := s.cutError(); err != nil {
				return nil, err
			}
			b.catch.found[f.sym] = list
		}
		for _, p := range list {
			a := target.Addr(p.addr)
			if f.mod != nil {
				a = f.mod.processAddr(p.addr)
			}
			if _, ok := b.catch.at[a]; !ok {
				b.catch.at[a] = p
				out = append(out, BreakpointPlace{Addr: a, Module: f.mod})
			}
		}
	}
	return out, nil
}

// catches reports whether a thread at one of a catchpoint's places has an event for it, and
// describes the event.
func (s *Session) catches(b *logical, t target.ThreadID, a target.Addr) (*Caught, bool) {
	c := &Caught{ID: b.ID, Kind: b.Spec.Catch.Kind, Thread: t}
	p := b.catch.at[a]
	s.describeCaught(c, p)
	if b.catch.match != nil {
		if p.tell == tellFatal {
			return nil, false
		}
		if c.Type == "" {
			// Going on would hide an event that may be the one.
			s.publish(LogMessage{Warning: true, Text: fmt.Sprintf("The type at catchpoint %d is not known.", b.ID)})
		} else if !b.catch.matches(c.Type) {
			return nil, false
		}
	}
	return c, true
}

// keepCaught saves the description of an event until the stop is published.
func (s *Session) keepCaught(b *logical, c *Caught) {
	const most = 64 // more than the catchpoints that one event can hit
	b.catch.last = c
	if list := s.caught[c.Thread]; len(list) < most {
		s.caught[c.Thread] = append(list, c)
	}
}

// addCaught adds to a stop what its first catchpoint caught.
func (s *Session) addCaught(st *Stop) {
	list := s.caught[st.Thread]
	if st.Reason != StopBreakpoint && st.Reason != StopCatch || len(st.Breakpoints) == 0 {
		return
	}
	delete(s.caught, st.Thread)
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].ID == st.Breakpoints[0] {
			st.Reason, st.Caught = StopCatch, list[i]
			return
		}
	}
}

// catching lists the enabled catchpoints of a kind.
func (s *Session) catching(kind CatchKind) []*logical {
	var out []*logical
	for _, b := range s.breakpoints.all {
		if b.catch != nil && b.Enabled && b.Spec.Catch.Kind == kind {
			out = append(out, b)
		}
	}
	return out
}

// catchEvent decides whether catchpoints of a kind stop the program for an event, which match
// accepts. ids is empty if none does.
func (s *Session) catchEvent(e Caught, match func(*logical) bool) (ids, deleted []int) {
	for _, b := range slices.Clone(s.catching(e.Kind)) {
		if b.Spec.Thread != 0 && b.Spec.Thread != e.Thread || match != nil && !match(b) {
			continue
		}
		if stops, gone := s.counted(b, e.Thread); stops {
			c := e
			c.ID = b.ID
			s.keepCaught(b, &c)
			ids = append(ids, b.ID)
			if gone {
				deleted = append(deleted, b.ID)
			}
		}
	}
	return ids, deleted
}

var errNoCatch = errors.New("a core file has no events to catch")
