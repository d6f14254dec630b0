package emulate

import "math/bits"

// The flags: SDM volume 1, 3.4.3.
const (
	flagCF uint64 = 1 << 0
	flagPF uint64 = 1 << 2
	flagAF uint64 = 1 << 4
	flagZF uint64 = 1 << 6
	flagSF uint64 = 1 << 7
	flagTF uint64 = 1 << 8
	flagDF uint64 = 1 << 10
	flagOF uint64 = 1 << 11
	flagRF uint64 = 1 << 16
	flagAC uint64 = 1 << 18

	statusFlags = flagCF | flagPF | flagAF | flagZF | flagSF | flagOF
)

// signBit returns the highest bit of an operand.
func signBit(size uint8) uint64 { return 1 << (8*size - 1) }

// when returns the flag if the condition holds.
func when(condition bool, flag uint64) uint64 {
	if condition {
		return flag
	}
	return 0
}

// resultFlags returns ZF, SF and PF of a result. PF counts the bits of the lowest byte only.
func resultFlags(result uint64, size uint8) uint64 {
	return when(result&mask(size) == 0, flagZF) |
		when(result&signBit(size) != 0, flagSF) |
		when(bits.OnesCount8(uint8(result))&1 == 0, flagPF)
}

// sumFlags returns the status flags of sum = a + c, maybe with a carry.
func sumFlags(a, c, sum uint64, size uint8) uint64 {
	sign := signBit(size)
	return resultFlags(sum, size) |
		when((a&c|(a|c)&^sum)&sign != 0, flagCF) |
		when((a^sum)&(c^sum)&sign != 0, flagOF) |
		(a^c^sum)&flagAF
}

// differenceFlags returns the status flags of diff = a - c, maybe with a borrow.
func differenceFlags(a, c, diff uint64, size uint8) uint64 {
	sign := signBit(size)
	return resultFlags(diff, size) |
		when((^a&c|(^a|c)&diff)&sign != 0, flagCF) |
		when((a^c)&(a^diff)&sign != 0, flagOF) |
		(a^c^diff)&flagAF
}

func addition(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	sum := dst + src
	return sum, flags&^statusFlags | sumFlags(dst, src, sum, size)
}

func additionWithCarry(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	sum := dst + src + flags&flagCF
	return sum, flags&^statusFlags | sumFlags(dst, src, sum, size)
}

func subtraction(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	diff := dst - src
	return diff, flags&^statusFlags | differenceFlags(dst, src, diff, size)
}

func subtractionWithBorrow(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	diff := dst - src - flags&flagCF
	return diff, flags&^statusFlags | differenceFlags(dst, src, diff, size)
}

// increment leaves CF, and so does decrement.
func increment(dst, _ uint64, size uint8, flags uint64) (uint64, uint64) {
	kept := statusFlags &^ flagCF
	return dst + 1, flags&^kept | sumFlags(dst, 1, dst+1, size)&kept
}

func decrement(dst, _ uint64, size uint8, flags uint64) (uint64, uint64) {
	kept := statusFlags &^ flagCF
	return dst - 1, flags&^kept | differenceFlags(dst, 1, dst-1, size)&kept
}

func negation(dst, _ uint64, size uint8, flags uint64) (uint64, uint64) {
	return subtraction(0, dst, size, flags)
}

func complement(dst, _ uint64, _ uint8, flags uint64) (uint64, uint64) { return ^dst, flags }

// logical returns the flags of AND, OR and XOR. AF is undefined; processors clear it.
func logical(result uint64, size uint8, flags uint64) (uint64, uint64) {
	return result, flags&^statusFlags | resultFlags(result, size)
}

func conjunction(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	return logical(dst&src, size, flags)
}

func disjunction(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	return logical(dst|src, size, flags)
}

func exclusiveOr(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	return logical(dst^src, size, flags)
}

func move(_, src uint64, _ uint8, flags uint64) (uint64, uint64) { return src, flags }

// signFill is CWD, CDQ and CQO.
func signFill(_, src uint64, size uint8, flags uint64) (uint64, uint64) {
	if src&signBit(size) != 0 {
		return ^uint64(0), flags
	}
	return 0, flags
}

func swapBytes(dst, _ uint64, size uint8, flags uint64) (uint64, uint64) {
	return bits.ReverseBytes64(dst) >> (64 - 8*size), flags
}

func signExtend(value uint64, size uint8) uint64 {
	unused := 64 - 8*size
	return uint64(int64(value<<unused) >> unused)
}

// product is IMUL with two or three operands. CF and OF tell that the product did not fit. The
// other flags are undefined; processors of AMD leave them.
func product(dst, src uint64, size uint8, flags uint64) (uint64, uint64) {
	a, c := int64(signExtend(dst, size)), int64(signExtend(src, size))
	high, low := bits.Mul64(uint64(a), uint64(c))
	high -= uint64(a>>63)&uint64(c) + uint64(c>>63)&uint64(a) // Mul64 takes them as unsigned.
	fits := signExtend(low, size) == low && high == uint64(int64(low)>>63)
	return low, flags&^(flagCF|flagOF) | when(!fits, flagCF|flagOF)
}

func clearCarry(_, _ uint64, _ uint8, flags uint64) (uint64, uint64) { return 0, flags &^ flagCF }

func setCarry(_, _ uint64, _ uint8, flags uint64) (uint64, uint64) { return 0, flags | flagCF }

func complementCarry(_, _ uint64, _ uint8, flags uint64) (uint64, uint64) { return 0, flags ^ flagCF }

func clearDirection(_, _ uint64, _ uint8, flags uint64) (uint64, uint64) { return 0, flags &^ flagDF }

func setDirection(_, _ uint64, _ uint8, flags uint64) (uint64, uint64) { return 0, flags | flagDF }
