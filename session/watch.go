package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dbg/eval"
	"dbg/target"
)

// WatchKind says which accesses a watchpoint reports.
type WatchKind uint8

const (
	WatchChange WatchKind = iota // watch: the value has changed
	WatchRead                    // rwatch: the value was read
	WatchAccess                  // awatch: the value was read or written
)

// WatchSpec makes a breakpoint a watchpoint.
type WatchSpec struct {
	Expr string
	Kind WatchKind
	// Value, if it is in memory, is watched instead of Expr. Expr is only shown then.
	Value *Value
	// Location watches the memory that Expr designates when the watchpoint is set, whatever the
	// expression designates later (watch -location).
	Location bool
}

// WatchHit describes what a watchpoint saw. Old is unknown for a read.
type WatchHit struct {
	ID       int
	Spec     WatchSpec
	Software bool // it is watched by stepping
	Old      Value
	HasOld   bool
	New      Value
	Changed  bool
}

// maxWatches is the number of debug registers.
const maxWatches = 4

// watch is the state of a watchpoint.
type watch struct {
	// The frame whose variables the expression has, if any.
	framed bool
	thread target.ThreadID
	cfa    target.Addr
	scope  mark // where that frame's caller continues
	scoped bool // scope is a site

	ranges   []memRange // the memory that the value depends on, by rising address
	result   memRange   // of the value itself, if it is in memory
	inserted []target.Watch

	old  Value
	seen *seenBytes

	soft  bool        // it is watched by stepping
	probe *frameProbe // of a value in a register
}

// memRange is a range of memory.
type memRange struct {
	addr target.Addr
	size uint64
}

// seenBytes holds the contents of the watched ranges when they were last looked at. The judge reads
// and replaces them on the tracer's thread.
type seenBytes struct {
	mu sync.Mutex // guards last
	// last has the bytes of all ranges, one after the other.
	last   []byte
	probed []byte // what the probe has seen last
}

// read returns the contents of ranges, or nil if a part can't be read.
func readRanges(mem target.Memory, ranges []memRange) []byte {
	var out []byte
	for _, r := range ranges {
		at := len(out)
		out = append(out, make([]byte, r.size)...)
		if n, _ := mem.ReadMemory(r.addr, out[at:]); uint64(n) < r.size {
			return nil
		}
	}
	return out
}

// readLog is the environment of an expression that notes which memory its value depends on.
type readLog struct {
	*env
	ranges []memRange
}

// maxReads bounds the ranges that a readLog notes.
const maxReads = 1000

func (l *readLog) ReadMemory(a target.Addr, buf []byte) (int, error) {
	if len(buf) > 0 && len(l.ranges) < maxReads {
		l.ranges = append(l.ranges, memRange{a, uint64(len(buf))})
	}
	return l.env.ReadMemory(a, buf)
}

// Variable returns a variable whose bytes were not read yet, so that only the parts that the
// expression uses are noted.
func (l *readLog) Variable(name string) (Value, error) {
	v, err := l.env.Variable(name)
	if v.HasAddr && v.Avail == eval.Available {
		v.Bytes = nil
	}
	return v, err
}

var errWatchEffects = errors.New("An expression that changes the program can't be watched.") //lint:ignore ST1005 shown as it is

// evaluateWatch evaluates a watchpoint's expression in a frame, and finds the memory that the value
// depends on.
func (s *Session) evaluateWatch(w *WatchSpec, e *env) (v Value, result memRange, ranges []memRange, err error) {
	if HasSideEffects(w.Expr) {
		return v, result, nil, errWatchEffects
	}
	l := &readLog{env: e}
	if w.Value != nil {
		v = *w.Value
		v.Bytes = nil
	} else if v, err = eval.Evaluate(w.Expr, l); err != nil {
		return v, result, nil, err
	}
	if w.fixed() {
		if !v.HasAddr {
			return v, result, nil, errors.New("Attempt to take address of value not located in memory.") //lint:ignore ST1005 gdb's words
		}
		l.ranges = nil
	}
	v = eval.Fetch(v, l)
	if v.HasAddr && v.Type != nil && v.Bytes != nil {
		result = memRange{v.Addr, uint64(len(v.Bytes))}
		l.ranges = append(l.ranges, result)
	}
	return v, result, mergeRanges(l.ranges), nil
}

