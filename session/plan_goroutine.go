package session

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/target"
)

// A step in a Go program belongs to a goroutine, not to a thread. The function that is stepped over
// may block, and continue on another thread. And its stack may be moved when it has to grow.

// goroutine identifies a goroutine while compiled Go code runs: register R14 then holds the address
// of its descriptor (Go's internal ABI). The zero value means none.
type goroutine struct {
	g  uint64 // the address of its runtime.g; 0 means none, and a step belongs to its thread
	hi uint64 // the end of its stack: g.stack.hi, the second word
}

// goroutineOf returns the goroutine that runs on a thread in a function of Go.
func (s *Session) goroutineOf(t target.ThreadID, fn *symbols.Function) goroutine {
	if fn == nil || fn.Lang != lang.Go {
		return goroutine{}
	}
	regs, err := s.tgt.Registers(t)
	if err != nil || regs.Arch != arch.AMD64 {
		return goroutine{}
	}
	g, ok := regs.Get(arch.R14)
	if !ok || g == 0 {
		return goroutine{}
	}
	// The register holds a descriptor if the descriptor's stack contains the stack pointer.
	lo, hi, ok := stackOf(g, s.tgt)
	sp, known := regs.SP()
	if !ok || !known || sp < lo || sp > hi {
		return goroutine{}
	}
	return goroutine{g, hi}
}

// stackOf reads the bounds of a goroutine's stack.
func stackOf(g uint64, mem target.Memory) (lo, hi uint64, ok bool) {
	var b [16]byte
	if n, _ := mem.ReadMemory(target.Addr(g), b[:]); n < len(b) {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]), true
}

// runs reports whether a thread with these registers runs the goroutine.
func (o *goroutine) runs(regs *arch.Registers) bool {
	g, ok := regs.Get(arch.R14)
	return ok && g == o.g
}

// moved returns by how much the goroutine's stack has moved. It returns false if the thread runs
// another goroutine. Without a goroutine the result is 0, true.
func (o *goroutine) moved(regs *arch.Registers, mem target.Memory) (uint64, bool) {
	if o.g == 0 {
		return 0, true
	}
	if !o.runs(regs) {
		return 0, false
	}
	_, hi, ok := stackOf(o.g, mem)
	return hi - o.hi, ok
}

// takeUp returns the course of a thread, or nil. It may be the course of a goroutine that now runs
// on this thread.
func (s *Session) takeUp(t target.ThreadID) *course {
	for _, c := range s.courses.all {
		if c.g == 0 || c.thread == t {
			continue
		}
		if regs, err := s.tgt.Registers(t); err == nil && c.runs(&regs) {
			c.thread = t
			return c
		}
	}
	if c := s.recovered(t); c != nil {
		return c
	}
	return s.courses.of(t)
}

// recovered returns the course of the goroutine that Go's runtime is about to continue on a thread
// after a panic, or nil. The runtime does that on a stack of its own.
func (s *Session) recovered(t target.ThreadID) *course {
	if len(s.landings.at) == 0 {
		return nil
	}
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return nil
	}
	pc, _ := regs.PC()
	p, ok := s.landings.at[target.Addr(pc)]
	if !ok {
		return nil
	}
	g, ok := p.goroutineAt(&regs, s.tgt)
	for _, c := range s.courses.all {
		if ok && c.g != 0 && c.g == g {
			c.thread = t
			return c
		}
	}
	return nil
}

// settleMoved updates the addresses of a course's frames to the current place of the goroutine's
// stack.
func (c *course) settleMoved(s *Session) {
	if c.g == 0 {
		return
	}
	regs, err := s.tgt.Registers(c.thread)
	if err != nil {
		return
	}
	if by, ok := c.moved(&regs, s.tgt); ok && by != 0 {
		c.hi += by
		c.from.cfa += target.Addr(by)
		for _, p := range c.plans {
			p.shift(by)
		}
		s.dirty = true
	}
}
