package frames

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// startPC returns the thread's program counter as an address. If a return address failed its check,
// the processor has jumped there nevertheless, with an error code in place of the signature.
// Removing it requires knowing where a signature is.
func (w *Walk) startPC(pc uint64) uint64 {
	if w.u.arch == arch.ARM64 && w.u.CodeBits == 0 {
		return pc
	}
	return w.code64(pc)
}

// narrower lists the address sizes, in bits, below the usual 48 that Linux may be configured for on
// arm64: the signature begins there. Android uses 39.
var narrower = []uint8{47, 42, 39, 36}

// stripCaller removes the signature from the caller's program counter. If the number of address
// bits is not configured, it tries sizes until the address is in code.
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
