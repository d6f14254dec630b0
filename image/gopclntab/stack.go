package gopclntab

// Function flags, from internal/abi's FuncFlag.
const (
	flagTop     = 1 // TOPFRAME: it has no caller
	flagSPWrite = 2 // SPWRITE: it sets the stack pointer in a way that the table can't describe
)

const funcSP = 16 // offset in struct _func of pcsp, the table of stack pointer differences

// Top reports whether the function has no caller. A backtrace ends there.
func (f *Func) Top() bool { return f.flags()&flagTop != 0 }

func (f *Func) flags() byte {
	if at := f.size() - 3; at < len(f.data) {
		return f.data[at]
	}
	return 0
}

// SPDelta returns how many bytes the stack pointer has moved down between the function's entry
// and an address, and the range of addresses for which that holds. It returns false if the delta
// is unknown.
func (f *Func) SPDelta(pc uint64) (delta, lo, hi uint64, ok bool) {
	v, lo, hi, ok := f.value(f.u32(funcSP), pc)
	if !ok || v < 0 || f.flags()&flagSPWrite != 0 {
		return 0, 0, 0, false
	}
	return uint64(v), lo, min(hi, f.Hi), true
}
