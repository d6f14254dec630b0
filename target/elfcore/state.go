package elfcore

import (
	"bytes"
	"strings"

	"dbg/arch"
	"dbg/target"
)

var (
	_ target.StateReader      = (*Core)(nil)
	_ target.AuxvReader       = (*Core)(nil)
	_ target.ProcessDescriber = (*Core)(nil)
)

// ThreadState implements target.StateReader, for cores of x86-64.
func (c *Core) ThreadState(id target.ThreadID) (s target.ThreadState, err error) {
	c.base.RLock()
	defer c.base.RUnlock()
	t := c.thread(id)
	switch {
	case t == nil || c.base.Closed():
		return s, target.ErrNoThread
	case c.arch != arch.AMD64:
		return s, target.ErrNoRegister
	}
	return target.ThreadState{User: bytes.Clone(t.regs), FP: bytes.Clone(t.fp), XState: bytes.Clone(t.xstate), SigInfo: bytes.Clone(t.info)}, nil
}

// AuxvBytes implements target.AuxvReader.
func (c *Core) AuxvBytes() []byte {
	c.base.RLock()
	defer c.base.RUnlock()
	if c.base.Closed() {
		return nil
	}
	return bytes.Clone(c.auxv)
}

// ProcessInfo implements target.ProcessDescriber. It reads struct elf_prpsinfo.
func (c *Core) ProcessInfo() (p target.ProcessInfo, ok bool) {
	c.base.RLock()
	defer c.base.RUnlock()
	b := c.process
	if c.base.Closed() || b == nil {
		return p, false
	}
	pid, ids := 12, 8
	if c.ptrSize() == 8 {
		pid, ids = 24, 16
	}
	if len(b) < pid+16+16+80 {
		return p, false
	}
	order := c.head.Order
	id := func(i int) int { return int(int32(order.Uint32(b[pid+4*i:]))) }
	text := func(b []byte) string { return strings.TrimRight(string(b[:cstring(b)]), " ") }
	p = target.ProcessInfo{State: b[1], Nice: int8(b[3]), Flags: c.word(b[ids-c.ptrSize():]), PID: id(0), PPID: id(1), PGID: id(2), SID: id(3),
		Name: text(b[pid+16:][:16]), Args: text(b[pid+32:][:80])}
	if c.ptrSize() == 8 { // the others have ids of 16 bits on some machines
		p.UID, p.GID = order.Uint32(b[ids:]), order.Uint32(b[ids+4:])
	}
	return p, true
}

// cstring returns the length of the text before the first NUL.
func cstring(b []byte) int {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return i
	}
	return len(b)
}
