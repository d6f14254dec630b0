package gopclntab

// Offsets in struct _func.
const (
	funcPCFile  = 20
	funcPCLine  = 24
	funcNumPC   = 28
	funcUnit    = 32
	funcStart   = 36 // since Go 1.20
	sizeFunc118 = 40 // without funcStart
	sizeFunc120 = 44
)

// Table numbers, from internal/abi.
const (
	pcdataInline   = 2 // PCDATA_InlTreeIndex
	funcdataInline = 3 // FUNCDATA_InlTree
)

// Position is a place in the source, and the range of addresses that it covers.
type Position struct {
	File   string
	Line   int // 0: unknown
	Lo, Hi uint64
}

// Line returns the position of an address of the function.
func (f *Func) Line(pc uint64) Position {
	p := Position{Lo: f.Lo, Hi: f.Hi}
	file, lo, hi, ok := f.value(f.u32(funcPCFile), pc)
	if !ok {
		return p
	}
	line, lo2, hi2, ok := f.value(f.u32(funcPCLine), pc)
	if !ok || file < 0 || line <= 0 {
		return p
	}
	p.File, p.Line = f.file(file), int(line)
	p.Lo, p.Hi = max(lo, lo2), min(hi, hi2)
	return p
}

func (f *Func) u32(at int) uint32 {
	if at+4 > len(f.data) {
		return 0
	}
	return f.t.order.Uint32(f.data[at:])
}

// file returns a source file by its number in the function's unit.
func (f *Func) file(n int32) string {
	at := (uint64(f.u32(funcUnit)) + uint64(n)) * 4
	if at+4 > uint64(len(f.t.units)) {
		return ""
	}
	off := f.t.order.Uint32(f.t.units[at:])
	if off == ^uint32(0) {
		return ""
	}
	return text(f.t.files, uint64(off))
}

// value looks up an address in a PC-value table, which starts at an offset that is not 0
// (golang.org/s/go12symtab, "PC-Value tables"). Its entries are pairs: a difference of the value
// and a difference of the PC.
func (f *Func) value(off uint32, pc uint64) (v int32, lo, hi uint64, ok bool) {
	if off == 0 || uint64(off) >= uint64(len(f.t.pcs)) {
		return 0, 0, 0, false
	}
	b := f.t.pcs[off:]
	v, lo = -1, f.Lo
	for first := true; ; first = false {
		d, n := uvarint(b)
		if n == 0 || d == 0 && !first {
			return 0, 0, 0, false
		}
		b = b[n:]
		if d&1 != 0 {
			d = ^(d >> 1)
		} else {
			d >>= 1
		}
		v += int32(d)
		step, n := uvarint(b)
		if n == 0 || step == 0 {
			return 0, 0, 0, false
		}
		b = b[n:]
		hi = lo + uint64(step)*f.t.quant
		if pc < hi {
			return v, lo, hi, lo <= pc
		}
		if hi > f.Hi {
			return 0, 0, 0, false
		}
		lo = hi
	}
}

// uvarint reads a number of at most 32 bits. n is 0 if there is no valid number.
func uvarint(b []byte) (v uint32, n int) {
	for shift := uint(0); n < len(b) && shift < 35; shift += 7 {
		c := b[n]
		n++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// Call is a function that is active at an address, and the position in it. The function is
// inlined, or it is the one that contains the address.
type Call struct {
	Name    string
	Inlined bool
	Position
}

// Calls returns the chain of calls at an address: the innermost inlined call first, the function
// itself last.
func (f *Func) Calls(pc uint64) []Call {
	var out []Call
	tree := f.inlineTree()
	for at := pc; len(out) < maxInline; {
		pos := f.Line(at)
		if at != pc {
			pos.Lo, pos.Hi = 0, 0
		}
		index, _, _, ok := f.value(f.pcdata(pcdataInline), at)
		if !ok || index < 0 || tree == nil {
			return append(out, Call{Name: f.Name, Position: pos})
		}
		name, parent, ok := f.inlined(tree, uint64(index))
		if !ok || f.Lo+parent >= f.Hi || f.Lo+parent == at {
			return append(out, Call{Name: f.Name, Position: pos}) // leave out damaged entries
		}
		out = append(out, Call{Name: name, Inlined: true, Position: pos})
		at = f.Lo + parent
	}
	return append(out, Call{Name: f.Name})
}

func (f *Func) size() int {
	if f.t.v120 {
		return sizeFunc120
	}
	return sizeFunc118
}

// pcdata returns the offset of PC-value table i, or 0 if there is none.
func (f *Func) pcdata(i uint32) uint32 {
	if i >= f.u32(funcNumPC) {
		return 0
	}
	return f.u32(f.size() + 4*int(i))
}

// inlineTree returns the function's table of inlined calls, or nil if there is none.
func (f *Func) inlineTree() []byte {
	n := f.u32(funcNumPC)
	if f.t.inline == nil || n > 64 || len(f.data) < f.size() || f.data[f.size()-1] <= funcdataInline {
		return nil
	}
	off := f.u32(f.size() + 4*int(n) + 4*funcdataInline)
	if off == ^uint32(0) || uint64(off) >= uint64(len(f.t.inline)) {
		return nil
	}
	return f.t.inline[off:]
}

// inlined reads entry i of a table of inlined calls: the function's name, and the offset in this
// function of an instruction that has the call's position.
func (f *Func) inlined(tree []byte, i uint64) (name string, parent uint64, ok bool) {
	size, nameAt, parentAt := uint64(16), uint64(4), uint64(8)
	if !f.t.v120 {
		size, nameAt, parentAt = 20, 12, 16
	}
	at := i * size
	if at+size > uint64(len(tree)) {
		return "", 0, false
	}
	name = f.t.name(f.t.order.Uint32(tree[at+nameAt:]))
	return name, uint64(f.t.order.Uint32(tree[at+parentAt:])), name != ""
}
