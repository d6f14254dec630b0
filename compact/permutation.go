package compact

// radix has, for each count of registers, what the digits of a permutation's number count. The number is a
// Lehmer code: digit i says how many of the registers not yet named come before the one that is named, and there
// are six to choose from, then five, and so on. With six registers the last has no choice.
var radix = [7][6]int{
	1: {1},
	2: {5, 1},
	3: {20, 4, 1},
	4: {60, 12, 3, 1},
	5: {120, 24, 6, 2, 1},
	6: {120, 24, 6, 2, 1, 1},
}

// permutation gives the registers, numbered from 1 to 6, that a number names as n of six in an order. It is false for a number
// that none has.
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
