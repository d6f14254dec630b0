package compact

// radix lists, for each count of registers, the factors of the digits of a permutation's number.
// The number is a Lehmer code: digit i is the number of unused registers before the chosen one.
// There are six registers to choose from, then five, and so on. With six registers the last has
// no choice.
var radix = [7][6]int{
	1: {1},
	2: {5, 1},
	3: {20, 4, 1},
	4: {60, 12, 3, 1},
	5: {120, 24, 6, 2, 1},
	6: {120, 24, 6, 2, 1, 1},
}

// permutation decodes the number of an ordered choice of n out of six registers, which are
// numbered from 1 to 6. It returns false for an invalid number.
func permutation(n, number int) (regs [6]uint8, ok bool) {
	free := [6]uint8{1, 2, 3, 4, 5, 6}
	left := free[:]
	for i := range n {
		d := number / radix[n][i]
		if d >= len(left) {
			return regs, false
		}
		number -= d * radix[n][i]
		regs[i] = left[d]
		left = append(left[:d], left[d+1:]...)
	}
	return regs, number == 0
}
