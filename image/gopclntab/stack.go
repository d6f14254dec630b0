package gopclntab

// Flags of a function, internal/abi's FuncFlag.
const (
	flagTop     = 1 // TOPFRAME: nobody has called it
	flagSPWrite = 2 // SPWRITE: it sets the stack pointer to what the table does not know
)

const funcSP = 16 // in struct _func: the offset of the table of how far the stack pointer has moved

// Top reports whether nobody has called the function: a backtrace ends there.
func (f *Func) Top() bool { return f.flags()&flagTop != 0 }

func (f *Func) flags() byte {
	if at := f.size() - 3; at < len(f.data) {
		return f.data[at]
	}
	return 0
}

// SPDelta returns by how many bytes the stack pointer has moved down since the function was entered, at an address of it, and the
// addresses for which that holds; false if it is not known.
func (f *Func) SPDelta(pc uint64) (delta, lo, hi uint64, ok bool) {
	v, lo, hi, ok := f.value(f.u32(funcSP), pc)
	if !ok || v < 0 || f.flags()&flagSPWrite != 0 {
		return 0, 0, 0, false
	}
	return uint64(v), lo, min(hi, f.Hi), true
}
