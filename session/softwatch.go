package session

import (
	"bytes"
	"errors"
	"sync"

	"dbg/arch"
	"dbg/code"
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
// thread. At an instruction where the probe does not know how the value is read, the thread stops, and
// the session finds out (learn).
type frameProbe struct {
	expr   string
	thread target.ThreadID
	cfa    target.Addr
	code   []memRange // the function's

	mu     sync.Mutex // guards the fields below
	last   []byte     // the value that was seen last
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
		level, err := s.levelOf(w.thread, w.cfa)
		if err != nil {
			return err
		}
		f, err := s.frame(w.thread, level)
		if err != nil || f.Module == nil || f.Module.Symbols == nil {
			return errNotWatchable
		}
		calls := f.Module.Symbols.CallsAt(f.lookup)
		if len(calls) == 0 {
			return errNotWatchable
		}
		for _, r := range calls[len(calls)-1].Function.Ranges {
			w.probe.code = append(w.probe.code, memRange{f.Module.processAddr(r.Lo), uint64(r.Hi - r.Lo)})
		}
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
		if r.changed(mem) || r.frame != nil && r.frame.changed(t, regs, mem) {
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

// differs reports whether the bytes are not those that the probe has seen last, and remembers them.
// nil stands for memory that can't be read.
func (b *seenBytes) differs(now []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if (now == nil) == (b.probed == nil) && bytes.Equal(now, b.probed) {
		return false
	}
	if now == nil {
		b.probed = nil
	} else {
		b.probed = append(make([]byte, 0, len(now)), now...)
	}
	return true
}

// changed reports whether the value has another one than when the frame was last seen, or whether
// the session must find out.
func (f *frameProbe) changed(t target.ThreadID, regs *arch.Registers, mem target.Memory) bool {
	if t != f.thread || regs == nil {
		return false
	}
	pc, ok := regs.PC()
	if !ok || !f.inside(target.Addr(pc)) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	place, known := f.places[target.Addr(pc)]
	if !known || place == nil {
		return !known
	}
	base, ok := regs.Get(place.cfaReg)
	if !ok || target.Addr(base+uint64(place.cfaOff)) != f.cfa {
		return false // another call of the function
	}
	b, ok := place.value.Collect(f.buf[:0], regs, mem)
	f.buf = b
	return ok && len(b) >= place.value.Size() && !bytes.Equal(b[:place.value.Size()], f.last)
}

func (f *frameProbe) inside(pc target.Addr) bool {
	for _, r := range f.code {
		if pc-r.addr < target.Addr(r.size) {
			return true
		}
	}
	return false
}

// learn finds out how the value is read where a thread is, and records the value that the session
// has seen.
func (f *frameProbe) learn(s *Session, t target.ThreadID, seen []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = append(f.last[:0], seen...)
	if t != f.thread {
		return
	}
	pc, _, err := s.pcAndSP(t)
	if err != nil || !f.inside(pc) {
		return
	}
	if _, known := f.places[pc]; !known {
		f.places[pc] = s.probePlace(f.expr, pc)
	}
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

// restored reports whether a variable's register holds the caller's value again: the function is
// about to return, and has restored it. Debug information often says until the return that the
// variable is there. gdb reports that as a change.
func (s *Session) restored(t target.ThreadID, v *Value) bool {
	if !v.InReg {
		return false
	}
	own, err := s.frame(t, 0)
	if err != nil {
		return false
	}
	for level := 1; ; level++ {
		caller, err := s.frame(t, level)
		if err != nil {
			return false
		}
		if caller.Machine.Index == own.Machine.Index { // inlined calls
			continue
		}
		now, ok := own.Machine.Regs.Get(v.Reg)
		before, known := caller.Machine.Regs.Get(v.Reg)
		return ok && known && now == before && s.inEpilogue(own.PC)
	}
}

// inEpilogue reports whether the code at an address only restores registers and returns: x86-64.
func (s *Session) inEpilogue(pc target.Addr) bool {
	var text [64]byte
	n, _ := s.tgt.ReadMemory(pc, text[:])
	for b := text[:n]; len(b) >= 2; {
		op := b
		if op[0]&0xf0 == 0x40 { // REX
			op = op[1:]
		}
		size := len(b) - len(op)
		switch {
		case op[0] == 0xc3, op[0] == 0xc2, op[0] == 0xf3 && op[1] == 0xc3, op[0] == 0xe9, op[0] == 0xeb:
			return true // ret, or a tail call
		case op[0] == 0xc9, op[0]&0xf8 == 0x58: // leave, pop
			size++
		case bytes.HasPrefix(b, []byte{0xc5, 0xf8, 0x77}): // vzeroupper
			size = 3
		case op[0] == 0x83 && op[1] == 0xc4: // add $8, %rsp
			size += 3
		case op[0] == 0x81 && op[1] == 0xc4:
			size += 6
		case op[0] == 0x8b || op[0] == 0x8d: // mov or lea from the frame
			length := code.ModRMLength(op[1:])
			if length == 0 {
				return false
			}
			size += 1 + length
		default:
			return false
		}
		if size > len(b) {
			return false
		}
		b = b[size:]
	}
	return false
}
