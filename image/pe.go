package image

import (
	"debug/elf"
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/image/pe"
)

// PE files: package pe decodes them, and this file makes a File of the result. Addresses are those
// of an image that is loaded at its preferred base.

// parsePE reads the headers of f.data, which begins like a program of MS-DOS. With strict, sections
// must be completely in the file.
func (f *File) parsePE(strict bool) error {
	p, err := pe.Parse(f.data)
	if err != nil {
		r := Malformed
		if e, ok := err.(*pe.Error); ok && e.Truncated {
			r = Truncated
		}
		return &OpenError{Path: f.path, Reason: r, Format: PE, Detail: err.Error()}
	}
	f.pe, f.peMachine = p, p.Machine
	f.header.Order, f.header.Wide = binary.LittleEndian, p.Wide
	if p.Entry != 0 {
		f.header.Entry = p.ImageBase + uint64(p.Entry)
	}
	if p.HeaderSize > 0 {
		n := uint64(p.HeaderSize)
		f.loads = append(f.loads, Segment{Lo: Addr(p.ImageBase), Hi: Addr(p.ImageBase + n), FileSize: min(n, uint64(len(f.data))), Read: true})
	}
	f.sects, f.byName = make([]section, 1, len(p.Sections)+1), map[string]int{}
	for i := range p.Sections {
		if s := &p.Sections[i]; !f.addPESection(s) && strict {
			return &OpenError{Path: f.path, Reason: Truncated, Format: PE, Detail: "the section " + s.Name + " extends beyond the end of the file"}
		}
	}
	return nil
}

// addPESection adds a section, as a section and as a segment: PE has no others. It returns false if
// its contents are not in the file.
func (f *File) addPESection(s *pe.Section) bool {
	lo := f.pe.ImageBase + uint64(s.RVA)
	n := section{name: s.Name, typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: lo, size: uint64(s.VirtualSize), off: uint64(s.Off)}
	switch {
	case s.FileSize == 0:
		n.typ = elf.SHT_NOBITS
	case s.FileSize < s.VirtualSize:
		n.size = uint64(s.FileSize) // the rest is zero
	}
	if s.Characteristics&pe.SectionWrite != 0 {
		n.flags |= elf.SHF_WRITE
	}
	if _, dup := f.byName[s.Name]; !dup {
		f.byName[s.Name] = len(f.sects)
	}
	f.sects = append(f.sects, n)
	f.loads = append(f.loads, Segment{Name: s.Name, Lo: Addr(lo), Hi: Addr(lo + uint64(s.VirtualSize)), FileOff: uint64(s.Off), FileSize: uint64(s.FileSize),
		Read: s.Characteristics&pe.SectionRead != 0, Write: s.Characteristics&pe.SectionWrite != 0, Exec: s.Characteristics&pe.SectionExecute != 0})
	return uint64(s.Off)+uint64(s.FileSize) <= uint64(len(f.data)) || s.FileSize == 0
}

// ImageBase returns the preferred load address of a PE image, to which its RVAs are relative, or 0.
func (f *File) ImageBase() Addr {
	if f.pe == nil {
		return 0
	}
	return Addr(f.pe.ImageBase)
}

// StampAndSize returns the time stamp of a PE image and its size in memory. Together they identify a
// file where there is no build id: they are the key of symbol servers for images. They are 0 for
// other files.
func (f *File) StampAndSize() (stamp, size uint32) {
	if f.pe == nil {
		return 0, 0
	}
	return f.pe.TimeDateStamp, f.pe.ImageSize
}

// peMachines are the processors of PE files.
var peMachines = map[uint16]struct {
	name string
	arch *arch.Arch
}{
	pe.MachineAMD64: {"x86-64", arch.AMD64},
	pe.MachineI386:  {"i386", arch.I386},
	pe.MachineARM64: {"AArch64", arch.ARM64},
	pe.MachineARMNT: {"ARM", arch.ARM},
	pe.MachineARM:   {"ARM", arch.ARM},
}

// peKind is Kind for a PE file.
func (f *File) peKind() Kind {
	switch {
	case f.pe.Characteristics&pe.DLL != 0:
		return Shared
	case f.pe.Characteristics&pe.ExecutableImage != 0:
		return Executable
	}
	return Other
}

// setView chooses one of the two views of a hybrid PE image (ARM64EC, ARM64X): the processor for
// which Arch and FunctionTable answer. It returns false if the image has no such view.
func (f *File) setView(name string) bool {
	if f.pe == nil || len(f.pe.CodeRanges()) == 0 {
		return false
	}
	for _, m := range []uint16{pe.MachineAMD64, pe.MachineARM64} {
		if v := peMachines[m]; v.name == name || v.arch.Name == name {
			f.peMachine = m
			return true
		}
	}
	return false
}

