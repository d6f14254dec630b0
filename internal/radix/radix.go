// Package radix sorts large lists of integers.
package radix

import "slices"

// Sort sorts addr, and moves the elements of num, which is as long, in the same way. Equal
// addresses stay in order. It is a radix sort that suits addresses: they are close together, so
// that few digits differ.
func Sort(addr []uint64, num []uint32) {
	if len(addr) == 0 || slices.IsSorted(addr) {
		return
	}
	const digit = 11
	lo, span := slices.Min(addr), slices.Max(addr)
	span -= lo
	addr2, num2 := make([]uint64, len(addr)), make([]uint32, len(addr))
	from, to, fromNum, toNum := addr, addr2, num, num2
	for shift := 0; shift < 64 && span>>shift != 0; shift += digit {
		var count [1 << digit]int
		for _, a := range from {
			count[(a-lo)>>shift%(1<<digit)]++
		}
		at := 0
		for i, n := range count {
			count[i], at = at, at+n
		}
		for i, a := range from {
			k := &count[(a-lo)>>shift%(1<<digit)]
			to[*k], toNum[*k] = a, fromNum[i]
			*k++
		}
		from, to, fromNum, toNum = to, from, toNum, fromNum
	}
	if &from[0] != &addr[0] {
		copy(addr, from)
		copy(num, fromNum)
	}
}
