package code

import "encoding/binary"

func (d *x86) constant(n uint8, v int64, fits bool) {
	if fits {
		d.Op, d.Dst, d.Imm = Const, n, int32(v)
	} else {
		d.kill(n)
	}
}

func (d *x86) kill(n uint8) { d.Kills |= 1 << n }

// killRM destroys r/m, if it is a register.
func (d *x86) killRM(bytes bool) {
	if d.mod == 3 {
		d.killByte(d.rm, bytes)
	}
}

// killByte destroys a register that may be a byte register: without REX, 4 to 7 are AH to BH.
func (d *x86) killByte(n uint8, bytes bool) {
	if bytes && !d.hasRex && 4 <= n && n < 8 {
		n -= 4
	}
	d.kill(n)
}

func (d *x86) peek() byte {
	if d.n < len(d.b) {
		return d.b[d.n]
	}
	return 0
}

func (d *x86) byte() byte {
	c := d.peek()
	d.n++
	return c
}

// immSize returns the size in bytes of an immediate operand that has 32 bits by default.
func (d *x86) immSize() int {
	if d.opsize && d.rex&8 == 0 {
		return 2
	}
	return 4
}

func (d *x86) imm32() int32 {
	d.n += 4
	if d.n > len(d.b) {
		return 0
	}
	return int32(binary.LittleEndian.Uint32(d.b[d.n-4:]))
}

func (d *x86) imm64() int64 {
	lo := d.imm32()
	return int64(d.imm32())<<32 | int64(uint32(lo))
}

// rel reads the displacement of a branch.
func (d *x86) rel(size int) {
	if size == 1 {
		d.Imm = int32(int8(d.byte()))
	} else {
		d.Imm = d.imm32()
	}
}

// modrm decodes ModRM, SIB and displacement.
func (d *x86) modrm() {
	c := d.byte()
	if d.word == 4 && d.addr32 && c>>6 != 3 { // addresses of 16 bits
		d.Next = Bad
		return
	}
	d.mod, d.reg, d.rm = c>>6, c>>3&7|d.rex&4<<1, c&7|d.rex&1<<3
	if d.base = None; d.mod == 3 {
		return
	}
	base, follow := d.rm, !d.segment && !d.addr32
	if c&7 == 4 {
		sib := d.byte()
		base = sib&7 | d.rex&1<<3
		if sib>>3&7|d.rex&2<<2 != 4 {
			follow = false
		}
		if sib&7 == 5 && d.mod == 0 {
			d.n += 4
			return
		}
	} else if c&7 == 5 && d.mod == 0 {
		if d.disp = d.imm32(); follow && d.word == 8 {
			d.base = RIP
		}
		return
	}
	switch d.mod {
	case 1:
		d.disp = int32(int8(d.byte()))
	case 2:
		d.disp = d.imm32()
	}
	if follow {
		d.base = base
	}
}