// Views returns the processors of a hybrid PE image, that of its header first, or nil for any other
// file. OpenArch opens each.
func (f *File) Views() []*arch.Arch {
	if f.pe == nil || len(f.pe.CodeRanges()) == 0 {
		return nil
	}
	if f.pe.Machine == pe.MachineARM64 {
		return []*arch.Arch{arch.ARM64, arch.AMD64}
	}
	return []*arch.Arch{arch.AMD64, arch.ARM64}
}

// CodeRanges returns the ranges of code of a hybrid PE image with their kind, or nil. The addresses
// are relative to ImageBase.
func (f *File) CodeRanges() []pe.CodeRange {
	if f.pe == nil {
		return nil
	}
	return f.pe.CodeRanges()
}

// FunctionTable returns the bytes of a PE image's table of functions with unwind information
// (".pdata"), for the file's processor, and its address. In a hybrid image there are two, and the
// view decides. It returns false if the image has none.
func (f *File) FunctionTable() (data []byte, addr Addr, ok bool) {
	if f.pe == nil {
		return nil, 0, false
	}
	d := f.pe.Functions(f.peMachine)
	data = f.pe.From(d.RVA)
	if d.Size == 0 || data == nil {
		return nil, 0, false
	}
	return data[:min(uint64(d.Size), uint64(len(data)))], Addr(f.pe.ImageBase + uint64(d.RVA)), true
}

// Bytes returns n bytes of a PE image at an address, or nil if they are not all in the file. They
// belong to the file.
func (f *File) Bytes(addr Addr, n int) []byte {
	if f.pe == nil || addr < Addr(f.pe.ImageBase) || uint64(addr)-f.pe.ImageBase > 1<<32-1 || n < 0 || n > 1<<31-1 {
		return nil
	}
	return f.pe.Bytes(uint32(uint64(addr)-f.pe.ImageBase), uint32(n))
}

// PDB returns the path of the PDB file that a PE image names, or "".
func (f *File) PDB() string {
	if f.pe == nil {
		return ""
	}
	path, _ := f.pe.PDB()
	return path
}

// readPESymbols returns the COFF symbols and the exports by address. An export that has a symbol of
// the same name is left out. PE has no sizes: a symbol extends to the next symbol, the next start of
// a function in the function table, or the end of its section.
func (f *File) readPESymbols() []Symbol {
	var out []Symbol
	type place struct {
		name string
		addr Addr
	}
	known := map[place]bool{}
	add := func(s pe.Symbol) {
		n := Symbol{Name: s.Name, Addr: Addr(s.RVA), Section: -1, Kind: NoType, Global: s.Global, Weak: s.Weak}
		if s.Section >= 0 {
			n.Section, n.Kind = int32(s.Section)+1, Object
			n.Addr += Addr(f.pe.ImageBase)
		}
		if s.Code {
			n.Kind = Func
		}
		if k := (place{s.Name, n.Addr}); !known[k] {
			known[k] = true
			out = append(out, n)
		}
	}
	f.pe.Symbols(add)
	f.pe.Exports(add)
	bounds := f.functionTableStarts()
	for i := range out {
		if out[i].Section > 0 {
			bounds = append(bounds, out[i].Addr)
		}
	}
	slices.Sort(bounds)
	return f.sizeSymbols(sortSymbols(out), bounds)
}

// sizeSymbols sets the sizes of sorted symbols, which end at the next of the sorted bounds.
func (f *File) sizeSymbols(out []Symbol, bounds []Addr) []Symbol {
	for i := range out {
		s := &out[i]
		for len(bounds) > 0 && bounds[0] <= s.Addr {
			bounds = bounds[1:]
		}
		if s.Section < 0 || !f.inSection(s.Section, s.Addr) {
			continue
		}
		sec := &f.sects[s.Section]
		s.Size = sec.size - (uint64(s.Addr) - sec.addr)
		if len(bounds) > 0 {
			s.Size = min(s.Size, uint64(bounds[0]-s.Addr))
		}
	}
	return out
}

// functionTableStarts returns where the entries of the function table begin, in the order of the
// table.
func (f *File) functionTableStarts() (list []Addr) {
	data, _, ok := f.FunctionTable()
	size := 8
	if f.peMachine == pe.MachineAMD64 {
		size = 12
	}
	if !ok || f.peMachine == pe.MachineI386 {
		return nil
	}
	for ; len(data) >= size; data = data[size:] {
		list = append(list, Addr(f.pe.ImageBase+uint64(binary.LittleEndian.Uint32(data))))
	}
	return list
}
