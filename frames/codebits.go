package frames

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// startPC is the thread's program counter as an address. Where a return address failed its check, the processor has
// gone there all
// the same, with an error code where the signature was. That is known only if it is known where a signature is.
func (w *Walk) startPC(pc uint64) uint64 {
	if w.u.arch == arch.ARM64 && w.u.CodeBits == 0 {
		return pc
	}
	return w.code64(pc)
}

// narrower are the sizes of an address that Linux may be built for on arm64, below the usual 48 bits: the signature
// begins there. Android's is 39.
var narrower = []uint8{47, 42, 39, 36}

// stripCaller takes the signature from the caller's program counter. If nobody says how many bits an address has, it is as many
// as lead to code.
func (w *Walk) stripCaller() {
	u, c := w.u, &w.caller
	if u.CodeBits != 0 {
		c.StripPC(u.arch, u.CodeBits)
		return
	}
	if u.arch != arch.ARM64 || w.frame.Signal || c.PC>>36 == 0 || c.PC>>48 != 0 || u.space.Executable(target.Addr(c.PC-1)) {
		return
	}
	for _, bits := range narrower {
		if pc := row.Strip(c.PC, bits); pc > page && u.space.Executable(target.Addr(pc-1)) {
			c.StripPC(u.arch, bits)
			return
		}
	}
}
