package emulate

// Displace rewrites the instruction at from so that one single step of it at to has the same effect
// as at from, but for RIP, which is then to+len(out) instead of from+n. The original is n bytes long.
// It returns false for an instruction that depends on its address, or that is not known well enough.
func Displace(code []byte, from, to uint64) (out []byte, n int, ok bool) {
	return nil, 0, false
}
