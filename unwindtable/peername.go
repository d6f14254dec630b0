package unwindtable

import (
	"fmt"

	"dbg/arch"
	"dbg/expr"
)

// peerName is readelf's name of a register, "" if it has none.
func peerName(a *arch.Arch, n uint64) string {
	switch a {
	case arch.AMD64, arch.X32:
		switch {
		case n == 49:
			return "rflags"
		case n == 58:
			return "fs.base"
		case n == 59:
			return "gs.base"
		case n >= 67 && n < 83:
			return fmt.Sprintf("xmm%d", n-51)
		case n >= 118 && n < 126:
			return fmt.Sprintf("k%d", n-118)
		}
	case arch.RISCV64, arch.RISCV32:
		if n >= 32 && n < 64 {
			return riscvFloats[n-32]
		}
	}
	if !peerNames(a) {
		return ""
	}
	if reg, ok := a.FromDWARF(n); ok {
		return a.RegName(reg)
	}
	return ""
}

// peerNames reports whether readelf has names for an architecture.
func peerNames(a *arch.Arch) bool {
	switch a {
	case arch.AMD64, arch.I386, arch.ARM64, arch.RISCV64, arch.X32, arch.RISCV32, arch.BigARM64:
		return true
	}
	return false
}

// riscvFloats are the ABI's names of f0 to f31.
var riscvFloats = [32]string{
	"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
	"fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
}

func operations(a *arch.Arch, code []byte) string {
	return expr.Listing(code, a, func(n uint64) string { return peerName(a, n) })
}
