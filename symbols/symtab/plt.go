package symtab

import (
	"bytes"
	"encoding/binary"
	"strings"

	"dbg/arch"
	"dbg/image"
	"dbg/symbols/spelling"
)

// The procedure linkage table of x86-64: .plt, .plt.sec (with -fcf-protection)
// and .plt.got. Its entries have no symbols of their own. Each jumps through a
// slot of the global offset table, and a relocation names the function of the
// slot.

const (
	relaJumpSlot = 7 // R_X86_64_JUMP_SLOT
	relaGlobDat  = 6 // R_X86_64_GLOB_DAT
	maxPLT       = 1 << 20
)

var pltSections = []struct {
	name string
	size image.Addr
}{{".plt", 16}, {".plt.sec", 16}, {".plt.got", 8}}

// pltSection returns the section and the size of its entries, false if the
// address is not in a procedure linkage table.
func (x *Table) pltSection(a image.Addr) (image.Section, image.Addr, bool) {
	for _, p := range pltSections {
		if s, ok := x.file.Section(p.name); ok && s.Addr <= a && uint64(a-s.Addr) < s.Size {
			size := p.size
			// With -fcf-protection the entries of .plt.got are padded to 16.
			if size == 8 && bytes.HasPrefix(s.Data, []byte("\xf3\x0f\x1e\xfa")) {
				size = 16
			}
			return s, size, true
		}
	}
	return image.Section{}, 0, false
}

// Stub is the code that jumps to a function of another file: an entry of the procedure linkage
// table, or a symbol stub of a Mach-O file.
type Stub struct {
	Name   string // "puts@plt", "puts@stub"
	Lo, Hi image.Addr
}

// StubAt returns the stub at an address.
func (x *Table) StubAt(a image.Addr) (Stub, bool) {
	if x.file.Format() == image.MachO {
		return x.machoStubAt(a)
	}
	if x.file.Arch() != arch.AMD64 {
		return Stub{}, false
	}
	s, size, ok := x.pltSection(a)
	if !ok {
		return Stub{}, false
	}
	x.readPLT()
	lo := a - (a-s.Addr)%size
	name, ok := x.plt[lo]
	return Stub{name, lo, lo + size}, ok
}

// StubOf returns the address of the procedure linkage table's entry for a function of another file:
// "puts", "puts@plt", "std::terminate" with parameters or without.
func (x *Table) StubOf(name string) (image.Addr, bool) {
	if x.file.Format() != image.ELF || x.file.Arch() != arch.AMD64 {
		return 0, false
	}
	x.readPLT()
	name = strings.TrimSuffix(name, "@plt")
	best, found := image.Addr(0), false
	for a, is := range x.plt {
		is = strings.TrimSuffix(is, "@plt")
		if plain, _, cut := strings.Cut(is, "("); is != name && (!cut || plain != name) {
			continue
		}
		if !found || a < best {
			best, found = a, true
		}
	}
	return best, found
}

// readPLT decodes all entries.
func (x *Table) readPLT() {
	if x.pltOK {
		return
	}
	x.pltOK = true
	x.plt = map[image.Addr]string{}
	slots := x.gotSlots()
	for _, p := range pltSections {
		s, ok := x.file.Section(p.name)
		if !ok || len(s.Data) == 0 {
			continue
		}
		_, size, _ := x.pltSection(s.Addr)
		for off := image.Addr(0); off+size <= image.Addr(len(s.Data)) && off < maxPLT*16; off += size {
			entry := s.Addr + off
			if slot, ok := jumpSlot(s.Data[off:off+size], entry); ok && slots[slot] != "" {
				x.plt[entry] = slots[slot] + "@plt"
			}
		}
	}
}

// jumpSlot finds the jump, ff 25 disp32 (jmp *disp(%rip)), in an entry.
func jumpSlot(code []byte, at image.Addr) (slot image.Addr, ok bool) {
	i := bytes.Index(code, []byte{0xff, 0x25})
	if i < 0 || i+6 > len(code) {
		return 0, false
	}
	disp := int32(binary.LittleEndian.Uint32(code[i+2:]))
	return at + image.Addr(i+6) + image.Addr(int64(disp)), true
}

// gotSlots returns the function that each slot is for.
func (x *Table) gotSlots() map[image.Addr]string {
	slots := map[image.Addr]string{}
	syms, _ := x.file.Section(".dynsym")
	strs, _ := x.file.Section(".dynstr")
	for _, name := range []string{".rela.plt", ".rela.dyn"} {
		rela, _ := x.file.Section(name)
		for b := rela.Data; len(b) >= 24; b = b[24:] {
			info := binary.LittleEndian.Uint64(b[8:])
			if t := uint32(info); t != relaJumpSlot && t != relaGlobDat {
				continue
			}
			sym := (info >> 32) * 24
			if sym+24 > uint64(len(syms.Data)) {
				continue
			}
			off := binary.LittleEndian.Uint32(syms.Data[sym:])
			if uint64(off) >= uint64(len(strs.Data)) {
				continue
			}
			text := strs.Data[off:]
			if i := bytes.IndexByte(text, 0); i > 0 {
				slots[image.Addr(binary.LittleEndian.Uint64(b))] = spelling.Demangle(string(text[:i]))
			}
		}
	}
	return slots
}