// mergeRanges sorts ranges and joins those that overlap.
func mergeRanges(list []memRange) []memRange {
	slices.SortFunc(list, func(a, b memRange) int { return cmp.Compare(a.addr, b.addr) })
	var out []memRange
	for _, r := range list {
		if n := len(out); n > 0 && r.addr-out[n-1].addr <= target.Addr(out[n-1].size) {
			end := max(out[n-1].addr+target.Addr(out[n-1].size), r.addr+target.Addr(r.size))
			out[n-1].size = uint64(end - out[n-1].addr)
			continue
		}
		out = append(out, r)
	}
	return out
}

// fixed reports whether the watchpoint stays at the memory that it was set on.
func (w *WatchSpec) fixed() bool { return w.Location || w.Value != nil }

// newWatch prepares a watchpoint that the user sets in the selected frame.
func (s *Session) newWatch(spec *WatchSpec) (*watch, error) {
	e := s.env(s.selected, s.level)
	v, result, ranges, err := s.evaluateWatch(spec, e)
	if err != nil {
		return nil, err
	}
	w := &watch{old: v, result: result, ranges: ranges, seen: &seenBytes{}}
	switch {
	case spec.Value != nil:
		// A local variable: the watchpoint ends with its frame.
		if level, ok := s.levelHolding(s.selected, v.Addr); ok {
			return w, s.bindWatch(w, s.env(s.selected, level))
		}
	case spec.Location:
	case len(ranges) == 0 && !e.local:
		return nil, userText(fmt.Sprintf("Cannot watch constant value `%s'.", spec.Expr))
	case e.local:
		if err := s.bindWatch(w, e); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// bindWatch ties a watchpoint to the frame of its variables.
func (s *Session) bindWatch(w *watch, e *env) error {
	f := e.at()
	if f == nil || !f.Machine.HasCFA {
		return errors.New("the frame's CFA is not known, so the end of its scope can't be recognised")
	}
	w.framed, w.thread, w.cfa = true, e.thread, f.Machine.CFA
	outer, err := s.frame(e.thread, e.level+1)
	for err == nil && outer.Machine.Index == f.Machine.Index { // inlined calls and tail calls
		outer, err = s.frame(e.thread, outer.Level+1)
	}
	if err == nil {
		w.scope = mark{addr: outer.PC, minSP: uint64(w.cfa)}
		w.scoped = true
	}
	return nil
}

// arm puts a watchpoint into the process. The program is stopped, or the thread that hit is parked. A
// watchpoint that does not fit into the debug registers is an error.
func (s *Session) arm(b *logical) error {
	w := b.watch
	if s.proc == nil || !b.Enabled || w.armed() {
		return nil
	}
	kind := target.WatchWrite
	if b.Spec.Watch.Kind != WatchChange {
		kind = target.WatchAccess
	}
	w.seen.mu.Lock()
	w.seen.last = readRanges(s.tgt, w.ranges)
	w.seen.probed = bytes.Clone(w.seen.last)
	w.seen.mu.Unlock()
	err := error(errNotWatchable)
	if !s.softOnly || kind == target.WatchAccess {
		err = s.insertWatches(w, kind)
	}
	if err != nil && kind == target.WatchWrite && (errors.Is(err, errTooManyWatches) || errors.Is(err, errNotWatchable)) {
		err = s.armSoft(b)
	}
	if err != nil {
		return err
	}
	s.publishRules()
	s.sendProbe()
	if w.scoped && !s.breakpoints.hasInternal(w.scope.addr, internalScope) {
		if err := s.breakpoints.setInternal(s, w.scope.addr, internalScope); err != nil {
			s.logf("the scope of watchpoint %d: %v", b.ID, err)
		}
	}
	return nil
}

// insertWatches sets the debug registers for a watchpoint.
func (s *Session) insertWatches(w *watch, kind target.WatchKind) error {
	var list []target.Watch
	for _, r := range w.ranges {
		some := target.Watches(r.addr, r.size, kind, maxWatches)
		if len(some) == 0 || len(list)+len(some) > maxWatches {
			return errTooManyWatches
		}
		list = append(list, some...)
	}
	if len(list) == 0 {
		return errNotWatchable
	}
	for i, x := range list {
		if err := s.proc.InsertWatch(x); err != nil {
			for _, y := range list[:i] {
				_ = s.proc.RemoveWatch(y)
			}
			if errors.Is(err, target.ErrNoSlot) {
				return errTooManyWatches
			}
			return err
		}
	}
	w.inserted = list
	return nil
}

//lint:ignore ST1005 gdb's words
var errTooManyWatches = errors.New("Could not insert hardware watchpoint: too many for the processor's debug registers; delete or disable another one.")

//lint:ignore ST1005 shown as it is
var errNotWatchable = errors.New("The value is not in memory, and the processor can watch only memory.")

// disarm takes a watchpoint out of the process.
func (s *Session) disarm(b *logical) {
	w := b.watch
	if s.proc != nil {
		for _, x := range w.inserted {
			if err := s.proc.RemoveWatch(x); err != nil {
				s.logf("removing a watch: %v", err)
			}
		}
	}
	w.inserted = nil
	if w.soft {
		w.soft, w.probe = false, nil
		s.sendProbe()
	}
	s.publishRules()
	if w.scoped && s.breakpoints.hasInternal(w.scope.addr, internalScope) && !s.scopeUsed(w.scope.addr, b) {
		s.breakpoints.clearInternal(s, w.scope.addr, internalScope)
	}
}

// scopeUsed reports whether another armed watchpoint has its scope's end at an address.
func (s *Session) scopeUsed(a target.Addr, except *logical) bool {
	for _, b := range s.breakpoints.all {
		if w := b.watch; w != nil && b != except && w.scoped && w.armed() && w.scope.addr == a {
			return true
		}
	}
	return false
}

// rearmWatch evaluates the watchpoints of a new process or of one with other files, and puts them in.
func (s *Session) rearmWatch(b *logical) error {
	w := b.watch
	if s.proc == nil || w.armed() || w.framed {
		return nil
	}
	v, result, ranges, err := s.evaluateWatch(b.Spec.Watch, s.env(s.selected, 0))
	if err != nil {
		return err
	}
	w.old, w.result, w.ranges = v, result, ranges
	return s.arm(b)
}

// watchRule is what the judge knows of a watchpoint.
type watchRule struct {
	watches []target.Watch
	ranges  []memRange
	kind    WatchKind
	thread  target.ThreadID // 0: any
	seen    *seenBytes
}

// concerns reports whether a thread's access is one of the watchpoint's, by its address.
func (r *watchRule) concerns(fired []target.Watch) bool {
	for i := range fired {
		for j := range r.watches {
			if fired[i] == r.watches[j] {
				return true
			}
		}
	}
	return false
}

// matters reports whether an access is to be reported, as far as the bytes tell: a write that
// leaves them as they were is no change. x86 can't tell reads from writes: what changes the bytes was not a read.
func (r *watchRule) matters(mem target.Memory) bool {
	now := readRanges(mem, r.ranges)
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	changed := now == nil || !bytes.Equal(now, r.seen.last)
	switch r.kind {
	case WatchChange:
		return changed
	case WatchRead:
		if changed {
			r.seen.last = now
			return false
		}
	}
	return true
}

// judgeWatch decides about an access on the tracer's thread. If the lane is free, and no frame and no
// other memory is needed, it evaluates the conditions, too.
func (s *Session) judgeWatch(set *ruleSet, h *target.Hit, p target.Process) target.Verdict {
	matters := false
	for i := range set.watches {
		r := &set.watches[i]
		if r.concerns(h.Watches) && (r.thread == 0 || r.thread == h.Thread) && r.matters(p) {
			matters = true
			break
		}
	}
	switch {
	case h.Probed: // nothing else must move before the session has seen the change
		return target.Halt
	case !matters:
		return target.Pass
	case s.crowded() || !s.tryEnter():
		return target.Park
	}
	defer s.leave()
	if s.proc != p || s.state != IsRunning || !s.quickWatches(h) {
		return target.Park
	}
	s.dropCache()
	s.deciding = true
	defer func() {
		s.deciding = false
		s.dropCache()
	}()
	s.knowThread(h.Thread)
	s.arrival = h.Arrival
	st, stops, again := s.onWatched(target.Event{Kind: target.Parked, Reason: target.Watched, Thread: h.Thread, Addr: h.Addr, Watches: h.Watches})
	switch {
	case again:
		return target.Park
	case !stops:
		return target.Pass
	}
	s.decide(h.Thread, decision{stop: &st, addr: h.Addr, ids: st.Breakpoints, deleted: st.Deleted})
	return target.Halt
}

// quickWatches reports whether all watchpoints that an access concerns can be decided with the
// memory of their values alone, and have been decided quickly so far.
func (s *Session) quickWatches(h *target.Hit) bool {
	for _, b := range s.breakpoints.all {
		w := b.watch
		if w == nil || !b.Enabled || !w.armed() {
			continue
		}
		r := b.watchRule()
		if !r.concerns(h.Watches) {
			continue
		}
		if w.result.size == 0 || !b.Spec.Watch.fixed() && !s.onlyResultChanged(w) || b.slowest >= quickEnough {
			return false
		}
	}
	return true
}

// watched decides which watchpoints report an access of a thread, which is stopped. again says that
// a frame is needed that can't be read while the other threads run.
// probed means that the probe has stopped the thread.
func (s *Session) watched(t target.ThreadID, fired []target.Watch, probed bool) (hits []WatchHit, deleted []int, again bool) {
	for _, b := range slices.Clone(s.breakpoints.all) {
		w := b.watch
		if w == nil || !b.Enabled || !w.armed() || b.Spec.Thread != 0 && b.Spec.Thread != t {
			continue
		}
		r := b.watchRule()
		switch {
		case w.soft && (!probed || w.probe == nil && !r.matters(s.tgt)):
			continue
		case !w.soft && (!r.concerns(fired) || !r.matters(s.tgt)):
			continue
		}
		began := time.Now()
		v, ok := s.watchValue(b, t)
		if !ok {
			again = true
			continue
		}
		hit := WatchHit{ID: b.ID, Spec: *b.Spec.Watch, Software: w.soft, Old: w.old, HasOld: true, New: v}
		hit.Changed = !sameValue(w.old, v)
		if w.probe != nil {
			w.probe.learn(s, t, v.Bytes)
			if hit.Changed && s.restored(t, &v) {
				continue
			}
		}
		w.seen.mu.Lock()
		w.seen.last = readRanges(s.tgt, w.ranges)
		w.seen.mu.Unlock()
		if w.old = v; !hit.Changed && b.Spec.Watch.Kind == WatchChange {
			continue
		}
		stops, gone := s.counted(b, t)
		b.slowest = time.Since(began)
		if !stops {
			continue
		}
		hits = append(hits, hit)
		if gone {
			deleted = append(deleted, b.ID)
		}
	}
	return hits, deleted, again
}

// watchValue returns a watchpoint's value now. If only the memory of the value itself has changed,
// no frame is needed. ok is false if the frame belongs to a thread that runs.
func (s *Session) watchValue(b *logical, t target.ThreadID) (v Value, ok bool) {
	w := b.watch
	if w.result.size > 0 && (b.Spec.Watch.fixed() || s.onlyResultChanged(w)) {
		v = w.old
		v.Bytes = nil
		return eval.Fetch(v, s.env(t, 0)), true
	}
	e := s.env(t, 0)
	if w.framed {
		if w.thread != t && s.state == IsRunning {
			return v, false
		}
		level, err := s.levelOf(w.thread, w.cfa)
		if err != nil {
			return Value{Avail: eval.Unreadable, Err: err}, true
		}
		e = s.env(w.thread, level)
	}
	v, result, ranges, err := s.evaluateWatch(b.Spec.Watch, e)
	if err != nil {
		return Value{Avail: eval.Unreadable, Err: err}, true
	}
	if !slices.Equal(ranges, w.ranges) { // a pointer on the way has changed
		s.disarm(b)
		w.result, w.ranges = result, ranges
		if err := s.arm(b); err != nil {
			s.publish(LogMessage{Warning: true, Text: fmt.Sprintf("Watchpoint %d: %v", b.ID, err)})
		}
	}
	return v, true
}

// onlyResultChanged reports whether all watched memory outside the value itself is as it was.
func (s *Session) onlyResultChanged(w *watch) bool {
	now := readRanges(s.tgt, w.ranges)
	w.seen.mu.Lock()
	defer w.seen.mu.Unlock()
	if now == nil || len(now) != len(w.seen.last) {
		return false
	}
	at := uint64(0)
	for _, r := range w.ranges {
		for i := range r.size {
			inResult := uint64(r.addr)+i-uint64(w.result.addr) < w.result.size
			if !inResult && now[at+i] != w.seen.last[at+i] {
				return false
			}
		}
		at += r.size
	}
	return true
}

// sameValue reports whether two fetched values have the same contents.
func sameValue(a, b Value) bool {
	return a.Avail == b.Avail && bytes.Equal(a.Bytes, b.Bytes)
}

// levelHolding finds the frame of a stopped thread whose part of the stack has an address.
func (s *Session) levelHolding(t target.ThreadID, a target.Addr) (int, bool) {
	if s.needProcess() != nil {
		return 0, false
	}
	_, sp, err := s.pcAndSP(t)
	if err != nil || uint64(a) < sp {
		return 0, false
	}
	for level := 0; ; level++ {
		f, err := s.frame(t, level)
		switch {
		case err != nil || f.Machine.Signal:
			return 0, false
		case f.Machine.HasCFA && a < f.Machine.CFA:
			return level, true
		}
	}
}

var errFrameGone = errors.New("the frame has returned")

// levelOf finds the frame of a thread that has a CFA.
func (s *Session) levelOf(t target.ThreadID, cfa target.Addr) (int, error) {
	for level := 0; ; level++ {
		f, err := s.frame(t, level)
		switch {
		case err != nil:
			return 0, err
		case !f.Machine.HasCFA:
		case f.Machine.CFA == cfa:
			return level, nil
		case f.Machine.CFA > cfa && !f.Machine.Signal:
			return 0, errFrameGone // callers are at higher addresses
		}
	}
}

// endedScopes returns the watchpoints whose frame a thread has left, at an address, and deletes them.
func (s *Session) endedScopes(t target.ThreadID, at target.Addr) (ended []WatchHit) {
	if !s.breakpoints.hasInternal(at, internalScope) {
		return nil
	}
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return nil
	}
	for _, b := range slices.Clone(s.breakpoints.all) {
		if w := b.watch; w != nil && w.scoped && w.thread == t && w.scope.addr == at && w.scope.matches(&regs, 0) {
			ended = append(ended, WatchHit{ID: b.ID, Spec: *b.Spec.Watch})
			s.remove(b)
			s.publish(BreakpointChanged{Breakpoint: b.public(), Deleted: true})
		}
	}
	return ended
}

// dropFramedWatches deletes the watchpoints on frames of a process that is gone.
func (s *Session) dropFramedWatches() {
	for _, b := range slices.Clone(s.breakpoints.all) {
		w := b.watch
		if w == nil {
			continue
		}
		w.inserted, w.soft, w.probe = nil, false, nil
		if w.framed || b.Spec.Watch.fixed() {
			s.remove(b)
			s.publish(BreakpointChanged{Breakpoint: b.public(), Deleted: true})
		}
	}
	s.sendProbe()
}

// onWatched deals with an access to watched memory. The thread is parked, or all are stopped.
func (s *Session) onWatched(ev target.Event) (st Stop, stops, again bool) {
	hits, deleted, again := s.watched(ev.Thread, ev.Watches, ev.Probed)
	if len(hits) == 0 {
		return st, false, again
	}
	st = Stop{Reason: StopWatch, Thread: ev.Thread, Watches: hits, Deleted: deleted}
	for _, h := range hits {
		st.Breakpoints = append(st.Breakpoints, h.ID)
	}
	return st, true, false
}

// watchRule returns the judge's part of a watchpoint.
func (b *logical) watchRule() watchRule {
	return watchRule{watches: b.watch.inserted, ranges: b.watch.ranges, kind: b.Spec.Watch.Kind, thread: b.Spec.Thread, seen: b.watch.seen}
}

// setWatch sets a watchpoint.
func (s *Session) setWatch(b *logical) (Breakpoint, error) {
	w, err := s.newWatch(b.Spec.Watch)
	if err != nil {
		return Breakpoint{}, err
	}
	b.watch = w
	if b.Spec.Condition != "" {
		if err := eval.Check(b.Spec.Condition); err != nil {
			return Breakpoint{}, err
		}
	}
	if err := s.cutError(); err != nil {
		return Breakpoint{}, err
	}
	if err := s.arm(b); err != nil {
		return Breakpoint{}, err
	}
	b.ID = s.group.newBreakpoint()
	s.breakpoints.all = append(s.breakpoints.all, b)
	s.sendProbe()
	s.publishRules()
	return b.public(), nil
}

// enableWatch switches a watchpoint on or off. Its old value is then the present one.
func (s *Session) enableWatch(b *logical, on bool) error {
	if !on {
		s.disarm(b)
		b.Enabled = false
		s.publishRules()
		return nil
	}
	b.Enabled = true
	w := b.watch
	if w.framed && s.proc != nil {
		level, err := s.levelOf(w.thread, w.cfa)
		if err != nil {
			b.Enabled = false
			return err
		}
		v, result, ranges, err := s.evaluateWatch(b.Spec.Watch, s.env(w.thread, level))
		if err != nil {
			b.Enabled = false
			return err
		}
		w.old, w.result, w.ranges = v, result, ranges
		err = s.arm(b)
		b.Enabled = err == nil
		return err
	}
	err := s.rearmWatch(b)
	b.Enabled = err == nil
	return err
}
