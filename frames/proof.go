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
	if r.cfa.base != arch.RSP && w.frame.Index > 0 {
		// The frame pointer itself was read from the stack, on the table's word: both would be
		// wrong alike. The function's first instructions say how far the stack pointer is from the return address.
		r, _ = w.fromTo(cur, uint64(cur.fn))
		if r.cfa.base != arch.RSP {
			return false
		}
	}
	at, known := r.ra().address(&w.frame.Regs)
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
	if to := directCall(w.u.arch, b, s.pc); to != 0 || w.u.arch != arch.AMD64 || n < 6 {
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
	switch w.u.arch {
	case arch.AMD64:
	case arch.ARM64:
		return w.throughPLTARM64(b, addr)
	case arch.RISCV64:
		return w.throughPLTRISCV(b, addr)
	case arch.I386:
		if has(b, 0xf3, 0x0f, 0x1e, 0xfb) { // endbr32
			b = b[4:]
		}
		if has(b, 0xff, 0x25) && len(b) >= 6 { // jmp *slot; the other kind has its slot relative to %ebx
			return w.slot(target.Addr(binary.LittleEndian.Uint32(b[2:])))
		}
		return 0
	default:
		return 0
	}
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

// throughPLTARM64 is throughPLT for [bti c;] adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17.
func (w *Walk) throughPLTARM64(b []byte, addr target.Addr) target.Addr {
	word := func() (v uint32) {
		if len(b) >= 4 {
			v, b = binary.LittleEndian.Uint32(b), b[4:]
		}
		return v
	}
	adrp := word()
	if adrp == 0xd503245f { // bti c
		addr += 4
		adrp = word()
	}
	ldr := word()
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0
	}
	pages := int64(int32(adrp<<8)>>13)<<2 | int64(adrp>>29&3)
	return w.slot(addr&^0xfff + target.Addr(pages<<12) + target.Addr(ldr>>10&0xfff*8))
}

// throughPLTRISCV is throughPLT for auipc t3, hi; ld t3, lo(t3); jalr t1, t3.
func (w *Walk) throughPLTRISCV(b []byte, addr target.Addr) target.Addr {
	if len(b) < 12 {
		return 0
	}
	hi, ld, jalr := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	if hi&0xfff != 0xe17 || ld&0xfffff != 0xe3e03 || jalr != 0x000e0367 {
		return 0
	}
	return w.slot(addr + target.Addr(int64(int32(hi&0xfffff000))+int64(int32(ld)>>20)))
}

// slot is the address in a slot of the global offset table.
func (w *Walk) slot(at target.Addr) target.Addr {
	var b [8]byte
	size := w.u.arch.PtrSize
	if n, _ := w.u.space.ReadMemory(at, b[:size]); n < size {
		return 0
	}
	if size == 4 {
		return target.Addr(w.u.arch.ByteOrder.Uint32(b[:]))
	}
	return target.Addr(w.u.arch.ByteOrder.Uint64(b[:]))
}
