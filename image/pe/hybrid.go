package pe

import "slices"

// CodeKind is the kind of instructions in a range of a hybrid image.
type CodeKind uint8

const (
	CodeARM64   CodeKind = iota // ARM64 with its own ABI
	CodeARM64EC                 // ARM64 with an ABI that fits that of x64
	CodeAMD64                   // x64
)

func (k CodeKind) String() string { return [...]string{"ARM64", "ARM64EC", "x64"}[k] }

// CodeRange is a range of code of one kind.
type CodeRange struct {
	RVA, Size uint32
	Kind      CodeKind
}

// hybrid returns the hybrid metadata (IMAGE_ARM64EC_METADATA of <winnt.h>), to which the load
// configuration directory points, or nil.
func (f *File) hybrid() []byte {
	const pointerAt, need = 0xc8, 0x48 // CHPEMetadataPointer, a virtual address
	dir := f.directories[LoadConfig]
	b := f.Bytes(dir.RVA, pointerAt+8)
	if b == nil || !f.Wide || u32(b, 0) < pointerAt+8 || f.Machine != MachineAMD64 && f.Machine != MachineARM64 {
		return nil
	}
	p := u64(b, pointerAt)
	if p < f.ImageBase || (p-f.ImageBase)>>32 != 0 {
		return nil
	}
	return f.Bytes(uint32(p-f.ImageBase), need)
}

// CodeRanges returns the code map of a hybrid image by rising address, or nil for any other image.
func (f *File) CodeRanges() []CodeRange {
	h := f.hybrid()
	if h == nil {
		return nil
	}
	b := f.From(u32(h, 4))
	n := min(uint64(u32(h, 8)), uint64(len(b)/8), maxRanges)
	out := make([]CodeRange, 0, n)
	for i := range int(n) {
		start, size := u32(b, 8*i), u32(b, 8*i+4)
		if start&3 > uint32(CodeAMD64) {
			continue
		}
		out = append(out, CodeRange{RVA: start &^ 3, Size: size, Kind: CodeKind(start & 3)})
	}
	slices.SortStableFunc(out, func(a, b CodeRange) int { return int(int64(a.RVA) - int64(b.RVA)) })
	return out
}

// Functions returns the function table for a machine: that of the exception directory, or in a
// hybrid image the extra one for the other machine.
func (f *File) Functions(machine uint16) Directory {
	if machine == f.Machine {
		return f.directories[ExceptionTable]
	}
	if h := f.hybrid(); h != nil && (machine == MachineAMD64 || machine == MachineARM64) {
		return Directory{u32(h, 0x40), u32(h, 0x44)}
	}
	return Directory{}
}
