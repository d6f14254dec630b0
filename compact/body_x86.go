package compact

import "dbg/arch"

// Bits of x86's opcodes.
//
// Frame:      16..23 how far below the frame pointer the saved registers begin, in words
// .           0..14  five registers of 3 bits, the lowest bits for the lowest word; 0 means no register
// Frameless:  16..23 size of the frame in words, including the return address; if indirect, the
// .                  offset of the size in the function
// .           13..15 indirect: words to add to that size
// .           10..12 number of registers that are saved, below the return address
// .           0..9   the registers and their order: see permutation.go

// Register numbers of compact unwind; 0 and 7 mean no register.
var (
	regsAMD64 = [8]arch.Reg{0: arch.NoReg, 1: arch.RBX, 2: arch.R12, 3: arch.R13, 4: arch.R14, 5: arch.R15, 6: arch.RBP, 7: arch.NoReg}
	regsI386  = [8]arch.Reg{0: arch.NoReg, 1: 3, 2: 1, 3: 2, 4: 7, 5: 6, 6: 5, 7: arch.NoReg} // ebx ecx edx edi esi ebp
)

func (o Opcode) decodeX86(a *arch.Arch, b *Body) error {
	regs, w := &regsAMD64, int64(a.PtrSize)
	if a == arch.I386 {
		regs = &regsI386
	}
	b.save(a.PC, -w)
	if b.Kind == Frame {
		b.Size = 2 * w
		b.save(a.FP, -2*w)
		return o.decodeX86Frame(a, b, regs)
	}

	n := min(int(o>>10&7), 6)
	p, ok := permutation(n, int(o&0x3ff))
	if !ok {
		return o.wrong("%d is not a valid permutation of %d registers", o&0x3ff, n)
	}
	// The last one is directly below the return address.
	for i, c := range p[:n] {
		b.save(regs[c], -w*int64(n+1-i))
	}
	size := int64(o >> 16 & 0xff)
	if b.Kind == FramelessIndirect {
		b.SizeAt, b.Size = uint64(size), w*int64(o>>13&7)
		return nil
	}
	if b.Size = w * size; size < int64(n+1) {
		return o.wrong("a frame of %d bytes has no room for the return address and %d registers", b.Size, n)
	}
	return nil
}

func (o Opcode) decodeX86Frame(a *arch.Arch, b *Body, regs *[8]arch.Reg) error {
	w := int64(a.PtrSize)
	begin := int64(o >> 16 & 0xff)
	var seen arch.RegSet
	for i := range int64(5) {
		r := regs[o>>(3*i)&7]
		switch {
		case r == arch.NoReg:
			continue
		case r == a.FP:
			return o.wrong("%s is saved at the frame pointer, not with the other registers", a.RegName(r))
		case seen.Has(r):
			return o.wrong("%s is saved twice", a.RegName(r))
		case i >= begin:
			return o.wrong("%s is saved above the frame pointer", a.RegName(r))
		}
		seen.Add(r)
		b.save(r, -w*(2+begin-i))
	}
	return nil
}
