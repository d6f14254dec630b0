package emulate

// shiftCount returns the count that the processor uses: SDM volume 2, SAL/SAR/SHL/SHR. It masks the
// count with 31, or with 63 for 64-bit operands.
func shiftCount(src uint64, size uint8) uint64 {
	if size == 8 {
		return src & 63
	}
	return src & 31
}

// shiftFlags returns the flags after a shift whose count is not 0.
// AF is undefined; processors of AMD set it.
func shiftFlags(result uint64, carry, overflow bool, size uint8, flags uint64) uint64 {
	return flags&^statusFlags | resultFlags(result, size) | when(carry, flagCF) | when(overflow, flagOF) | flagAF
}

func shiftLeft(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	n, width := shiftCount(src, size), 8*uint64(size)
	if n == 0 {
		return dst, flags
	}
	result := dst << n
	carry := n <= width && dst>>(width-n)&1 != 0
	return result, shiftFlags(result, carry, carry != (result&signBit(size) != 0), size, flags)
}

func shiftRight(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	n := shiftCount(src, size)
	if n == 0 {
		return dst, flags
	}
	result := dst >> n
	carry := dst>>(n-1)&1 != 0
	return result, shiftFlags(result, carry, n == 1 && dst&signBit(size) != 0, size, flags)
}

func shiftArithmetic(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	n := shiftCount(src, size)
	if n == 0 {
		return dst, flags
	}
	wide := int64(signExtend(dst, size))
	result := uint64(wide >> n)
	return result, shiftFlags(result, wide>>(n-1)&1 != 0, false, size, flags)
}

// rotateFlags returns the flags after a rotation whose masked count is not 0.
func rotateFlags(carry, overflow bool, flags uint64) uint64 {
	return flags&^(flagCF|flagOF) | when(carry, flagCF) | when(overflow, flagOF)
}

// rotate returns dst rotated left by n bits, where n is less than the width.
func rotate(dst, n uint64, size uint8) uint64 {
	width := 8 * uint64(size)
	return (dst<<n | dst>>(width-n)) & mask(size)
}

func rotateLeft(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	n := shiftCount(src, size)
	if n == 0 {
		return dst, flags
	}
	result := rotate(dst, n%(8*uint64(size)), size)
	carry := result&1 != 0
	return result, rotateFlags(carry, carry != (result&signBit(size) != 0), flags)
}

func rotateRight(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	n, width := shiftCount(src, size), 8*uint64(size)
	if n == 0 {
		return dst, flags
	}
	result := rotate(dst, (width-n%width)%width, size)
	top, second := result&signBit(size) != 0, result&(signBit(size)>>1) != 0
	return result, rotateFlags(top, top != second, flags)
}

// bitFlags returns the flags after BT and its kin: CF is the bit, and ZF stays. The others are
// undefined; processors leave them.
func bitFlags(dst, bit, flags uint64) uint64 { return flags&^flagCF | when(dst&bit != 0, flagCF) }

// selected returns the bit of a register that a bit number selects.
func selected(src uint64, size uint8) uint64 { return 1 << (src & (8*uint64(size) - 1)) }

func bitTest(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	return dst, bitFlags(dst, selected(src, size), flags)
}

func bitSet(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	bit := selected(src, size)
	return dst | bit, bitFlags(dst, bit, flags)
}

func bitReset(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	bit := selected(src, size)
	return dst &^ bit, bitFlags(dst, bit, flags)
}

func bitComplement(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	bit := selected(src, size)
	return dst ^ bit, bitFlags(dst, bit, flags)
}
