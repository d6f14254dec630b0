package session

import (
	"bytes"
	"errors"

	"dbg/arch"
	"dbg/eval"
	"dbg/target"
)

// A value that the debug registers can't hold is watched by stepping: a value in a register, one of
// more than 32 bytes, or one for which no debug register is free. The target runs one instruction at
// a time and asks the probe after each, on the tracer's thread. When the value has changed, the
// thread is parked, and the session decides as about any other watchpoint.

// mostSoftBytes limits the memory that is compared after each instruction.
const mostSoftBytes = 64 << 10

// softRule is what the probe knows of one watchpoint.
type softRule struct {
	thread target.ThreadID // of Spec.Thread; 0: any
	ranges []memRange
	seen   *seenBytes
	frame  *frameProbe // for a value that is not in memory
	buf    []byte      // of the probe only
}

// frameProbe follows a value that is in a register, as long as its frame is the innermost one of its
// thread.
type frameProbe struct {
	expr   string
	thread target.ThreadID
	cfa    target.Addr

	// These belong to the probe.
	last   []byte // the value that was seen last
	places map[target.Addr]*probePlace
	buf    []byte
}

// probePlace is how the value is found at one instruction. It is nil where that is not known.
type probePlace struct {
	value  *eval.Collector
	cfaReg arch.Reg
	cfaOff int64
}

// armSoft makes a watchpoint one that is stepped.
func (s *Session) armSoft(b *logical) error {
	w := b.watch
	if _, ok := s.proc.(target.Prober); !ok {
		return errNotWatchable
	}
	size := uint64(0)
	for _, r := range w.ranges {
		size += r.size
	}
	switch {
	case size > mostSoftBytes:
		return errWatchTooLarge
	case w.result.size == 0 && !w.framed:
		return errNotWatchable
	case w.result.size == 0:
		w.probe = &frameProbe{expr: b.Spec.Watch.Expr, thread: w.thread, cfa: w.cfa, last: bytes.Clone(w.old.Bytes), places: map[target.Addr]*probePlace{}}
	}
	w.soft = true
	return nil
}

//lint:ignore ST1005 shown as it is
var errWatchTooLarge = errors.New("The value has more than 65536 bytes, too many to compare after each instruction.")

// armed reports whether a watchpoint is in the process.
func (w *watch) armed() bool { return w.soft || len(w.inserted) > 0 }

// sendProbe tells the target which values to look at after each instruction.
func (s *Session) sendProbe() {
	p, ok := s.proc.(target.Prober)
	if !ok {
		return
	}
	var rules []*softRule
	registers := false
	for _, b := range s.breakpoints.all {
		w := b.watch
		if w == nil || !w.soft || !b.Enabled {
			continue
		}
		rules = append(rules, &softRule{thread: b.Spec.Thread, ranges: w.ranges, seen: w.seen, frame: w.probe})
		registers = registers || w.probe != nil
	}
	if len(rules) == 0 && !s.probing {
		return
	}
	s.probing = len(rules) > 0
	var probe *target.Probe
	if s.probing {
		own := s.own
		probe = &target.Probe{Registers: registers, Check: func(t target.ThreadID, regs *arch.Registers) bool { return own.checkProbe(rules, t, regs) }}
	}
	if err := p.SetProbe(probe); err != nil && !errors.Is(err, target.ErrGone) {
		s.logf("stepping for watchpoints: %v", err)
	}
}

// checkProbe reports whether a watched value has changed. It runs on the tracer's thread.
func (s *Session) checkProbe(rules []*softRule, t target.ThreadID, regs *arch.Registers) bool {
	mem := s.process()
	if mem == nil {
		return false
	}
	for _, r := range rules {
		if r.thread != 0 && r.thread != t {
			continue
		}
		if r.changed(mem) || r.frame != nil && r.frame.changed(s, t, regs, mem) {
			return true
		}
	}
	return false
}

// changed reports whether the watched memory differs from what was seen last.
func (r *softRule) changed(mem target.Memory) bool {
	if len(r.ranges) == 0 {
		return false
	}
	r.buf = r.buf[:0]
	for _, x := range r.ranges {
		at := len(r.buf)
		if n := at + int(x.size); cap(r.buf) < n {
			r.buf = append(r.buf, make([]byte, x.size)...)
		} else {
			r.buf = r.buf[:n]
		}
		if n, _ := mem.ReadMemory(x.addr, r.buf[at:]); uint64(n) < x.size {
			return r.seen.differs(nil)
		}
	}
	return r.seen.differs(r.buf)
}

// differs reports whether the bytes are not those seen last; nil stands for memory that can't be
// read.
func (b *seenBytes) differs(now []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return (now == nil) != (b.last == nil) || !bytes.Equal(now, b.last)
}

// changed reports whether the value has another one than when the frame was last seen.
func (f *frameProbe) changed(s *Session, t target.ThreadID, regs *arch.Registers, mem target.Memory) bool {
	if t != f.thread || regs == nil {
		return false
	}
	pc, ok := regs.PC()
	if !ok {
		return false
	}
	place, known := f.places[target.Addr(pc)]
	if !known {
		if !s.tryEnter() {
			return false // the next instruction shows it
		}
		place = s.probePlace(f.expr, target.Addr(pc))
		s.leave()
		f.places[target.Addr(pc)] = place
	}
	if place == nil {
		return false
	}
	base, ok := regs.Get(place.cfaReg)
	if !ok || target.Addr(base+uint64(place.cfaOff)) != f.cfa {
		return false // another frame of the function, or a callee
	}
	b, ok := place.value.Collect(f.buf[:0], regs, mem)
	f.buf = b
	if !ok || len(b) < place.value.Size() {
		return false
	}
	b = b[:place.value.Size()]
	if bytes.Equal(b, f.last) {
		return false
	}
	f.last = append(f.last[:0], b...)
	return true
}

// probePlace finds out how an expression's value is read at an instruction. It returns nil if it has
// no value there.
func (s *Session) probePlace(expr string, pc target.Addr) *probePlace {
	c := s.conditionContext(BreakpointPlace{Addr: pc})
	if c.CFA == nil {
		return nil
	}
	reg, off, ok := c.CFA()
	if !ok {
		return nil
	}
	v, err := eval.CompileCollector(expr, c)
	if err != nil {
		return nil
	}
	return &probePlace{v, reg, off}
}

// SetHardwareWatches says whether watchpoints may use the debug registers: gdb's
// can-use-hw-watchpoints. It is about watchpoints that are set from now on.
func (s *Session) SetHardwareWatches(on bool) {
	_ = s.do(func() { s.softOnly = !on })
}

// HardwareWatches returns the setting.
func (s *Session) HardwareWatches() bool {
	on, _ := ask(s, func() (bool, error) { return !s.softOnly, nil })
	return on
}
