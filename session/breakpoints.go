package session

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"dbg/eval"
	"dbg/symbols"
	"dbg/target"
)

// logical is a breakpoint as the user requested it. Its places are its current addresses. They
// change when files are mapped and when the program starts and ends; the logical breakpoint stays.
type logical struct {
	Breakpoint
	watch    *watch                                 // of a watchpoint, else nil
	catch    *catch                                 // of a catchpoint, else nil
	found    map[*symbols.Module][]symbols.Location // the locations in each file, searched once
	ignore   int                                    // the number of hits still to ignore
	programs map[target.Addr]program                // the compiled condition, by place
	tried    int                                    // the number of decisions by the full evaluator
	slowest  time.Duration                          // the duration of the latest of them
	trace    *traceBuffer                           // of a tracepoint, else nil
	tracing  map[target.Addr]*tracePlace            // what it collects, by place
}

// internalKind is the purpose of an internal breakpoint.
type internalKind uint8

const (
	internalLinker  internalKind = iota // the dynamic linker's list has changed
	internalStep                        // a plan waits here
	internalJIT                         // the program reports code that it has generated
	internalScope                       // the frame of a watchpoint's variables is left
	internalCall                        // a called function returns here
	internalLanding                     // an exception, a longjmp or a panic is about to land
)

// breakpointTable holds all breakpoints.
type breakpointTable struct {
	all      []*logical
	internal map[target.Addr][]internalKind
}

func (t *breakpointTable) init() {
	t.internal = map[target.Addr][]internalKind{}
}

// setInternal inserts an internal breakpoint.
func (t *breakpointTable) setInternal(s *Session, a target.Addr, k internalKind) error {
	t.internal[a] = append(t.internal[a], k)
	if k != internalStep && k != internalCall && k != internalLanding {
		s.publishRules()
	}
	err := s.proc.InsertBreakpoint(a)
	if err != nil {
		t.internal[a] = t.internal[a][:len(t.internal[a])-1]
		s.dirty = true
	}
	return err
}

// clearInternal removes an internal breakpoint.
func (t *breakpointTable) clearInternal(s *Session, a target.Addr, k internalKind) {
	for i, have := range t.internal[a] {
		if have == k {
			t.internal[a] = append(t.internal[a][:i:i], t.internal[a][i+1:]...)
			if len(t.internal[a]) == 0 {
				delete(t.internal, a)
			}
			if s.proc != nil {
				if err := s.proc.RemoveBreakpoint(a); err != nil {
					s.logf("can't remove a breakpoint: %v", err)
				}
			}
			return
		}
	}
}

func (t *breakpointTable) hasInternal(a target.Addr, k internalKind) bool {
	for _, have := range t.internal[a] {
		if have == k {
			return true
		}
	}
	return false
}

// forgetSites clears what was inserted into a process that has ended.
func (t *breakpointTable) forgetSites() {
	clear(t.internal)
	for _, b := range t.all {
		b.Places = nil
	}
}

