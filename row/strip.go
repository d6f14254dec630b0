package row

// Strip removes the signature from a code address of the given number of bits. Bit 55 tells the
// half of the address space: the removed bits become copies of it.
func Strip(v uint64, bits uint8) uint64 {
	if v&(1<<55) != 0 {
		return v | ^uint64(0)<<bits
	}
	return v &^ (^uint64(0) << bits)
}

// StripPAC removes the pointer authentication code (PAC) from an AArch64 code address. It also
// accepts an address without one: the table of a function may not record that it signs.
//
// It assumes addresses of 48 bits. Linux gives a process larger ones, of 52 bits, only on request.
func StripPAC(v uint64) uint64 { return Strip(v, 48) }
