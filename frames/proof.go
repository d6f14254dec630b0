package frames

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/target"
)

// proven reports whether the code itself bears out what the table of cur says: the
// call before the return address calls this very function, and the function's own instructions put the
// return address where the table has it. A table that is wrong, or a stack that is
// overwritten, hardly passes both. cfa is of the frame at cur, sp is the caller's stack pointer, next is the caller.
func (w *Walk) proven(cur, next *site, cfa, sp uint64) bool {
	if next.after != yes || sp != cfa || w.u.arch != arch.AMD64 {
		return false
	}
	if !cur.hasFn {
		cur.hasFn = true
		if cur.module != nil {
			if fn, ok := cur.module.functionAt(w.u.arch, cur.filePC()); ok {
				cur.fn = target.Addr(fn + cur.module.Bias)
			}
		}
	}
	if cur.fn == 0 {
		return false
	}
	if next.calls != cur.fn {
		to := w.calledBefore(next)
		if to != cur.fn && w.throughPLT(to) != cur.fn {
			return false
		}
		next.calls = cur.fn
		next.slots = next.slots || directCall(w.u.arch, next.before(), next.pc) != cur.fn
	}
	r := w.aheadOf(cur)
	if r.ra.base != arch.RSP && w.frame.Index > 0 {
		// The frame pointer itself was read from the stack, on the table's word: both would be
		// wrong alike. The function's first instructions say how far the stack pointer is from the return address.
		r, _ = w.fromTo(cur, uint64(cur.fn))
		if r.ra.base != arch.RSP {
			return false
		}
	}
	at, known := r.ra.address(&w.frame.Regs)
	if r.why != "" || !known || at+8 != cfa {
		return false
	}
	ra, err := w.stack.Word(target.Addr(at), 8)
	return err == nil && ra == uint64(next.pc)
}

// calledBefore is what the call that ends at the site calls: CALL rel32, or CALL through a
// slot that is addressed relative to RIP (-fno-plt). 0 if that can't be said.
func (w *Walk) calledBefore(s *site) target.Addr {
	b := s.before()
	n := len(b)
	if n < 6 {
		return 0
	}
	if to := directCall(arch.AMD64, b, s.pc); to != 0 {
		return to
	}
	if b[n-6] == 0xff && b[n-5] == 0x15 {
		return w.slot(s.pc + target.Addr(int64(int32(binary.LittleEndian.Uint32(b[n-4:])))))
	}
	return 0
}

// throughPLT is where a stub jumps to: [endbr64] [bnd] jmp *slot(%rip); 0 if there is none at addr.
func (w *Walk) throughPLT(addr target.Addr) target.Addr {
	if addr == 0 || !w.u.space.Executable(addr) {
		return 0
	}
	var buf [16]byte
	b := (&simulation{w: w, module: w.u.space.FindModule(addr)}).read(uint64(addr), buf[:])
	at := 0
	if has(b, 0xf3, 0x0f, 0x1e, 0xfa) {
		at = 4
	}
	if has(b[at:], 0xf2) {
		at++
	}
	if !has(b[at:], 0xff, 0x25) || len(b) < at+6 {
		return 0
	}
	rel := int64(int32(uint32(b[at+2]) | uint32(b[at+3])<<8 | uint32(b[at+4])<<16 | uint32(b[at+5])<<24))
	return w.slot(addr + target.Addr(at+6) + target.Addr(rel))
}

// slot is the address in a slot of the global offset table.
func (w *Walk) slot(at target.Addr) target.Addr {
	var b [8]byte
	if n, _ := w.u.space.ReadMemory(at, b[:]); n < len(b) {
		return 0
	}
	return target.Addr(w.u.arch.ByteOrder.Uint64(b[:]))
}
