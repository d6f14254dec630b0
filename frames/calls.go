package frames

import (
	"dbg/frames/follow"
	"dbg/frames/machine"
	"dbg/row"
	"dbg/target"
)

// followsCall reports whether a call instruction ends at pc, where before is the code that ends at
// pc. The answer is unknown if there is too little code, or if the architecture is unknown. x86
// instructions cannot be read backwards: a yes may be chance (about one in 30 positions of ordinary
// code is one), a no is certain.
func (u *Unwinder) followsCall(before []byte, pc target.Addr) machine.Verdict {
	if u.machine.FollowsCall == nil || len(before) >= codeBefore && blank(before[len(before)-codeBefore:]) {
		return machine.Unknown
	}
	return u.machine.FollowsCall(before, pc, u.space)
}

// blank reports whether all bytes are zero: a core or a file omits them. No code ends in eight
// zeros.
func blank(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// code64 removes from a code address a signature or ARM's Thumb bit.
func (w *Walk) code64(v uint64) uint64 {
	switch {
	case w.u.CodeBits != 0:
		return row.Strip(v, w.u.CodeBits)
	case w.u.machine.CodeAddress != nil:
		return w.u.machine.CodeAddress(v)
	}
	return v
}

// calledBefore returns the function that the call before the site calls, or 0 if it is unknown: the
// call has its address, or the address of a slot that holds it.
func (w *Walk) calledBefore(s *site) target.Addr {
	m, b := w.u.machine, s.before()
	if to := m.DirectCall(b, s.pc); to != 0 || m.CallSlot == nil {
		return to
	}
	if at := m.CallSlot(b, s.pc); at != 0 {
		return w.slot(at)
	}
	return 0
}

// throughPLT returns where the linkage stub at addr jumps to, or 0 if there is no stub.
func (w *Walk) throughPLT(addr target.Addr) target.Addr {
	if addr == 0 || w.u.machine.StubSlot == nil || !w.u.space.Executable(addr) {
		return 0
	}
	var buf [16]byte
	r := w.reader(w.u.space.FindModule(addr))
	b := r.Read(uint64(addr), buf[:])
	if at := w.u.machine.StubSlot(b, addr); at != 0 {
		return w.slot(at)
	}
	return 0
}

// reader returns a reader of the code of a module, or of memory if m is nil.
func (w *Walk) reader(m *Module) follow.Reader {
	r := follow.Reader{Arch: w.u.arch, Memory: w.u.space}
	if m != nil {
		r.File = m
	}
	return r
}

// slot returns the address in a slot of the global offset table, or 0 if it is unreadable.
func (w *Walk) slot(at target.Addr) target.Addr {
	r := w.reader(nil)
	return r.Slot(at)
}
