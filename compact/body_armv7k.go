package compact

import "dbg/arch"

// Bits of armv7k's opcodes (UNWIND_ARM_ in Apple's header):
//
//	0..2   r4, r5, r6 are saved by the first push, which also saves r7 and lr
//	3..7   r8, r9, r10, r11, r12 are saved by the second push
//	8..11  FRAME_D: number of d registers less one
//	22..23 words that a variadic function pushes before
//
// The frame pointer is r7, which points to its saved value below the return address. From there down come r6,
// r5, r4, r12, r11, r10, r9, r8, and of d8, d10, d12 and d14 the first ones, the last of them on top. More than
// four d registers are after an alignment that compilers of today do not write: they are an error.

const armFrameD = 2 // number of the kind with d registers

// framePointerARM is the frame pointer of Apple's ABI for ARM.
const framePointerARM arch.Reg = 7

var pushedARM = [...]struct {
	bit Opcode
	reg arch.Reg
}{{1 << 2, 6}, {1 << 1, 5}, {1 << 0, 4}, {1 << 7, 12}, {1 << 6, 11}, {1 << 5, 10}, {1 << 4, 9}, {1 << 3, 8}}

func (o Opcode) decodeARM(b *Body) error {
	count := int(o >> 8 & 15)
	double := o>>kindShift&15 == armFrameD
	switch {
	case o&0x3ff000 != 0:
		return o.wrong("the meaning of bits 12..21 is unknown")
	case !double && count != 0:
		return o.wrong("it has d registers, which its kind does not save")
	case count > 3:
		return o.wrong("the meaning of %d d registers is unknown", count+1)
	}
	at := -4 * int64(o>>22&3)
	b.Size = 8 - at
	b.save(arch.ARM.LR, at-4)
	b.save(framePointerARM, at-8)
	at -= 8
	for _, p := range pushedARM {
		if o&p.bit != 0 {
			at -= 4
			b.save(p.reg, at)
		}
	}
	if double {
		for i := count; i >= 0; i-- {
			at -= 8
			b.save(arch.Reg(64+8+2*i), at)
		}
	}
	return nil
}
