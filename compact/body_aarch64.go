package compact

import "dbg/arch"

// Bits of arm64's opcodes.
//
// Both kinds: 0..4  x19 and x20, x21 and x22, ... x27 and x28 are saved
// .           8..11 d8 and d9, ... d14 and d15
// Frameless:  12..23 size of the frame in 16 bytes
//
// The article that describes the format best has the d registers in bits 5..8, and no registers in
// frameless functions; LLVM writes the layout above. Pairs are stored in this order from higher to
// lower addresses, the first register above the second, directly below the frame record or, without
// one, below the CFA. (For a frameless function, LLVM's libunwind looks one word higher, and
// subtracts their size from SP once more. The compiler's code and its DWARF agree with the layout
// here.)

var pairsARM64 = [9]struct {
	bit Opcode
	reg arch.Reg // the first one
}{{1 << 0, 19}, {1 << 1, 21}, {1 << 2, 23}, {1 << 3, 25}, {1 << 4, 27}, {1 << 8, 72}, {1 << 9, 74}, {1 << 10, 76}, {1 << 11, 78}}

func (o Opcode) decodeARM64(b *Body) error {
	a := arch.ARM64
	if o&0xe0 != 0 {
		return o.wrong("the meaning of bits 5..7 is unknown")
	}
	at := int64(0)
	if b.Kind == Frame {
		b.Size = 16
		b.save(a.LR, -8)
		b.save(a.FP, -16)
		at = -16
	}
	for _, p := range pairsARM64 {
		if o&p.bit != 0 {
			b.save(p.reg, at-8)
			b.save(p.reg+1, at-16)
			at -= 16
		}
	}
	if b.Kind == Frameless {
		if b.Size = 16 * int64(o>>12&0xfff); b.Size < -at {
			return o.wrong("a frame of %d bytes has no room for %d registers", b.Size, b.n)
		}
	}
	return nil
}