func (t *breakpointTable) byID(id int) *logical {
	for _, b := range t.all {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// public returns the copy for users. It describes only the first place.
func (b *logical) public() Breakpoint {
	if len(b.Places) > 0 {
		b.Places[0].describe()
	}
	c := b.Breakpoint
	c.Places = append([]BreakpointPlace(nil), b.Places...)
	if b.catch != nil {
		c.Caught = b.catch.last
	}
	c.Software = b.watch != nil && b.watch.soft
	if b.trace != nil {
		b.trace.mu.Lock()
		c.Hits = int(b.trace.hits)
		b.trace.mu.Unlock()
	}
	return c
}

// SetBreakpoint sets a breakpoint. If it has no place yet, the result depends on pending: if true,
// the breakpoint is set and is pending; otherwise nothing is set, and the error is a
// *NoLocationError.
func (s *Session) SetBreakpoint(spec BreakpointSpec, pending bool) (Breakpoint, error) {
	return ask(s, func() (Breakpoint, error) {
		b := &logical{Breakpoint: Breakpoint{Spec: spec, Enabled: !spec.Disabled}, found: map[*symbols.Module][]symbols.Location{}}
		b.ignore = spec.Ignore
		if spec.Watch != nil {
			return s.setWatch(b)
		}
		if _, err := parseHitCondition(spec.HitCondition); err != nil {
			return Breakpoint{}, err
		}
		if spec.Catch != nil {
			if s.state == IsCore {
				return Breakpoint{}, errNoCatch
			}
			var err error
			if b.catch, err = newCatch(spec.Catch); err != nil {
				return Breakpoint{}, err
			}
		}
		places, err := s.resolve(b)
		if err != nil && !pending {
			return Breakpoint{}, err
		}
		if spec.Condition != "" {
			if err := s.checkCondition(spec.Condition, places); err != nil {
				return Breakpoint{}, err
			}
		}
		if spec.Trace != nil {
			if err := s.checkCollect(spec.Trace.Collect, places); err != nil {
				return Breakpoint{}, err
			}
			b.trace = &traceBuffer{most: traceMost}
		}
		if err := s.cutError(); err != nil {
			return Breakpoint{}, err
		}
		b.ID = s.group.newBreakpoint()
		s.breakpoints.all = append(s.breakpoints.all, b)
		if err != nil {
			b.Problem = err.Error()
		}
		if err := s.place(b, places); err != nil {
			if !pending {
				s.remove(b)
				return Breakpoint{}, err
			}
			b.Problem = err.Error()
		}
		for _, o := range s.others() {
			o.inherit(b)
		}
		return b.public(), nil
	})
}

// place sets the breakpoint's places. It inserts those that are new, and removes those that are no
// longer there.
func (s *Session) place(b *logical, places []BreakpointPlace) error {
	old := map[target.Addr]bool{}
	for _, p := range b.Places {
		old[p.Addr] = true
	}
	live := s.proc != nil && b.Enabled
	b.Places = places
	s.compileFor(b)
	if b.trace != nil {
		s.setTrace(b)
	}
	s.publishRules() // before a thread can hit a new site
	var firstErr error
	var kept []BreakpointPlace
	for _, p := range places {
		if old[p.Addr] {
			delete(old, p.Addr)
		} else if live {
			if err := s.insertAt(b, p.Addr); err != nil {
				if firstErr == nil {
					firstErr = fmt.Errorf("cannot insert a breakpoint at %s: %w", p.Addr, err)
				}
				continue
			}
		}
		kept = append(kept, p)
	}
	if live {
		for a := range old {
			s.removeAt(b, a) // if the file is unmapped, there is nothing to restore
		}
	}
	b.Places = kept
	s.publishRules()
	return firstErr
}

// insertAt inserts a site of a breakpoint.
func (s *Session) insertAt(b *logical, a target.Addr) error {
	if b.Spec.Hardware {
		return s.proc.InsertWatch(target.Watch{Addr: a, Len: 1, Kind: target.WatchExecute})
	}
	return s.proc.InsertBreakpoint(a)
}

// removeAt removes a site of a breakpoint.
func (s *Session) removeAt(b *logical, a target.Addr) {
	if b.Spec.Hardware {
		_ = s.proc.RemoveWatch(target.Watch{Addr: a, Len: 1, Kind: target.WatchExecute})
		return
	}
	_ = s.proc.RemoveBreakpoint(a)
}

// compileFor compiles a breakpoint's condition for each of its places, where that is possible.
func (s *Session) compileFor(b *logical) {
	const most = 64 // a thousand programs for a thousand places are not worth it
	b.programs = nil
	if b.Spec.Condition == "" || len(b.Places) > most || s.tgt == nil {
		return
	}
	b.programs = map[target.Addr]program{}
	for _, p := range b.Places {
		if c, err := s.compileCondition(b.Spec.Condition, p); err == nil {
			b.programs[p.Addr] = c
		}
	}
}

// remove takes a breakpoint out of the table and the process.
func (s *Session) remove(b *logical) {
	if b.watch != nil {
		s.disarm(b)
	}
	s.place(b, nil)
	for i, have := range s.breakpoints.all {
		if have == b {
			s.breakpoints.all = append(s.breakpoints.all[:i:i], s.breakpoints.all[i+1:]...)
			s.publishRules()
			return
		}
	}
}

// DeleteBreakpoint removes a breakpoint.
func (s *Session) DeleteBreakpoint(id int) error {
	return s.try(func() error {
		return s.edit(id, func(o *Session, b *logical) error { o.remove(b); return nil })
	})
}

// EnableBreakpoint enables or disables a breakpoint.
func (s *Session) EnableBreakpoint(id int, on bool) error {
	return s.try(func() error {
		return s.edit(id, func(o *Session, b *logical) error {
			b.Spec.Once, b.Spec.Count = false, 0
			return o.enable(b, on)
		})
	})
}

func (s *Session) enable(b *logical, on bool) error {
	if b.Enabled == on {
		return nil
	}
	if b.watch != nil {
		return s.enableWatch(b, on)
	}
	places := b.Places
	if !on {
		s.place(b, nil)
		b.Enabled, b.Places = false, places
		s.publishRules()
		return nil
	}
	b.Enabled, b.Places = true, nil
	return s.place(b, places)
}

// EnableFor enables a breakpoint until its next stop (enable once), for count stops (enable count),
// or deletes it at its next stop (enable delete).
func (s *Session) EnableFor(id int, once, deletes bool, count int) error {
	return s.try(func() error {
		return s.edit(id, func(o *Session, b *logical) error {
			b.Spec.Once, b.Spec.Temporary, b.Spec.Count = once, deletes, count
			return o.enable(b, true)
		})
	})
}

// dispose does what a breakpoint's disposition asks for after a stop, and reports whether it was
// deleted.
func (s *Session) dispose(b *logical) (deleted bool) {
	if b.Spec.Temporary {
		_ = s.edit(b.ID, func(o *Session, b *logical) error { o.remove(b); return nil })
		s.publish(BreakpointChanged{Breakpoint: b.public(), Deleted: true})
		return true
	}
	off := b.Spec.Once
	if b.Spec.Count > 0 {
		b.Spec.Count--
		off = off || b.Spec.Count == 0
	}
	s.share(b)
	if off {
		if err := s.edit(b.ID, func(o *Session, b *logical) error { return o.enable(b, false) }); err != nil {
			s.logf("disabling breakpoint %d: %v", b.ID, err)
		}
	}
	s.publish(BreakpointChanged{Breakpoint: b.public()})
	return false
}

// SetCondition changes a breakpoint's condition; "" removes it.
func (s *Session) SetCondition(id int, cond string) error {
	return s.try(func() error {
		if b := s.breakpoints.byID(id); cond != "" && b != nil {
			if err := s.checkCondition(cond, b.Places); err != nil {
				return err
			}
		}
		return s.edit(id, func(o *Session, b *logical) error {
			b.Spec.Condition = cond
			o.compileFor(b)
			o.publishRules()
			return nil
		})
	})
}

// SetIgnore makes the breakpoint ignore its next n hits.
func (s *Session) SetIgnore(id, n int) error {
	return s.try(func() error {
		return s.edit(id, func(o *Session, b *logical) error {
			b.ignore, b.Spec.Ignore = n, n
			o.publishRules()
			return nil
		})
	})
}

// Breakpoints lists all breakpoints of the group by number, with their places in all processes.
func (s *Session) Breakpoints() []Breakpoint {
	out, _ := ask(s, func() ([]Breakpoint, error) {
		members := s.group.list()
		// The places of programs that do not run are of interest only if none does.
		live := slices.ContainsFunc(members, func(o *Session) bool { return o.tgt != nil })
		index := map[int]int{} // of out, by number
		var out []Breakpoint
		for _, o := range members {
			for _, b := range o.breakpoints.all {
				for i := range b.Places {
					b.Places[i].describe()
				}
				c := b.public()
				if live && o.tgt == nil {
					c.Places = nil
				}
				if len(members) > 1 {
					for i := range c.Places {
						c.Places[i].Session = o.Number()
					}
				}
				at, seen := index[b.ID]
				switch {
				case !seen:
					index[b.ID] = len(out)
					out = append(out, c)
				case len(out[at].Places) == 0:
					out[at] = c
				default:
					out[at].Places = append(out[at].Places, c.Places...)
					if c.Problem == "" {
						out[at].Problem = ""
					}
				}
			}
		}
		sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
		return out, nil
	})
	return out
}

// hit decides for a thread at address a which breakpoints there stop the program.
func (s *Session) hit(t target.ThreadID, a target.Addr) (stop, deleted []int) {
	if d, ok := s.decidedHit(t, a); ok {
		return d.ids, d.deleted
	}
	// A log point may be at the same address as a temporary breakpoint: all are evaluated.
	for _, b := range append([]*logical(nil), s.breakpoints.all...) {
		if !b.Enabled || !b.at(a) || (b.Spec.Thread != 0 && b.Spec.Thread != t) {
			continue
		}
		began := time.Now()
		var caught *Caught
		if b.catch != nil {
			c, ok := s.catches(b, t, a)
			if !ok {
				b.decided(s, began)
				continue
			}
			caught = c
		}
		if b.trace != nil {
			s.traceSlowly(b, t, a)
			b.decided(s, began)
			continue
		}
		stops, gone := s.counted(b, t)
		if !stops || b.Spec.Condition != "" || caught != nil {
			b.decided(s, began)
		}
		if !stops {
			continue
		}
		if caught != nil {
			s.keepCaught(b, caught)
		}
		stop = append(stop, b.ID)
		if gone {
			deleted = append(deleted, b.ID)
		}
	}
	return stop, deleted
}

// traceSlowly decides about a hit of a tracepoint that the judge could not decide.
func (s *Session) traceSlowly(b *logical, t target.ThreadID, a target.Addr) {
	if b.Spec.Condition != "" {
		if ok, err := s.condition(b.Spec.Condition, t); err != nil || !ok {
			return
		}
	}
	if b.ignore > 0 {
		b.ignore--
		b.Spec.Ignore = b.ignore
		s.share(b)
		s.publishRules()
		return
	}
	s.recordSlowly(b, t, a)
}

// counted counts a hit of a breakpoint by a thread and decides whether it stops the program.
// deleted means that the breakpoint was temporary.
func (s *Session) counted(b *logical, t target.ThreadID) (stops, deleted bool) {
	if b.Spec.Condition != "" {
		ok, err := s.condition(b.Spec.Condition, t)
		if err != nil {
			// A condition that can't be evaluated stops the program: continuing would hide the
			// error.
			s.publish(LogMessage{Warning: true, Text: fmt.Sprintf("Error in testing condition for breakpoint %d: %v", b.ID, err)})
		} else if !ok {
			return false, false
		}
	}
	b.Hits++
	defer s.share(b)
	if b.ignore > 0 {
		b.ignore--
		b.Spec.Ignore = b.ignore
		s.publish(BreakpointChanged{Breakpoint: b.public()})
		return false, false
	}
	if c, err := parseHitCondition(b.Spec.HitCondition); err == nil && c != nil && !c(b.Hits) {
		return false, false
	}
	if b.Spec.logs() {
		s.log(b, t)
		return false, false
	}
	return true, s.dispose(b)
}

// decided records how long the full evaluator took. From that, the judge knows whether it may use
// the evaluator on the tracer's thread.
func (b *logical) decided(s *Session, began time.Time) {
	was := b.tried > 0 && b.slowest < quickEnough
	b.tried++
	b.slowest = time.Since(began)
	if now := b.slowest < quickEnough; now != was || b.ignore == 0 && b.Spec.Ignore == 0 && b.tried == 1 {
		s.publishRules()
	}
}

func (b *logical) at(a target.Addr) bool {
	for _, p := range b.Places {
		if p.Addr == a {
			return true
		}
	}
	return false
}

// condition evaluates a condition in the thread's frame 0.
func (s *Session) condition(text string, t target.ThreadID) (bool, error) {
	env := s.env(t, 0)
	v, err := eval.Evaluate(text, env)
	if err != nil {
		return false, err
	}
	return eval.Truth(v, env)
}

// logs reports whether a breakpoint prints a text instead of stopping.
func (b *BreakpointSpec) logs() bool { return b.LogMessage != "" || b.LogFormat != nil }

// log prints the text of a log point.
func (s *Session) log(b *logical, t target.ThreadID) {
	if b.Spec.LogFormat == nil {
		s.publish(LogMessage{Text: s.expandLog(b.Spec.LogMessage, t)})
		return
	}
	text, err := s.printf(*b.Spec.LogFormat, s.env(t, 0))
	if err != nil {
		s.publish(LogMessage{Warning: true, Text: fmt.Sprintf("dprintf %d: %v", b.ID, err)})
		return
	}
	s.publish(LogMessage{Text: text, Plain: true})
}

// expandLog replaces {expr} in a log point's message. {{ and }} stand for braces.
func (s *Session) expandLog(msg string, t target.ThreadID) string {
	env := s.env(t, 0)
	var out strings.Builder
	for i := 0; i < len(msg); i++ {
		c := msg[i]
		if (c == '{' || c == '}') && i+1 < len(msg) && msg[i+1] == c {
			out.WriteByte(c)
			i++
			continue
		}
		if c == '{' {
			if end := closingBrace(msg[i:]); end > 0 {
				v, err := eval.Evaluate(msg[i+1:i+end], env)
				if err != nil {
					fmt.Fprintf(&out, "<%v>", err)
				} else {
					out.WriteString(eval.Format(v, env, eval.DefaultOptions()))
				}
				i += end
				continue
			}
		}
		out.WriteByte(c)
	}
	return out.String()
}

// closingBrace returns the index of the brace that closes the one at msg[0], or -1.
func closingBrace(msg string) int {
	depth := 0
	for i := 0; i < len(msg); i++ {
		switch msg[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// parseHitCondition accepts "5" (the fifth hit and all later ones, as in most adapters), "==5",
// ">5", ">=5", "<5", "<=5" and "%5".
func parseHitCondition(text string) (func(int) bool, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	op := strings.TrimRight(text, "0123456789 ")
	n, err := strconv.Atoi(strings.TrimSpace(text[len(op):]))
	if err != nil || n < 0 {
		return nil, fmt.Errorf("hit condition %q: expected a number, perhaps after one of == > >= < <= %%", text)
	}
	switch strings.TrimSpace(op) {
	case "", ">=":
		return func(h int) bool { return h >= n }, nil
	case "==", "=":
		return func(h int) bool { return h == n }, nil
	case ">":
		return func(h int) bool { return h > n }, nil
	case "<":
		return func(h int) bool { return h < n }, nil
	case "<=":
		return func(h int) bool { return h <= n }, nil
	case "%":
		if n == 0 {
			return nil, errors.New("hit condition: expected a number above 0 after %")
		}
		return func(h int) bool { return h%n == 0 }, nil
	}
	return nil, fmt.Errorf("hit condition %q: expected a number, perhaps after one of == > >= < <= %%", text)
}
