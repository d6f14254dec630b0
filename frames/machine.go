package frames

import (
	"bytes"
	"encoding/binary"

	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// machine holds what the strategies know about one architecture's code: calls, linkage stubs,
// function entries and exits, frame records and signal trampolines. x86.go, arm64.go, arm.go and
// riscv.go have one each, with the same fields in the same order. A strategy that has no field for
// an architecture does not work there.
//
// The functions get code as bytes: before ends at an address, and at begins there. Both may be
// shorter than an instruction.
type machine struct {
	// followsCall reports whether a call instruction ends at pc.
	followsCall func(before []byte, pc target.Addr, space Space) verdict

	// callTarget returns the address that the call before pc has in its instruction, or 0.
	callTarget func(before []byte, pc target.Addr) target.Addr

	// callSlot returns the address of the slot through which the call before pc goes, or 0. The
	// instruction contains that address (-fno-plt).
	callSlot func(before []byte, pc target.Addr) target.Addr

	// stubSlot returns the address of the slot through which the linkage stub at addr jumps, or 0.
	stubSlot func(at []byte, addr target.Addr) target.Addr

	// pushedInStub returns how many words a linkage stub has pushed. It is nil on machines with a
	// link register, where stubs push nothing.
	pushedInStub func(before, at []byte) (words int, ok bool)

	// entryOrExit recognizes the first and last instructions of functions. There, the frame has
	// at most one word: the frame pointer. On machines with a link register it has none.
	entryOrExit func(before, at []byte) (pushedFP, ok bool)

	records       []frameRecord // the layouts of frame records, the most common first
	trampolines   []trampoline
	shadowPointer arch.Reg // points past the last word of a shadow call stack, or NoReg

	// trustTrampoline is set if vDSOs had wrong tables at their signal trampolines. Then the
	// instructions are asked before the table.
	trustTrampoline bool

	// signalFrame finds the stack pointer at a trampoline with the frame pointer, or is nil.
	signalFrame func(w *Walk, t *trampoline) (sp uint64, ok bool)

	// codeAddress removes from a code address all bits that are not part of the address, where
	// Unwinder.CodeBits does not tell. It is nil if there are no such bits.
	codeAddress func(v uint64) uint64
}

// machineOf returns the machine of an architecture. For an unknown one it has no functions.
func machineOf(a *arch.Arch) *machine {
	switch a {
	case arch.AMD64:
		return &amd64
	case arch.I386:
		return &i386
	case arch.ARM64:
		return &arm64
	case arch.ARM:
		return &arm
	case arch.RISCV64:
		return &riscv64
	}
	return &machine{shadowPointer: arch.NoReg}
}

// directCall returns the address that the call before pc has in its instruction, or 0.
func (m *machine) directCall(before []byte, pc target.Addr) target.Addr {
	if m.callTarget == nil {
		return 0
	}
	return m.callTarget(before, pc)
}

// followsCall reports whether a call instruction ends at pc, where before is the code that ends at
// pc. The answer is unknown if there is too little code, or if the architecture is unknown. x86
// instructions cannot be read backwards: a yes may be chance (about one in 30 positions of ordinary
// code is one), a no is certain.
func (u *Unwinder) followsCall(before []byte, pc target.Addr) verdict {
	if u.machine.followsCall == nil || len(before) >= codeBefore && blank(before[len(before)-codeBefore:]) {
		return unknown
	}
	return u.machine.followsCall(before, pc, u.space)
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
	case w.u.machine.codeAddress != nil:
		return w.u.machine.codeAddress(v)
	}
	return v
}

// calledBefore returns the function that the call before the site calls, or 0 if it is unknown: the
// call has its address, or the address of a slot that holds it.
func (w *Walk) calledBefore(s *site) target.Addr {
	m, b := w.u.machine, s.before()
	if to := m.directCall(b, s.pc); to != 0 || m.callSlot == nil {
		return to
	}
	if at := m.callSlot(b, s.pc); at != 0 {
		return w.slot(at)
	}
	return 0
}

// throughPLT returns where the linkage stub at addr jumps to, or 0 if there is no stub.
func (w *Walk) throughPLT(addr target.Addr) target.Addr {
	if addr == 0 || w.u.machine.stubSlot == nil || !w.u.space.Executable(addr) {
		return 0
	}
	var buf [16]byte
	b := (&simulation{w: w, module: w.u.space.FindModule(addr)}).read(uint64(addr), buf[:])
	if at := w.u.machine.stubSlot(b, addr); at != 0 {
		return w.slot(at)
	}
	return 0
}

// slot returns the address in a slot of the global offset table, or 0 if it is unreadable.
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

// registersFrom lists n registers.
func registersFrom(first arch.Reg, n int) (list []arch.Reg) {
	for i := range n {
		list = append(list, first+arch.Reg(i))
	}
	return list
}

func has(b []byte, code ...byte) bool { return bytes.HasPrefix(b, code) }

// word32 returns the little-endian word at b[i], or 0 if b is too short. i may be negative.
func word32(b []byte, i int) uint32 {
	if i < 0 || i+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[i:])
}

// relative returns the 32-bit displacement at b[i], sign-extended.
func relative(b []byte, i int) target.Addr { return target.Addr(int64(int32(word32(b, i)))) }
